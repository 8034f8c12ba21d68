// Routing of new problems by a row of an experiment.

package protocol

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// Routed is the decision of a fitted router on one problem.
type Routed struct {
	ID     string             `json:"id"`
	Run    int                `json:"run,omitempty"`
	Expert string             `json:"expert"`           // whose answer stands: the likeliest where the row flips a coin; "self": the router's own
	Calls  []string           `json:"calls,omitempty"`  // experts asked on the way, by routers that may ask several
	Prob   map[string]float64 `json:"prob"`             // of every expert, sums to 1, to less where the router may answer itself
	Answer string             `json:"answer,omitempty"` // of a router that has talked to the experts
	USD    float64            `json:"usd"`              // expected: what the experts asked cost a question on the training problems, the mean over the coin where the row flips one; what the calls cost where there is an answer
}

// Route routes queries by the router of one row of an experiment. A trained router is loaded from its stored fit. A row
// whose fit is not stored or left nothing to load, or whose kind is no methods.Loader, is fitted, which makes again the
// router of its run byte for byte. Profiles are read from the store and measured first if it does not have them. What the router leaves (checkpoint,
// curves, trajectories of a served policy) goes to dir, nowhere if it is empty.
func Route(ctx context.Context, r *spec.Resolved, o steps.Options, row string, queries []routing.Query, dir string) ([]Routed, error) {
	if err := oneRouter(r); err != nil {
		return nil, err
	}
	run, err := newSplit(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	f, err := run.split.routable(row)
	if err != nil {
		return nil, err
	}
	return run.split.route(ctx, f, queries, dir)
}

// oneRouter refuses an experiment whose rows are not one router a training seed.
func oneRouter(r *spec.Resolved) error {
	switch r.Experiment.Protocol {
	case "folds":
		return fmt.Errorf("%w: spec %s has protocol folds, whose routers are one a fold; name a spec with protocol split", spec.ErrUsage, r.Experiment.Name)
	case "collapse":
		return fmt.Errorf("%w: spec %s has protocol collapse, whose policies read no problems; name a spec with protocol split", spec.ErrUsage, r.Experiment.Name)
	}
	return nil
}

// routable is the fit of a row, with its first seed, if it can decide about new problems.
func (e *experiment) routable(row string) (*fit, error) {
	var ids []string
	for i, m := range e.Spec.Experiment.Methods {
		ids = append(ids, m.RowID())
		if m.RowID() != row {
			continue
		}
		f := e.fits[i][0]
		if f.hindsight {
			return nil, fmt.Errorf("%w: row %s reads the outcomes of what it routes; name a router", spec.ErrUsage, row)
		}
		return f, nil
	}
	return nil, fmt.Errorf("%w: spec %s has no row %q; it has: %s", spec.ErrUsage, e.Spec.Experiment.Name, row, strings.Join(ids, ", "))
}

// route is Route with a fit.
func (e *experiment) route(ctx context.Context, f *fit, queries []routing.Query, dir string) ([]Routed, error) {
	usd, err := e.rlProfile.meanDollars(ctx)
	if err != nil {
		return nil, err
	}
	router, done, err := f.router(ctx, dir)
	defer done()
	if err != nil {
		return nil, err
	}
	decisions, err := router.Route(ctx, queries)
	if err != nil {
		return nil, err
	}
	out := make([]Routed, len(decisions))
	for i, d := range decisions {
		out[i] = Routed{ID: queries[i].Problem.ID, Run: queries[i].Run, Prob: map[string]float64{}}
		chosen := d.Expert
		if chosen == routing.Expected {
			chosen = slices.Index(d.Prob, slices.Max(d.Prob))
		}
		out[i].Expert = routing.SelfID
		if chosen != routing.Self {
			out[i].Expert = e.pool.Experts[chosen].ID
		}
		for _, c := range d.Calls {
			out[i].Calls = append(out[i].Calls, e.pool.Experts[c.Expert].ID)
		}
		asked := d.Asked(len(e.pool.Experts))
		for m, x := range e.pool.Experts {
			out[i].Prob[x.ID] = d.Prob[m]
			out[i].USD += asked[m] * usd[m]
		}
		if d.Answer != nil {
			out[i].Answer, out[i].USD = d.Answer.Text, d.Paid(e.pool.Experts, e.Spec.Experiment.CountInput)
		}
	}
	return out, nil
}
