// The programs of what an experiment trains.

package programs

import (
	"bytes"
	"fmt"
	"os"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// Program is the StableHLO of a training step.
type Program struct {
	Path   string
	Beside int64 // bytes that lie on a device beside what the program takes
}

// trains is a method that trains a policy, as stages.Training does.
type trains interface {
	Steps(experts int) ([]stages.TrainingStep, error)
}

// OfExperiment writes the programs of the trainer's own optimizer steps, of every language model that an experiment trains, into a
// folder, a file for each row and stage. Two that are the same program are written once. plugin is the library that
// 'make xla-cpu' makes of tools/pjrt-dump. No weight is read and the store is not looked at. Where nothing is trained, the error wraps spec.ErrUsage.
func OfExperiment(r *spec.Resolved, plugin, folder string) ([]Program, error) {
	x := &r.Experiment
	steps := map[string]stages.TrainingStep{}
	var names []string
	for _, row := range x.Methods {
		method, err := methods.New(methods.Setup{Method: row, Spec: x, Prices: r.Prices.Models})
		var trained []stages.TrainingStep
		if t, ok := method.(trains); ok {
			trained, err = t.Steps(len(r.Pools[0].Experts))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: row %s: %v", spec.ErrUsage, row.RowID(), err)
		}
		for _, t := range trained {
			name := row.RowID() + "-" + t.Stage
			names, steps[name] = append(names, name), t
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%w: spec %s trains no language model (policy.kind lm)", spec.ErrUsage, x.Name)
	}
	paths, err := write(plugin, folder, names, func(b policy.Backend, name string) error { return steps[name].Compile(b) })
	if err != nil {
		return nil, err
	}
	var found []Program
	for i, path := range paths {
		again, err := repeats(found, path)
		if err != nil {
			return nil, err
		}
		if !again {
			found = append(found, Program{path, steps[names[i]].Beside})
		} else if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// repeats says whether a program is one of those before it.
func repeats(before []Program, path string) (bool, error) {
	own, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	for _, p := range before {
		text, err := os.ReadFile(p.Path)
		if err != nil || bytes.Equal(text, own) {
			return err == nil, err
		}
	}
	return false, nil
}
