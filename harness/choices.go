package harness

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/units"
)

var cptLevels = [...]int{50, 80}

// calibrationBins is how many bins ECE has.
const calibrationBins = 10

// choiceResamples is how many resamples the lines Choice and Curve take at most: their numbers are dear to compute and
// secondary. They are the first of those that the lines Route take.
const choiceResamples = 500

// thinnest is by how many points of the cost share settings of a knob differ at least if both have a line.
const thinnest = 0.5

// traits are what the decisions of one fit are like.
type traits struct {
	entropy   []float64 // [questions] of the router's distribution, runs averaged; nil: always 0, or it has none over experts
	cells     []cell
	bothRight []float64 // [questions] chance that the decision and m_best are both right
	excess    []float64 // dollars of the decision above m_best's, times that chance
	score     *scoreOf
}

// cell is a share of a question's runs that went to one expert, or to the router itself.
type cell struct {
	question int32
	at       int32 // m_best*(M+1) + expert, M for the router itself
	share    float64
}

// scoreOf is a router's score for "the cheapest expert suffices".
type scoreOf struct {
	probability []float64 // [questions]; nil: the score is none
	ranking     *metrics.Ranking
}

// examine reads the traits of decisions. best is m_best of each question, chosen what score says of the decisions.
// kind is the row's: the probabilities of a coin between two settings of a knob are no score, nor is the distribution of a
// first move, which leaves out the router's own answer and is none over experts either.
func examine(a *book.Arena, decisions []routing.Decision, chosen [][]float64, best []int, kind string) traits {
	firstMove := methods.AnswersItself(kind)
	graded := !methods.Knob(kind) && !firstMove
	questions, experts := len(a.Strata), len(a.Outcomes[0])
	t := traits{entropy: make([]float64, questions), bothRight: make([]float64, questions), excess: make([]float64, questions)}
	cheap := make([]float64, questions)
	soft := false
	for i, d := range decisions {
		q := a.Question[i]
		runs := float64(a.Benchmarks[a.Strata[q]].Runs)
		h := metrics.Entropy(d.Prob)
		soft = soft || h > 0
		t.entropy[q] += h / runs
		cheap[q] += d.Prob[0] / runs

		target := a.Outcomes[i][best[q]]
		count := func(m int, right, usd, share float64) {
			both := share * right
			if m != best[q] {
				both *= target.Correct
			}
			t.bothRight[q] += both / runs
			t.excess[q] += both * (usd - target.USD) / runs
		}
		switch {
		case d.Answer != nil:
			own := a.Said(d)
			count(routing.Self, own.Correct, own.USD, 1)
		case d.Expert == routing.Expected:
			for m, p := range d.Prob {
				count(m, a.Outcomes[i][m].Correct, a.Outcomes[i][m].USD, p)
			}
		default:
			usd := 0.0
			for m, times := range d.Asked(experts) {
				usd += times * a.Outcomes[i][m].USD
			}
			if d.Expert == routing.Self {
				count(d.Expert, a.Self[i].Correct*(1-d.Spoiled), usd, 1)
			} else {
				count(d.Expert, a.Outcomes[i][d.Expert].Correct, usd, 1)
			}
		}
	}
	if !soft || firstMove {
		t.entropy = nil
	}
	if graded && soft && slices.Max(cheap) > slices.Min(cheap) {
		t.score = &scoreOf{cheap, metrics.NewRanking(cheap)}
	}
	for q, shares := range chosen {
		own := 1.0
		for m, s := range shares {
			own -= s
			if s > 0 {
				t.cells = append(t.cells, cell{int32(q), int32(best[q]*(experts+1) + m), s})
			}
		}
		if own > 1e-9 { // shares add up to 1 but for rounding
			t.cells = append(t.cells, cell{int32(q), int32(best[q]*(experts+1) + experts), own})
		}
	}
	return t
}

// curve returns what a sweep gets and pays, and its score for "the cheapest expert suffices": how early in the sweep the
// question goes there.
func knobCurve(a *book.Arena, s *sweep) (*metrics.KnobCurve, *scoreOf) {
	runs := func(q int) float64 { return float64(a.Benchmarks[a.Strata[q]].Runs) }
	point := func(i, m int) metrics.Point {
		o, n := a.Outcomes[i][m], runs(a.Question[i])
		return metrics.Point{Cost: o.USD / n, Quality: 100 * o.Correct / n}
	}
	first := make([]metrics.Point, len(a.Strata))
	early := make([]float64, len(a.Strata))
	for i, x := range s.queries {
		q, p := a.Question[i], point(i, x.first)
		first[q].Cost += p.Cost
		first[q].Quality += p.Quality
		at := s.settings
		if x.first == 0 {
			at = 0
		} else if k := slices.IndexFunc(x.turns, func(t turn) bool { return t.expert == 0 }); k >= 0 {
			at = x.turns[k].setting
		}
		early[q] -= float64(at) / runs(q)
	}
	c := metrics.NewKnobCurve(s.settings, first)
	for i, x := range s.queries {
		before := point(i, x.first)
		for _, t := range x.turns {
			p := point(i, t.expert)
			c.Change(a.Question[i], t.setting, metrics.Point{Cost: p.Cost - before.Cost, Quality: p.Quality - before.Quality})
			before = p
		}
	}
	return c, &scoreOf{ranking: metrics.NewRanking(early)}
}

// best returns m_best of every question of an arena.
func (e *engine) best(ctx context.Context, a *arena) ([]int, error) {
	tau := e.spec.Experiment.Targets.Tau
	var best []int
	kappa := make([]float64, len(e.experts))
	if a.Name == metrics.LargeArena {
		for _, o := range a.Outcomes {
			for m := range kappa {
				kappa[m] = o[m].Correct
			}
			best = append(best, routing.MBest(kappa, tau))
		}
		return best, nil
	}
	for _, p := range e.testProfiles {
		pr, err := p.load(ctx)
		if err != nil {
			return nil, err
		}
		for i := range pr.Problems {
			for m := range kappa {
				kappa[m] = pr.Kappa(i, m)
			}
			best = append(best, routing.MBest(kappa, tau))
		}
	}
	return best, nil
}

// yardsticks are what the rows of an arena are held against.
type yardsticks struct {
	experts [][]metrics.Point // [M][questions] what each expert gets and costs
	oracle  []float64         // [questions] accuracy of the best expert in each run
	right   []float64         // [questions] chance that the cheapest expert is right
	share   []float64         // [questions] weight of a question in averages, sums to 1
}

func (e *engine) yardsticks(a *book.Arena) yardsticks {
	size := make([]float64, len(a.Benchmarks))
	for _, b := range a.Strata {
		size[b]++
	}
	pass := questionsOfAPass(a, e.spec.Benchmarks)
	total := 0.0
	for _, n := range pass {
		total += n
	}
	n := len(a.Strata)
	y := yardsticks{oracle: make([]float64, n), right: make([]float64, n), share: make([]float64, n)}
	for q, b := range a.Strata {
		y.share[q] = pass[b] / size[b] / total
	}
	accuracy, usd := expertsAlone(a)
	for m := range accuracy {
		points := make([]metrics.Point, n)
		for q := range points {
			points[q] = metrics.Point{Cost: usd[m][q], Quality: accuracy[m][q]}
		}
		y.experts = append(y.experts, points)
	}
	for i, outcomes := range a.Outcomes {
		q := a.Question[i]
		top := 0.0
		for _, o := range outcomes {
			top = max(top, o.Correct)
		}
		y.oracle[q] += 100 * top / float64(a.Benchmarks[a.Strata[q]].Runs)
	}
	for q := range y.right {
		y.right[q] = accuracy[0][q] / 100
	}
	return y
}

// means returns the point of each expert under weights [questions].
func (y yardsticks) means(weights []float64) []metrics.Point {
	out := make([]metrics.Point, len(y.experts))
	for m, points := range y.experts {
		for q, w := range weights {
			out[m].Cost += w * points[q].Cost
			out[m].Quality += w * points[q].Quality
		}
	}
	return out
}

// Where the numbers of a row stand in the vector of a bootstrap.
const (
	atOracleGap = iota
	atRegret
	atCostRegret
	atQueryEntropy
	atEntropy
	atInformation
	atAUC
	atECE
	atBrier
	atAIQ
	atAUDC
	atAPGR
	atQNC
	atPeak
	atMeanGain
	atCPT
	rowStats = atCPT + len(cptLevels)
)

// measureChoices computes the lines Choice, Curve and Sweep of an arena. What depends on the whole set of decisions of a
// fit is computed for each training and then averaged.
func (e *engine) measureChoices(a *book.Arena, rows []scored) []metrics.Measurement {
	x := &e.spec.Experiment
	y := e.yardsticks(a)
	all := y.means(y.share)
	strongest := len(all) - 1
	price := metrics.ExchangeRate(all[0], all[strongest])
	var vertices []int // chosen on the sample, as in measure
	for _, p := range metrics.UpperHull(all) {
		vertices = append(vertices, slices.Index(all, p))
	}
	type linear struct{ gap, regret, entropy []float64 } // [questions], trainings averaged
	columns := make([]linear, len(rows))
	for i, r := range rows {
		c := linear{gap: r.mean(accuracyOf), regret: r.mean(usdOf)}
		point := make([]metrics.Point, len(y.experts))
		for q, quality := range c.gap {
			for m := range point {
				point[m] = y.experts[m][q]
			}
			c.regret[q] = metrics.Regret(point, metrics.Point{Cost: c.regret[q], Quality: quality}, price)
			c.gap[q] = metrics.OracleGap(quality, y.oracle[q])
		}
		for _, t := range r.traits {
			if t.entropy == nil {
				continue
			}
			if c.entropy == nil {
				c.entropy = make([]float64, len(t.entropy))
			}
			for q, h := range t.entropy {
				c.entropy[q] += h / float64(len(r.traits))
			}
		}
		columns[i] = c
	}
	stat := func(w, u, out []float64) {
		for q := range u {
			u[q] = w[q] * y.share[q]
		}
		points := y.means(u)
		weak, strong := points[0], points[strongest]
		var hull metrics.Hull
		for _, m := range vertices {
			hull = append(hull, points[m])
		}
		for i, r := range rows {
			o := out[i*rowStats : (i+1)*rowStats]
			clear(o)
			c := columns[i]
			for q, v := range u {
				o[atOracleGap] += v * c.gap[q]
				o[atRegret] += v * c.regret[q]
			}
			for q, h := range c.entropy {
				o[atQueryEntropy] += u[q] * h
			}
			if methods.AnswersItself(r.method.Name) {
				o[atQueryEntropy] = math.NaN()
			}
			o[atAUC], o[atECE], o[atBrier] = math.NaN(), math.NaN(), math.NaN()
			for _, t := range r.traits {
				share := 1 / float64(len(r.traits))
				both, excess := 0.0, 0.0
				for q, v := range u {
					both += v * t.bothRight[q]
					excess += v * t.excess[q]
				}
				o[atCostRegret] += share * 100 * excess / both / strong.Cost
				entropy, information := t.information(u, len(y.experts))
				o[atEntropy] += share * entropy
				o[atInformation] += share * information
				if t.score != nil {
					addScores(o, t.score, y.right, u, share)
				}
			}
			for k := atAIQ; k < rowStats; k++ {
				o[k] = math.NaN()
			}
			for k, curve := range r.curves {
				if k == 0 {
					clear(o[atAIQ:])
				}
				share := 1 / float64(len(r.curves))
				at := make([]metrics.Point, curve.Settings())
				curve.Under(u, at)
				o[atAIQ] += share * metrics.AIQ(at, weak.Cost, strong.Cost)
				o[atAUDC] += share * metrics.AUDC(at, weak, strong)
				o[atAPGR] += share * metrics.APGR(at, weak, strong)
				o[atQNC] += share * 100 * metrics.QNC(at, strong)
				o[atPeak] += share * metrics.Peak(at)
				o[atMeanGain] += share * metrics.MeanGain(at, hull, weak.Cost, strong.Cost)
				for l, level := range cptLevels {
					o[atCPT+l] += share * 100 * metrics.CPT(at, weak, strong, float64(level)/100)
				}
				addScores(o, r.scores[k], y.right, u, share)
			}
		}
	}
	point, samples := metrics.BootstrapParallel(a.Strata, min(x.Evaluate.Bootstrap, choiceResamples), e.bootstrapSeed(a), len(rows)*rowStats,
		func() func(w, out []float64) {
			u := make([]float64, len(a.Strata))
			return func(w, out []float64) { stat(w, u, out) }
		})
	var out []metrics.Measurement
	for i, r := range rows {
		var values []metrics.Value
		add := func(k int, unit string, decimals int) {
			values = append(values, metrics.Estimated(point[i*rowStats+k], samples[i*rowStats+k], x.Evaluate.Confidence, unit, decimals))
		}
		add(atOracleGap, units.OracleGap, 3)
		if price > 0 { // else money buys nothing, and the best decision is the best answer
			add(atRegret, units.Regret, 3)
			values = append(values, metrics.Rounded(price*all[strongest].Cost, units.RegretPrice, 3))
		}
		add(atCostRegret, units.CostRegret, 3)
		add(atQueryEntropy, units.QueryEntropy, 4)
		add(atEntropy, units.Entropy, 4)
		add(atInformation, units.Information, 4)
		add(atAUC, units.AUC, 4)
		add(atECE, units.ECE, 4)
		add(atBrier, units.Brier, 4)
		rowKeys := e.keys(a, r, "")[:3]
		out = append(out, metrics.Measurement{Name: "Choice", Keys: rowKeys, N: len(a.Queries), Values: metrics.Defined(values)})
		if r.curves == nil {
			continue
		}
		values = nil
		add(atAIQ, units.AIQ, 3)
		add(atMeanGain, units.MeanGain, 3)
		add(atAPGR, units.APGR, 4)
		add(atAUDC, units.AUDC, 3)
		for l, level := range cptLevels {
			add(atCPT+l, fmt.Sprintf(units.CPT, level), 2)
		}
		add(atQNC, units.QNC, 2)
		values = append(values, metrics.Rounded(point[i*rowStats+atPeak], units.Peak, 3))
		out = append(out, metrics.Measurement{Name: "Curve", Keys: rowKeys, N: len(a.Queries), Values: metrics.Defined(values)})
		out = append(out, sweepLines(rowKeys, len(a.Queries), r.curves, y.share, all[strongest].Cost)...)
	}
	return out
}

// information returns the entropy of the decisions and their mutual information with m_best under weights u.
func (t traits) information(u []float64, experts int) (entropy, information float64) {
	flat := make([]float64, experts*(experts+1))
	for _, c := range t.cells {
		flat[c.at] += u[c.question] * c.share
	}
	table := make([][]float64, experts)
	decided := make([]float64, experts+1)
	for b := range table {
		table[b] = flat[b*(experts+1) : (b+1)*(experts+1)]
		for m, v := range table[b] {
			decided[m] += v
		}
	}
	return metrics.Entropy(decided), metrics.MutualInformation(table)
}

// addScores adds what a score is worth, times share.
func addScores(o []float64, s *scoreOf, right, u []float64, share float64) {
	add := func(k int, v float64) {
		if math.IsNaN(o[k]) {
			o[k] = 0
		}
		o[k] += share * v
	}
	add(atAUC, s.ranking.AUC(right, u))
	if s.probability != nil {
		add(atECE, metrics.ECE(s.probability, right, u, calibrationBins))
		add(atBrier, metrics.Brier(s.probability, right, u))
	}
}

// sweepLines are the settings of a knob, trainings averaged, with those left out that hardly differ from the one before.
func sweepLines(rowKeys []metrics.Key, n int, curves []*metrics.KnobCurve, share []float64, strong float64) []metrics.Measurement {
	mean := make([]metrics.Point, curves[0].Settings())
	at := make([]metrics.Point, len(mean))
	for _, c := range curves {
		c.Under(share, at)
		for j, p := range at {
			mean[j].Cost += p.Cost / float64(len(curves))
			mean[j].Quality += p.Quality / float64(len(curves))
		}
	}
	var out []metrics.Measurement
	last := math.Inf(1)
	for j, p := range mean {
		cost := 100 * p.Cost / strong
		if end := j == len(mean)-1; !end && math.Abs(cost-last) < thinnest {
			continue
		}
		last = cost
		out = append(out, metrics.Measurement{Name: report.SweepName, N: n,
			Keys:   append(slices.Clone(rowKeys), metrics.Key{Name: "knob", Value: fmt.Sprintf("%03d", j)}),
			Values: []metrics.Value{metrics.Rounded(p.Quality, metrics.Accuracy, 3), metrics.Rounded(p.Cost, metrics.USDPerQuery, 8), metrics.Rounded(cost, units.CostShare, 3)}})
	}
	return out
}

func (e *engine) bootstrapSeed(a *book.Arena) uint64 {
	return uint64(seed.Seed(e.spec.Experiment.Seed).Derive("bootstrap", a.Name))
}
