package main

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/regrade"
	"github.com/entrorouter/entrorouter/harness/routing"
)

func TestVerdictsThatMoveAreCountedAndListed(t *testing.T) {
	r := &regrade.Report{
		Verifier: "9", Answers: 30, Before: map[string]int{"7": 10, "8": 20}, Ungraded: 2, Unplaced: 1,
		Groups: []regrade.Group{
			{Benchmark: "a", Split: routing.Test, Model: "m", Answers: 10},
			{Benchmark: "b", Split: routing.Test, Model: "m", Answers: 20, Moved: 1, Correct: [2]int{5, 6}},
		},
		Moved: []regrade.Moved{{
			Rollout: 65537, Problem: "b-3", Model: "m", Gold: []string{"1/2"}, Verifier: "8",
			Before: regrade.Verdict{Bucket: routing.Wrong, Reason: "different", Extracted: "2"},
			Now:    regrade.Verdict{Bucket: routing.Correct, Reason: "equal", Extracted: "0.5"},
		}},
	}
	want := `answer 65537 to b-3 by m: wrong (different) by version 8, correct (equal) now
  gold "1/2", read "2" before and "0.5" now
benchmark  split  model  answers  moved  correct before  correct now
b          test   m      20       1      5               6
version 9 of the verifier moves 1 of 30 verdicts, which are 10 of version 7, 20 of version 8
left out: 2 answers that nothing graded, 1 that were graded against a ground truth of no finished run
nothing is written; run --offline files the new verdicts and draws the tables with them, and asks nobody
`
	if got := regradeReport(r); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRegradeTakesNoAnswersOfItsOwn(t *testing.T) {
	for _, args := range [][]string{{"--gold", "1"}, {"--policy", "rounded"}, {"rows.jsonl"}} {
		var out, complaint strings.Builder
		code := run(append([]string{"entrorouter", "verify", "--regrade", t.TempDir()}, args...), strings.NewReader(""), &out, &complaint)
		if code != exitUsage || !strings.Contains(complaint.String(), "--regrade") {
			t.Errorf("%v: exit code %d, %s", args, code, complaint.String())
		}
	}
}
