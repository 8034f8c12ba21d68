package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// standIn answers like a vLLM server of the paper's models would: right or wrong, with thinking in each of the three
// places where servers put it, cut at the limit, and sometimes without an answer. What it says follows from the
// model, the problem and the seed of the request alone.
type standIn struct {
	t      *testing.T
	golds  map[string]string  // answer by text of the problem
	skill  map[string]float64 // model -> share of right answers
	limits map[string]int     // model -> max_tokens that requests must carry
	topK   []int              // that they may carry
	key    string             // that requests must carry; empty: any

	mu    sync.Mutex
	asked map[string]int // by model
}

const instruction = "\n\nPlease reason step by step, and put your final answer within \\boxed{}."

// kinds of what a stand-in says.
const (
	right = iota
	wrong
	truncated
	silent
)

// kind decides what a model says about a problem in a request.
func (s *standIn) kind(model, text string, requestSeed uint64) int {
	u := seed.Derive("stand-in", model, text, requestSeed).Uniform()
	p := s.skill[model]
	switch {
	case u < p:
		return right
	case u < p+0.05:
		return truncated
	case u < p+0.08:
		return silent
	}
	return wrong
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		var data []map[string]any
		for _, m := range slices.Sorted(maps.Keys(s.skill)) {
			data = append(data, map[string]any{"id": m, "object": "model", "max_model_len": s.limits[m] + 8192})
		}
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
		return
	}
	if r.URL.Path != "/v1/chat/completions" { // it has no /health and no /tokenize, as some servers
		http.NotFound(w, r)
		return
	}
	if got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); s.key != "" && got != s.key {
		s.t.Errorf("asked with the key %q, want %q", got, s.key)
	}
	var q struct {
		Model       string
		Messages    []struct{ Role, Content string }
		Seed        uint64
		MaxTokens   int `json:"max_tokens"`
		Temperature float64
		TopP        float64 `json:"top_p"`
		TopK        int     `json:"top_k"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) != 1 {
		s.t.Errorf("request: %v, %d messages", err, len(q.Messages))
	}
	if q.MaxTokens != s.limits[q.Model] || q.Temperature != 0.6 || q.TopP != 0.95 || !slices.Contains(s.topK, q.TopK) {
		s.t.Errorf("%s was asked with max_tokens %d, temperature %g, top_p %g, top_k %d", q.Model, q.MaxTokens, q.Temperature, q.TopP, q.TopK)
	}
	text, ok := strings.CutSuffix(q.Messages[0].Content, instruction)
	gold, known := s.golds[text]
	if !ok || !known {
		s.t.Errorf("unknown problem %.80q", q.Messages[0].Content)
	}
	s.mu.Lock()
	s.asked[q.Model]++
	s.mu.Unlock()

	answer, tokens, finish := "The answer is \\boxed{"+gold+"}.", 100+int(q.Seed%1000), "stop"
	switch s.kind(q.Model, text, q.Seed) {
	case wrong:
		answer = "Hence \\boxed{-987654321}."
	case truncated:
		answer, tokens, finish = "So far I have \\boxed{"+gold+"}, but wait", q.MaxTokens, "length"
	case silent:
		answer = ""
	}
	message := map[string]any{"role": "assistant", "content": answer}
	switch thought := fmt.Sprintf("With seed %d a first guess is \\boxed{-55555}.", q.Seed); q.Seed % 3 {
	case 0:
		message["reasoning_content"] = thought
	case 1:
		message["reasoning"] = thought
	default:
		message["content"] = "<think>" + thought + "</think>" + answer
	}
	json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": 50, "completion_tokens": tokens, "total_tokens": 50 + tokens},
	})
}

func newStandIn(t *testing.T) (*standIn, string) {
	s := &standIn{
		t: t, golds: map[string]string{}, asked: map[string]int{},
		skill:  map[string]float64{"Qwen3-4B-Thinking-2507": 0.4, "Qwen3-30B-A3B-Thinking-2507": 0.6, "Qwen3-235B-A22B-Thinking-2507": 0.8, "Qwen3-1.7B": 0.3},
		limits: map[string]int{"Qwen3-4B-Thinking-2507": 32768, "Qwen3-30B-A3B-Thinking-2507": 32768, "Qwen3-235B-A22B-Thinking-2507": 60000, "Qwen3-1.7B": 32768},
		topK:   []int{20},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL + "/v1"
}

// total returns how many responses were asked for since the last call.
func (s *standIn) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, k := range s.asked {
		n += k
	}
	clear(s.asked)
	return n
}

// builtin returns a built-in file with the addresses of its servers replaced.
func builtin(t *testing.T, name, url string) string {
	t.Helper()
	data, err := experiments.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`http://localhost:\d+/v1"`).ReplaceAllString(string(data), url+`"`)
}

// liveSpec is live.yaml made small.
func liveSpec(t *testing.T, train int, evaluate string) string {
	t.Helper()
	text := builtin(t, "live.yaml", "")
	small := strings.ReplaceAll(text, "size: 7472", fmt.Sprint("size: ", train))
	if small == text {
		t.Fatal("live.yaml has other sizes: adapt this test")
	}
	return small + "\nsft: {epochs: 1, batch: 16}\ngrpo: {steps: 2, batch: 16, group: 4}\nevaluate: " + evaluate + "\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// command runs the command in this process and wants it to succeed.
func command(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(append([]string{"entrorouter"}, args...), nil, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if errs.Len() > 0 {
		t.Errorf("standard error: %s", errs.String())
	}
	return out.String()
}

// liveData makes benchmarks of the given sizes and a data folder, and tells the server the answers.
func liveData(t *testing.T, server *standIn, dir string, sets map[string]int) {
	t.Helper()
	var benchmarks strings.Builder
	n := 0
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		var lines strings.Builder
		for i := range sets[name] {
			n++
			text, gold := fmt.Sprintf("Let $x + %d = %d$. Find $x$.", n, 3*n), fmt.Sprint(2*n)
			if name == "math-train" && i == 1 { // a text that occurs twice is asked once and counts twice
				text, gold = fmt.Sprintf("Let $x + %d = %d$. Find $x$.", n-1, 3*(n-1)), fmt.Sprint(2*(n-1))
			}
			server.golds[text] = gold
			line, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "problem": text, "answer": gold})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, "%s\n", line)
		}
		write(t, filepath.Join(dir, "data", name+".jsonl"), lines.String())
		split, runs := "test", 2
		if name == "math-train" {
			split, runs = "train", 1
		}
		fmt.Fprintf(&benchmarks, "%s: {title: %s, split: %s, runs: %d, size: %d, file: {path: %s.jsonl, sha256: %x, source: made up, licence: none}}\n",
			name, name, split, runs, sets[name], name, sha256.Sum256([]byte(lines.String())))
	}
	write(t, filepath.Join(dir, "benchmarks.yaml"), benchmarks.String())
}

// The paper's own setting, end to end, against stand-ins of its servers and a small data folder.
func TestTheLiveSpecRunsAgainstServers(t *testing.T) {
	server, url := newStandIn(t)
	server.key = "secret"
	t.Setenv("ENTROROUTER_API_KEY", server.key)
	dir := t.TempDir()
	const train, test = 24, 5
	sets := map[string]int{"math-train": train, "hmmt-feb25": test, "aime25": test, "olympiadbench": test, "aime24": test, "amc": test, "math500": test}
	liveData(t, server, dir, sets)
	write(t, filepath.Join(dir, "live.yaml"), liveSpec(t, train, "{seeds: [1], bootstrap: 50}"))
	write(t, filepath.Join(dir, "pools", "vllm.yaml"), builtin(t, "pools/vllm.yaml", url))

	args := []string{"run", filepath.Join(dir, "live.yaml"), "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "out"), "--figures", filepath.Join(dir, "fig")}
	first := command(t, args...)
	// Profiles: 5 rollouts of 4 models on every training text and of 3, without the probe, on every test problem;
	// evaluation: 2 runs of all 4, the probe as the router alone, on every test problem.
	if got, want := server.total(), (train-1)*5*4+6*test*5*3+6*test*2*4; got != want {
		t.Errorf("%d responses were asked for, want %d", got, want)
	}
	if again := command(t, args...); untimed(again) != untimed(first) {
		t.Errorf("the second run printed\n%s\nthe first\n%s", again, first)
	}
	if n := server.total(); n != 0 {
		t.Errorf("the second run asked for %d responses", n)
	}
	for _, want := range []string{"Main results with served experts", "HMMT Feb 25|hmmt-feb25", "What became of the rollouts", "Oracle"} {
		if !regexp.MustCompile(want).MatchString(first) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}

	// The server knows what it said: every fixed expert's accuracy and buckets on a benchmark, by hand.
	set := measured(t, filepath.Join(dir, "fig"), "live")
	unitsAreDocumented(t, set)
	for _, x := range []struct{ id, model string }{{"qwen3-4b", "Qwen3-4B-Thinking-2507"}, {"qwen3-30b", "Qwen3-30B-A3B-Thinking-2507"}, {"qwen3-235b", "Qwen3-235B-A22B-Thinking-2507"}} {
		said := map[int]float64{}
		r, err := problems.JSONL{Dir: filepath.Join(dir, "data"), Benchmarks: spec.Benchmarks{"amc": {Size: test, Split: "test", File: fileOf(t, dir, "amc")}}}.Load(t.Context(), "amc")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r {
			for run := range 2 {
				s := seed.Seed(1).Derive("rollout", "test", p.Text, x.id, run)
				said[server.kind(x.model, p.Text, uint64(s)&(1<<53-1))]++
			}
		}
		m, ok, err := set.Find(metrics.Key{Name: "arena", Value: "paper"}, metrics.Key{Name: "method", Value: x.id}, metrics.Key{Name: "benchmark", Value: "amc"})
		if err != nil || !ok {
			t.Fatalf("%s on amc: %v %v", x.id, ok, err)
		}
		for unit, want := range map[string]float64{
			"accuracy-%": 100 * said[right] / (2 * test), "correct": said[right], "wrong": said[wrong], "truncated": said[truncated],
			"no-answer": said[silent], "ungraded": 0,
		} {
			if v, ok := m.Value(unit); !ok || math.Abs(v.Number-want) > 1e-9 {
				t.Errorf("%s on amc: %s is %v, want %v", x.id, unit, v.Number, want)
			}
		}
	}
}

func fileOf(t *testing.T, dir, name string) *spec.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "data", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return &spec.File{Path: name + ".jsonl", SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
}

// The same on the real benchmarks, a few problems of each, where the data folder is there.
func TestTheLiveSpecReadsTheRealBenchmarks(t *testing.T) {
	data := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(data, "benchmarks")); err != nil {
		t.Skip("no data folder with the real benchmarks")
	}
	server, url := newStandIn(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "live.yaml"), liveSpec(t, 12, "{seeds: [1], bootstrap: 50, max_problems: 3, max_runs: 2}"))
	write(t, filepath.Join(dir, "pools", "vllm.yaml"), builtin(t, "pools/vllm.yaml", url))
	fsys, name, err := spec.Find(filepath.Join(dir, "live.yaml"), experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.Load(fsys, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	source := problems.JSONL{Dir: data, Benchmarks: r.Benchmarks}
	for _, name := range source.Names() {
		all, err := source.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			server.golds[p.Text] = p.Gold[0]
		}
	}
	out := command(t, "run", filepath.Join(dir, "live.yaml"), "--data", data, "--out", filepath.Join(dir, "out"), "--figures", "")
	// 1 run on olympiadbench and math500, 2 on the other four.
	if got, want := server.total(), 12*5*4+6*3*5*3+(2*1+4*2)*3*4; got != want {
		t.Errorf("%d responses were asked for, want %d", got, want)
	}
	if !strings.Contains(out, "paper") {
		t.Errorf("no row of the paper in\n%s", out)
	}
}
