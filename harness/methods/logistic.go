package methods

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
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
}

func newLogistic(s Setup) (routing.Method, error) {
	l := &logistic{L2: []float64{100, 30, 10, 3, 1, 0.3, 0.1}, Buckets: 4096, NGrams: 2, Cost: "predicted"}
	if err := spec.DecodeParams(s.Method, l); err != nil {
		return nil, err
	}
	for _, l2 := range l.L2 {
		if l2 <= 0 {
			return nil, paramFault(s.Method, "l2", "want more than 0, got %q", fmt.Sprint(l2))
		}
	}
	slices.SortFunc(l.L2, func(a, b float64) int { return cmp.Compare(b, a) })
	l.L2 = slices.Compact(l.L2)
	return l, nil
}

func (l *logistic) Name() string { return "logistic" }

func (l *logistic) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(l, train)
	if err != nil {
		return nil, err
	}
	// The held-out problems come first, and sums are taken in an order that does not depend on the caller's.
	key := func(e routing.Example) uint64 { return seed.Hash("99|" + e.Problem.ID) }
	slices.SortFunc(examples, func(a, b routing.Example) int {
		return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.Problem.ID, b.Problem.ID))
	})
	texts, ids := make([]string, len(examples)), make([]string, len(train.Experts))
	for i, e := range examples {
		texts[i] = e.Problem.Text
	}
	for m, e := range train.Experts {
		ids[m] = e.ID
	}
	// Only the features are used; the network behind them is never built. The rows that the search looks at are a
	// random sample, and enough to standardise surface features on.
	policy, err := lm.NewCompact(spec.Policy{Kind: "compact", Buckets: l.Buckets, NGrams: l.NGrams, Hidden: 1}, ids, texts[:min(len(texts), searchRows)])
	if err != nil {
		return nil, err
	}
	width := policy.Weights()[0].Dims[0] // surface features, then buckets
	encode := func(texts []string) ([]lm.Row, error) {
		rows, err := policy.Encode(texts)
		if err != nil {
			return nil, err
		}
		rescale(rows, width-l.Buckets)
		return rows, nil
	}
	rows, err := encode(texts)
	if err != nil {
		return nil, err
	}
	d := newDesign(rows, width)
	usd, _ := means(examples, len(ids))
	fit := regressions{pass: make([]linear, len(ids)), usd: make([]dollars, len(ids))}
	var passL2, usdL2 float64
	var g errgroup.Group
	g.Go(func() (err error) {
		if fit.pass, passL2, err = d.regressAll(ctx, labels(examples, len(ids), passRate), l.L2, logLoss); err != nil {
			return fmt.Errorf("method logistic: pass rates: %w", err)
		}
		return nil
	})
	g.Go(func() (err error) {
		if l.Cost == "mean" {
			for m, mean := range usd {
				fit.usd[m] = dollars{log: linear{weight: make([]float64, width)}, scale: mean}
			}
			return nil
		}
		if fit.usd, usdL2, err = d.regressDollars(ctx, examples, usd, l.L2); err != nil {
			return fmt.Errorf("method logistic: dollars: %w", err)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	work.Log.Debug("logistic regressions fitted", "problems", len(examples), "pass_l2", passL2, "usd_l2", usdL2)
	return newUtilityRouter(len(ids), dollarUnit(usd), func(texts []string) ([]scores, error) {
		rows, err := encode(texts)
		if err != nil {
			return nil, err
		}
		return fit.scores(rows), nil
	}), nil
}

// surfaceScale is what standardised surface features are multiplied by: the 40 of them then weigh about as much as
// the n-grams of a row together.
const surfaceScale = 0.15

// rescale prepares rows of the compact policy for a penalty that treats all weights alike: n-grams to norm 1 in each
// row, so that a long text has no more say than a short one, and surface features, the ids below surface, by
// surfaceScale.
func rescale(rows []lm.Row, surface int) {
	for _, r := range rows {
		var square float64
		for k, id := range r.IDs {
			if int(id) >= surface {
				square += float64(r.Values[k]) * float64(r.Values[k])
			}
		}
		norm := float32(math.Sqrt(square))
		for k, id := range r.IDs {
			if int(id) < surface {
				r.Values[k] *= surfaceScale
			} else {
				r.Values[k] /= norm
			}
		}
	}
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

// regressions predict what the experts do on a text.
type regressions struct {
	pass []linear // [M] logit of the pass rate
	usd  []dollars
}

func (r regressions) scores(rows []lm.Row) []scores {
	out := make([]scores, len(rows))
	for i, row := range rows {
		s := scores{pass: make([]float64, len(r.pass)), usd: make([]float64, len(r.pass))}
		for m := range r.pass {
			s.pass[m] = sigmoid(r.pass[m].at(row.IDs, row.Values))
			s.usd[m] = r.usd[m].scale * math.Exp(r.usd[m].log.at(row.IDs, row.Values))
		}
		out[i] = s
	}
	return out
}
