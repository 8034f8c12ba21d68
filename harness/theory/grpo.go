// GRPO on the environment.

package theory

import (
	"math"
)

// grpo samples groups, as many batches of them as it takes to fill one with groups that differ if there is a Filter
// (DAPO's dynamic sampling; where those do not suffice it learns from what there is, VeRL stops), and learns from them
// in mini-batches.
func (x *trainer) grpo(step int) {
	x.lessons = x.lessons[:0]
	var ends []int // of each problem's lessons
	batches := 1
	if x.t.Filter != AnyGroup {
		batches = x.t.Batches
	}
	rewards := make([]float64, x.t.Group)
	for try := 0; try < batches && len(ends) < x.t.Batch; try++ {
		x.g.sample(step, try)
		x.s.observe(x.g.costs)
		for i := 0; i < x.t.Batch; i++ {
			group := x.g.episodes[i*x.t.Group : (i+1)*x.t.Group]
			for k := range group {
				rewards[k] = x.s.reward(&group[k])
				if x.seen != nil {
					x.seen.add(&group[k], rewards[k])
				}
			}
			x.anchor(group, rewards)
			if len(ends) == x.t.Batch || !x.t.teaches(group, rewards) {
				continue
			}
			for k, advantage := range advantages(rewards, x.t.MeanOnly) {
				for _, m := range group[k].moves {
					x.lessons = append(x.lessons, lesson{move: m, advantage: advantage})
				}
			}
			ends = append(ends, len(x.lessons))
		}
	}
	x.learn(step, ends)
}

// anchor adds to the rewards of a group what its problem's anchor says of each first move.
func (x *trainer) anchor(group []episode, rewards []float64) {
	for k := range group {
		first := group[k].moves[0]
		if anchor := x.e.Buckets[first.state.bucket].Anchor; anchor != nil {
			rewards[k] += anchor[first.action]
		}
	}
}

// teaches says whether the filter keeps a group.
func (t Training) teaches(group []episode, rewards []float64) bool {
	for k := range group {
		switch {
		case t.Filter == AnyGroup,
			t.Filter == ByReward && rewards[k] != rewards[0],
			t.Filter == ByCorrectness && group[k].right != group[0].right:
			return true
		}
	}
	return false
}

// advantages returns (R - mean)/(sd + 1e-6) of a group of at least two, sd with n-1 (GRPO as VeRL computes it), or
// R - mean alone. Equal rewards give exactly 0.
func advantages(rewards []float64, meanOnly bool) []float64 {
	var mean, square float64
	for _, r := range rewards { // differences to one reward, so that equal rewards have the mean without rounding
		mean += (r - rewards[0]) / float64(len(rewards))
	}
	mean += rewards[0]
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
