// What rows that may ask several experts share: the training that they are, or the server of their policy.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
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

// roundsL2 is the penalty of the regressions that a small network sees.
const roundsL2 = 3

// rounds is a training with what the setup has. wanted says whether a language model is the policy, which is fine-tuned to the cold start
// as the experiment's Stage I is where sft is not set.
func (s Setup) rounds(wanted bool, sft **spec.SFT) (rounds.Training, error) {
	t := rounds.Training{Decoding: s.Spec.Evaluate.Decoding, Texts: s.Texts, Fits: s.Fits}
	switch {
	case !wanted:
		return t, nil
	case s.Spec.Policy.Kind == "compact": // a spec that was not loaded names none
		return t, paramFault(s.Method, "lm", "the experiment's policy is no language model; set policy.kind: lm, with a model")
	}
	if *sft == nil {
		*sft = &s.Spec.SFT
	}
	t.LM = &rounds.Decoder{Policy: s.Spec.Policy, SFT: **sft, Backend: s.Backend, Models: s.Models}
	return t, nil
}
