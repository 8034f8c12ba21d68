// Trains a policy and says what it does on the way.

package theory

import (
	"context"
	"fmt"
	"slices"
)

// Train trains a policy from the cold start and returns its snapshots, the first before any update. Equal arguments
// give equal results: every problem of every step has a random stream of its own.
func Train(e *Environment, r Reward, t Training) ([]Snapshot, error) {
	if err := Check(e, r, t); err != nil {
		return nil, err
	}
	x := newTrainer(e, r, t, newPolicy(e, t))
	if !t.Exact {
		x.g.sample(0, 0) // fills the window of router_r1, so that the first snapshot has a scale
		x.s.observe(x.g.costs)
	}
	log := []Snapshot{evaluate(e, x.s, x.p, false)}
	for step := 1; step <= t.Steps; step++ {
		x.step(step)
		if step%t.LogEvery == 0 || step == t.Steps {
			snap := evaluate(e, x.s, x.p, false)
			snap.Step = step
			log = append(log, snap)
		}
	}
	return log, nil
}

// Learn trains a network on many problems and returns it with what it did on the episodes of every step, before the
// step's updates. The environment needs Trust and features, the training Hidden units.
func Learn(ctx context.Context, e *Environment, r Reward, t Training) (*Policy, []Snapshot, error) {
	if err := Check(e, r, t); err != nil {
		return nil, nil, err
	}
	if e.Trust == nil || t.Hidden == 0 || t.Exact {
		return nil, nil, fmt.Errorf("training: a policy for other problems is a network that samples episodes; set trust and hidden, and exact to false")
	}
	x := newTrainer(e, r, t, newPolicy(e, t))
	var log []Snapshot
	for step := 1; step <= t.Steps; step++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		log = append(log, x.follow(step))
	}
	return newTrained(e, x.p), log, nil
}

// follow makes a step and returns what the policy did in it.
func (x *trainer) follow(step int) Snapshot {
	x.g.entropy = true
	x.seen = &record{tally: tally{expert: make([]float64, len(x.e.Cost))}}
	x.step(step)
	return x.seen.snapshot(step - 1)
}

// Check returns the error that Train would return, and trains nothing.
func Check(e *Environment, r Reward, t Training) error {
	for _, err := range []error{e.check(), r.check(), t.check()} {
		if err != nil {
			return err
		}
	}
	switch {
	case t.Exact && r.Kind == RouterR1:
		return fmt.Errorf("training: the reward router_r1 is relative to sampled episodes and has no exact gradient; use %s or %s", Linear, XRouter)
	case (t.Exact || t.Algorithm == PPO) && slices.ContainsFunc(e.Buckets, func(b Bucket) bool { return b.Anchor != nil }):
		return fmt.Errorf("training: the anchor acts on the rewards of groups; leave it out, or train by sampled grpo")
	case t.Exact && t.Algorithm == PPO:
		return fmt.Errorf("training: ppo learns from sampled episodes; leave exact out")
	case t.MeanOnly && t.Algorithm == PPO:
		return fmt.Errorf("training: ppo whitens the advantages of a batch and has no group's deviation to leave out; leave std_norm true")
	case t.Hidden > 0 && len(e.Buckets[0].Features) == 0:
		return fmt.Errorf("training: a network with %d hidden units sees no features of the problems; give the buckets some", t.Hidden)
	}
	return nil
}

// step samples a batch and learns from it. Steps count from 1.
func (x *trainer) step(step int) {
	switch {
	case x.t.Exact:
		x.p.clear()
		evaluate(x.e, x.s, x.p, true)
		x.p.entropyGradient(x.e, x.t.EntropyBonus)
		x.update(x.p, x.t.LR, step)
	case x.t.Algorithm == PPO:
		x.ppo(step)
	default:
		x.grpo(step)
	}
}
