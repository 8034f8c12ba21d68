//go:build unix

// Peers measures a whole evaluation beside other programs that do it: 1,319 made-up sums asked of two models of one scripted
// server and graded, by entrorouter, lm-eval and inspect_ai. `make bench-peers` runs it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/vllm"
)

const (
	questions = 1319 // as many as GSM8K has
	answers   = 2 * questions
	inFlight  = 64                     // requests, as profile.concurrency of base.yaml has it for entrorouter
	think     = 100 * time.Millisecond // how long the server takes for an answer: as many are in flight as may be
	address   = "127.0.0.1:18432"      // pools/peers.yaml has it too
	folder    = "build/bench-peers"    // for everything; sums.yaml has it too
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "peers RUNS, in the folder of the code")
		os.Exit(2)
	}
	runs, err := strconv.Atoi(os.Args[1])
	if err != nil || runs < 1 {
		fmt.Fprintf(os.Stderr, "RUNS is %q, and is to be a number of runs, at least 1\n", os.Args[1])
		os.Exit(2)
	}
	dir, err := filepath.Abs(folder) // programs may work in folders of their own
	if err == nil {
		err = compare(dir, runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// sum is a question and what is right.
type sum struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
	Answer  string `json:"answer"`
}

// sums are made up, and the same each time.
func sums() []sum {
	r := rand.New(rand.NewPCG(1, 1319))
	s := make([]sum, questions)
	for i := range s {
		a, b, c := 100+r.IntN(900), 100+r.IntN(900), 2+r.IntN(98)
		s[i] = sum{
			ID:      fmt.Sprintf("sum-%d", i+1),
			Problem: fmt.Sprintf("A shop has %d red pens and %d blue pens, in question %d of a test. It buys %d boxes of 12 pens. How many pens has it then?", a, b, i+1, c),
			Answer:  strconv.Itoa(a + b + 12*c),
		}
	}
	return s
}

// lines are the sums as JSON lines, which all three programs read.
func lines() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, s := range sums() {
		if err := e.Encode(s); err != nil {
			panic(err) // three strings
		}
	}
	return b.Bytes()
}

// right says of how many sums in ten thousand a model knows the answer.
var right = map[string]uint32{"small": 6000, "large": 8500}

// knows says whether a model answers a sum rightly.
func knows(model string, s sum) bool {
	h := fnv.New32a()
	h.Write([]byte(model + s.ID))
	return h.Sum32()%10000 < right[model]
}

// server counts what it is asked.
type server struct {
	byProblem map[string]sum
	asked     atomic.Int64
	now, peak atomic.Int64 // requests in flight
}

var problem = regexp.MustCompile(`A shop has .* then\?`)

// answer is 400 bytes long, more or less. The number is in a box for who looks there, and the last one for who looks there.
func (s *server) answer(ctx context.Context, r vllm.Request) (vllm.Answer, error) {
	q, ok := s.byProblem[problem.FindString(r.Prompt)]
	if !ok {
		return vllm.Answer{}, fmt.Errorf("there is no question %q", r.Prompt)
	}
	s.asked.Add(1)
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for peak := s.peak.Load(); now > peak && !s.peak.CompareAndSwap(peak, now); peak = s.peak.Load() {
	}
	select {
	case <-ctx.Done():
		return vllm.Answer{}, ctx.Err()
	case <-time.After(think):
	}
	number := q.Answer
	if !knows(r.Model, q) {
		number = "7"
	}
	text := strings.Repeat("We count the red and the blue pens first, then the boxes, and then add. ", 5) + `It has \boxed{` + number + "} pens, which is " + number
	return vllm.Answer{Text: text, Finish: "stop", In: 40, Out: 100}, nil
}

// program is one of those compared.
type program struct {
	name     string
	commands func(out string) [][]string // one after the other, out an empty folder for what they write
	// accuracies finds those of small and large in what the commands printed.
	accuracies *regexp.Regexp
}

// programs are entrorouter and those peers that are installed in dir.
func programs(dir, data string) []program {
	all := []program{{"entrorouter", func(out string) [][]string {
		return [][]string{{"bin/entrorouter", "run", "tools/peers/peers.yaml", "--data", data, "--out", out, "--figures", filepath.Join(out, "figures")}}
	}, regexp.MustCompile(`(?m)^.*\b(?:Small|Large)\b\D*(\d+\.\d+)`)}}
	for _, p := range []program{
		{"lm-eval", func(out string) [][]string {
			var c [][]string
			for _, model := range []string{"small", "large"} {
				c = append(c, []string{filepath.Join(dir, "lm-eval/bin/lm_eval"), "run", "--model", "local-chat-completions",
					"--model_args", fmt.Sprintf("model=%s,base_url=http://%s/v1/chat/completions,num_concurrent=%d,tokenized_requests=False", model, address, inFlight),
					"--tasks", "sums", "--include_path", "tools/peers", "--apply_chat_template", "--log_samples", "--output_path", out})
			}
			return c
		}, regexp.MustCompile(`exact_match\D*(\d\.\d+)`)},
		{"inspect", func(out string) [][]string {
			return [][]string{{filepath.Join(dir, "inspect/bin/inspect"), "eval", "tools/peers/sums.py", "--model", "openai-api/peers/small,openai-api/peers/large",
				"--max-connections", strconv.Itoa(inFlight / 2), "--display", "plain", "--log-dir", out}} // connections of each model, which it asks at the same time
		}, regexp.MustCompile(`(?m)^accuracy +(\d\.\d+)`)},
	} {
		if _, err := os.Stat(filepath.Join(dir, p.name, "installed")); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// cost is what one run of a program took.
type cost struct{ cpu, wall, rss, asked, peak float64 }

// environment is what the programs are run with: nothing is fetched.
func environment(dir string) []string {
	return append(os.Environ(), "PEERS_BASE_URL=http://"+address+"/v1", "PEERS_API_KEY=none", "OPENAI_API_KEY=none", "PEERS_QUESTIONS="+filepath.Join(dir, "data", "sums.jsonl"),
		"HF_HOME="+filepath.Join(dir, "huggingface"), "HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1", "NO_COLOR=1")
}

// run runs a program once, and checks that it asked and graded everything.
func (s *server) run(p program, dir string) (cost, error) {
	out := filepath.Join(dir, "out", p.name)
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return cost{}, err
	}
	s.asked.Store(0)
	s.peak.Store(0)
	var c cost
	var said bytes.Buffer
	for _, args := range p.commands(out) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = environment(dir)
		cmd.Stdout, cmd.Stderr = &said, &said
		start := time.Now()
		err := cmd.Run()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, p.name+".log"), said.Bytes(), 0o644), err); err != nil {
			return cost{}, fmt.Errorf("%s failed, see %s.log: %w", p.name, filepath.Join(dir, p.name), err)
		}
		c.wall += time.Since(start).Seconds()
		c.cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		c.rss = max(c.rss, rss(cmd.ProcessState))
	}
	c.asked, c.peak = float64(s.asked.Load()), float64(s.peak.Load())
	if c.asked != answers {
		return cost{}, fmt.Errorf("%s asked for %.0f answers, and not for %d, see %s.log", p.name, c.asked, answers, filepath.Join(dir, p.name))
	}
	return c, graded(p, said.String())
}

// graded says whether a program found what the server knows, as far as it prints it.
func graded(p program, said string) error {
	found := p.accuracies.FindAllStringSubmatch(said, -1)
	if len(found) != 2 {
		return fmt.Errorf("%s printed %d accuracies, and not 2", p.name, len(found))
	}
	for i, model := range []string{"small", "large"} {
		accuracy, err := strconv.ParseFloat(found[i][1], 64)
		if err != nil {
			return err
		}
		if accuracy > 1 {
			accuracy /= 100
		}
		known := 0.
		for _, s := range sums() {
			if knows(model, s) {
				known += 1. / questions
			}
		}
		if accuracy < known-0.001 || accuracy > known+0.001 {
			return fmt.Errorf("%s has %.4f as the accuracy of %s, which is %.4f", p.name, accuracy, model, known)
		}
	}
	return nil
}

// rss is the largest resident memory in megabytes.
func rss(s *os.ProcessState) float64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) / (1 << 20)
	}
	return float64(u.Maxrss) / (1 << 10) // kilobytes on Linux
}

// compare runs the programs in turn and prints their medians.
func compare(dir string, runs int) error {
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.MkdirAll(data, 0o755), os.WriteFile(filepath.Join(data, "sums.jsonl"), lines(), 0o644)); err != nil {
		return err
	}
	s := &server{byProblem: map[string]sum{}}
	for _, q := range sums() {
		s.byProblem[q.Problem] = q
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("the server cannot be at %s, where the programs ask: %w", address, err)
	}
	go http.Serve(l, vllm.New([]vllm.Model{{Name: "small"}, {Name: "large"}}, s.answer, vllm.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}))
	all := programs(dir, data)
	costs := make([][]cost, len(all))
	for range runs {
		for i, p := range all {
			c, err := s.run(p, dir)
			if err != nil {
				return err
			}
			costs[i] = append(costs[i], c)
		}
	}
	median := func(c []cost, of func(cost) float64) float64 {
		var v []float64
		for _, c := range c {
			v = append(v, of(c))
		}
		slices.Sort(v)
		return v[(len(v)-1)/2]
	}
	fmt.Printf("%-12s %8s %8s %8s %8s %8s %9s %8s\n", "program", "CPU s", "per 1000", "ratio", "wall s", "MB", "requests", "inflight")
	for i, p := range all {
		cpu := func(c cost) float64 { return c.cpu }
		fmt.Printf("%-12s %8.2f %8.2f %8.1f %8.1f %8.0f %9.0f %8.0f\n", p.name, median(costs[i], cpu), median(costs[i], cpu)/answers*1000, median(costs[i], cpu)/median(costs[0], cpu),
			median(costs[i], func(c cost) float64 { return c.wall }), median(costs[i], func(c cost) float64 { return c.rss }),
			median(costs[i], func(c cost) float64 { return c.asked }), median(costs[i], func(c cost) float64 { return c.peak }))
	}
	return nil
}
