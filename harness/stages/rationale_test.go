package stages

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// tinyWriter is the policy of a row that writes up to 24 tokens.
const tinyWriter = "policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: full, rationale: cot, writes: {tokens: 24}, max_tokens: 600, compute: float32}"

// taughtBy is a training of a policy that writes, whose teacher says what say says, and the prompts that it is asked with.
func taughtBy(t testing.TB, name string, say func(prompt string, a experts.Ask) string) (*Training, *[]string) {
	t.Helper()
	m := build(t, name, tinyWriter)
	asked := &[]string{}
	m.With.Teacher = &Teacher{
		Teacher:  spec.Teacher{Model: "teacher", Temperature: 1, TopP: 1, MaxTokens: 100, Attempts: 3},
		Endpoint: experts.Endpoint{Expert: routing.Expert{ID: "teacher", Model: "teacher", MaxTokens: 100}},
		Servers: asker(func(s spec.Sampling, a experts.Ask) string {
			prompt := experts.Prompt(s.Prompt, a.Text)
			*asked = append(*asked, prompt)
			return say(prompt, a)
		}),
	}
	m.With.Models = lm.NewModels(1<<20, "")
	t.Cleanup(func() { m.With.Models.Close() })
	m.SFT.Epochs, m.SFT.Batch, m.GRPO.Steps, m.GRPO.Batch, m.GRPO.Group = 1, 8, 1, 4, 2
	return m, asked
}

// asker is an Asker that is a function.
type asker func(s spec.Sampling, a experts.Ask) string

func (f asker) Ask(_ context.Context, _ experts.Endpoint, s spec.Sampling, asks []experts.Ask) (out []experts.Completion, err error) {
	for _, a := range asks {
		out = append(out, experts.Completion{Text: f(s, a), Finish: routing.Stop})
	}
	return out, nil
}

// three are a problem that everybody solves, one that the two dearer ones do, and one that the strongest alone does.
func three() routing.TrainSet {
	set := routingtest.Planted(3)
	for i, kappa := range [][]float64{{1, 1, 1}, {0, 1, 1}, {0, 0, 1}} {
		set.SFT[i].Kappa, set.SFT[i].Probe = kappa[:len(set.Experts)], 0
	}
	return set
}

func TestWhatATeacherWritesIsReadStrictly(t *testing.T) {
	ids := []string{"small", "large"}
	for answer, want := range map[string][2]string{
		"Easy sums.\n{\"model\": \"small\"}":                                      {"Easy sums.", ""},
		"  <think>small it is</think>\nTwo\n steps. \n\n{\"model\": \"small\"}\n": {"Two steps.", ""},
		"Easy sums.\n{\"model\": \"large\"}":                                      {"Easy sums.", otherChoice},
		"Easy sums.":                                                              {"", otherChoice},
		"{\"model\": \"small\"}":                                                  {"", emptyText},
		"So small.\n{\"model\": \"small\"}":                                       {"So small.", namesExpert},
		"Not large.\n{\"model\": \"small\"}":                                      {"Not large.", namesExpert},
		"Smaller sums.\n{\"model\":\"small\"}":                                    {"Smaller sums.", ""},
		"":                                                                        {"", otherChoice},
	} {
		if text, fault := readRationale(answer, "small", ids); text != want[0] || fault != want[1] {
			t.Errorf("%q is read as %q, %q; want %q", answer, text, fault, want)
		}
	}
}

// The examples that a policy which writes is trained on: the rationale of each before its whole soft target; of a problem that only
// the strongest solves, two that differ, each of half its weight. What cannot be used is asked for again, with another seed.
func TestStageOneLearnsRationales(t *testing.T) {
	refused := 0
	e, asked := taughtBy(t, "sft", func(prompt string, a experts.Ask) string {
		chosen, ok := experts.ReadChosen(prompt)
		if !ok {
			t.Fatalf("prompt\n%s\nasks for no rationale", prompt)
		}
		if refused < 2 { // the first two answers cannot be used
			refused++
			return []string{"", "It is " + chosen + "\n"}[refused-1] + fmt.Sprintf(`{"model": %q}`, chosen)
		}
		return fmt.Sprintf("Copy %d.\n{\"model\": %q}", a.Run, chosen)
	})
	set := three()
	work := routingtest.Work(1)
	work.Dir = t.TempDir()
	reader, err := e.newPolicy(t.Context(), set.Experts, routing.Texts(set.SFT))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := e.examples(t.Context(), reader, set.SFT, len(set.Experts)-1, 1)
	if err != nil {
		t.Fatal(err)
	}
	examples, err := e.taught(t.Context(), reader, set, plain, work)
	if err != nil {
		t.Fatal(err)
	}
	var weight, want float64
	for _, x := range plain {
		want += x.Weight
	}
	by := map[string][]train.Example{}
	for _, x := range examples {
		weight += x.Weight
		problem, _, _ := strings.Cut(x.ID, " rationale ")
		by[problem] = append(by[problem], x)
		if len(x.Row.Written) < 3 {
			t.Errorf("example %s has the rationale %v", x.ID, x.Row.Written)
		}
	}
	if math.Abs(weight-want) > 1e-12 {
		t.Errorf("the examples weigh %v, without rationales %v", weight, want)
	}
	for i, x := range plain {
		got := by[x.ID]
		if n := copies(x); len(got) != n || got[0].Prob[0] != x.Prob[0] {
			t.Errorf("problem %d, of weight %v, has %d examples, want %d", i, x.Weight, len(got), n)
		} else if n == 2 && (fmt.Sprint(got[0].Row.Written) == fmt.Sprint(got[1].Row.Written) || got[0].Weight != x.Weight/2) {
			t.Errorf("its two are %+v", got)
		}
	}
	if len(*asked) != len(examples)+refused {
		t.Errorf("%d answers were asked for; %d can be used and %d cannot", len(*asked), len(examples), refused)
	}
	kept, err := os.ReadFile(filepath.Join(work.Dir, rationalesFile))
	if err != nil || strings.Count(string(kept), "\n") != len(examples)+1 || !strings.Contains(string(kept), ",2,,Copy 0.") {
		t.Errorf("%s holds\n%s(%v)", rationalesFile, kept, err)
	}
}

func TestATeacherThatSaysNothingOfUseLeavesTheRowUnfitted(t *testing.T) {
	e, asked := taughtBy(t, "sft", func(prompt string, a experts.Ask) string { return "no" })
	_, err := e.Fit(t.Context(), three(), routingtest.Work(1))
	if err == nil || !strings.Contains(err.Error(), "none of the 4 rationales of Stage I that teacher wrote can be used") {
		t.Errorf("error is %v", err)
	}
	if len(*asked) != 12 {
		t.Errorf("%d questions for 4 rationales of 3 attempts", len(*asked))
	}
	e, _ = taughtBy(t, "sft", func(prompt string, a experts.Ask) string {
		chosen, _ := experts.ReadChosen(prompt)
		return strings.Repeat("Longer and longer. ", 30) + fmt.Sprintf("\n{\"model\": %q}", chosen)
	})
	if _, err := e.Fit(t.Context(), three(), routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "fault: too long") {
		t.Errorf("error is %v", err)
	}
}

// Both stages train; the router's decisions come back from what it left, and count what it writes.
func TestARouterThatWritesIsTrainedAndLoaded(t *testing.T) {
	e, _ := taughtBy(t, "entrorouter", eachCopy)
	w := routingtest.Work(1)
	w.Dir = t.TempDir()
	set := three()
	set.RL = set.SFT
	r, err := e.Fit(t.Context(), set, w)
	if err != nil {
		t.Fatal(err)
	}
	defer r.(*Router).Close()
	again := routingtest.Work(1)
	again.Dir = t.TempDir()
	loaded, err := e.Load(t.Context(), set.Experts, w.Dir, again)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.(*Router).Close()
	want, err := os.ReadFile(filepath.Join(w.Dir, rationalesFile))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(again.Dir, rationalesFile)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a loaded router leaves other rationales than its fit: %v", err)
	}
	qs := []routing.Query{{Problem: set.SFT[0].Problem}, {Problem: set.SFT[2].Problem}}
	one, two := routingtest.Route(t, r, qs), routingtest.Route(t, loaded, qs)
	for i := range one {
		if one[i].Expert != two[i].Expert || one[i].Usage != two[i].Usage {
			t.Errorf("decision %+v becomes %+v", one[i], two[i])
		}
		if out := one[i].Usage.Out; out < 2 || out > 25 {
			t.Errorf("%d tokens were written", out)
		}
	}
}

func TestAWriterNeedsItsKeyAndAFolder(t *testing.T) {
	e, _ := taughtBy(t, "entrorouter", nil)
	e.With.Writer = &spec.Writer{URL: "http://localhost:1/v1", KeyEnv: "NO_SUCH_KEY_OF_A_WRITER", Flight: 1}
	asked := func(w routing.Work) error {
		_, err := e.writer(w)(t.Context(), nil, nil, nil, 1, true, 0)
		return err
	}
	w := routingtest.Work(1)
	w.Unfinished = t.TempDir()
	if err := asked(w); err == nil || !strings.Contains(err.Error(), "NO_SUCH_KEY_OF_A_WRITER, which is to hold the key of http://localhost:1/v1, is not set") {
		t.Errorf("error is %v", err)
	}
	t.Setenv("NO_SUCH_KEY_OF_A_WRITER", "sesame")
	if err := asked(routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "set writer.folder") {
		t.Errorf("error is %v", err)
	}
	into := func(w routing.Work, want string) {
		t.Helper()
		if s, err := e.writerServer(w); err != nil || s.Folder != want || s.Key != "sesame" || e.writer(w) == nil {
			t.Errorf("adapters go to %+v, want %s (%v)", s, want, err)
		}
	}
	into(w, w.Unfinished)
	e.With.Handover = t.TempDir()
	into(w, w.Unfinished)
	into(routingtest.Work(1), e.With.Handover)
	e.With.Writer.Folder = t.TempDir()
	into(w, e.With.Writer.Folder)
}

// eachCopy is a teacher whose rationales are used: each leads to the choice that it is shown, and says which copy it is.
func eachCopy(prompt string, a experts.Ask) string {
	chosen, _ := experts.ReadChosen(prompt)
	return fmt.Sprintf("Copy %d.\n{\"model\": %q}", a.Run, chosen)
}

// A router that a server wrote for in training is loaded where nobody can write: its weights are exported, and it says what is missing once it is asked.
func TestARouterOfAWriterIsLoadedWithoutIt(t *testing.T) {
	e, _ := taughtBy(t, "sft", eachCopy)
	w := routingtest.Work(1)
	w.Dir = t.TempDir()
	r, err := e.Fit(t.Context(), three(), w)
	if err != nil {
		t.Fatal(err)
	}
	r.(*Router).Close()
	e.With.Writer = &spec.Writer{URL: "http://localhost:1/v1", Flight: 1}
	loaded, err := e.Load(t.Context(), three().Experts, w.Dir, routingtest.Work(1))
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.(*Router).Close()
	_, err = loaded.Route(t.Context(), []routing.Query{{Problem: three().SFT[0].Problem}})
	if err == nil || !strings.Contains(err.Error(), "set writer.folder") {
		t.Errorf("error is %v", err)
	}
}
