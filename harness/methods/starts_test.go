package methods

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

const starting = "starts: [{name: logistic}, {name: bag, params: {epochs: 1}}], validate: {weight_decay: [30]}"

// A strong weight decay and a training that is all but none leave the policy where it starts, which is the mean of its rows at every price.
func TestAPolicyThatLearnsNothingIsWhereItStarts(t *testing.T) {
	set, qs := routingtest.Planted(120), routingtest.Fresh(40)
	plus := fit(t, build(t, "entroplus", "{"+starting+", sft: {epochs: 1, lr: 1.0e-9}, grpo: {estimator: exact, steps: 1, lr: 1.0e-9}}"), set, 3).(routing.Frontier)
	mean := fit(t, build(t, "mean", "of: [{name: logistic}, {name: bag, params: {epochs: 1}}]"), set, 3).(routing.Frontier)
	if !slices.Equal(plus.Knobs(), mean.Knobs()) {
		t.Fatalf("prices %v, of the mean %v", plus.Knobs(), mean.Knobs())
	}
	for _, price := range []float64{0.01, 0.065, 0.3, 2, 1e6} {
		a, err := routing.RouteAt(t.Context(), plus, qs, price)
		if err != nil {
			t.Fatal(err)
		}
		b, err := routing.RouteAt(t.Context(), mean, qs, price)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if a[i].Expert != b[i].Expert {
				t.Errorf("price %g, query %d: expert %d, of the mean %d", price, i, a[i].Expert, b[i].Expert)
			}
		}
	}
}

// The rewards of a problem differ between two prices by the dollars, and the policy starts from what is expected without the problem.
func TestProblemsStandAtEveryPrice(t *testing.T) {
	set := routingtest.Planted(60)
	e := build(t, "entroplus", "{"+starting+", prior: 0}").(*entroPlus)
	x, err := e.expect(t.Context(), set, routingtest.Work(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(x.held) == 0 {
		t.Fatal("nothing is expected of training problems by rows that have not seen them")
	}
	seen, err := x.router.Expects(t.Context(), []string{set.RL[0].Problem.Text})
	if err != nil {
		t.Fatal(err)
	}
	if held := x.held[set.RL[0].Problem.Text]; slices.Equal(held.Pass, seen[0].Pass) {
		t.Errorf("what is expected of a training problem, %v, is as if the rows had seen it", held.Pass)
	}
	reader := plusReader(t, e)
	prompts, err := e.prompts(t.Context(), reader.From(func(_ context.Context, texts []string) ([][]float64, error) {
		return slices.Repeat([][]float64{{0, 0, 0}}, len(texts)), nil
	}), set, x, routingtest.Work(1))
	if err != nil {
		t.Fatal(err)
	}
	prices := startingPrices()
	if len(prompts) != len(prices)*len(set.RL) {
		t.Fatalf("%d prompts of %d problems", len(prompts), len(set.RL))
	}
	for k, price := range prices {
		p, of := prompts[k], set.RL[0]
		for m, reward := range p.Reward {
			if want := of.Kappa[m] - price*of.USD[m]/x.unit; math.Abs(reward-want) > 1e-12 {
				t.Errorf("price %g: reward %v, want %v", price, reward, want)
			}
		}
		logits := p.Row.Values[len(p.Row.Values)-3:]
		for m, cost := range x.held[of.Problem.Text].Cost {
			if want := -(price - e.Lambda) * cost / startingTemperature; math.Abs(float64(logits[m])-want) > 1e-4 {
				t.Errorf("price %g: it starts at %v, want %v", price, logits[m], want)
			}
		}
	}
}

func TestAPolicyThatStartsElsewhereComesBack(t *testing.T) {
	set, qs := routingtest.Planted(80), routingtest.Fresh(20)
	m := build(t, "entroplus", "{"+starting+"}")
	work := routingtest.Work(2)
	work.Dir = t.TempDir()
	fitted, err := m.Fit(t.Context(), set, work)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fitted.(*stages.Router).Close() })
	again := routingtest.Work(2)
	again.Dir = t.TempDir()
	loaded, err := m.(Loader).Load(t.Context(), set.Experts, work.Dir, again)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loaded.(*stages.Router).Close() })
	for _, price := range []float64{0, 0.065, 1} {
		a, err := routing.RouteAt(t.Context(), fitted.(routing.Frontier), qs, price)
		if err != nil {
			t.Fatal(err)
		}
		b, err := routing.RouteAt(t.Context(), loaded.(routing.Frontier), qs, price)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if a[i].Expert != b[i].Expert {
				t.Errorf("price %g, query %d: expert %d, loaded %d", price, i, a[i].Expert, b[i].Expert)
			}
		}
	}
}

func TestWhatAPolicyStartsFromIsCheckedAndPartOfItsRecipe(t *testing.T) {
	for params, want := range map[string]string{
		"starts: [{name: logistic}]":                                   "params.starts: 1 rows; a mean is of two at least",
		"starts: [{name: logistic}, {name: random}]":                   "params.starts[1].name: row kind random",
		"{starts: [{name: bag}, {name: bag, params: {epochs: none}}]}": "params.starts[1].params.epochs",
	} {
		if _, err := New(setup(t, "entroplus", params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	recipe, err := spec.Canonical(build(t, "entroplus", "{"+starting+"}"))
	if err != nil || !strings.Contains(string(recipe), `"epochs":1`) || !strings.Contains(string(recipe), `"l2":[100`) {
		t.Errorf("the recipe %s, %v: want what the rows are, defaults and all", recipe, err)
	}
	if recipe, err := spec.Canonical(build(t, "entroplus", "")); err != nil || strings.Contains(string(recipe), "starts") {
		t.Errorf("the recipe %s, %v: want none of it where nothing is started from", recipe, err)
	}
}

// The Stage II problems of a policy that starts from what rows expect, each at every price.
func BenchmarkProblemsAtEveryPrice(b *testing.B) {
	set := routingtest.Planted(200)
	e := build(b, "entroplus", "{"+starting+", prior: 0}").(*entroPlus)
	x, err := e.expect(b.Context(), set, routingtest.Work(1))
	if err != nil {
		b.Fatal(err)
	}
	reader := plusReader(b, e).From(func(_ context.Context, texts []string) ([][]float64, error) {
		return slices.Repeat([][]float64{{0, 0, 0}}, len(texts)), nil
	})
	for b.Loop() {
		if _, err := e.prompts(b.Context(), reader, set, x, routingtest.Work(1)); err != nil {
			b.Fatal(err)
		}
	}
}
