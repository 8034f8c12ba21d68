package routing

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// priced is a router that reads its decisions off a list: one for each setting, the same for every query.
type priced []Decision

func (r priced) Knobs() (knobs []float64) {
	for i := range r {
		knobs = append(knobs, float64(i))
	}
	return knobs
}

func (r priced) Route(ctx context.Context, qs []Query) ([]Decision, error) {
	return r.RouteAt(ctx, qs, 0)
}

func (r priced) RouteAt(_ context.Context, qs []Query, knob float64) ([]Decision, error) {
	out := make([]Decision, len(qs))
	for i, q := range qs {
		out[i] = r[int(knob)]
		out[i].Problem, out[i].Run = q.Problem.ID, q.Run
	}
	return out, nil
}

func sure(m int) Decision {
	prob := make([]float64, 3)
	prob[m] = 1
	return Decision{Prob: prob, Expert: m}
}

func TestMatchTakesTheSettingsOnBothSidesOfTheBudget(t *testing.T) {
	examples := []Example{{Problem: Problem{ID: "p"}, USD: []float64{1, 2, 6}}}
	soft := func(prob ...float64) Decision { return Decision{Prob: prob, Expert: Expected} }
	argmax := func(m int, prob ...float64) Decision { return Decision{Prob: prob, Expert: m} }
	for name, c := range map[string]struct {
		router priced
		usd    float64
		want   []float64 // distribution that is scored
		expert int
	}{
		"a budget between two settings is a coin":                     {priced{sure(2), sure(1), sure(0)}, 3, []float64{0, .75, .25}, Expected},
		"a budget that a setting spends is that setting":              {priced{sure(2), sure(1), sure(0)}, 2, []float64{0, 1, 0}, 1},
		"a budget below the cheapest setting stays there":             {priced{sure(2), sure(1)}, 0.5, []float64{0, 1, 0}, 1},
		"a budget above the dearest setting is not spent":             {priced{sure(1), sure(0)}, 9, []float64{0, 1, 0}, 1},
		"a sweep out of order is matched by what it spends":           {priced{sure(1), sure(2), sure(0)}, 4, []float64{0, .5, .5}, Expected},
		"of settings that spend the same the first counts":            {priced{soft(.8, 0, .2), sure(1), sure(0)}, 2, []float64{.8, 0, .2}, Expected},
		"a router with one setting has no choice":                     {priced{sure(1)}, 1, []float64{0, 1, 0}, 1},
		"expectations are mixed":                                      {priced{soft(0, .5, .5), soft(.5, .5, 0)}, 2.75, []float64{.25, .5, .25}, Expected},
		"a definite choice counts as such, whatever its softmax":      {priced{argmax(2, .3, .3, .4), argmax(0, .6, .3, .1)}, 3.5, []float64{.5, 0, .5}, Expected},
		"both settings agree: no coin, though their softmax does not": {priced{sure(2), argmax(1, .1, .5, .4), argmax(1, 0, 1, 0)}, 2, []float64{0, 1, 0}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Match(t.Context(), c.router, examples, c.usd)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // asked again, it says the same
				d, err := r.Route(t.Context(), queries(examples))
				if err != nil {
					t.Fatal(err)
				}
				mass := make([]float64, 3)
				addMass(mass, d[0], 1)
				same := slices.EqualFunc(mass, c.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
				if !same || d[0].Expert != c.expert {
					t.Errorf("got %+v, want %v with expert %d", d[0], c.want, c.expert)
				}
			}
		})
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
		"no example":    {priced{sure(0)}, nil, 1, "no training problem"},
		"no setting":    {priced{}, one, 1, "no settings"},
		"no budget":     {priced{sure(0)}, one, math.NaN(), "NaN"},
		"a failed call": {failing{}, one, 1, "out of order"},
	} {
		if _, err := Match(t.Context(), c.router, c.examples, c.usd); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Spend(t.Context(), priced{sure(0)}, nil); err == nil {
		t.Error("dollars are counted on no problem")
	}
}

type failing struct{ priced }

func (failing) Knobs() []float64 { return []float64{1} }
func (failing) RouteAt(context.Context, []Query, float64) ([]Decision, error) {
	return nil, errors.New("out of order")
}
