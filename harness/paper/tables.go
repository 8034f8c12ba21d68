// The paper's tables, as formulas read them.

package paper

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Tables are the tables of a paper, as formulas read them. A row is named by the value of its key method and,
// behind it, its other keys: entrorouter/alpha=0.6.
type Tables struct {
	lines     map[string]map[string]map[string]metrics.Measurement // table, row, benchmark
	files     map[[3]string]string                                 // of each line, by table, row and benchmark
	questions map[string]float64                                   // sizes that replace those of the tables, by benchmark
}

// ReadTables reads all measurement files (*.txt) of a folder; every line has the keys table, method and benchmark. Errors
// start with the file.
func ReadTables(fsys fs.FS, dir string) (*Tables, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no such file; want the tables of a paper in the measurement format", path.Join(dir, "*.txt"))
	}
	t := &Tables{lines: map[string]map[string]map[string]metrics.Measurement{}, files: map[[3]string]string{}}
	for _, name := range files {
		f, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		set, err := metrics.Read(name, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		if len(set.Measurements) == 0 {
			return nil, fmt.Errorf("%s: no line is a measurement; want BenchmarkRoute/table=... or no such file here", name)
		}
		for _, m := range set.Measurements {
			table, benchmark := m.Key("table"), m.Key("benchmark")
			if table == "" && m.Key("experiment") != "" {
				return nil, fmt.Errorf("%s: %s is a measurement of 'run', and no table of a paper; name it under --measurements", name, m.Label())
			}
			for _, key := range []string{"table", "method", "benchmark"} {
				if m.Key(key) == "" {
					return nil, fmt.Errorf("%s: %s lacks the key %s; write BenchmarkRoute/table=../method=../benchmark=.. before its numbers", name, m.Label(), key)
				}
			}
			row := m.Key("method")
			for _, k := range m.Keys {
				if k.Name != "table" && k.Name != "method" && k.Name != "benchmark" {
					row += "/" + k.Name + "=" + k.Value
				}
			}
			if t.lines[table] == nil {
				t.lines[table] = map[string]map[string]metrics.Measurement{}
			}
			if t.lines[table][row] == nil {
				t.lines[table][row] = map[string]metrics.Measurement{}
			}
			if _, ok := t.lines[table][row][benchmark]; ok {
				return nil, fmt.Errorf("%s: %s is in another file already", name, m.Label())
			}
			t.lines[table][row][benchmark] = m
			t.files[[3]string{table, row, benchmark}] = name
		}
	}
	return t, nil
}

// fileOf names the file of a table, or the files if it lies in several.
func (t *Tables) fileOf(table string) string {
	names := map[string]bool{}
	for at, name := range t.files {
		if at[0] == table {
			names[path.Base(name)] = true
		}
	}
	return list(names)
}

// All returns the rows of every table, as Rows.
func (t *Tables) All() map[string][]string {
	all := map[string][]string{}
	for name, rows := range t.lines {
		all[name] = sortedKeys(rows)
	}
	return all
}

// Rows implements Cells.
func (t *Tables) Rows(table string) ([]string, error) {
	if t.lines[table] == nil {
		return nil, unknownTable(table, t)
	}
	return sortedKeys(t.lines[table]), nil
}

func unknownTable(table string, t *Tables) error {
	return fmt.Errorf("unknown table %q; known: %s", table, list(t.lines))
}

func (t *Tables) row(table, row string) (map[string]metrics.Measurement, error) {
	r := t.lines[table][row]
	if t.lines[table] == nil {
		return nil, unknownTable(table, t)
	}
	if r == nil {
		return nil, fmt.Errorf("table %s has no row %q; known: %s", table, row, list(t.lines[table]))
	}
	return r, nil
}

func (t *Tables) line(table, row, benchmark string) (metrics.Measurement, error) {
	r, err := t.row(table, row)
	if err != nil {
		return metrics.Measurement{}, err
	}
	m, ok := r[benchmark]
	if !ok {
		return m, fmt.Errorf("row %s of table %s has no benchmark %q; known: %s", row, table, benchmark, list(r))
	}
	return m, nil
}

// Cell implements Cells.
func (t *Tables) Cell(table, row, benchmark, unit string) (metrics.Value, error) {
	m, err := t.line(table, row, benchmark)
	if err != nil {
		return metrics.Value{}, err
	}
	v, ok := m.Value(unit)
	if !ok {
		return v, fmt.Errorf("row %s of table %s has no %s on %s", row, table, unit, benchmark)
	}
	return v, nil
}

// Benchmarks implements Cells.
func (t *Tables) Benchmarks(table, row string) ([]string, error) {
	r, err := t.row(table, row)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(sortedKeys(r), func(b string) bool { return b == metrics.Average }), nil
}

// Questions implements Cells.
func (t *Tables) Questions(table, row, benchmark string) (float64, error) {
	if n, ok := t.questions[benchmark]; ok {
		return n, nil
	}
	v, err := t.Cell(table, row, benchmark, metrics.Questions)
	if err != nil {
		return 0, fmt.Errorf("%w; write how many behind its line, as 30 questions", err)
	}
	return v.Number, nil
}

func list[V any](of map[string]V) string { return strings.Join(sortedKeys(of), ", ") }

// Names says what our measurements call the rows and benchmarks of a paper. Names that are absent are the same.
type Names struct {
	Benchmarks map[string]string            `yaml:"benchmarks"`
	Rows       map[string]map[string]string `yaml:"rows"` // by table
}

func (n Names) benchmark(name string) string {
	if ours, ok := n.Benchmarks[name]; ok {
		return ours
	}
	return name
}

func (n Names) row(table, row string) string {
	if ours, ok := n.Rows[table][row]; ok {
		return ours
	}
	return row
}
