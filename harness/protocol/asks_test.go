// How many answers experiments ask for.

package protocol

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// An answer that no output, row or training needs is money for nothing.
func TestNoAnswerIsAskedForThatNobodyNeeds(t *testing.T) {
	const (
		questions = 8 + 8
		test      = 8*2 + 8*1 // AIME is asked twice, MATH-500 once
	)
	fixed := []spec.Method{{Name: "fixed", ID: "qwen3-235b"}, {Name: "oracle"}, {Name: "random"}}
	for _, c := range []struct {
		name   string
		change func(x *spec.Experiment)
		want   int
	}{
		{"fixed experts and a table: questions x runs x experts", func(x *spec.Experiment) {}, test * 3},
		{"the router alone answers too", func(x *spec.Experiment) { x.Methods = append(x.Methods, spec.Method{Name: "self"}) }, test * 4},
		{"a figure by difficulty profiles the questions", func(x *spec.Experiment) {
			x.Methods = append(x.Methods, spec.Method{Name: "entrorouter"})
			x.Outputs = []spec.Output{{Kind: "routing-distribution", File: "f"}}
		}, test*3 + questions*3*5 + 40*4*5}, // both stages draw from one benchmark: 30 of the 40
		{"so does the spec", func(x *spec.Experiment) { x.Profile.Test = true }, test*3 + questions*3*5},
		{"a row that learns has its training problems profiled", func(x *spec.Experiment) { x.Methods = append(x.Methods, spec.Method{Name: "logistic"}) }, test*3 + 40*4*5},
		{"and so has one that is matched", func(x *spec.Experiment) {
			x.Methods = append(x.Methods, spec.Method{Name: "mixture", Match: "qwen3-235b"})
		}, test*3 + 40*4*5},
	} {
		r := toy.TinyWith(t, "large: 10", "large: 0", "expert: strongest", "expert: qwen3-235b")
		x := &r.Experiment
		fixed[0].Params = x.Methods[1].Params
		x.Methods, x.Outputs = append([]spec.Method(nil), fixed...), []spec.Output{{Kind: "table", File: "t"}}
		c.change(x)
		if got := asked(t, r); got != c.want {
			t.Errorf("%s: %d answers are asked for, want %d", c.name, got, c.want)
		}
	}
}

// An answer that several steps want is asked for once, and counted once, whatever of it is made: draws are of 40 and 30 problems of one
// benchmark, asks 3 experts and the probe 5 times about each, and 3 experts and the probe about 8 questions twice and 8 once.
func TestAnAnswerThatTwoStepsWantIsCountedOnce(t *testing.T) {
	const test = (8*2 + 8*1) * 4
	for _, c := range []struct {
		name     string
		sft, rl  int
		problems int // that differ
	}{
		{"the second draw within the first", 40, 30, 40},
		{"the first within the second", 30, 40, 40},
		{"the same", 30, 30, 30},
	} {
		r := toy.TinyWith(t, "large: 10", "large: 0")
		x := &r.Experiment
		x.Train.SFT.Size, x.Train.RL.Size, x.Outputs = c.sft, c.rl, nil
		want := test + c.problems*4*5
		run, err := Open(t.Context(), r, steps.Options{Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		for made := range 1 + len(run.split.sets) {
			if n := wanted(t, run); n != want {
				t.Errorf("%s: %d answers are counted when %d problem sets are made, want %d", c.name, n, made, want)
			}
			if made < len(run.split.sets) {
				if err := run.split.sets[made].load(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// What is compared with other programs asks what they ask: each question of each expert once.
func TestTheBenchmarkBesidePeersAsksEachQuestionOnce(t *testing.T) {
	if got := asked(t, toy.Load(t, "../../tools/peers/peers.yaml")); got != 1319*2 {
		t.Errorf("%d answers are asked for, want 2638", got)
	}
}

// asked counts the answers that an experiment asks for, with nothing stored.
func asked(t *testing.T, r *spec.Resolved) int {
	t.Helper()
	run, err := Open(t.Context(), r, steps.Options{Out: t.TempDir(), Look: true})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	return wanted(t, run)
}

// wanted counts the answers that a plan says are to be asked for.
func wanted(t *testing.T, run *Run) (n int) {
	t.Helper()
	all, err := run.Explain().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Asked != nil {
			n += s.Asked.Rollouts
		}
	}
	return n
}

// What a plan says of money counts the server of one expert in a simulated pool, and it alone.
func TestAPlanCountsWhatAServedExpertBesideSimulatedOnesCosts(t *testing.T) {
	r := toy.TinyWith(t, "large: 10", "large: 0", "expert: strongest", "expert: qwen3-235b")
	x := &r.Experiment
	x.Methods, x.Outputs = x.Methods[:2:2], []spec.Output{{Kind: "table", File: "t"}}
	r.Pools[0].Experts[2].URL = "http://nobody.example/v1"
	run := open(t, r, steps.Options{Out: t.TempDir()})
	all, err := run.Explain().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sum explain.Asked
	for _, s := range all {
		if s.Asked != nil {
			sum = sum.Add(*s.Asked)
		}
	}
	const each = 8*2 + 8
	if most := each * (60000 + 256.0); sum.Rollouts != 3*each || sum.Tokens != most || !(sum.USD > 0) {
		t.Errorf("%+v, want %d answers and %g tokens", sum, 3*each, most)
	}
}
