package stages

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

// Where the words tell the experts apart a policy that is held near 0 loses; where they tell nothing, one that learns
// them by heart does.
func TestTheWeightDecayIsChosenOnProblemsThatAreHeldOut(t *testing.T) {
	const grid = "validate: {weight_decay: [0.001, 30]}\nsft: {epochs: 40}\ngrpo: {estimator: exact, steps: 60}\ntargets: {hard_weight: 1}"
	for _, kind := range []string{"sft", "entrorouter"} {
		validated := func(set routing.TrainSet) float64 {
			chosen, err := build(t, kind, grid).validated(t.Context(), set, routingtest.Work(1))
			if err != nil {
				t.Fatal(err)
			}
			if chosen.SFT.WeightDecay != chosen.GRPO.WeightDecay {
				t.Errorf("%s: %v in Stage I, %v in Stage II", kind, chosen.SFT.WeightDecay, chosen.GRPO.WeightDecay)
			}
			return chosen.SFT.WeightDecay
		}
		set := routingtest.Planted(200)
		if got := validated(set); got != 0.001 {
			t.Errorf("%s: weight decay %v where the words tell, want 0.001", kind, got)
		}
		// Each expert alone solves a third of the problems, whatever the words: what is learned by heart is wrong on those
		// held out.
		wrong := routingtest.Planted(300)
		for i := range wrong.SFT {
			for _, x := range []*routing.Example{&wrong.SFT[i], &wrong.RL[i]} {
				x.Kappa, x.Probe = routing.OneHot(3, i/2%3), 0
			}
		}
		if got := validated(wrong); kind == "sft" && got != 30 { // a wrong guess costs Stage II no more than no guess
			t.Errorf("%s: weight decay %v where the words tell nothing, want 30", kind, got)
		}
		if e, err := build(t, kind, "sft: {weight_decay: 7}").validated(t.Context(), set, routingtest.Work(1)); err != nil || e.SFT.WeightDecay != 7 {
			t.Errorf("%s: %+v, %v with nothing to choose from", kind, e, err)
		}
	}
	both := routingtest.Planted(100)
	both.RL = append(routingtest.Planted(50).RL, routingtest.Planted(150).RL[100:]...) // half of it is of Stage I, as in the paper
	if kept, held := holdOutOfBoth(both); slices.ContainsFunc(kept.Examples(), func(x routing.Example) bool {
		return slices.ContainsFunc(held.RL, func(y routing.Example) bool { return x.Problem.ID == y.Problem.ID })
	}) || len(held.RL) != 20 {
		t.Errorf("%d problems are held out of Stage II, want 20, and none of them kept in a stage", len(held.RL))
	}
	again := routingtest.Planted(100) // every text under two ids
	for i := range again.RL {
		again.RL[i].Problem.Text, again.SFT[i].Problem.Text = again.RL[i&^1].Problem.Text, again.RL[i&^1].Problem.Text
	}
	if kept, held := holdOutOfBoth(again); slices.ContainsFunc(kept.Examples(), func(x routing.Example) bool {
		return slices.ContainsFunc(held.RL, func(y routing.Example) bool { return x.Problem.Text == y.Problem.Text })
	}) || len(held.RL) < 20 || len(held.RL) > 21 {
		t.Errorf("%d problems are held out of Stage II, want 20 or 21, and none of their texts kept in a stage", len(held.RL))
	}
	_, err := build(t, "entrorouter", "validate: {weight_decay: [1, 50]}").Fit(t.Context(), routingtest.Planted(100), routingtest.Work(1))
	if err == nil || !strings.Contains(err.Error(), "a weight decay of 50 at a learning rate of 0.02") {
		t.Errorf("a decay that turns weights around: %v", err)
	}
	_, err = build(t, "entrorouter", "validate: {weight_decay: [1, 10]}").Fit(t.Context(), routingtest.Planted(4), routingtest.Work(1))
	if err == nil || !strings.Contains(err.Error(), "too few training problems to hold a fifth of them out, 4; give it more, or leave validate out of the spec") {
		t.Errorf("too few problems: %v", err)
	}
	_, err = build(t, "entrorouter", grid).Fit(t.Context(), routingtest.Planted(4), routingtest.Work(1))
	if err == nil || !strings.Contains(err.Error(), "too few training problems") {
		t.Errorf("four problems: %v", err)
	}
}

// A decay under which the policy is left without a number is the worst, and no reason to stop.
func TestAWeightDecayWithoutANumberIsTheWorst(t *testing.T) {
	for _, kind := range []string{"sft", "entrorouter"} {
		for _, decoding := range []string{"argmax", "sample"} {
			m := build(t, kind, "sft: {epochs: 1, batch: 64}")
			m.SFT.LR, m.GRPO.LR, m.GRPO.Steps, m.With.Decoding = 1e38, 1e38, 1, decoding // no spec may say so
			set := routingtest.Planted(40)
			kept, held := holdOutOfBoth(set)
			if kind == "entrorouter" {
				m.SFT.LR = 0.01
			}
			if score, err := m.score(t.Context(), kept, held, routingtest.Work(1)); err != nil || !math.IsInf(score, -1) {
				t.Errorf("%s, %s: score %v, %v", kind, decoding, score, err)
			}
		}
	}
}
