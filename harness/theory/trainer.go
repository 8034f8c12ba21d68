// One policy in training, whatever the algorithm: steps up the gradient of a batch.

package theory

import (
	"cmp"
	"slices"
)

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
	p.remember(e)
	if t.Algorithm == PPO {
		x.critic = newNetwork(e, t, criticLayer, []float64{0})
		remember(x.critic)
		cold := t
		cold.Hidden = 0 // a table starts where a perceptron does, and is read faster
		x.start = newPolicy(e, cold)
		x.start.remember(e)
	}
	return x
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

// learn goes through the lessons in mini-batches of problems, of which ends has where each one's lessons end.
func (x *trainer) learn(step int, ends []int) {
	from := 0
	for problems := range slices.Chunk(ends, cmp.Or(x.t.MiniBatch, x.t.Batch)) {
		to := problems[len(problems)-1]
		x.p.clear()
		x.improve(x.lessons[from:to])
		if x.critic != nil {
			x.critic.clear()
			x.appraise(x.lessons[from:to])
			x.update(x.critic, x.t.CriticLR, step)
		}
		x.update(x.p, x.t.LR, step)
		from = to
	}
}

// appraise adds the gradient of the critic: less the mean over moves of its clipped loss.
func (x *trainer) appraise(of []lesson) {
	slope := []float64{0}
	for _, l := range of {
		_, d := x.t.valueLoss(x.critic.forward(l.state)[0], l.value, l.target)
		slope[0] = -d / float64(len(of))
		x.critic.backward(l.state, slope)
	}
}

// valueLoss returns half the larger of the squared errors of a value and of one held within ValueClip of its old self,
// and its derivative by the value.
func (t Training) valueLoss(value, old, target float64) (loss, slope float64) {
	clipped := min(max(value, old-t.ValueClip), old+t.ValueClip)
	free, held := value-target, clipped-target
	if free*free >= held*held {
		return free * free / 2, free
	}
	return held * held / 2, 0
}
