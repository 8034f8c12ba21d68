// Lines Route: accuracy, cost and gain of rows on benchmarks and on average.

package score

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// operatingPoint is a row on one benchmark, or averaged over all of them, under weights of the questions.
type operatingPoint struct {
	*weighed
	*rowMeans
	*duel              // nil: there is no reference, or it is this row
	portions []portion // of its trainings, by the edges of the hull; nil: there is one
	bench    int       // overall: the average
}

// overall is the bench of an average.
const overall = -1

func (p operatingPoint) averaged() bool { return p.bench == overall }
func (p operatingPoint) single() bool   { return p.bench != overall }

func (p operatingPoint) ofRow() bool    { return true }
func (p operatingPoint) overall() bool  { return p.averaged() }
func (p operatingPoint) compared() bool { return p.duel != nil }
func (p operatingPoint) reads() bool    { return p.averaged() }

func (p operatingPoint) other() operatingPoint {
	p.rowMeans = p.reference
	return p
}

func (p operatingPoint) accuracy() float64 {
	if p.averaged() {
		return p.all.Quality
	}
	return p.by[p.bench].Quality
}

func (p operatingPoint) dollars() float64   { return p.all.Cost }
func (p operatingPoint) costShare() float64 { return 100 * p.all.Cost / p.strongest().Cost }
func (p operatingPoint) itsTokens() float64 { return p.mean(overheadOf) }
func (p operatingPoint) lead() float64      { return lead(p.ours, p.weighed, p.all, p.reference.all) }
func (p operatingPoint) otherLead() float64 { return lead(p.theirs, p.weighed, p.reference.all, p.all) }

// strongest is always asking the strongest expert.
func (p operatingPoint) strongest() metrics.Point { return p.points[len(p.Outcomes[0])-1] }

// gain is the accuracy above the hull at the same cost, averaged over trainings.
func (p operatingPoint) gain() float64 {
	hull := p.hull
	if p.row.Own {
		hull = p.own
	}
	if p.portions == nil {
		return hull.Gain(p.all)
	}
	sum := 0.0
	for _, of := range p.portions {
		sum += of.share * hull.Gain(of.under(p.weighed, p.all))
	}
	return sum
}

// mean is the mean of a column, trainings averaged.
func (p operatingPoint) mean(column func(book.Scores) []float64) float64 {
	by := p.Sample.means(book.Mean(p.row.Scores, column), p.weights, p.size)
	if p.averaged() {
		return p.average(by)
	}
	return by[p.bench]
}

// deviation is the standard deviation over trainings of a number that needs no other row.
func (p operatingPoint) deviation(of func(operatingPoint) float64) float64 {
	var each []float64
	for k := range p.row.Scores {
		each = append(each, of(operatingPoint{weighed: p.weighed, rowMeans: p.weighed.of(p.row.training(k)), bench: p.bench}))
	}
	return deviation(each)
}

// training is the point of one training.
func (p operatingPoint) training(k int) operatingPoint {
	of := p.row.training(k)
	p.rowMeans, p.portions = p.weighed.of(of), nil
	if p.duel == nil {
		return p
	}
	reference := p.weighed.of(p.reference.row.training(k))
	if p.single() {
		p.duel = &duel{reference: reference}
	} else {
		p.duel = p.weighed.duel(p.rowMeans, reference)
	}
	return p
}

// trainings are the points of single trainings, those of the row that is compared with paired by seed.
func (p operatingPoint) trainings() []operatingPoint {
	n := len(p.row.Scores)
	if p.duel != nil {
		n = max(n, len(p.reference.row.Scores))
	}
	if n == 1 {
		return nil
	}
	out := make([]operatingPoint, n)
	for k := range out {
		out[k] = p.training(k)
	}
	return out
}

func (p operatingPoint) spread(each []float64) metrics.Mean { return metrics.MeanOf(each) }

// asked has one run where benchmarks are averaged, whose runs differ.
func (p operatingPoint) asked() (questions, runs int) {
	if p.averaged() {
		return len(p.Strata), 1
	}
	return p.size[p.bench], p.Benchmarks[p.bench].Runs
}

// alike says whether the row and the one that it is compared with decide the same on every question of the sample.
func (p operatingPoint) alike() bool {
	ours, theirs := p.row.Scores, p.reference.row.Scores
	for k := range max(len(ours), len(theirs)) {
		own, other := ours[min(k, len(ours)-1)], theirs[min(k, len(theirs)-1)]
		if !slices.Equal(own.Accuracy, other.Accuracy) || !slices.EqualFunc(own.Chosen, other.Chosen, slices.Equal) {
			return false
		}
	}
	return true
}

func answersItself(p operatingPoint) bool { return p.averaged() && p.row.Own }
func severalSeeds(p operatingPoint) bool  { return p.averaged() && len(p.row.Scores) > 1 }

const (
	nothingSolved = "the strongest expert solved nothing"
	noQuery       = "no query was graded"
)

// The numbers of a row on benchmarks and on average; those of every training are of single trainings too.
var (
	pointEntries   = entriesOf[operatingPoint]()
	everyTraining  = []Statistic[operatingPoint]{pointEntries.accuracy, pointEntries.dollars, pointEntries.costShare, pointEntries.hullGain, pointEntries.lead, pointEntries.otherLead}
	routeStatistic = slices.Concat([]Statistic[operatingPoint]{
		pointEntries.accuracy,
		{Unit: metrics.USD, Decimals: 6, Range: metrics.NotNegative, For: operatingPoint.single, Of: func(p operatingPoint) float64 { return p.Benchmarks[p.bench].Pass * p.by[p.bench].Cost }},
		pointEntries.dollars,
		{Unit: units.Retention, Decimals: 3, Range: metrics.NotNegative, For: operatingPoint.averaged, Without: nothingSolved, Of: func(p operatingPoint) float64 {
			return 100 * metrics.Retention(p.all.Quality, p.strongest().Quality)
		}},
		pointEntries.costShare,
		pointEntries.hullGain,
		{Unit: units.SavedCost, Decimals: 3, Range: metrics.UpToHundred, For: operatingPoint.averaged, Without: nothingPaid, Of: func(p operatingPoint) float64 { return 100 - p.costShare() }},
		{Unit: units.Tokens, Decimals: 1, Whole: true, Of: func(p operatingPoint) float64 { return p.mean(tokensOf) }},
		pointEntries.routerTokens,
		pointEntries.questions,
		{Unit: units.PGR, Decimals: 4, For: operatingPoint.averaged, Without: "the strongest expert is no better than the cheapest", Of: func(p operatingPoint) float64 {
			return metrics.PGR(p.all.Quality, p.points[0].Quality, p.strongest().Quality)
		}},
		{Unit: units.Truncated, Decimals: 3, Whole: true, For: func(p operatingPoint) bool { return p.averaged() && p.graded() }, Of: operatingPoint.truncated, Without: noQuery},
		pointEntries.difference,
		pointEntries.lead,
		pointEntries.otherLead,
		pointEntries.costDifference,
		{Unit: units.McNemar, Decimals: 4, Whole: true, For: operatingPoint.paired, Of: operatingPoint.mcNemar},
		{Unit: units.CallRate, Decimals: 2, Whole: true, For: answersItself, Of: func(p operatingPoint) float64 { return 100 * p.mean(askedOf) }},
		{Unit: units.Calls, Decimals: 4, Whole: true, For: answersItself, Of: func(p operatingPoint) float64 { return p.mean(callsOf) }},
		{Unit: units.OwnAnswers, Decimals: 2, Whole: true, For: answersItself, Of: func(p operatingPoint) float64 { return 100 * p.mean(book.Scores.Own) }},
	}, bucketCounts(), []Statistic[operatingPoint]{
		{Unit: units.SeedSD, Decimals: 3, Whole: true, For: severalSeeds, Of: func(p operatingPoint) float64 {
			return p.deviation(func(p operatingPoint) float64 { return p.all.Quality })
		}},
		{Unit: units.SeedCostSD, Decimals: 3, Whole: true, For: severalSeeds, Without: nothingPaid, Of: func(p operatingPoint) float64 {
			return p.deviation(operatingPoint.costShare)
		}},
	})
)

// bucketCounts are how many queries ended in each bucket, averaged over trainings. The unit is the bucket's name.
func bucketCounts() (list []Statistic[operatingPoint]) {
	for k, b := range routing.Buckets {
		list = append(list, Statistic[operatingPoint]{Unit: string(b), Decimals: 2, Whole: true, For: operatingPoint.graded, Of: func(p operatingPoint) float64 {
			n := 0.0
			for _, s := range p.row.Scores {
				for i := range p.Benchmarks {
					if p.averaged() || i == p.bench {
						n += s.Buckets[i][k] / float64(len(p.row.Scores))
					}
				}
			}
			return n
		}})
	}
	return list
}

// Route computes the lines Route: every row on every benchmark and on average, and on average each of its trainings.
func (s *Sample) Route() []metrics.Measurement { return s.route(routeStatistic) }

func (s *Sample) route(list []Statistic[operatingPoint]) []metrics.Measurement {
	f := s.fixed()
	places := make([]*place, len(s.rows)) // of rows among the columns
	for i, r := range s.rows {
		places[i] = f.columns.pair(book.Mean(r.Scores, accuracyOf), book.Mean(r.Scores, usdOf))
	}
	reference := s.reference()
	ones := [][]float64{slices.Repeat([]float64{1}, len(s.Strata))}
	duels, divided := make([]*duel, len(s.rows)), make([][]portion, len(s.rows))
	sample := f.under(ones)[0]
	for i, r := range s.rows {
		of := sample.of(r)
		hull := sample.hull
		if r.Own {
			hull = sample.own
		}
		divided[i] = portions(sample, r, of.all, func(at metrics.Point) int { return hull.Edge(at.Cost) })
		for k := range divided[i] {
			divided[i][k].settle(f, r)
		}
		if reference < 0 || i == reference {
			continue
		}
		duels[i] = sample.duel(of, sample.of(s.rows[reference]))
		for k := range duels[i].ours {
			b := &duels[i].ours[k]
			b.settle(f, r)
			b.rival.settle(f)
		}
		for k := range duels[i].theirs {
			b := &duels[i].theirs[k]
			b.settle(f, s.rows[reference])
			b.rival.settle(f)
		}
	}
	views := func(weights [][]float64) [][]operatingPoint {
		all := make([][]operatingPoint, len(weights))
		for k, w := range f.under(weights) {
			means := make([]*rowMeans, len(s.rows))
			for i, r := range s.rows {
				by := w.at(places[i])
				means[i] = &rowMeans{row: r, by: by, all: w.overall(by)}
			}
			for i, r := range means {
				p := operatingPoint{weighed: w, rowMeans: r, portions: divided[i]}
				if d := duels[i]; d != nil {
					p.duel = &duel{d.ours, d.theirs, means[reference]}
				}
				for p.bench = overall; p.bench < len(s.Benchmarks); p.bench++ {
					all[k] = append(all[k], p)
				}
			}
		}
		return all
	}
	numbers := estimate(list, s.Strata, s.Resampling.derive(s.Name), views)
	var out []metrics.Measurement
	for i, p := range views(ones)[0] {
		queries := 0
		for b, bench := range s.Benchmarks {
			if p.averaged() || b == p.bench {
				queries += f.size[b] * bench.Runs
			}
		}
		if !p.averaged() {
			out = append(out, numbers[i].line("Route", s.keys(p.row, "benchmark", s.Benchmarks[p.bench].Name), queries))
			continue
		}
		out = append(out, numbers[i].line("Route", s.keys(p.row, "benchmark", metrics.Average), queries, p.row.Reported...))
		if len(p.row.Scores) == 1 {
			continue
		}
		for k, seed := range p.row.Seeds {
			of := whole(everyTraining, p.training(k))
			out = append(out, of[0].line("Route", s.keys(p.row, "benchmark", metrics.Average, "seed", fmt.Sprint(seed)), queries))
		}
	}
	return out
}

// graded says whether answers were graded; outcomes that are probabilities have no buckets.
func (p operatingPoint) graded() bool { return p.row.Scores[0].Buckets != nil }

// truncated is the percentage of answers that were cut, averaged over benchmarks by the questions of a pass.
func (p operatingPoint) truncated() float64 {
	sum := 0.0
	for b, bench := range p.Benchmarks {
		queries, cut := 0.0, 0.0
		for _, s := range p.row.Scores {
			for k, v := range s.Buckets[b] {
				queries += v
				if routing.Buckets[k] == routing.Truncated {
					cut += v
				}
			}
		}
		sum += bench.Pass * 100 * cut / queries
	}
	return sum / p.Total()
}

// paired says whether McNemar's test applies: questions asked once, with graded answers, and a row to compare with.
func (p operatingPoint) paired() bool {
	return p.single() && p.compared() && p.Benchmarks[p.bench].Runs == 1 && p.graded()
}

// mcNemar compares a row with the reference on a benchmark of one run: the median of the p-values of their trainings,
// paired by seed. Questions that either row decides by a coin, with unlike outcomes, are left out.
func (p operatingPoint) mcNemar() float64 {
	var ps []float64
	ours, theirs := p.row.Scores, p.reference.row.Scores
	for k := range max(len(ours), len(theirs)) {
		// A row that does not depend on the seed has one training for all of them.
		own, other := ours[min(k, len(ours)-1)].Accuracy, theirs[min(k, len(theirs)-1)].Accuracy
		onlyOwn, onlyOther := 0, 0
		for q, b := range p.Strata {
			switch {
			case b != p.bench:
			case own[q] == 100 && other[q] == 0:
				onlyOwn++
			case own[q] == 0 && other[q] == 100:
				onlyOther++
			}
		}
		ps = append(ps, metrics.McNemar(onlyOwn, onlyOther))
	}
	slices.Sort(ps)
	return (ps[(len(ps)-1)/2] + ps[len(ps)/2]) / 2
}
