package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
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
	table.Differences = true
	golden(t, "main.md", render(t, Markdown{}, table))
	golden(t, "main.tex", render(t, LaTeX{}, table))
	golden(t, "main.csv", render(t, CSV{}, table))
}
