// PPO with a critic on the environment.

package theory

import "math"

// VersionOfPPO is raised when PPO comes to other numbers. In 2 policy and critic have first layers of their own.
const VersionOfPPO = 2

// Router-R1 discounts nothing.
const (
	discount = 1 // gamma
	trace    = 1 // lambda of GAE
)

// ppo plays one episode of each problem and learns from it with a critic, in mini-batches, as VeRL does for Router-R1:
// every move pays KL times log pi - log pi of the cold start, the last one earns the reward; advantages by GAE, whitened over the batch; clipped policy and value losses.
func (x *trainer) ppo(step int) {
	x.g.sample(step, 0)
	x.lessons = x.lessons[:0]
	ends := make([]int, len(x.g.episodes))
	for i := range x.g.episodes {
		episode := &x.g.episodes[i]
		x.s.observe(x.g.costs[i : i+1])
		reward := x.s.reward(episode)
		if x.seen != nil {
			x.seen.add(episode, reward)
		}
		rewards, values := make([]float64, len(episode.moves)), make([]float64, len(episode.moves))
		for k, m := range episode.moves {
			rewards[k] = -x.t.KL * math.Log(m.prob/x.start.probs(x.e, m.state)[m.action])
			values[k] = x.critic.forward(m.state)[0]
		}
		rewards[len(rewards)-1] += reward
		for k, a := range gae(rewards, values, discount, trace) {
			x.lessons = append(x.lessons, lesson{move: episode.moves[k], advantage: a, value: values[k], target: a + values[k]})
		}
		ends[i] = len(x.lessons)
	}
	whiten(x.lessons)
	x.learn(step, ends)
}

// gae returns the generalised advantage estimates of an episode's moves (Schulman et al. 2016), the value after the
// last being 0. With gamma and lambda 1 they are what is still to come, less the value.
func gae(rewards, values []float64, gamma, lambda float64) []float64 {
	advantages := make([]float64, len(rewards))
	var next, after float64 // advantage and value of the move after this one
	for k := len(rewards) - 1; k >= 0; k-- {
		delta := rewards[k] + gamma*after - values[k]
		next = delta + gamma*lambda*next
		advantages[k], after = next, values[k]
	}
	return advantages
}

// whiten gives the advantages mean 0 and variance 1: (A - mean)/sqrt(var + 1e-8), var with n-1.
func whiten(of []lesson) {
	n := float64(len(of))
	var mean, variance float64
	for _, l := range of {
		mean += l.advantage / n
	}
	for _, l := range of {
		variance += (l.advantage - mean) * (l.advantage - mean) / (n - 1)
	}
	for i := range of {
		of[i].advantage = (of[i].advantage - mean) / math.Sqrt(variance+1e-8)
	}
}
