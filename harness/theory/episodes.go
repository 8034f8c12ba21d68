// Episodes sampled under a policy.

package theory

import (
	"math/rand/v2"
	"sort"
)

// episode is one walk through the environment.
type episode struct {
	moves  []move
	right  float64 // 1 or 0
	cost   float64
	calls  int
	called uint32
	broken bool

	entropy float64 // of the first move, if it is recorded
}

// groups are the episodes of one batch.
type groups struct {
	e *Environment
	p *policy
	t Training

	upTo     []float64 // [B] share of the problems in the buckets up to this one
	pcg      *rand.PCG
	rng      *rand.Rand
	episodes []episode // [Batch*Group]
	costs    []float64 // [Batch*Group]
	first    []float64 // probabilities of the first move of a group
	entropy  bool      // record that of first moves
}

func newGroups(e *Environment, p *policy, t Training) *groups {
	pcg := rand.NewPCG(0, 0)
	g := &groups{e: e, p: p, t: t, pcg: pcg, rng: rand.New(pcg), episodes: make([]episode, t.Batch*t.Group), costs: make([]float64, t.Batch*t.Group)}
	var sum, total float64
	for _, b := range e.Buckets {
		total += b.Share
	}
	for _, b := range e.Buckets {
		sum += b.Share / total
		g.upTo = append(g.upTo, sum)
	}
	return g
}

// sample plays the episodes of a step. try counts the batches of the step before.
func (g *groups) sample(step, try int) {
	for i := range g.t.Batch {
		g.pcg.Seed(g.t.Seed, uint64(step)<<32|uint64(try*g.t.Batch+i))
		bucket := g.bucket()
		g.first = append(g.first[:0], g.p.probs(g.e, g.e.start(bucket))...)
		for k := range g.t.Group {
			at := i*g.t.Group + k
			g.play(&g.episodes[at], bucket)
			g.costs[at] = g.episodes[at].cost
		}
	}
}

func (g *groups) bucket() int {
	u := g.rng.Float64()
	return min(sort.Search(len(g.upTo), func(b int) bool { return u < g.upTo[b] }), len(g.upTo)-1)
}

// play runs one episode under the policy.
func (g *groups) play(x *episode, bucket int) {
	*x = episode{moves: x.moves[:0]}
	end, action, broken := g.p.run(g.e, g.e.start(bucket), g.first, g, func(s state, action int, probs []float64) {
		if g.entropy && len(x.moves) == 0 {
			x.entropy = entropy(probs)
		}
		x.moves = append(x.moves, move{s, action, probs[action]})
	})
	x.cost, x.calls, x.called, x.broken = end.cost, end.calls, end.called, broken
	if broken {
		return
	}
	quality := end.quality()
	if m := len(g.e.Cost); action > m {
		quality = g.e.Buckets[bucket].Expert[action-m-1]
	}
	if g.rng.Float64() < quality {
		x.right = 1
	}
}

// Choose implements Coins.
func (g *groups) Choose(_ int, probs []float64) int {
	action, u := 0, g.rng.Float64()
	for a, p := range probs {
		if p == 0 {
			continue
		}
		action = a
		if u -= p; u < 0 {
			break
		}
	}
	return action
}

// Malformed implements Coins.
func (g *groups) Malformed(int) bool {
	return g.e.FormatFail > 0 && g.rng.Float64() < g.e.FormatFail
}

// Assimilated implements Coins.
func (g *groups) Assimilated(int) bool { return g.rng.Float64() < g.e.Assimilation }

// record sums what episodes did.
type record struct {
	tally
	episodes float64
	entropy  float64
}

func (r *record) add(x *episode, reward float64) {
	r.episodes++
	r.entropy += x.entropy
	r.reward += reward
	r.count(1, x.right, x.cost, x.calls, x.called)
	if x.broken {
		r.broken++
	}
}

// snapshot averages.
func (r *record) snapshot(step int) Snapshot {
	s := r.tally.snapshot(r.episodes)
	s.Step, s.Entropy = step, r.entropy/r.episodes
	return s
}
