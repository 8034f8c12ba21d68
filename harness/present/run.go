// A run as its tables and figures read it: who competes, what rows and experts are called, what was measured of them.

package present

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Run is what an experiment left behind, to be shown.
type Run struct {
	Spec         *spec.Resolved
	Measurements *metrics.Set
	Before       *metrics.Set // of another run, whose points planes show beside these; nil: of none
	Style        report.Style // of its tables

	// RouterMS is how long a row that trains a language model took to decide about a question, in milliseconds, by its id. It repeats
	// nowhere, so no measurement has it; nil: it is not known, as where measurements are all there is.
	RouterMS map[string]float64
}

// Said are the comments of the measurements that say more than the recipes, and than title and data of the spec.
func (r *Run) Said() []string {
	listed := []string{" " + r.Spec.Experiment.Title + "."}
	for _, f := range r.Spec.Data() {
		listed = append(listed, metrics.MadeOf(f.Path, f.SHA256))
	}
	return r.Measurements.Said(listed...)
}

// arena is the arena that figures show: the one with the most problems.
func (r *Run) arena() string {
	if r.Spec.Experiment.Large > 0 {
		return metrics.LargeArena
	}
	return metrics.PaperArena
}

// label is what tables and figures call a row. A linear head on a language model that is not trained says so: it is not
// what the paper trains, and supports no verdict on it.
func (r *Run) label(m spec.Method) string {
	if methods.RowTraits(m, &r.Spec.Experiment).FrozenTrunk() {
		return m.RowLabel() + " (linear head on a frozen LM)"
	}
	return m.RowLabel()
}

// inSentence is a label after other words.
func inSentence(label string) string { return strings.ToLower(label[:1]) + label[1:] }

// shown are the rows that a figure shows: those the output names, or all of them, but none that could not be fitted.
func (r *Run) shown(ids []string) []spec.Method {
	var rows []spec.Method
	for _, m := range r.Spec.Experiment.Methods {
		if (ids == nil || slices.Contains(ids, m.RowID())) && !r.unfit(m.RowID()) {
			rows = append(rows, m)
		}
	}
	return rows
}

// unfit says whether a row could not be fitted: a table says so and a figure leaves it out.
func (r *Run) unfit(row string) bool {
	return r.Measurements != nil && slices.ContainsFunc(r.Measurements.Where(metrics.Keys("method", row)...), func(m metrics.Measurement) bool {
		return m.Why(metrics.Accuracy) != ""
	})
}

// models are the names of a recorded pool's models, cheapest first: they are recorded with their makers and hosts.
func (r *Run) models(pool spec.Pool) (names []string) {
	for _, e := range r.byPrice(pool) {
		name, _, _ := strings.Cut(path.Base(e.Model), "@")
		names = append(names, name)
	}
	return names
}

// expertLabel is the label of the row that always asks an expert, or its id if the spec has none.
func (r *Run) expertLabel(id string) string {
	for _, m := range r.Spec.Experiment.Methods {
		if of, ok := r.asks(m, r.Spec.Pools[0]); ok && of == id {
			return m.RowLabel()
		}
	}
	return id
}

// byPrice are the experts of a pool, cheapest first.
func (r *Run) byPrice(pool spec.Pool) []spec.Expert {
	experts := slices.Clone(pool.Experts)
	slices.SortStableFunc(experts, func(a, b spec.Expert) int {
		return cmp.Or(cmp.Compare(r.Spec.Prices.Models[a.Model].Out, r.Spec.Prices.Models[b.Model].Out), cmp.Compare(a.ID, b.ID))
	})
	return experts
}

// expertTerms are the experts of the pool, cheapest first, as figures name them.
func (r *Run) expertTerms() []report.Term {
	var terms []report.Term
	for _, e := range r.byPrice(r.Spec.Pools[0]) {
		terms = append(terms, report.Term{Value: e.ID, Label: r.expertLabel(e.ID)})
	}
	return terms
}

// strongest returns the id of the dearest expert of a pool: the paper's reference.
func (r *Run) strongest(pool spec.Pool) string {
	experts := r.byPrice(pool)
	return experts[len(experts)-1].ID
}

// cheapest returns the id of the cheapest expert of a pool.
func (r *Run) cheapest(pool spec.Pool) string { return r.byPrice(pool)[0].ID }

// asks returns the id of the expert of a pool that a row always asks; ok is false for rows that choose.
func (r *Run) asks(m spec.Method, pool spec.Pool) (id string, ok bool) {
	var ids []string
	for _, e := range r.byPrice(pool) {
		ids = append(ids, e.ID)
	}
	return methods.FixedExpert(m, ids)
}

// seeds is how many trainings the measurements average over: training seeds or, of recorded answers, partitions. The spec
// may have been run with others than it names.
func (r *Run) seeds() int {
	seen := map[string]bool{"": true}
	for _, m := range r.Measurements.Measurements {
		seen[m.Key("seed")] = true
	}
	return max(len(seen)-1, 1)
}

// large is how many problems of a benchmark the larger set has. The spec may have been changed since.
func (r *Run) large() int {
	x := &r.Spec.Experiment
	for _, m := range r.Measurements.Where(metrics.Keys("arena", metrics.LargeArena, "benchmark", metrics.Average)...) {
		return m.N / len(x.Test)
	}
	return x.Large
}

// samePass says whether our average is over the benchmarks of the paper's, all of each.
func (r *Run) samePass(paper *metrics.Set) bool {
	if paper == nil || r.Spec.Experiment.Evaluate.MaxProblems > 0 {
		return false
	}
	var ours, theirs []string
	for _, b := range r.Spec.Experiment.Test {
		ours = append(ours, r.Spec.Benchmarks[b].Paper)
	}
	for _, m := range paper.Measurements {
		if b := m.Key("benchmark"); b != metrics.Average {
			theirs = append(theirs, b)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	return slices.Equal(ours, slices.Compact(theirs))
}

// dearest is what the dearest expert is called: the strongest where that is how the strongest is found, as in the paper.
func dearest(x *spec.Experiment) string {
	if x.Targets.Strongest == "accuracy" {
		return "dearest"
	}
	return "strongest"
}

// stratumSize is how many questions of a recorded pool a stratum has.
func (r *Run) stratumSize(pool, stratum string) (n int) {
	for _, m := range r.Measurements.Where(metrics.Keys("pool", pool, "method", r.Spec.Experiment.Methods[0].RowID(), "benchmark", stratum, "seed", "")...) {
		n = max(n, m.N)
	}
	return n
}

// hasCurve says whether the curve of a row was measured.
func (r *Run) hasCurve(m spec.Method) bool {
	return slices.ContainsFunc(r.Measurements.Where(metrics.Keys("method", m.RowID())...), hasMeanGain)
}

func hasMeanGain(line metrics.Measurement) bool {
	_, ok := line.Value(units.MeanGain)
	return ok
}
