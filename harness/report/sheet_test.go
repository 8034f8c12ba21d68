package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func verdictSheet() *Sheet {
	return &Sheet{
		Name: "sheet", Caption: "What was said, and what came of it.",
		Grids: []Grid{
			{
				Title: "First | part", Head: []string{"Ordering", "Simulated"}, Widths: []float64{0.6, 0.4},
				Rows: [][]Text{
					{Say("A is above B by 5% or $3, at the cost of_a lot of money that nobody has to spend on routers.", "(section 2)"), {Lead: "confirmed", Lines: []string{"+1.20 [-0.10, 2.50]", "", "cost -3.1"}}},
					{Say("C < D."), {}},
				},
			},
			{Title: "Second", Head: []string{"Count"}, Widths: []float64{1}, Rows: [][]Text{{Say("1")}}},
		},
		Notes:   []string{"A note & its end."},
		Records: [][]string{{"id", "low"}, {"a", "-0.1"}, {"b, or c", ""}},
	}
}

func TestSheets(t *testing.T) {
	s := verdictSheet()
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 {
		t.Fatalf("%d files", len(files))
	}
	for _, f := range files {
		golden(t, f.Name, f.Data)
	}
	for name, to := range map[string]Terminal{"sheet.term": {}, "sheet-60.term": {Width: 60, Bold: true}} {
		var b bytes.Buffer
		if err := to.WriteSheet(&b, s); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		for l := range strings.Lines(b.String()) {
			if to.Width > 0 && width(strings.NewReplacer(bold, "", reset, "").Replace(strings.TrimRight(l, "\n"))) > to.Width {
				t.Errorf("%s: %q is wider than %d", name, l, to.Width)
			}
		}
	}
}

func TestAGridWithoutRowsIsItsTitle(t *testing.T) {
	s := verdictSheet()
	s.Grids = []Grid{{Title: "None of them", Head: []string{"Ordering"}, Widths: []float64{1}}}
	var b strings.Builder
	if err := (Terminal{}).WriteSheet(&b, s); err != nil {
		t.Fatal(err)
	}
	if want := s.Caption + "\n\nNone of them\n\n" + s.Notes[0] + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestALongSheetBreaksIntoPages(t *testing.T) {
	s := verdictSheet()
	for i := range 60 {
		s.Grids[1].Rows = append(s.Grids[1].Rows, []Text{Say(fmt.Sprintf("row %d", i))})
	}
	text := string(s.latex())
	if n := strings.Count(text, `\begin{table*}`); n != 3 {
		t.Errorf("%d floats, want 1 for the first grid and 2 for the second", n)
	}
	if !strings.Contains(text, ` Second, continued.}`) || !strings.Contains(text, `\label{tab:sheet-3}`) {
		t.Error("the second page of a grid has no caption or label of its own")
	}
	for i := range 60 {
		if n := strings.Count(text, fmt.Sprintf("row %d ", i)); n != 1 {
			t.Errorf("row %d is printed %d times", i, n)
		}
	}
	// Pages are filled evenly.
	parts := s.Grids[1].pages(0)
	if first, second := len(parts[0]), len(parts[1]); max(first, second) > min(first, second)+4 {
		t.Errorf("%d rows on one page and %d on the next", first, second)
	}
	// The last page leaves room for notes.
	if parts := s.Grids[1].pages(sheetHeight / 2); len(parts) != 2 || len(parts[1]) > 22 {
		t.Errorf("%d pages with notes of half a page, the last with %d rows", len(parts), len(parts[len(parts)-1]))
	}
	if parts := s.Grids[1].pages(sheetHeight * 0.8); len(parts) != 3 {
		t.Errorf("%d pages with notes of most of a page, want 3", len(parts))
	}
}

func TestASheetOfUnevenRowsIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Sheet){
		"1 heads and 2 widths":   func(s *Sheet) { s.Grids[1].Widths = []float64{1, 2} },
		"has 1 cells for 2 colu": func(s *Sheet) { s.Grids[0].Rows[1] = s.Grids[0].Rows[1][:1] },
	} {
		s := verdictSheet()
		change(s)
		if _, err := s.Files(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := (Terminal{}).WriteSheet(&bytes.Buffer{}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
