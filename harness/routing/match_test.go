package routing

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// priced is a router that reads its choices off a list: one for each setting, the same for every query, of three experts.
type priced []int

func (r priced) Knobs() (knobs []float64) {
	for i := range r {
		knobs = append(knobs, float64(i))
	}
	return knobs
}

func (r priced) Route(ctx context.Context, qs []Query) ([]Decision, error) {
	return RouteAt(ctx, r, qs, 0)
}

func (r priced) Weigh(context.Context, []Query) (Choice, error) {
	return Choice{3, func(_ int, knob float64) int { return r[int(knob)] }}, nil
}

func TestMatchTakesTheSettingsOnBothSidesOfTheBudget(t *testing.T) {
	examples := []Example{{Problem: Problem{ID: "p"}, USD: []float64{1, 2, 6}}}
	for name, c := range map[string]struct {
		router priced
		usd    float64
		want   []float64 // distribution that is scored
		expert int
	}{
		"a budget between two settings is a coin":           {priced{2, 1, 0}, 3, []float64{0, .75, .25}, Expected},
		"a budget that a setting spends is that setting":    {priced{2, 1, 0}, 2, []float64{0, 1, 0}, 1},
		"a budget below the cheapest setting stays there":   {priced{2, 1}, 0.5, []float64{0, 1, 0}, 1},
		"a budget above the dearest setting is not spent":   {priced{1, 0}, 9, []float64{0, 1, 0}, 1},
		"a sweep out of order is matched by what it spends": {priced{1, 2, 0}, 4, []float64{0, .5, .5}, Expected},
		"a router with one setting has no choice":           {priced{1}, 1, []float64{0, 1, 0}, 1},
		"both settings agree: no coin":                      {priced{2, 1, 1}, 2, []float64{0, 1, 0}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Match(t.Context(), c.router, examples, c.usd)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // asked again, it says the same
				d, err := r.Route(t.Context(), Queries(examples))
				if err != nil {
					t.Fatal(err)
				}
				same := slices.EqualFunc(d[0].Prob, c.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
				if !same || d[0].Expert != c.expert {
					t.Errorf("got %+v, want %v with expert %d", d[0], c.want, c.expert)
				}
			}
		})
	}
}

// Of settings that spend the same the first of the sweep counts, though they choose differently.
func TestOfSettingsThatSpendTheSameTheFirstCounts(t *testing.T) {
	examples := []Example{{Problem: Problem{ID: "p"}, USD: []float64{2, 2, 6}}}
	for _, c := range []priced{{0, 1, 2}, {1, 0, 2}} {
		r, err := Match(t.Context(), c, examples, 2)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := r.Route(t.Context(), Queries(examples)); err != nil || d[0].Expert != c[0] {
			t.Errorf("%v: %+v, %v", c, d, err)
		}
	}
}

func TestMatchRefusesWhatItCannotMatch(t *testing.T) {
	one := []Example{{USD: []float64{1, 2, 3}}}
	for name, c := range map[string]struct {
		router   Frontier
		examples []Example
		usd      float64
		want     string
	}{
		"no example":    {priced{0}, nil, 1, "no training problem"},
		"no setting":    {priced{}, one, 1, "no settings"},
		"no budget":     {priced{0}, one, math.NaN(), "NaN"},
		"a failed call": {failing{}, one, 1, "out of order"},
	} {
		if _, err := Match(t.Context(), c.router, c.examples, c.usd); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Spend(t.Context(), priced{0}, nil); err == nil {
		t.Error("dollars are counted on no problem")
	}
}

type failing struct{ priced }

func (failing) Knobs() []float64 { return []float64{1} }
func (failing) Weigh(context.Context, []Query) (Choice, error) {
	return Choice{}, errors.New("out of order")
}
