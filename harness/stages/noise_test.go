package stages

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
)

func TestALabelMovesToAnAdjacentTier(t *testing.T) {
	for _, tc := range []struct {
		name     string
		prob     []float64
		up, down []float64
	}{
		{"the cheapest has one neighbour", []float64{1, 0, 0}, []float64{0, 1, 0}, []float64{0, 1, 0}},
		{"the strongest has one neighbour", []float64{0, 0, 1}, []float64{0, 1, 0}, []float64{0, 1, 0}},
		{"one between goes either way", []float64{0, 1, 0}, []float64{0, 0, 1}, []float64{1, 0, 0}},
		{"a soft target with the cheapest moves up as a whole", []float64{.5, .5, 0}, []float64{0, .5, .5}, []float64{0, .5, .5}},
		{"a soft target with the strongest moves down as a whole", []float64{0, .5, .5}, []float64{.5, .5, 0}, []float64{.5, .5, 0}},
		{"both ends move inward", []float64{.5, 0, .5}, []float64{0, 1, 0}, []float64{0, 1, 0}},
		{"five experts", []float64{0, .5, .5, 0, 0}, []float64{0, 0, .5, .5, 0}, []float64{.5, .5, 0, 0, 0}},
		{"a pool of one stays", []float64{1}, []float64{1}, []float64{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff([][]float64{tc.up, tc.down}, [][]float64{moved(tc.prob, true), moved(tc.prob, false)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMovedLabelIsADistributionElsewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prob := make([]float64, rapid.IntRange(2, 6).Draw(t, "M"))
		at := rapid.IntRange(0, len(prob)-1).Draw(t, "label")
		prob[at] = 1
		got := moved(prob, rapid.Bool().Draw(t, "up"))
		to := slices.Index(got, 1)
		if to < 0 || math.Abs(float64(to-at)) != 1 {
			t.Fatalf("%v moves to %v", prob, got)
		}
	})
}

func TestNoiseHitsItsShareInBothStages(t *testing.T) {
	const problems, share = 4000, 0.1
	n, more := Noise{Share: share}, Noise{Share: 2 * share}
	var set []routing.Example
	for i := range problems {
		e := routingtest.PlantedExample(i)
		e.Kappa = []float64{0, 0.4, 0.6}
		set = append(set, e)
	}
	hit := map[float64]int{} // by the rate of the second expert
	for i, e := range n.rates(set, 2, 1) {
		target := n.target([]float64{0, 1, 0}, 1, e.Problem.ID)
		changed := e.Kappa[1] != 0.4
		if changed != (target[1] == 0) {
			t.Fatalf("%s: rates %v, label %v: one stage is corrupted and the other is not", e.Problem.ID, e.Kappa, target)
		}
		if changed && !more.hits(1, e.Problem.ID) {
			t.Fatalf("%s is hit by the smaller share alone", e.Problem.ID)
		}
		if !changed {
			continue
		}
		hit[math.Round(e.Kappa[1]*10)/10]++
		// The first expert's 0 stays or becomes 0.2; the strongest is left alone.
		if e.Kappa[0] != 0 && e.Kappa[0] != 0.2 || e.Kappa[2] != 0.6 || set[i].Kappa[1] != 0.4 {
			t.Fatalf("%s: %v from %v", e.Problem.ID, e.Kappa, set[i].Kappa)
		}
	}
	// Four standard deviations of a binomial: 76 of the count, 13 either way of the half.
	if total := hit[0.2] + hit[0.6]; len(hit) != 2 || math.Abs(float64(total)-problems*share) > 76 || math.Abs(float64(hit[0.2]-hit[0.6])) > 80 {
		t.Errorf("%v of %d problems are hit", hit, problems)
	}
	if got := (Noise{}).rates(set, 2, 1); &got[0] != &set[0] {
		t.Error("no noise copies the examples")
	}
	one := []routing.Example{{Problem: routing.Problem{ID: "p"}, Kappa: []float64{1, 1}}}
	for s := range 20 { // 1 + 0.2 is clipped
		if k := (Noise{Share: 1}).rates(one, 1, seed.Seed(s))[0].Kappa; k[0] != 1 && math.Abs(k[0]-0.8) > 1e-12 || k[1] != 1 {
			t.Errorf("rates %v from %v", k, one[0].Kappa)
		}
	}
}

// By targets.strongest the strongest expert need not be the dearest, whose rate is then as uncertain as any other's.
func TestNoiseLeavesTheRateOfTheStrongestAlone(t *testing.T) {
	set := routingtest.Planted(20)
	for i := range set.SFT {
		set.SFT[i].Kappa = []float64{0, 1, 0.5}
	}
	set.RL = set.SFT
	e := build(t, "entrorouter", "{noise: {share: 1}, targets: {strongest: accuracy}, reward: {strongest_kappa: measured, balance: false}, anchor: {strength: 0}}")
	policy, err := e.newPolicy(t.Context(), set.Experts, routing.Texts(set.SFT))
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := e.Prompts(t.Context(), policy, set, routingtest.Work(1))
	if err != nil {
		t.Fatal(err)
	}
	unmoved := routing.TaskReward([]float64{0, 1, 0.5}, set.C, e.Targets.Tau, 1, e.Reward)
	for _, p := range prompts {
		if p.Reward[1] != unmoved[1] || p.Reward[2] == unmoved[2] {
			t.Fatalf("%s: rewards %v, without noise %v; the second expert is the strongest", p.ID, p.Reward, unmoved)
		}
	}
}

// All labels corrupted: every easy problem's moves up from the cheapest, and every hard one's down from the strongest.
func TestNoiseReachesBothStages(t *testing.T) {
	set := routingtest.Planted(200)
	for i, d := range routingtest.Route(t, fit(t, build(t, "sft", "noise: {share: 1}"), set, 1), routingtest.Fresh(20)) {
		if d.Expert != 1 {
			t.Errorf("query %d goes to expert %d", i, d.Expert)
		}
	}
	plain := routingtest.Route(t, fit(t, build(t, "entrorouter", ""), set, 1), routingtest.Fresh(20))
	noisy := routingtest.Route(t, fit(t, build(t, "entrorouter", "noise: {share: 0.3}"), set, 1), routingtest.Fresh(20))
	same := true
	for i := range plain {
		same = same && slices.Equal(plain[i].Prob, noisy[i].Prob)
	}
	if same {
		t.Error("noise changes nothing")
	}
}
