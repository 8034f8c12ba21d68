package routing

import (
	"context"
	"log/slog"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Query is one question put to a router: a problem in one evaluation run. Random streams are derived from both.
type Query struct {
	Problem Problem
	Run     int
}

// Call is one expert call that a router made before it answered.
type Call struct {
	Expert int // index into the pool
	Usage  cost.Usage
}

// Expected as Decision.Expert scores a decision by its expectation over Prob instead of one expert's rollout:
// the closed form of rows that flip coins.
const Expected = -1

// Decision says which expert answers a query.
type Decision struct {
	Problem string
	Run     int
	Prob    []float64  // [M], sums to 1: the router's distribution over experts
	Expert  int        // the expert chosen, index into the pool; or Expected
	Calls   []Call     // calls made on the way; nil for single-round routers
	Answer  *string    // the router's own answer; nil: the chosen expert's rollout answers
	Usage   cost.Usage // the router's own tokens
}

// Router maps queries to decisions, in the same order. Safe for use by one goroutine at a time.
type Router interface {
	Route(ctx context.Context, queries []Query) ([]Decision, error)
}

// HindsightRouter is a yardstick that reads the outcomes of the very queries it routes (the oracle rows).
// outcomes is [len(queries)][M]. It is a separate method so that no other router can be handed outcomes.
type HindsightRouter interface {
	RouteKnowing(ctx context.Context, queries []Query, outcomes [][]Outcome) ([]Decision, error)
}

// Frontier is a router whose operating point can be moved by one knob without fitting again.
type Frontier interface {
	Router
	// Knobs returns the settings that sweep the router from its dearest to its cheapest end.
	Knobs() []float64
	// RouteAt routes at one setting of the knob.
	RouteAt(ctx context.Context, queries []Query, knob float64) ([]Decision, error)
}

// Method is one row of a table: it fits a router.
type Method interface {
	// Name is the kind of method, as written in a spec.
	Name() string
	// Fit must depend on its arguments alone and honour ctx. A method that does not learn ignores train.
	Fit(ctx context.Context, train TrainSet, work Work) (Router, error)
}

// Example is one profiled training problem.
type Example struct {
	Problem Problem
	Kappa   []float64 // [M] measured pass rates, each k/Samples
	Samples []int     // [M] rollouts behind Kappa
	Tokens  []float64 // [M] mean output tokens
	USD     []float64 // [M] mean dollars a rollout
	Probe   float64   // pass rate of the probe
}

// TrainSet is what a method may learn from.
type TrainSet struct {
	Experts []Expert  // [M] cheapest first
	C       []float64 // [M] C(m) in the experiment's unit
	SFT     []Example // Stage I problems
	RL      []Example // Stage II problems
}

// Examples returns the training problems of both stages, each once.
func (t TrainSet) Examples() []Example {
	seen := make(map[string]bool, len(t.SFT))
	all := make([]Example, 0, len(t.SFT)+len(t.RL))
	for _, stage := range [][]Example{t.SFT, t.RL} {
		for _, e := range stage {
			if !seen[e.Problem.ID] {
				seen[e.Problem.ID] = true
				all = append(all, e)
			}
		}
	}
	return all
}

// Work is where and how a fit runs.
type Work struct {
	Seed seed.Seed    // training seed of this fit
	Dir  string       // checkpoints and curves are written here; empty: nowhere
	Log  *slog.Logger // never nil
}
