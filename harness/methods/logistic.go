// Row kind logistic: one logistic regression an expert.

package methods

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// logistic is the plain utility router that every learned router has to beat: for each expert one L2-penalised
// logistic regression of the pass rate and one ridge regression of the logarithm of the dollars, on the text. It
// picks argmax_m p(m) - mu*usd(m), and mu is its knob.
//
// The penalties are chosen by every fit, from its training problems alone: those with the smallest fifth of
// seed.Hash("99|<id>") are held out, the penalty with the least log loss (squared error for dollars) on them, summed
// over the experts, wins, and all problems are fitted with it. See regressAll.
//
// The features are those of the compact policy with more buckets, rescaled (see rescale). Buckets, n-grams and scale
// were chosen by the same held-out loss inside training folds of the recorded pools and on simulated problems, after a
// first version with a fixed penalty and the policy's features had overfitted the recorded pools (LOG.md).
type logistic struct {
	L2      []float64 `yaml:"l2" in:"(0,1000000000]"`      // penalties to choose from, 1/2*L2*|w|^2 on the summed loss; the bias is free
	Buckets int       `yaml:"buckets" in:"[1,4194304]"`    // hashed n-gram buckets
	NGrams  int       `yaml:"ngrams" in:"[1,16]"`          // longest word n-gram hashed
	Cost    string    `yaml:"cost" oneof:"predicted mean"` // dollars of a question: predicted from the text, or the expert's training mean

	memory *compact.Texts
}

const (
	logisticBuckets = 4096
	logisticNGrams  = 2
)

func newLogistic(s Setup) (routing.Method, error) {
	l := &logistic{L2: penaltyGrid(), Buckets: logisticBuckets, NGrams: logisticNGrams, Cost: "predicted", memory: s.Texts}
	if err := spec.DecodeParams(s.Method, l); err != nil {
		return nil, err
	}
	l.L2 = penalties(l.L2)
	return l, nil
}

func (l *logistic) Name() string { return "logistic" }

func (l *logistic) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(l, train)
	if err != nil {
		return nil, err
	}
	learned, err := l.fit(ctx, examples, len(train.Experts), work)
	if err != nil {
		return nil, fmt.Errorf("method logistic: %w", err)
	}
	return keep(train.Experts, work, learned, textual[logits].router)
}

// Load implements Loader.
func (l *logistic) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return restore(experts, from, work, textual[logits].router)
}

// fit returns what predicts pass rates and dollars of the experts on texts.
func (l *logistic) fit(ctx context.Context, examples []routing.Example, experts int, work routing.Work) (t textual[logits], err error) {
	c, err := newCorpus(ctx, examples, len(examples), hashing{l.Buckets, l.NGrams, l.memory}, features.encode)
	if err != nil {
		return t, err
	}
	return fitTexts(ctx, c, experts, l.L2, l.Cost == "mean", work.Log, func(d design) (logits, float64, error) {
		pass, l2, err := d.regressAll(ctx, labels(c.examples, experts, passRate), l.L2, logLoss)
		if err != nil {
			return nil, 0, fmt.Errorf("pass rates: %w", err)
		}
		return pass, l2, nil
	})
}

// logits are linear functions whose sigmoids are the pass rates of the experts, [M].
type logits []linear

func (l logits) pass(r policy.Row) []float64 { return passRates(l, r) }

// passing predicts the pass rates of the experts from a row, [M].
type passing interface{ pass(policy.Row) []float64 }

// textual predicts pass rates and dollars of the experts from texts.
type textual[P passing] struct {
	Features features  `json:"features"`
	Pass     P         `json:"pass"`
	Dollars  []dollars `json:"dollars"` // [M]
	USD      []float64 `json:"usd"`     // [M] means on the training problems
}

func (t textual[P]) predict(ctx context.Context, texts []string) ([]scores, error) {
	rows, err := t.Features.encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	return inParallel(ctx, len(rows), func(i int) scores {
		return scores{pass: t.Pass.pass(rows[i]), usd: predictDollars(t.Dollars, rows[i])}
	})
}

// router is a utility router.
func (t textual[P]) router() (routing.Router, error) {
	return newUtilityRouter(len(t.USD), dollarUnit(t.USD), t.predict), nil
}

// fitTexts returns what predicts pass rates, by what fitPass fits to the rows and the penalty it chose, and dollars: by
// regression with a penalty chosen from grid, or the experts' means.
func fitTexts[P passing](ctx context.Context, c corpus, experts int, grid []float64, meanCost bool, log *slog.Logger, fitPass func(d design) (P, float64, error)) (textual[P], error) {
	d := newDesign(c.rows, c.width)
	t := textual[P]{Features: c.features}
	t.USD, _ = means(c.examples, experts)
	var passL2, usdL2 float64
	var g errgroup.Group
	g.Go(func() (err error) {
		defer crash.Exit()
		t.Pass, passL2, err = fitPass(d)
		return err
	})
	g.Go(func() (err error) {
		defer crash.Exit()
		if meanCost {
			t.Dollars = meanDollars(t.USD, c.width)
			return nil
		}
		if t.Dollars, usdL2, err = d.regressDollars(ctx, c.examples, t.USD, grid); err != nil {
			return fmt.Errorf("dollars: %w", err)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return textual[P]{}, err
	}
	log.Debug("pass rates and dollars fitted to texts", "problems", len(c.examples), "pass_l2", passL2, "usd_l2", usdL2)
	return t, nil
}

// labels returns a number of every example and expert, [M][examples].
func labels(examples []routing.Example, experts int, of func(e routing.Example, m int) float64) [][]float64 {
	y := make([][]float64, experts)
	for m := range y {
		y[m] = make([]float64, len(examples))
		for i, e := range examples {
			y[m][i] = of(e, m)
		}
	}
	return y
}

func passRate(e routing.Example, m int) float64 { return e.Kappa[m] }

// dollars predicts scale*exp(log) dollars.
type dollars struct {
	Log   linear  `json:"log"`
	Scale float64 `json:"scale"`
}

// meanDollars predicts the mean dollars usd [M] whatever the row.
func meanDollars(usd []float64, width int) []dollars {
	fits := make([]dollars, len(usd))
	for m, mean := range usd {
		fits[m] = dollars{Log: linear{Weight: make([]float64, width)}, Scale: mean}
	}
	return fits
}

// leastShare bounds the logarithm of an answer that cost next to nothing: it counts as this share of the expert's
// mean, so that one empty answer does not bend the whole regression.
const leastShare = 1e-3

// regressDollars fits the logarithm of each expert's dollars, relative to their mean usd [M]. exp of a mean of
// logarithms is less than the mean, so the predictions are scaled to give usd on average over the training rows. An
// expert that cost nothing is predicted to be free.
func (d design) regressDollars(ctx context.Context, examples []routing.Example, usd, grid []float64) (fits []dollars, l2 float64, err error) {
	y := labels(examples, len(usd), func(e routing.Example, m int) float64 {
		if usd[m] == 0 {
			return 0
		}
		return math.Log(max(e.USD[m]/usd[m], leastShare))
	})
	logs, l2, err := d.regressAll(ctx, y, grid, squaredLoss)
	if err != nil {
		return nil, 0, err
	}
	for m, f := range logs {
		var sum float64
		for i := range d.rows() {
			sum += math.Exp(f.at(d.row(i)))
		}
		fits = append(fits, dollars{Log: f, Scale: usd[m] * float64(d.rows()) / sum})
	}
	return fits, l2, nil
}

// passRates applies fitted logits of the pass rate [M] to a row.
func passRates(fits []linear, row policy.Row) []float64 {
	out := make([]float64, len(fits))
	for m, f := range fits {
		out[m] = sigmoid(f.at(row.IDs, row.Values))
	}
	return out
}

// predictDollars applies fitted dollars [M] to a row.
func predictDollars(fits []dollars, row policy.Row) []float64 {
	out := make([]float64, len(fits))
	for m, f := range fits {
		out[m] = f.Scale * math.Exp(f.Log.at(row.IDs, row.Values))
	}
	return out
}
