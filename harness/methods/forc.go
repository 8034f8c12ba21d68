package methods

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// forc is FORC, "Fly-swat or cannon" (Sakota et al. 2024): it predicts for each expert whether it answers a question
// right, by cross-entropy with the pass rate, and assigns experts by one of the strategies of the public code:
//
//   - threshold: of the experts whose predicted pass rate is above Threshold, strictly, the cheapest (Multiple); if
//     there are none, the dearest (AllWrong). The default, with 0.5. Its knob is the threshold.
//   - performance: the largest predicted pass rate. It has no knob.
//   - cost: the assignment with the largest sum of predicted pass rates that spends no more than Share of what the
//     strongest expert would. The public code solves an integer program for a batch; here a price on money is found on
//     the training problems (see priceOf), so that decisions do not depend on what else is asked. That is exact but for
//     the one question that a budget may split. Its knob is the price, so that Match can set it to another row's cost.
//
// Left out are its greedy strategy, which depends on the order of the questions, and its constant ones (see fixed).
//
// The public code fine-tunes an encoder; this is a regression on hashed n-grams and surface features with a weight for
// each feature and expert, and its penalty is chosen as logistic's. What an expert costs is its training mean, as in
// the public code, or predicted from the text.
type forc struct {
	Strategy  string    `yaml:"strategy" oneof:"threshold performance cost"`
	Threshold float64   `yaml:"threshold" in:"[0,1]"`
	AllWrong  string    `yaml:"all_wrong" oneof:"biggest cheapest"`
	Multiple  string    `yaml:"multiple" oneof:"cheapest biggest"`
	Share     float64   `yaml:"share" in:"(0,1]"`            // strategy cost: budget as a share of the strongest expert's mean dollars
	Cost      string    `yaml:"cost" oneof:"mean predicted"` // dollars of a question
	L2        []float64 `yaml:"l2"`                          // penalties to choose from, as in logistic
	Buckets   int       `yaml:"buckets" in:"[1,inf)"`
	NGrams    int       `yaml:"ngrams" in:"[1,inf)"`

	memory *lm.Texts
}

func newFORC(s Setup) (routing.Method, error) {
	f := &forc{Strategy: "threshold", Threshold: 0.5, AllWrong: "biggest", Multiple: "cheapest", Share: 0.5, Cost: "mean", L2: penaltyGrid(), Buckets: 4096, NGrams: 2, memory: s.Texts}
	if err := spec.DecodeParams(s.Method, f); err != nil {
		return nil, err
	}
	var err error
	if f.L2, err = penalties(s.Method, f.L2); err != nil {
		return nil, err
	}
	return f, nil
}

func (*forc) Name() string { return "forc" }

func (f *forc) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(f, train)
	if err != nil {
		return nil, err
	}
	// What it predicts is what logistic predicts: the two differ in how they decide, and by default in dollars.
	predictor := logistic{L2: f.L2, Buckets: f.Buckets, NGrams: f.NGrams, Cost: f.Cost, memory: f.memory}
	predict, err := predictor.fit(ctx, examples, len(train.Experts), work)
	if err != nil {
		return nil, fmt.Errorf("method forc: %w", err)
	}
	usd, _ := means(examples, len(train.Experts))
	unit := dollarUnit(usd)
	switch f.Strategy {
	case "performance":
		return struct{ routing.Router }{newUtilityRouter(len(usd), unit, predict)}, nil // its knob stays at 0
	case "cost":
		found, err := predict(textsOf(examples))
		if err != nil {
			return nil, fmt.Errorf("method forc: %w", err)
		}
		r := newUtilityRouter(len(usd), unit, predict)
		r.knob = priceOf(found, f.Share*unit, unit)
		return r, nil
	default:
		r := newScoreRouter(len(usd), chanceKnobs(), predict, f.overThreshold)
		r.knob = f.Threshold
		return r, nil
	}
}

// chanceKnobs is a sweep of a threshold on a probability, highest first: 1, the values at which its logit is 8, 7.9
// to -8, and 0.
func chanceKnobs() []float64 {
	knobs := []float64{1}
	for i := range 161 {
		knobs = append(knobs, sigmoid(8-float64(i)/10))
	}
	return append(knobs, 0)
}

// overThreshold is the threshold strategy. Of equally dear experts the first is the cheapest and the last the biggest.
func (f *forc) overThreshold(s scores, threshold float64) int {
	cheapest, biggest := -1, -1
	see := func(m int) {
		if cheapest < 0 || s.usd[m] < s.usd[cheapest] {
			cheapest = m
		}
		if biggest < 0 || s.usd[m] >= s.usd[biggest] {
			biggest = m
		}
	}
	rule := f.Multiple
	for m, p := range s.pass {
		if p > threshold {
			see(m)
		}
	}
	if cheapest < 0 {
		rule = f.AllWrong
		for m := range s.pass {
			see(m)
		}
	}
	if rule == "biggest" {
		return biggest
	}
	return cheapest
}

// priceOf returns the least price mu at which argmax_m pass(m) - mu*usd(m)/unit spends at most budget predicted
// dollars a question: the Lagrange multiplier of the assignment of most expected right answers within the budget. It
// is 0 if the budget does not bind, and the largest of utilityKnobs if the cheapest experts are above it.
func priceOf(all []scores, budget, unit float64) float64 {
	affordable := func(mu float64) bool {
		var usd float64
		for _, s := range all {
			usd += s.usd[utility(s.pass, s.usd, mu, unit)]
		}
		return usd <= budget*float64(len(all))
	}
	if affordable(0) {
		return 0
	}
	low, high := 0.0, 1e6
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high { // neighbouring numbers
			return high
		}
		if affordable(mid) {
			high = mid
		} else {
			low = mid
		}
	}
}
