package stages

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// ones says the same of every text, and how often it was asked.
type ones struct {
	prob  []float64
	texts int
}

func (o *ones) choose(_ context.Context, texts []string) ([]opinion, error) {
	o.texts += len(texts)
	return slices.Repeat([]opinion{{prob: o.prob}}, len(texts)), nil
}

func TestThePolicysCurveByHand(t *testing.T) {
	says := &ones{prob: []float64{0.1, 0.7, 0.2}}
	r := &Router{chooser: says, costs: []float64{0.1, 0.5, 1}}
	for _, c := range []struct {
		mu   float64
		want int
	}{
		{0, 1},
		{math.Log(7)/0.4 - 1e-6, 1}, {math.Log(7)/0.4 + 1e-6, 0}, // log 0.7 - 0.5 mu = log 0.1 - 0.1 mu
		{-math.Log(3.5)/0.5 + 1e-6, 1}, {-math.Log(3.5)/0.5 - 1e-6, 2}, // log 0.7 - 0.5 mu = log 0.2 - mu
		{1e9, 0}, {-1e9, 2},
	} {
		d, err := routing.RouteAt(t.Context(), r, []routing.Query{{Problem: routing.Problem{ID: "a", Text: "x"}}, {Problem: routing.Problem{ID: "b", Text: "x"}}}, c.mu)
		if err != nil {
			t.Fatal(err)
		}
		if d[0].Expert != c.want || d[1].Expert != c.want {
			t.Errorf("mu %g: experts %d and %d, not %d", c.mu, d[0].Expert, d[1].Expert, c.want)
		}
	}
	if says.texts != 1 {
		t.Errorf("one text was read %d times", says.texts)
	}
	sure := &Router{chooser: &ones{prob: []float64{0, 1, 0}}, costs: []float64{0.1, 0.5, 1}}
	for mu, want := range map[float64]int{1e9: 0, -1e9: 2} {
		if d, err := routing.RouteAt(t.Context(), sure, []routing.Query{{}}, mu); err != nil || d[0].Expert != want {
			t.Errorf("a policy that is sure, at mu %g: %v, %v", mu, d, err)
		}
	}
}

// The curve of a policy over 1,000 queries: every setting of its knob for each.
func BenchmarkCurve(b *testing.B) {
	r := &Router{chooser: &ones{prob: []float64{0.1, 0.6, 0.2, 0.1}}, costs: []float64{0.05, 0.1, 0.5, 1}}
	queries := make([]routing.Query, 1000)
	for i := range queries {
		queries[i].Problem = routing.Problem{ID: fmt.Sprint(i), Text: fmt.Sprintf("What is %d times %d, and what is left of it when it is divided by seven?", i, i+1)}
	}
	knobs := r.Knobs()
	for b.Loop() {
		c, err := r.Weigh(b.Context(), queries)
		if err != nil {
			b.Fatal(err)
		}
		for i := range queries {
			for _, mu := range knobs {
				c.At(i, mu)
			}
		}
	}
}
