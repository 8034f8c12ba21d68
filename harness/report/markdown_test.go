package report

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

var (
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	cellEnd    = regexp.MustCompile(`([^\\])\|`)
)

// pageTables are the columns of the tables of a page.
func pageTables(text string) (tables [][]markdownColumn) {
	before := ""
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			before = ""
			continue
		}
		row := strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
		var cells []string
		for cell := range strings.SplitSeq(cellEnd.ReplaceAllString(row+" ", "$1\x00"), "\x00") {
			cells = append(cells, strings.NewReplacer("[", "", "`", "").Replace(linkTarget.ReplaceAllString(strings.TrimSpace(cell), "")))
		}
		if before == "" {
			tables = append(tables, make([]markdownColumn, len(cells)))
		}
		columns := tables[len(tables)-1]
		switch rule := strings.Trim(line, "|-: ") == ""; {
		case before == "":
			for i := range columns {
				columns[i].head = cells[i]
			}
		case !rule:
			for i := range columns {
				columns[i].cells = append(columns[i].cells, cells[i])
			}
		}
		before = line
	}
	return tables
}

// What is wider than the column of a page is moved out of sight at the right.
func TestNoTableOfAPageIsWiderThanItsColumn(t *testing.T) {
	root := filepath.Join("..", "..")
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && name != "docs" && !strings.HasPrefix(name, "figures"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, columns := range pageTables(string(text)) {
			n++
			total := 0.0
			for _, c := range columns {
				total += c.width(c.head)
			}
			if total > siteWidth+5 { // the type of code is not known here
				t.Errorf("%s: a table of %d columns is %.0f pixels wide, over %d: %q", name, len(columns), total, siteWidth, columns[1].head)
			}
		}
		return nil
	})
	if err != nil || n < 100 {
		t.Fatalf("%d tables: %v", n, err)
	}
}

// A table that is too wide is cut between groups, averages first, in as few parts as there must be, none much wider than the others; every number stays, and a part has
// the rows that have a number there.
func TestAPageCutsWideTablesBetweenGroups(t *testing.T) {
	groups := []string{"HMMT", "AIME25", metrics.Average, "Olympiad", "AIME24", "AMC", "MATH500"}
	table := &Table{Name: "wide", Head: "Method"}
	for _, g := range groups {
		table.Groups = append(table.Groups, Group{Title: g, Benchmark: g, Columns: []Column{{Title: "Accuracy", Decimals: 4}, {Title: "Cost", Decimals: 4}}})
	}
	for i, label := range []string{"everywhere", "average alone"} {
		r := Row{Section: "Under " + label, Label: label}
		for k, g := range groups {
			cells := []Cell{{}, {}}
			if i == 0 || g == metrics.Average {
				cells = []Cell{{Ours: value1(float64(10 + k))}, {Ours: value1(float64(20 + k))}}
			}
			r.Cells = append(r.Cells, cells...)
		}
		table.Rows = append(table.Rows, r)
	}
	page := string(render(t, Markdown{}, table))
	tables := pageTables(page)
	var widths []int
	for _, columns := range tables {
		widths = append(widths, len(columns)-1)
	}
	if !slices.Equal(widths, []int{2, 6, 6}) {
		t.Errorf("columns of the parts: %d\n%s", widths, page)
	}
	for k := range groups {
		for _, number := range []float64{float64(10 + k), float64(20 + k)} {
			if !strings.Contains(page, " "+Fixed(number, 4)+" ") {
				t.Errorf("%v is in no part:\n%s", number, page)
			}
		}
	}
	if n := strings.Count(page, "Under average alone"); n != 1 {
		t.Errorf("a section without a number stands in %d parts:\n%s", n, page)
	}
}
