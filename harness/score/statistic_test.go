package score

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book/booktest"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// half is the mean of one of two halves.
type half struct {
	of   int
	mean float64
}

func (h half) asked() (questions, runs int)  { return 2, 1 }
func (h half) trainings() []half             { return nil }
func (h half) spread([]float64) metrics.Mean { return metrics.Mean{} }

// A statistic is of its subjects alone, is missed with its reason where the sample does not define it, and has an interval
// only where every resample defines it.
func TestAListIsComputedForEverySubject(t *testing.T) {
	values := []float64{1, 2, 3, 4}
	views := func(weights []float64) (out []half) {
		for i := range 2 {
			sum, n := 0.0, 0.0
			for q := 2 * i; q < 2*i+2; q++ {
				sum, n = sum+weights[q]*values[q], n+weights[q]
			}
			out = append(out, half{i, sum / n})
		}
		return out
	}
	list := []Statistic[half]{
		{Unit: "mean", Decimals: 2, Of: func(h half) float64 { return h.mean }},
		{Unit: "second", Decimals: 1, For: func(h half) bool { return h.of == 1 }, Of: func(h half) float64 { return h.mean }, Whole: true},
		{Unit: "below-2", Decimals: 1, Without: "the mean is 2 or more", Of: func(h half) float64 {
			if h.mean < 2 {
				return h.mean
			}
			return math.NaN()
		}},
	}
	got := estimate(list, []int{0, 0, 1, 1}, Resampling{Resamples: 400, Confidence: 0.9, Seed: 7}, oneByOne(views))
	mean := func(h Numbers) metrics.Value { return h.Values[0] }
	for i, want := range []float64{1.5, 3.5} {
		if v := mean(got[i]); v.Number != want || v.Low > want || v.High < want {
			t.Errorf("half %d: %+v", i, v)
		}
	}
	units := func(h Numbers) (out []string) {
		for _, v := range h.Values {
			out = append(out, v.Unit)
		}
		return out
	}
	if diff := cmp.Diff([][]string{{"mean", "below-2"}, {"mean", "second"}}, [][]string{units(got[0]), units(got[1])}); diff != "" {
		t.Error(diff)
	}
	// The first half's mean is 2 in some resamples.
	if slices.ContainsFunc(slices.Concat(got[0].Values, got[1].Values), func(v metrics.Value) bool { return v.Unit != "mean" && v.Bounded }) {
		t.Errorf("an interval of a number that some resamples lack: %+v", got)
	}
	if diff := cmp.Diff([]metrics.Undefined{{Unit: "below-2", Why: "the mean is 2 or more"}}, got[1].Undefined); diff != "" {
		t.Error(diff)
	}
}

// The walk of CONTRIBUTING.md: the entry that it has is all that a new number takes.
func TestANumberIsAnEntry(t *testing.T) {
	entry := Statistic[operatingPoint]{Unit: "half-point", Decimals: 3, For: operatingPoint.averaged, Of: func(p operatingPoint) float64 { return p.all.Quality / 2 }}
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `{Unit: "half-point", Decimals: 3, For: operatingPoint.averaged, Of: func(p operatingPoint) float64 { return p.all.Quality / 2 }},`) {
		t.Error("CONTRIBUTING.md has another entry")
	}
	s := toySample(booktest.Arena(), 1, 2).withRouter()
	s.Resampling.Resamples = 50
	lines := s.route(append(slices.Clone(routeStatistic), entry))
	if v, ok := measured(t, lines, "router", "avg", "").Value("half-point"); !ok || v.Number != 45.833 || !v.Bounded { // half of 91.667
		t.Errorf("%+v, %v", v, ok)
	}
	if _, ok := measured(t, lines, "router", "x", "").Value("half-point"); ok {
		t.Error("a number of averages stands on the line of a benchmark")
	}
}
