package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// questions writes the first training problems of the stored run as a file of questions.
func questions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: questions file number")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	found, err := filepath.Glob(ts.MkAbs("out/stages/problems/*/problems.jsonl"))
	ts.Check(err)
	i := slices.IndexFunc(found, func(path string) bool { return strings.Contains(ts.ReadFile(path), `"Benchmark":"sim-train-sft"`) })
	if i < 0 {
		ts.Fatalf("no problems are stored")
	}
	var b strings.Builder
	for line := range strings.Lines(ts.ReadFile(found[i])) {
		var p struct {
			Problem struct {
				ID, Text string
				Gold     []string
			}
		}
		ts.Check(json.Unmarshal([]byte(line), &p))
		out, err := json.Marshal(map[string]string{"id": p.Problem.ID, "problem": p.Problem.Text, "answer": p.Problem.Gold[0]})
		ts.Check(err)
		if n--; n < 0 {
			break
		}
		fmt.Fprintf(&b, "%s\n", out)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o666))
}

// logs writes a folder of recorded outcomes: of two kinds of questions the big model solves both and the small one nearly
// one kind alone.
func logs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: logs dir number")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var queries, outcomes strings.Builder
	for i := range n {
		kind, small := "a sum of", 1
		if i%2 == 1 {
			kind, small = "the proof that nobody found about", 0
		}
		if i%11 == 0 {
			small = 1 - small
		}
		fmt.Fprintf(&queries, `{"query_id": "q%d", "benchmark": "all", "problem": "What is %s %d?", "gold": "1", "prompt_tokens": 20}`+"\n", i, kind, i)
		fmt.Fprintf(&outcomes, `{"query_id": "q%d", "model": "org/small", "correct": %d, "output_tokens": %d}`+"\n", i, small, 100+i)
		fmt.Fprintf(&outcomes, `{"query_id": "q%d", "model": "big", "correct": %d, "output_tokens": %d}`+"\n", i, min(i%13, 1), 200-i)
	}
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(filepath.Join(args[0], "queries.jsonl")), []byte(queries.String()), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(filepath.Join(args[0], "outcomes.jsonl")), []byte(outcomes.String()), 0o666))
}
