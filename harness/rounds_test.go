package harness

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// rounds is lm-collapse in some seconds: two rows of a language model and one of a small network.
func rounds(t *testing.T) *spec.Resolved {
	t.Helper()
	r := languageModel(t, spec.Tune{Part: "full"})
	x := &r.Experiment
	const few = "group: 4, batch: 4, mini_batch: 4, steps: 3, max_turns: 2"
	x.Methods = []spec.Method{
		toy.Row(t, "routerr1", "lm-r1", "{lm: true, "+few+", alpha: 0.6, anchor: {strength: 1, t: 0.25, alpha: 0.6}}"),
		toy.Row(t, "xrouter", "lm-x", "{lm: true, "+few+", filter: none, gen_batches: 1}"),
		toy.Row(t, "routerr1", "net-r1", "{"+few+", alpha: 0.6}"),
	}
	x.Outputs = []spec.Output{{Kind: "rounds", File: "rounds", Series: []spec.Series{{Label: "Decoder", Rows: []string{"lm-r1", "lm-x"}}, {Label: "Network", Rows: []string{"net-r1"}}}}}
	return r
}

// From the spec to the figure and back: rows of several rounds with a language model are stopped in the middle of a training and go on to
// the same bytes.
func TestRoundsOfALanguageModelThatAreStoppedGoOnToTheSameBytes(t *testing.T) {
	r, calm, out := rounds(t), t.TempDir(), t.TempDir()
	want := runIn(t, r, calm)
	for _, at := range []string{"sft step 1 ", "rounds step 2 "} {
		ctx, cancel := context.WithCancel(t.Context())
		says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: cancel, text: at}
		if _, err := Run(ctx, r, Options{Out: out, Every: 100, Progress: says}); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %q: %v", at, err)
		}
	}
	says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: func() {}}
	got, err := Run(t.Context(), r, Options{Out: out, Every: 100, Progress: says})
	if err != nil {
		t.Fatal(err)
	}
	if says.first != "rounds step 3 of 3" { // of the first row; the second begins when that is trained
		t.Errorf("the third run begins training with %q", says.first)
	}
	if diff := cmp.Diff(want.Measurements, got.Measurements); diff != "" {
		t.Error(diff)
	}
	sameEntries(t, calm, out)
	_, files := drawn(t, got)
	if caption := files["tiny/rounds.txt"]; !strings.Contains(caption, "tiny and fresh: layers of width 16, 1 of them") || !strings.Contains(caption, "Anchored: ") {
		t.Errorf("caption %q", caption)
	}
	for _, start := range []string{"a,Decoder,\"Router-R1, a = 0, anchored\",call-rate-%,0,", "b,Network,\"Router-R1, a = 0\",call-rate-%,2,", "g,Decoder,\"xRouter, a = 0\",accuracy-%,1,"} {
		if !strings.Contains(files["tiny/rounds.csv"], "\n"+start) {
			t.Errorf("no line %q in %s", start, files["tiny/rounds.csv"])
		}
	}
	// A row's language model is part of what its fit follows from, and so are its prompts; a network's follows from neither.
	r.Experiment.Policy.Model.Seed = 7
	other := runIn(t, r, calm)
	for _, m := range want.Measurements.Measurements {
		if m.Name != "Curve" || m.Key("step") != "0" {
			continue
		}
		now, ok, err := other.Measurements.Find(m.Keys...)
		if err != nil || !ok {
			t.Fatal(err, m.Label())
		}
		if same := cmp.Equal(m, now); same != (m.Key("method") == "net-r1") {
			t.Errorf("%s with other weights at the start: the same %v", m.Label(), same)
		}
	}
}

func TestAFigureOfRoundsShowsWhatIsTrainedInRounds(t *testing.T) {
	for want, series := range map[string][]spec.Series{
		"name one, with its":   {},
		"row sft is no multi-": {{Label: "x", Rows: []string{"sft"}}},
	} {
		r := languageModel(t, spec.Tune{Part: "full"})
		r.Experiment.Policy = toy.Tiny(t).Experiment.Policy
		r.Experiment.Outputs = []spec.Output{{Kind: "rounds", File: "f", Series: series}}
		result, err := Run(t.Context(), r, Options{Out: t.TempDir()})
		if err == nil {
			_, err = present.Draw(&present.Run{Spec: result.Spec, Measurements: result.Measurements}, results.FS, report.Terminal{}, io.Discard)
		}
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
