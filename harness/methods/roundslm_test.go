package methods

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// tinyLM makes the experiment's policy a language model of one narrow layer.
func tinyLM(t testing.TB, s *Setup) {
	t.Helper()
	s.Spec.Policy = spec.Policy{Kind: "lm", Backend: "go", Tune: &spec.Tune{Part: "full"}, Rationale: "none", MaxTokens: 512, Compute: "float32", MicroBatch: 8,
		Model: &spec.LanguageModel{Arch: "qwen3", Hidden: 16, Inner: 16, Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 8}}
	s.Spec.SFT = spec.SFT{Epochs: 4, Batch: 8, LR: 0.01, WarmUp: 0.1}
	models := lm.NewModels(1<<20, "")
	s.Models = models
	t.Cleanup(func() {
		if err := models.Close(); err != nil {
			t.Error(err)
		}
	})
}

const lmRounds = "lm: true, group: 4, batch: 4, mini_batch: 4, max_turns: 2, lr: 0.01"

// fitRounds fits a row with a language model and returns its decisions and its curve. It fails the test if that takes minutes.
func fitRounds(t *testing.T, kind, params string, set routing.TrainSet, work routing.Work) ([]routing.Decision, string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	s := setup(t, kind, "{"+lmRounds+", "+params+"}")
	tinyLM(t, &s)
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	work.Dir = t.TempDir()
	r, err := m.Fit(ctx, set, work)
	if err != nil {
		t.Fatal(err)
	}
	decisions := routingtest.Route(t, r, routingtest.Fresh(12))
	if err := r.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	curve, err := os.ReadFile(filepath.Join(work.Dir, "curve.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return decisions, string(curve)
}

// Of a router that uses nothing, distracting calls are all that training can do away with.
func TestALanguageModelThatUsesNothingStopsAsking(t *testing.T) {
	decisions, _ := fitRounds(t, "routerr1", "alpha: 0.6, distraction: 0.3, steps: 20", routingtest.Planted(24), routingtest.Work(1))
	asked := 0
	for i, d := range decisions {
		valid(t, d, routingtest.Fresh(12)[i], 3, true)
		asked += len(d.Calls)
	}
	if asked > 0 {
		t.Errorf("%d calls about 12 problems", asked)
	}
}

func TestALanguageModelHandsOverTheAnswersOfExpertsIfItMay(t *testing.T) {
	decisions, _ := fitRounds(t, "xrouter", "call_bonus: 5, select: true, filter: none, gen_batches: 1, warm_up: 0, steps: 20", routingtest.Planted(24), routingtest.Work(1))
	for i, d := range decisions {
		valid(t, d, routingtest.Fresh(12)[i], 3, true)
		if len(d.Calls) == 0 {
			t.Errorf("nobody is asked about problem %d though calls are all that pays", i)
		}
	}
}

// The soft anchor knows what a router that uses nothing does not: who solves the problem. It keeps the calls, which are of no use.
func TestTheSoftAnchorHoldsCallsThatAreOfNoUse(t *testing.T) {
	set := routingtest.Planted(48)
	hard := func(all []routing.Example) []routing.Example {
		return slices.DeleteFunc(slices.Clone(all), func(e routing.Example) bool { return e.Problem.Benchmark != "hard" })
	}
	set.SFT, set.RL = hard(set.SFT), hard(set.RL)
	for _, anchor := range []string{"", ", anchor: {strength: 20, t: 0.25, alpha: 0}"} {
		decisions, _ := fitRounds(t, "routerr1", "alpha: 0.6, distraction: 0.3"+anchor+", steps: 20", set, routingtest.Work(1))
		asked := 0
		for _, d := range decisions {
			asked += min(len(d.Calls), 1)
		}
		if (asked == 12) != (anchor != "") {
			t.Errorf("%d of 12 problems are asked about with the params %q", asked, anchor)
		}
	}
}

// Each query is several passes of a language model, so routing ends with its context and not behind the last query.
func TestRoutingOfSeveralRoundsStopsWithItsContext(t *testing.T) {
	s := setup(t, "routerr1", "{"+lmRounds+", steps: 1}")
	tinyLM(t, &s)
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	r := fit(t, m, routingtest.Planted(8), 1)
	defer r.(io.Closer).Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Route(ctx, routingtest.Fresh(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestALanguageModelsRoundsRepeatAndGoOnToTheSameBytes(t *testing.T) {
	params := "alpha: 0.6, window: 20, steps: 6"
	told := routingtest.Work(3)
	var log bytes.Buffer
	told.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	decisions, curve := fitRounds(t, "routerr1", params, routingtest.Planted(24), told)
	for _, line := range []string{`progress="sft step 1 of `, `progress="rounds step 1 of 6, `, `progress="rounds step 6 of 6, `} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("not one line %q in the log\n%s", line, log.String())
		}
	}

	s := setup(t, "routerr1", "{"+lmRounds+", "+params+"}")
	tinyLM(t, &s)
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []string{"sft step 5 ", "rounds step 1 ", "rounds step 4 "} {
		w := routingtest.Work(3)
		w.Unfinished, w.Every = t.TempDir(), 3
		ctx, cancel := context.WithCancel(t.Context())
		w.Say = func(text string) {
			if strings.HasPrefix(text, stop) {
				cancel()
			}
		}
		if _, err := m.Fit(ctx, routingtest.Planted(24), w); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %s: %v", stop, err)
		}
		w.Say = func(text string) {
			if strings.HasPrefix(text, stop) || strings.HasPrefix(stop, "rounds") && strings.HasPrefix(text, "sft") {
				t.Errorf("stopped after %s, it goes on with %s", stop, text)
			}
		}
		again, same := fitRounds(t, "routerr1", params, routingtest.Planted(24), w)
		if same != curve {
			t.Errorf("stopped after %s: another curve", stop)
		}
		sameDecisions(t, "stopped after "+stop, again, decisions)
	}
}

func TestWhatARowWithALanguageModelNeeds(t *testing.T) {
	with := func(kind, params string, change func(*Setup)) error {
		s := setup(t, kind, params)
		tinyLM(t, &s)
		if change != nil {
			change(&s)
		}
		m, err := New(s)
		if err == nil {
			_, err = m.Fit(t.Context(), routingtest.Planted(8), routingtest.Work(1))
		}
		return err
	}
	for want, err := range map[string]error{
		"set group":               with("routerr1", "{lm: true}", nil),
		"is no language model":    with("xrouter", "{lm: true}", func(s *Setup) { s.Spec.Policy = routingtest.Experiment().Policy }),
		"policy.max_tokens is 20": with("xrouter", "{"+strings.Replace(lmRounds, "group", "steps: 1, group", 1)+"}", func(s *Setup) { s.Spec.Policy.MaxTokens = 20 }),
		"opened by a run":         with("xrouter", "{"+lmRounds+"}", func(s *Setup) { s.Models = nil }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// What the router depends on is in the recipe: model, prompts and the settings of the cold start.
	s := setup(t, "xrouter", "{lm: true}")
	tinyLM(t, &s)
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := m.(*xRouter).ModelDigest()
	if err != nil || !strings.HasSuffix(digest, lm.RoundsDigest()) || len(digest) < 2*64 {
		t.Errorf("digest %q: %v", digest, err)
	}
	recipe, err := spec.Canonical(m)
	if err != nil || !strings.Contains(string(recipe), `"sft":{"batch":8`) || !strings.Contains(string(recipe), `"lm":true`) {
		t.Errorf("recipe %s: %v", recipe, err)
	}
	if a := RowTraits(s.Method, s.Spec).Allowance; a.Reads != "the text itself, and who has been asked" {
		t.Errorf("it reads %q", a.Reads)
	}
	small, err := spec.Canonical(build(t, "routerr1", ""))
	if err != nil || strings.Contains(string(small), "sft") || strings.Contains(string(small), "anchor") {
		t.Errorf("recipe of a small network %s: %v", small, err)
	}
	if digest, err := build(t, "routerr1", "").(*routerR1).ModelDigest(); digest != "" || err != nil {
		t.Errorf("a small network has digest %q: %v", digest, err)
	}
	// What it could never be fitted with is refused before anybody is asked for anything.
	writes := s
	writes.Spec.Policy.Rationale, writes.Spec.Policy.Writes = "cot", &spec.Writes{Tokens: 4}
	if _, err := New(writes); err == nil || !strings.Contains(err.Error(), "a row that asks several experts names its moves and writes nothing") {
		t.Errorf("a rationale: %v", err)
	}
	// With nothing but a head trained it is called so, as other rows are.
	for _, tune := range []spec.Tune{{Part: "head"}, {Last: 1}, {Part: "full"}} {
		tinyLM(t, &s)
		s.Spec.Policy.Tune = &tune
		if got, want := RowTraits(s.Method, s.Spec).FrozenTrunk(), tune.Part == "head"; got != want {
			t.Errorf("%v: a head on a frozen model %v, want %v", tune, got, want)
		}
	}
	if RowTraits(setup(t, "routerr1", "").Method, s.Spec).FrozenTrunk() {
		t.Error("a small network is called a language model")
	}
	// Its weights and moments are its own, so that it is trained beside nothing.
	if with, without := TraitsOf(m).LM, TraitsOf(build(t, "routerr1", "")).LM; with == nil || without != nil {
		t.Errorf("trains a language model: with lm %v, without %v", with, without)
	}
}
