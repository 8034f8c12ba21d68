// Row kind routerr1: Router-R1, trained in the small environment or behind a server.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// routerR1 is Router-R1 (Zhang et al. 2025) with a small policy in place of its language model, see package rounds: up to
// four calls, then an answer; a right answer earns 1-Alpha plus Alpha times how cheap it was, a wrong one nothing and a
// malformed call -1; PPO with a critic.
//
// Of its public code are the reward, the limits, the batch, the clips, the bonus for entropy and the price of leaving the
// cold start. Rates are this network's, the critic's ten times the policy's as there. Alpha is 0 by default there: calls
// have no price then.
type routerR1 struct {
	Assimilation float64 `yaml:"assimilation" in:"[0,1]"`     // a, how often the router uses what an expert tells it: assumed
	Distraction  float64 `yaml:"distraction" in:"[0,1]"`      // share of its own rate that a call takes whose answer it does not use: assumed
	MaxTurns     int     `yaml:"max_turns" in:"[1,6]"`        // calls at most
	ColdStart    float64 `yaml:"cold_start" in:"(0,1)"`       // probability of asking before the reinforcement learning, in every state
	FormatFail   float64 `yaml:"format_fail" in:"[0,1]"`      // probability that a call is malformed
	CallBonus    float64 `yaml:"call_bonus" in:"[0,1000000]"` // added to episodes with a call; an ablation

	Alpha   float64 `yaml:"alpha" in:"[0,1]"`               // weight of cheapness
	Window  int     `yaml:"window" in:"[1,1000000]"`        // episodes whose costs a cost is compared with
	Steps   int     `yaml:"steps" in:"[1,1000000]"`         // batches
	Batch   int     `yaml:"batch" in:"[2,1000000]"`         // problems, one episode of each
	Mini    int     `yaml:"mini_batch" in:"[1,1000000]"`    // problems an update
	LR      float64 `yaml:"lr" in:"(0,100]"`                // Adam's step of the policy
	Critic  float64 `yaml:"critic_lr" in:"(0,100]"`         // of the critic
	Entropy float64 `yaml:"entropy_bonus" in:"[0,1000000]"` // weight of the policy's entropy
	KL      float64 `yaml:"kl" in:"[0,1000000]"`            // price of a nat by which an action is likelier than at the cold start
	Hidden  int     `yaml:"hidden" in:"[1,65536]"`          // units of policy and critic
	L2      float64 `yaml:"l2" in:"(0,1000000000]"`         // penalty of the regressions that the policy sees
	Group   int     `yaml:"group,omitempty" in:"[2,4096]"`  // episodes of each problem, learned from by GRPO without a critic; default: PPO with one

	LM     bool         `yaml:"lm,omitempty"`     // the experiment's policy, a language model, in place of the network: see rounds.Decoder
	SFT    *spec.SFT    `yaml:"sft,omitempty"`    // of a language model, to the cold start; default: the experiment's
	Anchor *spec.Anchor `yaml:"anchor,omitempty"` // soft anchor on the first move, the router among the experts, free and with its own pass rate; an ablation

	training rounds.Training // with what the setup has
}

func newRouterR1(s Setup) (routing.Method, error) {
	r := &routerR1{
		Distraction: 0.05, MaxTurns: 4, ColdStart: 0.9, Window: 1000,
		Steps: 225, Batch: 64, Mini: 32, LR: 0.003, Critic: 0.03, Entropy: 0.001, KL: 0.001, Hidden: 32, L2: roundsL2,
	}
	if err := spec.DecodeParams(s.Method, r); err != nil {
		return nil, err
	}
	if r.LM && r.Group == 0 {
		return nil, paramFault(s.Method, "lm", "a language model has no critic; set group, the episodes of each problem")
	}
	var err error
	r.training, err = s.rounds(r.LM, &r.SFT)
	return r, err
}

func (*routerR1) Name() string { return "routerr1" }

func (r *routerR1) assumptions() Assumptions {
	return Assumptions{r.Assimilation, r.Distraction, r.ColdStart}
}

// ModelDigest is as that of entroRouter.
func (r *routerR1) ModelDigest() (string, error) { return r.training.LM.Digest() }

func (r *routerR1) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	learning := theory.Training{
		Algorithm: theory.PPO, Steps: r.Steps, Batch: r.Batch, Group: 1, MiniBatch: r.Mini, LR: r.LR, CriticLR: r.Critic,
		ClipLow: 0.2, ClipHigh: 0.2, ValueClip: 0.5, ClipNorm: 1, EntropyBonus: r.Entropy, KL: r.KL, Hidden: r.Hidden,
	}
	if r.Group > 0 {
		learning.Algorithm, learning.Group = theory.GRPO, r.Group
	}
	t := r.training
	t.Name, t.Horizon, t.Learning, t.Penalty, t.Anchor = r.Name(), r.MaxTurns, learning, r.L2, r.Anchor
	t.Assimilation, t.Distraction, t.ColdStart, t.FormatFail = r.Assimilation, r.Distraction, r.ColdStart, r.FormatFail
	t.Reward = theory.Reward{Kind: theory.RouterR1, Alpha: r.Alpha, Window: r.Window, CallBonus: r.CallBonus}
	t.Unit = func([]float64) float64 { return 1e6 } // the source counts tokens times dollars a million
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
