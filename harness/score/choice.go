// Lines Choice and Curve: what the decisions of a row are like, and its knob at every setting.

package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// calibrationBins is how many bins ECE has.
const calibrationBins = 10

// ChoiceResamples is how many resamples the lines Choice and Curve take at most: their numbers are dear to compute and
// secondary. They are the first of those that the lines Route take.
const ChoiceResamples = 500

// thinnest is by how many points of the cost share settings of a knob differ at least if both have a line.
const thinnest = 0.5

// yardsticks are what the decisions of all rows are held against.
type yardsticks struct {
	experts   [][]metrics.Point // [M][Q] what each expert gets and costs
	oracle    []float64         // [Q] accuracy of the best expert in each run
	right     []float64         // [Q] chance that the cheapest expert is right
	share     []float64         // [Q] weight of a question in averages, sums to 1
	price     float64           // points a dollar at which the cheapest and the strongest expert are worth the same; 0: money buys nothing
	strongest metrics.Point     // mean of always asking it
	vertices  []int             // of the hull of the experts, chosen on the sample as in fixed
	best      bool              // m_best is known
}

func (s *Sample) yardsticks() *yardsticks {
	n := len(s.Strata)
	y := &yardsticks{oracle: make([]float64, n), right: make([]float64, n), share: s.share(), best: s.Best != nil}
	accuracy, usd := s.alone()
	for m := range accuracy {
		points := make([]metrics.Point, n)
		for q := range points {
			points[q] = metrics.Point{Cost: usd[m][q], Quality: accuracy[m][q]}
		}
		y.experts = append(y.experts, points)
	}
	for i, outcomes := range s.Outcomes {
		q := s.Question[i]
		top := 0.0
		for _, o := range outcomes {
			top = max(top, o.Correct)
		}
		y.oracle[q] += 100 * top / float64(s.Benchmarks[s.Strata[q]].Runs)
	}
	for q := range y.right {
		y.right[q] = accuracy[0][q] / 100
	}
	all := y.means(y.share)
	y.strongest = all[len(all)-1]
	y.price = metrics.ExchangeRate(all[0], y.strongest)
	y.vertices = metrics.Vertices(all)
	return y
}

// means returns the point of each expert under weights [Q].
func (y *yardsticks) means(weights []float64) []metrics.Point {
	out := make([]metrics.Point, len(y.experts))
	for m, points := range y.experts {
		for q, w := range weights {
			out[m].Cost += w * points[q].Cost
			out[m].Quality += w * points[q].Quality
		}
	}
	return out
}

// choices are the decisions of a row under weights. What depends on the whole set of decisions of a training is computed
// for each and then averaged.
type choices struct {
	*yardsticks
	*rowChoices
	knob                 bool            // the subject is what the row's knob can do, not what the row decided
	u                    []float64       // [Q] weights that sum to 1
	sums                 sums            // of the columns
	points               []metrics.Point // [M] of the experts
	entropy, information float64
	settings             [][]metrics.Point // [curves][settings] of the row's knob
	gains                []float64         // [curves] mean gain of the knob
	held                 [][]float64       // the same of every row that the curve is held against
}

// rowChoices is a row and where its columns are.
type rowChoices struct {
	row                   Row
	gap, regret, surprise int      // trainings averaged; surprise: entropy of the router's distribution
	both, excess          []int    // [trainings] as in traits
	first                 []*place // [curves] at the first setting
}

// sheet is rows with the columns of all of them.
type sheet struct {
	*yardsticks
	columns *columns
	rows    []*rowChoices
}

func (y *yardsticks) sheet(rows ...Row) *sheet {
	s := &sheet{yardsticks: y, columns: &columns{strata: make([]int, len(y.share)), count: 1}}
	for _, r := range rows {
		s.rows = append(s.rows, s.add(r))
	}
	return s
}

func (s *sheet) add(r Row) *rowChoices {
	gap, regret, surprise := book.Mean(r.Scores, accuracyOf), book.Mean(r.Scores, usdOf), make([]float64, len(s.share))
	point := make([]metrics.Point, len(s.experts))
	for q, quality := range gap {
		for m := range point {
			point[m] = s.experts[m][q]
		}
		regret[q] = metrics.Regret(point, metrics.Point{Cost: regret[q], Quality: quality}, s.price)
		gap[q] = metrics.OracleGap(quality, s.oracle[q])
	}
	c := &rowChoices{row: r}
	for _, t := range r.traits {
		for q, h := range t.entropy {
			surprise[q] += h / float64(len(r.traits))
		}
		c.both, c.excess = append(c.both, s.columns.add(t.bothRight)), append(c.excess, s.columns.add(t.excess))
	}
	for _, curve := range r.curves {
		c.first = append(c.first, s.columns.pair(curve.First()))
	}
	c.gap, c.regret, c.surprise = s.columns.add(gap), s.columns.add(regret), s.columns.add(surprise)
	return c
}

// under are the decisions of all rows under each of several sets of weights [Q] that sum to 1.
func (s *sheet) under(weights [][]float64) [][]choices {
	out := make([][]choices, len(weights))
	for k, sums := range s.columns.under(weights) {
		points := s.means(weights[k])
		for _, r := range s.rows {
			out[k] = append(out[k], choices{yardsticks: s.yardsticks, rowChoices: r, u: weights[k], sums: sums, points: points})
		}
	}
	for from := 0; from < len(out); from += together {
		some := out[from:min(from+together, len(out))]
		turned := turn(weights[from : from+len(some)])
		for i, r := range s.rows {
			for _, t := range r.row.traits {
				entropy, information := t.information(turned, len(s.experts))
				for k := range some {
					c := &some[k][i]
					c.entropy += 1 / float64(len(r.row.traits)) * entropy[k]
					c.information += 1 / float64(len(r.row.traits)) * information[k]
				}
			}
		}
	}
	// A training is read under all sets of weights before the next one: it stays in fast memory.
	for i, r := range s.rows {
		for j, curve := range r.row.curves {
			for k := range out {
				c := &out[k][i]
				at := make([]metrics.Point, curve.Settings())
				curve.Under(c.sums.at(r.first[j], 0), c.u, at)
				c.settings = append(c.settings, at)
				c.gains = append(c.gains, metrics.MeanGain(at, c.hull(), c.weak().Cost, c.strong().Cost))
			}
		}
	}
	return out
}

func (c choices) sum(column int) float64 { return c.sums.of(column, 0) }

func (c choices) asked() (questions, runs int) { return len(c.u), 1 }

func (c choices) trainings() (out []choices) {
	n := max(len(c.row.traits), len(c.row.curves))
	if n < 2 {
		return nil
	}
	for k := range n {
		of := c.yardsticks.sheet(c.row.training(k)).under([][]float64{c.u})[0][0]
		of.knob = c.knob
		for _, gains := range c.held {
			of.held = append(of.held, only(gains, k))
		}
		out = append(out, of)
	}
	return out
}

func (c choices) spread(each []float64) metrics.Mean { return metrics.MeanOf(each) }

// costRegret is the dollars above m_best's where both are right, in percent of the strongest expert's, averaged over the trainings.
func (c choices) costRegret() float64 {
	sum := 0.0
	for k, both := range c.both {
		sum += 1 / float64(len(c.both)) * (100 * c.sum(c.excess[k]) / c.sum(both) / c.strong().Cost)
	}
	return sum
}

// scored averages what the scores of a row are worth: of its trainings, and of the sweeps of its knob.
func (c choices) scored(of func(*score) float64) float64 {
	decided := average(c.row.traits, func(t traits) float64 {
		if t.score == nil {
			return 0
		}
		return of(t.score)
	})
	return decided + average(c.row.early, of)
}

func (c choices) knowsBest() bool { return c.best }

func (c choices) hasScore() bool { return c.row.early != nil || c.hasProbability() }

func (c choices) hasProbability() bool {
	return slices.ContainsFunc(c.row.traits, func(t traits) bool { return t.tells })
}

const neverBothRight = "the row and the cheapest expert that suffices are never both right, or the strongest expert cost nothing"

var choiceStatistics = slices.Concat(about(choices.decided, []Statistic[choices]{
	{Unit: units.OracleGap, Decimals: 3, Of: func(c choices) float64 { return c.sum(c.gap) }},
	// Where the strongest expert is no better, money buys nothing and the best decision is the best answer.
	{Unit: units.Regret, Decimals: 3, For: func(c choices) bool { return c.price > 0 }, Of: func(c choices) float64 { return c.sum(c.regret) }},
	{Unit: units.RegretPrice, Decimals: 3, Whole: true, For: func(c choices) bool { return c.price > 0 }, Of: func(c choices) float64 { return c.price * c.strongest.Cost }},
	{Unit: units.CostRegret, Decimals: 3, For: choices.knowsBest, Without: neverBothRight, Of: choices.costRegret},
	{Unit: units.QueryEntropy, Decimals: 4, Range: metrics.NotNegative, For: func(c choices) bool { return !c.row.Own }, Of: func(c choices) float64 { return c.sum(c.surprise) }},
	{Unit: units.Entropy, Decimals: 4, Range: metrics.NotNegative, Of: func(c choices) float64 { return c.entropy }},
	{Unit: units.Information, Decimals: 4, Range: metrics.NotNegative, For: choices.knowsBest, Of: func(c choices) float64 { return c.information }},
	{Unit: units.AUC, Decimals: 4, Range: metrics.ZeroToOne, For: choices.hasScore, Without: "the cheapest expert is right on every question or on none", Of: func(c choices) float64 {
		return c.scored(func(s *score) float64 { return s.ranking.AUC(c.right, c.u) })
	}},
	{Unit: units.ECE, Decimals: 4, Range: metrics.ZeroToOne, For: choices.hasProbability, Of: func(c choices) float64 {
		return c.scored(func(s *score) float64 { return metrics.ECE(s.probability, c.right, c.u, calibrationBins) })
	}},
	{Unit: units.Brier, Decimals: 4, Range: metrics.ZeroToOne, For: choices.hasProbability, Of: func(c choices) float64 {
		return c.scored(func(s *score) float64 { return metrics.Brier(s.probability, c.right, c.u) })
	}},
}), about(choices.alongKnob, curveStatistics))

func (c choices) decided() bool   { return !c.knob }
func (c choices) alongKnob() bool { return c.knob }

// along averages a number of the settings over the curves of a row.
func (c choices) along(of func(settings []metrics.Point) float64) float64 {
	return average(c.settings, of)
}

func (c choices) meanGain() float64 { return average(c.gains, itself) }

func (c choices) rivals() (all []float64) {
	for _, gains := range c.held {
		all = append(all, average(gains, itself))
	}
	return all
}

func (c choices) aboveHull(of metrics.OfCurve) float64 {
	hull := c.hull()
	return c.along(func(at []metrics.Point) float64 { return of(at, hull, c.weak().Cost, c.strong().Cost) })
}

// average is the mean of a number of what there is of each training.
func average[T any](each []T, of func(T) float64) float64 {
	sum := 0.0
	for _, x := range each {
		sum += 1 / float64(len(each)) * of(x)
	}
	return sum
}

func itself(x float64) float64 { return x }

func (c choices) weak() metrics.Point   { return c.points[0] }
func (c choices) strong() metrics.Point { return c.points[len(c.points)-1] }

func (c choices) hull() (hull metrics.Hull) {
	for _, m := range c.vertices {
		hull = append(hull, c.points[m])
	}
	return hull
}

const sameQuality = "the strongest expert is no better than the cheapest"

var curveStatistics = slices.Concat([]Statistic[choices]{
	{Unit: units.AIQ, Decimals: 3, Range: metrics.CurveAccuracy, Without: sameCost, Of: func(c choices) float64 {
		return c.along(func(at []metrics.Point) float64 { return metrics.AIQ(at, c.weak().Cost, c.strong().Cost) })
	}},
}, gains(choices.alongKnob), []Statistic[choices]{
	{Unit: units.APGR, Decimals: 4, Without: sameQuality, Of: func(c choices) float64 {
		return c.along(func(at []metrics.Point) float64 { return metrics.APGR(at, c.weak(), c.strong()) })
	}},
	{Unit: units.AUDC, Decimals: 3, Range: metrics.CurveAccuracy, Without: sameCost, Of: func(c choices) float64 {
		return c.along(func(at []metrics.Point) float64 { return metrics.AUDC(at, c.weak(), c.strong()) })
	}},
}, cptStatistics(), []Statistic[choices]{
	{Unit: units.QNC, Decimals: 2, Range: metrics.NotNegative, Without: "no setting is as good as the strongest expert", Of: func(c choices) float64 {
		return c.along(func(at []metrics.Point) float64 { return 100 * metrics.QNC(at, c.strong()) })
	}},
	{Unit: units.Peak, Decimals: 3, Whole: true, Of: func(c choices) float64 { return c.along(metrics.Peak) }},
})

func cptStatistics() (list []Statistic[choices]) {
	for _, level := range units.Levels() {
		list = append(list, Statistic[choices]{
			Unit: fmt.Sprintf(units.CPT, level), Decimals: 2, Range: metrics.ZeroToHundred, Without: fmt.Sprintf("no setting reaches %d%% of the way from the cheapest expert to the strongest", level),
			Of: func(c choices) float64 {
				return c.along(func(at []metrics.Point) float64 {
					return 100 * metrics.CPT(at, c.weak(), c.strong(), float64(level)/100)
				})
			},
		})
	}
	return list
}

// Choice computes the lines Choice of all rows, and the lines Curve and Sweep of those with a knob.
func (s *Sample) Choice() []metrics.Measurement {
	y := s.yardsticks()
	sheet := y.sheet(s.rows...)
	held := s.against()
	views := func(weights [][]float64) [][]choices {
		us := make([][]float64, len(weights))
		for k, w := range weights {
			us[k] = make([]float64, len(w))
			for q := range w {
				us[k][q] = w[q] * y.share[q]
			}
		}
		all := make([][]choices, len(weights))
		for k, rows := range sheet.under(us) {
			for i, c := range rows {
				all[k] = append(all[k], c)
				if c.row.curves == nil {
					continue
				}
				c.knob = true
				for _, j := range held[i] {
					c.held = append(c.held, rows[j].gains)
				}
				all[k] = append(all[k], c)
			}
		}
		return all
	}
	r := s.Resampling.derive(s.Name)
	r.Resamples = min(r.Resamples, ChoiceResamples)
	numbers := estimate(choiceStatistics, s.Strata, r, views)
	var out []metrics.Measurement
	for _, row := range s.rows {
		out = append(out, numbers[0].line("Choice", s.keys(row), len(s.Queries)))
		numbers = numbers[1:]
		if row.NoCurve != "" {
			none := Numbers{Values: []metrics.Value{metrics.Rounded(float64(len(s.Strata)), metrics.Questions, 0)}} // a line has a number
			for _, s := range curveStatistics {
				none.Undefined = append(none.Undefined, metrics.Undefined{Unit: s.Unit, Why: row.NoCurve})
			}
			out = append(out, none.line("Curve", s.keys(row), len(s.Queries)))
		}
		if row.curves == nil {
			continue
		}
		out = append(out, numbers[0].line("Curve", s.keys(row), len(s.Queries)))
		numbers = numbers[1:]
		out = append(out, sweepLines(s.keys(row), len(s.Queries), row.curves, y.share, y.strongest.Cost)...)
	}
	return out
}

// against says which rows the curve of each is held against.
func (s *Sample) against() [][]int {
	competes := make([]bool, len(s.rows))
	for i, r := range s.rows {
		competes[i] = r.curves != nil && !slices.Contains(s.Apart, r.ID)
	}
	return against(competes, func(i, j int) bool {
		return slices.EqualFunc(s.rows[i].curves, s.rows[j].curves, (*metrics.KnobCurve).Same)
	})
}

// sweepLines are the settings of a knob, trainings averaged, with those left out that hardly differ from the one before.
func sweepLines(row []metrics.Key, n int, curves []*metrics.KnobCurve, share []float64, strong float64) []metrics.Measurement {
	setting := []Statistic[metrics.Point]{
		{Unit: metrics.Accuracy, Decimals: 3, Of: func(p metrics.Point) float64 { return p.Quality }},
		{Unit: metrics.USDPerQuery, Decimals: 8, Of: func(p metrics.Point) float64 { return p.Cost }},
		{Unit: units.CostShare, Decimals: 3, Without: nothingPaid, Of: func(p metrics.Point) float64 { return 100 * p.Cost / strong }},
	}
	var out []metrics.Measurement
	last := math.Inf(1)
	mean := meanCurve(curves, share)
	for j, p := range mean {
		cost := 100 * p.Cost / strong
		if end := j == len(mean)-1; !end && math.Abs(cost-last) < thinnest {
			continue
		}
		last = cost
		out = append(out, whole(setting, p)[0].line(units.SweepName, append(slices.Clone(row), metrics.Keys("knob", fmt.Sprintf("%03d", j))...), n))
	}
	return out
}
