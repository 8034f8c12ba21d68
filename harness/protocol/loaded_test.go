package protocol

// Routers of stored fits that are no policies come back without training.

import (
	"context"
	"fmt"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// forgotten is a method whose fits left nothing, as those of older stores.
type forgotten struct {
	routing.Method
	fits int
}

func (f *forgotten) Load(context.Context, []routing.Expert, string, routing.Work) (routing.Router, error) {
	return nil, fmt.Errorf("nothing here: %w", predict.ErrNotLearned)
}

func (f *forgotten) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	f.fits++
	return f.Method.Fit(ctx, train, work)
}

func TestAMatchedRowIsLoadedAndAnOldFitIsFittedAgain(t *testing.T) {
	out, r := t.TempDir(), toy.Tiny(t)
	carriedOut(t, r, out)
	var routed [][]Routed
	for _, old := range []bool{false, true} {
		run, err := Open(t.Context(), r, steps.Options{Out: out})
		if err != nil {
			t.Fatal(err)
		}
		e := run.split
		f, err := e.routable("logistic")
		if err != nil {
			t.Fatal(err)
		}
		of := f
		if f.unmatched != nil {
			of = f.unmatched
		}
		without, stored := &forgotten{Method: of.method}, untrained{of.method.(methods.Loader), of.method, t}
		if of.method = stored; old {
			of.method = without
		}
		got, err := e.route(t.Context(), f, By{}, routeQueries())
		if err != nil {
			t.Fatal(err)
		}
		if old && without.fits != 1 {
			t.Errorf("an old fit was fitted %d times", without.fits)
		}
		routed = append(routed, got)
		run.Close()
	}
	for i := range routed[0] {
		if routed[0][i].Expert != routed[1][i].Expert || routed[0][i].USD != routed[1][i].USD {
			t.Errorf("loaded %+v, fitted %+v", routed[0][i], routed[1][i])
		}
	}
}
