package present

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// builtin returns a built-in experiment.
func builtin(t *testing.T, name string) *spec.Resolved {
	t.Helper()
	r, err := spec.Load(experiments.FS, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// loadMeasurements reads the committed measurements of an experiment.
func loadMeasurements(t *testing.T, name string) *metrics.Set {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "figures", Measurements(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := metrics.Read(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// drawn returns the files of a run by name.
func drawn(t *testing.T, r *Run) map[string]string {
	t.Helper()
	files, err := Draw(r, results.FS, report.Terminal{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, f := range files {
		text[f.Name] = string(f.Data)
	}
	return text
}

// committed draws an experiment from its committed measurements.
func committed(t *testing.T, name string) map[string]string {
	t.Helper()
	return committedIn(t, name, report.Style{})
}

// committedIn is committed with the tables in a style.
func committedIn(t *testing.T, name string, style report.Style) map[string]string {
	t.Helper()
	return drawn(t, &Run{Spec: builtin(t, name), Measurements: loadMeasurements(t, name), Style: style})
}

// said fills in a template, a line a paragraph.
func said(t *testing.T, name string, data any) string {
	t.Helper()
	paragraphs, err := notes(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(paragraphs, "\n")
}
