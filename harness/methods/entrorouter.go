// Row kinds sft and entrorouter: the paper's method after Stage I and after Stage II.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// newEntroRouter is the paper's method. Its params lay over the experiment's own knobs, so that an ablation names what it changes.
func newEntroRouter(s Setup) (routing.Method, error) {
	p, err := newPolicyRow(s)
	if err != nil {
		return nil, err
	}
	p.With.StageTwo = p.Prompts
	return p, checkEstimator(s, p.Knobs)
}

// newSFT is EntroRouter after Stage I.
func newSFT(s Setup) (routing.Method, error) { return newPolicyRow(s) }

func newPolicyRow(s Setup) (*policyRow, error) {
	p := &policyRow{
		Training: stages.Training{Knobs: s.twoStages(), Anchor: s.Spec.Anchor, Reward: s.Spec.Reward, Features: s.Spec.Features},
		reads:    "features",
	}
	if err := spec.DecodeParams(s.Method, p); err != nil {
		return nil, err
	}
	return p, s.carriesOut(p, &p.Features)
}
