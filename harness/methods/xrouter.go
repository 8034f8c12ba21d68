// Row kind xrouter: xRouter, trained in the small environment or behind a server.

package methods

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// xRouter is xRouter (Qian et al. 2025) with a small policy in place of its language model, see package rounds: up to three
// calls, then an answer of its own or, with Select, an expert's answer handed over as it is; a right answer earns
// K - min(Lambda*cost, CostMax), a wrong one nothing whatever was spent; GRPO with DAPO's clips, filtered groups and mean
// over moves.
//
// Of its public code are the reward, the clips, the filter, warm-up and the 64 problems of 8 episodes of its
// guide. Its scripts take 512 of 4. Weight decay is left out: at the source's rate of 1e-6 its 0.1 does nothing, at this
// network's it would.
//
// Its limit of three is another there: it counts generations (sglang_rollout.py), and the calls of the last are not carried out. So two
// turns may call, each several experts at once, and an answer is handed over after one of them alone. Here three calls come one after
// the other.
//
// Filter: the first of its scripts leaves out groups that agree in the field acc, by name DAPO's correctness. Its reward manager writes the
// cost-shaped reward there, so groups that are all right and differ in dollars stay. The second script filters nothing.
//
// Select is the source's tool select_response. Nothing has to be assimilated to hand an answer over, so the assumption
// behind the paper's theorem does not hold for xRouter as it is published; without Select it may.
type xRouter struct {
	asksSeveral `yaml:",inline"`
	Select      bool `yaml:"select"` // an expert's answer may be handed over

	Lambda   float64 `yaml:"lambda" in:"[0,1000000]"`                             // of the cost; its guide has 2
	K        float64 `yaml:"k" in:"(0,1000000]"`                                  // of a right answer
	CostMax  float64 `yaml:"cost_max" in:"[0,1000000]"`                           // cap on the penalty; its guide has 0.6
	CostUnit string  `yaml:"cost_unit" oneof:"usd usd_per_1k_queries normalised"` // normalised: over the mean of a call of the dearest expert
	Batch    int     `yaml:"batch" in:"[1,1000000]"`                              // problems
	Group    int     `yaml:"group" in:"[2,4096]"`                                 // episodes of each
	Filter   string  `yaml:"filter" oneof:"none reward correct"`                  // groups that agree in this are left out; its first script: reward, see above; DAPO: correct
	Batches  int     `yaml:"gen_batches" in:"[1,10000]"`                          // sampled at most to fill one
	WarmUp   int     `yaml:"warm_up" in:"[0,1000000]"`                            // steps
}

func newXRouter(s Setup) (routing.Method, error) {
	x := &xRouter{
		asksSeveral: asksSeveral{Distraction: 0.05, MaxTurns: 3, ColdStart: 0.9, Steps: 250, Mini: 16, LR: 0.003, Hidden: 32, L2: 3},
		Select:      true, Lambda: 3, K: 1, CostMax: 0.8, CostUnit: "usd", Batch: 64, Group: 8, Filter: theory.ByReward, Batches: 10, WarmUp: 10,
	}
	if err := spec.DecodeParams(s.Method, x); err != nil {
		return nil, err
	}
	return x, x.decoded(s)
}

func (*xRouter) Name() string { return "xrouter" }

func (x *xRouter) traits() Traits { return x.traitsOf("xRouter", x.Batch, x.Group) }

func (x *xRouter) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	filter := x.Filter
	if filter == "none" {
		filter = theory.AnyGroup
	}
	t := x.teaches(theory.Reward{Kind: theory.XRouter, Lambda: x.Lambda, K: x.K, CostMax: x.CostMax}, theory.Training{
		Algorithm: theory.GRPO, Batch: x.Batch, Group: x.Group, WarmUp: x.WarmUp,
		ClipLow: 0.2, ClipHigh: 0.28, DualClip: 10, ClipNorm: 1, Filter: filter, Batches: x.Batches,
	}, x.unit)
	t.Selects = x.Select
	return t.Fit(ctx, train, work)
}

// unit is what a dollar is in the reward, given the mean dollars of a call of each expert.
func (x *xRouter) unit(usd []float64) float64 {
	switch x.CostUnit {
	case "usd_per_1k_queries":
		return 1000
	case "normalised":
		if dearest := slices.Max(usd); dearest > 0 {
			return 1 / dearest
		}
	}
	return 1
}

// servedXRouter is xRouter with a policy behind a server: see package multiround.
type servedXRouter struct {
	Policy   servedPolicy       `yaml:"policy"`
	Protocol multiround.Tools   `yaml:"protocol"`
	Reward   multiround.XRouter `yaml:"reward"`
	Failures string             `yaml:"failures" oneof:"inform stop"`
}

func newServedXRouter(s Setup) (routing.Method, error) {
	m := servedXRouter{
		Policy:   servedPolicy{Temperature: 1, TopP: 1}, // as its rollouts
		Protocol: multiround.SourceTools(), Reward: multiround.SourceXRouter(), Failures: multiround.Inform,
	}
	if err := spec.DecodeParams(s.Method, &m); err != nil {
		return nil, err
	}
	return newServed(s, m.Policy, m.Failures, m.Protocol, m.Reward, m.Reward.For)
}
