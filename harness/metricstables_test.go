package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/results"
)

func TestTablesOfMetricsAreWrittenAndNotPrinted(t *testing.T) {
	result, dir := runIn(t, tiny(t), t.TempDir()), t.TempDir()
	var text strings.Builder
	if err := Render(result, results.FS, dir, report.Terminal{}, &text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "Information") {
		t.Error("the table is printed")
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	decisions, knobs := read("tiny-metrics.md"), read("tiny-metrics-knobs.md")
	for _, want := range []string{"Oracle gap", "Brier", "| entrorouter", "qwen3-235b †"} {
		if !strings.Contains(decisions, want) {
			t.Errorf("no %q in\n%s", want, decisions)
		}
	}
	for _, row := range []string{"mixture", "benchmark", "logistic"} {
		if !strings.Contains(knobs, "| "+row) {
			t.Errorf("row %s has a knob and is not in\n%s", row, knobs)
		}
	}
	for row, text := range map[string]string{"entrorouter": knobs, "oracle": decisions} { // no knob; no answers in the large arena
		if strings.Contains(text, "| "+row) {
			t.Errorf("row %s is in\n%s", row, text)
		}
	}
	for _, name := range []string{"tiny-metrics.tex", "tiny-metrics.csv", "tiny-metrics-knobs.tex", "tiny-metrics-knobs.csv"} {
		if read(name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}
