// What predicts pass rates and dollars from texts.

package predict

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

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

// Regression is how pass rates and dollars are fitted to texts.
type Regression struct {
	L2       []float64 // penalties to choose from, strongest first
	MeanCost bool      // dollars are the experts' means, whatever the text
	Fits     *Fits     // has what rows share; nil: nothing is shared
	Log      *slog.Logger
}

// FitTexts returns what predicts pass rates, by what fitPass fits to the rows and the penalty it chose, and dollars: by
// regression, or the experts' means. kind is what fitPass follows from beside features, penalties and pass rates.
func FitTexts[P Passing](ctx context.Context, c Corpus, experts int, by Regression, kind string, fitPass func(d learn.Design) (P, float64, error)) (Textual[P], error) {
	design := sync.OnceValue(func() learn.Design {
		return learn.NewDesign(c.Rows, c.Width()).Asking(routing.Questions(c.Examples[:len(c.Rows)]))
	})
	t := Textual[P]{Features: c.Set}
	t.USD, _ = routing.Means(c.Examples, experts)
	var g errgroup.Group
	g.Go(func() (err error) {
		defer crash.Exit()
		t.Pass, err = fitOnce(by, c, "pass rates by "+kind, func(e routing.Example) []float64 { return e.Kappa }, func() (P, float64, error) {
			return fitPass(design())
		})
		return err
	})
	g.Go(func() (err error) {
		defer crash.Exit()
		if by.MeanCost {
			t.Dollars = learn.ConstantAmounts(t.USD, c.Width())
			return nil
		}
		t.Dollars, err = fitOnce(by, c, "dollars", func(e routing.Example) []float64 { return e.USD }, func() (learn.Amounts, float64, error) {
			return learn.FitAmounts(ctx, design(), Labels(c.Examples, experts, dollars), t.USD, by.L2)
		})
		return err
	})
	if err := g.Wait(); err != nil {
		return Textual[P]{}, err
	}
	return t, nil
}

// fitOnce fits what to a corpus, whose labels are numbers of the examples, unless it was fitted before.
func fitOnce[T any](by Regression, c Corpus, what string, numbers func(e routing.Example) []float64, fit func() (T, float64, error)) (of T, err error) {
	key, err := KeyOfFit(what, c.Of, by.L2, c.Examples, numbers)
	if err != nil {
		return of, err
	}
	return Once(by.Fits, key, func() (T, error) {
		of, l2, err := fit()
		if err == nil {
			by.Log.Debug("fitted to texts", "what", what, "problems", len(c.Examples), "l2", l2)
		}
		return of, err
	})
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
