// The rewards of Router-R1 and xRouter on trajectories.

package multiround

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// Reward fills in Cost and Reward of trajectories, in order.
type Reward interface {
	Fill(trajectories []Trajectory) error
}

// RouterR1 is Router-R1's reward: -1 for a transcript with format faults, else that of theory.RouterR1. Cost is in
// millionths of a dollar. The source compares answers as strings; here: the verifier decides, as everywhere.
//
// With Compat source, as its code does, only the tokens that experts wrote are priced, and costs enter a window of the
// last 1000 one by one, each before it is scored: so a reward depends on the order of the trajectories and on those
// scored before, of training and validation alike. With Compat none, tokens read are priced too and the percentiles are
// those of all trajectories that are filled together.
type RouterR1 struct {
	Alpha     float64 `yaml:"alpha" in:"[0,1]"`            // weight of cheapness; source: 0 in code, 0.9 in its example
	Compat    string  `yaml:"compat" oneof:"source none"`  // source or none
	CallBonus float64 `yaml:"call_bonus" in:"[0,1000000]"` // for a well-formed trajectory with a call; an ablation

	experts []routing.Expert
	window  *theory.Scorer // with Compat source: shared by all calls of Fill
}

// SourceRouterR1 are the defaults of Router-R1's code.
func SourceRouterR1() RouterR1 { return RouterR1{Compat: "source"} }

// sourceWindow is the length of the window of costs.
const sourceWindow = 1000

// For returns the reward on a pool, with an empty window.
func (r RouterR1) For(pool []routing.Expert) (Reward, error) {
	var err error
	r.experts = pool
	r.window, err = r.scorer(sourceWindow)
	return &r, err
}

func (r RouterR1) scorer(window int) (*theory.Scorer, error) {
	return theory.NewScorer(theory.Reward{Kind: theory.RouterR1, Alpha: r.Alpha, CallBonus: r.CallBonus, Window: window})
}

// Fill implements Reward.
func (r *RouterR1) Fill(trajectories []Trajectory) error {
	window := r.window
	if r.Compat != "source" {
		var err error
		if window, err = r.scorer(max(len(trajectories), 1)); err != nil {
			return err
		}
	}
	for i := range trajectories {
		t := &trajectories[i]
		usd, err := t.dollars(r.experts, r.Compat != "source")
		if err != nil {
			return err
		}
		t.Cost = 1e6 * usd
		if r.Compat != "source" {
			window.Observe(t.Cost)
		}
	}
	for i := range trajectories {
		t := &trajectories[i]
		if r.Compat == "source" {
			window.Observe(t.Cost)
		}
		if t.Reward = formatReward(t.Format); t.Reward == 0 {
			t.Reward = window.Score(t.Correct, t.Cost, t.answered())
		}
	}
	return nil
}

// XRouter is xRouter's reward: score*(K - min(lambda*cost, cost_max)), theory.XRouter. All tokens of all calls are
// priced, those of the policy are not.
type XRouter struct {
	Lambda    float64 `yaml:"lambda" in:"[0,1000000]"`                             // source: 3 in code, 2 in its README
	K         float64 `yaml:"k" in:"(0,1000000]"`                                  // source: 1
	CostMax   float64 `yaml:"cost_max" in:"[0,1000000]"`                           // source: 0.8 in code, 0.6 in its README
	CostUnit  string  `yaml:"cost_unit" oneof:"usd usd_per_1k_queries normalised"` // usd, as the source; usd_per_1k_queries: a thousand times as much; normalised: one answer of the strongest expert
	CallBonus float64 `yaml:"call_bonus" in:"[0,1000000]"`                         // for a trajectory with a call; an ablation

	experts []routing.Expert
	unit    float64 // dollars
	scorer  *theory.Scorer
}

// SourceXRouter are the defaults of xRouter's code.
func SourceXRouter() XRouter { return XRouter{Lambda: 3, K: 1, CostMax: 0.8, CostUnit: "usd"} }

// For returns the reward on a pool. strongest is what a response of the strongest expert costs on average, in dollars; 0
// if it is unknown.
func (r XRouter) For(pool []routing.Expert, strongest float64) (Reward, error) {
	r.experts = pool
	switch r.CostUnit {
	case "usd_per_1k_queries":
		r.unit = 1e-3
	case "normalised":
		if r.unit = strongest; !(strongest > 0) {
			return nil, fmt.Errorf("reward: cost_unit normalised needs the mean cost of the strongest expert, which is %v dollars; use usd", strongest)
		}
	default:
		r.unit = 1
	}
	var err error
	r.scorer, err = theory.NewScorer(theory.Reward{Kind: theory.XRouter, Lambda: r.Lambda, K: r.K, CostMax: r.CostMax, CallBonus: r.CallBonus})
	return &r, err
}

// Fill implements Reward.
func (r *XRouter) Fill(trajectories []Trajectory) error {
	for i := range trajectories {
		t := &trajectories[i]
		usd, err := t.dollars(r.experts, true)
		if err != nil {
			return err
		}
		t.Cost = usd / r.unit
		t.Reward = r.scorer.Score(t.Correct, t.Cost, t.answered())
	}
	return nil
}
