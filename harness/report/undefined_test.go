package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// A number that is not defined is a blank cell and a note below the table in every form that people read.
func TestWhatIsNotDefinedIsSaidBelowTheTable(t *testing.T) {
	set := &metrics.Set{}
	for _, id := range []string{"a", "b", "c"} {
		m := metrics.Measurement{Name: "Route", Keys: metrics.Keys("method", id, "benchmark", "x"), N: 1, Values: []metrics.Value{metrics.Rounded(1, metrics.Accuracy, 1)}}
		if id == "c" {
			m.Values = append(m.Values, metrics.Rounded(2, "pgr", 1))
		} else {
			m.Undefined = []metrics.Undefined{{Unit: "pgr", Why: "both experts are equally good"}}
		}
		set.Measurements = append(set.Measurements, m)
	}
	l := Layout{Name: "t", Head: "Method", Groups: []GroupLayout{{Title: "X", Benchmark: "x", Columns: []Column{{Title: "Acc.", Unit: metrics.Accuracy}, {Title: "PGR", Unit: "pgr", Decimals: 1}}}}}
	for _, id := range []string{"a", "b", "c"} {
		l.Rows = append(l.Rows, RowLayout{Label: strings.ToUpper(id), Keys: metrics.Keys("method", id)})
	}
	table, err := Build(l, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "PGR is not defined for A, B: both experts are equally good."
	if notes := table.notes("*"); !slices.Contains(notes, want) {
		t.Errorf("notes %q lack %q", notes, want)
	}
}
