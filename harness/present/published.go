// What the paper prints beside an experiment.

package present

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/units"
)

// published is what the paper prints beside an experiment, and what follows from it.
type published struct {
	table *metrics.Set // the table that the experiment reproduces; nil: it reproduces none
	all   *metrics.Set // lines of all its tables
	whole *metrics.Set // whole rows of it, recomputed; empty where the paper has other benchmarks
	shown bool         // tables print its numbers, or differences to them
	self  []string     // labels of its whole rows that may answer themselves, and so have another hull
}

// recomputed is the value of the key table in recomputed rows: no table of the paper has these numbers.
const recomputed = "recomputed"

// readPublished reads the paper's tables, paper/*.txt of papers.
func (r *Run) readPublished(papers fs.FS) (published, error) {
	p := published{whole: &metrics.Set{}, shown: r.Style.Paper != report.None || r.Style.Differences}
	name := r.Spec.Experiment.Paper
	if name == "" {
		return p, nil
	}
	files, err := fs.Glob(papers, "paper/*.txt")
	if err != nil {
		return p, err
	}
	all := &metrics.Set{}
	for _, file := range files {
		f, err := papers.Open(file)
		if err != nil {
			return p, fmt.Errorf("paper table %q: %w", name, err)
		}
		set, err := metrics.Read(file, f)
		f.Close()
		if err != nil {
			return p, err
		}
		all.Measurements = append(all.Measurements, set.Measurements...)
		if file == "paper/"+name+".txt" {
			p.table = set
		}
	}
	p.all = all
	if p.table == nil {
		return p, fmt.Errorf("paper table %q: there is no paper/%s.txt", name, name)
	}
	if r.samePass(p.table) {
		p.whole = r.recompute(p.table, all)
		for _, m := range r.Spec.Experiment.Methods {
			if _, ok := r.paperPoint(p.table, metrics.Keys(m.PaperKeys()...)); ok && m.Paper != "" && methods.AnswersItself(m.Name) {
				p.self = append(p.self, m.RowLabel())
			}
		}
	}
	return p, nil
}

// withAverages is the table, of the given name, with the recomputed averages of its rows, which it does not print.
func (p published) withAverages(name string) *metrics.Set {
	set := &metrics.Set{Measurements: slices.Clone(p.table.Measurements)}
	for _, m := range p.whole.Measurements {
		m.Keys = slices.Clone(m.Keys)
		m.Keys[slices.Index(m.Keys, metrics.Key{Name: "table", Value: recomputed})].Value = name
		set.Measurements = append(set.Measurements, m)
	}
	return set
}

// averages are accuracies and costs over all benchmarks, beside which sweeps stand: those that the cells give, or else those that the
// table prints. Its gains are above another hull.
func (p published) averages() *metrics.Set {
	if len(p.whole.Measurements) == 0 {
		return p.table
	}
	set := &metrics.Set{}
	for _, m := range p.whole.Measurements {
		m.Values = slices.DeleteFunc(slices.Clone(m.Values), func(v metrics.Value) bool { return v.Unit != metrics.Accuracy && v.Unit != units.CostShare })
		set.Measurements = append(set.Measurements, m)
	}
	return set
}

// Recomputed says whether tables that the paper does not print have numbers of it.
func (p published) Recomputed() bool { return p.shown && p.whole.Measurements != nil }

// Blank are the labels of the rows whose gains in the paper are not known.
func (p published) Blank() []string { return p.self }

// reference is the paper's own router in the plane of dollars per question and accuracy, over all benchmarks.
func (p published) reference() (report.Point, bool) {
	m, ok, err := p.whole.Find(metrics.Keys("table", recomputed, "benchmark", metrics.Average, "method", methods.ReferenceRow)...)
	cost, priced := m.Value(metrics.USDPerQuery)
	accuracy, graded := m.Value(metrics.Accuracy)
	gain, above := m.Value(units.HullGain)
	return report.Point{Label: "EntroRouter in the paper", Cost: cost.Number, Accuracy: accuracy.Number, Gain: gain.Number},
		ok && err == nil && priced && graded && above
}

// recompute returns what follows from the cells that the paper prints for a row of a table over all benchmarks of the
// experiment, weighted by their questions, in the units and under the keys of our averages. all has all of its tables: fixed
// experts that the table leaves out come from another one, over the same benchmarks. Decimals are as many as cells
// rounded to a tenth of a point carry.
func (r *Run) recompute(table, all *metrics.Set) *metrics.Set {
	out := &metrics.Set{}
	experts := map[string]metrics.Point{}
	var fixed []metrics.Point
	for _, x := range r.Spec.Pools[0].Experts {
		if point, ok := r.paperPoint(all, metrics.Keys("method", x.ID)); ok {
			experts[x.ID] = point
			fixed = append(fixed, point)
		}
	}
	hull := metrics.UpperHull(fixed)
	complete := len(fixed) == len(r.Spec.Pools[0].Experts)
	strongest, ok := experts[r.strongest(r.Spec.Pools[0])]
	cheapest, ok2 := experts[r.cheapest(r.Spec.Pools[0])]
	priced := ok && ok2 && strongest.Quality > cheapest.Quality
	var reference *metrics.Point
	type paperRow struct {
		keys []metrics.Key
		own  bool // may answer itself: its hull has a point more, which the paper does not print
	}
	var rows []paperRow
	for _, m := range r.Spec.Experiment.Methods {
		if m.Paper == "" {
			continue
		}
		row := paperRow{metrics.Keys(m.PaperKeys()...), methods.AnswersItself(m.Name)}
		rows = append(rows, row)
		if point, ok := r.paperPoint(table, row.keys); ok && m.RowID() == methods.ReferenceRow {
			reference = &point
		}
	}
	for _, row := range r.Spec.Experiment.PaperRows {
		rows = append(rows, paperRow{keys: metrics.Keys(row.Keys()...)})
	}
	for _, row := range rows {
		point, ok := r.paperPoint(table, row.keys)
		if !ok {
			continue
		}
		m := metrics.Measurement{Name: "Route", N: 1, Values: []metrics.Value{
			metrics.Rounded(point.Quality, metrics.Accuracy, 1), metrics.Rounded(point.Cost, metrics.USDPerQuery, 4),
		}}
		m.Keys = append(metrics.Keys("table", recomputed, "benchmark", metrics.Average), row.keys...)
		add := func(x float64, unit string, decimals int) {
			m.Values = append(m.Values, metrics.Rounded(x, unit, decimals))
		}
		if priced {
			add(100*point.Cost/strongest.Cost, units.CostShare, 1)
			add(100*metrics.Saving(point.Cost, strongest.Cost), units.SavedCost, 1)
			add(100*metrics.Retention(point.Quality, strongest.Quality), units.Retention, 1)
			add(metrics.PGR(point.Quality, cheapest.Quality, strongest.Quality), units.PGR, 2)
		}
		if complete && !row.own {
			add(hull.Gain(point), units.HullGain, 1)
			if reference != nil && *reference != point {
				add(metrics.UpperHull(append(slices.Clone(fixed), *reference)).Gain(point), units.Lead, 1)
			}
		}
		if !slices.ContainsFunc(out.Measurements, func(other metrics.Measurement) bool { return slices.Equal(other.Keys, m.Keys) }) {
			out.Measurements = append(out.Measurements, m)
		}
	}
	return out
}

// paperPoint is a row of the paper over the benchmarks of the experiment: mean accuracy in percent and dollars per question.
// Of several tables with such a row the experiment's own counts, or else the first.
func (r *Run) paperPoint(set *metrics.Set, row []metrics.Key) (metrics.Point, bool) {
	tables := []string{r.Spec.Experiment.Paper}
	for _, m := range set.Measurements {
		if t := m.Key("table"); !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	for _, table := range tables {
		var correct, dollars, questions float64
		complete := true
		for _, b := range r.Spec.Experiment.Test {
			m, _, err := set.Find(append(metrics.Keys("table", table, "benchmark", r.Spec.Benchmarks[b].Paper), row...)...)
			n, ok := m.Value("questions")
			accuracy, ok2 := m.Value(metrics.Accuracy)
			usd, ok3 := m.Value(metrics.USD)
			if err != nil || !ok || !ok2 || !ok3 {
				complete = false
				break
			}
			correct += n.Number * accuracy.Number
			dollars += usd.Number
			questions += n.Number
		}
		if complete {
			return metrics.Point{Cost: dollars / questions, Quality: correct / questions}, true
		}
	}
	return metrics.Point{}, false
}
