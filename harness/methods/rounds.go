// What rows that may ask several experts share: the training that they are, or the server of their policy.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/routing"
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

// rounds is what the setup has for the training of a row with these knobs. A language model is fine-tuned to the cold start as the
// experiment's Stage I is, where the knobs do not say how: they do afterwards.
func (s Setup) rounds(k *rounds.Knobs) (rounds.With, error) {
	w := rounds.With{Name: s.Method.Name, Decoding: s.Spec.Evaluate.Decoding, Texts: s.Texts, Fits: s.Fits}
	switch {
	case !k.LM:
		return w, nil
	case s.Spec.Policy.Kind == "compact": // a spec that was not loaded names none
		return w, paramFault(s.Method, "lm", "the experiment's policy is no language model; set policy.kind: lm, with a model")
	}
	if k.SFT == nil {
		k.SFT = &s.Spec.SFT
	}
	w.Decoder = &rounds.Decoder{Policy: s.Spec.Policy, SFT: *k.SFT, Backend: s.Backend, Models: s.Models}
	return w, nil
}
