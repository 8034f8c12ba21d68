// What predicts pass rates and dollars from texts.

package predict

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Corpus is training problems and the rows that a method reads of them.
type Corpus struct {
	features.Set
	Examples []routing.Example // in hash order
	Rows     []policy.Row
}

// NewCorpus puts examples in hash order and reads the first most of them by read: features.Set.Rows or features.Set.Directions.
// What features need to know of texts they learn from a random sample.
func NewCorpus(ctx context.Context, examples []routing.Example, most int, by features.Reading, read func(features.Set, context.Context, []string) ([]policy.Row, error)) (c Corpus, err error) {
	routing.InHashOrder(examples)
	c.Examples = examples
	texts := routing.Texts(examples[:min(len(examples), most)])
	if c.Set, err = features.New(ctx, by, texts[:min(len(texts), learn.SearchRows)]); err != nil {
		return Corpus{}, err
	}
	c.Rows, err = read(c.Set, ctx, texts)
	return c, err
}

// Passing predicts the pass rates of the experts from a row, [M].
type Passing interface{ Pass(policy.Row) []float64 }

// Textual predicts pass rates and dollars of the experts from texts.
type Textual[P Passing] struct {
	Features features.Set  `json:"features"`
	Pass     P             `json:"pass"`
	Dollars  learn.Amounts `json:"dollars"` // [M]
	USD      []float64     `json:"usd"`     // [M] means on the training problems
}

// Predict is a Predictor.
func (t Textual[P]) Predict(ctx context.Context, texts []string) ([]Scores, error) {
	rows, err := t.Features.Rows(ctx, texts)
	if err != nil {
		return nil, err
	}
	return parallel.Map(ctx, len(rows), func(i int) Scores {
		return Scores{Pass: t.Pass.Pass(rows[i]), USD: t.Dollars.At(rows[i])}
	})
}

// Router is a utility router.
func (t Textual[P]) Router() (routing.Router, error) {
	return NewUtility(len(t.USD), DollarUnit(t.USD), t.Predict), nil
}

// Restored is Router of what came back from a file.
func (t Textual[P]) Restored(by features.Reading) (_ routing.Router, err error) {
	if t.Features, err = t.Features.With(by); err != nil {
		return nil, err
	}
	return t.Router()
}

// FitTexts returns what predicts pass rates, by what fitPass fits to the rows and the penalty it chose, and dollars: by
// regression with a penalty chosen from grid, or the experts' means.
func FitTexts[P Passing](ctx context.Context, c Corpus, experts int, grid []float64, meanCost bool, log *slog.Logger, fitPass func(d learn.Design) (P, float64, error)) (Textual[P], error) {
	d := learn.NewDesign(c.Rows, c.Width())
	t := Textual[P]{Features: c.Set}
	t.USD, _ = routing.Means(c.Examples, experts)
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
			t.Dollars = learn.ConstantAmounts(t.USD, c.Width())
			return nil
		}
		t.Dollars, usdL2, err = learn.FitAmounts(ctx, d, Labels(c.Examples, experts, dollars), t.USD, grid)
		return err
	})
	if err := g.Wait(); err != nil {
		return Textual[P]{}, err
	}
	log.Debug("pass rates and dollars fitted to texts", "problems", len(c.Examples), "pass_l2", passL2, "usd_l2", usdL2)
	return t, nil
}

// Labels returns a number of every example and expert, [M][examples].
func Labels(examples []routing.Example, experts int, of func(e routing.Example, m int) float64) [][]float64 {
	y := make([][]float64, experts)
	for m := range y {
		y[m] = make([]float64, len(examples))
		for i, e := range examples {
			y[m][i] = of(e, m)
		}
	}
	return y
}

// PassRate is that of an expert on a problem.
func PassRate(e routing.Example, m int) float64 { return e.Kappa[m] }

// dollars are the mean ones of a rollout.
func dollars(e routing.Example, m int) float64 { return e.USD[m] }

// PenaltyGrid is what the penalty of a regression is chosen from unless a row says otherwise.
func PenaltyGrid() []float64 { return []float64{100, 30, 10, 3, 1, 0.3, 0.1} }

// Penalties returns the penalties of a row once each, strongest first.
func Penalties(l2 []float64) []float64 {
	slices.SortFunc(l2, func(a, b float64) int { return cmp.Compare(b, a) })
	return slices.Compact(l2)
}
