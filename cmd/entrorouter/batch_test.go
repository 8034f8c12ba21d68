package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// servedSpec writes into dir a spec whose experts are behind a server on loopback that simulates them, and its problems in files. It
// returns the URL of the server.
func servedSpec(t *testing.T, dir string) (url string) {
	t.Helper()
	fsys, name, err := spec.Find("smoke", experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.Load(fsys, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	pool := r.Pools[0]
	members, err := steps.OpenPool(pool, r.Prices)
	if err != nil {
		t.Fatal(err)
	}
	var known problems.Index
	var benchmarks, experts strings.Builder
	for _, b := range []struct {
		name, split string
		size        int
	}{{"sim-train-sft", "train", 12}, {"sim-aime25", "test", 4}} {
		pop, err := problems.NewPopulation(b.name, r.Benchmarks[b.name], pool.Simulation)
		if err != nil {
			t.Fatal(err)
		}
		ps, latents, err := problems.Generate(t.Context(), 1, pop, problems.Sized, b.size)
		if err != nil {
			t.Fatal(err)
		}
		if err := known.Add(ps, latents); err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, p := range ps {
			line, err := json.Marshal(map[string]string{"id": p.ID, "problem": p.Text, "answer": p.Gold[0]})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, "%s\n", line)
		}
		write(t, filepath.Join(dir, "data", b.name+".jsonl"), lines.String())
		fmt.Fprintf(&benchmarks, "files-%s: {title: %s, split: %s, runs: 2, size: %d, file: {path: %s.jsonl, sha256: %x, source: made up, licence: none}}\n",
			b.name, b.name, b.split, b.size, b.name, sha256.Sum256([]byte(lines.String())))
	}
	write(t, filepath.Join(dir, "benchmarks.yaml"), benchmarks.String())

	simulated, err := sim.New(pool, members.Members(), seed.Seed(1), known.Lookup, problems.Distractor)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.NewServer(simulated, vllm.Options{Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(server.Close)
	url = server.URL + "/v1"
	for i, e := range members.Members() {
		x := fmt.Sprintf("{id: %s, model: %s, params: %v, max_tokens: %d, url: %q}", e.ID, e.Model, e.Params, e.MaxTokens, url)
		if i == len(members.Experts) {
			fmt.Fprintf(&experts, "probe: %s\n", x)
		} else {
			fmt.Fprintf(&experts, "  - %s\n", x)
		}
	}
	write(t, filepath.Join(dir, "pools", "served.yaml"), "name: served\nkind: http\nsampling: {temperature: 0.6, top_p: 0.95, top_k: 20, prompt: \"{problem}\"}\nexperts:\n"+experts.String())
	write(t, filepath.Join(dir, "served.yaml"), `
name: served
base: base.yaml
title: Served
pools: [served]
prices: paper-novita
train: {sft: {benchmark: files-sim-train-sft, size: 12}, rl: {benchmark: files-sim-train-sft, size: 12}}
test: [files-sim-aime25]
evaluate: {seeds: [1], bootstrap: 20}
methods: [{name: random}, {name: oracle}, {name: fixed, params: {expert: strongest}}, {name: knn}, {name: mixture, match: knn}]
outputs: [{kind: table}]
`)
	return url
}

// answerShard has a server answer the requests of a shard, and writes the results as vllm run-batch does. Lines that fail gets are
// replaced by what it returns.
func answerShard(t *testing.T, url, shard, results string, fail func(customID string) string) {
	t.Helper()
	f, err := os.Open(shard)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var q struct {
			CustomID    string `json:"custom_id"`
			Method, URL string
			Body        json.RawMessage
		}
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil || q.Method != http.MethodPost || q.URL != "/v1/chat/completions" || !regexp.MustCompile(`^[\w-]{1,64}$`).MatchString(q.CustomID) {
			t.Fatalf("%s: %s: %v", shard, s.Text(), err)
		}
		if line := fail(q.CustomID); line != "" {
			fmt.Fprintln(&out, line)
			continue
		}
		response, err := http.Post(strings.TrimSuffix(url, "/v1")+q.URL, "application/json", bytes.NewReader(q.Body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", response.Status, body, err)
		}
		fmt.Fprintf(&out, `{"id":"vllm-1","custom_id":"%s","response":{"status_code":200,"request_id":"vllm-batch-1","body":%s},"error":null}`+"\n", q.CustomID, bytes.TrimSpace(body))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	write(t, results, out.String())
}

// fails runs the command in this process and returns its one sentence.
func fails(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(append([]string{"entrorouter"}, args...), nil, &out, &errs); got != code || strings.Count(errs.String(), "\n") != 1 {
		t.Fatalf("%q: exit code %d, want %d, and one sentence: %s%s", args, got, code, out.String(), errs.String())
	}
	return errs.String()
}

// What is asked through batch files gives the numbers of a run that asks by itself.
func TestBatchesBringWhatARunWouldAskFor(t *testing.T) {
	dir := t.TempDir()
	url := servedSpec(t, dir)
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	spec, data := in("served.yaml"), in("data")
	command(t, "run", spec, "--data", data, "--out", in("asked"), "--figures", in("fig"))
	want, err := os.ReadFile(in("fig", "served/measurements.txt"))
	if err != nil {
		t.Fatal(err)
	}

	batch := func(args ...string) []string {
		return append([]string{"batch", "--data", data, "--out", in("out")}, args...)
	}
	printed := command(t, batch("export", spec, "--dir", in("batch"), "--shard", "40")...)
	// 12 problems in 5 runs of everybody, and 4 in 2 of the experts.
	for _, line := range []string{`(?m)^qwen3-4b: requests 68 \(at most \d\S+ tokens, \$\d+\.\d\d\), shards 2$`, `(?m)batch: requests 264 \(at most .*\), shards 8$`} {
		if !regexp.MustCompile(line).MatchString(printed) {
			t.Errorf("no %q in\n%s", line, printed)
		}
	}
	shards, err := filepath.Glob(in("batch", "*"))
	if err != nil || len(shards) != 8 || filepath.Base(shards[7]) != "qwen3-4b-0002.jsonl" {
		t.Fatalf("shards %v, %v", shards, err)
	}
	var results []string
	refused, expired := "", ""
	slices.Reverse(shards)
	for _, shard := range shards {
		file := in("results", filepath.Base(shard))
		results = append(results, file)
		answerShard(t, url, shard, file, func(id string) string {
			switch {
			case refused == "":
				refused = id
				return fmt.Sprintf(`{"id":"vllm-2","custom_id":"%s","response":{"status_code":400,"request_id":"vllm-batch-2","body":null},"error":{"error":{"message":"the window is too small\u001b[31m","code":400}}}`, id)
			case expired == "":
				expired = id
				return fmt.Sprintf(`{"id":"batch_req_3","custom_id":"%s","response":null,"error":{"code":"batch_expired","message":"not executed in time"}}`, id)
			}
			return ""
		})
	}

	// What is not right is named, and nothing is kept.
	whole, err := os.ReadFile(results[1])
	if err != nil {
		t.Fatal(err)
	}
	counting := regexp.MustCompile(`"completion_tokens":\d+,`)
	for name, x := range map[string]struct{ text, want string }{
		"half":    {string(whole[:len(whole)-9]), `half:40: the last line ends in the middle`},
		"broken":  {"no\n" + string(whole), `broken:1: not a line of batch results`},
		"shard":   {`{"custom_id":"x","body":{}}`, `shard:1: holds neither a response nor an error`},
		"less":    {counting.ReplaceAllString(string(whole), `"completion_tokens":-7,`), `less:1: completion_tokens is -7, and max_tokens 32768: correct the line, or take it out`},
		"more":    {counting.ReplaceAllString(string(whole), `"completion_tokens":1e20,`), `more:1: completion_tokens is 1e\+20, and max_tokens 32768: `},
		"unknown": {string(whole) + `{"custom_id":"p17-r3","response":{"status_code":200,"body":{}},"error":null}`, `unknown:41: custom_id "p17-r3" is of no answer that spec served wants`},
	} {
		write(t, in(name), x.text)
		if said := fails(t, exitFailed, batch("import", spec, results[0], in(name))...); !regexp.MustCompile(x.want).MatchString(said) {
			t.Errorf("%s: %s", name, said)
		}
	}
	write(t, in("empty"), "")
	write(t, in("blank"), "\n \n")
	for want, files := range map[string][]string{
		in("results") + ` is a folder; name files of results, as in .*results/\*\.jsonl`:      {results[0], in("results")},
		in("nowhere") + `: no such file or directory; name files of results`:                  {results[0], in("nowhere")},
		`there is nothing in ` + in("empty") + `, ` + in("blank") + `; name files of results`: {in("empty"), in("blank")},
	} {
		if said := fails(t, exitUsage, batch(append([]string{"import", spec}, files...)...)...); !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("%q: %s", files, said)
		}
	}
	if said := command(t, "status", "--out", in("out")); !strings.Contains(said, "nothing was asked") {
		t.Errorf("something was kept:\n%s", said)
	}
	if said := fails(t, exitIncomplete, "run", spec, "--data", data, "--out", in("out"), "--figures", "", "--offline"); !strings.Contains(said, "rollouts of qwen3-4b are not stored") {
		t.Error(said)
	}

	// In any order, in parts, and twice; a byte order mark is borne.
	write(t, results[1], "\ufeff"+string(whole))
	slices.Reverse(results)
	if got := command(t, batch(append([]string{"import", spec, in("empty")}, results[:3]...)...)...); got != in("empty")+": there is nothing in it\nserved: answers 100, failures 0, known before 0\n" {
		t.Error(got)
	}
	var told, warned bytes.Buffer // of failures the first is said
	code := run(append([]string{"entrorouter"}, batch(append([]string{"import", spec}, append(results, results...)...)...)...), nil, &told, &warned)
	if code != exitOK || told.String() != "served: answers 162, failures 2, known before 364\n" || !regexp.MustCompile(`^\S+ level=WARN msg="a request failed" err="expert qwen3-4b: answered 400 Bad Request: the window is too small.*"\n$`).Match(warned.Bytes()) {
		t.Errorf("exit code %d: %s%s", code, told.String(), warned.String())
	}
	before := command(t, "status", "--out", in("out"))
	for _, line := range []string{`(?m)^Qwen3-4B-Thinking-2507 +train +58 +0 +2 +0 +0 `, `requests without an answer: refused 1, unavailable 1`} {
		if !regexp.MustCompile(line).MatchString(before) {
			t.Errorf("no %q in\n%s", line, before)
		}
	}
	if got := command(t, batch(append([]string{"import", spec}, results...)...)...); got != "served: answers 0, failures 0, known before 264\n" {
		t.Error(got)
	}
	if after := command(t, "status", "--out", in("out")); regexp.MustCompile(`last minute.*`).ReplaceAllString(after, "") != regexp.MustCompile(`last minute.*`).ReplaceAllString(before, "") {
		t.Errorf("after importing again:\n%s\nbefore:\n%s", after, before)
	}
	if said := command(t, "fsck", "--out", in("out")); !strings.Contains(said, "264 attempts; faults: 0") {
		t.Error(said)
	}

	// Only what may be had is exported again, and an answer takes the place of a failure.
	if got := command(t, batch("export", spec, "--dir", in("rest"))...); !strings.Contains(got, "rest: requests 1 (") {
		t.Error(got)
	}
	again := in("again")
	answerShard(t, url, in("rest", "qwen3-4b-0001.jsonl"), again, func(id string) string {
		if id != expired {
			t.Errorf("exported again: %s, want %s", id, expired)
		}
		return ""
	})
	if got := command(t, batch("import", spec, again)...); got != "served: answers 1, failures 0, known before 0\n" {
		t.Error(got)
	}
	// The server that refused has been given a larger window, and its batch was run by hand.
	shard, err := os.ReadFile(in("batch", "qwen3-4b-0002.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(shard), "\n")
	write(t, in("one"), first+"\n")
	answerShard(t, url, in("one"), again, func(string) string { return "" })
	if got := command(t, batch("import", spec, again, in("again"))...); got != "served: answers 1, failures 0, known before 1\n" {
		t.Error(got)
	}
	if got := command(t, batch("export", spec, "--dir", in("nothing"))...); got != "served: nothing is to be asked for, and nothing was written\n" {
		t.Error(got)
	}
	if _, err := os.Stat(in("nothing")); err == nil {
		t.Error("an empty folder was made")
	}
	command(t, "run", spec, "--data", data, "--out", in("out"), "--figures", in("fig2"), "--offline")
	got, err := os.ReadFile(in("fig2", "served/measurements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("measurements of batches:\n%s\nof a run that asks:\n%s", got, want)
	}
	if got := command(t, batch("import", spec, results[0])...); got != "served: answers 0, failures 0, known before 40\n" {
		t.Error("after the run:", got)
	}
}

// Of a problem that an expert did not answer it is shown what was sent, what came and what went wrong, without what could
// command a terminal.
func TestAProblemWithoutAnAnswerIsShown(t *testing.T) {
	dir := t.TempDir()
	url := servedSpec(t, dir)
	spec, batch := filepath.Join(dir, "served.yaml"), filepath.Join(dir, "batch")
	er := func(args ...string) string {
		return command(t, append(args, "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "out"))...)
	}
	er("batch", "export", spec, "--dir", batch)
	shards, err := filepath.Glob(filepath.Join(batch, "*"))
	if err != nil || len(shards) != 4 {
		t.Fatalf("%q %v", shards, err)
	}
	results := []string{"batch", "import", spec}
	for _, shard := range shards {
		file := shard + ".results"
		results = append(results, file)
		n := 0
		answerShard(t, url, shard, file, func(id string) string {
			if n++; filepath.Base(shard) != "qwen3-4b-0001.jsonl" {
				return ""
			}
			switch n { // the two runs of the last test problem
			case 67:
				return fmt.Sprintf(`{"custom_id":"%s","response":{"status_code":200,"body":{"choices":[{"message":{"content":"\u001b[31mred \u202e\u009b","reasoning":"I think."},"finish_reason":"stop"}],"usage":{"prompt_tokens":70,"completion_tokens":5}}}}`, id)
			case 68:
				return fmt.Sprintf(`{"custom_id":"%s","response":{"status_code":400,"body":{"error":{"message":"too\u001b[1mlong"}}},"error":null}`, id)
			}
			return ""
		})
	}
	var told, warned bytes.Buffer
	code := run(append(append([]string{"entrorouter"}, results...), "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "out")), nil, &told, &warned)
	if code != exitOK || strings.Count(warned.String(), "\n") != 1 || !strings.Contains(warned.String(), `answered 400 Bad Request: too[1mlong"`) {
		t.Errorf("exit code %d: %s%s", code, told.String(), warned.String())
	}
	er("run", spec, "--figures", "", "--offline")
	shown := er("show", spec, "--problem", "files-sim-aime25-sim-aime25-00004", "--responses")
	for _, want := range []string{
		`(?m)^qwen3-4b +0 +no-answer +.* 70 +5 +0\.\d+ +\d+$`,
		`(?m)^qwen3-4b +1 +unanswered +refused +0 +0 +0 +0$`,
		`(?m)^qwen3-4b, run 1, has no answer \(refused; is not asked again\): expert qwen3-4b: answered 400 Bad Request: too\[1mlong$`,
		`(?m)^qwen3-30b +1 +`,
		`(?m)^scored for nobody: qwen3-4b did not answer in every run$`,
		`(?m)^prompt of qwen3-4b:\n\S+`,
		`(?m)^qwen3-4b, run 0, thinking sent apart:\nI think\.$`,
		"(?m)^qwen3-4b, run 0:\n\ufffd\\[31mred \ufffd\ufffd$",
	} {
		if !regexp.MustCompile(want).MatchString(shown) {
			t.Errorf("no %q in\n%.6000s", want, shown)
		}
	}
}
