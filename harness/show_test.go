package harness

import (
	"errors"
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// What is printed in a table is what its questions add up to, and a question is what its rollouts and decisions say.
func TestTheTrailOfEveryCellEndsAtItsRollouts(t *testing.T) {
	r := tiny(t)
	dir := t.TempDir()
	result := runIn(t, r, dir)
	trail, err := OpenTrail(t.Context(), r, Options{Out: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer trail.Close()
	cells, err := trail.Cells(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if want := len(r.Experiment.Test) * len(r.Experiment.Methods); len(cells) != want {
		t.Fatalf("%d cells, want %d", len(cells), want)
	}
	near := func(a, b, within float64) bool { return math.Abs(a-b) <= within }
	for _, c := range cells {
		lines := result.Measurements.Where(keys("arena", PaperArena, "method", c.Row, "benchmark", c.Benchmark, "seed", "")...)
		if len(lines) != 1 {
			t.Fatalf("%d lines of %s on %s", len(lines), c.Row, c.Benchmark)
		}
		accuracy, _ := lines[0].Value(metrics.Accuracy)
		usd, _ := lines[0].Value(metrics.USD)
		if !near(c.Accuracy, accuracy.Number, 0.0005001) || !near(c.USD, usd.Number, 0.0000005001) {
			t.Errorf("%s on %s: trail says %.4f%% and %.7f dollars, the table %.3f and %.6f", c.Row, c.Benchmark, c.Accuracy, c.USD, accuracy.Number, usd.Number)
		}
		questions, err := trail.Questions(t.Context(), c.Row, c.Benchmark)
		if err != nil {
			t.Fatal(err)
		}
		var sum, dollars float64
		for _, q := range questions {
			sum += q.Accuracy / float64(len(questions))
			dollars += q.USD
		}
		if len(questions) != c.Questions || !near(sum, c.Accuracy, 1e-9) || !near(dollars, c.USD, 1e-9) {
			t.Errorf("%s on %s: %d questions come to %v%% and %v dollars, the cell to %v and %v", c.Row, c.Benchmark, len(questions), sum, dollars, c.Accuracy, c.USD)
		}
	}
	cell := cells[len(cells)-1]
	questions, err := trail.Questions(t.Context(), "entrorouter", cell.Benchmark)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		p, err := trail.Problem(t.Context(), q.Problem, "entrorouter")
		if err != nil {
			t.Fatal(err)
		}
		var accuracy, usd, n float64
		for _, d := range p.Decisions {
			for _, ro := range p.Rollouts {
				if ro.Expert != d.Expert || ro.Run != d.Run {
					continue
				}
				n++
				usd += ro.USD
				if ro.Bucket == routing.Correct {
					accuracy += 100
				}
			}
		}
		if n != float64(len(p.Decisions)) || !near(accuracy/n, q.Accuracy, 1e-9) || !near(usd/n, q.USD, 1e-9) {
			t.Errorf("%s: %v of %d decisions have a rollout, which come to %v%% and %v dollars; the question has %v and %v", q.Problem, n, len(p.Decisions), accuracy/n, usd/n, q.Accuracy, q.USD)
		}
	}
}

func TestATrailNeedsAFinishedExperiment(t *testing.T) {
	if _, err := OpenTrail(t.Context(), tiny(t), Options{Out: t.TempDir()}); !errors.Is(err, ErrIncomplete) {
		t.Errorf("%v, want ErrIncomplete", err)
	}
}
