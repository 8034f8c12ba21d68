// Package compare holds a finished run against another: measured numbers against a reference of the same experiment or against
// the paper's table (numbers.go), and decisions question by question against those of another run (runs.go). What may move
// by how much is in metrics.Compare.
package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// FalseAlarm is how often the statistical gates of a check may close although nothing changed.
const FalseAlarm = 0.01

// NumbersReport is what a check found.
type NumbersReport struct {
	Experiment   string           `json:"experiment"`
	Provenance   bool             `json:"provenance"` // the reference says how it was made; otherwise nothing has to repeat itself
	SameProblems bool             `json:"same_problems"`
	SameMachine  bool             `json:"same_machine"`  // backend and architecture
	SameNumerics bool             `json:"same_numerics"` // and, where XLA computed, the processor
	OtherRecipes []string         `json:"-"`             // steps whose recipe is another than the reference's
	OtherData    []string         `json:"-"`             // recorded files that are others than the reference's
	Changes      []metrics.Change `json:"-"`
	Added        []metrics.Change `json:"-"` // our numbers that the reference does not have; they are held against nothing
}

// Regressions are the changes whose gate closed.
func (c *NumbersReport) Regressions() []metrics.Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(x metrics.Change) bool { return !x.Regressed() })
}

// Noise are the changes inside their bands, those that come nearest to the edge first.
func (c *NumbersReport) Noise() []metrics.Change {
	out := slices.DeleteFunc(slices.Clone(c.Changes), func(x metrics.Change) bool {
		return !x.Differs() || x.Regressed() || x.Gate == metrics.None
	})
	near := func(x metrics.Change) float64 { return math.Abs(x.Ours-x.Reference) / x.Band }
	slices.SortStableFunc(out, func(a, b metrics.Change) int { return cmp.Compare(near(b), near(a)) })
	return out
}

// Ungated are the changes that nothing can judge.
func (c *NumbersReport) Ungated() []metrics.Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(x metrics.Change) bool { return !x.Differs() || x.Regressed() || x.Gate != metrics.None })
}

// Unjudged counts changes by the reason why nothing judges them, those of most numbers first.
func (c *NumbersReport) Unjudged() (reasons []metrics.Reason, count map[metrics.Reason]int) {
	count = map[metrics.Reason]int{}
	for _, x := range c.Ungated() {
		count[x.Reason]++
	}
	reasons = slices.SortedFunc(maps.Keys(count), func(a, b metrics.Reason) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a.What, b.What))
	})
	return reasons, count
}

// Same is how many numbers did not move.
func (c *NumbersReport) Same() (n int) {
	for _, x := range c.Changes {
		if !x.Differs() {
			n++
		}
	}
	return n
}

// How says what measurements were held against.
func (c *NumbersReport) How() string {
	switch {
	case !c.Provenance:
		return "as on other problems, since the reference has no line \"# Made with seed\" that says how it was made"
	case c.SameProblems && c.SameNumerics:
		return "on the same problems, backend and architecture, where the same training seeds must give the same number"
	case c.SameProblems && c.SameMachine:
		return "on the same problems, where trained rows are held against the spread of the reference's training seeds: XLA computed on another processor, or one that a side does not name"
	case c.SameProblems:
		return "on the same problems, where trained rows are held against the spread of the reference's training seeds"
	}
	return "on other problems, where averages of rows that train nothing are held against the question variance"
}

// Numbers holds the measurements of an experiment against reference measurements of the same experiment.
//
// What is gated how, and why no band can be widened, is in metrics.Compare. Rows that train nothing must give the same
// numbers on graded answers wherever they run; trained rows must repeat themselves to the last digit with the same seeds
// on the same backend and architecture, in XLA on the same processor, and stay inside the spread of the reference's seeds otherwise. Where each side is
// one training, of other seeds, nothing judges trained rows.
func Numbers(r *spec.Resolved, measured, reference *metrics.Set) *NumbersReport {
	return numbers(r, measured, reference, true)
}

// numbers is Numbers; trainings of other recipes need not repeat themselves.
func numbers(r *spec.Resolved, measured, reference *metrics.Set, sameRecipes bool) *NumbersReport {
	x := &r.Experiment
	ours, _ := measured.Provenance()
	theirs, known := reference.Provenance()
	alike := sameRecipes && known
	otherData, otherQuestions := otherRecordings(r, measured, reference)
	out := &NumbersReport{
		Experiment: x.Name, Provenance: known, SameProblems: known && ours.Seed == theirs.Seed && !otherQuestions,
		SameMachine: alike && ours.SameMachine(theirs), SameNumerics: alike && ours.Repeats(theirs), OtherData: otherData,
	}
	untrained, matched := map[string]bool{}, map[string]bool{}
	for _, m := range x.Methods {
		matched[m.RowID()] = m.Match != ""
		untrained[m.RowID()] = methods.TrainsNothing(m.Name)
	}
	trainings := x.Trainings()
	partitions := trainings.Folds > 0 // which their key seed counts
	otherPartitions := partitions && !slices.Equal(measured.Seeds(), reference.Seeds())
	held := measured
	if len(x.Evaluate.Seeds) == 1 && !partitions {
		held = withOnlySeed(measured, reference, x.Evaluate.Seeds[0])
	}
	// Where both sides have one training no line of a single seed tells them apart.
	single := func(m metrics.Measurement) bool { return m.Key("seed") != "" || m.Key("fold") != "" }
	oneEach := partitions || !slices.ContainsFunc(measured.Measurements, single) && !slices.ContainsFunc(reference.Measurements, single)
	otherSeed := oneEach && !slices.Equal(ours.Training, theirs.Training)
	how := metrics.Comparison{
		SameProblems: out.SameProblems, SameMachine: out.SameMachine, SameNumerics: out.SameNumerics,
		OtherTraining: func(m metrics.Measurement) bool {
			return otherSeed && (m.Key("method") != "" || trainings.All) || otherPartitions && !single(m)
		},
		// Probabilities of the large set may differ in their last digit between architectures, counts of answers not.
		Untrained: func(m metrics.Measurement) bool {
			return untrained[m.Key("method")] && (out.SameMachine || m.Key("arena") == metrics.PaperArena)
		},
		// Neither is anything like normal.
		Jumps: func(m metrics.Measurement) (why metrics.Reason) {
			switch {
			case matched[m.Key("method")]:
				why = metrics.Reason{What: "rows that are set to another's spending", Why: "they jump from one setting of their knob to the next"}
			case m.Key("arena") == metrics.PaperArena && x.Large > 0:
				why = metrics.Reason{What: "averages at the paper's sizes", Why: "they move by whole questions; those of the larger set are judged"}
			}
			return why
		},
		Relative: relative,
		// Other problems may have other corners of the hull.
		Sampled:    func(unit string) bool { return unit == units.HullGain },
		Confidence: x.Evaluate.Confidence, FalseAlarm: FalseAlarm,
	}
	out.Changes, out.Added = metrics.Compare(held, reference, how), metrics.Added(measured, reference, how)
	if out.OtherRecipes = measured.OtherRecipes(reference); len(out.OtherRecipes) > 0 {
		for i := range out.Changes {
			out.Changes[i].OtherRecipe = true
		}
	}
	return out
}

// otherRecordings lists the files that we read and the reference did not, and says whether one of them has the questions. A reference that
// names no files may be of any.
func otherRecordings(r *spec.Resolved, measured, reference *metrics.Set) (files []string, questions bool) {
	mine, sums := measured.Data()
	known, theirs := reference.Data()
	if len(known) == 0 {
		return nil, false
	}
	read := slices.Collect(maps.Values(theirs))
	for _, file := range mine {
		if slices.Contains(read, sums[file]) {
			continue
		}
		files = append(files, file)
		questions = questions || slices.ContainsFunc(r.Pools, func(p spec.Pool) bool { return p.Recorded != nil && p.Recorded.Queries.Path == file })
	}
	return files, questions
}

// relative says whether a unit compares a row with another: it is a difference or a lead by name, or the p-value of a test of two rows.
func relative(unit string) bool {
	words := strings.Split(unit, "-")
	return slices.Contains(words, "difference") || slices.Contains(words, "lead") || unit == units.McNemar
}

// withOnlySeed adds lines of the training seed of a run that has one. Such a run measures means alone, of one training;
// the reference's line of that seed is what they have to repeat.
func withOnlySeed(ours, reference *metrics.Set, seed uint64) *metrics.Set {
	byLabel := map[string]metrics.Measurement{}
	for _, m := range ours.Measurements {
		byLabel[m.Label()] = m
	}
	out := &metrics.Set{Comment: ours.Comment, Measurements: slices.Clone(ours.Measurements)}
	for _, ref := range reference.Where(metrics.Key{Name: "seed", Value: strconv.FormatUint(seed, 10)}) {
		mean := ref
		mean.Keys = slices.DeleteFunc(slices.Clone(ref.Keys), func(k metrics.Key) bool { return k.Name == "seed" })
		m, ok := byLabel[mean.Label()]
		if !ok {
			continue
		}
		m.Keys = ref.Keys
		out.Measurements = append(out.Measurements, m)
	}
	return out
}

// Paper holds the measurements of an experiment against the paper's table. Only rows that always ask one expert are
// gated: a simulated pool is solved for them, so that no more than the draw of the questions may lie between. Everything
// else of the paper is reported and decides nothing. The spec must not cut benchmarks down.
func Paper(r *spec.Resolved, measured, paper *metrics.Set) *NumbersReport {
	x := &r.Experiment
	out := &NumbersReport{Experiment: x.Name}
	normal := distuv.UnitNormal.Quantile(0.5 + x.Evaluate.Confidence/2)
	var gated []int
	for _, row := range x.Methods {
		if row.Paper == "" {
			continue
		}
		for _, b := range x.Test {
			column := r.Benchmarks[b].Paper
			lines := paper.Where(append(metrics.Keys(row.PaperKeys()...), metrics.Keys("table", x.Paper, "benchmark", column)...)...)
			ours := measured.Where(metrics.Keys("arena", metrics.PaperArena, "method", row.RowID(), "benchmark", b, "seed", "")...)
			if column == "" || len(lines) != 1 || len(ours) != 1 {
				continue
			}
			for _, unit := range []string{metrics.Accuracy, metrics.USD} {
				theirs, printed := lines[0].Value(unit)
				mine, has := ours[0].Value(unit)
				if !printed || !has {
					continue
				}
				c := metrics.Change{Label: ours[0].Label(), Unit: unit, Ours: mine.Number, Reference: theirs.Number, Gate: metrics.None, Noise: math.NaN()}
				switch {
				case !methods.Fixed(row.Name):
					c.Reason = metrics.Reason{What: "rows of routers", Why: "they are trained on simulated answers here and on others in the paper"}
				case !mine.Bounded:
					c.Reason = metrics.Reason{What: "numbers without an interval", Why: "nothing says how far the draw of the questions moves them"}
				default:
					c.Gate = metrics.Question
					c.Band = (mine.High - mine.Low) / (2 * normal)
					gated = append(gated, len(out.Changes))
				}
				out.Changes = append(out.Changes, c)
			}
		}
	}
	if len(gated) > 0 {
		z := distuv.UnitNormal.Quantile(1 - FalseAlarm/float64(len(gated))/2)
		for _, i := range gated {
			out.Changes[i].Band *= z
		}
	}
	return out
}
