// Row kind logistic: one logistic regression an expert.

package methods

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/lm"
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
	L2      []float64 `yaml:"l2"`                          // penalties to choose from, 1/2*L2*|w|^2 on the summed loss; the bias is free
	Buckets int       `yaml:"buckets" in:"[1,inf)"`        // hashed n-gram buckets
	NGrams  int       `yaml:"ngrams" in:"[1,inf)"`         // longest word n-gram hashed
	Cost    string    `yaml:"cost" oneof:"predicted mean"` // dollars of a question: predicted from the text, or the expert's training mean

	memory *lm.Texts
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
	var err error
	if l.L2, err = penalties(s.Method, l.L2); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *logistic) Name() string { return "logistic" }

func (l *logistic) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(l, train)
	if err != nil {
		return nil, err
	}
	predict, err := l.fit(ctx, examples, len(train.Experts), work)
	if err != nil {
		return nil, fmt.Errorf("method logistic: %w", err)
	}
	usd, _ := means(examples, len(train.Experts))
	return newUtilityRouter(len(usd), dollarUnit(usd), predict), nil
}

// fit returns what predicts pass rates and dollars of the experts on texts.
func (l *logistic) fit(ctx context.Context, examples []routing.Example, experts int, work routing.Work) (predict func(texts []string) ([]scores, error), err error) {
	c, err := newCorpus(examples, len(examples), hashing{l.Buckets, l.NGrams, l.memory}, features.encode)
	if err != nil {
		return nil, err
	}
	return c.predictor(ctx, experts, l.L2, l.Cost == "mean", work.Log, func(d design) (func(lm.Row) []float64, float64, error) {
		pass, l2, err := d.regressAll(ctx, labels(c.examples, experts, passRate), l.L2, logLoss)
		if err != nil {
			return nil, 0, fmt.Errorf("pass rates: %w", err)
		}
		return func(r lm.Row) []float64 { return passRates(pass, r) }, l2, nil
	})
}

// predictor returns what predicts pass rates, by what fitPass fits to the rows and the penalty it chose, and dollars: by
// regression with a penalty chosen from grid, or the experts' means.
func (c corpus) predictor(ctx context.Context, experts int, grid []float64, meanCost bool, log *slog.Logger, fitPass func(d design) (func(lm.Row) []float64, float64, error)) (func(texts []string) ([]scores, error), error) {
	d := newDesign(c.rows, c.width)
	usd, _ := means(c.examples, experts)
	var pass func(lm.Row) []float64
	var spends []dollars
	var passL2, usdL2 float64
	var g errgroup.Group
	g.Go(func() (err error) {
		pass, passL2, err = fitPass(d)
		return err
	})
	g.Go(func() (err error) {
		if meanCost {
			spends = meanDollars(usd, c.width)
			return nil
		}
		if spends, usdL2, err = d.regressDollars(ctx, c.examples, usd, grid); err != nil {
			return fmt.Errorf("dollars: %w", err)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	log.Debug("pass rates and dollars fitted to texts", "problems", len(c.examples), "pass_l2", passL2, "usd_l2", usdL2)
	return func(texts []string) ([]scores, error) {
		rows, err := c.encode(texts)
		if err != nil {
			return nil, err
		}
		out := make([]scores, len(rows))
		for i, r := range rows {
			out[i] = scores{pass: pass(r), usd: predictDollars(spends, r)}
		}
		return out, nil
	}, nil
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
	log   linear
	scale float64
}

// meanDollars predicts the mean dollars usd [M] whatever the row.
func meanDollars(usd []float64, width int) []dollars {
	fits := make([]dollars, len(usd))
	for m, mean := range usd {
		fits[m] = dollars{log: linear{weight: make([]float64, width)}, scale: mean}
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
		fits = append(fits, dollars{log: f, scale: usd[m] * float64(d.rows()) / sum})
	}
	return fits, l2, nil
}

// passRates applies fitted logits of the pass rate [M] to a row.
func passRates(fits []linear, row lm.Row) []float64 {
	out := make([]float64, len(fits))
	for m, f := range fits {
		out[m] = sigmoid(f.at(row.IDs, row.Values))
	}
	return out
}

// predictDollars applies fitted dollars [M] to a row.
func predictDollars(fits []dollars, row lm.Row) []float64 {
	out := make([]float64, len(fits))
	for m, f := range fits {
		out[m] = f.scale * math.Exp(f.log.at(row.IDs, row.Values))
	}
	return out
}
