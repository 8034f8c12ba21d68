package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

// planMeasure plans the step that turns decisions and outcomes into measurements.
func (e *engine) planMeasure() error {
	x := &e.spec.Experiment
	type row struct {
		ID, Match string
		Fits      int
	}
	params := struct {
		Pool       string
		Rows       []row
		Test       []string
		Weights    []int
		Bootstrap  int
		Confidence float64
		Seed       uint64
		Tau        float64
	}{Pool: e.poolSpec.Name, Test: x.Test, Bootstrap: x.Evaluate.Bootstrap, Confidence: x.Evaluate.Confidence, Seed: x.Seed, Tau: x.Targets.Tau}
	for _, name := range x.Test {
		params.Weights = append(params.Weights, e.spec.Benchmarks[name].Whole)
	}
	var inputs []*step
	for i, m := range x.Methods {
		params.Rows = append(params.Rows, row{m.RowID(), m.Match, len(e.fits[i])})
		for _, f := range e.fits[i] {
			inputs = append(inputs, f.step)
			if f.unmatched != nil {
				inputs = append(inputs, f.unmatched.step)
			}
		}
	}
	for _, a := range e.arenas {
		inputs = append(inputs, slices.Concat(a.outcomeSteps(), a.selfSteps())...)
	}
	for _, p := range e.testProfiles {
		inputs = append(inputs, p.step)
	}
	var err error
	e.measured, err = e.newStep("measure", "measure", measureVersion, params, inputs, func(ctx context.Context, d *store.Draft) error {
		if err := e.prepare(ctx); err != nil {
			return err
		}
		set := &metrics.Set{}
		for _, a := range e.arenas {
			if err := a.loadOutcomes(ctx); err != nil {
				return err
			}
			best, err := e.best(ctx, a)
			if err != nil {
				return err
			}
			var rows []scored
			for i, m := range x.Methods {
				if !e.fits[i][0].covers(a) {
					continue
				}
				r := scored{method: m}
				if r.reported, err = reported(ctx, e.fits[i], a.Name); err != nil {
					return err
				}
				for _, f := range e.fits[i] {
					decisions, err := f.decisions(ctx, a)
					if err != nil {
						return err
					}
					r.seeds = append(r.seeds, f.seed)
					r.columns = append(r.columns, a.Score(decisions))
					r.traits = append(r.traits, examine(&a.Arena, decisions, r.columns[len(r.columns)-1].Chosen, best, m.Name))
				}
				if err := r.readCurves(ctx, &a.Arena, e.fits[i]); err != nil {
					return err
				}
				rows = append(rows, r)
			}
			e.opt.Progress.Start("measuring "+a.Name, 1)
			set.Measurements = append(set.Measurements, e.measure(&a.Arena, rows)...)
			set.Measurements = append(set.Measurements, e.measureChoices(&a.Arena, rows)...)
			if a.Name == metrics.PaperArena {
				set.Measurements = append(set.Measurements, e.measureStrata(&a.Arena, rows, strataOf(best, len(e.experts)))...)
			}
			e.opt.Progress.Done()
		}
		w, err := d.Create("measurements.txt")
		if err != nil {
			return err
		}
		return errors.Join(set.Write(w), w.Close())
	})
	return err
}

// prepare makes what measuring reads in the order of the picture in doc.go. Every problem set comes before the first
// question to an expert, so that a data file that is missing costs nobody anything.
func (e *engine) prepare(ctx context.Context) error {
	for _, s := range e.sets {
		if _, err := e.get(ctx, s.step); err != nil {
			return err
		}
	}
	if err := e.askable(ctx); err != nil {
		return err
	}
	for _, row := range e.fits {
		for _, f := range row {
			if _, err := e.get(ctx, f.step); err != nil {
				return err
			}
		}
	}
	return nil
}

// comment is the head of measurements.txt.
func (e *engine) comment() []string {
	x := &e.spec.Experiment
	c := []string{" " + x.Title + "."}
	if e.sim != nil {
		c = append(c, " A simulation: experts of pool "+e.poolSpec.Name+" follow an item-response model calibrated to the paper's fixed experts and to nothing else.")
	}
	return append(c,
		fmt.Sprintf(" Intervals: %g%% paired question bootstrap, %d resamples (%d of lines Choice and Curve), stratified by benchmark, trained routers held fixed.",
			100*x.Evaluate.Confidence, x.Evaluate.Bootstrap, min(x.Evaluate.Bootstrap, choiceResamples)),
		" usd is the total of one pass over a benchmark, averaged over runs; lines with benchmark=avg hold dollars a query.")
}

// scored is a row of a table.
type scored struct {
	method   spec.Method
	seeds    []uint64
	columns  []book.Scores   // [seeds]
	traits   []traits        // [seeds]
	reported []metrics.Value // what the router says of itself, averaged over the seeds

	curves []*metrics.KnobCurve // of the fits behind the row; nil: no knob
	scores []*scoreOf           // [len(curves)]
}

// reported averages over fits what their routers said of their decisions on an arena; over those that said it, as the
// accuracy among no queries is nothing.
func reported(ctx context.Context, fits []*fit, arena string) (out []metrics.Value, err error) {
	said := map[string]float64{} // by unit
	for _, f := range fits {
		r, err := f.report(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range r.Router[arena] {
			said[v.Unit]++
			k := slices.IndexFunc(out, func(o metrics.Value) bool { return o.Unit == v.Unit })
			if k < 0 {
				k, out = len(out), append(out, metrics.Rounded(0, v.Unit, v.Decimals))
			}
			out[k].Number += v.Number
		}
	}
	for k, v := range out {
		out[k] = metrics.Rounded(v.Number/said[v.Unit], v.Unit, v.Decimals)
	}
	return out, nil
}

// mean averages a column over the seeds.
func (s scored) mean(column func(book.Scores) []float64) []float64 {
	out := make([]float64, len(column(s.columns[0])))
	for _, c := range s.columns {
		for q, v := range column(c) {
			out[q] += v / float64(len(s.columns))
		}
	}
	return out
}

func accuracyOf(s book.Scores) []float64 { return s.Accuracy }
func usdOf(s book.Scores) []float64      { return s.USD }
func tokensOf(s book.Scores) []float64   { return s.Tokens }
func overheadOf(s book.Scores) []float64 { return s.Overhead }
func askedOf(s book.Scores) []float64    { return s.Asked }
func callsOf(s book.Scores) []float64    { return s.Calls }

// expertsAlone returns what always asking each expert gets and pays: accuracy and dollars, [M][questions].
func expertsAlone(a *book.Arena) (accuracy, usd [][]float64) {
	for m := range a.Outcomes[0] {
		s := a.Score(a.Always(m))
		accuracy, usd = append(accuracy, s.Accuracy), append(usd, s.USD)
	}
	return accuracy, usd
}

// questionsOfAPass is how many questions one pass over each benchmark has: those of the paper's arena, and in the large arena those
// of the whole benchmark that the draw stands for. Averages weigh benchmarks by it and dollars are of one pass.
func questionsOfAPass(a *book.Arena, benchmarks spec.Benchmarks) []float64 {
	var n []float64
	for _, b := range a.Benchmarks {
		if a.Name == metrics.LargeArena {
			n = append(n, float64(max(benchmarks[b.Name].Whole, benchmarks[b.Name].Size)))
		} else {
			n = append(n, float64(benchmarks[b.Name].Size))
		}
	}
	return n
}

// measure computes every line of an arena.
func (e *engine) measure(a *book.Arena, rows []scored) []metrics.Measurement {
	x := &e.spec.Experiment
	nb := len(a.Benchmarks)
	size := make([]int, nb) // questions in this arena
	for _, b := range a.Strata {
		size[b]++
	}
	pass := questionsOfAPass(a, e.spec.Benchmarks)
	total := 0.0
	for _, n := range pass {
		total += n
	}
	expertAccuracy, expertUSD := expertsAlone(a)
	strongest := len(e.experts) - 1
	accuracy, usd := make([][]float64, len(rows)), make([][]float64, len(rows))
	reference := -1
	for i, r := range rows {
		accuracy[i], usd[i] = r.mean(accuracyOf), r.mean(usdOf)
		if r.method.RowID() == methods.ReferenceRow {
			reference = i
		}
	}
	// Per benchmark: accuracy and dollars a question; over all: accuracy, dollars, retention, cost share, hull gain,
	// the differences in accuracy, hull gain and cost share to the reference, and PGR; per benchmark: the difference in
	// accuracy.
	const extra = 9
	perRow := 2*nb + extra + nb
	perBench := func(column, w []float64, out []float64) {
		clear(out)
		for q, v := range column {
			out[a.Strata[q]] += w[q] * v
		}
		for b := range out {
			out[b] /= float64(size[b]) // the bootstrap keeps the size of every stratum
		}
	}
	average := func(means []float64) float64 {
		sum := 0.0
		for b, v := range means {
			sum += v * pass[b]
		}
		return sum / total
	}
	// The router alone is one more point that costs nothing, on the hull of rows that may answer themselves.
	if a.Self != nil {
		own := a.Score(a.Always(routing.Self))
		expertAccuracy, expertUSD = append(expertAccuracy, own.Accuracy), append(expertUSD, own.USD)
	}
	fixed := func(w []float64) []metrics.Point {
		scratch := make([]float64, nb)
		points := make([]metrics.Point, len(expertAccuracy))
		for m := range points {
			perBench(expertAccuracy[m], w, scratch)
			points[m].Quality = average(scratch)
			perBench(expertUSD[m], w, scratch)
			points[m].Cost = average(scratch)
		}
		return points
	}
	ones := slices.Repeat([]float64{1}, len(a.Strata))
	// The vertices of the hull are chosen on the sample and their means move in resamples: a hull chosen anew in each
	// would lie above every constant router, which then had a negative gain.
	all := fixed(ones)
	hull, withSelf := metrics.UpperHull(all[:len(e.experts)]), metrics.UpperHull(all)
	vertices, verticesSelf := verticesOf(hull, all), verticesOf(withSelf, all)
	stat := func(w, out []float64) {
		points := fixed(w)
		hullOf := func(vertices []int) (hull metrics.Hull) {
			for _, m := range vertices {
				hull = append(hull, points[m])
			}
			return hull
		}
		hull, hullSelf := hullOf(vertices), hullOf(verticesSelf)
		for i := range rows {
			o := out[i*perRow : (i+1)*perRow]
			perBench(accuracy[i], w, o[:nb])
			perBench(usd[i], w, o[nb:2*nb])
			p := metrics.Point{Quality: average(o[:nb]), Cost: average(o[nb : 2*nb])}
			s := o[2*nb:]
			s[0], s[1] = p.Quality, p.Cost
			s[2] = 100 * metrics.Retention(p.Quality, points[strongest].Quality)
			s[3] = 100 * p.Cost / points[strongest].Cost
			s[4] = hull.Gain(p)
			if methods.AnswersItself(rows[i].method.Name) {
				s[4] = hullSelf.Gain(p)
			}
			s[8] = metrics.PGR(p.Quality, points[0].Quality, points[strongest].Quality)
		}
		if reference < 0 {
			return
		}
		ref := out[reference*perRow+2*nb:]
		for i := range rows {
			s := out[i*perRow+2*nb:]
			s[5], s[6], s[7] = s[0]-ref[0], s[4]-ref[4], s[3]-ref[3]
			for b := range nb {
				s[extra+b] = out[i*perRow+b] - out[reference*perRow+b]
			}
		}
	}
	point, samples := metrics.BootstrapParallel(a.Strata, x.Evaluate.Bootstrap, e.bootstrapSeed(a), len(rows)*perRow, func() func(w, out []float64) { return stat })
	value := func(i, k int, scale float64, unit string, decimals int) metrics.Value {
		at := i*perRow + k
		of := make([]float64, len(samples[at]))
		for j, s := range samples[at] {
			of[j] = scale * s
		}
		return metrics.Estimated(scale*point[at], of, x.Evaluate.Confidence, unit, decimals)
	}
	var out []metrics.Measurement
	line := func(r scored, benchmark string, n int, values ...metrics.Value) metrics.Measurement {
		return metrics.Measurement{Name: "Route", Keys: e.keys(a, r, benchmark), N: n, Values: values}
	}
	for i, r := range rows {
		tokens := r.mean(tokensOf)
		tokensBy := make([]float64, nb)
		perBench(tokens, ones, tokensBy)
		queries := 0
		for b, bench := range a.Benchmarks {
			n := size[b] * bench.Runs
			queries += n
			m := line(r, bench.Name, n,
				value(i, b, 1, metrics.Accuracy, 3),
				value(i, nb+b, pass[b], metrics.USD, 6),
				metrics.Rounded(tokensBy[b], units.Tokens, 1),
				metrics.Rounded(float64(size[b]), metrics.Questions, 0))
			if reference >= 0 && i != reference {
				m.Values = append(m.Values, value(i, 2*nb+extra+b, 1, units.Difference, 3))
				if p, ok := mcNemar(a, b, r, rows[reference]); ok {
					m.Values = append(m.Values, metrics.Rounded(p, units.McNemar, 4))
				}
			}
			m.Values = append(m.Values, bucketCounts(r, []int{b})...)
			out = append(out, m)
		}
		overheadBy := make([]float64, nb)
		perBench(r.mean(overheadOf), ones, overheadBy)
		overhead := average(overheadBy)
		s := 2 * nb
		avg := line(r, metrics.Average, queries,
			value(i, s, 1, metrics.Accuracy, 3),
			value(i, s+1, 1, metrics.USDPerQuery, 8),
			value(i, s+2, 1, units.Retention, 3),
			value(i, s+3, 1, units.CostShare, 3),
			value(i, s+4, 1, units.HullGain, 3),
			saving(value(i, s+3, 1, units.CostShare, 3)),
			metrics.Rounded(average(tokensBy), units.Tokens, 1),
			metrics.Rounded(overhead, units.RouterTokens, 1),
			metrics.Rounded(float64(len(a.Strata)), metrics.Questions, 0))
		avg.Values = append(avg.Values, value(i, s+8, 1, units.PGR, 4))
		if r.columns[0].Buckets != nil {
			avg.Values = append(avg.Values, metrics.Rounded(truncated(a, r, pass), units.Truncated, 3))
		}
		if reference >= 0 && i != reference {
			avg.Values = append(avg.Values, value(i, s+5, 1, units.Difference, 3), value(i, s+6, 1, units.HullDifference, 3), value(i, s+7, 1, units.CostDifference, 3))
		}
		if methods.AnswersItself(r.method.Name) {
			for _, x := range []struct {
				of       func(book.Scores) []float64
				scale    float64
				unit     string
				decimals int
			}{{askedOf, 100, units.CallRate, 2}, {callsOf, 1, units.Calls, 4}, {book.Scores.Own, 100, units.OwnAnswers, 2}} {
				by := make([]float64, nb)
				perBench(r.mean(x.of), ones, by)
				avg.Values = append(avg.Values, metrics.Rounded(x.scale*average(by), x.unit, x.decimals))
			}
		}
		all := make([]int, nb)
		for b := range all {
			all[b] = b
		}
		avg.Values = append(avg.Values, bucketCounts(r, all)...)
		if len(r.columns) > 1 {
			var acc, cost []float64
			under := hull
			if methods.AnswersItself(r.method.Name) {
				under = withSelf
			}
			for k, c := range r.columns {
				by := make([]float64, nb)
				perBench(c.Accuracy, ones, by)
				quality := average(by)
				perBench(c.USD, ones, by)
				dollars := average(by)
				acc = append(acc, quality)
				perBench(expertUSD[strongest], ones, by)
				cost = append(cost, 100*dollars/average(by))
				single := line(r, metrics.Average, queries,
					metrics.Rounded(quality, metrics.Accuracy, 3), metrics.Rounded(dollars, metrics.USDPerQuery, 8), metrics.Rounded(cost[k], units.CostShare, 3),
					metrics.Rounded(under.Gain(metrics.Point{Quality: quality, Cost: dollars}), units.HullGain, 3))
				single.Keys = append(single.Keys, metrics.Key{Name: "seed", Value: fmt.Sprint(r.seeds[k])})
				out = append(out, single)
			}
			avg.Values = append(avg.Values, metrics.Rounded(deviation(acc), units.SeedSD, 3), metrics.Rounded(deviation(cost), units.SeedCostSD, 3))
		}
		avg.Values = append(avg.Values, r.reported...)
		out = append(out, avg)
	}
	for i := range out {
		out[i].Values = metrics.Defined(out[i].Values)
	}
	return out
}

// verticesOf returns which of the points that a hull was made of are its vertices.
func verticesOf(hull metrics.Hull, points []metrics.Point) (vertices []int) {
	for _, p := range hull {
		vertices = append(vertices, slices.Index(points, p))
	}
	return vertices
}

// readCurves reads the sweeps of the fits of a row; those of a match are of the fit behind it.
func (s *scored) readCurves(ctx context.Context, a *book.Arena, fits []*fit) error {
	var read []*step
	for _, f := range fits {
		if f.unmatched != nil {
			f = f.unmatched
		}
		if slices.Contains(read, f.step) {
			continue
		}
		read = append(read, f.step)
		sweep, err := f.sweep(ctx, a.Name, a.Queries)
		if err != nil {
			return err
		}
		if sweep == nil {
			return nil
		}
		curve, score := knobCurve(a, sweep)
		s.curves, s.scores = append(s.curves, curve), append(s.scores, score)
	}
	return nil
}

func (e *engine) keys(a *book.Arena, r scored, benchmark string) []metrics.Key {
	return []metrics.Key{
		{Name: "pool", Value: e.poolSpec.Name}, {Name: "arena", Value: a.Name},
		{Name: "method", Value: r.method.RowID()}, {Name: "benchmark", Value: benchmark},
	}
}

// saving turns a cost share into what is saved.
func saving(share metrics.Value) metrics.Value {
	v := metrics.Rounded(100-share.Number, units.SavedCost, share.Decimals)
	if share.Bounded {
		v = v.Within(100-share.High, 100-share.Low)
	}
	return v
}

// truncated is the percentage of answers that were cut, averaged over benchmarks by the questions of a pass.
func truncated(a *book.Arena, r scored, pass []float64) float64 {
	sum, total := 0.0, 0.0
	for b, n := range pass {
		queries, cut := 0.0, 0.0
		for _, c := range r.columns {
			for k, v := range c.Buckets[b] {
				queries += v
				if routing.Buckets[k] == routing.Truncated {
					cut += v
				}
			}
		}
		sum += n * 100 * cut / queries
		total += n
	}
	return sum / total
}

// mcNemar compares a row with the reference on a benchmark of one run: the median of the p-values of their trainings,
// paired by seed. Questions that either row decides by a coin, with unlike outcomes, are left out. ok is false where
// questions are asked more than once or outcomes are probabilities.
func mcNemar(a *book.Arena, bench int, row, reference scored) (p float64, ok bool) {
	if a.Benchmarks[bench].Runs != 1 || row.columns[0].Buckets == nil {
		return 0, false
	}
	var ps []float64
	for k := range max(len(row.columns), len(reference.columns)) {
		// A row that does not depend on the seed has one training for all of them.
		own, other := row.columns[min(k, len(row.columns)-1)].Accuracy, reference.columns[min(k, len(reference.columns)-1)].Accuracy
		onlyOwn, onlyOther := 0, 0
		for q, b := range a.Strata {
			switch {
			case b != bench:
			case own[q] == 100 && other[q] == 0:
				onlyOwn++
			case own[q] == 0 && other[q] == 100:
				onlyOther++
			}
		}
		ps = append(ps, metrics.McNemar(onlyOwn, onlyOther))
	}
	slices.Sort(ps)
	return (ps[(len(ps)-1)/2] + ps[len(ps)/2]) / 2, true
}

// bucketCounts returns how many queries of the given benchmarks ended in each bucket, averaged over seeds. The unit
// is the bucket's name.
func bucketCounts(r scored, benches []int) []metrics.Value {
	if r.columns[0].Buckets == nil {
		return nil
	}
	var out []metrics.Value
	for k, b := range routing.Buckets {
		n := 0.0
		for _, c := range r.columns {
			for _, i := range benches {
				n += c.Buckets[i][k] / float64(len(r.columns))
			}
		}
		out = append(out, metrics.Rounded(n, string(b), 2))
	}
	return out
}

// deviation is the sample standard deviation.
func deviation(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
