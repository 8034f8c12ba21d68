// What the decisions of one training are like.

package score

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// traits are what the decisions of one training are like.
type traits struct {
	entropy   []float64 // [Q] of the router's distribution, runs averaged; nil: always 0, or it has none over experts
	cells     []cell
	bothRight []float64 // [Q] chance that the decision and m_best are both right
	excess    []float64 // [Q] dollars of the decision above m_best's, times that chance
	score     *score
	tells     bool // the score is not the same on every question
}

// cell is a share of a question's runs that went to one expert, or to the router itself.
type cell struct {
	question int32
	at       int32 // m_best*(M+1) + expert, M for the router itself
	share    float64
}

// score is a router's score for "the cheapest expert suffices".
type score struct {
	probability []float64 // [Q]; nil: the score is none
	ranking     *metrics.Ranking
}

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

// information returns the entropy of the decisions and their mutual information with m_best under weights u [Q].
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

// traced returns what a sweep gets and pays on so many questions; question is that of a query, and point what an expert gets and
// pays on one.
func traced(settings int, queries []book.Swept, questions int, question func(query int) int, point func(query, expert int) metrics.Point) *metrics.KnobCurve {
	first := make([]metrics.Point, questions)
	for i, x := range queries {
		at, p := &first[question(i)], point(i, x.First)
		at.Cost += p.Cost
		at.Quality += p.Quality
	}
	c := metrics.NewKnobCurve(settings, first)
	for i, x := range queries {
		before := point(i, x.First)
		for _, t := range x.Turns {
			p := point(i, t.Expert)
			c.Change(question(i), t.Setting, metrics.Point{Cost: p.Cost - before.Cost, Quality: p.Quality - before.Quality})
			before = p
		}
	}
	return c
}
