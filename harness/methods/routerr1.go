// Row kind routerr1: Router-R1, trained in the small environment or behind a server.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// routerR1 is Router-R1 (Zhang et al. 2025) with a small policy in place of its language model, see package rounds: up to
// four calls, then an answer; a right answer earns 1-Alpha plus Alpha times how cheap it was, a wrong one nothing and a
// malformed call -1; PPO with a critic.
//
// Of its public code are the reward, the limits, the batch, the clips, the bonus for entropy and the price of leaving the
// cold start. Rates are this network's, the critic's ten times the policy's as there. Left out are the weight decay of 0.01, which does
// nothing at the source's rates, and the cut of what is sampled to the likeliest 95% (top_p). Alpha is 0 by default there: calls have no price then.
type routerR1 struct {
	asksSeveral `yaml:",inline"`

	Alpha   float64 `yaml:"alpha" in:"[0,1]"`               // weight of cheapness
	Window  int     `yaml:"window" in:"[1,1000000]"`        // episodes whose costs a cost is compared with
	Batch   int     `yaml:"batch" in:"[2,1000000]"`         // problems, one episode of each
	Critic  float64 `yaml:"critic_lr" in:"(0,100]"`         // of the critic
	Entropy float64 `yaml:"entropy_bonus" in:"[0,1000000]"` // weight of the policy's entropy
	KL      float64 `yaml:"kl" in:"[0,1000000]"`            // price of a nat by which an action is likelier than at the cold start
	Group   int     `yaml:"group,omitempty" in:"[2,4096]"`  // episodes of each problem, learned from by GRPO without a critic; default: PPO with one
}

func newRouterR1(s Setup) (routing.Method, error) {
	r := &routerR1{
		asksSeveral: asksSeveral{Distraction: 0.05, MaxTurns: 4, ColdStart: 0.9, Steps: 225, Mini: 32, LR: 0.003, Hidden: 32, L2: 3},
		Window:      1000, Batch: 64, Critic: 0.03, Entropy: 0.001, KL: 0.001,
	}
	if err := spec.DecodeParams(s.Method, r); err != nil {
		return nil, err
	}
	if r.LM && r.Group == 0 {
		return nil, paramFault(s.Method, "lm", "a language model has no critic; set group, the episodes of each problem")
	}
	return r, r.decoded(s)
}

func (*routerR1) Name() string { return "routerr1" }

// Code names what of the program its numbers hang on beside its knobs, and the version of that; "" is nothing.
func (r *routerR1) Code() (name string, version int) {
	if r.Group > 0 {
		return "", 0
	}
	return "ppo", theory.VersionOfPPO
}

func (r *routerR1) traits() Traits { return r.traitsOf("Router-R1", r.Batch, max(r.Group, 1)) }

func (r *routerR1) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	by := theory.Training{
		Algorithm: theory.PPO, Batch: r.Batch, Group: 1, CriticLR: r.Critic,
		ClipLow: 0.2, ClipHigh: 0.2, ValueClip: 0.5, ClipNorm: 1, EntropyBonus: r.Entropy, KL: r.KL,
	}
	if r.Group > 0 {
		by.Algorithm, by.Group = theory.GRPO, r.Group
	}
	t := r.teaches(theory.Reward{Kind: theory.RouterR1, Alpha: r.Alpha, Window: r.Window}, by,
		func([]float64) float64 { return 1e6 }) // the source counts tokens times dollars per million
	return t.Fit(ctx, train, work)
}

// servedRouterR1 is Router-R1 with a policy behind a server: see package multiround.
type servedRouterR1 struct {
	Policy   servedPolicy        `yaml:"policy"`
	Protocol multiround.Tags     `yaml:"protocol"`
	Reward   multiround.RouterR1 `yaml:"reward"`
	Failures string              `yaml:"failures" oneof:"inform stop"`
}

func newServedRouterR1(s Setup) (routing.Method, error) {
	m := servedRouterR1{
		Policy:   servedPolicy{Temperature: 1, TopP: 0.95}, // as its rollouts
		Protocol: multiround.SourceTags(), Reward: multiround.SourceRouterR1(), Failures: multiround.Inform,
	}
	if err := spec.DecodeParams(s.Method, &m); err != nil {
		return nil, err
	}
	return newServed(s, m.Policy, m.Failures, m.Protocol, m.Reward, func(pool []routing.Expert, _ float64) (multiround.Reward, error) {
		return m.Reward.For(pool)
	})
}
