package methods

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// oracle picks, for every problem and run, the expert whose answer in that run is right and cost least, and the
// cheapest answer of all where none is right (RouterBench's oracle, Hu et al. 2024). It reads the outcomes it is
// scored on and is no router: with one sample a problem and expert it is inflated by luck. It needs graded answers;
// an outcome that is a probability below 1 is not right.
type oracle struct{}

func newOracle(s Setup) (routing.Method, error) {
	return oracle{}, spec.DecodeParams(s.Method, &oracle{})
}

func (oracle) Name() string { return "oracle" }

func (o oracle) Fit(context.Context, routing.TrainSet, routing.Work) (routing.Router, error) {
	return o, nil
}

func (oracle) Route(context.Context, []routing.Query) ([]routing.Decision, error) {
	return nil, errors.New("oracle: it chooses among outcomes that are known already; it cannot route a new problem")
}

// RouteKnowing implements routing.HindsightRouter.
func (oracle) RouteKnowing(_ context.Context, queries []routing.Query, outcomes [][]routing.Outcome) ([]routing.Decision, error) {
	if len(outcomes) != len(queries) {
		return nil, fmt.Errorf("oracle: %d outcomes for %d queries", len(outcomes), len(queries))
	}
	if len(queries) == 0 {
		return nil, nil
	}
	return decide(queries, len(outcomes[0]), func(i int, _ routing.Query) int {
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
