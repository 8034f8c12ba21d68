// Trains a policy and says what it does on the way.

package theory

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Algorithms.
const (
	GRPO = "grpo" // as VeRL computes it: group mean and sample standard deviation + 1e-6, mean over actions
	PPO  = "ppo"  // with a critic, as Router-R1 is trained
)

// What a group must differ in for its problem to be learned from.
const (
	AnyGroup      = ""        // nothing
	ByReward      = "reward"  // rewards
	ByCorrectness = "correct" // right and wrong answers
)

// Training is how a policy is trained, by Adam with its usual constants. With the zero value of what follows Seed and
// LogEvery, GRPO makes one on-policy update a step.
type Training struct {
	Algorithm    string  // GRPO, also if empty, or PPO
	Exact        bool    // follow the gradient of the expected reward, without groups and noise; not with RouterR1 or PPO
	Steps        int     // batches
	Batch        int     // problems a step
	Group        int     // episodes a problem, at least 2; PPO: 1
	LR           float64 // Adam's step
	MeanOnly     bool    // leave out the division by the group's standard deviation, as Dr. GRPO does
	EntropyBonus float64 // weight of the policy's entropy at visited states
	InitialCall  float64 // probability of asking before training, in every state; the cold start; inside (0,1)
	Seed         uint64  // root of all random streams
	LogEvery     int     // steps between snapshots of Train; the first and the last are always there

	Hidden      int     // tanh units of policy and critic; 0: a table, one row of numbers a bucket and number of calls
	MiniBatch   int     // problems an update; 0: all of the batch
	ClipLow     float64 // the ratio of new to old probability is clipped below at 1 - ClipLow
	ClipHigh    float64 // and above at 1 + ClipHigh; both act from the second update of a batch on
	DualClip    float64 // a negative advantage counts at most this many times; 0: no limit
	Filter      string  // problems whose groups do not differ in this are left out, and others sampled in their place
	Batches     int     // sampled at most to fill one, with a Filter
	WarmUp      int     // steps over which the rate rises to LR
	WeightDecay float64 // decoupled
	ClipNorm    float64 // norm that a gradient is scaled down to; 0: none

	CriticLR  float64 // PPO: Adam's step of the critic
	ValueClip float64 // PPO: a value moves at most this far from that of the batch's beginning
	KL        float64 // PPO: what a reward loses for each nat by which an action is likelier than at the cold start
}

func (t Training) check() error {
	for _, v := range []struct {
		what  string
		value float64
	}{
		{"entropy_bonus", t.EntropyBonus}, {"clip_low", t.ClipLow}, {"clip_high", t.ClipHigh}, {"dual_clip", t.DualClip},
		{"weight_decay", t.WeightDecay}, {"clip_norm", t.ClipNorm}, {"value_clip", t.ValueClip}, {"kl", t.KL},
		{"hidden", float64(t.Hidden)}, {"mini_batch", float64(t.MiniBatch)}, {"warm_up", float64(t.WarmUp)},
	} {
		if !(v.value >= 0) || math.IsInf(v.value, 1) {
			return fmt.Errorf("training: %s is %v; want at least 0", v.what, v.value)
		}
	}
	switch {
	case t.Algorithm != "" && t.Algorithm != GRPO && t.Algorithm != PPO:
		return fmt.Errorf("training: unknown algorithm %q; known: %s, %s", t.Algorithm, GRPO, PPO)
	case t.Steps < 1 || t.LogEvery < 1:
		return fmt.Errorf("training: steps %d and log_every %d; want at least 1", t.Steps, t.LogEvery)
	case t.Algorithm == PPO && (t.Batch < 2 || t.Group != 1):
		return fmt.Errorf("training: batch %d and group %d; ppo wants at least 2 problems and 1 episode of each", t.Batch, t.Group)
	case t.Algorithm != PPO && !t.Exact && (t.Batch < 1 || t.Group < 2):
		return fmt.Errorf("training: batch %d and group %d; want at least 1 and 2", t.Batch, t.Group)
	case !(t.LR > 0) || math.IsInf(t.LR, 1):
		return fmt.Errorf("training: lr is %v; want more than 0", t.LR)
	case t.Algorithm == PPO && (!(t.CriticLR > 0) || math.IsInf(t.CriticLR, 1)):
		return fmt.Errorf("training: critic_lr is %v; want more than 0", t.CriticLR)
	case !(t.InitialCall > 0 && t.InitialCall < 1):
		return fmt.Errorf("training: initial_call is %v; want more than 0 and less than 1", t.InitialCall)
	case t.Filter != AnyGroup && t.Filter != ByReward && t.Filter != ByCorrectness:
		return fmt.Errorf("training: unknown filter %q; known: %s, %s", t.Filter, ByReward, ByCorrectness)
	case t.Filter != AnyGroup && t.Batches < 1:
		return fmt.Errorf("training: %d batches to fill one; want at least 1", t.Batches)
	}
	return nil
}

// Snapshot is what a policy does: in expectation, without sampling noise, where Train returns it; on the episodes that
// it was trained on where Learn does.
type Snapshot struct {
	Step         int       // steps made
	CallRate     float64   // share of episodes with at least one call
	Calls        float64   // calls an episode
	Expert       []float64 // [M] share of episodes that ask this expert at least once
	Format       float64   // share of episodes without a malformed call
	Entropy      float64   // nats, of the first action, mean over problems
	Accuracy     float64   // share of right answers; a malformed episode has none
	AccuracyCall float64   // among episodes with a call; NaN if there are none
	AccuracyNone float64   // among the others; NaN if there are none
	Cost         float64   // an episode
	Reward       float64   // an episode, call bonus included; RouterR1: with the window as it stands
	Bucket       []float64 // [B] CallRate in each bucket; Learn: nil
}

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
	case t.Hidden > 0 && len(e.Buckets[0].Features) == 0:
		return fmt.Errorf("training: a network with %d hidden units sees no features of the problems; give the buckets some", t.Hidden)
	}
	return nil
}

// trainer is a training in progress.
type trainer struct {
	e *Environment
	t Training
	s *scorer
	p *policy
	g *groups

	critic  network // PPO
	start   *policy // PPO: the cold start
	lessons []lesson
	seen    *record // what the step's episodes did; nil: nobody asks
}

func newTrainer(e *Environment, r Reward, t Training, p *policy) *trainer {
	x := &trainer{e: e, t: t, s: &scorer{Reward: r}, p: p}
	x.g = newGroups(e, x.p, t)
	remember(p.network)
	if t.Algorithm == PPO {
		x.critic = newNetwork(e, t, []float64{0}, "critic")
		remember(x.critic)
		cold := t
		cold.Hidden = 0 // a table starts where a perceptron does, and is read faster
		x.start = newPolicy(e, cold)
	}
	return x
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

// update moves a network up its gradient.
func (x *trainer) update(n network, lr float64, step int) {
	if step < x.t.WarmUp {
		lr *= float64(step) / float64(x.t.WarmUp)
	}
	n.update(lr, x.t.WeightDecay, x.t.ClipNorm)
}

// lesson is a move and what it taught.
type lesson struct {
	move
	advantage     float64
	value, target float64 // PPO: what the critic thought before the batch was learned from, and what came
}

// improve adds the policy gradient of lessons: the mean over moves of the clipped surrogate and of the entropy bonus.
func (x *trainer) improve(of []lesson) {
	n := float64(len(of))
	for _, l := range of {
		probs := x.p.probs(x.e, l.state)
		_, slope := x.t.surrogate(probs[l.action]/l.prob, l.advantage)
		x.p.push(l.move, probs, slope/n, x.t.EntropyBonus/n)
	}
}

// surrogate returns the clipped objective of a move that has become ratio times as likely, and its derivative by the
// logarithm of the move's probability (PPO; the second bound on negative advantages is dual-clip PPO's).
func (t Training) surrogate(ratio, advantage float64) (value, slope float64) {
	value, slope = ratio*advantage, ratio*advantage
	if clipped := min(max(ratio, 1-t.ClipLow), 1+t.ClipHigh) * advantage; clipped < value {
		value, slope = clipped, 0
	}
	if bound := t.DualClip * advantage; t.DualClip > 0 && advantage < 0 && bound > value {
		value, slope = bound, 0
	}
	return value, slope
}
