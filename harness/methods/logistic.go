// Row kind logistic: one logistic regression an expert.

package methods

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// logistic is the plain utility router that every learned router has to beat: for each expert one L2-penalised
// logistic regression of the pass rate and one ridge regression of the logarithm of the dollars, on the text. It
// picks argmax_m p(m) - mu*usd(m), and mu is its knob.
//
// The penalties are chosen by every fit, from its training problems alone: of at most learn.SearchRows of them those with the smallest fifth of
// seed.Hash("99|<id>") are held out, the penalty with the least log loss (squared error for dollars) on them, summed
// over the experts, wins, and all problems are fitted with it. See learn.FitLogits.
//
// The features are those of the compact policy with more buckets, rescaled (see package features). Buckets, n-grams and scale
// were chosen by the same held-out loss inside training folds of the recorded pools and on simulated problems, after a
// first version with a fixed penalty and the policy's features had overfitted the recorded pools (LOG.md).
type logistic struct {
	L2       []float64     `yaml:"l2" in:"(0,1000000000]"` // penalties to choose from, 1/2*L2*|w|^2 on the summed loss; the bias is free
	Features spec.Features `yaml:"features"`
	Cost     string        `yaml:"cost" oneof:"predicted mean"` // dollars of a question: predicted from the text, or the expert's training mean

	reading features.Reading
	fits    *predict.Fits
}

func newLogistic(s Setup) (routing.Method, error) {
	l := &logistic{L2: predict.PenaltyGrid(), Features: s.textFeatures(spec.ReadWords, spec.ReadStructure), Cost: "predicted", fits: s.Fits}
	var err error
	l.reading, err = s.decode(l, &l.Features)
	l.L2 = predict.Penalties(l.L2)
	return l, err
}

func (l *logistic) Name() string { return "logistic" }

func (l *logistic) traits() Traits {
	return Traits{Allowance: Allowance{inWords(l.Features), oneOf(len(l.L2), "penalties")}, weighs: true}
}

func (l *logistic) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(l, train)
	if err != nil {
		return nil, err
	}
	learned, err := l.fit(ctx, examples, len(train.Experts), work)
	if err != nil {
		return nil, fmt.Errorf("method logistic: %w", err)
	}
	return predict.Keep(train.Experts, work, learned, predict.Textual[learn.Logits].Router)
}

// Load implements Loader.
func (l *logistic) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(t predict.Textual[learn.Logits]) (routing.Router, error) { return t.Restored(l.reading) })
}

// fit returns what predicts pass rates and dollars of the experts on texts.
func (l *logistic) fit(ctx context.Context, examples []routing.Example, experts int, work routing.Work) (t predict.Textual[learn.Logits], err error) {
	c, err := predict.NewCorpus(ctx, slices.Clone(examples), len(examples), l.reading, features.Set.Rows)
	if err != nil {
		return t, err
	}
	by := predict.Regression{L2: l.L2, MeanCost: l.Cost == "mean", Fits: l.fits, Log: work.Log}
	return predict.FitTexts(ctx, c, experts, by, "logistic regression", func(d learn.Design) (learn.Logits, float64, error) {
		return learn.FitLogits(ctx, d, predict.Labels(c.Examples, experts, predict.PassRate), l.L2)
	})
}
