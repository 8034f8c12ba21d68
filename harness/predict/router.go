// Package predict predicts from texts what experts do, and routes by it. It names no row; rows are the business of package methods.
//
//	router.go    routers that choose by what is expected of the experts, and their knob
//	texts.go     what predicts pass rates and dollars from texts
//	fits.go      a memory of fits that rows and training seeds share
//	learned.go   what a fit keeps, and how its router comes back from it
//	imported.go  predictions that another program made
//
// What it learns with is in package learn, what it reads of texts in package features.
package predict

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// UtilityKnobs is the sweep of a utility router, dearest first: mu from "money is nothing" to "money is everything",
// in units of one over the dearest expert's mean dollars.
func UtilityKnobs() []float64 {
	const steps = 140 // from 1e-3 to 1e2
	knobs := []float64{0}
	for i := range steps {
		knobs = append(knobs, math.Pow(10, -3+5*float64(i)/(steps-1)))
	}
	return append(knobs, 1e6)
}

// Utility returns the expert with the largest p - mu*usd/unit; ties go to the cheaper one.
func Utility(p, usd []float64, mu, unit float64) int {
	best, top := 0, math.Inf(-1)
	for m := range p {
		if u := p[m] - mu*usd[m]/unit; u > top {
			best, top = m, u
		}
	}
	return best
}

// DollarUnit is what a utility router counts money in, given the mean dollars of the experts [M]: those of the
// dearest by its price, or the most that any costs if that one is free, or 1 if all are.
func DollarUnit(usd []float64) float64 { return cmp.Or(usd[len(usd)-1], slices.Max(usd), 1) }

// A Predictor says what it expects of the experts on questions, by their keys.
type Predictor func(ctx context.Context, keys []string) ([]Scores, error)

// Scores are what a router expects of the experts on one question, [M].
type Scores struct{ Pass, USD []float64 }

// Memory is scores that were predicted before, by key: about 200 bytes a question.
type Memory struct{ remember.Memory[Scores] }

// Predictor asks predict for what it does not know yet. All that are made from one memory have to expect the same.
func (m *Memory) Predictor(predict Predictor) Predictor {
	return func(ctx context.Context, keys []string) ([]Scores, error) {
		return m.Of(keys, func(unknown []string) ([]Scores, error) { return predict(ctx, unknown) })
	}
}

// Router expects scores of the experts on a question and chooses by them and by its knob.
//
// It keeps the scores of every question it was asked about, for as long as the router lives. It is safe for concurrent use.
type Router struct {
	byID    bool // questions are predicted from the ids of their problems, and not from their texts
	predict Predictor
	experts int
	choose  func(s Scores, knob float64) int
	knobs   []float64 // dearest first
	knob    float64   // of Route
}

// NewUtility picks argmax_m pass(m) - mu*usd(m)/unit, mu being its knob. Raising mu never raises the predicted
// dollars of a decision. Route ignores the price: knob 0.
func NewUtility(experts int, unit float64, predict Predictor) Rates {
	r := NewRouter(experts, UtilityKnobs(), predict, func(s Scores, mu float64) int { return Utility(s.Pass, s.USD, mu, unit) })
	return Rates{r, unit}
}

// Rates is a router whose scores are pass rates; what other routers expect may do no more than rank the experts. It implements
// routing.Predictor.
type Rates struct {
	*Router
	Unit float64 // of dollars
}

// PassRates implements routing.Predictor.
func (r Rates) PassRates(ctx context.Context, queries []routing.Query) ([][]float64, error) {
	expected, err := r.Expects(ctx, r.Keys(queries))
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(queries))
	for i, s := range expected {
		out[i] = Certain(s.Pass)
	}
	return out, nil
}

// Certain copies predicted pass rates with those that are nearly certain made so. Means of rates that are all 0 or all 1 are that, whatever rounding made of them: the loss of a
// certain prediction that is mistaken has no bound, and that of one that is nearly certain has.
func Certain(p []float64) []float64 {
	const rounding = 1e-12
	out := slices.Clone(p)
	for m, x := range out {
		if math.Abs(x-math.Round(x)) < rounding {
			out[m] = math.Round(x)
		}
	}
	return out
}

// NewRouter starts at the first of its knobs.
func NewRouter(experts int, knobs []float64, predict Predictor, choose func(s Scores, knob float64) int) *Router {
	return &Router{predict: new(Memory).Predictor(predict), experts: experts, choose: choose, knobs: knobs, knob: knobs[0]}
}

// SetKnob sets the knob of Route, before the router is used.
func (r *Router) SetKnob(knob float64) { r.knob = knob }

// KeyByID has questions predicted from the ids of their problems. It is set before the router is used.
func (r *Router) KeyByID() { r.byID = true }

// Knobs implements routing.Frontier.
func (r *Router) Knobs() []float64 { return slices.Clone(r.knobs) }

// Route implements routing.Router.
func (r *Router) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return routing.RouteAt(ctx, r, queries, r.knob)
}

// Weigh implements routing.Frontier.
func (r *Router) Weigh(ctx context.Context, queries []routing.Query) (routing.Choice, error) {
	expected, err := r.Expects(ctx, r.Keys(queries))
	if err != nil {
		return routing.Choice{}, err
	}
	return routing.Choice{Experts: r.experts, At: func(i int, knob float64) int { return r.choose(expected[i], knob) }}, nil
}

// Keys are those of the questions of queries.
func (r *Router) Keys(queries []routing.Query) []string {
	keys := make([]string, len(queries))
	for i, q := range queries {
		keys[i] = q.Problem.Text
		if r.byID {
			keys[i] = q.Problem.ID
		}
	}
	return keys
}

// Expects returns what is expected on questions, by their keys.
func (r *Router) Expects(ctx context.Context, keys []string) ([]Scores, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.predict(ctx, keys)
}
