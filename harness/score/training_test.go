package score

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func TestCurvesAreAveragedOverSeedsAndWindows(t *testing.T) {
	curve := func(shift float64) (points []Step) {
		for i := range 60 { // windows of two steps
			points = append(points, Step{Stage: "sft", Step: i, Loss: float64(i) + shift, Reward: math.NaN(), Entropy: 1, Anchor: math.NaN(), Zero: math.NaN(), Calls: math.NaN(), Accuracy: math.NaN(), Share: []float64{0.25, 0.75}})
		}
		return append(points, Step{Stage: "grpo", Step: 0, Loss: 0, Reward: 0.5 + shift, Entropy: 0.5, Anchor: 0.25, Zero: 0.125, Calls: math.NaN(), Accuracy: math.NaN(), Share: []float64{0.5, 0.5}})
	}
	seeds := metrics.Keys("seed", "7", "seed", "8", "seed", "9")
	lines := Training(metrics.Keys("method", "ours"), []string{"small", "big"}, seeds, [][]Step{curve(0), curve(1), curve(5)})
	if len(lines) != 3*31+3*3 {
		t.Fatalf("%d lines, want 30 windows and a step, each for all and two experts, and three seeds at three ends of stages", len(lines))
	}
	for i, want := range map[int]string{
		2:  "Curve/method=ours/stage=sft/step=00/seed=8 1 loss 1.5 [0, 0] entropy-nats 1 [0, 0]",
		6:  "Curve/method=ours/stage=sft/step=02 3 loss 4.5 [2.5, 7.5] entropy-nats 1 [1, 1]",
		8:  "Curve/method=ours/stage=sft/step=02/expert=big 3 share-% 75 [75, 75]",
		93: "Curve/method=ours/stage=sft/step=58/seed=9 1 loss 63.5 [0, 0] entropy-nats 1 [0, 0]",
		96: "Curve/method=ours/stage=grpo/step=0 3 reward 2.5 [0.5, 5.5] entropy-nats 0.5 [0.5, 0.5] anchor-kl 0.25 [0.25, 0.25] zero-groups-% 12.5 [12.5, 12.5]",
	} {
		got := fmt.Sprintf("%s %d", lines[i].Label(), lines[i].N)
		for _, v := range lines[i].Values {
			got += fmt.Sprintf(" %s %g [%g, %g]", v.Unit, v.Number, v.Low, v.High)
		}
		if got != want {
			t.Errorf("line %d: %s, want %s", i, got, want)
		}
	}
	alone := Training(nil, []string{"small", "big"}, seeds[:1], [][]Step{curve(0)})
	if len(alone) != 3*31 || alone[0].Values[0].Bounded {
		t.Errorf("%d lines of one seed, the first %+v; one seed has no range", len(alone), alone[0])
	}
}

func TestCurvesOfRoundsHaveCallsAndAccuracy(t *testing.T) {
	none := math.NaN()
	curve := []Step{{Stage: "rounds", Step: 0, Reward: 0.5, Entropy: 1.25, Anchor: none, Zero: none, Calls: 0.75, Accuracy: 0.5}}
	lines := Training(metrics.Keys("method", "ours"), []string{"small", "big"}, metrics.Keys("seed", "7"), [][]Step{curve})
	if len(lines) != 1 {
		t.Fatal(lines)
	}
	got := ""
	for _, v := range lines[0].Values {
		got += fmt.Sprint(" ", v.Number, " ", v.Unit)
	}
	if want := " 0.5 reward 1.25 entropy-nats 75 call-rate-% 50 accuracy-%"; got != want || lines[0].Label() != "Curve/method=ours/stage=rounds/step=0" {
		t.Errorf("%s%s, want%s", lines[0].Label(), got, want)
	}
}

// The training questions of one fold may be a batch more than those of another.
func TestAStageIsAsLongAsTheShortestOfItsTrainings(t *testing.T) {
	steps := func(loss float64, sft, grpo int) (points []Step) {
		for i := range sft {
			points = append(points, Step{Stage: "sft", Step: i, Loss: loss + float64(i)})
		}
		for i := range grpo {
			points = append(points, Step{Stage: "grpo", Step: i, Reward: loss})
		}
		return points
	}
	lines := Training(nil, nil, metrics.Keys("fold", "0.0", "fold", "0.1"), [][]Step{steps(1, 3, 1), steps(3, 2, 2)})
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%s %d %g", l.Label(), l.N, l.Values[0].Number))
	}
	want := []string{
		"Curve/stage=sft/step=0 2 2", "Curve/stage=sft/step=0/fold=0.0 1 1", "Curve/stage=sft/step=0/fold=0.1 1 3",
		"Curve/stage=sft/step=1 2 3", "Curve/stage=sft/step=1/fold=0.0 1 2", "Curve/stage=sft/step=1/fold=0.1 1 4",
		"Curve/stage=grpo/step=0 2 2", "Curve/stage=grpo/step=0/fold=0.0 1 1", "Curve/stage=grpo/step=0/fold=0.1 1 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
