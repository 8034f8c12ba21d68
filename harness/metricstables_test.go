package harness

import (
	"strings"
	"testing"
)

func TestTablesOfMetricsAreWrittenAndNotPrinted(t *testing.T) {
	text, files := drawn(t, tinyIn(t, t.TempDir()))
	if strings.Contains(text, "Information") {
		t.Error("the table is printed")
	}
	decisions, knobs := files["tiny/metrics.md"], files["tiny/metrics-knobs.md"]
	for _, want := range []string{"Oracle gap", "Brier", "| entrorouter", "qwen3-235b †"} {
		if !strings.Contains(decisions, want) {
			t.Errorf("no %q in\n%s", want, decisions)
		}
	}
	for _, row := range []string{"mixture", "benchmark", "logistic", "entrorouter"} {
		if !strings.Contains(knobs, "| "+row) {
			t.Errorf("row %s has a knob and is not in\n%s", row, knobs)
		}
	}
	for row, text := range map[string]string{"random": knobs, "oracle": decisions} { // no knob; no answers in the large arena
		if strings.Contains(text, "| "+row) {
			t.Errorf("row %s is in\n%s", row, text)
		}
	}
	for _, name := range []string{"tiny/metrics.tex", "tiny/metrics.csv", "tiny/metrics-knobs.tex", "tiny/metrics-knobs.csv"} {
		if files[name] == "" {
			t.Errorf("%s is empty", name)
		}
	}
}
