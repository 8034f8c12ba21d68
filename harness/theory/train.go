package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Training is how a policy is trained: GRPO as VeRL computes it (group mean and sample standard deviation + 1e-6, one
// on-policy epoch, mean over actions), Adam with its usual constants.
type Training struct {
	Exact        bool    // follow the gradient of the expected reward, without groups and noise; not with RouterR1
	Steps        int     // updates
	Batch        int     // problems a step
	Group        int     // episodes a problem, at least 2
	LR           float64 // Adam's step
	MeanOnly     bool    // leave out the division by the group's standard deviation, as Dr. GRPO does
	EntropyBonus float64 // weight of the policy's entropy at visited states
	InitialCall  float64 // probability of asking before training, in every state; the cold start; inside (0,1)
	Seed         uint64  // root of all random streams
	LogEvery     int     // steps between snapshots; the first and the last are always there
}

func (t Training) check() error {
	switch {
	case t.Steps < 1 || t.LogEvery < 1:
		return fmt.Errorf("training: steps %d and log_every %d; want at least 1", t.Steps, t.LogEvery)
	case !t.Exact && (t.Batch < 1 || t.Group < 2):
		return fmt.Errorf("training: batch %d and group %d; want at least 1 and 2", t.Batch, t.Group)
	case !(t.LR > 0) || math.IsInf(t.LR, 1):
		return fmt.Errorf("training: lr is %v; want more than 0", t.LR)
	case !(t.EntropyBonus >= 0) || math.IsInf(t.EntropyBonus, 1):
		return fmt.Errorf("training: entropy_bonus is %v; want at least 0", t.EntropyBonus)
	case !(t.InitialCall > 0 && t.InitialCall < 1):
		return fmt.Errorf("training: initial_call is %v; want more than 0 and less than 1", t.InitialCall)
	}
	return nil
}

// Snapshot is what a policy does, in expectation: no sampling noise is in it. The policy's training has all of it.
type Snapshot struct {
	Step         int       // updates made
	CallRate     float64   // share of episodes with at least one call
	Calls        float64   // calls an episode
	Expert       []float64 // [M] share of episodes that ask this expert at least once
	Entropy      float64   // nats, of the first action, mean over problems
	Accuracy     float64   // share of right answers; a malformed episode has none
	AccuracyCall float64   // among episodes with a call; NaN if there are none
	AccuracyNone float64   // among the others; NaN if there are none
	Cost         float64   // an episode
	Reward       float64   // an episode, call bonus included; RouterR1: with the window as it stands
	Bucket       []float64 // [B] CallRate in each bucket
}

// Train trains a policy from the cold start and returns its snapshots, the first before any update. Equal arguments
// give equal results: every problem of every step has a random stream of its own.
func Train(e *Environment, r Reward, t Training) ([]Snapshot, error) {
	if err := Check(e, r, t); err != nil {
		return nil, err
	}
	p := newPolicy(e, t.InitialCall)
	s := &scorer{Reward: r}
	g := newGroups(e, s, p, t)
	if !t.Exact {
		g.sample(0) // fills the window of router_r1, so that the first snapshot has a scale
	}
	log := []Snapshot{evaluate(e, s, p, nil)}
	for step := 1; step <= t.Steps; step++ {
		clear(p.grad)
		if t.Exact {
			evaluate(e, s, p, p.grad)
			p.entropyGradient(e, t.EntropyBonus)
		} else {
			g.sample(step)
			g.gradient()
		}
		p.ascend(t.LR, step)
		if step%t.LogEvery == 0 || step == t.Steps {
			snap := evaluate(e, s, p, nil)
			snap.Step = step
			log = append(log, snap)
		}
	}
	return log, nil
}

// Check returns the error that Train would return, and trains nothing.
func Check(e *Environment, r Reward, t Training) error {
	for _, err := range []error{e.check(), r.check(), t.check()} {
		if err != nil {
			return err
		}
	}
	if t.Exact && r.Kind == RouterR1 {
		return fmt.Errorf("training: the reward router_r1 is relative to sampled episodes and has no exact gradient; use %s or %s", Linear, XRouter)
	}
	return nil
}

// groups are the episodes of one step.
type groups struct {
	e *Environment
	s *scorer
	p *policy
	t Training

	pcg      *rand.PCG
	rng      *rand.Rand
	episodes []episode // [Batch*Group]
	costs    []float64
}

type episode struct {
	moves  []move
	right  float64 // 1 or 0
	cost   float64
	calls  int
	broken bool
}

// move is an action with the state that it was taken in.
type move struct {
	state  state
	action int
}

func newGroups(e *Environment, s *scorer, p *policy, t Training) *groups {
	pcg := rand.NewPCG(0, 0)
	return &groups{e: e, s: s, p: p, t: t, pcg: pcg, rng: rand.New(pcg), episodes: make([]episode, t.Batch*t.Group), costs: make([]float64, t.Batch*t.Group)}
}

// sample plays the episodes of a step.
func (g *groups) sample(step int) {
	for i := range g.t.Batch {
		g.pcg.Seed(g.t.Seed, uint64(step)<<32|uint64(i))
		bucket := g.bucket()
		for k := range g.t.Group {
			at := i*g.t.Group + k
			g.play(&g.episodes[at], bucket)
			g.costs[at] = g.episodes[at].cost
		}
	}
	g.s.observe(g.costs)
}

func (g *groups) bucket() int {
	u := g.rng.Float64()
	for b := range g.e.Buckets {
		if u -= g.e.share(b); u < 0 {
			return b
		}
	}
	return len(g.e.Buckets) - 1
}

// play runs one episode under the policy.
func (g *groups) play(x *episode, bucket int) {
	*x = episode{moves: x.moves[:0]}
	s := g.e.start(bucket)
	for {
		action := 0
		if s.calls < g.e.Horizon || g.e.Select {
			probs := g.p.probs(g.e, s)
			u := g.rng.Float64()
			for a, p := range probs {
				if p == 0 {
					continue
				}
				action = a
				if u -= p; u < 0 {
					break
				}
			}
			x.moves = append(x.moves, move{s, action})
		}
		m := len(g.e.Cost)
		if action == 0 || action > m {
			quality := s.quality()
			if action > m {
				quality = g.e.Buckets[bucket].Expert[action-m-1]
			}
			if g.rng.Float64() < quality {
				x.right = 1
			}
			x.cost, x.calls = s.cost, s.calls
			return
		}
		assimilated, ignored := g.e.ask(s, action-1)
		if g.e.FormatFail > 0 && g.rng.Float64() < g.e.FormatFail {
			// A malformed call reaches no expert and costs nothing.
			x.cost, x.calls, x.broken = s.cost, s.calls, true
			return
		}
		s = ignored
		if g.rng.Float64() < g.e.Assimilation {
			s = assimilated
		}
	}
}

// gradient adds the policy gradient of the sampled groups.
func (g *groups) gradient() {
	moves := 0
	for i := range g.episodes {
		moves += len(g.episodes[i].moves)
	}
	rewards := make([]float64, g.t.Group)
	for i := range g.t.Batch {
		group := g.episodes[i*g.t.Group : (i+1)*g.t.Group]
		for k, x := range group {
			rewards[k] = malformed
			if !x.broken {
				rewards[k] = g.s.score(x.right, x.cost, x.calls)
			}
		}
		for k, advantage := range Advantages(rewards, g.t.MeanOnly) {
			for _, v := range group[k].moves {
				g.p.push(g.e, v, advantage/float64(moves), g.t.EntropyBonus/float64(moves))
			}
		}
	}
}

// Advantages returns (R - mean)/(sd + 1e-6) of a group of at least two, sd with n-1 (GRPO as VeRL computes it), or
// R - mean alone.
func Advantages(rewards []float64, meanOnly bool) []float64 {
	var mean, square float64
	for _, r := range rewards {
		mean += r / float64(len(rewards))
	}
	for _, r := range rewards {
		square += (r - mean) * (r - mean)
	}
	sd := math.Sqrt(square / float64(len(rewards)-1))
	out := make([]float64, len(rewards))
	for i, r := range rewards {
		out[i] = r - mean
		if !meanOnly {
			out[i] /= sd + 1e-6
		}
	}
	return out
}
