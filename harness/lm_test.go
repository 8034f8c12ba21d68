package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/train"
	"github.com/entrorouter/entrorouter/harness/units"
	"github.com/entrorouter/entrorouter/results"
)

// languageModel is tiny.yaml with a fresh decoder as the policy of every trained row.
func languageModel(t *testing.T, tune spec.Tune) *spec.Resolved {
	t.Helper()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Policy = spec.Policy{Kind: "lm", Backend: "go", Rationale: "none", MaxTokens: 1024, Compute: "float32", MicroBatch: 8, Tune: &tune,
		Model: &spec.LanguageModel{Arch: "qwen3", Hidden: 16, Inner: 32, Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 8}}
	x.Train.SFT.Size, x.Train.RL.Size, x.Large = 24, 16, 0
	x.GRPO.Steps, x.GRPO.Batch = 3, 16
	x.Evaluate.Seeds, x.Evaluate.MaxProblems, x.Evaluate.MaxRuns = []uint64{1}, 4, 1
	x.Methods = slices.DeleteFunc(x.Methods, func(m spec.Method) bool { return m.Name != "entrorouter" && m.Name != "sft" && m.Name != "mixture" })
	x.Outputs = x.Outputs[:1]
	return r
}

// From the spec to decisions and back, of a policy that writes: the teacher is asked once for all rows and never again, a training that was
// stopped goes on to the same bytes, and the tables say how many rationales were cut.
func TestALanguageModelThatWritesIsTaughtAndGoesOnToTheSameBytes(t *testing.T) {
	r := languageModel(t, spec.Tune{Part: "full"})
	x := &r.Experiment
	x.Policy.Rationale, x.Policy.Writes = "cot", &spec.Writes{Tokens: 24}
	x.Teacher = &spec.Teacher{Model: "router-0.8", Temperature: 1, TopP: 1, MaxTokens: 100, Attempts: 2}
	// Four texts at a time are the fewest that a policy writes, and writing is slow.
	x.Train.SFT.Size, x.Train.RL.Size, x.Policy.MicroBatch = 4, 4, 2
	x.GRPO.Batch, x.GRPO.Group, x.Evaluate.MaxProblems = 1, 4, 2
	x.SFT.Epochs, x.SFT.LR = 4, 0.1 // it learns that texts end
	calm := t.TempDir()
	plan, _, err := Plan(t.Context(), r, Options{Out: calm})
	if err != nil {
		t.Fatal(err)
	}
	var lessons []int
	for _, s := range plan {
		if s.Asked != nil && strings.HasPrefix(s.Name, "fit ") {
			lessons = append(lessons, s.Asked.Rollouts)
		}
	}
	if want := []int{2 * x.Train.SFT.Size * 2}; !slices.Equal(slices.Sorted(slices.Values(lessons)), slices.Sorted(slices.Values(want))) {
		t.Errorf("a teacher is asked for %v rationales at most, want %v: rows share them", lessons, want)
	}
	want := runIn(t, r, calm)
	for _, row := range []string{"sft", "entrorouter"} {
		m, ok, err := want.Measurements.Find(metrics.Keys("arena", metrics.PaperArena, "method", row, "benchmark", metrics.Average, "seed", "")...)
		if err != nil || !ok {
			t.Fatalf("no numbers of %s: %v", row, err)
		}
		cut, has := m.Value(stages.CutRationale)
		if tokens, ok := m.Value(units.RouterTokens); !ok || !has || cut.Number < 0 || cut.Number > 100 || tokens.Number < 50 {
			t.Errorf("%s: %v%% of the rationales are cut, %v tokens", row, cut.Number, tokens.Number)
		}
	}
	if text := render(t, want); !strings.Contains(text, "Rationale cut: questions on which") {
		t.Errorf("no column of rationales that were cut\n%s", text)
	}
	lost := regexp.MustCompile(`(?m)^grpo,\d+,\d+,[^,]+,-?0\.\d*[1-9]`)
	if !slices.ContainsFunc(contentsOf(entries(t, calm), "curve.csv"), lost.MatchString) {
		t.Error("all texts of the second stage are worth the same, so that it learns nothing")
	}
	out := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: cancel, text: "grpo step 2 "}
	if _, err := Run(ctx, r, Options{Out: out, Every: 100, Progress: says}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got := runIn(t, r, out)
	if diff := cmp.Diff(want.Measurements, got.Measurements); diff != "" {
		t.Error(diff)
	}
	sameEntries(t, calm, out)
}

// From the spec to decisions and back: a language model is trained by both stages, stopped in the middle of either, and
// goes on to the same bytes; route loads it.
func TestALanguageModelThatIsStoppedGoesOnToTheSameBytes(t *testing.T) {
	r := languageModel(t, spec.Tune{Part: "full"})
	calm := t.TempDir()
	want := runIn(t, r, calm)
	out := t.TempDir()
	for _, at := range []string{"sft step 1 ", "grpo step 2 "} {
		ctx, cancel := context.WithCancel(t.Context())
		says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: cancel, text: at}
		if _, err := Run(ctx, r, Options{Out: out, Every: 100, Progress: says}); !errors.Is(err, context.Canceled) { // it is kept when it is stopped
			t.Fatalf("stopped at %q: %v", at, err)
		}
	}
	var log bytes.Buffer
	other := languageModel(t, spec.Tune{Part: "full"})
	other.Experiment.Name, other.Experiment.SFT.LR = "other", 2*r.Experiment.SFT.LR
	if _, err := Run(t.Context(), other, Options{Out: out, Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	if want := "trainings=1"; !strings.Contains(log.String(), filepath.Join(out, "unfinished")) || !strings.Contains(log.String(), want) {
		t.Errorf("a run beside a training that is kept says %q, want %s", log.String(), want)
	}
	for _, name := range unfinished(t, out) {
		if !strings.HasPrefix(name, "fit-") {
			t.Errorf("%s is kept", name)
		}
	}
	says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: func() {}}
	got, err := Run(t.Context(), r, Options{Out: out, Every: 100, Progress: says})
	if err != nil {
		t.Fatal(err)
	}
	if says.first != "grpo step 3 of 3" {
		t.Errorf("the third run begins training with %q", says.first)
	}
	if diff := cmp.Diff(want.Measurements, got.Measurements); diff != "" {
		t.Error(diff)
	}
	if _, err := Run(t.Context(), other, Options{Out: calm}); err != nil {
		t.Fatal(err)
	}
	sameEntries(t, calm, out)
	for _, dir := range []string{calm, out} {
		if left := unfinished(t, dir); len(left) > 0 {
			t.Errorf("what is left of unfinished trainings in %s: %v", dir, left)
		}
	}
	routed, err := protocol.Route(t.Context(), r, Options{Out: out}, protocol.By{Row: "entrorouter"}, []routing.Query{{Problem: routing.Problem{ID: "easy", Text: "What is 1 + 1?"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range routed {
		sum := 0.0
		for _, p := range x.Prob {
			sum += p
		}
		if sum < 1-1e-9 || sum > 1+1e-9 {
			t.Errorf("probabilities %v", x.Prob)
		}
	}
}

// cancelWhen interrupts when progress says something, and remembers what it said first of a training.
type cancelWhen struct {
	Progress
	cancel      func()
	text, first string
}

func (c *cancelWhen) Start(what string, total int) Task {
	return saying{c.Progress.Start(what, total), c.Say}
}

// saying is a task whose words go to somebody else.
type saying struct {
	Task
	say func(text string)
}

func (s saying) Say(text string) { s.say(text) }

func (c *cancelWhen) Say(text string) {
	if c.first == "" {
		c.first, _, _ = strings.Cut(text, ",")
	}
	if c.text != "" && strings.HasPrefix(text, c.text) {
		c.cancel()
	}
}

// Rows that are matched to a language model's wait for it; they do not have several begin, whose order would be chance.
func TestLanguageModelsBeginOneAfterAnotherThoughOthersAreMatchedToThem(t *testing.T) {
	r := languageModel(t, spec.Tune{Part: "full"})
	x := &r.Experiment
	x.Evaluate.Seeds = []uint64{1, 2, 3}
	if i := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.Match == "entrorouter" }); i < 0 {
		t.Fatal("no row is matched")
	}
	began := &beginnings{Progress: Options{}.Filled().Progress, of: regexp.MustCompile(`^fit (sft|entrorouter) `)}
	if _, err := Run(t.Context(), r, Options{Out: t.TempDir(), Progress: began}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, row := range x.Methods {
		if row.Match == "" {
			for _, seed := range x.Evaluate.Seeds {
				want = append(want, fmt.Sprintf("fit %s seed=%d", row.RowID(), seed))
			}
		}
	}
	if began.most != 1 || !slices.Equal(began.names, want) {
		t.Errorf("%d language models at a time, in the order %q, want one after another as %q", began.most, began.names, want)
	}
}

// beginnings notes the steps of some names as they begin, and how many of them went on at once.
type beginnings struct {
	Progress
	of *regexp.Regexp

	mu        sync.Mutex
	names     []string
	now, most int
}

func (b *beginnings) Start(what string, total int) Task {
	task := b.Progress.Start(what, total)
	if !b.of.MatchString(what) {
		return task
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names = append(b.names, what)
	b.now++
	b.most = max(b.most, b.now)
	return ending{task, b}
}

// ending is a task whose end is noted.
type ending struct {
	Task
	of *beginnings
}

func (e ending) Done() {
	e.of.mu.Lock()
	e.of.now--
	e.of.mu.Unlock()
	e.Task.Done()
}

// unfinished lists what lies in the folder of unfinished entries.
func unfinished(t *testing.T, out string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(out, "unfinished"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// A row whose language model is frozen says so in the table and competes for nothing; one whose model is trained is called as
// any other. What a router reads stands in a table of its own.
func TestALinearHeadOnAFrozenModelSaysSo(t *testing.T) {
	const said = "EntroRouter (linear head on a frozen LM)"
	for _, c := range []struct {
		tune spec.Tune
		want bool
	}{{spec.Tune{Part: "head"}, true}, {spec.Tune{Last: 1}, false}} {
		r := languageModel(t, c.tune)
		for i := range r.Experiment.Methods {
			if m := &r.Experiment.Methods[i]; m.Name == "entrorouter" {
				m.Label = "EntroRouter"
			}
		}
		result := runIn(t, r, t.TempDir())
		text := render(t, result)
		if got := strings.Contains(text, said); got != c.want {
			t.Errorf("%v: the tables have %q: %v\n%s", c.tune, said, got, text)
		}
		m, ok, err := result.Measurements.Find(metrics.Keys("arena", metrics.PaperArena, "method", "entrorouter", "benchmark", metrics.Average, "seed", "")...)
		v, has := m.Value(units.RouterTokens)
		if err != nil || !ok || !has || v.Number < 50 || v.Number > 1024 {
			t.Errorf("%v: the router reads %v tokens a query (%v, %v, %v)", c.tune, v.Number, ok, has, err)
		}
		if !strings.Contains(text, "Tokens/query") {
			t.Errorf("%v: no table of what routers read\n%s", c.tune, text)
		}
	}
}

// Milliseconds of routers stand beside their tokens. A run that finds everything stored prints the same, and nothing that is compared
// has them: neither measurements nor what is drawn from measurements alone.
func TestMillisecondsOfRoutersStandInTheTableAlone(t *testing.T) {
	r := languageModel(t, spec.Tune{Part: "full"})
	out := t.TempDir()
	first := runIn(t, r, out)
	again := runIn(t, r, out)
	for _, row := range []string{"sft", "entrorouter"} {
		if ms := first.RouterMS[row]; !(ms > 0 && ms < 1e5) || ms != again.RouterMS[row] {
			t.Errorf("%s took %v ms a question, read again %v", row, ms, again.RouterMS[row])
		}
	}
	if len(first.RouterMS) != 2 {
		t.Errorf("milliseconds of %v; want the rows that train a language model", first.RouterMS)
	}
	drawn := func(ms map[string]float64) map[string]string {
		files, err := present.Draw(&present.Run{Spec: r, Measurements: first.Measurements, RouterMS: ms}, results.FS, report.Terminal{}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]string{}
		for _, f := range files {
			by[f.Name] = string(f.Data)
		}
		return by
	}
	with, without := drawn(map[string]float64{"sft": 1.31, "entrorouter": 3}), drawn(nil)
	for name, text := range with {
		routers := strings.Contains(name, "-routers.")
		if routers != (text != without[name]) {
			t.Errorf("%s depends on milliseconds: %v", name, !routers)
		}
		if got := strings.Contains(strings.ToLower(without[name]), "ms/query"); got {
			t.Errorf("%s has milliseconds that nobody knows", name)
		}
	}
	for name, text := range with {
		if strings.HasSuffix(name, "-routers.md") && !(strings.Contains(text, "ms/query") && strings.Contains(text, " 3.0 |") && strings.Contains(text, " 1.3 |")) {
			t.Errorf("%s\n%s", name, text)
		}
	}
}

// On recorded answers, too, what a language model reads stands beside what it spends; rows that read nothing have no such number.
func TestTokensOfRoutersOnRecordedAnswersStandInTheTable(t *testing.T) {
	dir, _ := toy.Folder(t, ", k: 2", `
policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: head, rationale: none, max_tokens: 1024, compute: float32}
sft: {epochs: 1, batch: 64}
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: sft, kappa: "01"}
outputs: [{kind: table}]
`)
	result := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir})
	if n := find(t, result, "toy", "sft", "all", units.RouterTokens); n < 50 || n > 1024 {
		t.Errorf("the router reads %v tokens a question", n)
	}
	if m, ok, err := result.Measurements.Find(metrics.Keys("pool", "toy", "method", "strongest", "benchmark", "all", "seed", "")...); err != nil || !ok {
		t.Error(ok, err)
	} else if v, has := m.Value(units.RouterTokens); has {
		t.Errorf("a row that reads nothing reads %v tokens", v.Number)
	}
	if text := render(t, result); !strings.Contains(text, "tokens/query") {
		t.Errorf("no column of what routers read\n%s", text)
	}
}

// The frozen model is run once a text: what it made of texts is kept for rows that come later, whose numbers are those of a run of all. A
// row may have a compact network beside the experiment's language model, and one that trains no policy may read what the model made.
func TestAFrozenModelReadsRecordedQuestionsOnce(t *testing.T) {
	rows := []string{
		`{name: fixed, id: cheapest, params: {expert: cheapest}}`,
		`{name: sft, kappa: "01"}`,
		`{name: entrorouter, kappa: "01"}`,
		`{name: sft, id: compact, kappa: "01", params: {policy: {kind: compact, buckets: 16}}}`,
		`{name: entroplus, kappa: "01", params: {policy: {kind: compact, buckets: 16}, prior: 0}}`,
		`{name: logistic, id: states, kappa: "01", params: {features: {read: [vectors], vectors: {frozen: true}}}}`,
	}
	dir, _ := toy.Folder(t, ", k: 2", `
policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: head, rationale: none, max_tokens: 1024, compute: float32}
sft: {epochs: 1, batch: 64}
grpo: {steps: 2}
methods:
  - ROWS
outputs: [{kind: table}]
`)
	path := filepath.Join(dir, "constants.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run := func(out string, n int) *Result {
		toy.Put(t, path, strings.Replace(string(text), "ROWS", strings.Join(rows[:n], "\n  - "), 1))
		return runFile(t, path, Options{Out: filepath.Join(dir, out), Data: dir})
	}
	kept := func(out string) string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, out, "states", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %v, %v", files, err)
		}
		states, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(states)
	}
	run("out", 2)
	before := kept("out")
	later, all := run("out", len(rows)), run("all", len(rows))
	if after := kept("out"); after != before || len(after) == 0 {
		t.Errorf("%d bytes of states became %d", len(before), len(after))
	}
	if diff := cmp.Diff(all.Measurements, later.Measurements); diff != "" {
		t.Error(diff)
	}
	for _, row := range []string{"compact", "states"} {
		if _, ok, err := later.Measurements.Find(metrics.Keys("pool", "toy", "method", row, "benchmark", "all", "seed", "")...); err != nil || !ok {
			t.Errorf("no numbers of row %s: %v", row, err)
		}
	}
	if text := render(t, later); !strings.Contains(text, "states of the frozen language model") {
		t.Errorf("the table does not say what is read\n%s", text)
	}
}

// The study of a language model on recorded answers, without its model, which tests do not have.
func TestTheStudyOfALanguageModelOnRecordedAnswersIsPlanned(t *testing.T) {
	r := toy.Load(t, filepath.Join("..", "experiments", "lm-recorded.yaml"))
	r.Experiment.Policy.Model = &spec.LanguageModel{Arch: "qwen3", Hidden: 8, Inner: 8, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 8}
	_, err := protocol.Open(t.Context(), r, Options{Out: t.TempDir(), Look: true})
	if want := "spec lm-recorded reads recorded outcomes; say in which folder with --data DIR"; !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
		t.Errorf("without data: %v, want %s", err, want)
	}
	data := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(data, "outcomes")); err != nil {
		t.Skip("no data folder with recorded outcomes")
	}
	run, err := protocol.Open(t.Context(), r, Options{Out: t.TempDir(), Data: data, Look: true})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	x := &r.Experiment
	fits := 0
	for _, s := range run.Steps {
		if s.Row != nil {
			fits += s.Fits
		}
	}
	if want := len(x.Methods) * len(x.Folds.Seeds) * x.Folds.K; fits != want {
		t.Errorf("%d trainings are planned, want %d", fits, want)
	}
	frozen := 0
	for _, m := range x.Methods {
		if methods.RowTraits(m, x).FrozenTrunk() {
			frozen++
		}
	}
	if frozen != 9 {
		t.Errorf("%d rows are a head on the frozen model, want 9", frozen)
	}
}

// lm-tiny with less of Stage II, the whole way on XLA: the same training, within what float32 rounds, and the same decisions.
func TestXLAALanguageModelDecidesAsOnTheGoBackend(t *testing.T) {
	plugin := xlatest.Plugin(t)
	type fit struct {
		points    []train.Point
		decisions []routing.Decision
	}
	fits := map[string]map[string]fit{}
	for _, backend := range []string{"go", "xla"} {
		r := toy.Load(t, filepath.Join("..", "experiments", "lm-tiny.yaml"))
		x := &r.Experiment
		x.Policy.Backend, x.GRPO.Steps, x.Large, x.Outputs = backend, 2, 0, x.Outputs[:1]
		x.Methods = slices.DeleteFunc(x.Methods, func(m spec.Method) bool { return m.Name != "entrorouter" && m.Name != "sft" && m.Name != "fixed" })
		out := t.TempDir()
		if _, err := Run(t.Context(), r, Options{Out: out, Plugin: plugin}); err != nil {
			t.Fatal(err)
		}
		run, err := book.OpenRun(out, r.Experiment.Name)
		if err != nil {
			t.Fatal(err)
		}
		arenas, err := run.Arenas()
		if err != nil || len(arenas) != 1 {
			t.Fatalf("%d arenas: %v", len(arenas), err)
		}
		fits[backend] = map[string]fit{}
		for _, id := range []string{"sft", "entrorouter"} {
			row, ok := arenas[0].Row(id)
			if !ok {
				t.Fatalf("no row %s", id)
			}
			training := row.Trainings[0]
			decisions, err := arenas[0].Decisions(training)
			if err != nil {
				t.Fatal(err)
			}
			file, err := training.Entry.Open("curve.csv")
			if err != nil {
				t.Fatal(err)
			}
			curve, err := train.ReadCSV("curve.csv", file, arenas[0].IDs())
			if err := errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			fits[backend][id] = fit{curve.Points, decisions}
		}
	}
	// What float32 rounds grows with the steps, and by more than rounding as soon as a rollout of Stage II falls otherwise, which its reward shows: two steps
	// of it are few enough for the same rollouts.
	for id, apart := range map[string]float64{"sft": 1e-3, "entrorouter": 1e-2} {
		a, b := fits["go"][id], fits["xla"][id]
		if len(a.points) != len(b.points) || len(a.decisions) != len(b.decisions) || len(a.decisions) == 0 {
			t.Fatalf("%s: %d steps and %d decisions of Go, %d and %d of XLA", id, len(a.points), len(a.decisions), len(b.points), len(b.decisions))
		}
		loss, entropy, prob, asked := 0.0, 0.0, 0.0, map[int]int{}
		for i, p := range a.points {
			loss, entropy = max(loss, math.Abs(p.Loss-b.points[i].Loss)), max(entropy, math.Abs(p.Entropy-b.points[i].Entropy))
			if math.Abs(p.Reward-b.points[i].Reward) > 1e-4 { // NaN in Stage I
				t.Errorf("%s: step %d has the reward %v with Go and %v with XLA: other rollouts were drawn", id, i+1, p.Reward, b.points[i].Reward)
			}
		}
		for i, d := range a.decisions {
			other := b.decisions[i]
			asked[d.Expert]++
			if d.Problem != other.Problem || d.Expert != other.Expert {
				t.Errorf("%s: %s: Go asks %d (%v), XLA %d (%v)", id, d.Problem, d.Expert, d.Prob, other.Expert, other.Prob)
			}
			for m := range d.Prob {
				prob = max(prob, math.Abs(d.Prob[m]-other.Prob[m]))
			}
		}
		t.Logf("%s: of %d steps losses differ by %.1e, entropies by %.1e; of %d decisions probabilities by %.1e; experts are asked %v times", id, len(a.points), loss, entropy, len(a.decisions), prob, asked)
		if !(loss <= 1e-4 && entropy <= 1e-3 && prob <= apart) {
			t.Errorf("%s: losses differ by %.1e, entropies by %.1e, probabilities by %.1e; want 1e-4, 1e-3, %.0e", id, loss, entropy, prob, apart)
		}
		if len(asked) < 2 {
			t.Errorf("%s: every problem has the same expert, so that agreement says little", id)
		}
	}
}
