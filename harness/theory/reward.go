// Rewards of episodes, and of episodes that are played elsewhere.

package theory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Kinds of reward.
const (
	Linear   = "linear"    // correct - lambda*cost: R(tau) of section 2.1
	RouterR1 = "router_r1" // (1-alpha)*correct + alpha*cheapness, cheapness counted for correct answers only
	XRouter  = "xrouter"   // correct * (K - min(lambda*cost, cost_max))
)

// Reward scores an episode.
//
// RouterR1 is Router-R1's: u = sqrt(cost) is placed between the 5th and 95th percentile of the last Window values and
// cheapness is 1 at or below the one, 0 at or above the other, 1/2 if they coincide. XRouter is xRouter's. A malformed
// call scores -1 under all three.
type Reward struct {
	Kind      string
	Lambda    float64 // Linear, XRouter; at least 0
	Alpha     float64 // RouterR1; 0 to 1
	K         float64 // XRouter; what a right answer without calls earns; 0 stands for 1, the source's
	CostMax   float64 // XRouter; cap on the penalty
	Window    int     // RouterR1; source: 1000
	CallBonus float64 // added to every well-formed episode with at least one call; an ablation
}

func (r Reward) check() error {
	switch r.Kind {
	case Linear, XRouter:
	case RouterR1:
		if r.Window < 1 {
			return fmt.Errorf("reward router_r1: window is %d; want at least 1", r.Window)
		}
	default:
		return fmt.Errorf("reward: unknown kind %q; known: %s, %s, %s", r.Kind, Linear, RouterR1, XRouter)
	}
	for _, v := range []float64{r.Lambda, r.K, r.CostMax, r.CallBonus} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("reward %s: lambda, k, cost_max and call_bonus are numbers of at least 0, got %v", r.Kind, v)
		}
	}
	if !(r.Alpha >= 0 && r.Alpha <= 1) {
		return fmt.Errorf("reward %s: alpha is %v; want 0 to 1", r.Kind, r.Alpha)
	}
	return nil
}

// Scorer scores episodes that are played elsewhere, one after another.
type Scorer struct{ s scorer }

// NewScorer returns a scorer that has seen no episode.
func NewScorer(r Reward) (*Scorer, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return &Scorer{scorer{Reward: r}}, nil
}

// Observe adds the cost of an episode, at least 0, to the window of RouterR1. Router-R1's code does so before it scores
// the same episode.
func (s *Scorer) Observe(cost float64) { s.s.observe([]float64{cost}) }

// Score returns the reward of a well-formed episode: the probability that its answer is right, its cost and its calls.
func (s *Scorer) Score(right, cost float64, calls int) float64 { return s.s.score(right, cost, calls) }

// malformed is the reward of a call that breaks the format.
const malformed = -1

// scorer is a reward with what it remembers.
type scorer struct {
	Reward
	recent    []float64 // ring of the last Window values of sqrt(cost)
	next      int
	sorted    []float64 // recent, sorted
	low, high float64   // percentiles of recent
}

// observe adds the costs of episodes to the window, oldest first, and moves the percentiles. Router-R1 moves them after
// every episode, and PPO does here; GRPO moves them once a batch, after all its costs are in, so that the episodes of a
// group are compared on one scale.
func (s *scorer) observe(costs []float64) {
	if s.Kind != RouterR1 {
		return
	}
	for _, c := range costs {
		u := math.Sqrt(c)
		if len(s.recent) < s.Window {
			s.recent = append(s.recent, u)
		} else {
			old, _ := slices.BinarySearch(s.sorted, s.recent[s.next])
			s.sorted = slices.Delete(s.sorted, old, old+1)
			s.recent[s.next] = u
			s.next = (s.next + 1) % s.Window
		}
		at, _ := slices.BinarySearch(s.sorted, u)
		s.sorted = slices.Insert(s.sorted, at, u)
	}
	s.low, s.high = percentile(s.sorted, 0.05), percentile(s.sorted, 0.95)
}

// percentile interpolates linearly between the order statistics, as numpy does.
func percentile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// reward is that of an episode.
func (s *scorer) reward(x *episode) float64 {
	if x.broken {
		return malformed
	}
	return s.score(x.right, x.cost, x.calls)
}

// score is linear in the probability of being right, so expectations over that coin are exact.
func (s *scorer) score(right, cost float64, calls int) float64 {
	var r float64
	switch s.Kind {
	case Linear:
		r = right - s.Lambda*cost
	case RouterR1:
		r = right * (1 - s.Alpha + s.Alpha*s.cheapness(cost))
	case XRouter:
		r = right * (cmp.Or(s.K, 1) - min(s.Lambda*cost, s.CostMax))
	}
	if calls > 0 {
		r += s.CallBonus
	}
	return r
}

func (s *scorer) cheapness(cost float64) float64 {
	if s.high-s.low < 1e-8 {
		return 0.5
	}
	return 1 - min(max((math.Sqrt(cost)-s.low)/(s.high-s.low), 0), 1)
}
