// What the decisions of one training are like.

package score

import (
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
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

// turn returns sets of weights [Q], at most as many as go together, by question; further ones are 0.
func turn(weights [][]float64) [][together]float64 {
	out := make([][together]float64, len(weights[0]))
	for k, w := range weights {
		for q := range out {
			out[q][k] = w[q]
		}
	}
	return out
}

// information returns the entropy of the decisions and their mutual information with m_best under sets of weights [Q].
func (t traits) information(weights [][together]float64, experts int) (entropy, information [together]float64) {
	flat := make([][together]float64, experts*(experts+1))
	for _, c := range t.cells {
		at, w := &flat[c.at], &weights[c.question]
		for k := range at {
			at[k] += w[k] * c.share
		}
	}
	table, decided := make([][]float64, experts), make([]float64, experts+1)
	for b := range table {
		table[b] = make([]float64, experts+1)
	}
	for k := range entropy {
		clear(decided)
		for b := range table {
			for m := range decided {
				table[b][m] = flat[b*len(decided)+m][k]
				decided[m] += table[b][m]
			}
		}
		entropy[k], information[k] = metrics.Entropy(decided), metrics.MutualInformation(table)
	}
	return entropy, information
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
