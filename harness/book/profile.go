// The file of pass rates and tokens of every expert and problem.

package book

import (
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/table"
)

const profileFile = "profile.csv"

// profileLine is a problem of a profile.
type profileLine struct {
	problem                             string
	probeCorrect, probeSamples          int
	correct, samples, truncated, unread []int     // [M]
	tokens, usd                         []float64 // [M]
}

func newProfileLine(experts int) profileLine {
	ints, floats := make([]int, 4*experts), make([]float64, 2*experts)
	return profileLine{correct: ints[:experts], samples: ints[experts : 2*experts], truncated: ints[2*experts : 3*experts], unread: ints[3*experts:],
		tokens: floats[:experts], usd: floats[experts:]}
}

// profileColumns are the probe's correct answers and samples, then six columns an expert.
func profileColumns(experts []string) []table.Column[profileLine] {
	type line = profileLine
	columns := []table.Column[line]{
		table.Text("problem", func(l *line) *string {
			if l.correct == nil {
				*l = newProfileLine(len(experts))
			}
			return &l.problem
		}),
		table.Int("probe:correct", func(l *line) *int { return &l.probeCorrect }),
		table.Int("probe:samples", func(l *line) *int { return &l.probeSamples }),
	}
	for m, id := range experts {
		columns = append(columns,
			table.Int(id+":correct", func(l *line) *int { return &l.correct[m] }),
			table.Int(id+":samples", func(l *line) *int { return &l.samples[m] }),
			table.Int(id+":truncated", func(l *line) *int { return &l.truncated[m] }),
			table.Int(id+":unknown", func(l *line) *int { return &l.unread[m] }),
			table.Float(id+":tokens", 1, func(l *line) *float64 { return &l.tokens[m] }),
			table.Float(id+":usd", 9, func(l *line) *float64 { return &l.usd[m] }))
	}
	return columns
}

// WriteProfile writes profile.csv, a line a problem.
func WriteProfile(d *store.Draft, pr *routing.Profile) error {
	var lines []profileLine
	for i, id := range pr.Problems {
		line := profileLine{id, 0, 0, pr.Correct[i], pr.Samples[i], pr.Truncated[i], pr.Unknown[i], pr.Tokens[i], pr.USD[i]}
		if pr.ProbeSamples != nil {
			line.probeCorrect, line.probeSamples = pr.ProbeCorrect[i], pr.ProbeSamples[i]
		}
		lines = append(lines, line)
	}
	return writeTable(d, profileFile, profileColumns(pr.Experts), lines)
}

// ReadProfile reads profile.csv of the given experts.
func ReadProfile(entry store.Entry, experts []string) (*routing.Profile, error) {
	pr := &routing.Profile{Experts: experts}
	_, err := readTable(entry, profileFile, profileColumns(experts), func(l profileLine) error {
		pr.Problems = append(pr.Problems, l.problem)
		pr.ProbeCorrect, pr.ProbeSamples = append(pr.ProbeCorrect, l.probeCorrect), append(pr.ProbeSamples, l.probeSamples)
		pr.Correct, pr.Samples = append(pr.Correct, l.correct), append(pr.Samples, l.samples)
		pr.Truncated, pr.Unknown = append(pr.Truncated, l.truncated), append(pr.Unknown, l.unread)
		pr.Tokens, pr.USD = append(pr.Tokens, l.tokens), append(pr.USD, l.usd)
		return nil
	})
	return pr, err
}
