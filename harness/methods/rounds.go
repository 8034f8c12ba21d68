// What rows that may ask several experts share: the training that they are, or the server of their policy.

package methods

import (
	"cmp"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// byPolicy builds a row with a policy behind a server where its parameters name one, and elsewhere one with a policy that
// is fitted here.
func byPolicy(served, fitted func(Setup) (routing.Method, error)) func(Setup) (routing.Method, error) {
	return func(s Setup) (routing.Method, error) {
		if sets(s.Method, "policy") {
			return served(s)
		}
		return fitted(s)
	}
}

// asksSeveral are knobs of every row that may ask several experts, whatever it is rewarded for.
type asksSeveral struct {
	Assimilation float64 `yaml:"assimilation" in:"[0,1]"`     // a, how often the router uses what an expert tells it: assumed
	Distraction  float64 `yaml:"distraction" in:"[0,1]"`      // share of its own rate that a call takes whose answer it does not use: assumed
	MaxTurns     int     `yaml:"max_turns" in:"[1,6]"`        // calls at most
	ColdStart    float64 `yaml:"cold_start" in:"(0,1)"`       // probability of asking before the reinforcement learning, in every state
	FormatFail   float64 `yaml:"format_fail" in:"[0,1]"`      // probability that a call is malformed
	CallBonus    float64 `yaml:"call_bonus" in:"[0,1000000]"` // added to episodes with a call; an ablation

	Steps  int     `yaml:"steps" in:"[1,1000000]"`      // batches
	Mini   int     `yaml:"mini_batch" in:"[1,1000000]"` // problems an update
	LR     float64 `yaml:"lr" in:"(0,100]"`             // Adam's step of the policy
	Hidden int     `yaml:"hidden" in:"[1,65536]"`       // units of the network, and of a critic
	L2     float64 `yaml:"l2" in:"(0,1000000000]"`      // penalty of the regressions that a network sees

	LM     bool         `yaml:"lm,omitempty"`     // the experiment's policy, a language model, in place of the network: see rounds.Decoder
	SFT    *spec.SFT    `yaml:"sft,omitempty"`    // of a language model, to the cold start; default: the experiment's
	Anchor *spec.Anchor `yaml:"anchor,omitempty"` // soft anchor on the first move, the router among the experts, free and with its own pass rate; an ablation

	training rounds.Training // without what is the row's own
	backend  string          // of the experiment's policy
}

// decoded makes the training of knobs that were decoded into a row, and sets what they leave to the experiment.
func (k *asksSeveral) decoded(s Setup) error {
	k.training = rounds.Training{
		Name: s.Method.Name, Horizon: k.MaxTurns, Anchor: k.Anchor, Decoding: s.Spec.Evaluate.Decoding,
		Assimilation: k.Assimilation, Distraction: k.Distraction, ColdStart: k.ColdStart, FormatFail: k.FormatFail,
		Penalty: k.L2, Texts: s.Texts, Fits: s.Fits,
	}
	k.backend = s.Spec.Policy.Backend
	switch {
	case !k.LM:
		return nil
	case s.Spec.Policy.Kind == "compact": // a spec that was not loaded names none
		return paramFault(s.Method, "lm", "the experiment's policy is no language model; set policy.kind: lm, with a model")
	case s.Spec.Policy.Reasons():
		return paramFault(s.Method, "lm", "policy.rationale of the experiment is cot, and a row that asks several experts names its moves and writes nothing; set it to none")
	}
	k.SFT = cmp.Or(k.SFT, &s.Spec.SFT)
	k.training.Decoder = &rounds.Decoder{Policy: s.Spec.Policy, SFT: *k.SFT, Backend: s.Backend, Models: s.Models}
	return nil
}

// teaches is a training with the row's own reward and algorithm, which learns with the steps and the network of the knobs.
func (k *asksSeveral) teaches(reward theory.Reward, by theory.Training, unit func(usd []float64) float64) *rounds.Training {
	t := k.training
	t.Reward, t.Learning, t.Unit = reward, by, unit
	t.Reward.CallBonus = k.CallBonus
	t.Learning.Steps, t.Learning.MiniBatch, t.Learning.LR, t.Learning.Hidden = k.Steps, k.Mini, k.LR, k.Hidden
	return &t
}

// traitsOf are those of a row with somebody's reward, which learns from episodes of a batch of problems, some of each.
func (k *asksSeveral) traitsOf(reward string, batch, episodes int) Traits {
	t := Traits{
		Allowance: Allowance{Reads: inWords(rounds.Features())}, // by regressions with one penalty
		Network:   func(experts int) Network { return k.network(int64(batch), int64(episodes), experts) },
		Asker:     &Asker{Reward: reward, Anchored: k.Anchor != nil, Assimilation: k.Assimilation, Distraction: k.Distraction, ColdStart: k.ColdStart},
	}
	if d := k.training.Decoder; d != nil {
		t.LM, t.Allowance.Reads = &d.Policy, "the text itself, and who has been asked"
	}
	return t
}

// network is the small network, or the language model in its place.
func (k *asksSeveral) network(batch, episodes int64, experts int) Network {
	n := Network{Weights: int64(k.Hidden) * int64(experts+1), Knob: "hidden", Value: fmt.Sprintf("%d units", k.Hidden)}
	n.FLOPs = trainedFLOPs * float64(n.Weights)
	if k.LM {
		n = decoderNetwork(k.training.Decoder.Policy, experts+1)
	}
	n.Backend = k.backend
	n.effort = func(one, _ int64) (e Effort) {
		if k.LM {
			e = e.add(sftEffort(*k.SFT, one))
		}
		updates := (batch + int64(k.Mini) - 1) / int64(k.Mini)
		return e.add(float64(k.Steps)*float64(updates), float64(k.Steps)*float64(batch*min(episodes, movesRead)))
	}
	return n
}

// ModelDigest is as that of stages.Training.
func (k *asksSeveral) ModelDigest() (string, error) { return k.training.Decoder.Digest() }
