package harness

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Profiling through everything that a live run goes through: client, loopback server, verifier and store.
func BenchmarkProfile(b *testing.B) {
	r := loadFile(b, filepath.Join("testdata", "tiny.yaml"))
	dir := b.TempDir()
	e, err := newEngine(b.Context(), r, Options{Out: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer e.close()
	set, err := e.newProblemSet("sim-train-sft", problems.Sized, 2000, "")
	if err != nil {
		b.Fatal(err)
	}
	e.sets = []*problemSet{set}
	if err := set.load(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := e.pool(b.Context()); err != nil {
		b.Fatal(err)
	}
	const runs = 5
	n := 0
	for round := 0; b.Loop(); round++ {
		// Runs of their own in every round: nothing is stored yet.
		e.spec.Experiment.Seed++
		rollouts, err := e.ask(b.Context(), e.experts[round%len(e.experts)], routing.Train, set.problems, runs)
		if err != nil {
			b.Fatal(err)
		}
		n += len(rollouts)
	}
	b.ReportMetric(float64(n*runs)/b.Elapsed().Seconds(), "rollouts/s")
	b.ReportMetric(0, "ns/op")
}

// A whole run of smoke.yaml into an empty store, and again with everything stored.
func BenchmarkSmoke(b *testing.B) {
	r := loadFile(b, filepath.Join("..", "experiments", "smoke.yaml"))
	dir := b.TempDir()
	n := 0
	b.Run("empty store", func(b *testing.B) {
		for b.Loop() {
			n++
			runIn(b, r, filepath.Join(dir, fmt.Sprint(n)))
		}
	})
	b.Run("all stored", func(b *testing.B) {
		for b.Loop() {
			runIn(b, r, filepath.Join(dir, "1"))
		}
	})
}
