package claims

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Tables are the tables of a paper, as formulas read them. A row is named by the value of its key method and,
// behind it, its other keys: entrorouter/alpha=0.6.
type Tables struct {
	lines     map[string]map[string]map[string]metrics.Measurement // table, row, benchmark
	questions map[string]float64                                   // sizes that replace those of the tables, by benchmark
}

// ReadTables reads all measurement files (*.txt) of a folder; every line has the keys table, method and benchmark.
func ReadTables(fsys fs.FS, dir string) (*Tables, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no table; want measurement files named *.txt", dir)
	}
	t := &Tables{lines: map[string]map[string]map[string]metrics.Measurement{}}
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
		for _, m := range set.Measurements {
			table, benchmark := m.Key("table"), m.Key("benchmark")
			if table == "" || benchmark == "" || m.Key("method") == "" {
				return nil, fmt.Errorf("%s: %s lacks one of the keys table, method and benchmark", name, m.Label())
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
		}
	}
	return t, nil
}

// with returns t with other sizes of some benchmarks.
func (t *Tables) with(questions map[string]float64) *Tables { return &Tables{t.lines, questions} }

// Rows implements Cells.
func (t *Tables) Rows(table string) ([]string, error) {
	if t.lines[table] == nil {
		return nil, unknownTable(table, t)
	}
	return slices.Sorted(maps.Keys(t.lines[table])), nil
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
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r)), func(b string) bool { return b == metrics.Average }), nil
}

// Questions implements Cells.
func (t *Tables) Questions(table, row, benchmark string) (float64, error) {
	if n, ok := t.questions[benchmark]; ok {
		return n, nil
	}
	v, err := t.Cell(table, row, benchmark, metrics.Questions)
	return v.Number, err
}

func list[V any](of map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}

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

// ours reads the measurements of a scale as if they were the paper's tables.
type ours struct {
	measured *Measurements
	names    Names
	scale    Scale
}

func (o ours) find(table, row, benchmark string) (metrics.Measurement, error) {
	if o.scale.Rows != nil {
		id, ok := o.scale.Rows[row]
		if table != mainTable || !ok {
			return metrics.Measurement{}, errNotStated
		}
		row = id
	}
	experiment := table
	if o.scale.Experiment != "" {
		experiment = o.scale.Experiment
	}
	m, ok, err := o.measured.find(experiment, o.scale, Place{"method": o.names.row(experiment, row), "benchmark": o.names.benchmark(benchmark)})
	if err == nil && !ok {
		err = errNotRun
	}
	return m, err
}

// mainTable is the paper's main table, the only one that scales with rows of their own have.
const mainTable = "main"

// average is the benchmark that stands for all of them.
func (o ours) average() string {
	if o.scale.Average != "" {
		return o.scale.Average
	}
	return metrics.Average
}

// Cell implements Cells. Scales without dollars have costs in percent of the strongest expert's, which formulas of
// ratios can take.
func (o ours) Cell(table, row, benchmark, unit string) (metrics.Value, error) {
	if benchmark == metrics.Average {
		benchmark = o.average()
	}
	m, err := o.find(table, row, benchmark)
	if err != nil {
		return metrics.Value{}, err
	}
	v, ok := m.Value(unit)
	if !ok && unit == metrics.USD {
		v, ok = m.Value(metricUnits["cost"].own)
	}
	if !ok {
		return v, errNotRun
	}
	return v, nil
}

// Benchmarks implements Cells.
func (o ours) Benchmarks(table, row string) ([]string, error) {
	if o.scale.Average != "" {
		_, err := o.find(table, row, o.scale.Average)
		return []string{o.scale.Average}, err
	}
	found := o.measured.benchmarks(table, o.scale, o.names.row(table, row))
	if len(found) == 0 {
		return nil, errNotRun
	}
	return found, nil
}

// gain reads the hull gain that was measured.
func (o ours) gain(table, row string) (float64, error) {
	v, err := o.Cell(table, row, metrics.Average, metricUnits["hull-gain"].own)
	return v.Number, err
}

// Rows implements Cells.
func (o ours) Rows(string) ([]string, error) { return nil, errNotStated }

// Questions implements Cells.
func (o ours) Questions(table, row, benchmark string) (float64, error) {
	v, err := o.Cell(table, row, benchmark, metrics.Questions)
	return v.Number, err
}
