package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// golden compares got with testdata/name; UPDATE=1 rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run with UPDATE=1", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with UPDATE=1 and read the difference. Got:\n%s", path, got)
	}
}

func paperMain(t *testing.T) *metrics.Set {
	t.Helper()
	f, err := os.Open("../../results/paper/main.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := metrics.Read("main.txt", f)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// mainLayout is the paper's Table 1; keys of the paper name our rows too.
func mainLayout() Layout {
	l := Layout{
		Name:    "main",
		Caption: "Accuracy in percent and dollars a pass on the simulated pool; the last column is per question.",
		Head:    "Method",
		Notes: []string{
			"± is half the width of the 95% interval over questions.",
			"Simulated pool: its fixed experts are calibrated to the paper's rows and say nothing about them.",
		},
	}
	for _, g := range [][2]string{{"HMMT Nov 25", "hmmt25"}, {"AIME25", "aime25"}, {"OlympiadBench", "olympiadbench"}, {"AIME24", "aime24"}, {"AMC", "amc"}, {"MATH500", "math500"}, {"SMT2025", "smt25"}} {
		l.Groups = append(l.Groups, GroupLayout{Title: g[0], Benchmark: "sim-" + g[1], Paper: g[1], Columns: AccuracyAndCost()})
	}
	l.Groups = append(l.Groups, GroupLayout{Title: "Avg.", Benchmark: metrics.Average, Paper: metrics.Average, Columns: AverageAccuracyAndCost()})
	for _, g := range l.Groups {
		g.Columns[0].Lead = "lead"
	}
	for _, r := range [][3]string{
		{"Fixed", "Qwen3-4B", "qwen3-4b"}, {"Fixed", "Qwen3-30B", "qwen3-30b"}, {"Fixed", "Qwen3-235B", "qwen3-235b"},
		{"Existing", "Random", "random"}, {"Existing", "Logistic utility & 50% budget", "logistic"}, {"Ours", "EntroRouter", "entrorouter"},
	} {
		key := []metrics.Key{{Name: "method", Value: r[2]}}
		row := RowLayout{Section: r[0], Label: r[1], Keys: key, Paper: key, Reference: r[2] == "qwen3-235b"}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// mainMeasurements stands in for a run: the paper's numbers, moved, with intervals and one line a seed.
func mainMeasurements(t *testing.T, paper *metrics.Set) *metrics.Set {
	ours := &metrics.Set{}
	for _, m := range paper.Measurements {
		n := metrics.Measurement{Name: m.Name, N: m.N}
		for _, k := range m.Keys {
			switch {
			case k.Name == "table":
				continue
			case k.Name == "benchmark" && k.Value != metrics.Average:
				k.Value = "sim-" + k.Value
			}
			n.Keys = append(n.Keys, k)
		}
		for _, v := range m.Values {
			switch v.Unit {
			case metrics.Accuracy:
				x := v.Number + float64(m.N%7)/10
				v = metrics.Rounded(x, v.Unit, 2).Within(x-160/float64(m.N), x+170/float64(m.N))
			case metrics.USD, metrics.USDPerQuery:
				v = metrics.Rounded(v.Number*0.97, v.Unit, 6)
			}
			n.Values = append(n.Values, v)
		}
		lead := -0.5
		if m.Key("method") == "entrorouter" {
			lead = 0.5
		}
		n.Values = append(n.Values, metrics.Rounded(lead, "lead", 1).Within(lead-0.4, lead+0.4))
		if m.Key("benchmark") == metrics.Average {
			for i, bucket := range []string{"correct", "wrong", "no-answer", "truncated", "ungraded", "missing"} {
				n.Values = append(n.Values, metrics.Value{Number: []float64{3000, 600, 50, 40, 2, 10}[i], Unit: bucket})
			}
		}
		ours.Measurements = append(ours.Measurements, n)
		if m.Key("method") == "random" {
			n.Keys = []metrics.Key{{Name: "method", Value: "logistic"}, n.Keys[1]}
			ours.Measurements = append(ours.Measurements, n)
		}
		n.Keys = append(n.Keys[:2:2], metrics.Key{Name: "seed", Value: "1"})
		ours.Measurements = append(ours.Measurements, n)
	}
	return ours
}

func mainTable(t *testing.T) *Table {
	t.Helper()
	paper := paperMain(t)
	table, err := Build(mainLayout(), mainMeasurements(t, paper), paper)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

type writer interface {
	Write(io.Writer, *Table) error
}

func render(t *testing.T, r writer, table *Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, table); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTablesInTheTerminal(t *testing.T) {
	golden(t, "main-160.txt", render(t, Terminal{Width: 160}, mainTable(t)))
	golden(t, "main-80.txt", render(t, Terminal{Width: 80, Bold: true}, mainTable(t)))
}

func TestTablesInMarkdownLaTeXAndCSV(t *testing.T) {
	table := mainTable(t)
	table.Style.Differences = true
	golden(t, "main.md", render(t, Markdown{}, table))
	golden(t, "main.tex", render(t, LaTeX{}, table))
	golden(t, "main.csv", render(t, CSV{}, table))
}

func TestCoverageIsPrintedBesideTheScore(t *testing.T) {
	table, err := Coverage(mainLayout(), mainMeasurements(t, paperMain(t)), metrics.Average)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "coverage.txt", render(t, Terminal{Width: 100}, table))
}

func value1(x float64) *metrics.Value { return &metrics.Value{Number: x, Unit: metrics.Accuracy} }

// led is a row whose lead over the others has an interval.
func led(low, high float64, reference bool) Row {
	r := row(1, reference)
	r.Cells[0].Lead = &metrics.Value{Number: (low + high) / 2, Bounded: true, Low: low, High: high}
	return r
}

// small makes a table of one column.
func small(unit string, rows ...Row) *Table {
	return &Table{Name: "small", Head: "Method", Groups: []Group{{Title: "G", Columns: []Column{{Title: "c", Unit: unit, Decimals: 1}}}}, Rows: rows}
}

func row(x float64, reference bool) Row {
	return Row{Label: "r", Reference: reference, Cells: []Cell{{Ours: value1(x)}}}
}

// A number alone puts no row above the others: 0.42 ± 0.60 has no star, nor has 0.56 beside 0.54.
func TestWhatIsSetInBold(t *testing.T) {
	const (
		marked = "Bold: above every other row at equal cost, by the whole interval of its lead over the best of them."
		none   = "No row leads every other at equal cost with its whole interval above 0, so none is marked."
		dagger = "† a yardstick or an assumption, left out of the comparison with others."
	)
	unbounded := led(1, 2, false)
	unbounded.Cells[0].Lead.Bounded = false
	unmeasured := led(1, 2, false)
	unmeasured.Cells[0].Ours = nil
	for _, c := range []struct {
		name  string
		rows  []Row
		want  []bool
		notes []string
	}{
		{"who leads by the whole interval", []Row{led(0.1, 0.9, false), led(-0.9, -0.1, false)}, []bool{true, false}, []string{marked}},
		{"both of two that are the same", []Row{led(0.1, 0.9, false), led(0.1, 0.9, false), led(-0.9, -0.1, false)}, []bool{true, true, false}, []string{marked}},
		{"nobody who leads by less than can be told", []Row{led(-0.2, 1, false), led(-1, 0.2, false)}, []bool{false, false}, []string{none}},
		{"nobody at an end of 0", []Row{led(0, 1, false)}, []bool{false}, []string{none}},
		{"no yardstick", []Row{led(1, 2, true), led(-1, 1, false)}, []bool{false, false}, []string{none, dagger}},
		{"nothing without an interval", []Row{unbounded}, []bool{false}, []string{none}},
		{"nothing that was not measured", []Row{unmeasured}, []bool{false}, []string{none}},
		{"the greatest number by nothing", []Row{row(1, false), row(3, false)}, []bool{false, false}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := small(metrics.Accuracy, c.rows...)
			var got []bool
			for _, l := range table.lines() {
				got = append(got, l.cells[0].best)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got := table.notes("Bold"); !slices.Equal(got, c.notes) {
				t.Errorf("notes %q, want %q", got, c.notes)
			}
		})
	}
}

func TestCellsOfOneRow(t *testing.T) {
	printed := func(cell Cell) []string {
		table := small("", Row{Label: "r", Cells: []Cell{cell}})
		table.Style.Differences = true
		var out []string
		for _, l := range table.lines() {
			out = append(out, l.label+" "+l.cells[0].number+l.cells[0].spread)
		}
		return out
	}
	paper := &metrics.Value{Number: 80, Decimals: 3}
	for _, c := range []struct {
		name string
		cell Cell
		want []string
	}{
		{"ours alone", Cell{Ours: value1(1.25)}, []string{"r 1.2"}},
		{"never minus zero", Cell{Ours: value1(-0.04)}, []string{"r 0.0"}},
		{"the paper's digits are kept", Cell{Ours: value1(79.96), Paper: paper}, []string{"r 80.0", "paper 80.000", "difference +0.0"}},
		{"a difference has its sign", Cell{Ours: value1(78), Paper: paper}, []string{"r 78.0", "paper 80.000", "difference -2.0"}},
		{"what we did not measure is a dash", Cell{Paper: paper}, []string{"r -", "paper 80.000"}},
		{"what is not defined is a dash", Cell{Why: "nothing was solved"}, []string{"r -"}},
		{"an interval", Cell{Ours: &metrics.Value{Number: 5, Bounded: true, Low: 4, High: 8}}, []string{"r 5.02.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := printed(c.cell); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A row of the paper that nobody measured is printed as what it is.
func TestARowOfThePaperAlone(t *testing.T) {
	paper := paperMain(t)
	l := mainLayout()
	l.Rows = append(l.Rows, RowLayout{Label: "Theirs", Paper: []metrics.Key{{Name: "method", Value: "router-r1"}}})
	table, err := Build(l, mainMeasurements(t, paper), paper)
	if err != nil {
		t.Fatal(err)
	}
	last := table.Rows[len(table.Rows)-1]
	if c := last.Cells[0]; c.Ours != nil || c.Paper == nil {
		t.Errorf("the first cell is %+v", c)
	}
	l.Rows[len(l.Rows)-1].Paper = []metrics.Key{{Name: "method", Value: "nobody"}}
	if _, err := Build(l, mainMeasurements(t, paper), paper); err == nil || !strings.Contains(err.Error(), `row "Theirs"`) {
		t.Errorf("a row that the paper has not: %v", err)
	}
}

func TestTablesThatCannotBeBuilt(t *testing.T) {
	l := mainLayout()
	ours := mainMeasurements(t, paperMain(t))
	l.Rows = append(l.Rows, RowLayout{Label: "kNN", Keys: []metrics.Key{{Name: "method", Value: "knn"}}})
	if _, err := Build(l, ours, nil); err == nil || !strings.Contains(err.Error(), `table "main": no measurement for row "kNN" at method=`) {
		t.Errorf("a row without measurements: %v", err)
	}
	l = mainLayout()
	twice := &metrics.Set{Measurements: slices.Clone(ours.Measurements)}
	for _, m := range ours.Measurements {
		m.Keys = append(slices.Clone(m.Keys), metrics.Key{Name: "pool", Value: "other"})
		twice.Measurements = append(twice.Measurements, m)
	}
	if _, err := Build(l, twice, nil); err == nil || !strings.Contains(err.Error(), "which differ in pool") {
		t.Errorf("two pools for one cell: %v", err)
	}
	ragged := small(metrics.Accuracy, Row{Label: "r"})
	for _, w := range []writer{Terminal{}, Markdown{}, LaTeX{}, CSV{}} {
		if err := w.Write(io.Discard, ragged); err == nil || !strings.Contains(err.Error(), `row "r" has 0 cells for 1 columns`) {
			t.Errorf("%T of a ragged table: %v", w, err)
		}
	}
}

func TestLongHeadsBreakOverNarrowNumbers(t *testing.T) {
	table := &Table{Name: "wide", Head: "Method", Groups: []Group{{Title: "All benchmarks", Columns: []Column{
		{Title: "Acc. %", Decimals: 2},
		{Title: "Cost, % of strongest", Decimals: 1},
		{Title: "Acc. - EntroRouter, points", Decimals: 2},
	}}, {Title: "Other", Columns: []Column{{Title: "n"}}}}}
	for i, label := range []string{"EntroRouter", "Logistic utility"} {
		x := float64(10 - 25*i)
		cells := []Cell{{Ours: value1(80 + x)}, {Ours: value1(50 + x)}, {Ours: value1(x)}, {Ours: value1(3)}}
		for c := range cells[:3] {
			cells[c].Ours.Bounded, cells[c].Ours.Low, cells[c].Ours.High = true, x-5-x*x/20, x+5+x*x/20
		}
		table.Rows = append(table.Rows, Row{Label: label, Cells: cells})
	}
	golden(t, "long-heads.txt", render(t, Terminal{Width: 80}, table))
}

func TestLaTeXIsScaledOnlyWhereItIsTooWide(t *testing.T) {
	columns := func(n int) *Table {
		table := small(metrics.Accuracy, Row{Label: "r"})
		table.Groups[0].Columns = slices.Repeat(table.Groups[0].Columns, n)
		table.Rows[0].Cells = make([]Cell, n)
		for i := range table.Rows[0].Cells {
			table.Rows[0].Cells[i].Ours = value1(10)
		}
		return table
	}
	for _, c := range []struct {
		columns      int
		wide, scaled bool
	}{{2, false, false}, {9, false, true}, {14, true, false}, {22, true, true}} {
		tex := string(render(t, LaTeX{}, columns(c.columns)))
		if wide, scaled := strings.Contains(tex, `\begin{table*}`), strings.Contains(tex, `\resizebox`); wide != c.wide || scaled != c.scaled {
			t.Errorf("%d columns: over both columns of the page %v, scaled %v", c.columns, wide, scaled)
		}
	}
}

func TestLaTeXIsScaledToTheHeightOfThePage(t *testing.T) {
	share := regexp.MustCompile(`\\resizebox\{([0-9.]+)\\linewidth\}`)
	last := 1.0
	for _, c := range []struct {
		rows, notes int
		scaled      bool
	}{{40, 0, false}, {60, 0, true}, {80, 0, true}, {80, 12, true}} {
		table := small(metrics.Accuracy, slices.Repeat([]Row{row(10, false)}, c.rows)...)
		table.Notes = slices.Repeat([]string{"A note that fills a line of the column or a little more."}, c.notes)
		m := share.FindStringSubmatch(string(render(t, LaTeX{}, table)))
		if (m != nil) != c.scaled {
			t.Errorf("%d rows, %d notes: scaled %q", c.rows, c.notes, m)
		}
		if m == nil {
			continue
		}
		to, err := strconv.ParseFloat(m[1], 64)
		if err != nil || to >= last {
			t.Errorf("%d rows, %d notes: scaled to %v of a line, less of them to %v (%v)", c.rows, c.notes, to, last, err)
		}
		last = to
	}
}

// A table that would be too small to read is broken between groups, and a part has the paper's rows only where it has
// numbers of the paper.
func TestTablesOfManyGroupsBecomeSeveralFloats(t *testing.T) {
	table := small(metrics.Accuracy, Row{Label: "first"}, Row{Label: "second"})
	one := table.Groups[0]
	one.Columns = slices.Repeat(one.Columns, 10)
	table.Groups = nil
	for _, title := range []string{"A", "B", "C", "D"} {
		table.Groups = append(table.Groups, Group{Title: title, Columns: one.Columns})
	}
	for i := range table.Rows {
		for range 40 {
			table.Rows[i].Cells = append(table.Rows[i].Cells, Cell{Ours: value1(10)})
		}
	}
	table.Rows[0].Cells[0].Paper = value1(20)
	table.Rows[0].Cells[0].Lead = led(1, 2, false).Cells[0].Lead
	table.Notes = []string{"A note."}
	parts := strings.Split(string(render(t, LaTeX{}, table)), `\end{table*}`)
	if len(parts) != 3 {
		t.Fatalf("%d floats, want 2", len(parts)-1)
	}
	for i, want := range []struct{ has, lacks []string }{
		{[]string{`\textbf{A}`, `\textbf{B}`, `\multirow{2}{*}{first}`, `\textit{20}`, `\label{tab:small}`, "Bold: above every other", "last part"}, []string{`\textbf{C}`, "A note."}},
		{[]string{`\textbf{C}`, `\textbf{D}`, "first", "second", "Bold: above every other", "A note.", "continued", `\label{tab:small-2}`}, []string{`\textbf{A}`, "paper"}},
	} {
		for _, s := range want.has {
			if !strings.Contains(parts[i], s) {
				t.Errorf("part %d has no %s", i+1, s)
			}
		}
		for _, s := range want.lacks {
			if strings.Contains(parts[i], s) {
				t.Errorf("part %d has %s", i+1, s)
			}
		}
	}
}

// The same two groups with the paper's numbers in every place, in every format.
func TestThePapersNumbersStandWhereTheyAreAskedFor(t *testing.T) {
	for _, c := range []struct {
		name  string
		style Style
	}{
		{"below", Style{}},
		{"below-difference", Style{Differences: true}},
		{"beside", Style{Paper: Beside}},
		{"beside-difference", Style{Paper: Beside, Differences: true}},
		{"none", Style{Paper: None}},
		{"none-difference", Style{Paper: None, Differences: true}},
	} {
		paper := paperMain(t)
		l := mainLayout()
		l.Groups = slices.Concat(l.Groups[:1], l.Groups[len(l.Groups)-1:])
		l.Rows = append(l.Rows[2:], RowLayout{Section: "Theirs", Label: "Router-R1", Paper: []metrics.Key{{Name: "method", Value: "router-r1"}}})
		table, err := Build(l, mainMeasurements(t, paper), paper)
		if err != nil {
			t.Fatal(err)
		}
		table.Style = c.style
		golden(t, "style-"+c.name+".txt", render(t, Terminal{Width: 100}, table))
		golden(t, "style-"+c.name+".md", render(t, Markdown{}, table))
		golden(t, "style-"+c.name+".tex", render(t, LaTeX{}, table))
		golden(t, "style-"+c.name+".csv", render(t, CSV{}, table))
		for i, name := range placements {
			if got, err := ParsePlacement(name); err != nil || got != Placement(i) {
				t.Errorf("%s is placement %d: %v", name, got, err)
			}
		}
	}
}

// hostile labels hold what ends cells, rows and commands.
const hostile = "a|b\\c & 100% of $5 #1 {x}_y^z ~u~ <i> \"q\" *s* `t` ± κ\nnext"

// A number is known to the digits that the paper prints, and so is the difference to it.
func TestADifferenceHasNoMoreDigitsThanThePapersNumber(t *testing.T) {
	for _, c := range []struct {
		column, ours, paper int // decimals
		want                string
	}{{2, 3, 1, "+0.9"}, {1, 3, 2, "+0.9"}, {2, 3, 2, "+0.88"}, {2, 3, 0, "+1"}} {
		table := small(metrics.Accuracy, Row{Label: "r", Cells: []Cell{{
			Ours: &metrics.Value{Number: 2.876, Decimals: c.ours}, Paper: &metrics.Value{Number: 2, Decimals: c.paper}}}})
		table.Groups[0].Columns[0].Decimals = c.column
		table.Style.Differences = true
		if lines := table.lines(); lines[2].cells[0].number != c.want {
			t.Errorf("%v: %s", c, lines[2].cells[0].number)
		}
		if text := string(render(t, CSV{}, table)); !strings.HasSuffix(text, ","+strings.TrimPrefix(c.want, "+")+"\n") {
			t.Errorf("%v: %s", c, text)
		}
	}
}

func TestQuotationMarksInLaTeX(t *testing.T) {
	for text, want := range map[string]string{
		`for "the cheapest", "x" and ("y")`: "for ``the cheapest'', ``x'' and (``y'')",
		`a"`:                                "a''", `"`: "``", `[".`: "[``.",
	} {
		if got := escapeLaTeX(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Rows come in the order of their spec, which may have the same sections again and again.
func TestASectionHasOneHeading(t *testing.T) {
	set := &metrics.Set{}
	l := Layout{Name: "t", Groups: []GroupLayout{{Benchmark: "b", Columns: []Column{{Unit: metrics.Accuracy}}}}}
	for i, section := range []string{"A", "B", "A", "C", "B"} {
		keys := []metrics.Key{{Name: "method", Value: fmt.Sprint(i)}}
		l.Rows = append(l.Rows, RowLayout{Section: section, Label: fmt.Sprint(i), Keys: keys})
		set.Measurements = append(set.Measurements, metrics.Measurement{Name: "Route", N: 1,
			Keys: append(keys, metrics.Key{Name: "benchmark", Value: "b"}), Values: []metrics.Value{metrics.Rounded(1, metrics.Accuracy, 1), metrics.Rounded(1, string(routing.Correct), 1)}})
	}
	table, err := Build(l, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	coverage, err := Coverage(l, set, "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []*Table{table, coverage} {
		var got []string
		for _, l := range table.lines() {
			got = append(got, l.label)
		}
		if want := "A 0 2 B 1 4 C 3"; strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", table.Name, got, want)
		}
	}
}

func TestHostileLabelsStayInTheirCells(t *testing.T) {
	table := small(metrics.Accuracy, Row{Section: hostile, Label: hostile, Cells: []Cell{{Ours: value1(1), Paper: value1(2)}}})
	table.Head, table.Groups[0].Title, table.Groups[0].Columns[0].Title, table.Caption, table.Notes = hostile, hostile, hostile, hostile, []string{hostile}
	golden(t, "hostile.md", render(t, Markdown{}, table))
	golden(t, "hostile.tex", render(t, LaTeX{}, table))
	tex := string(render(t, LaTeX{}, table))
	depth := 0
	for i, r := range tex {
		escaped := i > 0 && tex[i-1] == '\\'
		switch {
		case r == '{' && !escaped:
			depth++
		case r == '}' && !escaped:
			depth--
		}
		if depth < 0 {
			t.Fatalf("braces close before they open at byte %d", i)
		}
	}
	if depth != 0 {
		t.Errorf("%d braces stay open", depth)
	}
	for l := range strings.Lines(string(render(t, Markdown{}, table))) {
		if strings.HasPrefix(l, "|") {
			if n := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|"); n != 3 {
				t.Errorf("%d bars where 3 make two columns: %s", n, l)
			}
		}
	}
}

// Lines fit the terminal unless one group alone is wider than it, and blocks lose nothing.
func TestAnyTerminalWidth(t *testing.T) {
	table := mainTable(t)
	unbroken := string(render(t, Terminal{}, table))
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 220).Draw(rt, "width")
		styled := rapid.Bool().Draw(rt, "bold")
		var b bytes.Buffer
		if err := (Terminal{Width: limit, Bold: styled}).Write(&b, table); err != nil {
			rt.Fatal(err)
		}
		for l := range strings.Lines(b.String()) {
			if n := width(strings.TrimRight(l, "\n")); n > max(limit, 60) {
				rt.Fatalf("%d cells in a terminal of %d: %q", n, limit, l)
			}
		}
		for _, g := range table.Groups {
			if strings.Count(b.String(), g.Title) < strings.Count(unbroken, g.Title) {
				rt.Fatalf("width %d lost the group %s", limit, g.Title)
			}
		}
	})
}

// Escaping must be undone by what reads it: no special character survives without its backslash.
func FuzzEscapeLaTeX(f *testing.F) {
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, s string) {
		out := escapeLaTeX(s)
		for _, command := range []string{`\textbackslash{}`, `\textasciitilde{}`, `\textasciicircum{}`, `\dots{}`, `\allowbreak{}`} {
			out = strings.ReplaceAll(out, command, "")
		}
		for _, sign := range []string{`$<$`, `$>$`, `$|$`, `$\pm$`, `$\dagger$`, `$\times$`, `$\le$`, `$\ge$`, `$\alpha$`, `$\beta$`, `$\delta$`, `$\kappa$`, `$\lambda$`, `$\to$`} {
			out = strings.ReplaceAll(out, sign, "")
		}
		for i := 0; i < len(out); i++ {
			switch c := out[i]; {
			case c == '\\':
				i++
				if i == len(out) || !strings.ContainsRune(`%$&#_{}`, rune(out[i])) {
					t.Fatalf("%q became %q: a command of its own at byte %d", s, out, i)
				}
			case strings.ContainsRune(`%$&#_{}~^`, rune(c)):
				t.Fatalf("%q became %q: %q is not escaped", s, out, c)
			}
		}
	})
}

func TestDollarsHaveThreeSignificantDigits(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.0012345: "0.00123", 0.0000099996: "0.0000100", 4.5: "4.50", 9.996: "10.0", 99.95: "100", 1234: "1230", 12.34: "12.3", 0.1: "0.100"} {
		if got := Significant(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}

// A question of 0.0055 dollars in the paper, as printed, is 5.5 for 1,000; ours has three digits whatever its size.
func TestDollarsArePrintedForAThousandQuestions(t *testing.T) {
	c := Column{Title: "$/1,000", Unit: metrics.USDPerQuery, Per1000: true}
	table := &Table{Style: Style{Paper: Beside, Differences: true}}
	cell := Cell{Ours: &metrics.Value{Number: 0.00543211, Decimals: 8}, Paper: &metrics.Value{Number: 0.0055, Decimals: 4}}
	for kind, want := range map[role]string{ours: "5.43", paper: "5.5", difference: "-0.1"} {
		if got := table.cellText(kind, cell, c).number; got != want {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
	if got := c.text(1.7e-5); got != "0.0000170" {
		t.Error(got)
	}
}

// What became of rollouts is such a table where every row could not be fitted, or no question was sent to anybody.
func TestATableWithoutRowsIsItsHeads(t *testing.T) {
	var b strings.Builder
	err := Terminal{Width: 80}.Write(&b, &Table{Name: "t", Head: "Method", Groups: []Group{{Title: "Rollouts", Columns: []Column{{Title: "count"}, {Title: "right"}}}}})
	if err != nil || !strings.Contains(b.String(), "count right") {
		t.Errorf("%q, %v", b.String(), err)
	}
}
