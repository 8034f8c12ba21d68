package report

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func TestANoteIsSaidOnceInASection(t *testing.T) {
	const note, above = "Costs are made up.", "Notes of the tables above"
	table := func(name string) *Table {
		return &Table{
			Name: name, Caption: name, Head: "Method", Notes: []string{note, "Of " + name + "."},
			Groups: []Group{{Columns: []Column{{Title: "Acc."}}}},
			Rows:   []Row{{Label: "Random", Cells: []Cell{{Ours: &metrics.Value{Number: 1}}}}},
		}
	}
	write := func(h *HTML, name string) string {
		t.Helper()
		text, err := h.Table(table(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	h := &HTML{}
	for _, name := range []string{"before", "again"} { // no section was begun
		if text := write(h, name); !strings.Contains(text, note) || strings.Contains(text, above) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for range 2 {
		h.Section()
		if text := write(h, "first"); !strings.Contains(text, note) || strings.Contains(text, above) {
			t.Errorf("first: %s", text)
		}
		if text := write(h, "second"); strings.Contains(text, note) || !strings.Contains(text, above) || !strings.Contains(text, "Of second.") {
			t.Errorf("second: %s", text)
		}
	}
}
