// Package present decides what tables, figures and captions of an experiment show. It reads the spec, its measurements and
// the paper's tables; it measures nothing, carries nothing out and writes no files.
package present

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Run is what an experiment left behind, to be shown.
type Run struct {
	Spec         *spec.Resolved
	Measurements *metrics.Set
	Style        report.Style // of its tables
}

// Draw prints the tables of a finished experiment and returns the files of its outputs: tables as Markdown, LaTeX and CSV,
// figures in the given formats (none: SVG) with their numbers and caption, and the measurements themselves. It measures
// nothing: our numbers are read from the measurements, the paper's from the files paper/<table>.txt of papers. What it
// works out follows from these: whole rows of the paper, shares of the coverage, differences, and what is best.
func Draw(r *Run, papers fs.FS, to report.Terminal, w io.Writer, formats ...report.Format) ([]report.File, error) {
	for _, m := range r.Spec.Experiment.Methods {
		if len(r.Measurements.Where(metrics.Keys("method", m.RowID())...)) == 0 {
			return nil, fmt.Errorf("nothing was measured of row %s", m.RowID())
		}
	}
	paper, err := r.readPublished(papers)
	if err != nil {
		return nil, err
	}
	var files []report.File
	for _, o := range r.Spec.Experiment.Outputs {
		var tables []*report.Table
		var figures []*report.Figure
		var err error
		switch o.Kind {
		case "table":
			tables, err = r.tables(o.File, paper)
			for _, t := range tables {
				t.Style = r.Style
				if err := to.Write(w, t); err != nil {
					return nil, err
				}
				fmt.Fprintln(w)
			}
		case "metrics":
			tables, err = r.metricsTables(o.File, paper) // not printed: the main tables fill a screen
		default:
			figures, err = r.figures(o, paper.table)
		}
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			t.Style = r.Style
			f, err := t.Files()
			if err != nil {
				return nil, err
			}
			files = append(files, f...)
		}
		for _, fig := range figures {
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
	files = append(files, report.File{Name: r.Spec.Experiment.Name + "-measurements.txt", Data: text.Bytes()})
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			return nil, fmt.Errorf("%w: spec %s: two outputs write %s; give one of them another file", spec.ErrUsage, r.Spec.Experiment.Name, f.Name)
		}
		seen[f.Name] = true
	}
	return files, nil
}

// tables are the tables of an experiment: the paper's layout, then what the paper's sizes cannot resolve.
func (r *Run) tables(name string, paper published) ([]*report.Table, error) {
	if r.Spec.Experiment.Protocol == "folds" {
		return r.foldTables(name)
	}
	x := &r.Spec.Experiment
	assumed, err := r.assumptionNotes()
	if err != nil {
		return nil, err
	}
	main := report.Layout{Name: name, Paper: x.Paper, Caption: x.Title + r.scale(), Head: "Method", Notes: slices.Concat(r.notes(), r.coverageNote(name), r.calibrationNote(), assumed)}
	for _, b := range x.Test {
		main.Groups = append(main.Groups, report.GroupLayout{Title: r.Spec.Benchmarks[b].Title, Benchmark: b, Paper: r.Spec.Benchmarks[b].Paper, Columns: report.AccuracyAndCost()})
	}
	average := report.GroupLayout{Title: "Avg.", Benchmark: metrics.Average, Columns: report.AverageAccuracyAndCost()}
	printed := paper.table
	if paper.whole.Measurements != nil {
		average.Paper = metrics.Average
	}
	if average.Paper != "" && len(printed.Where(metrics.Keys("benchmark", metrics.Average)...)) == 0 {
		printed = paper.withAverages(x.Paper)
		main.Notes = append(main.Notes, paper.averagesNote()...)
	}
	main.Groups = append(main.Groups, average)
	for _, m := range x.Methods {
		row := report.RowLayout{Section: methods.Section(m.Name), Label: m.RowLabel(), Keys: metrics.Keys("arena", metrics.PaperArena, "method", m.RowID())}
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
	coverage, err := report.Coverage(main, r.Measurements, metrics.Average)
	if err != nil {
		return nil, err
	}
	coverage.Notes = append(coverage.Notes, fmt.Sprintf("Rollouts are counted over all runs of the benchmarks; rows that are trained have the mean of %s.", howMany(r.seeds(), "training seed")))
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
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2, Better: report.Higher, Unranked: true},
		{Title: "Cost, % of strongest", Unit: units.CostShare, Decimals: 1, Better: report.Lower, Unranked: true},
		{Title: "Acc. kept, %", Unit: units.Retention, Decimals: 2, Better: report.Higher, Unranked: true},
		{Title: "Hull gain, points", Unit: units.HullGain, Decimals: 2, Better: report.Higher},
		{Title: "Hull gain - EntroRouter's", Unit: units.HullDifference, Decimals: 2, Better: report.Higher, Unranked: true},
	}
	trainings := "of one training seed"
	if n := r.seeds(); n > 1 {
		columns = append(columns, report.Column{Title: "Seed SD of acc.", Unit: units.SeedSD, Decimals: 2})
		trainings = fmt.Sprintf("the last column is the standard deviation over the training seeds, of which there are %d", n)
	}
	large := report.Layout{
		Name: name + "-large", Paper: recomputed, Head: "Method",
		Caption: fmt.Sprintf("%s: the set that resolves orderings%s %d problems a benchmark, scored by the true success probability of the simulated experts, weighted by the sizes of the benchmarks.", x.Title, r.scale(), r.large()),
		Groups:  []report.GroupLayout{{Title: "All benchmarks", Benchmark: metrics.Average, Paper: metrics.Average, Columns: columns}},
		Notes: []string{
			"Hull gain: accuracy above the best coin flip between fixed experts at the same cost. What can be gained differs along the hull, so rows of very different cost stay hard to compare. " + boldByGain,
			fmt.Sprintf("Small numbers: half the width of the %g%% interval over questions, trained routers held fixed; %s.", 100*x.Evaluate.Confidence, trainings),
			"No rollout is graded here: the probability has truncation in it, and no verdict is unknown. " + r.prices(),
		},
	}
	large.Notes = slices.Concat(large.Notes, paper.notes(), r.ownHullNote(" Their difference to EntroRouter's is left blank."), assumed)
	for i, row := range main.Rows {
		row.Keys = metrics.Keys("arena", metrics.LargeArena, "method", x.Methods[i].RowID())
		if methods.AnswersItself(x.Methods[i].Name) {
			row.Omit, row.Apart = []string{units.HullDifference}, []string{units.HullGain}
		}
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

// boldByGain says what is set in bold where accuracy alone would name the row that spends most.
const boldByGain = "Bold goes by gain: accuracy alone favours rows that spend more."

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

// scale ends a caption: what the numbers are made of.
func (r *Run) scale() string {
	if r.Spec.Pools[0].Kind == "simulated" {
		return ". Simulated experts, calibrated to the paper's fixed-expert rows and to nothing else."
	}
	return "."
}

func (r *Run) notes() []string {
	x := &r.Spec.Experiment
	notes := []string{
		fmt.Sprintf("Acc.: percent correct, runs averaged. Cost: dollars of one pass, Avg.: dollars a question. Small numbers: half the width of the %g%% interval over questions (paired bootstrap, %d resamples).", 100*x.Evaluate.Confidence, x.Evaluate.Bootstrap),
		fmt.Sprintf("Training seeds: %d. The router's own tokens are in no cost; they are in the measurements. %s", r.seeds(), r.prices()),
	}
	for _, to := range x.Methods {
		var matched []string
		for _, m := range x.Methods {
			if m.Match == to.RowID() {
				matched = append(matched, m.RowLabel())
			}
		}
		if len(matched) > 0 {
			notes = append(notes, fmt.Sprintf("Spending on the training problems what %s spends there: %s.", to.RowLabel(), report.Listed(matched)))
		}
	}
	return notes
}

// coverageNote says how much of what is behind the rows of the paper's sizes has no sure grade; none where nothing was
// graded.
func (r *Run) coverageNote(table string) []string {
	least, most := math.Inf(1), 0.0
	worst := map[routing.Bucket]float64{}
	for _, m := range r.Spec.Experiment.Methods {
		for _, line := range r.Measurements.Where(metrics.Keys("arena", metrics.PaperArena, "method", m.RowID(), "benchmark", metrics.Average, "seed", "")...) {
			total := 0.0
			for _, b := range routing.Buckets {
				v, _ := line.Value(string(b))
				total += v.Number
			}
			if total == 0 {
				continue
			}
			total = math.Round(total) // counts are means over seeds
			least, most = min(least, total), max(most, total)
			for _, b := range routing.Buckets {
				v, _ := line.Value(string(b))
				worst[b] = max(worst[b], 100*v.Number/total)
			}
		}
	}
	if most == 0 {
		return nil
	}
	rollouts := fmt.Sprintf("%.0f", most)
	if least != most {
		rollouts = fmt.Sprintf("%.0f to %.0f", least, most)
	}
	return []string{fmt.Sprintf("Coverage: of the %s rollouts behind a row at most %.1f%% were truncated (wrong, and billed), %.1f%% had no answer (wrong) and %.2f%% an unknown verdict (0, so accuracy is a lower bound); table %s-coverage has every row.",
		rollouts, worst[routing.Truncated], worst[routing.NoAnswer], worst[routing.Ungraded], table)}
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

// prices says what the dollars rest on.
func (r *Run) prices() string {
	return fmt.Sprintf("Prices are %s, as of %s (price list %s).", r.Spec.Prices.Basis, r.Spec.Prices.Date, r.Spec.Experiment.Prices)
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

// foldTables has one table a pool and stratum. A pool of one benchmark has the table of all questions alone.
func (r *Run) foldTables(name string) ([]*report.Table, error) {
	x := &r.Spec.Experiment
	own := []report.Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2, Better: report.Higher, Unranked: true},
		{Title: "Cost, % of strongest", Unit: units.CostShare, Decimals: 1, Better: report.Lower, Unranked: true},
		{Title: "Hull gain", Unit: units.HullGain, Decimals: 2, Better: report.Higher},
	}
	lead, deviation, luck := "", "", ""
	if slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return methods.Hindsight(m.Name) }) {
		luck = " The oracle picks by that one answer and is inflated by luck."
	}
	if k := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == methods.BenchmarkRow }); k >= 0 {
		label := x.Methods[k].RowLabel()
		title := "Lead over " + strings.ToLower(label[:1]) + label[1:]
		own = append(own, report.Column{Title: title, Unit: units.Lead, Decimals: 2, Better: report.Higher, Unranked: true})
		lead = " " + title + ": accuracy above that row's curve at the same cost, inside each test fold, and paired: both are of the same questions."
	}
	if r.seeds() > 1 {
		own = append(own, report.Column{Title: "Partition SD", Unit: units.FoldsSD, Decimals: 2})
		deviation = " Partition SD: over partitions, of the mean gain, or of the hull gain for rows without a knob."
	}
	points, err := r.operatingPoints()
	if err != nil {
		return nil, err
	}
	var tables []*report.Table
	for _, pool := range r.Spec.Pools {
		var benchmarks []string
		for _, m := range r.Measurements.Where(metrics.Keys("pool", pool.Name, "method", x.Methods[0].RowID(), "seed", "")...) {
			benchmarks = append(benchmarks, m.Key("benchmark"))
		}
		slices.SortFunc(benchmarks, func(a, b string) int { return strings.Compare(order(a), order(b)) })
		for _, b := range benchmarks {
			if b != metrics.BothStrata && r.stratumSize(pool.Name, b) == r.stratumSize(pool.Name, metrics.BothStrata) {
				continue // the pool has no other questions
			}
			l := report.Layout{
				Name: name + "-" + pool.Name + "-" + b, Head: "Method",
				Caption: fmt.Sprintf("%s: %s (pool %s), %s. %d folds, %s.", x.Title, strings.Join(r.models(pool), ", "), pool.Name, r.questions(pool.Name, b), x.Folds.K, howMany(r.seeds(), "partition")),
				Groups: []report.GroupLayout{
					{Title: "Own operating point", Benchmark: b, Columns: own},
					{Title: "Whole curve", Benchmark: b, Columns: []report.Column{
						{Title: "Mean gain", Unit: units.MeanGain, Decimals: 2, Better: report.Higher},
						{Title: "Gain @25%", Unit: fmt.Sprintf(units.GainAt, 25), Decimals: 2, Better: report.Higher, Unranked: true},
						{Title: "@50%", Unit: fmt.Sprintf(units.GainAt, 50), Decimals: 2, Better: report.Higher, Unranked: true},
						{Title: "@75%", Unit: fmt.Sprintf(units.GainAt, 75), Decimals: 2, Better: report.Higher, Unranked: true},
					}},
				},
				Notes: []string{
					"Gains: points of accuracy above the best coin flip between fixed experts at the same cost, inside each test fold. What looks at nothing has at most 0.00 in expectation; on these questions chance moves it. " + boldByGain + lead,
					points + fmt.Sprintf(" Small numbers: half the width of the %g%% interval over questions, trained routers held fixed. Routers are trained once a fold and partition.", 100*x.Evaluate.Confidence) + deviation,
					"Coverage: every model has one labelled answer to every question, wrong where none could be read; the records do not say which were truncated." + luck + " " + r.labels() + " " + r.prices(),
				},
			}
			if pool.Recorded != nil && pool.Recorded.Note != "" {
				l.Notes = append(l.Notes, "Pool: "+pool.Recorded.Note+".")
			}
			if s := r.chosenBefore(); s != "" {
				l.Notes = append(l.Notes, s)
			}
			for _, m := range x.Methods {
				row := report.RowLayout{Section: methods.Section(m.Name), Label: m.RowLabel(), Keys: metrics.Keys("pool", pool.Name, "method", m.RowID())}
				var err error
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
	}
	return tables, nil
}

// questions says which questions of a recorded pool a stratum has.
func (r *Run) questions(pool, stratum string) string {
	n := r.stratumSize(pool, stratum)
	if stratum == metrics.BothStrata {
		return fmt.Sprintf("all %d questions", n)
	}
	for _, p := range r.Spec.Pools {
		if p.Name == pool && p.Recorded != nil {
			stratum = cmp.Or(p.Recorded.Titles[stratum], stratum)
		}
	}
	return fmt.Sprintf("the %d questions of %s", n, stratum)
}

// stratumSize is how many questions of a recorded pool a stratum has.
func (r *Run) stratumSize(pool, stratum string) (n int) {
	for _, m := range r.Measurements.Where(metrics.Keys("pool", pool, "method", r.Spec.Experiment.Methods[0].RowID(), "benchmark", stratum, "seed", "")...) {
		n = max(n, m.N)
	}
	return n
}

// howMany is a number of things.
func howMany(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// operatingPoints says where rows with a knob stand on their curves.
func (r *Run) operatingPoints() (string, error) {
	var set []string
	for _, m := range r.Spec.Experiment.Methods {
		limit, err := methods.Limit(m)
		if err != nil {
			return "", err
		}
		if limit != "" {
			set = append(set, m.RowLabel()+" ("+limit+")")
		}
	}
	but := ""
	if len(set) > 0 {
		but = ", but for " + report.Listed(set)
	}
	return "Rows with a knob spend without limit at their own operating point" + but + "; their curve says more.", nil
}

// chosenBefore says which rows have settings that were chosen on recorded answers.
func (r *Run) chosenBefore() string {
	var s []string
	for _, kind := range methods.Kinds() {
		has := slices.ContainsFunc(r.Spec.Experiment.Methods, func(m spec.Method) bool { return m.Name == kind })
		if chosen := methods.Chosen(kind); has && chosen != "" {
			s = append(s, chosen)
		}
	}
	return strings.Join(s, " ")
}

// labels says which rows learn from what; of the two kinds of labels that there are a row may have the other one.
func (r *Run) labels() string {
	kinds := map[string]string{
		"01": "the one recorded answer",
		"k5": fmt.Sprintf("pass rates over the recorded answer and those of up to %d models outside the pool that agree most with the expert", spec.NearestModels),
	}
	own, other := r.Spec.Experiment.Folds.Kappa, ""
	var rows []string
	for _, m := range r.Spec.Experiment.Methods {
		if m.Kappa != "" && m.Kappa != own {
			other, rows = m.Kappa, append(rows, m.RowLabel())
		}
	}
	s := "Rows learn from " + kinds[own]
	if len(rows) > 0 {
		s += ", but from " + kinds[other] + ": " + report.Listed(rows)
	}
	return s + "."
}

// order puts the stratum of all questions first.
func order(benchmark string) string {
	if benchmark == metrics.BothStrata {
		return ""
	}
	return benchmark
}
