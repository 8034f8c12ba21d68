package main

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// What cost nothing before, such as a router that answered everything itself, has no percentage.
func TestACostThatWasNothingMovesByDollars(t *testing.T) {
	cells := []compare.CellMove{{Benchmark: metrics.Average, Questions: 20,
		Accuracy: compare.Move{Gate: metrics.Paired, Band: 1},
		USD:      compare.Move{Ours: 0.002, Difference: 0.002, Low: 0.001, High: 0.003, Bounded: true, Moved: 20, Gate: metrics.Paired, Band: 0.0015},
	}}
	report := &compare.RunReport{Experiment: "tiny", Gates: 2, Confidence: 0.95, Rows: []compare.RowMove{{
		Row: "self", Arena: metrics.PaperArena, Questions: 20, Cells: cells,
		Most: []compare.QuestionMove{{Problem: "p", USD: [2]float64{0.002, 0}}},
	}}}
	var text strings.Builder
	if err := writeRun(&text, report, &spec.Resolved{}, "before", false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"cost $+0.002 [+0.001, +0.003]\n",
		"  avg $/question: 0 -> 0.002, $+0.002 [+0.001, +0.003]; noise: $0.0015\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "Inf") || strings.Contains(text.String(), "NaN") {
		t.Error(text.String())
	}
}

// A row that is the same in one set and moved in the other is not among those that are the same.
func TestRowsThatMovedInOneSetAreNotTheSame(t *testing.T) {
	row := func(id, arena string, changed int) compare.RowMove {
		return compare.RowMove{Row: id, Arena: arena, Changed: changed, Questions: 20, Cells: []compare.CellMove{{Benchmark: metrics.Average}}}
	}
	report := &compare.RunReport{Experiment: "tiny", Rows: []compare.RowMove{row("learned", metrics.PaperArena, 1), row("learned", metrics.LargeArena, 0)}}
	said := func() string {
		var text strings.Builder
		if err := writeRun(&text, report, &spec.Resolved{}, "before", false); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	if text := said(); strings.Contains(text, "The same") {
		t.Error(text)
	}
	report.Rows = append(report.Rows, row("fixed", metrics.PaperArena, 0))
	if text := said(); !strings.Contains(text, "\nThe same: fixed.\n") {
		t.Error(text)
	}
}
