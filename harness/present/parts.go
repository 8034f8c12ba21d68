// The parts of an experiment that are shown by themselves: all of it, or a recorded pool each.

package present

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// part is what a table, a figure or a verdict is of.
type part struct {
	pool   spec.Pool
	suffix string          // of the names of its files
	at     []metrics.Key   // that its lines have
	all    string          // value of the key benchmark on its lines of all questions
	cost   report.Quantity // what figures show of what rows cost
}

// poolSuffixes are the suffixes of the parts of an experiment on recorded answers.
func poolSuffixes(x *spec.Experiment) (suffixes []string) {
	if x.ReadsAnswers() {
		for _, pool := range x.Pools {
			suffixes = append(suffixes, "-"+pool)
		}
	}
	return suffixes
}

// parts are those of an experiment. arena is the one that is shown, where there are arenas.
func (r *Run) parts(arena string) (parts []part) {
	if !r.Spec.Experiment.ReadsAnswers() {
		return []part{{r.Spec.Pools[0], "", metrics.Keys("arena", arena), metrics.Average, report.CostOfAThousand()}}
	}
	share := report.Quantity{Unit: units.CostShare, Label: "Cost (% of the " + dearest(&r.Spec.Experiment) + "'s)"}
	for _, pool := range r.Spec.Pools {
		parts = append(parts, part{pool, "-" + pool.Name, metrics.Keys("pool", pool.Name), metrics.BothStrata, share})
	}
	return parts
}

// eachPart draws a figure of every part, and leaves out parts that have none.
func (r *Run) eachPart(draw func(part) (*report.Figure, error)) (figures []*report.Figure, err error) {
	for _, p := range r.parts(r.arena()) {
		f, err := draw(p)
		if err != nil {
			return nil, err
		}
		if f != nil {
			figures = append(figures, f)
		}
	}
	return figures, nil
}

// row is how tables of a part show a row. The strongest expert of the pool does not compete for the best, nor do rows that stand apart.
func (r *Run) row(m spec.Method, p part) report.RowLayout {
	id, ok := r.asks(m, p.pool)
	apart := ok && id == r.strongest(p.pool) || methods.RowTraits(m, &r.Spec.Experiment).Apart()
	return report.RowLayout{Section: methods.Section(m.Name), Label: r.label(m), Reference: apart, Keys: slices.Concat(p.at, metrics.Keys("method", m.RowID()))}
}
