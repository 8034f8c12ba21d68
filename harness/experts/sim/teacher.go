// The simulated teacher: a simulated router that is shown the right choice and writes the analysis that leads to it.

package sim

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// How hard a problem is, in words, by how many of ten attempts of the pool solve it.
var hardness = [...]struct {
	least float64
	word  string
}{{.9, "routine"}, {.7, "moderate"}, {.4, "hard"}, {0, "very hard"}}

// Two ways to say it, so that two rationales of a problem can differ.
var wordings = [...][3]string{
	{"This is about ", ". The work ahead is ", "."},
	{"Subject: ", ". I expect it to be ", "."},
}

// explain writes the analysis of a problem and the choice behind it. What it says of the problem is its topic and, with the chance
// Skill, how hard it is for the pool, by solved, the mean true success probability of the candidates; else another of the four words,
// drawn uniformly. The share Malformed cannot be used: they name a model, come to another choice, or say nothing. The text depends on
// what a router's answer depends on, and on the choice.
func explain(root seed.Seed, q experts.Request, knobs spec.SimRouter, text string, latent routing.Latent, candidates []experts.Candidate, chosen string, solved float64) experts.Completion {
	stream := root.Derive("teacher", q.Expert, seed.Hash(text), chosen, experts.WireSeed(q.Seed)).Rand()
	level := 0
	for solved < hardness[level].least {
		level++
	}
	if stream.Float64() >= knobs.Skill {
		level = (level + 1 + stream.IntN(len(hardness)-1)) % len(hardness)
	}
	w := wordings[stream.IntN(len(wordings))]
	analysis := w[0] + latent.Topic + w[1] + hardness[level].word + w[2]
	if stream.Float64() < knobs.Malformed {
		analysis, chosen = unusable(analysis, chosen, candidates, stream)
	}
	c := experts.Completion{Finish: routing.Stop, Text: analysis + "\n" + `{"model": ` + strconv.Quote(chosen) + `}`}
	c.Usage = cost.Usage{In: int64(len(q.Prompt)+3) / 4, Out: int64(len(c.Text)+3) / 4}
	return c
}

// unusable is what a teacher writes that did not keep to its task.
func unusable(analysis, chosen string, candidates []experts.Candidate, stream *rand.Rand) (string, string) {
	switch stream.IntN(3) {
	case 0:
		return analysis + " So " + chosen + " should answer.", chosen
	case 1:
		for _, x := range candidates {
			if x.ID != chosen {
				return analysis, x.ID
			}
		}
		return analysis, strings.ToUpper(chosen)
	default:
		return "", chosen
	}
}
