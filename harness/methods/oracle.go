package methods

import (
	"context"
	"errors"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// oracle picks, for every problem and run, the cheapest expert whose answer in that run is right, and the cheapest
// of all where none is. It reads the outcomes it is scored on and is no router: with one sample a problem and
// expert it is inflated by luck.
type oracle struct{}

func newOracle(s Setup) (routing.Method, error) {
	o := oracle{}
	return o, spec.DecodeParams(s.Method, &o)
}

func (oracle) Name() string { return "oracle" }

func (o oracle) Fit(context.Context, routing.TrainSet, routing.Work) (routing.Router, error) {
	return o, nil
}

func (oracle) Route(context.Context, []routing.Query) ([]routing.Decision, error) {
	return nil, errors.New("the oracle routes recorded outcomes only, not new problems")
}

func (oracle) RouteKnowing(_ context.Context, queries []routing.Query, outcomes [][]routing.Outcome) ([]routing.Decision, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	return decide(queries, len(outcomes[0]), func(i int, _ routing.Query) int {
		best := -1
		for m, o := range outcomes[i] {
			if o.Correct == 1 && (best < 0 || o.USD < outcomes[i][best].USD) {
				best = m
			}
		}
		if best >= 0 {
			return best
		}
		best = 0
		for m, o := range outcomes[i] {
			if o.USD < outcomes[i][best].USD {
				best = m
			}
		}
		return best
	}), nil
}
