package methods

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestLogisticFindsThePlantedRule(t *testing.T) {
	r := fit(t, build(t, "logistic", ""), routingtest.Planted(300), 1).(predict.Rates)
	qs := routingtest.Fresh(200)
	texts := make([]string, len(qs))
	for i, q := range qs {
		texts[i] = q.Problem.Text
	}
	found, err := r.Expects(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if auc := areaUnderCurve(len(qs), func(i int) (float64, bool) { return found[i].Pass[0], !routingtest.Hard(i) }); auc < 0.95 {
		t.Errorf("AUC of the small expert's pass rate is %.3f, want more than 0.95", auc)
	}
	if auc := areaUnderCurve(len(qs), func(i int) (float64, bool) { return found[i].USD[2], routingtest.Hard(i) }); auc < 0.95 {
		t.Errorf("AUC of the large expert's dollars as a sign of length is %.3f, want more than 0.95", auc)
	}
	// A rule without noise wants next to no penalty.
	d, err := routing.RouteAt(t.Context(), fit(t, build(t, "logistic", "l2: [0.001]"), routingtest.Planted(300), 1).(predict.Rates), qs, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, x := range d {
		if (x.Expert == 2) == routingtest.Hard(i) && (x.Expert == 0) == !routingtest.Hard(i) {
			right++
		}
	}
	if right < 190 {
		t.Errorf("%d of 200 queries go to the cheapest expert that solves them", right)
	}
}

// areaUnderCurve is the chance that a positive scores above a negative, ties counting half.
func areaUnderCurve(n int, at func(i int) (score float64, positive bool)) float64 {
	var wins, pairs float64
	for i := range n {
		a, positive := at(i)
		for j := range n {
			b, other := at(j)
			if positive && !other {
				pairs++
				wins += float64(cmp.Compare(a, b)+1) / 2
			}
		}
	}
	return wins / pairs
}

func TestPredictedDollarsAverageToTheTrainingMeans(t *testing.T) {
	set := routingtest.Planted(100)
	want, _ := routing.Means(set.SFT, 3)
	for _, kind := range []string{"predicted", "mean"} {
		r := fit(t, build(t, "logistic", "cost: "+kind), set, 1).(predict.Rates)
		got := make([]float64, 3)
		for _, e := range set.SFT {
			s, err := r.Expects(t.Context(), []string{e.Problem.Text})
			if err != nil {
				t.Fatal(err)
			}
			for m, usd := range s[0].USD {
				got[m] += usd / float64(len(set.SFT))
				if kind == "mean" && math.Abs(usd-want[m]) > 1e-12*want[m] {
					t.Fatalf("expert %d is predicted to cost %v, its mean is %v", m, usd, want[m])
				}
			}
		}
		for m := range got {
			if math.Abs(got[m]-want[m]) > 1e-9*want[m] {
				t.Errorf("%s: expert %d costs %v on average, want %v", kind, m, got[m], want[m])
			}
		}
	}
}

func TestFreeExpertsAndFreeAnswersArePredicted(t *testing.T) {
	for name, free := range map[string]func(i, m int) bool{
		"one expert is free":                 func(_, m int) bool { return m == 0 },
		"the strongest is free":              func(_, m int) bool { return m == 2 },
		"all are free":                       func(int, int) bool { return true },
		"a few answers are free":             func(i, _ int) bool { return i%10 == 0 },
		"all answers but one are free":       func(i, _ int) bool { return i != 3 },
		"all answers but one expert's, once": func(i, m int) bool { return i != 3 || m != 1 },
	} {
		set := routingtest.Planted(60)
		for i := range set.SFT {
			usd := slices.Clone(set.SFT[i].USD)
			for m := range usd {
				if free(i, m) {
					usd[m] = 0
				}
			}
			set.SFT[i].USD, set.RL[i].USD = usd, usd
		}
		for _, kind := range []string{"predicted", "mean"} {
			r := fit(t, build(t, "logistic", "cost: "+kind), set, 1).(predict.Rates)
			for _, knob := range []float64{0, 0.1, 1e6} {
				d, err := routing.RouteAt(t.Context(), r, routingtest.Fresh(5), knob)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range d {
					valid(t, x, routingtest.Fresh(5)[i], 3, false)
				}
			}
			expected, err := r.Expects(t.Context(), r.Keys(routingtest.Fresh(5)))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range expected {
				for m, usd := range s.USD {
					if math.IsNaN(usd) || math.IsInf(usd, 0) || usd < 0 {
						t.Errorf("%s, %s: expert %d is predicted to cost %v", name, kind, m, usd)
					}
				}
			}
		}
	}
}

// An expert that is always right, or never, has no finite regression: the fit still ends, near 1 or 0.
func TestConstantPassRatesAreLearned(t *testing.T) {
	set := routingtest.Planted(80)
	for i := range set.SFT {
		set.SFT[i].Kappa = []float64{0, 0.5, 1}
		set.RL[i].Kappa = set.SFT[i].Kappa
	}
	r := fit(t, build(t, "logistic", ""), set, 1).(predict.Rates)
	found, err := r.Expects(t.Context(), []string{"apples in baskets", "a tensor"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		if s.Pass[0] > 0.01 || math.Abs(s.Pass[1]-0.5) > 0.01 || s.Pass[2] < 0.99 {
			t.Errorf("pass rates %v, want about 0, 0.5, 1", s.Pass)
		}
	}
}

func TestLogisticDoesNotDependOnTheOrderOfTheTrainingProblems(t *testing.T) {
	set := routingtest.Planted(90)
	back := set
	back.SFT, back.RL = slices.Clone(set.SFT), slices.Clone(set.RL)
	slices.Reverse(back.SFT)
	slices.Reverse(back.RL)
	a := fit(t, build(t, "logistic", ""), set, 1).(predict.Rates)
	b := fit(t, build(t, "logistic", ""), back, 1).(predict.Rates)
	x, err1 := a.Expects(t.Context(), []string{"find the tensor"})
	y, err2 := b.Expects(t.Context(), []string{"find the tensor"})
	if err1 != nil || err2 != nil || fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("%v and %v, %v, %v", x, y, err1, err2)
	}
}

func TestPenaltiesAreChecked(t *testing.T) {
	for params, want := range map[string]string{
		"l2: [1, 0]":                      `params.l2[1]: want more than 0 and at most 1000000000, got "0"`,
		"l2: [-0.5]":                      `params.l2[0]: want more than 0 and at most 1000000000, got "-0.5"`,
		"l2: []":                          "must not be empty",
		"l2: 3":                           "want a list",
		"features: {words: {buckets: 0}}": "at least 1",
		"cost: guessed":                   "predicted, mean",
	} {
		if _, err := New(setup(t, "logistic", params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	l := build(t, "logistic", "l2: [1, 30, 1, 3]").(*logistic)
	if !slices.Equal(l.L2, []float64{30, 3, 1}) {
		t.Errorf("penalties %v, want them once each, strongest first", l.L2)
	}
	a, _ := spec.Canonical(build(t, "logistic", "l2: [1, 30]"))
	b, _ := spec.Canonical(build(t, "logistic", "l2: [30, 1]"))
	if string(a) != string(b) {
		t.Errorf("the order of the penalties is part of the recipe: %s, %s", a, b)
	}
}

// 20,000 problems and three experts, features included. The planted texts are much shorter than generated ones.
func BenchmarkLogisticFit(b *testing.B) {
	set := routingtest.Planted(20_000)
	m := build(b, "logistic", "")
	for b.Loop() {
		if _, err := m.Fit(b.Context(), set, routingtest.Work(1)); err != nil {
			b.Fatal(err)
		}
	}
}
