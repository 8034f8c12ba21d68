// Row kinds sft and entrorouter: the paper's method after Stage I and after Stage II.

package methods

import (
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// newEntroRouter is the paper's method. Its params lay over the experiment's own knobs, so that an ablation names what it changes.
func newEntroRouter(s Setup) (routing.Method, error) {
	t, err := newTraining(s)
	if err != nil {
		return nil, err
	}
	t.With.StageTwo = t.Prompts
	return t, nil
}

// newSFT is EntroRouter after Stage I.
func newSFT(s Setup) (routing.Method, error) { return newTraining(s) }

func newTraining(s Setup) (*stages.Training, error) {
	t := &stages.Training{
		Knobs: s.twoStages(), Anchor: s.Spec.Anchor, Reward: s.Spec.Reward, Features: s.Spec.Features,
	}
	if err := spec.DecodeParams(s.Method, t); err != nil {
		return nil, err
	}
	return t, s.carriesOut(t, "features", &t.Features)
}
