package score

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/units"
)

func TestTheChanceToPassFourOfFive(t *testing.T) {
	for p, want := range map[float64]float64{0: 0, 0.6: 0.337, 0.7: 0.528, 0.8: 0.737, 1: 1} {
		if got := passes(p, 5, 0.8); math.Abs(got-want) > 5e-4 {
			t.Errorf("passes(%v, 5, 0.8) = %.4f, want %.3f", p, got, want)
		}
	}
	if got := passes(0.3, 7, 0.1); math.Abs(got-(1-math.Pow(0.7, 7))) > 1e-12 {
		t.Errorf("at least one of seven: %v", got)
	}
}

func TestMoreSuccessPassesMoreOften(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, tau := rapid.IntRange(1, 60).Draw(t, "n"), rapid.Float64Range(0.05, 1).Draw(t, "tau")
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		low, high := passes(min(p, q), n, tau), passes(max(p, q), n, tau)
		if low > high+1e-12 || low < 0 || high > 1+1e-12 {
			t.Errorf("%v at %v, %v at %v", low, min(p, q), high, max(p, q))
		}
	})
}

func values(m metrics.Measurement) string {
	s := fmt.Sprintf("%s %d", m.Label(), m.N)
	for _, v := range m.Values {
		s += fmt.Sprintf(" %g %s", v.Number, v.Unit)
	}
	return s
}

func TestEstimatesAreComparedByHand(t *testing.T) {
	c := Calibration{Pool: "toy", Experts: []string{"small", "big"}, Tau: 0.8, Truth: [][]float64{{0.9, 1}, {0.5, 1}, {0.7, 1}, {0.1, 1}}}
	got := c.compare("measured", [][]float64{{1, 1}, {1, 1}, {0.5, 1}, {0, 1}}, 3, func(k float64) int { return int(math.Round(2 * k)) })
	var lines []string
	for _, m := range got {
		lines = append(lines, values(m))
	}
	// Errors of the small expert: 0.1, 0.5, -0.2, -0.1, so the squares add up to 0.31. The second problem's m_best is the
	// big one and the small one is named.
	want := []string{
		"EstimateError/pool=toy/estimate=measured/expert=small 4 27.84 rmse-points 7.5 bias-points",
		"Calibration/pool=toy/estimate=measured/expert=small/bin=00 1 0 estimate-% 10 true-%",
		"Calibration/pool=toy/estimate=measured/expert=small/bin=01 1 50 estimate-% 70 true-%",
		"Calibration/pool=toy/estimate=measured/expert=small/bin=02 2 100 estimate-% 70 true-%",
		"EstimateError/pool=toy/estimate=measured/expert=big 4 0 rmse-points 0 bias-points",
		"Calibration/pool=toy/estimate=measured/expert=big/bin=02 4 100 estimate-% 100 true-%",
		"Best/pool=toy/estimate=measured 4 25 wrong-best-% 25 too-cheap-% 0 too-dear-%",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestTheExpectedShareOfWrongBestByHand(t *testing.T) {
	// One rollout: the first problem's best is the small expert, which passes with 0.9; the second's the middle one,
	// which is named if the small one fails (0.5) and it passes (0.8).
	c := Calibration{Pool: "toy", Experts: []string{"small", "middle", "big"}, Tau: 0.8, Truth: [][]float64{{0.9, 0.9, 1}, {0.5, 0.8, 0}}}
	got := values(c.Expected([]int{1})[0])
	if want := "Best/pool=toy/samples=001 2 35 wrong-best-% 25 too-cheap-% 10 too-dear-%"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What rollouts give is what the binomial law expects.
func TestTheExpectedShareOfWrongBestIsWhatRolloutsGive(t *testing.T) {
	const problems, n = 4000, 5
	c := Calibration{Pool: "toy", Experts: []string{"small", "middle", "big"}, Tau: 0.8}
	var rates [][]float64
	for i := range problems {
		r := seed.Derive("calibration test", i).Rand()
		truth, rate := make([]float64, 3), make([]float64, 3)
		for m := range truth {
			truth[m] = math.Sqrt(r.Float64())
			for range n {
				if r.Float64() < truth[m] {
					rate[m] += 1.0 / n
				}
			}
		}
		c.Truth, rates = append(c.Truth, truth), append(rates, rate)
	}
	of := func(m metrics.Measurement, unit string) float64 {
		v, _ := m.Value(unit)
		return v.Number
	}
	measured := c.compare("measured", rates, n+1, func(k float64) int { return int(math.Round(n * k)) })
	got, want := measured[len(measured)-1], c.Expected([]int{n})[0]
	for _, unit := range []string{units.WrongBest, units.TooCheapBest, units.TooDearBest} {
		if d := of(got, unit) - of(want, unit); math.Abs(d) > 2 { // about three standard errors
			t.Errorf("%s: %v in rollouts, %v expected", unit, of(got, unit), of(want, unit))
		}
	}
	if routing.MBest(c.Truth[0], c.Tau, len(c.Truth[0])-1) < 0 || of(got, units.WrongBest) < 10 {
		t.Errorf("too few wrong to tell: %v", of(got, units.WrongBest))
	}
}
