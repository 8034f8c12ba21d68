// How a policy is trained, and what it does on the way.

package theory

import (
	"fmt"
	"math"
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
	Batch        int     // problems per step
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
