// Row kind difficulty: one number a question, and a pass rate an expert from it.

package methods

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// difficulty reads one number off a question, how hard it is, and derives from it the pass rate of every expert: a
// ridge regression of the logit of the experts' mean pass rate on the text, then for each expert a logistic regression
// of its pass rate on that score. The bottleneck learns from few questions, and cannot see what only some experts are
// good at. Dollars are predicted from the text as logistic does. It picks argmax_m p(m) - mu*usd(m), and mu is its knob.
//
// The second regressions read scores of questions that the first was not fitted to: cross-fitted, in 5 parts.
// Penalties are chosen by every fit from its training problems alone, see learn.FitBottleneck; the features are logistic's. That
// one number is read and from which features goes back to the study that bag's defaults come from, where it was among
// the best on the recorded pool qwen2_o1mini.
type difficulty struct {
	L2       []float64     `yaml:"l2" in:"(0,1000000000]"` // penalties to choose from for the ridge regressions, as in logistic
	Features spec.Features `yaml:"features"`

	reading features.Reading
	fits    *predict.Fits
}

// difficultyChosen says below tables what the defaults owe to recorded answers.
const difficultyChosen = "Difficulty: form and features, not penalties, chosen in an earlier study where they were among the best on pool qwen2_o1mini."

func newDifficulty(s Setup) (routing.Method, error) {
	d := &difficulty{L2: predict.PenaltyGrid(), Features: s.textFeatures(spec.ReadWords, spec.ReadStructure), fits: s.Fits}
	var err error
	d.reading, err = s.decode(d, &d.Features)
	d.L2 = predict.Penalties(d.L2)
	return d, err
}

func (*difficulty) Name() string { return "difficulty" }

func (d *difficulty) traits() Traits {
	return Traits{Allowance: Allowance{inWords(d.Features), oneOf(len(d.L2), "penalties")}, weighs: true}
}

func (d *difficulty) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(d, train)
	if err != nil {
		return nil, err
	}
	experts := len(train.Experts)
	c, err := predict.NewCorpus(ctx, examples, len(examples), d.reading, features.Set.Rows)
	if err != nil {
		return nil, err
	}
	by := predict.Regression{L2: d.L2, Fits: d.fits, Log: work.Log}
	learned, err := predict.FitTexts(ctx, c, experts, by, "one score a problem", func(all learn.Design) (learn.Bottleneck, float64, error) {
		return learn.FitBottleneck(ctx, all, predict.Labels(c.Examples, experts, predict.PassRate), d.L2)
	})
	if err != nil {
		return nil, fmt.Errorf("method difficulty: %w", err)
	}
	return predict.Keep(train.Experts, work, learned, predict.Textual[learn.Bottleneck].Router)
}

// Load implements Loader.
func (d *difficulty) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(t predict.Textual[learn.Bottleneck]) (routing.Router, error) { return t.Restored(d.reading) })
}
