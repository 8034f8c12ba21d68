// The training steps of rows that train a policy, for those who only want to know what they take.

package methods

import "github.com/entrorouter/entrorouter/harness/spec"

// TrainingStep is one optimizer step of a stage.
type TrainingStep struct {
	Stage  string // sft or grpo
	Policy spec.Policy
	Batch  int // texts
}

// TrainingSteps returns the steps of a row, one a stage; none if it trains no policy.
func TrainingSteps(s Setup) ([]TrainingStep, error) {
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	var policy spec.Policy
	var sft spec.SFT
	var grpo spec.GRPO
	two := true
	switch m := m.(type) {
	case *entroRouter:
		policy, sft, grpo, two = m.Policy, m.SFT, m.GRPO, m.stageTwo != nil
	case *entroPlus:
		policy, sft, grpo = m.Policy, m.SFT, m.GRPO
	default:
		return nil, nil
	}
	found := []TrainingStep{{"sft", policy, sft.Batch}}
	if two {
		found = append(found, TrainingStep{"grpo", policy, grpo.Batch})
	}
	return found, nil
}
