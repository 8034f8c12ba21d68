// An arena with the rows that are measured in it.

package score

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Sample is an arena with the rows that are measured in it.
type Sample struct {
	*book.Arena
	Reference  string   // id of the row that the others are compared with; none of that id: no comparisons
	Apart      []string // ids of rows that no curve is held against, since they do not compete
	Resampling Resampling

	rows []Row
}

// Row is a row of a table: what its trainings decided.
type Row struct {
	ID       string
	Own      bool   // it may answer itself, and its distribution is of its first move
	Knob     bool   // its distribution is a coin between two settings of a knob, so no score
	NoCurve  string // why its knob has no numbers, where a row that is trained has none; empty: nothing is said of one
	Seeds    []uint64
	Scores   []book.Scores   // [seeds]
	Reported []metrics.Value // what the router says of itself, averaged over the seeds

	traits []traits             // [seeds]
	curves []*metrics.KnobCurve // of the sweeps behind the row; nil: no knob
	early  []*score             // [curves] how early in a sweep a question goes to the cheapest expert; nil: the row has a score of its own
}

// Add adds a row with the decisions of each of its trainings, one a query in the order of the arena, and the sweeps of
// its router's knob, if it has one. The fields of the row that decisions tell are filled here.
func (s *Sample) Add(row Row, decisions [][]routing.Decision, sweeps []*book.Sweep) {
	for _, of := range decisions {
		scores := s.Score(of)
		row.Scores = append(row.Scores, scores)
		row.traits = append(row.traits, s.examine(row, of, scores.Chosen))
	}
	for _, sweep := range sweeps {
		curve, early := s.trace(sweep)
		row.curves = append(row.curves, curve)
		if row.Knob {
			row.early = append(row.early, early)
		}
	}
	s.rows = append(s.rows, row)
}

// training is a row of one training of a row.
func (r Row) training(k int) Row {
	r.Seeds, r.Scores, r.traits, r.curves, r.early = only(r.Seeds, k), only(r.Scores, k), only(r.traits, k), only(r.curves, k), only(r.early, k)
	return r
}

// only is the k-th of a list, and the list where it has one for all trainings or none.
func only[T any](list []T, k int) []T {
	if len(list) < 2 {
		return list
	}
	return list[k : k+1]
}

// keys are those of a line of a row.
func (s *Sample) keys(r Row, more ...string) []metrics.Key {
	return append(metrics.Keys("pool", s.Pool, "arena", s.Name, "method", r.ID), metrics.Keys(more...)...)
}

// alone returns what always asking each expert gets and pays: accuracy and dollars, [M][Q].
func (s *Sample) alone() (accuracy, usd [][]float64) {
	for m := range s.Outcomes[0] {
		of := s.Score(s.Always(m))
		accuracy, usd = append(accuracy, of.Accuracy), append(usd, of.USD)
	}
	return accuracy, usd
}

// means are the weighted means of a column [Q] on every benchmark; the bootstrap keeps the size of every stratum.
func (s *Sample) means(column, weights []float64, size []int) []float64 {
	out := make([]float64, len(s.Benchmarks))
	for q := 0; q < len(column); {
		b := s.Strata[q]
		sum := out[b] // in a register while the benchmark lasts
		for ; q < len(column) && s.Strata[q] == b; q++ {
			sum += weights[q] * column[q]
		}
		out[b] = sum
	}
	for b := range out {
		out[b] /= float64(size[b])
	}
	return out
}

// overall averages the points of the benchmarks as average does.
func (s *Sample) overall(by []metrics.Point) metrics.Point {
	var all metrics.Point
	for b, p := range by {
		all.Quality += p.Quality * s.Benchmarks[b].Pass
		all.Cost += p.Cost * s.Benchmarks[b].Pass
	}
	total := s.Total()
	return metrics.Point{Quality: all.Quality / total, Cost: all.Cost / total}
}

// average weighs the means of the benchmarks by the questions of a pass.
func (s *Sample) average(means []float64) float64 {
	sum := 0.0
	for b, v := range means {
		sum += v * s.Benchmarks[b].Pass
	}
	return sum / s.Total()
}

// reference is the index of the row that the others are compared with; -1: there is none.
func (s *Sample) reference() int {
	return slices.IndexFunc(s.rows, func(r Row) bool { return r.ID == s.Reference })
}

func accuracyOf(s book.Scores) []float64 { return s.Accuracy }
func usdOf(s book.Scores) []float64      { return s.USD }
func tokensOf(s book.Scores) []float64   { return s.Tokens }
func overheadOf(s book.Scores) []float64 { return s.Overhead }
func askedOf(s book.Scores) []float64    { return s.Asked }
func callsOf(s book.Scores) []float64    { return s.Calls }

// examine reads the traits of decisions; chosen is what their scores say. The probabilities of a coin between two settings
// of a knob are no score, nor is the distribution of a first move, which leaves out the router's own answer and is none
// over experts either.
func (s *Sample) examine(row Row, decisions []routing.Decision, chosen [][]float64) traits {
	questions, experts := len(s.Strata), len(s.Outcomes[0])
	t := traits{entropy: make([]float64, questions), bothRight: make([]float64, questions), excess: make([]float64, questions)}
	cheap := make([]float64, questions)
	soft := false
	for i, d := range decisions {
		q := s.Question[i]
		runs := float64(s.Benchmarks[s.Strata[q]].Runs)
		h := metrics.Entropy(d.Prob)
		soft = soft || h > 0
		t.entropy[q] += h / runs
		cheap[q] += d.Prob[0] / runs

		count := func(m int, right, usd, share float64) {
			if s.Best == nil {
				return
			}
			target := s.Outcomes[i][s.Best[q]]
			both := share * right
			if m != s.Best[q] {
				both *= target.Correct
			}
			t.bothRight[q] += both / runs
			t.excess[q] += both * (usd - target.USD) / runs
		}
		switch {
		case d.Answer != nil:
			own := s.Said(d)
			count(routing.Self, own.Correct, own.USD, 1)
		case d.Expert == routing.Expected:
			for m, p := range d.Prob {
				count(m, s.Outcomes[i][m].Correct, s.Outcomes[i][m].USD, p)
			}
		default:
			usd := 0.0
			for m, times := range d.Asked(experts) {
				usd += times * s.Outcomes[i][m].USD
			}
			if d.Expert == routing.Self {
				count(d.Expert, s.Self[i].Correct*(1-d.Spoiled), usd, 1)
			} else {
				count(d.Expert, s.Outcomes[i][d.Expert].Correct, usd, 1)
			}
		}
	}
	if !soft || row.Own {
		t.entropy = nil
	}
	if !row.Knob && !row.Own {
		t.score = &score{cheap, metrics.NewRanking(cheap)}
		t.tells = soft && slices.Max(cheap) > slices.Min(cheap)
	}
	best := s.Best
	if best == nil { // whatever it is, decisions have an entropy
		best = make([]int, questions)
	}
	for q, shares := range chosen {
		own := 1.0
		for m, share := range shares {
			own -= share
			if share > 0 {
				t.cells = append(t.cells, cell{int32(q), int32(best[q]*(experts+1) + m), share})
			}
		}
		if own > 1e-9 { // shares add up to 1 but for rounding
			t.cells = append(t.cells, cell{int32(q), int32(best[q]*(experts+1) + experts), own})
		}
	}
	return t
}

// trace returns what a sweep gets and pays, and its score for "the cheapest expert suffices": how early in the sweep the
// question goes there.
func (s *Sample) trace(sweep *book.Sweep) (*metrics.KnobCurve, *score) {
	runs := func(q int) float64 { return float64(s.Benchmarks[s.Strata[q]].Runs) }
	point := func(i, m int) metrics.Point {
		o, n := s.Outcomes[i][m], runs(s.Question[i])
		return metrics.Point{Cost: o.USD / n, Quality: 100 * o.Correct / n}
	}
	early := make([]float64, len(s.Strata))
	for i, x := range sweep.Queries {
		q := s.Question[i]
		early[q] -= float64(x.Until(0, sweep.Settings)) / runs(q)
	}
	c := traced(sweep.Settings, sweep.Queries, len(s.Strata), func(i int) int { return s.Question[i] }, point)
	return c, &score{ranking: metrics.NewRanking(early)}
}
