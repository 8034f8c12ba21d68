// The checks of whole tables on our own measurements.

package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// buckets are the units that count graded answers; they add up to the rollouts of a line.
var buckets = []string{"correct", "wrong", "no-answer", "truncated", "ungraded"}

// overall are the values of the key benchmark that stand for all questions: of simulated and live pools, and of folds.
var overall = []string{metrics.Average, "all"}

// row is the accuracies and costs of one row of our measurements: lines that differ in the benchmark alone.
type row struct {
	keys   []metrics.Key                  // without experiment, benchmark and seed
	name   string                         // the same, as in the file
	lines  map[string]metrics.Measurement // by benchmark
	seeds  map[string]bool                // training seeds whose mean the lines are
	weight *row                           // whose questions its averages are weighted by
}

// CheckTables runs the checks of whole tables on measurements, a finding for each experiment that has accuracies.
//
// A percentage fits if the counts of its line (right, wrong, no answer, cut off, not graded) add up to the rollouts, and if
// it is the share of the right ones: a whole number of them in all training seeds together. Rows that are scored by an
// expectation have fractions there; of those only the share is asked. Lines without counts, on the larger set and in
// folds, are left out. An average fits if it follows from its benchmarks, weighted by their questions at the paper's
// sizes; where no average of the larger set does, that set has a finding of its own, not checkable: it may have been weighted
// by other sizes, or be wrong throughout. Costs in percent have no common whole and are left out.
func (s *Measurements) CheckTables() []Finding {
	var findings []Finding
	for _, experiment := range s.Experiments() {
		rows, file := s.rows(experiment)
		var wrong []string
		percentages, averages, expected, uncounted := 0, 0, 0, 0
		large, off := 0, []string(nil) // averages of the larger set, and those that do not fit
		for _, r := range rows {
			n, exact, bad := r.percentages()
			percentages += n
			wrong = append(wrong, bad...)
			if n > 0 && !exact {
				expected++
			}
			if n == 0 {
				uncounted++
			}
			n, bad = r.averages()
			if r.weight != r {
				large, off = large+n, append(off, bad...)
				continue
			}
			averages += n
			wrong = append(wrong, bad...)
		}
		elsewhere := large > 0 && len(off) == large
		if !elsewhere {
			averages, wrong = averages+large, append(wrong, off...)
		}
		if percentages+averages > 0 {
			reason := fmt.Sprintf("%d percentages, %d averages", percentages, averages)
			if expected > 0 {
				reason += fmt.Sprintf("; %d rows by expectation", expected)
			}
			if uncounted > 0 {
				reason += fmt.Sprintf("; %d without counts", uncounted)
			}
			found := tableFinding(experiment, file, "every percentage is that of its counts, and every average follows from its row", percentages+averages, wrong, wrong, nil, reason)
			found.Measured, found.File = true, file
			findings = append(findings, found)
		}
		if elsewhere {
			findings = append(findings, Finding{
				ID: experiment + ", larger set", Source: file, Says: "every average follows from its row", Verdict: NotCheckable, Table: true, Measured: true, File: file,
				Printed: fmt.Sprintf("%d cells", large), Recomputed: fmt.Sprintf("0 of %d", large), Reason: "no average follows from its row at the paper's sizes: weighted by others, or wrong throughout",
			})
		}
	}
	return findings
}

// rows returns the rows of an experiment in order of appearance, and the file of the first.
func (s *Measurements) rows(experiment string) (rows []*row, file string) {
	byName := map[string]*row{}
	for _, m := range s.of[experiment] {
		benchmark := m.Key("benchmark")
		if _, ok := m.Value(metrics.Accuracy); !ok || m.Name != "Route" || benchmark == "" {
			continue
		}
		keys := slices.DeleteFunc(slices.Clone(m.Keys), func(k metrics.Key) bool {
			return slices.Contains([]string{"experiment", "benchmark", "seed"}, k.Name)
		})
		r := byName[label(keys)]
		if r == nil {
			r = &row{keys: keys, name: label(keys), lines: map[string]metrics.Measurement{}, seeds: map[string]bool{}}
			byName[r.name] = r
			rows = append(rows, r)
			file = cmp.Or(file, s.files[m.Label()])
		}
		if seed := m.Key("seed"); seed != "" {
			r.seeds[seed] = true
		} else {
			r.lines[benchmark] = m
		}
	}
	for _, r := range rows {
		keys := slices.Clone(r.keys)
		for i, k := range keys {
			if k.Name == "arena" {
				keys[i].Value = "paper"
			}
		}
		r.weight = byName[label(keys)]
	}
	return rows, file
}

func label(keys []metrics.Key) string {
	return strings.TrimPrefix(metrics.Measurement{Keys: keys}.Label(), "/")
}

// percentages tries those of lines with counts. exact says that the counts are of answers: the percentage then is that of
// a whole number of right ones in so many seeds taken together.
func (r *row) percentages() (n int, exact bool, bad []string) {
	seeds := float64(max(1, len(r.seeds)))
	counts := map[string][]metrics.Value{}
	exact = true
	for b, m := range r.lines {
		for _, unit := range buckets {
			if v, ok := m.Value(unit); ok {
				counts[b] = append(counts[b], v)
				exact = exact && near(v.Number*seeds, math.Round(v.Number*seeds), seeds*half(v))
			}
		}
	}
	for _, b := range sortedKeys(counts) {
		m, of := r.lines[b], counts[b]
		total, slack := 0.0, 0.0
		for _, v := range of {
			total += v.Number
			slack += half(v)
		}
		accuracy, _ := m.Value(metrics.Accuracy)
		right, rounding, rollouts := of[0].Number, half(of[0]), float64(m.N)
		if exact {
			right, rounding = math.Round(right*seeds)/seeds, 0
		}
		n++
		switch {
		case len(of) < len(buckets) || !near(total, rollouts, slack):
			bad = append(bad, fmt.Sprintf("%s/benchmark=%s: the counts add up to %s of %d", r.name, b, short(total, 8), m.N))
		case slices.Contains(overall, b): // averaged over questions, and the counts are of rollouts
			n--
		case !near(accuracy.Number, 100*right/rollouts, half(accuracy)+100*rounding/rollouts+stored*accuracy.Number):
			bad = append(bad, fmt.Sprintf("%s/benchmark=%s: printed %s%%, %s right of %d are %s%%", r.name, b,
				metrics.Format(accuracy.Number, accuracy.Decimals), short(right, 8), m.N, short(100*right/rollouts, 6)))
		}
	}
	return n, exact, bad
}

// averages recomputes those of the row.
func (r *row) averages() (n int, bad []string) {
	for _, average := range overall {
		whole, ok := r.lines[average]
		if !ok || r.weight == nil || len(r.lines) < 2 {
			continue
		}
		for _, unit := range []struct{ whole, cell string }{{metrics.Accuracy, metrics.Accuracy}, {metrics.USDPerQuery, metrics.USD}} {
			printed, ok := whole.Value(unit.whole)
			if !ok {
				continue
			}
			sum, slack, questions := 0.0, 0.0, 0.0
			for _, b := range sortedKeys(r.lines) {
				v, has := r.lines[b].Value(unit.cell)
				q, weighs := r.weight.lines[b].Value(metrics.Questions)
				if b == average {
					continue
				}
				ok = ok && has && weighs
				if unit.cell == metrics.Accuracy {
					v.Number *= q.Number
					slack += half(v) * q.Number
				} else {
					slack += half(v)
				}
				sum += v.Number
				questions += q.Number
			}
			if !ok || sum == 0 && near(printed.Number, 0, half(printed)) { // as it has to be under any weights
				continue
			}
			n++
			if !near(printed.Number, sum/questions, half(printed)+slack/questions) {
				bad = append(bad, fmt.Sprintf("%s/benchmark=%s: printed %s %s, the benchmarks give %s", r.name, average, metrics.Format(printed.Number, printed.Decimals), unit.whole, short(sum/questions, 6)))
			}
		}
	}
	return n, bad
}

// stored is the relative error of an expectation: probabilities are stored with six decimals, and a third of the answers can
// look like a whole number of them in three seeds.
const stored = 1e-6
