// What a spec's outputs need, which is looked at before anything is measured.

package present

import (
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// hullNeeds fails without a row of every expert, measured where there are measurements.
func (r *Run) hullNeeds(o spec.Output) error {
	for _, pool := range r.Spec.Pools {
		fixed := map[string]bool{}
		for _, m := range r.Spec.Experiment.Methods {
			id, ok := r.asks(m, pool)
			if ok && (r.Measurements == nil || len(r.Measurements.Where(metrics.Keys("pool", pool.Name, "method", m.RowID())...)) > 0) {
				fixed[id] = true
			}
		}
		var lacks []string
		for _, e := range pool.Experts {
			if !fixed[e.ID] {
				lacks = append(lacks, e.ID)
			}
		}
		if len(lacks) > 0 {
			return fmt.Errorf("%w: output %s: the hull needs a row fixed of each of the %d experts of pool %s; spec %s has none of %s", spec.ErrUsage, o.File, len(pool.Experts), pool.Name, r.Spec.Experiment.Name, strings.Join(lacks, ", "))
		}
	}
	return nil
}

// seedsNeed fails where no row is trained more than once.
func (r *Run) seedsNeed(o spec.Output) error {
	x := &r.Spec.Experiment
	seeded := slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return methods.Seeded(m.Name) })
	if o.Rows == nil && (len(x.Evaluate.Seeds) < 2 || !seeded) {
		return fmt.Errorf("%w: output %s: no row of spec %s was trained with more than one seed; name more in evaluate.seeds", spec.ErrUsage, o.File, x.Name)
	}
	return nil
}

// verdictNeeds fails without routers, and with rows that are none: what a verdict says of them nobody can have.
func (r *Run) verdictNeeds(o spec.Output) error {
	x := &r.Spec.Experiment
	if len(o.Rows) == 0 {
		return fmt.Errorf("%w: spec %s: an output of kind verdict names the routers that it is about: rows: [logistic, entrorouter]", spec.ErrUsage, x.Name)
	}
	for _, m := range x.Methods {
		if slices.Contains(o.Rows, m.RowID()) && methods.TrainsNothing(m.Name) {
			return fmt.Errorf("%w: output %s: row %s is no router, of which a verdict could say that it pays; leave it out of rows", spec.ErrUsage, o.File, m.RowID())
		}
	}
	return r.hullNeeds(o)
}
