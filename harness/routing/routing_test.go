package routing

import (
	gocmp "cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var (
	paperC = []float64{0.03, 0.45, 0.80}
	near   = cmpopts.EquateApprox(0, 1e-9)

	paperTargets = spec.Targets{Tau: 0.8, K: 2, Gate: true, Soft: true, HardWeight: 2}
	paperReward  = spec.Reward{Kind: "performance", Fail: -3, Gamma: 0.2, Clamp: 0.6, StrongestKappa: "one"}
	paperAnchor  = spec.Anchor{Strength: 1, T: 0.25, Alpha: 0.6}
)

func TestStageOneTargets(t *testing.T) {
	hard := paperTargets
	hard.Soft = false
	noGate := paperTargets
	noGate.Gate = false
	for _, tc := range []struct {
		name   string
		kappa  []float64
		probe  float64
		p      spec.Targets
		prob   []float64
		weight float64
	}{
		{"an open gate puts everything on the cheapest, whether or not it passes", []float64{0.2, 1, 1}, 0.8, paperTargets, []float64{1, 0, 0}, 1},
		{"a probe below the threshold leaves the gate closed", []float64{1, 1, 1}, 0.6, paperTargets, []float64{.5, .5, 0}, 1},
		{"without a gate the probe is ignored", []float64{0.2, 1, 1}, 1, noGate, []float64{0, .5, .5}, 1},
		{"the two cheapest that qualify share the mass", []float64{0.8, 0.4, 1}, 0, paperTargets, []float64{.5, 0, .5}, 1},
		{"a single one that qualifies takes it all", []float64{0.4, 0.8, 0.6}, 0, paperTargets, []float64{0, 1, 0}, 1},
		{"only the strongest qualifies: twice the weight", []float64{0.4, 0.6, 0.8}, 0, paperTargets, []float64{0, 0, 1}, 2},
		{"none qualifies: the strongest, twice the weight", []float64{0, 0, 0}, 0, paperTargets, []float64{0, 0, 1}, 2},
		{"hard labels name m_best alone", []float64{0.8, 0.8, 1}, 0, hard, []float64{1, 0, 0}, 1},
		{"hard labels keep the weight of the hardest", []float64{0, 0, 1}, 0, hard, []float64{0, 0, 1}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := NewTarget(tc.kappa, tc.probe, len(tc.kappa)-1, tc.p)
			if diff := cmp.Diff(Target{Prob: tc.prob, Weight: tc.weight}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTargetsAreDistributionsOnQualifiedExperts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kappa := make([]float64, rapid.IntRange(2, 6).Draw(t, "M"))
		for m := range kappa {
			kappa[m] = float64(rapid.IntRange(0, 5).Draw(t, "k")) / 5
		}
		p := paperTargets
		p.Soft, p.Gate = rapid.Bool().Draw(t, "soft"), rapid.Bool().Draw(t, "gate")
		p.K = rapid.IntRange(1, 4).Draw(t, "K")
		probe := float64(rapid.IntRange(0, 5).Draw(t, "probe")) / 5
		got := NewTarget(kappa, probe, len(kappa)-1, p)
		sum, support := 0.0, 0
		for m, q := range got.Prob {
			sum += q
			if q == 0 {
				continue
			}
			support++
			if !(p.Gate && probe >= p.Tau) && kappa[m] < p.Tau && m != len(kappa)-1 {
				t.Fatalf("mass on expert %d with kappa %v", m, kappa[m])
			}
		}
		if math.Abs(sum-1) > 1e-12 || support > p.K {
			t.Fatalf("%v: sum %v, support %d", got.Prob, sum, support)
		}
	})
}

// The table of R_succ at the paper's prices: rows m, columns m_best.
func TestSuccessRewardAtThePapersPrices(t *testing.T) {
	want := [3][3]float64{
		{1, 0.6, 0.6},
		{1 - 0.42/0.77*0.8, 1, 0.6},
		{0.2, 1 - 0.35/0.77*0.8, 1},
	}
	for best := range 3 {
		// kappa 1 from m_best on, 0.6 below it, so that r = R_succ at kappa 1 and 0.6*0.6-0.4*3 below.
		kappa := []float64{0.6, 0.6, 0.6}
		for m := best; m < 3; m++ {
			kappa[m] = 1
		}
		r := TaskReward(kappa, paperC, 0.8, 2, paperReward)
		for m := range 3 {
			w := want[m][best]
			if m < best {
				w = 0.6*w + 0.4*-3
			}
			if math.Abs(r[m]-w) > 1e-12 {
				t.Errorf("m=%d m_best=%d: r=%v, want %v", m, best, r[m], w)
			}
		}
	}
}

func TestSparseReward(t *testing.T) {
	sparse := paperReward
	sparse.Kind = "sparse"
	got := TaskReward([]float64{0.2, 0.8, 1}, paperC, 0.8, 2, sparse)
	if diff := cmp.Diff([]float64{0, 1, 0.5}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheAnchorByHand(t *testing.T) {
	mu := Utility([]float64{0.4, 0.8, 1}, paperC, 0.6)
	if diff := cmp.Diff([]float64{0.382, 0.53, 0.52}, mu, near); diff != "" {
		t.Fatal(diff)
	}
	e := []float64{math.Exp(0.382 / .25), math.Exp(0.53 / .25), math.Exp(0.52 / .25)}
	z := e[0] + e[1] + e[2]
	want := []float64{math.Log(e[0] / z), math.Log(e[1] / z), math.Log(e[2] / z)}
	if diff := cmp.Diff(want, LogAnchor(mu, 0.25), near); diff != "" {
		t.Error(diff)
	}
	// r by hand: m_best is the second; r = (.4*.6-.6*3, .8-.2*3, 1-.35/.77*.8).
	r := []float64{-1.56, 0.2, 1 - 0.35/0.77*0.8}
	got := ShapedReward([]float64{0.4, 0.8, 1}, paperC, 0.8, 2, paperReward, paperAnchor)
	for m := range r {
		r[m] += 0.25 * want[m]
	}
	if diff := cmp.Diff(r, got, near); diff != "" {
		t.Error(diff)
	}
}

// Only beta/T acts: with equal ratios the shaped rewards of a problem differ by one constant, which group
// normalisation removes.
func TestEqualAnchorRatiosDifferByAConstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kappa := make([]float64, 3)
		for m := range kappa {
			kappa[m] = float64(rapid.IntRange(0, 5).Draw(t, "k")) / 5
		}
		a := paperAnchor
		a.Strength = rapid.Float64Range(0.1, 8).Draw(t, "s")
		b := a
		b.T = rapid.Float64Range(0.05, 4).Draw(t, "T")
		x := ShapedReward(kappa, paperC, 0.8, 2, paperReward, a)
		y := ShapedReward(kappa, paperC, 0.8, 2, paperReward, b)
		for m := range x {
			if math.Abs((x[m]-y[m])-(x[0]-y[0])) > 1e-9 {
				t.Fatalf("strength %v, T %v and %v: differences %v", a.Strength, a.T, b.T, []float64{x[0] - y[0], x[m] - y[m]})
			}
		}
	})
}

func TestStrongestCountsAsPerfectOnlyByDecree(t *testing.T) {
	k := []float64{0.2, 0.4, 0.6}
	if got := StageTwoKappa(k, 2, paperReward); got[2] != 1 || k[2] != 0.6 {
		t.Errorf("got %v from %v", got, k)
	}
	measured := paperReward
	measured.StrongestKappa = "measured"
	if got := StageTwoKappa(k, 2, measured); got[2] != 0.6 {
		t.Errorf("got %v", got)
	}
}

func TestBalanceCutsTheCheapestClassToTheSecondLargest(t *testing.T) {
	var all []Example
	add := func(n int, kappa ...float64) {
		for range n {
			all = append(all, Example{Problem: Problem{ID: fmt.Sprint("p", len(all))}, Kappa: kappa})
		}
	}
	add(50, 1, 1, 1)
	add(7, 0, 1, 1)
	add(20, 0, 0, 0)
	got := Balance(all, 0.8, 2, paperReward, 1)
	var size [3]int
	for _, e := range got {
		size[MBest(StageTwoKappa(e.Kappa, 2, paperReward), 0.8, 2)]++
	}
	if size != [3]int{20, 7, 20} {
		t.Errorf("classes %v", size)
	}
	shuffled := append(append([]Example{}, all[40:]...), all[:40]...)
	kept := map[string]bool{}
	for _, e := range got {
		kept[e.Problem.ID] = true
	}
	for _, e := range Balance(shuffled, 0.8, 2, paperReward, 1) {
		if !kept[e.Problem.ID] {
			t.Fatalf("%s is kept in one order of the problems and not in the other", e.Problem.ID)
		}
	}
}

func TestExpertsAreOrderedByPriceThenID(t *testing.T) {
	e := []Expert{{ID: "c", Price: cost.Price{Out: 2}}, {ID: "b", Price: cost.Price{Out: 1}}, {ID: "a", Price: cost.Price{Out: 2}}}
	SortByPrice(e)
	if e[0].ID != "b" || e[1].ID != "a" || e[2].ID != "c" {
		t.Errorf("order %v", e)
	}
	if diff := cmp.Diff([]float64{0.5, 1, 1}, Costs(e, "normalised")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1, 2, 2}, Costs(e, "usd_per_mtok")); diff != "" {
		t.Error(diff)
	}
}

// Examples are in one order whatever theirs was; those of one text are one question and stand together, at the place of the least id.
func TestExamplesOfOneTextStandTogetherInHashOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var examples []Example
		for i := range rapid.IntRange(0, 30).Draw(t, "examples") {
			examples = append(examples, Example{Problem: Problem{ID: fmt.Sprint("p", i), Text: fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "text"))}})
		}
		first := map[string]Example{}
		for _, e := range examples {
			if f, ok := first[e.Problem.Text]; !ok || e.Problem.ID < f.Problem.ID {
				first[e.Problem.Text] = e
			}
		}
		shuffled := rapid.Permutation(examples).Draw(t, "shuffled")
		InHashOrder(examples)
		InHashOrder(shuffled)
		if diff := cmp.Diff(ProblemIDs(examples), ProblemIDs(shuffled)); diff != "" {
			t.Fatal(diff)
		}
		var order []Example // of the first of each text, which have no text twice
		for _, e := range first {
			order = append(order, e)
		}
		slices.SortFunc(order, func(a, b Example) int {
			return gocmp.Compare(seed.Hash("99|"+a.Problem.ID), seed.Hash("99|"+b.Problem.ID))
		})
		questions := Questions(examples)
		for i, e := range examples {
			if want := order[questions[i]].Problem.Text; e.Problem.Text != want {
				t.Fatalf("example %d is of text %s, want %s, that of question %d", i, e.Problem.Text, want, questions[i])
			}
			if i > 0 && questions[i] == questions[i-1] && examples[i-1].Problem.ID >= e.Problem.ID {
				t.Fatalf("%s stands before %s", examples[i-1].Problem.ID, e.Problem.ID)
			}
		}
	})
}
