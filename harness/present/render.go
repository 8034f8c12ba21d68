// Package present decides what tables, figures and captions of an experiment show. It reads the spec, its measurements and
// the paper's tables; it measures nothing, carries nothing out and writes no files.
package present

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Run is what an experiment left behind, to be shown.
type Run struct {
	Spec         *spec.Resolved
	Measurements *metrics.Set
	Before       *metrics.Set // of another run, whose points planes show beside these; nil: of none
	Style        report.Style // of its tables

	// RouterMS is how long a row that trains a language model took to decide about a question, in milliseconds, by its id. It repeats
	// nowhere, so no measurement has it; nil: it is not known, as where measurements are all there is.
	RouterMS map[string]float64
}

// Outputs are the outputs of a finished experiment, in the order of its spec. They are made of the measurements and of the
// files paper/<table>.txt of papers: nothing is measured.
func Outputs(r *Run, papers fs.FS) ([]Output, error) {
	for _, m := range r.Spec.Experiment.Methods {
		if len(r.Measurements.Where(metrics.Keys("method", m.RowID())...)) == 0 {
			return nil, fmt.Errorf("nothing was measured of row %s", m.RowID())
		}
	}
	paper, err := r.readPublished(papers)
	if err != nil {
		return nil, err
	}
	var all []Output
	for _, o := range r.Spec.Experiment.Outputs {
		made, err := r.output(o, paper)
		if err != nil {
			return nil, err
		}
		for _, t := range made.Tables {
			t.Style = r.Style
		}
		all = append(all, made)
	}
	return all, nil
}

// Draw prints the tables of a finished experiment, each with one Write, and returns the files of its outputs: tables as Markdown, LaTeX and CSV, words as text,
// figures in the given formats (none: SVG) with their numbers and caption, and the measurements themselves. It measures
// nothing: our numbers are read from the measurements, the paper's from the files paper/<table>.txt of papers. What it
// works out follows from these: whole rows of the paper, shares of the coverage, differences, and what is best.
func Draw(r *Run, papers fs.FS, to report.Terminal, w io.Writer, formats ...report.Format) ([]report.File, error) {
	made, err := Outputs(r, papers)
	if err != nil {
		return nil, err
	}
	var files []report.File
	for _, d := range made {
		if d.Text != "" {
			files = append(files, report.File{Name: d.File + ".txt", Data: []byte(d.Text)})
		}
		for _, t := range d.Tables {
			if d.printed {
				var text bytes.Buffer
				if err := to.Write(&text, t); err != nil {
					return nil, err
				}
				text.WriteByte('\n')
				if _, err := w.Write(text.Bytes()); err != nil {
					return nil, err
				}
			}
			f, err := t.Files()
			if err != nil {
				return nil, err
			}
			files = append(files, f...)
		}
		for _, fig := range d.Figures {
			f, err := fig.Files(formats...)
			if err != nil {
				return nil, err
			}
			files = append(files, f...)
		}
	}
	var text bytes.Buffer
	if err := r.Measurements.Write(&text); err != nil {
		return nil, err
	}
	files = append(files, report.File{Name: Measurements(r.Spec.Experiment.Name), Data: text.Bytes()})
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			return nil, fmt.Errorf("%w: spec %s: two outputs write %s; give one of them another file", spec.ErrUsage, r.Spec.Experiment.Name, f.Name)
		}
		seen[f.Name] = true
	}
	return files, nil
}

// Conclude prints the outputs of a finished experiment that are words. They are the last that is said of it: what a reader came for is
// the last line.
func Conclude(r *Run, w io.Writer) error {
	for _, o := range r.Spec.Experiment.Outputs {
		at := slices.IndexFunc(outputs(), func(of output) bool { return of.kind == o.Kind && of.text != nil })
		if at < 0 {
			continue
		}
		text, err := outputs()[at].text(r, o)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// tables are the tables of an experiment: the paper's layout, then what the paper's sizes cannot resolve.
func (r *Run) tables(o spec.Output, paper published) ([]*report.Table, error) {
	x, name := &r.Spec.Experiment, o.File
	if x.Recorded() {
		return r.foldTables(name)
	}
	main := report.Layout{Name: name, Paper: x.Paper, Head: "Method"}
	for _, b := range x.Test {
		main.Groups = append(main.Groups, report.GroupLayout{Title: r.Spec.Benchmarks[b].Title, Benchmark: b, Paper: r.Spec.Benchmarks[b].Paper, Columns: report.AccuracyAndCost()})
	}
	average := report.GroupLayout{Title: "Avg.", Benchmark: metrics.Average, Columns: report.AverageAccuracyAndCost()}
	printed, w := paper.table, ofTable{words: r.words(), Table: name, Paper: paper}
	if paper.whole.Measurements != nil {
		average.Paper = metrics.Average
	}
	if average.Paper != "" && len(printed.Where(metrics.Keys("benchmark", metrics.Average)...)) == 0 {
		printed = paper.withAverages(x.Paper)
		w.Averaged = paper.shown
	}
	main.Groups = append(main.Groups, average)
	var err error
	if main.Caption, err = caption("table caption", w); err != nil {
		return nil, err
	}
	if main.Notes, err = notes("table notes", w); err != nil {
		return nil, err
	}
	for _, m := range x.Methods {
		row := report.RowLayout{Section: methods.Section(m.Name), Label: r.label(m), Keys: metrics.Keys("arena", metrics.PaperArena, "method", m.RowID())}
		if row.Reference, err = r.reference(m, r.Spec.Pools[0]); err != nil {
			return nil, err
		}
		if m.Paper != "" {
			row.Paper = metrics.Keys(m.PaperKeys()...)
		}
		main.Rows = append(main.Rows, row)
	}
	all := main
	all.Rows = append(slices.Clone(main.Rows), r.paperRows()...)
	t, err := report.Build(all, r.Measurements, printed)
	if err != nil {
		return nil, err
	}
	graded := main
	if graded.Caption, err = caption("coverage caption", w); err != nil {
		return nil, err
	}
	coverage, err := report.Coverage(graded, r.Measurements, metrics.Average)
	if err != nil {
		return nil, err
	}
	if coverage.Notes, err = notes("coverage notes", w); err != nil {
		return nil, err
	}
	tables := []*report.Table{t, coverage}
	asked, err := r.askedTable(name, all.Rows, paper)
	if err != nil {
		return nil, err
	}
	if asked != nil {
		tables = append(tables, asked)
	}
	calls, err := r.callsTable(name, main.Rows, paper)
	if err != nil {
		return nil, err
	}
	if calls != nil {
		tables = append(tables, calls)
	}
	if x.Large == 0 {
		return tables, nil
	}
	columns := []report.Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2, Better: report.Higher},
		{Title: "Cost, % of strongest", Unit: units.CostShare, Decimals: 1, Better: report.Lower},
		{Title: "Acc. kept, %", Unit: units.Retention, Decimals: 2, Better: report.Higher},
		{Title: "Hull gain, points", Unit: units.HullGain, Decimals: 2, Better: report.Higher},
		{Title: "Lead over EntroRouter", Unit: units.Lead, Decimals: 2, Better: report.Higher},
	}
	if r.seeds() > 1 {
		columns = append(columns, report.Column{Title: "Seed SD of acc.", Unit: units.SeedSD, Decimals: 2})
	}
	large := report.Layout{
		Name: name + "-large", Paper: recomputed, Head: "Method",
		Groups: []report.GroupLayout{{Title: "All benchmarks", Benchmark: metrics.Average, Paper: metrics.Average, Columns: columns}},
	}
	if slices.ContainsFunc(r.Measurements.Where(metrics.Keys("arena", metrics.LargeArena)...), func(m metrics.Measurement) bool { return m.Name == "Curve" }) {
		large.Groups = append(large.Groups, report.GroupLayout{Title: "Whole curve", Line: "Curve", Columns: []report.Column{meanGain()}})
	}
	if large.Caption, err = caption("large caption", w); err != nil {
		return nil, err
	}
	if large.Notes, err = notes("large notes", w); err != nil {
		return nil, err
	}
	for i, row := range main.Rows {
		row.Keys = metrics.Keys("arena", metrics.LargeArena, "method", x.Methods[i].RowID())
		if len(r.Measurements.Where(row.Keys...)) == 0 {
			continue // a row of hindsight, which needs answers and not probabilities
		}
		large.Rows = append(large.Rows, row)
	}
	if paper.whole.Measurements != nil {
		large.Rows = append(large.Rows, r.paperRows()...)
	}
	lt, err := report.Build(large, r.Measurements, paper.whole)
	if err != nil {
		return nil, err
	}
	return append(tables, lt), nil
}

// meanGain is the column that says which row is above all others at equal cost.
func meanGain() report.Column {
	return report.Column{Title: "Mean gain", Unit: units.MeanGain, Decimals: 2, Better: report.Higher, Lead: units.MeanLead}
}

// strongest returns the id of the dearest expert of a pool: the paper's reference.
func (r *Run) strongest(pool spec.Pool) string {
	experts := r.byPrice(pool)
	return experts[len(experts)-1].ID
}

// cheapest returns the id of the cheapest expert of a pool.
func (r *Run) cheapest(pool spec.Pool) string { return r.byPrice(pool)[0].ID }

// asks returns the id of the expert of a pool that a row always asks; ok is false for rows that choose.
func (r *Run) asks(m spec.Method, pool spec.Pool) (id string, ok bool) {
	var ids []string
	for _, e := range r.byPrice(pool) {
		ids = append(ids, e.ID)
	}
	return methods.FixedExpert(m, ids)
}

// seeds is how many trainings the measurements average over: training seeds or, of recorded answers, partitions. The spec
// may have been run with others than it names.
func (r *Run) seeds() int {
	seen := map[string]bool{"": true}
	for _, m := range r.Measurements.Measurements {
		seen[m.Key("seed")] = true
	}
	return max(len(seen)-1, 1)
}

// large is how many problems of a benchmark the larger set has. The spec may have been changed since.
func (r *Run) large() int {
	x := &r.Spec.Experiment
	for _, m := range r.Measurements.Where(metrics.Keys("arena", metrics.LargeArena, "benchmark", metrics.Average)...) {
		return m.N / len(x.Test)
	}
	return x.Large
}

// samePass says whether our average is over the benchmarks of the paper's, all of each.
func (r *Run) samePass(paper *metrics.Set) bool {
	if paper == nil || r.Spec.Experiment.Evaluate.MaxProblems > 0 {
		return false
	}
	var ours, theirs []string
	for _, b := range r.Spec.Experiment.Test {
		ours = append(ours, r.Spec.Benchmarks[b].Paper)
	}
	for _, m := range paper.Measurements {
		if b := m.Key("benchmark"); b != metrics.Average {
			theirs = append(theirs, b)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	return slices.Equal(ours, slices.Compact(theirs))
}

// dearest is what the dearest expert is called: the strongest where that is how the strongest is found, as in the paper.
func dearest(x *spec.Experiment) string {
	if x.Targets.Strongest == "accuracy" {
		return "dearest"
	}
	return "strongest"
}

// foldTables has one table a pool and stratum, and one of predictions a pool. A pool of one benchmark has the table of all questions alone.
func (r *Run) foldTables(name string) ([]*report.Table, error) {
	x := &r.Spec.Experiment
	own := []report.Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2, Better: report.Higher},
		{Title: "Cost, % of " + dearest(x), Unit: units.CostShare, Decimals: 1, Better: report.Lower},
		{Title: "Hull gain", Unit: units.HullGain, Decimals: 2, Better: report.Higher},
	}
	if slices.ContainsFunc(r.Measurements.Measurements, func(m metrics.Measurement) bool { _, ok := m.Value(metrics.USDPerQuery); return ok }) {
		own = slices.Insert(own, 1, report.Column{Title: "$/1,000", Unit: metrics.USDPerQuery, Better: report.Lower, Plain: true, Per1000: true})
	}
	lead := ""
	if k := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == methods.BenchmarkRow }); k >= 0 {
		label := x.Methods[k].RowLabel()
		lead = "Lead over " + strings.ToLower(label[:1]) + label[1:]
		own = append(own, report.Column{Title: lead, Unit: units.LeadBenchmark, Decimals: 2, Better: report.Higher})
	}
	if r.seeds() > 1 {
		own = append(own, report.Column{Title: "Partition SD", Unit: units.FoldsSD, Decimals: 2})
	}
	if slices.ContainsFunc(x.Methods, func(m spec.Method) bool { _, ok := methods.LanguageModel(m, x); return ok }) {
		own = append(own, report.Column{Title: "Router's tokens/query", Unit: units.RouterTokens, Decimals: 1})
	}
	var tables []*report.Table
	for _, pool := range r.Spec.Pools {
		var benchmarks []string
		for _, m := range r.Measurements.Where(metrics.Keys("pool", pool.Name, "method", x.Methods[0].RowID(), "seed", "")...) {
			if m.Name == "Route" {
				benchmarks = append(benchmarks, m.Key("benchmark"))
			}
		}
		slices.SortFunc(benchmarks, func(a, b string) int { return strings.Compare(order(a), order(b)) })
		for _, b := range benchmarks {
			if b != metrics.BothStrata && r.stratumSize(pool.Name, b) == r.stratumSize(pool.Name, metrics.BothStrata) {
				continue // the pool has no other questions
			}
			l := report.Layout{
				Name: name + "-" + pool.Name + "-" + b, Head: "Method",
				Groups: []report.GroupLayout{
					{Title: "Own operating point", Benchmark: b, Columns: own},
					{Title: "Whole curve", Benchmark: b, Columns: []report.Column{
						meanGain(),
						{Title: "Gain @25%", Unit: fmt.Sprintf(units.GainAt, 25), Decimals: 2, Better: report.Higher},
						{Title: "@50%", Unit: fmt.Sprintf(units.GainAt, 50), Decimals: 2, Better: report.Higher},
						{Title: "@75%", Unit: fmt.Sprintf(units.GainAt, 75), Decimals: 2, Better: report.Higher},
					}},
				},
			}
			w := r.inPool(pool, b)
			w.Lead = lead
			var err error
			if l.Caption, err = caption("folds caption", w); err != nil {
				return nil, err
			}
			if l.Notes, err = notes("folds notes", w); err != nil {
				return nil, err
			}
			for _, m := range x.Methods {
				row := report.RowLayout{Section: methods.Section(m.Name), Label: r.label(m), Keys: metrics.Keys("pool", pool.Name, "method", m.RowID())}
				if row.Reference, err = r.reference(m, pool); err != nil {
					return nil, err
				}
				l.Rows = append(l.Rows, row)
			}
			t, err := report.Build(l, r.Measurements, nil)
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
		}
		predictions, err := r.predictionsTable(name, pool)
		if err != nil {
			return nil, err
		}
		if predictions != nil {
			tables = append(tables, predictions)
		}
	}
	return tables, nil
}

// stratumSize is how many questions of a recorded pool a stratum has.
func (r *Run) stratumSize(pool, stratum string) (n int) {
	for _, m := range r.Measurements.Where(metrics.Keys("pool", pool, "method", r.Spec.Experiment.Methods[0].RowID(), "benchmark", stratum, "seed", "")...) {
		n = max(n, m.N)
	}
	return n
}

// order puts the stratum of all questions first.
func order(benchmark string) string {
	if benchmark == metrics.BothStrata {
		return ""
	}
	return benchmark
}

// hasCurve says whether the curve of a row was measured.
func (r *Run) hasCurve(m spec.Method) bool {
	return slices.ContainsFunc(r.Measurements.Where(metrics.Keys("method", m.RowID())...), func(line metrics.Measurement) bool {
		_, curve := line.Value(units.MeanGain)
		return curve
	})
}
