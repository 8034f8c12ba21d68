package harness

import (
	"fmt"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestMBestIsThatOfTheTrueRatesInTheLargeArena(t *testing.T) {
	e := &engine{spec: &spec.Resolved{}, experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}}
	e.spec.Experiment.Targets.Tau = 0.8
	a := &arena{Arena: book.Arena{Name: metrics.LargeArena, Outcomes: [][]routing.Outcome{{{Correct: 0.9}, {Correct: 1}}, {{Correct: 0.5}, {Correct: 0.85}}, {{Correct: 0.1}, {Correct: 0.2}}}}}
	best, err := e.best(t.Context(), a)
	if err != nil || fmt.Sprint(best) != "[0 1 1]" {
		t.Errorf("%v (%v)", best, err)
	}
}
