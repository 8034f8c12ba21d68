package methods

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
)

func TestPreferencesByHand(t *testing.T) {
	set := []routing.Example{{Kappa: []float64{0.2, 1, 1}}, {Kappa: []float64{1, 1, 1}}, {Kappa: []float64{1, 0.4, 0.8}}}
	for params, want := range map[string][][3]int{ // row, winner, loser
		"":                                 {{0, 2, 0}, {2, 0, 2}},
		"ties: cheap":                      {{0, 2, 0}, {1, 0, 2}, {2, 0, 2}},
		"ties: both":                       {{0, 2, 0}, {1, 0, 2}, {1, 2, 0}, {2, 0, 2}},
		"extension: ladder":                {{0, 1, 0}, {0, 2, 0}, {2, 0, 1}, {2, 0, 2}, {2, 2, 1}},
		"{extension: argmax, ties: cheap}": {{0, 1, 0}, {0, 2, 0}, {0, 1, 2}, {1, 0, 1}, {1, 0, 2}, {1, 1, 2}, {2, 0, 1}, {2, 0, 2}, {2, 2, 1}},
	} {
		var got [][3]int
		for _, p := range build(t, "routellm", params).(*routeLLM).preferences(set, 3, 2) {
			got = append(got, [3]int{p.Row, p.Winner, p.Loser})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", params, got, want)
		}
	}
}

func TestChoicesOfTheExtensionsByHand(t *testing.T) {
	// Chances: 2 over 0 is sigmoid(2) = .88, 2 over 1 is sigmoid(.5) = .62, 1 over 0 is sigmoid(1.5) = .82.
	s := predict.Scores{Pass: []float64{-1, 0.5, 1}, USD: []float64{0.1, 0.5, 1}}
	for _, c := range []struct {
		extension string
		knob      float64
		want      int
	}{
		{"pair", 0, 2}, {"pair", 0.88, 2}, {"pair", 0.89, 0}, {"pair", 2, 0},
		{"ladder", 0, 2}, {"ladder", 0.62, 2}, {"ladder", 0.63, 1}, {"ladder", 0.81, 1}, {"ladder", 0.82, 0},
		{"argmax", 0, 2}, {"argmax", 0.99, 2}, {"argmax", 1.01, 1}, {"argmax", 3.7, 1}, {"argmax", 3.8, 0},
	} {
		r := build(t, "routellm", "extension: "+c.extension).(*routeLLM)
		if got := r.choose(s, 2, c.knob); got != c.want {
			t.Errorf("%s at %v: expert %d, want %d", c.extension, c.knob, got, c.want)
		}
	}
}

// Raising the knob never raises dollars, at 0 the strongest answers if a threshold decides, and the strongest answers
// up to highestKnob and not above.
func TestKnobsOfTheExtensionsAreMonotone(t *testing.T) {
	for _, extension := range []string{"pair", "ladder", "argmax"} {
		r := build(t, "routellm", "extension: "+extension).(*routeLLM)
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(2, 5).Draw(rt, "experts")
			s := predict.Scores{Pass: rapid.SliceOfN(rapid.Float64Range(-20, 20), n, n).Draw(rt, "s"), USD: rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(rt, "usd")}
			slices.Sort(s.USD)
			knobs := winKnobs()
			if extension == "argmax" {
				knobs = predict.UtilityKnobs()
			} else if r.choose(s, n-1, 0) != n-1 || r.choose(s, n-1, 2) != 0 {
				rt.Fatalf("at 0 expert %d, at 2 expert %d", r.choose(s, n-1, 0), r.choose(s, n-1, 2))
			}
			highest, last := r.highestKnob(s, n-1), math.Inf(1)
			for _, knob := range knobs {
				m := r.choose(s, n-1, knob)
				if s.USD[m] > last {
					rt.Fatalf("at %v a question costs %v, at a lower knob %v", knob, s.USD[m], last)
				}
				last = s.USD[m]
				if math.Abs(knob-highest) > 1e-9 && (m == n-1) != (knob < highest) && (m == n-1 || s.USD[m] < s.USD[n-1]) {
					rt.Fatalf("at %v expert %d answers; the strongest should up to %v", knob, m, highest)
				}
			}
		})
	}
}

func TestShareKnobIsAQuantile(t *testing.T) {
	highest := []float64{0.9, 0.1, 0.5, 0.3}
	for share, want := range map[float64]float64{0: 2, 0.25: 0.9, 0.5: 0.5, 0.75: 0.3, 1: 0.1, 0.12: 2, 0.13: 0.9} {
		if got := shareKnob(highest, share, 2); got != want {
			t.Errorf("share %v: %v, want %v", share, got, want)
		}
	}
	if got := shareKnob([]float64{-1, math.Inf(-1), math.Inf(1)}, 1, 1e6); got != 0 {
		t.Errorf("a share out of reach gives %v, want 0", got)
	}
}

func TestTheShareIsThatOfTheTrainingProblems(t *testing.T) {
	set := routingtest.Planted(200)
	for _, extension := range []string{"pair", "ladder"} {
		for _, share := range []float64{0, 0.114, 0.5, 1} {
			r := fit(t, build(t, "routellm", fmt.Sprintf("{extension: %s, share: %v}", extension, share)), set, 1)
			strongest := 0.0
			for _, d := range routingtest.Route(t, r, queries(set.SFT)) {
				if d.Expert == 2 {
					strongest++
				}
			}
			if math.Abs(strongest/200-share) > 0.005 {
				t.Errorf("%s: %v of the training problems go to the strongest, want %v", extension, strongest/200, share)
			}
		}
	}
}

// In planted problems nothing but hardness decides whether the strongest wins; ties, on easy problems, must count.
func TestFactorsFindPlantedDifficulty(t *testing.T) {
	set, qs := routingtest.Planted(600), routingtest.Fresh(200)
	r := fit(t, build(t, "routellm", "ties: cheap"), set, 1).(*predict.Router)
	var texts []string
	for _, q := range qs {
		texts = append(texts, q.Problem.Text)
	}
	found, err := r.Expects(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if auc := areaUnderCurve(len(qs), func(i int) (float64, bool) { return beats(found[i].Pass, 2, 0), routingtest.Hard(i) }); auc < 0.95 {
		t.Errorf("AUC of the strongest's chance to win is %.3f, want more than 0.95", auc)
	}
}

func TestChancesToWinAreAntisymmetric(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SliceOfN(rapid.Float64Range(-30, 30), 2, 2).Draw(rt, "s")
		if a, b := beats(s, 0, 1), beats(s, 1, 0); math.Abs(a+b-1) > 1e-12 {
			rt.Errorf("%v and %v", a, b)
		}
	})
}

func TestExpertsThatNeverDifferAreEquallyGood(t *testing.T) {
	set := routingtest.Planted(40)
	for i := range set.SFT {
		set.SFT[i].Kappa, set.RL[i].Kappa = []float64{1, 1, 1}, []float64{1, 1, 1}
	}
	found, err := fit(t, build(t, "routellm", ""), set, seed.Seed(3)).(*predict.Router).Expects(t.Context(), []string{"apples"})
	if err != nil || !slices.Equal(found[0].Pass, []float64{0, 0, 0}) {
		t.Errorf("%v, %v", found, err)
	}
}

func BenchmarkRouteLLMFit(b *testing.B) { benchmarkFit(b, "routellm") }
