package predict

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
)

func TestMeansOfCertainRatesAreCertain(t *testing.T) {
	got := Certain([]float64{0, 1e-17, 0.5, 1 - 1e-16, 1 + 4e-16, 1 - 1e-9})
	if want := []float64{0, 0, 0.5, 1, 1, 1 - 1e-9}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRaisingThePriceNeverRaisesPredictedDollars(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "experts")
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(rt, "p")
		usd := rapid.SliceOfN(rapid.Float64Range(0, 3), n, n).Draw(rt, "usd")
		last := math.Inf(1)
		for _, mu := range UtilityKnobs() {
			m := Utility(p, usd, mu, DollarUnit(usd))
			if usd[m] > last+1e-9 {
				rt.Fatalf("at mu %v a question costs %v, at a lower one %v", mu, usd[m], last)
			}
			last = usd[m]
		}
	})
}

func TestUtilityByHand(t *testing.T) {
	p, usd := []float64{0.2, 0.7, 0.9}, []float64{1, 2, 10}
	for mu, want := range map[float64]int{0: 2, 0.2: 2, 0.3: 1, 4.9: 1, 5.1: 0} {
		if got := Utility(p, usd, mu, 10); got != want {
			t.Errorf("at %v expert %d, want %d", mu, got, want)
		}
	}
	if got := Utility([]float64{0.5, 0.5}, []float64{1, 1}, 1, 1); got != 0 {
		t.Errorf("a tie goes to expert %d, want the cheaper", got)
	}
	for want, usd := range map[float64][]float64{3: {1, 3}, 2: {2, 0}, 1: {0, 0}} {
		if got := DollarUnit(usd); got != want {
			t.Errorf("DollarUnit(%v) = %v, want %v", usd, got, want)
		}
	}
}

func TestTheSweepIsThatOfTheStudy(t *testing.T) {
	knobs := UtilityKnobs()
	if len(knobs) != 142 || knobs[0] != 0 || math.Abs(knobs[1]-1e-3) > 1e-15 || math.Abs(knobs[140]-100) > 1e-9 || knobs[141] != 1e6 || !slices.IsSorted(knobs) {
		t.Errorf("%d knobs from %v, %v to %v, %v", len(knobs), knobs[0], knobs[1], knobs[140], knobs[141])
	}
}

func TestAUtilityRouterAsksForEachTextOnce(t *testing.T) {
	asked := map[string]int{}
	broken := errors.New("broken")
	var fail error
	r := NewUtility(2, 1, func(_ context.Context, texts []string) ([]Scores, error) {
		if fail != nil {
			return nil, fail
		}
		out := make([]Scores, len(texts))
		for i, x := range texts {
			asked[x]++
			out[i] = Scores{Pass: []float64{0, 1}, USD: []float64{0, 1}}
		}
		return out, nil
	})
	query := func(text string, run int) routing.Query {
		return routing.Query{Problem: routing.Problem{ID: text, Text: text}, Run: run}
	}
	fail = broken
	if _, err := r.Route(t.Context(), []routing.Query{query("a", 0)}); !errors.Is(err, broken) {
		t.Errorf("a failed prediction: %v", err)
	}
	fail = nil
	var g sync.WaitGroup
	for _, mu := range r.Knobs() { // a failure leaves nothing behind, and calls may come at the same time
		g.Go(func() {
			d, err := routing.RouteAt(context.Background(), r, []routing.Query{query("a", 0), query("a", 1), query("b", 0)}, mu)
			want := 1
			if mu >= 1 {
				want = 0
			}
			if err != nil || d[0].Expert != want || d[1].Expert != want {
				t.Errorf("at %v: %v, %v; want expert %d", mu, d, err, want)
			}
		})
	}
	g.Wait()
	if asked["a"] != 1 || asked["b"] != 1 {
		t.Errorf("asked %v", asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Route(ctx, []routing.Query{query("c", 0)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
