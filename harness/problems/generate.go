// Populations of generated problems, and draws from them.

package problems

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Families of generated problems, as written in spec.Generated.
const (
	Math   = "math"   // topics of the training set, free answers
	Choice = "choice" // topics and wording never seen in training, multiple choice
)

// Draws of a set. They share no stream, so the large draw holds other problems than the one of the paper's size.
const (
	Sized = ""      // the set itself, of the paper's size
	Large = "large" // the set scored by the true success probability
)

const (
	textCentre = 2.5 // minus the mean difficulty of the training population
	maxSteps   = 12
	maxLevel   = 8
)

// maxAttempts bounds the redraws of one problem's text after a clash or an unsuitable chain.
const maxAttempts = 1000

// Population describes one generated set.
type Population struct {
	Name            string             // the benchmark
	Split           routing.Split      // what its problems may be used for
	Cell            string             // row of the simulated pool
	Mix             spec.SimCell       // mean, spread and topic shares of the cell
	TopicDifficulty map[string]float64 // logits, one entry for every topic of the mix
	Text            spec.SimText       // what texts show of difficulty and topic
	Family          string             // Math or Choice
	Options         int                // Choice: number of options, 2 to 10
}

// NewPopulation joins the entry of benchmarks.yaml with the cell of the simulated pool that it names.
func NewPopulation(name string, b spec.Benchmark, sim *spec.Simulation) (Population, error) {
	if b.Generated == nil {
		return Population{}, fmt.Errorf("benchmark %q is not generated", name)
	}
	g := b.Generated
	cell, ok := sim.Cells[g.Cell]
	if !ok {
		return Population{}, fmt.Errorf("benchmark %q: unknown cell %q; known: %s", name, g.Cell, strings.Join(slices.Sorted(maps.Keys(sim.Cells)), ", "))
	}
	pop := Population{Name: name, Split: routing.Split(b.Split), Cell: g.Cell, Mix: cell,
		TopicDifficulty: sim.Topics, Text: sim.Text, Family: g.Family, Options: g.Options}
	return pop, pop.check()
}

// topics lists the topics of a family in their fixed order; nil for an unknown family.
func topics(family string) []string {
	var ids []string
	for _, t := range topicsOf(family) {
		ids = append(ids, t.id)
	}
	return ids
}

func topicsOf(family string) []*topic {
	switch family {
	case Math:
		return mathTopics()
	case Choice:
		return choiceTopics()
	}
	return nil
}

func (p Population) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("generated set %q: %s", p.Name, fmt.Sprintf(format, args...))
	}
	if p.Name == "" {
		return fail("needs a name")
	}
	known := topics(p.Family)
	switch {
	case known == nil:
		return fail("unknown family %q; known: %s, %s", p.Family, Math, Choice)
	case p.Family == Choice && (p.Options < 2 || p.Options > maxOptions):
		return fail("options is %d; family %s takes 2 to %d", p.Options, Choice, maxOptions)
	case p.Family == Math && p.Options != 0:
		return fail("options is %d; family %s has none", p.Options, Math)
	case p.Mix.SD < 0 || math.IsNaN(p.Mix.SD) || math.IsInf(p.Mix.SD, 0):
		return fail("sd is %v; it must be finite and not negative", p.Mix.SD)
	case math.IsNaN(p.Mix.Mu) || math.IsInf(p.Mix.Mu, 0):
		return fail("mu is %v; it must be finite", p.Mix.Mu)
	}
	total := 0.0
	for _, id := range slices.Sorted(maps.Keys(p.Mix.Mix)) {
		share := p.Mix.Mix[id]
		if !slices.Contains(known, id) {
			return fail("unknown topic %q in the mix of cell %q; known: %s", id, p.Cell, strings.Join(known, ", "))
		}
		if !(share >= 0) || math.IsInf(share, 0) {
			return fail("the share of topic %q is %v; it must be finite and not negative", id, share)
		}
		switch d, ok := p.TopicDifficulty[id]; {
		case !ok && share > 0:
			return fail("topic %q has no entry in topic_difficulty", id)
		case math.IsNaN(d) || math.IsInf(d, 0):
			return fail("the difficulty of topic %q is %v; it must be finite", id, d)
		}
		total += share
	}
	if total <= 0 {
		return fail("the topic shares of cell %q sum to %v; at least one must be positive", p.Cell, total)
	}
	return nil
}

// Generate returns the first n problems of a draw of a set, and what a simulated expert knows of each.
//
// Problem i depends on (root, pop, draw, i) alone, save that a text which repeats an earlier one of the same draw is
// written again; so a larger draw extends a smaller one. No two problems of a draw share a text. Between sets the same
// holds for all practical purposes (the words around the mathematics alone take more than 10^6 forms a problem);
// [Index.Add] makes sure of it. Difficulty is d = mu + topic difficulty + sd*z with z ~ N(0,1), in logits, as in the
// item-response model of the simulated pool. Generate keeps no state: sets may be generated in parallel. It
// ends with the context's error when that is done.
func Generate(ctx context.Context, root seed.Seed, pop Population, draw string, n int) ([]routing.Problem, []routing.Latent, error) {
	if err := pop.check(); err != nil {
		return nil, nil, err
	}
	if n < 0 {
		return nil, nil, fmt.Errorf("generated set %q: asked for %d problems; the number must not be negative", pop.Name, n)
	}
	g := newGenerator(root, pop, draw)
	problems := make([]routing.Problem, n)
	latents := make([]routing.Latent, n)
	seen := make(map[uint64]struct{}, n)
	for i := range n {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		latents[i] = g.latent(i)
		p, err := g.problem(i, latents[i], seen)
		if err != nil {
			return nil, nil, err
		}
		problems[i] = p
	}
	return problems, latents, nil
}

// generator is the part of a draw that its problems share.
type generator struct {
	pop    Population
	draw   string
	base   seed.Seed
	topics []*topic
	upTo   []float64 // cumulative share of topics
	words  lexicon
}

func newGenerator(root seed.Seed, pop Population, draw string) *generator {
	g := &generator{pop: pop, draw: draw, base: root.Derive("problems", pop.Name, draw),
		topics: topicsOf(pop.Family), words: trainWords()}
	total := 0.0
	for _, t := range g.topics {
		total += pop.Mix.Mix[t.id]
		g.upTo = append(g.upTo, total)
	}
	return g
}

// latent draws topic and difficulty of problem i. The stream is apart from the text's, so writing a text again
// changes no difficulty.
func (g *generator) latent(i int) routing.Latent {
	r := g.base.Derive("latent", i).Rand()
	total := g.upTo[len(g.upTo)-1]
	at := r.Float64() * total
	t := slices.IndexFunc(g.upTo, func(upTo float64) bool { return at < upTo || upTo == total })
	id := g.topics[t].id
	d := g.pop.Mix.Mu + g.pop.TopicDifficulty[id] + g.pop.Mix.SD*r.NormFloat64()
	return routing.Latent{Cell: g.pop.Cell, Topic: id, Difficulty: d}
}

// problem writes problem i, and adds the hash of its text to seen.
func (g *generator) problem(i int, lat routing.Latent, seen map[uint64]struct{}) (routing.Problem, error) {
	for attempt := range maxAttempts {
		r := g.base.Derive("text", i, attempt).Rand()
		q, ok := g.write(r, lat)
		if !ok {
			continue
		}
		h := routing.TextHash(q.text)
		if _, clash := seen[h]; clash {
			continue
		}
		seen[h] = struct{}{}
		return routing.Problem{ID: g.id(i), Benchmark: g.pop.Name, Split: g.pop.Split, Text: q.text,
			Gold: []string{q.gold}, Options: q.options}, nil
	}
	return routing.Problem{}, fmt.Errorf("generated set %q: problem %d found no new text in %d attempts; ask for fewer problems", g.pop.Name, i, maxAttempts)
}

func (g *generator) id(i int) string {
	n := strconv.Itoa(i + 1)
	n = strings.Repeat("0", max(0, 5-len(n))) + n
	if g.draw == Sized {
		return g.pop.Name + "-" + n
	}
	return g.pop.Name + "-" + g.draw + "-" + n
}

// question is a written problem, and how it was made.
type question struct {
	text, gold string
	options    []string
	steps      []step // the chain, for tests: the last is the final question
	scenery    string // topic whose scenery the text borrows
}

// write makes a text for lat; ok is false if the chain led nowhere.
func (g *generator) write(r *rand.Rand, lat routing.Latent) (q question, ok bool) {
	t := g.topics[slices.IndexFunc(g.topics, func(t *topic) bool { return t.id == lat.Topic })]
	steps, level := g.pop.cues(r, lat.Difficulty)
	d := &draft{r: r, level: level}
	chain, ans, ok := d.chain(t, steps)
	if !ok {
		return question{}, false
	}
	q.steps, q.gold, q.scenery = chain, ans.gold, t.id

	scenery := t
	if r.Float64() < g.pop.Text.TopicLeak {
		for scenery == t {
			scenery = g.topics[r.IntN(len(g.topics))]
		}
		q.scenery = scenery.id
	}
	fresh := 0.0
	if g.pop.Family == Choice {
		fresh = g.pop.Text.NewWords
	}
	story := g.words.story(r, 8+steps+r.IntN(4), fresh)
	setting := d.pick(scenery.settings...)
	if g.pop.Family == Choice {
		q.options, q.gold, ok = d.options(ans, g.pop.Options)
		if !ok {
			return question{}, false
		}
		q.text = d.layChoice(story, setting, chain, q.options)
	} else {
		q.text = d.layMath(story, setting, chain)
	}
	return q, true
}

// cues draws what the text shows of a difficulty: the number of steps (1 to maxSteps) and the size level of the
// numbers (1 to maxLevel). On Choice problems the steps follow half as steeply and the size mostly not at all.
func (p Population) cues(r *rand.Rand, difficulty float64) (steps, level int) {
	a := difficulty + p.Text.Noise*r.NormFloat64() + textCentre
	b := difficulty + p.Text.Noise*r.NormFloat64() + textCentre
	steps = clip(math.Round(a/1.5)+6, 1, maxSteps)
	level = clip(math.Round(b/2)+4, 1, maxLevel)
	if p.Family == Choice {
		steps = clip(math.Round(.5*a/1.5)+4, 1, maxSteps)
		if r.Float64() >= p.Text.SizeShown {
			level = 1 + r.IntN(maxLevel)
		}
	}
	return steps, level
}

func clip(x float64, lo, hi int) int { return int(min(max(x, float64(lo)), float64(hi))) }
