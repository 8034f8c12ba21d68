// A finished run as its store tells it: steps, entries, measurements, arenas.

package book

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Run is a finished run of an experiment as its store tells it, whatever spec and whatever version of the program made it:
// what is read are the list of its steps and the recipes and files of their entries. Nothing is written.
type Run struct {
	Steps []store.Step

	dir, experiment string
	store           *store.Store
	read            map[store.Key]Step // entries that were verified
}

// Step is a step of a run.
type Step struct {
	Name   string
	Recipe store.Recipe
	Entry  store.Entry
}

// OpenRun reads the list of steps that the last run of an experiment left in a store. Entries are read later, so a
// run into the same store in between does not change what is found.
func OpenRun(dir, experiment string) (*Run, error) {
	s := store.OpenReadOnly(dir)
	steps, err := s.ReadIndex(experiment)
	if errors.Is(err, fs.ErrNotExist) {
		names, err := s.Experiments()
		if err != nil {
			return nil, err
		}
		has := "it has none"
		if len(names) > 0 {
			has = "it has: " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%w: %s holds no finished run of experiment %s; %s", spec.ErrUsage, dir, experiment, has)
	}
	if err != nil {
		return nil, err
	}
	return &Run{steps, dir, experiment, s, map[store.Key]Step{}}, nil
}

// IsStore says whether a folder holds runs, finished or not.
func IsStore(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "stages"))
	return err == nil && info.IsDir()
}

// Step reads an entry of the run.
func (r *Run) Step(k store.Key) (Step, error) {
	if f, ok := r.read[k]; ok {
		return f, nil
	}
	entry, recipe, err := r.store.Find(k)
	switch {
	case errors.Is(err, store.ErrMissing):
		return Step{}, fmt.Errorf("%w: step %q of the run in %s is not in its store (%s is gone); %s", spec.ErrUsage, r.nameOf(k), r.dir, k, r.again(k))
	case errors.Is(err, store.ErrCorrupt):
		return Step{}, fmt.Errorf("step %q of the run in %s is damaged: %w; %s", r.nameOf(k), r.dir, err, r.again(k))
	case errors.Is(err, store.ErrForm):
		return Step{}, fmt.Errorf("%w: step %q of the run in %s has a recipe in another form than this version reads; compare the measurements of both instead: --against FILE", spec.ErrUsage, r.nameOf(k), r.dir)
	case err != nil:
		return Step{}, fmt.Errorf("step %q of the run in %s: %w", r.nameOf(k), r.dir, err)
	}
	r.read[k] = Step{r.nameOf(k), recipe, entry}
	return r.read[k], nil
}

// again says how an entry is made again that is gone or damaged. A run looks for what a step reads only if that step is
// to do, so those that were made from the entry have to go.
func (r *Run) again(k store.Key) string {
	var remove []string
	for at := k; ; {
		i := slices.IndexFunc(r.Steps, func(s store.Step) bool {
			entry, recipe, err := r.store.Find(s.Key)
			if err != nil || !recipe.Reads(at) {
				return false
			}
			remove = append(remove, entry.Dir)
			return true
		})
		if i < 0 {
			break
		}
		at = r.Steps[i].Key
	}
	run := fmt.Sprintf("run experiment %s there again", r.experiment)
	if remove == nil {
		return run
	}
	return "remove " + strings.Join(remove, " and ") + " and " + run
}

// nameOf names the step of a key.
func (r *Run) nameOf(k store.Key) string {
	if i := slices.IndexFunc(r.Steps, func(s store.Step) bool { return s.Key == k }); i >= 0 {
		return r.Steps[i].Name
	}
	return k.String()
}

// Find implements Entries.
func (r *Run) Find(k store.Key) (store.Entry, store.Recipe, error) {
	s, err := r.Step(k)
	return s.Entry, s.Recipe, err
}

// Arenas reads the arenas of the run; none if its protocol has no questions.
func (r *Run) Arenas() (arenas []*Arena, err error) {
	for _, s := range r.Steps {
		if s.Key.Stage != MeasureStage && s.Key.Stage != MeasureFoldsStage {
			continue
		}
		measured, err := r.Step(s.Key)
		if err != nil {
			return nil, err
		}
		of, err := Open(r, measured.Recipe)
		if errors.Is(err, errOther) {
			err = fmt.Errorf("%w: step %q of the run in %s is %w; compare the measurements of both instead: --against FILE", spec.ErrUsage, s.Name, r.dir, err)
		}
		if err != nil {
			return nil, err
		}
		arenas = append(arenas, of...)
	}
	return arenas, nil
}

// Measurements reads every number that the run measured, with the line that says how it was made: by backend, where no step
// says on what it trained.
func (r *Run) Measurements(backend string) (*metrics.Set, error) {
	set := &metrics.Set{}
	how, seeded := metrics.Provenance{Backend: backend}, false
	var trainings []Made
	for _, s := range r.Steps {
		f, err := r.Step(s.Key)
		if err != nil {
			return nil, err
		}
		params := paramsOf(f.Recipe)
		if params.Policy.Backend != "" {
			trainings = append(trainings, made(f.Entry))
			how.Backend = params.Policy.Backend + params.Build.Numerics
		}
		for _, x := range params.Evaluate.Seeds {
			if !slices.Contains(how.Training, x) {
				how.Training = append(how.Training, x)
			}
		}
		if !f.Entry.Has(measurementsFile) {
			continue
		}
		of, err := ReadMeasurements(f.Entry)
		if err != nil {
			return nil, err
		}
		set.Measurements = append(set.Measurements, of.Measurements...)
		if params.Seed != nil {
			how.Seed, how.Arch, seeded = *params.Seed, made(f.Entry).Arch, true
		}
	}
	how.Backend, how.Processor = TrainedOn(how.Backend, trainings...)
	if len(set.Measurements) == 0 {
		return nil, fmt.Errorf("%w: the run in %s has no step with measurements.txt, which this version reads; run experiment %s there again", spec.ErrUsage, r.dir, r.experiment)
	}
	for i := range set.Measurements {
		m := &set.Measurements[i]
		m.Keys = append([]metrics.Key{{Name: "experiment", Value: r.experiment}}, m.Keys...)
	}
	if seeded && how.Arch != "" {
		set.Comment = []string{how.String()}
	}
	return set, nil
}
