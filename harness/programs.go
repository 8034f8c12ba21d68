// What the training steps of an experiment take on a card, before there is one.

package harness

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/programs"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/workload"
)

// WritePrograms writes the StableHLO of every training step of the language models of an experiment into a folder, a
// file for each row and stage, and returns the files. Two that are the same program are written once. plugin is the
// library that 'make xla-cpu' makes of tools/pjrt-dump. No weight is read and the store is not looked at.
func WritePrograms(r *spec.Resolved, plugin, folder string) ([]string, error) {
	x := &r.Experiment
	steps := map[string]workload.Step{}
	var names, seen []string
	for _, row := range x.Methods {
		trained, err := methods.TrainingSteps(methods.Setup{Method: row, Spec: x, Prices: r.Prices.Models})
		if err != nil {
			return nil, err
		}
		for _, t := range trained {
			if t.Policy.Kind != "lm" {
				continue
			}
			name := row.RowID() + "-" + t.Stage
			step, err := workload.Of(t.Policy, t.Batch)
			if err != nil {
				return nil, fmt.Errorf("%w: row %s: policy: %v", ErrUsage, row.RowID(), err)
			}
			bare := step
			bare.Decoder.LoRA = nil
			same := fmt.Sprintf("%+v %+v", bare, step.Decoder.LoRA)
			if slices.Contains(seen, same) {
				continue
			}
			seen, names, steps[name] = append(seen, same), append(names, name), step
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%w: spec %s trains no language model (policy.kind lm)", ErrUsage, x.Name)
	}
	return programs.Write(plugin, folder, names, func(b policy.Backend, name string) error {
		t, err := workload.NewLarge(b, steps[name])
		if err != nil {
			return err
		}
		defer t.Close()
		return t.Compile()
	})
}
