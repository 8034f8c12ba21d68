// Row kind oracle: a yardstick that reads the outcomes it is scored on.

package methods

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// oracle reads the outcomes it is scored on and is no router. It needs graded answers; an outcome that is a probability
// below 1 is not right.
//
// By outcome it picks, for every problem and run, the expert whose answer in that run is right and cost least, and the
// cheapest answer of all where none is right (RouterBench's oracle, Hu et al. 2024): with one sample a problem and expert
// it is inflated by luck. By kappa it picks m_best of equation 1 from the pass rates over the evaluation runs of a problem,
// the dearest expert where none passes tau: what the paper's targets would give with no error of estimation.
type oracle struct {
	By string `yaml:"by" oneof:"outcome kappa"`

	tau float64
}

func newOracle(s Setup) (routing.Method, error) {
	o := &oracle{By: "outcome", tau: s.Spec.Targets.Tau}
	return o, spec.DecodeParams(s.Method, o)
}

func (*oracle) Name() string { return "oracle" }

func (*oracle) traits() Traits { return Traits{Yardstick: true} }

func (o *oracle) Fit(context.Context, routing.TrainSet, routing.Work) (routing.Router, error) {
	return o, nil
}

func (*oracle) Route(context.Context, []routing.Query) ([]routing.Decision, error) {
	return nil, errors.New("oracle: it chooses among outcomes that are known already; it cannot route a new problem")
}

// RouteKnowing implements routing.HindsightRouter.
func (o *oracle) RouteKnowing(_ context.Context, queries []routing.Query, outcomes [][]routing.Outcome) ([]routing.Decision, error) {
	if len(outcomes) != len(queries) {
		return nil, fmt.Errorf("oracle: %d outcomes for %d queries", len(outcomes), len(queries))
	}
	if len(queries) == 0 {
		return nil, nil
	}
	if o.By == "kappa" {
		best := o.reliable(queries, outcomes)
		return routing.Choices(queries, len(outcomes[0]), func(_ int, q routing.Query) int { return best[q.Problem.ID] }), nil
	}
	return routing.Choices(queries, len(outcomes[0]), func(i int, _ routing.Query) int {
		best, right := 0, false
		for m, o := range outcomes[i] {
			ok := o.Correct == 1
			if m == 0 || ok && !right || ok == right && o.USD < outcomes[i][best].USD {
				best, right = m, ok
			}
		}
		return best
	}), nil
}

// reliable returns m_best of every problem by its pass rates over the runs.
func (o *oracle) reliable(queries []routing.Query, outcomes [][]routing.Outcome) map[string]int {
	right, runs := map[string][]float64{}, map[string]float64{}
	for i, q := range queries {
		if right[q.Problem.ID] == nil {
			right[q.Problem.ID] = make([]float64, len(outcomes[i]))
		}
		runs[q.Problem.ID]++
		for m, x := range outcomes[i] {
			if x.Correct == 1 {
				right[q.Problem.ID][m]++
			}
		}
	}
	best := map[string]int{}
	for id, kappa := range right {
		for m := range kappa {
			kappa[m] /= runs[id]
		}
		best[id] = routing.MBest(kappa, o.tau, len(kappa)-1)
	}
	return best
}
