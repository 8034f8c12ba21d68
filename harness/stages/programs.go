// The training steps of rows that train a language model, for those who only want to know what they take.

package stages

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/train"
)

// TrainingStep is one optimizer step of a stage on a batch of the longest prompts.
type TrainingStep struct {
	Stage   string                             // sft or grpo
	Beside  int64                              // bytes that lie on a device beside what the program takes
	Compile func(backend policy.Backend) error // has the backend compile the program, for which no weight is read
}

// Steps returns the steps of a training, one a stage, for a pool of some experts; none if it trains no language model. A policy
// whose step is small, since its frozen layers are none of it, is an error.
func (t *Training) Steps(experts int) ([]TrainingStep, error) {
	of := t.Policy
	if of.Kind != "lm" {
		return nil, nil
	}
	config, err := lm.ConfigOf(*of.Model)
	if err != nil {
		return nil, err
	}
	outline, err := lm.Outline(config, of, experts)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	conduct := train.Conduct{Micro: of.MicroBatch}
	step := func(stage string, batch int, compile func(*policy.Model) error) TrainingStep {
		return TrainingStep{stage, conduct.Beside(outline, batch), func(b policy.Backend) error {
			m, err := policy.Outline(b, outline)
			if err != nil {
				return err
			}
			defer m.Close()
			return compile(m)
		}}
	}
	found := []TrainingStep{step("sft", t.SFT.Batch, func(m *policy.Model) error {
		return conduct.CompileSFT(m, outline.Longest(), t.SFT)
	})}
	if t.With.StageTwo != nil {
		found = append(found, step("grpo", t.GRPO.Batch, func(m *policy.Model) error {
			return conduct.CompileGRPO(m, outline.Longest(), t.GRPO)
		}))
	}
	return found, nil
}
