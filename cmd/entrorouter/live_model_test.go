// Trials of a live run against a real model: SmolLM2 behind servers of llama.cpp, as make live-demo installs them, or of vLLM on the CPU.
// make test-live and make test-vllm run them; elsewhere they skip. They wait for real servers and real time.

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/store"
)

// The experts of tools/live.
var smols = []string{"smol-brief", "smol-long", "smol-warm"}

// Answers that an unchanged trial asks for: 8 problems with 4 rollouts and 4 problems with 2 runs, of each expert.
const liveAnswers = (8*4 + 4*2) * 3

// engine is what serves: llama.cpp, or vLLM.
type engine struct {
	vllm   bool
	folder string // with its Python and SmolLM2, as make live-demo and make test-vllm leave them
}

// liveEngine is the one whose folder is named. The test is skipped where none is.
func liveEngine(t *testing.T) engine {
	t.Helper()
	if folder := os.Getenv("ENTROROUTER_VLLM"); folder != "" {
		return engine{true, folder}
	}
	folder := os.Getenv("ENTROROUTER_LIVE")
	if folder == "" {
		t.Skip("needs servers of llama.cpp or vLLM in build/live or build/vllm; make test-live and make test-vllm run it")
	}
	return engine{false, folder}
}

func (e engine) python() string { return filepath.Join(e.folder, "venv", "bin", "python") }

// smollm2 is the model there, as the engine reads models.
func (e engine) smollm2() string {
	if e.vllm {
		return filepath.Join(e.folder, "model")
	}
	return filepath.Join(e.folder, "SmolLM2-135M-Instruct.Q4_1.gguf")
}

// modelServer is a server of one model under one or more names.
type modelServer struct {
	engine engine
	names  []string
	port   int
	stop   func()
}

// serve starts a server and waits until it is ready. It is stopped when the test ends. Port 0 is a free one; more are arguments of
// serve.py.
func (e engine) serve(t *testing.T, model string, names []string, port int, more ...string) *modelServer {
	t.Helper()
	tool, err := filepath.Abs(filepath.Join("..", "..", "tools", "live", "serve.py"))
	if err != nil {
		t.Fatal(err)
	}
	if port == 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	c := exec.Command(e.python(), append([]string{tool, model, fmt.Sprint(strings.Join(names, ","), "=", port), "--parallel", fmt.Sprint(len(names))}, more...)...)
	var errs bytes.Buffer
	c.Dir, c.Stderr, c.WaitDelay = t.TempDir(), &errs, time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	s := &modelServer{engine: e, names: names, port: port, stop: func() {
		if !stopped {
			stopped = true
			c.Process.Signal(syscall.SIGTERM)
			c.Wait()
		}
	}}
	t.Cleanup(s.stop)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		s.stop()
		t.Fatalf("the server does not start: %s %v %s", line, err, errs.String())
	}
	return s
}

// url is where the server is asked.
func (s *modelServer) url() string { return fmt.Sprintf("http://127.0.0.1:%d/v1", s.port) }

// counted returns the tokens that a server has read and written, in its own count.
func (s *modelServer) counted(t *testing.T) (in, out int64) {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", s.port))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string) int64 {
		m := regexp.MustCompile(`(?m)^` + name + `(?:\{[^}]*\})? ([0-9.e+]+)$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("no %s in\n%s", name, text)
		}
		n, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return int64(n)
	}
	if s.engine.vllm {
		return number("vllm:prompt_tokens_total"), number("vllm:generation_tokens_total")
	}
	return number("llamacpp:prompt_tokens_total") + number("llamacpp:prompt_tokens_cached_total"), number("llamacpp:tokens_predicted_total")
}

// trial is a folder with the spec of tools/live and the servers that it asks.
type trial struct {
	dir     string
	engine  engine
	servers []*modelServer
}

// newTrial has a server of llama.cpp per expert, or one vLLM for all of them, whose memory is greater.
func newTrial(t *testing.T) *trial {
	t.Helper()
	r := &trial{dir: t.TempDir(), engine: liveEngine(t)}
	if err := os.CopyFS(r.dir, os.DirFS(filepath.Join("..", "..", "tools", "live"))); err != nil {
		t.Fatal(err)
	}
	r.change(t, "live-demo.yaml", "rollouts: 2", "rollouts: 4")
	pairs := []string{"concurrency: 2", "concurrency: 1"}
	for i, name := range smols {
		switch {
		case !r.engine.vllm:
			r.servers = append(r.servers, r.engine.serve(t, r.engine.smollm2(), []string{name}, 0))
		case i == 0:
			r.servers = append(r.servers, r.engine.serve(t, r.engine.smollm2(), smols, 0))
		}
		pairs = append(pairs, fmt.Sprint("127.0.0.1:", 8101+i), fmt.Sprint("127.0.0.1:", r.servers[len(r.servers)-1].port))
	}
	r.change(t, filepath.Join("pools", "live-demo.yaml"), pairs...)
	return r
}

func (r *trial) change(t *testing.T, name string, pairs ...string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, replaced(t, string(text), pairs...))
}

// command is a run that writes to the folder out.
func (r *trial) command(t *testing.T, out string) (c *exec.Cmd, said, errs *bytes.Buffer) {
	t.Helper()
	args := []string{"run", filepath.Join(r.dir, "live-demo.yaml"), "--data", r.dir, "--out", filepath.Join(r.dir, out), "--figures", filepath.Join(r.dir, "fig")}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	c = exec.CommandContext(ctx, "entrorouter", args...)
	said, errs = &bytes.Buffer{}, &bytes.Buffer{}
	c.Stdout, c.Stderr = said, errs
	return c, said, errs
}

// run carries the trial out, wants an exit code and returns what it printed, if it failed to standard error.
func (r *trial) run(t *testing.T, out string, want int) string {
	t.Helper()
	c, said, errs := r.command(t, out)
	c.Run()
	if code := c.ProcessState.ExitCode(); code != want {
		t.Fatalf("exit code %d, want %d:\n%s%s", code, want, said, errs)
	}
	if want != exitOK {
		return errs.String()
	}
	return said.String()
}

// status is what the command of that name says of a folder.
func (r *trial) status(t *testing.T, out string) *store.Status {
	t.Helper()
	var st store.Status
	if err := json.Unmarshal([]byte(command(t, "status", "--json", "--out", filepath.Join(r.dir, out))), &st); err != nil {
		t.Fatal(err)
	}
	return &st
}

// answered counts what is stored.
func (r *trial) answered(t *testing.T, out string) int {
	n := int64(0)
	for _, s := range r.status(t, out).Scopes {
		n += s.Answered
	}
	return int(n)
}

// await waits until so many answers are stored.
func (r *trial) await(t *testing.T, out string, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); r.answered(t, out) < n; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after five minutes there are not %d answers", n)
		}
	}
}

// rows returns the stored answers by all that they are found by.
func (r *trial) rows(t *testing.T, out string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	path := filepath.Join(r.dir, out, "rollouts.db")
	if _, err := os.Stat(path); err != nil {
		return rows
	}
	db, err := store.ReadRollouts(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range r.status(t, out).Scopes {
		for a, err := range db.Responses(t.Context(), s.Scope) {
			if err != nil {
				t.Fatal(err)
			}
			rows[fmt.Sprintf("%s %s %x %d %x", s.Scope.Model, s.Scope.Split, a.Key.Problem, a.Key.Run, a.Key.Seed)] = a.Response
		}
	}
	return rows
}

// keptAll wants later rows to have every earlier one, unchanged.
func keptAll(t *testing.T, earlier, later map[string]string) {
	t.Helper()
	for key, text := range earlier {
		if got, ok := later[key]; !ok || got != text {
			t.Errorf("%s: stored was %q, later there is %q (%v)", key, text, got, ok)
		}
	}
}

// sound wants every answer to be there once, nothing failed and nothing damaged.
func (r *trial) sound(t *testing.T, out string) {
	t.Helper()
	for _, s := range r.status(t, out).Scopes {
		if s.Answered != s.Want || len(s.Failed) > 0 || s.InFlight > 0 {
			t.Errorf("%s %s: %d of %d answered, failed %v, in flight %d", s.Scope.Model, s.Scope.Split, s.Answered, s.Want, s.Failed, s.InFlight)
		}
	}
	if n := len(r.rows(t, out)); n != liveAnswers {
		t.Errorf("%d rows, want %d", n, liveAnswers)
	}
	if said := command(t, "fsck", "--out", filepath.Join(r.dir, out)); !strings.Contains(said, "faults: 0") {
		t.Errorf("fsck: %s", said)
	}
}

// books holds what is recorded in folders against what the servers counted, which nobody else has asked since they started: equal where no attempt is without an end, within its bound where one is.
func (r *trial) books(t *testing.T, outs ...string) {
	t.Helper()
	for _, server := range r.servers {
		in, written := server.counted(t)
		var spent, bound store.Spent
		lost := int64(0)
		for _, out := range outs {
			for _, s := range r.status(t, out).Scopes {
				if slices.Contains(server.names, s.Scope.Model) {
					spent.Add(s.Spent)
					bound.Add(s.Bound)
					lost += s.Lost
				}
			}
		}
		names := strings.Join(server.names, ", ")
		t.Logf("%s: recorded %d in and %d out, counted by the server %d and %d; attempts without an end: %d, at most %d and %d",
			names, spent.In, spent.Out, in, written, lost, bound.In, bound.Out)
		if in < spent.In || in > spent.In+bound.In || written < spent.Out || written > spent.Out+bound.Out {
			t.Errorf("%s: the books do not agree with the server", names)
		}
	}
}

func TestLiveRunEndsWithItsTable(t *testing.T) {
	r := newTrial(t)
	said := r.run(t, "out", exitOK)
	for _, want := range []string{"Demonstration on a very small model", "Oracle", "EntroRouter", "Coverage: of the 8 rollouts", "What became of the rollouts"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	r.sound(t, "out")
	r.books(t, "out")
	for _, s := range r.servers {
		s.stop()
	}
	if again := r.run(t, "out", exitOK); untimed(again) != untimed(said) {
		t.Errorf("without servers the second run printed\n%s\nthe first\n%s", again, said)
	}
}

func TestLiveInterruptLetsAnswersFinish(t *testing.T) {
	r := newTrial(t)
	c, _, said := r.command(t, "out")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r.await(t, "out", 10)
	c.Process.Signal(os.Interrupt)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Fatalf("exit code %d, want 130:\n%s", code, said)
	}
	before := r.rows(t, "out")
	if len(before) < 10 || len(before) == liveAnswers {
		t.Fatalf("%d rows are stored", len(before))
	}
	for _, s := range r.status(t, "out").Scopes {
		if s.Lost > 0 || s.InFlight > 0 || s.Errors["cancelled"] > 0 {
			t.Errorf("%s: %d attempts without an end, %d in flight, errors %v", s.Scope.Model, s.Lost, s.InFlight, s.Errors)
		}
	}
	r.run(t, "out", exitOK)
	keptAll(t, before, r.rows(t, "out"))
	r.sound(t, "out")
	r.books(t, "out")
}

func TestLiveKills(t *testing.T) {
	r := newTrial(t)
	r.run(t, "calm", exitOK)
	calm := r.rows(t, "calm")
	before, kills := map[string]string{}, 0
	for kills < 5 {
		c, _, said := r.command(t, "out")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		r.await(t, "out", len(before)+1)
		time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Second))))
		c.Process.Kill()
		if err := c.Wait(); err == nil {
			t.Fatalf("it ended before it was killed for the %dth time:\n%s", kills+1, said)
		}
		kills++
		now := r.rows(t, "out")
		t.Logf("kill %d: %d rows", kills, len(now))
		keptAll(t, before, now)
		before = now
	}
	r.run(t, "out", exitOK)
	rows := r.rows(t, "out")
	keptAll(t, before, rows)
	r.sound(t, "out")
	r.books(t, "calm", "out")
	keptAll(t, calm, rows) // the same seed gives the same words; llama.cpp has one answer at a time, vLLM up to three
}

func TestLiveServerComesBack(t *testing.T) {
	r := newTrial(t)
	c, _, said := r.command(t, "out")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r.await(t, "out", 10)
	last := len(r.servers) - 1
	s := r.servers[last]
	s.stop()
	time.Sleep(30 * time.Second)
	r.servers[last] = r.engine.serve(t, r.engine.smollm2(), s.names, s.port)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	r.sound(t, "out")
	for _, sc := range r.status(t, "out").Scopes {
		t.Logf("%s %s: attempts without an answer %v", sc.Scope.Model, sc.Scope.Split, sc.Errors)
	}
}

// Faults between the client and the real servers: every answer arrives all the same.
func TestLiveFaults(t *testing.T) {
	r := newTrial(t)
	plan, err := fault.Read(strings.NewReader(`faults:
  - {requests: 1-2, status: 503, headers: {Retry-After: "1"}}
  - {every: 7, end: reset, after: 3 events}
  - {every: 9, end: early, after: 4 events}
  - {every: 11, status: 429, headers: {Retry-After: "1"}}
  - {every: 13, comments: true, crlf: true, split: 7}
  - {every: 17, status: 502}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range r.servers {
		u, err := url.Parse(fmt.Sprint("http://127.0.0.1:", server.port))
		if err != nil {
			t.Fatal(err)
		}
		proxy := httptest.NewServer(fault.Wrap(httputil.NewSingleHostReverseProxy(u), plan, fault.Options{}))
		t.Cleanup(proxy.Close)
		r.change(t, filepath.Join("pools", "live-demo.yaml"), u.Host, strings.TrimPrefix(proxy.URL, "http://"))
	}
	r.run(t, "out", exitOK)
	r.sound(t, "out")
	errs := map[string]int64{}
	for _, s := range r.status(t, "out").Scopes {
		for class, n := range s.Errors {
			errs[class] += n
		}
	}
	t.Logf("attempts without an answer: %v", errs)
	for _, class := range []string{"broken", "limited", "unavailable", "unfinished"} {
		if errs[class] == 0 {
			t.Errorf("no attempt was %s", class)
		}
	}
}

func TestLiveWrongModelIsOneSentence(t *testing.T) {
	r := newTrial(t)
	r.change(t, filepath.Join("pools", "live-demo.yaml"), "model: smol-warm", "model: smol-worm")
	r.change(t, filepath.Join("prices", "live-demo.yaml"), "smol-warm", "smol-worm")
	said := r.run(t, "out", exitFailed)
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, `does not serve the model "smol-worm"; it serves: `+strings.Join(r.servers[len(r.servers)-1].names, ", ")) {
		t.Errorf("it said\n%s", said)
	}
	if n := r.answered(t, "out"); n != 0 {
		t.Errorf("%d answers were asked for", n)
	}
}

func TestLivePromptTooLongFailsAlone(t *testing.T) {
	r := newTrial(t)
	path := filepath.Join(r.dir, "questions", "test.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	long := replaced(t, string(text), "What is 4 + 4?", strings.Repeat("one and ", 400)+"What is 4 + 4?")
	write(t, path, long)
	r.change(t, "benchmarks.yaml", fmt.Sprintf("%x", sha256.Sum256(text)), fmt.Sprintf("%x", sha256.Sum256([]byte(long))))
	said := r.run(t, "out", exitOK)
	for _, s := range r.status(t, "out").Scopes {
		if s.Scope.Split == "test" && (s.Failed["refused"] != 2 || s.Answered != 6) {
			t.Errorf("%s: %d answered, failed %v; want 6 and 2 refused", s.Scope.Model, s.Answered, s.Failed)
		}
	}
	if !strings.Contains(said, "1 of 4 questions are scored for nobody, since not every model answered them: brief 1, long 1, warm 1.") {
		t.Errorf("the table does not say how many questions it covers:\n%s", said)
	}
}
