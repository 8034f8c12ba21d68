package paper

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where verdicts are said to be decided and tested, there is something of that name.
func TestWhereVerdictsAreDecidedIsThere(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, d := range []Decided{byClaims, byOurs, byTables, byMeasured, byOrderings, byPools} {
		for _, symbol := range []string{d.By, d.Test} {
			parts := strings.Split(symbol, ".")
			declared := `(?m)^func ` + parts[len(parts)-1] + `\(`
			if len(parts) == 3 {
				declared = `(?m)^func \(\w+ \*?` + parts[1] + `\) ` + parts[2] + `\(`
			}
			if parts[0] != "paper" || !regexp.MustCompile(declared).MatchString(source.String()) {
				t.Errorf("there is no %s", symbol)
			}
		}
	}
}

// A claim leads to its line, the rows that its formula reads and the experiments of its scales; an ordering to those of its sides.
func TestWhatStandsBehindASentence(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: first, a: router/knob=2, b: cheap, is: above, recorded: {a: ours, b: {method: other, stratum: hard}}}")
	l := list1(t, `claims:
  - {id: kept, source: s, says: y, formula: "retention(toy, router/knob=2, dear) > min(mean(toy, cheap), 3)", unit: "%", ours: {}, verdict: holds}
  - {id: told, source: s, says: z, verdict: not checkable, reason: r}
`)
	tables, m := toyTables(t), &Measurements{}
	findings, err := l.Check("c.yaml", tables, m, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.Judge("o.yaml", tables, m)
	if err != nil {
		t.Fatal(err)
	}
	want := []Behind{
		{"kept", "y", "c.yaml:2", []string{"router/knob=2", "dear", "cheap"}, []string{"toy", "logs"}, byOurs},
		{"told", "z", "c.yaml:3", nil, nil, byClaims},
		{"x", "first", "o.yaml:12", []string{"router/knob=2", "cheap"}, []string{"toy", "logs"}, byOrderings},
	}
	if diff := cmp.Diff(want, o.Behind("o.yaml", l, findings, rows)); diff != "" {
		t.Error(diff)
	}
}
