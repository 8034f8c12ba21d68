package methods

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Rows that share a regression decide as those that fit it each; other problems, penalties or features are another one.
func TestARegressionIsFittedOnce(t *testing.T) {
	set, fewer, qs := routingtest.Planted(80), routingtest.Planted(60), routingtest.Fresh(20)
	memory, said := predict.NewFits(100), fitsSaid{}
	for _, c := range []struct {
		kind, params string
		set          routing.TrainSet
		seed         seed.Seed
		known        int // regressions fitted until then
	}{
		{"logistic", "", set, 1, 2},            // pass rates and dollars
		{"forc", "cost: predicted", set, 1, 3}, // the same on all problems, and pass rates on four fifths of them
		{"forc", "strategy: cost", set, 1, 3},  // with means for dollars
		{"entroplus", "", set, 1, 3},           // the same
		{"entroplus", "", set, 2, 3},
		{"logistic", "l2: [3]", set, 1, 5},
		{"logistic", "features: {read: [words]}", set, 1, 7},
		{"logistic", "", fewer, 1, 9},
		{"bag", "epochs: 1", set, 1, 10}, // with the dollars of logistic
		{"mean", "of: [{name: logistic}, {name: bag, params: {epochs: 1}}]", set, 1, 10},
		{"bag", "epochs: 1", set, 2, 11},
		{"bag", "{epochs: 1, dropout: 0.1}", set, 1, 12},
		{"difficulty", "", set, 1, 13}, // with the dollars of logistic
		{"difficulty", "l2: [3]", set, 1, 14},
		{"knn", "", set, 1, 15}, // how many neighbours
		{"knn", "guard: 1", set, 1, 15},
		{"mean", "of: [{name: logistic}, {name: knn}]", set, 2, 15},
		{"knn", "most: 60", set, 1, 16},
		{"knn", "k: [5, 10]", set, 1, 17},
		{"knn", "", fewer, 1, 18},
		{"routerr1", "{steps: 5, assimilation: 0.5}", set, 1, 19},
		{"xrouter", "{steps: 5, assimilation: 0}", set, 2, 19},
		{"xrouter", "{steps: 5, assimilation: 0, l2: 10}", set, 2, 20},
		{"routellm", "epochs: 1", set, 1, 21},
		{"routellm", "{epochs: 1, share: 0.2}", set, 1, 21},
		{"routellm", "{epochs: 1, ties: cheap}", set, 1, 22},
		{"routellm", "epochs: 1", set, 2, 23},
		{"routellm", "epochs: 1", fewer, 1, 24},
		{"swranking", "", set, 1, 24}, // chances are no regression
		{"swranking", "share: 0.2", set, 1, 24},
		{"swranking", "most: 60", set, 1, 24},
		{"swranking", "", fewer, 1, 24},
	} {
		decisions := func(fits *predict.Fits, log *slog.Logger) []routing.Decision {
			s := setup(t, c.kind, c.params)
			s.Fits = fits
			m, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			w := routingtest.Work(c.seed)
			w.Log = log
			r, err := m.Fit(t.Context(), c.set, w)
			if err != nil {
				t.Fatal(err)
			}
			return routingtest.Route(t, r, qs)
		}
		if diff := cmp.Diff(decisions(nil, routingtest.Work(1).Log), decisions(memory, slog.New(&said))); diff != "" {
			t.Errorf("%s %q: %s", c.kind, c.params, diff)
		}
		if said.fits != c.known {
			t.Errorf("%s %q: %d regressions were fitted, want %d", c.kind, c.params, said.fits, c.known)
		}
	}
}

// fitsSaid counts the regressions on texts that a log has.
type fitsSaid struct{ fits int }

func (*fitsSaid) Enabled(context.Context, slog.Level) bool { return true }
func (f *fitsSaid) WithAttrs([]slog.Attr) slog.Handler     { return f }
func (f *fitsSaid) WithGroup(string) slog.Handler          { return f }
func (f *fitsSaid) Handle(_ context.Context, r slog.Record) error {
	if strings.HasSuffix(r.Message, "fitted to texts") {
		f.fits++
	}
	return nil
}
