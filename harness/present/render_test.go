package present

import (
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestRowsThatMatchAnotherAreNamedBelowTheTable(t *testing.T) {
	r := &Run{Spec: tiny(t), Measurements: &metrics.Set{}}
	want := "Spending on the training problems what entrorouter spends there: mixture, benchmark, logistic."
	if notes := r.notes(); !slices.Contains(notes, want) {
		t.Errorf("no %q in %q", want, notes)
	}
}

func TestNotesSayWhichRowsHaveALimitAndWhichWereChosenBefore(t *testing.T) {
	r, err := spec.Load(experiments.FS, "recorded", spec.Known{Methods: methods.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	result := &Run{Spec: r}
	points := func() string {
		text, err := result.operatingPoints()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got, want := points(), "Rows with a knob spend without limit at their own operating point, but for RouteLLM (the strongest expert answers a share of the training questions); FORC (the cheapest expert above a predicted pass rate); FORC, cost strategy (a share of the strongest expert's dollars); their curve says more."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := result.chosenBefore(); !strings.Contains(got, "Bag of embeddings: settings chosen on the questions of pool qwen2_o1mini") || !strings.Contains(got, "Difficulty: form and features") {
		t.Errorf("rows chosen before: %q", got)
	}
	r.Experiment.Methods = []spec.Method{{Name: "logistic"}, {Name: "forc", Params: r.Experiment.Methods[0].Params}}
	if err := r.Experiment.Methods[1].Params.Encode(map[string]string{"strategy": "greedy"}); err != nil {
		t.Fatal(err)
	}
	if got, want := points(), "Rows with a knob spend without limit at their own operating point; their curve says more."; got != want {
		t.Errorf("without limits: got %q, want %q", got, want)
	}
	if got := result.chosenBefore(); got != "" {
		t.Errorf("nothing was chosen before, and the note is %q", got)
	}
}

func TestCalibrationIsNamedBelowTheTable(t *testing.T) {
	r := &Run{Spec: tiny(t), Measurements: &metrics.Set{}}
	if got := r.calibrationNote(); got != nil {
		t.Errorf("without a measurement: %q", got)
	}
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		r.Measurements.Measurements = append(r.Measurements.Measurements, metrics.Measurement{
			Name: "Route", Keys: metrics.Keys("arena", arena, "method", "logistic", "benchmark", metrics.Average), N: 1,
			Values: []metrics.Value{metrics.Rounded(1.23, methods.CalibrationError, 3)},
		})
	}
	want := []string{"Expected calibration error of predicted pass rates, on held-out training problems: logistic 1.2 points."}
	if got := r.calibrationNote(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	x := &r.Spec.Experiment
	x.Methods = append(slices.Clone(x.Methods), row(t, "forc", "forc-file", "{pihat: p.jsonl}"))
	for _, m := range r.Measurements.Measurements {
		m.Keys = metrics.Keys("arena", m.Key("arena"), "method", "forc-file", "benchmark", metrics.Average)
		r.Measurements.Measurements = append(r.Measurements.Measurements, m)
	}
	want = append(want, "Expected calibration error of imported pass rates, on all training problems, which their maker may have learnt from: forc-file 1.2 points.")
	if got := r.calibrationNote(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
