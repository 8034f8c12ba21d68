// What stands behind a verdict, for a reader who doubts it: where the sentence is written down, rows, experiments, code and test.

package paper

import (
	"slices"
)

// Decided are the function that decides and a test of it, as symbols of the module; a test holds them to the code.
type Decided struct{ By, Test string }

var (
	byClaims    = Decided{"paper.List.Check", "paper.TestVerdictsOnClaims"}
	byOurs      = Decided{"paper.List.Check", "paper.TestEveryClaimIsJudgedOnTheCommittedMeasurements"}
	byTables    = Decided{"paper.List.Check", "paper.TestEveryTableIsTriedWhateverTheListSays"}
	byMeasured  = Decided{"paper.Measurements.CheckTables", "paper.TestEveryTableIsTriedWhateverTheListSays"}
	byOrderings = Decided{"paper.Orderings.Judge", "paper.TestVerdictsByTheInterval"}
	byPools     = Decided{"paper.Orderings.Judge", "paper.TestAnOrderingIsJudgedOverTheEnsemble"}
)

// Decided is what decided on a claim or a whole table.
func (f Finding) Decided() Decided {
	switch {
	case f.Measured:
		return byMeasured
	case f.Table:
		return byTables
	case f.Ours != nil:
		return byOurs
	}
	return byClaims
}

// Decided is what decided on an ordering.
func (r Row) Decided() Decided {
	for _, j := range r.Judged {
		if j.Delta != nil && j.Delta.Pools != nil {
			return byPools
		}
	}
	return byOrderings
}

// Behind is what stands behind a sentence of the paper.
type Behind struct {
	ID, Says    string
	At          string   // file:line where the sentence is written down
	Rows        []string // as the paper's tables call them
	Experiments []string // whose measurements are read
	Decided
}

// Behind returns what stands behind each claim and each ordering, in the order of their files.
func (o *Orderings) Behind(file string, list *List, findings []Finding, rows []Row) (all []Behind) {
	for i := range list.Claims {
		c := &list.Claims[i]
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == c.ID && !f.Table && !f.Measured })
		if at < 0 {
			continue
		}
		f := findings[at]
		b := Behind{ID: f.ID, Says: f.Says, At: f.At(), Rows: c.rows(), Decided: f.Decided()}
		for _, on := range f.Ours {
			if on.Verdict != NotStated {
				b.add(c.Experiments(on.Scale)...)
			}
		}
		all = append(all, b)
	}
	for _, r := range rows {
		x := r.Ordering
		b := Behind{ID: x.ID, Says: x.Says, At: atLine(file, x.line), Decided: r.Decided()}
		for i, j := range r.Judged {
			if experiment := r.Experiment(i); experiment != "" {
				b.add(experiment)
				if sides, ok := x.on(j.Scale.Kind, r.Section.Table); ok && b.Rows == nil {
					b.Rows = []string{sides.A.String(), sides.B.String()}
				}
			}
		}
		all = append(all, b)
	}
	return all
}

func (b *Behind) add(experiments ...string) {
	for _, name := range experiments {
		if !slices.Contains(b.Experiments, name) {
			b.Experiments = append(b.Experiments, name)
		}
	}
}

// String is a row's name, or the keys of a measurement.
func (o Operand) String() string {
	if o.Row != "" {
		return o.Row
	}
	return o.Keys.joined(" ")
}
