// Row kind forc: a predicted chance of success an expert, and what it costs.

package methods

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// forc is FORC, "Fly-swat or cannon" (Sakota et al. 2024): it predicts for each expert whether it answers a question
// right, by cross-entropy with the pass rate, and assigns experts by one of the strategies of the public code:
//
//   - threshold: of the experts whose predicted pass rate is above Threshold, strictly, the cheapest (Multiple); if
//     there are none, the dearest (AllWrong). The default, with 0.5. Its knob is the threshold.
//   - performance: the largest predicted pass rate. It has no knob.
//   - cost: the assignment with the largest sum of predicted pass rates that is predicted to spend no more than Share of what
//     the dearest expert would. The public code solves an integer program for a batch and may leave questions unanswered; here
//     all are answered, and a price on money is found on
//     the training problems (see priceOf), so that decisions do not depend on what else is asked. That is exact but for
//     the one question that a budget may split. Its knob is the price, so that routing.Match can set it to another row's cost;
//     the public code's other programs, least cost for a sum of pass rates and a weighted sum of the two, are settings
//     of the same price.
//   - greedy: one question after the other, the largest predicted pass rate that the money left for the batch allows
//     (see greedy). It has no knob, and alone among the rows its decisions depend on what else is asked.
//
// Left out are its constant strategies (see fixed), and pass rates that are made 0 or 1 before they are added up.
//
// The public code fine-tunes an encoder; this is a regression on hashed n-grams and surface features with a weight for
// each feature and expert, and its penalty is chosen as logistic's. Predictions of an encoder that was trained elsewhere
// can be imported: Pihat names a file of JSON lines {"qid": id of a problem, "model": id of an expert, "p": chance}.
//
// What an expert costs is its training mean, where the public code has a mean of the answers alone and counts the tokens of the question
// at hand; its mean on the training problems that are predicted
// to be about as easy (see bucketDollars); or predicted from the text, which imported predictions do not have.
type forc struct {
	Strategy  string        `yaml:"strategy" oneof:"threshold performance cost greedy"`
	Threshold float64       `yaml:"threshold" in:"[0,1]"`
	AllWrong  string        `yaml:"all_wrong" oneof:"biggest cheapest"`
	Multiple  string        `yaml:"multiple" oneof:"cheapest biggest"`
	Share     float64       `yaml:"share" in:"(0,1]"`                       // strategies cost and greedy: budget as a share of the dearest expert's mean dollars
	Cost      string        `yaml:"cost" oneof:"mean per_bucket predicted"` // dollars of a question
	L2        []float64     `yaml:"l2" in:"(0,1000000000]"`                 // penalties to choose from, as in logistic
	Features  spec.Features `yaml:"features"`
	Bins      int           `yaml:"calibration_bins" in:"[1,100000]"` // of the calibration error that Report states

	Pihat    string `yaml:"pihat,omitempty"`        // path of the file below the data folder
	PihatSum string `yaml:"pihat_sha256,omitempty"` // its checksum; unset: whatever it is

	pihat   *predict.Imported
	reading features.Reading
	fits    *predict.Fits
}

func newFORC(s Setup) (routing.Method, error) {
	f := &forc{Strategy: "threshold", Threshold: 0.5, AllWrong: "biggest", Multiple: "cheapest", Share: 0.5, Cost: "mean", L2: predict.PenaltyGrid(), Features: s.textFeatures(spec.ReadWords, spec.ReadStructure), Bins: 10, fits: s.Fits}
	var err error
	if f.reading, err = s.decode(f, &f.Features); err != nil {
		return nil, err
	}
	f.L2 = predict.Penalties(f.L2)
	switch {
	case f.Pihat == "" && f.PihatSum != "":
		return nil, paramFault(s.Method, "pihat_sha256", "set without pihat; name the file")
	case f.Pihat == "":
		return f, nil
	case f.Cost == "predicted":
		return nil, paramFault(s.Method, "cost", "imported predictions come without texts to predict dollars from; want mean or per_bucket")
	}
	f.pihat, f.PihatSum, err = s.importFile("pihat", f.Pihat, f.PihatSum, predict.PassLines(routing.IDs(s.Pool)))
	return f, err
}

func (*forc) Name() string { return "forc" }

func (f *forc) traits() Traits {
	t := Traits{Imports: f.Pihat != ""}
	if !t.Imports {
		t.Allowance = Allowance{inWords(f.Features), oneOf(len(f.L2), "penalties")}
	}
	switch f.Strategy {
	case "threshold":
		t.Limit = "the cheapest expert above a predicted pass rate"
	case "cost":
		t.Limit = "a share of the dearest expert's dollars"
	}
	return t
}

func (f *forc) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(f, train)
	if err != nil {
		return nil, err
	}
	of, err := f.learn(ctx, examples, len(train.Experts), work)
	if err != nil {
		return nil, fmt.Errorf("method forc: %w", err)
	}
	if f.pihat != nil {
		return f.router(of)
	}
	return predict.Keep(train.Experts, work, of, f.router)
}

// Load implements Loader. Where pass rates are imported nothing is trained, and nothing kept.
func (f *forc) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(of forecast) (_ routing.Router, err error) {
		if of.Rates.Features, err = of.Rates.Features.With(f.reading); err != nil {
			return nil, err
		}
		return f.router(of)
	})
}

// forecast is what a fit learns.
type forecast struct {
	Rates   predict.Textual[learn.Logits] `json:"rates"`             // nothing where pass rates are imported
	USD     []float64                     `json:"usd"`               // [M] means on the training problems
	Buckets *bucketed                     `json:"buckets,omitempty"` // of dollars per bucket
	Price   float64                       `json:"price,omitempty"`   // of strategy cost: its knob
	ECE     *float64                      `json:"ece,omitempty"`     // calibration error, 0 to 1; nil: too few problems
}

// learn fits what the strategy needs.
func (f *forc) learn(ctx context.Context, examples []routing.Example, experts int, work routing.Work) (of forecast, err error) {
	if of.Rates, of.ECE, err = f.rates(ctx, examples, experts, work); err != nil {
		return of, err
	}
	of.USD, _ = routing.Means(examples, experts)
	keys := routing.Texts(examples)
	if f.pihat != nil {
		keys = routing.ProblemIDs(examples)
	}
	if f.Cost == "per_bucket" {
		found, err := f.predicted(of)(ctx, keys)
		if err != nil {
			return of, err
		}
		of.Buckets = bucketDollars(examples, found)
	}
	if f.Strategy == "cost" {
		found, err := f.predicted(of)(ctx, keys)
		if err != nil {
			return of, err
		}
		unit := predict.DollarUnit(of.USD)
		of.Price = priceOf(found, f.Share*unit, unit)
	}
	return of, nil
}

// predicted predicts pass rates and dollars from the keys of questions.
func (f *forc) predicted(of forecast) predict.Predictor {
	var by predict.Predictor = of.Rates.Predict
	if f.pihat != nil {
		by = f.pihat.Predict
	}
	if of.Buckets == nil && f.pihat == nil {
		return by
	}
	return func(ctx context.Context, keys []string) ([]predict.Scores, error) {
		all, err := by(ctx, keys)
		for i, s := range all {
			all[i].USD = of.USD
			if of.Buckets != nil {
				all[i].USD = of.Buckets.dollars(s)
			}
		}
		return all, err
	}
}

func (f *forc) router(of forecast) (routing.Router, error) {
	unit := predict.DollarUnit(of.USD)
	var report reporting
	if of.ECE != nil {
		report.values = []metrics.Value{metrics.Rounded(100**of.ECE, CalibrationError, 3)}
	}
	r := predict.NewUtility(len(of.USD), unit, f.predicted(of)) // its knob starts at 0: money is nothing
	switch f.Strategy {
	case "threshold":
		r = predict.Rates{Router: predict.NewRouter(len(of.USD), chanceKnobs(), f.predicted(of), f.overThreshold)}
		r.SetKnob(f.Threshold)
	case "cost":
		r.SetKnob(of.Price)
	}
	if f.pihat != nil {
		r.KeyByID()
	}
	switch f.Strategy {
	case "performance":
		return knobless{r, r, report}, nil
	case "greedy":
		return knobless{greedyRouter{r.Router, len(of.USD), f.Share * unit}, r, report}, nil
	}
	return struct {
		predict.Rates
		reporting
	}{r, report}, nil
}

// knobless is a router without a knob, beside the pass rates that it decides by.
type knobless struct {
	routing.Router
	rates predict.Rates
	reporting
}

func (r knobless) PassRates(ctx context.Context, queries []routing.Query) ([][]float64, error) {
	return r.rates.PassRates(ctx, queries)
}

// reporting implements Reporter with values that were measured when the router was fitted.
type reporting struct{ values []metrics.Value }

func (r reporting) Report() []metrics.Value { return r.values }

// CalibrationError is the expected calibration error of predicted pass rates on training problems, in points: those that
// a predictor fitted to the others has not seen, or all of them if predictions are imported.
const CalibrationError = "calibration-error-points"

// rates fits what predicts pass rates, and by f.Cost dollars, from texts, unless predictions are imported, and says how
// far off they are: those of a second fit are on a held-out fifth of the problems when it has the others; nil if there are
// too few.
func (f *forc) rates(ctx context.Context, examples []routing.Example, experts int, work routing.Work) (t predict.Textual[learn.Logits], ece *float64, err error) {
	routing.InHashOrder(examples)
	if f.pihat != nil {
		found, err := f.pihat.Predict(ctx, routing.ProblemIDs(examples))
		if err != nil {
			return t, nil, err
		}
		return t, calibrationError(examples, found, f.Bins), nil
	}
	// What it predicts is what logistic predicts: the two differ in how they decide, and by default in dollars.
	regression := logistic{L2: f.L2, Cost: "mean", reading: f.reading, fits: f.fits}
	searched, questions := min(len(examples), learn.SearchRows), routing.Questions(examples)
	if held := learn.HeldOut(searched, learn.AFifth, func(i int) int { return questions[i] }); held > 0 {
		part, err := regression.fit(ctx, examples[held:searched], experts, work)
		if err != nil {
			return t, nil, err
		}
		found, err := part.Predict(ctx, routing.Texts(examples[:held]))
		if err != nil {
			return t, nil, err
		}
		if ece = calibrationError(examples[:held], found, f.Bins); ece != nil {
			work.Log.Debug("pass rates predicted", "held_out", held, "calibration_error", *ece)
		}
	}
	if f.Cost == "predicted" {
		regression.Cost = "predicted"
	}
	t, err = regression.fit(ctx, examples, experts, work)
	return t, ece, err
}

// calibrationError is metrics.ECE of the pass rates predicted of all experts against the measured ones; nil if it has none.
func calibrationError(examples []routing.Example, found []predict.Scores, bins int) *float64 {
	var predicted, measured []float64
	for i, e := range examples {
		predicted, measured = append(predicted, found[i].Pass...), append(measured, e.Kappa...)
	}
	ece := metrics.ECE(predicted, measured, nil, bins)
	if math.IsNaN(ece) {
		return nil
	}
	return &ece
}

// costBuckets is how many buckets of about equally many training problems bucketDollars has.
const costBuckets = 5

// bucketed is what the experts cost on average on the training problems of the same bucket.
type bucketed struct {
	Bounds []float64   `json:"bounds"` // lower, of all buckets but the first
	USD    [][]float64 `json:"usd"`    // [buckets][M]
}

// ease sums the predicted pass rates of the experts.
func ease(s predict.Scores) (sum float64) {
	for _, p := range s.Pass {
		sum += p
	}
	return sum
}

func (b *bucketed) bucket(s predict.Scores) int {
	i, exact := slices.BinarySearch(b.Bounds, ease(s))
	if exact {
		i++
	}
	return i
}

func (b *bucketed) dollars(s predict.Scores) []float64 { return b.USD[b.bucket(s)] }

// bucketDollars puts training problems into buckets by the mean predicted pass rate over the experts: hard problems have
// long answers.
func bucketDollars(examples []routing.Example, found []predict.Scores) *bucketed {
	sorted := make([]float64, len(found))
	for i, s := range found {
		sorted[i] = ease(s)
	}
	slices.Sort(sorted)
	b := &bucketed{}
	for k := 1; k < costBuckets; k++ {
		b.Bounds = append(b.Bounds, sorted[k*len(sorted)/costBuckets])
	}
	b.Bounds = slices.Compact(b.Bounds)
	in := make([][]routing.Example, len(b.Bounds)+1)
	for i, e := range examples {
		k := b.bucket(found[i])
		in[k] = append(in[k], e)
	}
	experts := len(found[0].Pass)
	overall, _ := routing.Means(examples, experts)
	b.USD = make([][]float64, len(in))
	for k, of := range in {
		if b.USD[k] = overall; len(of) > 0 {
			b.USD[k], _ = routing.Means(of, experts)
		}
	}
	return b
}

// greedyRouter shares a budget among the queries of a call.
type greedyRouter struct {
	router  *predict.Router
	experts int
	budget  float64 // dollars per query
}

// Route implements routing.Router. Queries are visited in an order of their own, by a hash of problem and run, so that
// the order in which they are asked does not matter.
func (r greedyRouter) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	expected, err := r.router.Expects(ctx, r.router.Keys(queries))
	if err != nil {
		return nil, err
	}
	order := make([]int, len(queries))
	for i := range order {
		order[i] = i
	}
	hash := func(i int) uint64 {
		return seed.Hash(fmt.Sprintf("greedy|%s|%d", queries[i].Problem.ID, queries[i].Run))
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(queries[a].Problem.ID, queries[b].Problem.ID), cmp.Compare(queries[a].Run, queries[b].Run))
	})
	all := make([]predict.Scores, len(queries))
	for k, i := range order {
		all[k] = expected[i]
	}
	chosen := make([]int, len(queries))
	for k, m := range greedy(all, r.budget*float64(len(queries))) {
		chosen[order[k]] = m
	}
	return routing.Choices(queries, r.experts, func(i int, _ routing.Query) int { return chosen[i] }), ctx.Err()
}

// greedy assigns an expert to one question after the other: the one with the largest predicted pass rate among those that
// leave enough of the budget for the cheapest on every question after it; the cheapest if none does. Ties go to the
// cheaper one. The public code leaves questions unanswered once the money is spent; a decision here names an expert.
func greedy(all []predict.Scores, budget float64) []int {
	rest := make([]float64, len(all)+1) // what the cheapest experts cost from a question on
	cheapest := make([]int, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		for m, usd := range all[i].USD {
			if usd < all[i].USD[cheapest[i]] {
				cheapest[i] = m
			}
		}
		rest[i] = rest[i+1] + all[i].USD[cheapest[i]]
	}
	out := make([]int, len(all))
	for i, s := range all {
		best := cheapest[i]
		for m, p := range s.Pass {
			if s.USD[m]+rest[i+1] <= budget && (p > s.Pass[best] || p == s.Pass[best] && s.USD[m] < s.USD[best]) {
				best = m
			}
		}
		out[i] = best
		budget -= s.USD[best]
	}
	return out
}

// chanceKnobs is a sweep of a threshold on a probability, highest first: 1, the values at which its logit is 8, 7.9
// to -8, and 0.
func chanceKnobs() []float64 {
	knobs := []float64{1}
	for i := range 161 {
		knobs = append(knobs, learn.Sigmoid(8-float64(i)/10))
	}
	return append(knobs, 0)
}

// overThreshold is the threshold strategy. Of equally dear experts the first is the cheapest and the last the biggest.
func (f *forc) overThreshold(s predict.Scores, threshold float64) int {
	cheapest, biggest := -1, -1
	see := func(m int) {
		if cheapest < 0 || s.USD[m] < s.USD[cheapest] {
			cheapest = m
		}
		if biggest < 0 || s.USD[m] >= s.USD[biggest] {
			biggest = m
		}
	}
	rule := f.Multiple
	for m, p := range s.Pass {
		if p > threshold {
			see(m)
		}
	}
	if cheapest < 0 {
		rule = f.AllWrong
		for m := range s.Pass {
			see(m)
		}
	}
	if rule == "biggest" {
		return biggest
	}
	return cheapest
}

// priceOf returns the least price mu at which argmax_m pass(m) - mu*usd(m)/unit spends at most budget predicted
// dollars per question: the Lagrange multiplier of the assignment of most expected right answers within the budget. It
// is 0 if the budget does not bind, and the largest of predict.UtilityKnobs if the cheapest experts are above it.
func priceOf(all []predict.Scores, budget, unit float64) float64 {
	affordable := func(mu float64) bool {
		var usd float64
		for _, s := range all {
			usd += s.USD[predict.Utility(s.Pass, s.USD, mu, unit)]
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
