// What is measured of recorded outcomes, fold by fold.

package score

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Folds is a recorded pool under cross-validation: questions that were asked once, and what every row decided about each
// when it was fitted on the other folds, once a partition.
type Folds struct {
	*book.Arena
	Reference  string     // id of the row that the others are compared with; none of that id: no comparisons
	Baseline   string     // id of the row whose curve every other row is held against; the same
	Contrasts  []Contrast // pairs of rows with a line of their own
	Whole      bool       // all questions together are measured, and no single benchmark
	Apart      []string   // ids of rows that no curve is held against, since they do not compete
	Resampling Resampling

	PredictionsVersus string // id of the row whose predictions the others are compared with; none of that id: no comparisons

	Reported map[string][]metrics.Value // by row: what its router says of itself on all questions, averaged over the partitions

	rows       []foldedRow
	predicting []predicting
}

// Contrast is a pair of rows, by their ids.
type Contrast struct{ Row, Versus string }

// foldedRow is a row and what it decided under each partition.
type foldedRow struct {
	id         string
	partitions []folded
}

type folded struct {
	book.Training
	scores book.Scores
	sweep  *book.Sweep // over the questions; nil: no knob
}

// Add adds what a row decided under one partition, with the sweep of its router's knob, nil if it has none. Every row has
// the same partitions, in the same order.
func (f *Folds) Add(row string, t book.Training, decisions []routing.Decision, sweep *book.Sweep) {
	of := folded{t, f.Score(decisions), sweep}
	if n := slices.IndexFunc(f.rows, func(r foldedRow) bool { return r.id == row }); n >= 0 {
		f.rows[n].partitions = append(f.rows[n].partitions, of)
		return
	}
	f.rows = append(f.rows, foldedRow{row, []folded{of}})
}

// crossed is a row under weights, or a pair of rows; everything is computed inside each test fold, averaged over the folds
// by their questions and then over partitions.
type crossed struct {
	row, versus int // versus: of a contrast, else the reference; -1: none
	contrast    bool
	against     []int // rows that its curve is held against
	held        held
	questions   int
	folds       int // of a partition
	partitions  []*foldsUnder
}

// foldsUnder is one partition under weights.
type foldsUnder struct {
	paths *metrics.FoldPaths
	rows  []foldsRow
	held  []pair
	coins [][]metrics.Coin // [held][fold] that a row is held against beside the other; chosen on the sample
}

// held are places in the list of pairs that are held against each other: of a row and its other one, of these the other way round, and
// of the row and the baseline; -1: there is none, or the baseline has no knob.
type held struct{ ours, theirs, baseline int }

// pair is a row and another that it is held against, by their indices.
type pair struct{ row, over int }

// rival is a row as another is held against it.
func (u *foldsUnder) rival(row int) metrics.Rival {
	return metrics.Rival{Other: u.rows[row].at, Knob: u.rows[row].curves}
}

type foldsRow struct {
	quality, usd []float64       // [questions]
	at           []metrics.Point // [fold]
	accuracy     float64
	share        float64 // dollars in percent of the dearest expert's
	gain         float64
	mean         float64             // mean gain of its knob
	dollars      float64             // of a question
	tokens       float64             // that the router itself read and wrote, a question
	curves       *metrics.FoldCurves // nil: no knob
}

// over averages a number of a row over partitions.
func (c crossed) over(row int, of func(foldsRow) float64) float64 {
	return average(c.partitions, func(p *foldsUnder) float64 { return of(p.rows[row]) })
}

func (c crossed) meanGain() float64 { return c.over(c.row, foldsRow.meanGain) }

func (c crossed) rivals() (all []float64) {
	for _, row := range c.against {
		all = append(all, c.over(row, foldsRow.meanGain))
	}
	return all
}

func (c crossed) aboveHull(of metrics.OfCurve) float64 {
	return c.over(c.row, func(r foldsRow) float64 { return r.curves.Average(of) })
}

func (c crossed) other() crossed {
	c.row = c.versus
	return c
}

func (c crossed) accuracy() float64 {
	return c.over(c.row, func(r foldsRow) float64 { return r.accuracy })
}
func (c crossed) dollars() float64 {
	return c.over(c.row, func(r foldsRow) float64 { return r.dollars })
}
func (c crossed) costShare() float64 {
	return c.over(c.row, func(r foldsRow) float64 { return r.share })
}
func (c crossed) gain() float64 { return c.over(c.row, func(r foldsRow) float64 { return r.gain }) }
func (c crossed) itsTokens() float64 {
	return c.over(c.row, func(r foldsRow) float64 { return r.tokens })
}
func (c crossed) lead() float64      { return c.above(c.held.ours) }
func (c crossed) otherLead() float64 { return c.above(c.held.theirs) }

// above is how far a row lies, at its own cost, above the best coin between another, at every setting of its knob, and the fixed experts.
func (c crossed) above(place int) float64 {
	return average(c.partitions, func(p *foldsUnder) float64 {
		of := p.held[place]
		return p.paths.Lead(p.rows[of.row].at, p.rival(of.over), p.coins[place])
	})
}

func (c crossed) ofRow() bool        { return !c.contrast }
func (c crossed) overall() bool      { return true }
func (c crossed) reads() bool        { return c.ofRow() && c.itsTokens() > 0 }
func (c crossed) compared() bool     { return c.versus >= 0 }
func (c crossed) knob() bool         { return c.partitions[0].rows[c.row].curves != nil }
func (c crossed) rowWithKnob() bool  { return c.ofRow() && c.knob() }
func (c crossed) overBaseline() bool { return c.ofRow() && c.held.baseline >= 0 }
func (c crossed) bothKnobs() bool {
	return c.contrast && c.partitions[0].rows[c.versus].curves != nil && c.knob()
}
func (r foldsRow) meanGain() float64 { return r.mean }

// headline is the number that tells partitions apart: the mean gain, or the gain of a row without a knob.
func (r foldsRow) headline() float64 {
	if r.curves != nil {
		return r.mean
	}
	return r.gain
}

func (c crossed) asked() (questions, runs int) { return c.questions, 1 }

func (c crossed) trainings() (out []crossed) {
	for i := range c.partitions {
		out = append(out, c.partition(i))
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

func (c crossed) spread(each []float64) metrics.Mean { return metrics.MeanOfPartitions(each, c.folds) }

// alike says whether a row and the other one got and paid the same on every question in every partition.
func (c crossed) alike() bool {
	return !slices.ContainsFunc(c.partitions, func(p *foldsUnder) bool {
		own, other := p.rows[c.row], p.rows[c.versus]
		return !slices.Equal(own.quality, other.quality) || !slices.Equal(own.usd, other.usd)
	})
}

// partition is what one partition says alone.
func (c crossed) partition(i int) crossed {
	c.partitions = c.partitions[i : i+1]
	return c
}

// The numbers of a row or a pair of rows; those of every partition are of single partitions too.
var (
	foldEntries    = entriesOf[crossed]()
	foldGains      = gains(crossed.rowWithKnob)
	everyPartition = []Statistic[crossed]{foldEntries.accuracy, foldEntries.hullGain, foldGains[0], foldEntries.lead, foldEntries.otherLead}
	foldStatistics = slices.Concat([]Statistic[crossed]{
		foldEntries.accuracy,
		foldEntries.dollars,
		foldEntries.costShare,
		foldEntries.hullGain,
		foldEntries.routerTokens,
		foldEntries.questions,
		foldEntries.difference,
		foldEntries.costDifference,
		foldEntries.lead,
		foldEntries.otherLead,
		{Unit: units.LeadBenchmark, Decimals: 3, For: crossed.overBaseline, Of: func(c crossed) float64 { return c.above(c.held.baseline) }},
		{Unit: units.MeanDifference, Decimals: 3, For: crossed.bothKnobs, Without: sameCost, Of: func(c crossed) float64 { return c.meanGain() - c.other().meanGain() }},
	}, foldGains, []Statistic[crossed]{
		{Unit: units.FoldsSD, Decimals: 3, Whole: true, For: func(c crossed) bool { return c.ofRow() && len(c.partitions) > 1 }, Without: nothingPaid, Of: func(c crossed) float64 {
			var each []float64
			for _, p := range c.partitions {
				each = append(each, p.rows[c.row].headline())
			}
			return deviation(each)
		}},
	})
)

// Strata are the sets of questions that are measured: all of them and, unless Whole, each benchmark.
func (f *Folds) Strata() []string {
	out := []string{metrics.BothStrata}
	if !f.Whole {
		for _, b := range f.Benchmarks {
			out = append(out, b.Name)
		}
	}
	return out
}

// inside are the questions of a stratum, and the benchmark of each.
func (f *Folds) inside(stratum string) (questions, benchmarks []int) {
	for q, b := range f.Arena.Strata {
		if stratum == metrics.BothStrata || f.Benchmarks[b].Name == stratum {
			questions, benchmarks = append(questions, q), append(benchmarks, b)
		}
	}
	return questions, benchmarks
}

// Measure computes the lines of the questions of one benchmark, or of all (metrics.BothStrata): Route for every row, with
// a line for each partition, and Contrast. Resamples draw the same questions in every partition.
func (f *Folds) Measure(benchmark string) []metrics.Measurement {
	inside, strata := f.inside(benchmark)
	accuracy, usd := f.alone(inside)
	type fitted struct {
		quality, usd, tokens []float64
		knob                 *metrics.KnobCurve // nil: none
	}
	partitions := f.rows[0].partitions
	folds := make([]*metrics.Folds, len(partitions))
	rows := make([][]fitted, len(partitions))
	for i, p := range partitions {
		folds[i] = metrics.NewFolds(pick(p.Fold, inside), accuracy, usd)
		for _, r := range f.rows {
			own := r.partitions[i]
			of := fitted{quality: pick(own.scores.Accuracy, inside), usd: pick(own.scores.USD, inside), tokens: pick(own.scores.Overhead, inside)}
			if own.sweep != nil {
				of.knob = traced(own.sweep.Settings, pick(own.sweep.Queries, inside), len(inside), func(k int) int { return k }, func(k, m int) metrics.Point {
					return metrics.Point{Cost: usd[m][k], Quality: accuracy[m][k]}
				})
			}
			rows[i] = append(rows[i], of)
		}
	}
	index := func(id string) int {
		return slices.IndexFunc(f.rows, func(r foldedRow) bool { return r.id == id })
	}
	reference, baseline := index(f.Reference), index(f.Baseline)
	if baseline >= 0 && f.rows[baseline].partitions[0].sweep == nil {
		baseline = -1
	}
	var list []pair // of all that are held against each other
	hold := func(row, over int) int {
		list = append(list, pair{row, over})
		return len(list) - 1
	}
	var subjects []crossed
	for j := range f.rows {
		c := crossed{row: j, versus: -1, held: held{-1, -1, -1}}
		if reference >= 0 && j != reference {
			c.versus, c.held.ours, c.held.theirs = reference, hold(j, reference), hold(reference, j)
		}
		if baseline >= 0 && j != baseline {
			c.held.baseline = hold(j, baseline)
		}
		subjects = append(subjects, c)
	}
	for _, x := range f.Contrasts {
		if row, versus := index(x.Row), index(x.Versus); row >= 0 && versus >= 0 { // both could be fitted
			subjects = append(subjects, crossed{row: row, versus: versus, contrast: true, held: held{hold(row, versus), hold(versus, row), -1}})
		}
	}
	dear := usd[len(usd)-1]
	count := 1 + slices.Max(partitions[0].Fold)
	under := func(weights []float64, i int) *foldsUnder {
		u := &foldsUnder{paths: folds[i].Under(weights)}
		dearest := metrics.WeightedMean(dear, weights)
		for _, r := range rows[i] {
			of := foldsRow{quality: r.quality, usd: r.usd, at: u.paths.Points(r.quality, r.usd), accuracy: metrics.WeightedMean(r.quality, weights),
				dollars: metrics.WeightedMean(r.usd, weights), tokens: metrics.WeightedMean(r.tokens, weights)}
			of.share = 100 * of.dollars / dearest
			of.gain = u.paths.Gain(of.at)
			if r.knob != nil {
				of.curves = u.paths.Curves(r.knob)
				of.mean = of.curves.Average(metrics.MeanGain)
			}
			u.rows = append(u.rows, of)
		}
		return u
	}
	competes := make([]bool, len(f.rows))
	for j, r := range f.rows {
		competes[j] = r.partitions[0].sweep != nil && !slices.Contains(f.Apart, r.id)
	}
	rivals := against(competes, func(j, k int) bool {
		return !slices.ContainsFunc(rows, func(of []fitted) bool { return !of[j].knob.Same(of[k].knob) })
	})
	ones := slices.Repeat([]float64{1}, len(inside))
	chosen := make([][][]metrics.Coin, len(folds))
	for i := range folds {
		u := under(ones, i)
		for _, p := range list {
			chosen[i] = append(chosen[i], u.paths.Coins(u.rows[p.row].at, u.rival(p.over)))
		}
	}
	views := func(weights []float64) (views []crossed) {
		var partitions []*foldsUnder
		for i := range folds {
			u := under(weights, i)
			u.held, u.coins = list, chosen[i]
			partitions = append(partitions, u)
		}
		for _, c := range subjects {
			c.questions, c.folds, c.partitions = len(inside), count, partitions
			if !c.contrast {
				c.against = rivals[c.row]
			}
			views = append(views, c)
		}
		return views
	}
	numbers := estimate(foldStatistics, strata, f.Resampling.derive(f.Pool, benchmark), oneByOne(views))
	var out []metrics.Measurement
	for i, c := range views(ones) {
		if c.contrast {
			out = append(out, numbers[i].line("Contrast", metrics.Keys("pool", f.Pool, "row", f.rows[c.row].id, "versus", f.rows[c.versus].id, "benchmark", benchmark), len(inside)))
			continue
		}
		keys := metrics.Keys("pool", f.Pool, "method", f.rows[c.row].id, "benchmark", benchmark)
		for k, p := range partitions {
			of := whole(everyPartition, c.partition(k))
			out = append(out, of[0].line("Route", append(slices.Clone(keys), metrics.Keys("seed", fmt.Sprint(p.Seed))...), len(inside)))
		}
		var reported []metrics.Value
		if benchmark == metrics.BothStrata {
			reported = f.Reported[f.rows[c.row].id]
		}
		out = append(out, numbers[i].line("Route", keys, len(inside), reported...))
	}
	return out
}

// alone returns what always asking each expert gets and pays on some questions: accuracy and dollars, [M][questions].
func (f *Folds) alone(inside []int) (accuracy, usd [][]float64) {
	for m := range f.Experts {
		of := f.Score(f.Always(m))
		accuracy, usd = append(accuracy, pick(of.Accuracy, inside)), append(usd, pick(of.USD, inside))
	}
	return accuracy, usd
}

func pick[T any](column []T, at []int) []T {
	out := make([]T, len(at))
	for i, q := range at {
		out[i] = column[q]
	}
	return out
}

// predicting is a row and the pass rates that it predicted under each partition.
type predicting struct {
	id         string
	partitions [][][]float64 // [partition][Q][M]
}
