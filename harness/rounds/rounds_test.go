package rounds

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// Two problems and two experts, worked out by hand: trust are mean pass rates with the router's first, costs are dollars in the reward's
// unit, and the anchor is a softmax of pass rates less the price of an expert, the router free and first.
func TestTheEnvironmentIsThatOfTheProblemsOfStageII(t *testing.T) {
	set := routing.TrainSet{
		Experts: []routing.Expert{{ID: "small"}, {ID: "large"}},
		C:       []float64{0.5, 1},
		RL: []routing.Example{
			{Problem: routing.Problem{ID: "a", Text: "1+1"}, Kappa: []float64{0.25, 1}, USD: []float64{0.001, 0.004}, Probe: 0.5},
			{Problem: routing.Problem{ID: "b", Text: "2+2"}, Kappa: []float64{0.75, 0}, USD: []float64{0.003, 0.008}, Probe: 0},
		},
	}
	tr := &Training{
		Horizon: 3, Selects: true, Assimilation: 0.1, Distraction: 0.2, FormatFail: 0.3,
		Unit:    func(usd []float64) float64 { return 1 / usd[1] },
		Anchor:  &spec.Anchor{Strength: 2, T: 0.5, Alpha: 0.25},
		Decoder: &Decoder{},
	}
	look, err := tr.look(t.Context(), set, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e, unit, err := tr.environment(t.Context(), set, look)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(unit-1/0.006) > 1e-9 {
		t.Errorf("a dollar counts %v", unit)
	}
	want := theory.Environment{
		Cost: []float64{0, 0}, Trust: []float64{0.25, 0.5, 0.5}, Horizon: 3, Select: true, Assimilation: 0.1, Distraction: 0.2, FormatFail: 0.3,
	}
	got := *e
	got.Buckets = nil
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12), cmpopts.IgnoreUnexported(theory.Environment{})); diff != "" {
		t.Error(diff)
	}
	if len(e.Buckets) != 2 || e.Buckets[0].Text == e.Buckets[1].Text {
		t.Fatalf("%d problems, want both: %+v", len(e.Buckets), e.Buckets)
	}
	for _, b := range e.Buckets {
		x := set.RL[0]
		if b.Text != x.Problem.Text {
			x = set.RL[1]
		}
		sum := 0.0
		score := func(who int) float64 { // equation 5, over the temperature
			price := append([]float64{0}, set.C...)[who]
			return (append([]float64{x.Probe}, x.Kappa...)[who] - 0.25*price) / 0.5
		}
		for who := range 3 {
			sum += math.Exp(score(who))
		}
		for who, a := range b.Anchor {
			if want := 2 * 0.5 * (score(who) - math.Log(sum)); math.Abs(a-want) > 1e-12 {
				t.Errorf("problem %s: the anchor of move %d is %v, want %v", x.Problem.ID, who, a, want)
			}
		}
		if b.Text != x.Problem.Text || b.Share != 1 || b.Self != x.Probe || !cmp.Equal(b.Expert, x.Kappa) || math.Abs(b.Cost[1]-x.USD[1]/0.006) > 1e-12 || len(b.Anchor) != 3 {
			t.Errorf("problem %s: %+v", x.Problem.ID, b)
		}
	}
}

func TestNothingIsLearnedFromNothing(t *testing.T) {
	if _, err := (&Training{Name: "x"}).Fit(context.Background(), routing.TrainSet{}, routing.Work{}); err == nil || err.Error() != "method x: no training problem to learn from in one of the stages (0, 0)" {
		t.Error(err)
	}
}

// What is not defined is left empty, and comes back so.
func TestACourseComesBackFromItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curve.csv")
	pool := []routing.Expert{{ID: "small"}, {ID: "large"}}
	steps := []theory.Snapshot{
		{Step: 0, Reward: 0.25, CallRate: 0, Calls: 0, Format: 1, Entropy: 0.5, Accuracy: 0.75, AccuracyCall: math.NaN(), AccuracyNone: 0.75, Cost: 0, Expert: []float64{0, 0}},
		{Step: 1, Reward: 0.5, CallRate: 1, Calls: 1.5, Format: 0.5, Entropy: 0.125, Accuracy: 0.5, AccuracyCall: 0.5, AccuracyNone: math.NaN(), Cost: 8, Expert: []float64{0.5, 1}},
	}
	if err := writeCourse(path, pool, steps, 4); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCourse("curve.csv", bytes.NewReader(text), []string{"small", "large"})
	steps[1].Cost = 2 // in dollars, four to the unit
	if diff := cmp.Diff(steps, got, cmpopts.EquateNaNs()); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := ReadCourse("curve.csv", bytes.NewReader(text), []string{"small", "other"}); err == nil {
		t.Error("the course of another pool was read")
	}
}
