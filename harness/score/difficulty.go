// The routing distribution by strata of difficulty.

package score

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Difficulties are the strata of the routing distribution (section 5.2 of the paper): by m_best of a test problem, from
// profile rollouts of their own, so that the rollouts that are scored do not decide the stratum.
var Difficulties = [...]string{"easy", "medium", "hard"}

// Difficulty returns the stratum of a question, an index of Difficulties, given its m_best among so many experts.
func Difficulty(best, experts int) int {
	switch best {
	case 0:
		return 0
	case experts - 1:
		return 2
	}
	return 1
}

// group is the questions of one stratum under weights, and one row or one expert of a row in them.
type group struct {
	*track
	stratum int
	size    float64
	mean    float64
}

// track is what is counted of a row, question by question.
type track struct {
	row     int
	expert  string      // whose share it is; empty: what the row itself pays
	column  []float64   // [Q] trainings averaged
	singles [][]float64 // [trainings][strata] means of single trainings
}

func (g group) ofRow() bool    { return g.expert == "" }
func (g group) ofExpert() bool { return g.expert != "" }
func (g group) value() float64 { return g.mean }

func (g group) asked() (questions, runs int) { return int(g.size), 1 }

func (g group) trainings() (out []group) {
	if len(g.singles) < 2 {
		return nil
	}
	for _, means := range g.singles {
		g.mean = means[g.stratum]
		out = append(out, g)
	}
	return out
}

func (g group) spread(each []float64) metrics.Mean { return metrics.MeanOf(each) }

var difficultyStatistics = []Statistic[group]{
	{Unit: metrics.USDPerQuery, Decimals: 8, Range: metrics.NotNegative, For: group.ofRow, Of: group.value},
	{Unit: metrics.Questions, Whole: true, For: group.ofRow, Of: func(g group) float64 { return g.size }},
	{Unit: units.Share, Decimals: 2, Range: metrics.Percent, For: group.ofExpert, Of: group.value},
}

// Difficulty computes the lines of the routing distribution: what every row pays in each stratum and which share of its
// questions each expert gets, the router itself where it may answer. Resamples draw the questions of each stratum apart.
func (s *Sample) Difficulty() []metrics.Measurement {
	experts := len(s.Outcomes[0])
	of := make([]int, len(s.Best))
	size := make([]float64, len(Difficulties))
	for q, m := range s.Best {
		of[q] = Difficulty(m, experts)
		size[of[q]]++
	}
	ones := slices.Repeat([]float64{1}, len(of))
	means := func(column, weights []float64) []float64 {
		out := make([]float64, len(Difficulties))
		for q, v := range column {
			out[of[q]] += weights[q] * v / size[of[q]]
		}
		return out
	}
	var tracks []*track
	add := func(row int, expert string, column func(book.Scores) []float64) {
		t := &track{row: row, expert: expert, column: book.Mean(s.rows[row].Scores, column)}
		for _, scores := range s.rows[row].Scores {
			t.singles = append(t.singles, means(column(scores), ones))
		}
		tracks = append(tracks, t)
	}
	for i, r := range s.rows {
		add(i, "", usdOf)
		for m, id := range s.IDs() {
			add(i, id, func(c book.Scores) []float64 {
				share := make([]float64, len(c.Chosen))
				for q := range share {
					share[q] = 100 * c.Chosen[q][m]
				}
				return share
			})
		}
		if r.Own {
			add(i, routing.SelfID, func(c book.Scores) []float64 {
				own := c.Own()
				for q := range own {
					own[q] *= 100
				}
				return own
			})
		}
	}
	views := func(weights []float64) (views []group) {
		for _, t := range tracks {
			for k, mean := range means(t.column, weights) {
				if size[k] > 0 {
					views = append(views, group{t, k, size[k], mean})
				}
			}
		}
		return views
	}
	numbers := estimate(difficultyStatistics, of, s.Resampling.derive(s.Name, "difficulty"), oneByOne(views))
	var out []metrics.Measurement
	for i, g := range views(ones) {
		keys := metrics.Keys("pool", s.Pool, "arena", s.Name, "method", s.rows[g.row].ID, "stratum", Difficulties[g.stratum])
		name := "Difficulty"
		if g.ofExpert() {
			name, keys = "Share", append(keys, metrics.Key{Name: "expert", Value: g.expert})
		}
		out = append(out, numbers[i].line(name, keys, int(g.size)))
	}
	return out
}
