// What a set of trajectories says about a policy.

package multiround

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Summary is what a set of trajectories says about a policy: the numbers that show a collapse. Rates are shares of the
// trajectories, 0 to 1, where nothing else is said.
type Summary struct {
	Trajectories int                `json:"trajectories"`
	CallRate     float64            `json:"call_rate"`       // with at least one call that was answered
	Calls        float64            `json:"calls_per_query"` // answered calls
	Expert       map[string]float64 `json:"call_rate_by_expert"`
	Format       *float64           `json:"format_rate"`  // well-formed; null without a format (tools)
	Invalid      float64            `json:"invalid_rate"` // share of the policy's turns with an invalid action
	Failed       float64            `json:"failed_rate"`  // share of the calls that failed
	Accuracy     float64            `json:"accuracy"`
	AccuracyCall *float64           `json:"accuracy_given_call"` // null if there is no such trajectory, as the next
	AccuracyNone *float64           `json:"accuracy_given_no_call"`
	Cost         float64            `json:"cost"` // mean, in the unit of the reward
	Reward       float64            `json:"reward"`
	Turns        float64            `json:"turns"`
	// Entropy of the first move over {answer, call of each expert}, in nats, over all trajectories: a server does not
	// tell the probabilities, so this is the entropy of the policy's mean, which is at least the mean of its entropy.
	// First moves that were neither are left out.
	Entropy  float64                `json:"first_move_entropy"`
	Endings  map[Ending]int         `json:"endings"`
	Verdicts map[routing.Bucket]int `json:"verdicts"`
	Reasons  map[Reason]int         `json:"invalid"`
	Faults   map[Fault]int          `json:"format_faults"`
}

// summarise sums trajectories of one policy up.
func summarise(trajectories []Trajectory, pool []routing.Expert) Summary {
	s := Summary{Trajectories: len(trajectories), Expert: map[string]float64{}, Endings: map[Ending]int{}, Verdicts: map[routing.Bucket]int{}, Reasons: map[Reason]int{}, Faults: map[Fault]int{}}
	for _, x := range pool {
		s.Expert[x.ID] = 0
	}
	n := float64(len(trajectories))
	if n == 0 {
		return s
	}
	var turns, invalidTurns, calls, failed, called, right, rightCalled, wellFormed float64
	moves := make([]float64, 1+len(pool)) // answer, then the experts
	tags := false
	for _, t := range trajectories {
		answered := t.answered()
		calls += float64(len(t.Calls))
		failed += float64(len(t.Calls) - answered)
		s.Calls += float64(answered)
		right += t.Correct
		if answered > 0 {
			called++
			rightCalled += t.Correct
		}
		for _, x := range pool {
			if slices.ContainsFunc(t.Calls, func(c Call) bool { return c.Expert == x.ID && c.Failed == "" }) {
				s.Expert[x.ID]++
			}
		}
		turns += float64(t.Turns)
		bad := map[int]bool{}
		for _, v := range t.Invalid {
			bad[v.Turn] = true
			s.Reasons[v.Reason]++
		}
		invalidTurns += float64(len(bad))
		for _, f := range t.Format {
			s.Faults[f]++
		}
		if t.Protocol == (Tags{}).name() {
			tags = true
			if len(t.Format) == 0 {
				wellFormed++
			}
		}
		s.Endings[t.Ending]++
		s.Verdicts[t.Verdict]++
		s.Cost += t.Cost
		s.Reward += t.Reward
		if move, ok := t.firstMove(pool); ok {
			moves[move]++
		}
	}
	s.CallRate, s.Accuracy, s.Turns = called/n, right/n, turns/n
	s.Calls, s.Cost, s.Reward = s.Calls/n, s.Cost/n, s.Reward/n
	for id, k := range s.Expert {
		s.Expert[id] = k / n
	}
	s.Invalid, s.Failed = share(invalidTurns, turns), share(failed, calls)
	if tags {
		rate := wellFormed / n
		s.Format = &rate
	}
	s.AccuracyCall, s.AccuracyNone = among(rightCalled, called), among(right-rightCalled, n-called)
	s.Entropy = metrics.Entropy(moves)
	return s
}

// firstMove returns 0 for an answer and 1+m for a call of expert m. Of parallel calls the first counts.
func (t *Trajectory) firstMove(pool []routing.Expert) (int, bool) {
	switch {
	case len(t.Calls) > 0 && t.Calls[0].Turn == 1:
		m := expertIndex(pool, t.Calls[0].Expert)
		return 1 + m, m >= 0
	case t.Turns == 1 && t.Ending == EndAnswer:
		return 0, true
	}
	return 0, false
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

func among(part, whole float64) *float64 {
	if whole == 0 {
		return nil
	}
	v := part / whole
	return &v
}
