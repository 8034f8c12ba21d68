// Running an experiment, and saying what a run would do.

package harness

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/preflight"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

var (
	// ErrUsage is spec.ErrUsage, for who imports this package alone.
	ErrUsage = spec.ErrUsage
	// ErrIncomplete is steps.ErrIncomplete.
	ErrIncomplete = steps.ErrIncomplete
)

type (
	// Options say where a run reads and writes.
	Options = steps.Options
	// Progress hears how far a run is.
	Progress = steps.Progress
	// Task is what has begun and is not done.
	Task = steps.Task
)

// Result is a finished experiment.
type Result struct {
	Spec         *spec.Resolved
	Measurements *metrics.Set
	RouterMS     map[string]float64 // id of a row that trains a language model -> milliseconds per question of the paper's sizes; see present.Run

	Steps, Stored int // steps of the experiment, and those that were stored before and not carried out again
	MayBeHad      int // answers that failed and may be had by running again; the measurements are those without them
}

// Run carries out an experiment: what the store already has is not done again. A run that is interrupted or killed
// goes on where it stopped when it is run again, and ends with the same bytes.
func Run(ctx context.Context, r *spec.Resolved, o Options) (*Result, error) {
	o = o.Filled()
	defer o.Progress.Start(r.Experiment.Name, 0).Done()
	run, err := gathered(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	set, err := run.Measurements(ctx)
	if err != nil {
		return nil, err
	}
	trained, ms, err := trainings(run)
	if err != nil {
		return nil, err
	}
	recipes, err := recipesOf(run)
	if err != nil {
		return nil, err
	}
	set.Comment = run.Head
	for _, flag := range r.Changes.Flags() {
		set.Comment = append(set.Comment, metrics.ChangedBy(flag))
	}
	set.Comment = append(append(set.Comment, recipes...), provenance(&r.Experiment, trained).String())
	if err := sayUnfinished(run); err != nil {
		return nil, err
	}
	missing, err := run.MayBeHad(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{Spec: r, Measurements: set, RouterMS: ms, Steps: len(run.Steps), Stored: run.Stored(), MayBeHad: missing}, run.WriteIndex()
}

// sayUnfinished warns of trainings in the store that were stopped: a finished run has none of its own, and those of others may
// be of specs that nobody has any more.
func sayUnfinished(run *protocol.Run) error {
	dir, trainings, bytes, err := run.Store.Unfinished()
	if err == nil && trainings > 0 {
		run.Options.Log.Warn("trainings that were stopped are kept and this run needed none of them; remove the folders of those that nobody goes on with", "dir", dir, "trainings", trainings, "megabytes", bytes>>20)
	}
	return err
}

// gathered opens an experiment and asks for all answers that it wants. Where some are not to be had, the steps that read
// them are others than were planned.
func gathered(ctx context.Context, r *spec.Resolved, o Options) (*protocol.Run, error) {
	o.Again = !o.Offline
	run, err := planned(ctx, r, o)
	if err != nil {
		return nil, err
	}
	changed, err := run.Gather(ctx)
	if err == nil && !changed {
		return run, nil
	}
	run.Close()
	if err != nil {
		return nil, err
	}
	o.Again = false
	return planned(ctx, r, o)
}

// planned opens an experiment and tells what is to be made.
func planned(ctx context.Context, r *spec.Resolved, o Options) (*protocol.Run, error) {
	run, err := opened(ctx, r, o)
	if err != nil {
		return nil, err
	}
	todo, err := pending(run, nil)
	if err != nil {
		run.Close()
		return nil, err
	}
	o.Progress.Plan(todo)
	return run, nil
}

// ToDo lists the steps that Run would make of several experiments, one after another: a step that two have is the first one's. It does
// nothing but look at the store.
func ToDo(ctx context.Context, specs []*spec.Resolved, o Options) ([][]explain.Pending, error) {
	seen := map[store.Key]bool{}
	var all [][]explain.Pending
	for _, r := range specs {
		run, err := look(ctx, r, o)
		if err != nil {
			return nil, err
		}
		todo, err := pending(run, seen)
		run.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, todo)
	}
	return all, nil
}

// pending are the steps that a run would make, but for those that were seen, which it adds to.
func pending(run *protocol.Run, seen map[store.Key]bool) ([]explain.Pending, error) {
	plan := run.Explain()
	todo, err := plan.ToDo()
	if err != nil {
		return nil, err
	}
	if seen != nil {
		todo = slices.DeleteFunc(todo, func(s *explain.Step) bool {
			again := seen[s.Recipe.Key()]
			seen[s.Recipe.Key()] = true
			return again
		})
	}
	return plan.Pending(todo)
}

// trainings reads what is noted of the making of a run's fits: of those that trained a policy, and by row how long a question
// took, on average over trainings.
func trainings(run *protocol.Run) (trained []book.Made, ms map[string]float64, err error) {
	ms, times := map[string]float64{}, map[string]float64{}
	for _, s := range run.Steps {
		if s.Row == nil {
			continue
		}
		var made book.Made
		if err := run.Store.Env(s.Recipe.Key(), &made); errors.Is(err, fs.ErrNotExist) {
			continue // nothing that was to do needed it
		} else if err != nil {
			return nil, nil, err
		}
		if book.TrainsPolicy(s.Recipe) {
			trained = append(trained, made)
		}
		if t, ok := made.RouterMS[metrics.PaperArena]; ok {
			row := s.Row.RowID()
			times[row]++
			ms[row] += (t - ms[row]) / times[row]
		}
	}
	return trained, ms, nil
}

// machineNotes are the entries of Options.Env that are no versions; of what numbers depend on, provenance has them.
var machineNotes = []string{"os", "arch", "platform", "processor"}

// recipesOf says under which recipes a finished run measured, and by which versions, a comment each.
func recipesOf(run *protocol.Run) (comments []string, err error) {
	for _, s := range run.Plan.Measured {
		var by map[string]any // what Options.Env was, and what was noted beside it
		if err := run.Store.Env(s.Recipe.Key(), &by); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		var versions []string
		for _, of := range slices.Sorted(maps.Keys(by)) {
			if version, ok := by[of].(string); ok && !slices.Contains(machineNotes, of) {
				versions = append(versions, of+" "+strings.TrimPrefix(version, of))
			}
		}
		comments = append(comments, metrics.Recipe{Step: s.Name, Key: s.Recipe.Key().String(), By: strings.Join(versions, ", ")}.String())
	}
	return comments, nil
}

// provenance is how a run of an experiment made its numbers.
func provenance(x *spec.Experiment, trained []book.Made) metrics.Provenance {
	how := metrics.Provenance{Seed: x.Seed, Training: x.Evaluate.Seeds, Arch: runtime.GOARCH}
	how.Backend, how.Processor = book.TrainedOn(x.Policy.Backend+policy.Numerics, trained...)
	return how
}

// look opens an experiment and plans its steps, without writing anything.
func look(ctx context.Context, r *spec.Resolved, o Options) (*protocol.Run, error) {
	o.Look = true
	return opened(ctx, r, o)
}

// opened opens an experiment that there is room for. What a recording has to be read for is looked at when it was.
func opened(ctx context.Context, r *spec.Resolved, o Options) (*protocol.Run, error) {
	stored := preflight.Stored(o.Out)
	if err := preflight.Estimate(r, nil).Check(o.Room, stored); err != nil {
		return nil, err
	}
	run, err := protocol.Open(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if err := preflight.Estimate(r, run.Questions).Check(o.Room, stored); err != nil {
		run.Close()
		return nil, err
	}
	return run, nil
}

// Plan says what Run would do, and what that takes from an empty store. It does nothing but look at the store, and needs no weights of
// language models.
func Plan(ctx context.Context, r *spec.Resolved, o Options) ([]explain.StepStatus, preflight.Needs, error) {
	o.Priced = true
	run, err := look(ctx, r, o)
	if err != nil {
		return nil, preflight.Needs{}, err
	}
	defer run.Close()
	steps, err := run.Explain().Status(ctx)
	needs := preflight.Estimate(r, run.Questions)
	needs.Absent = run.Absent()
	stored := float64(needs.Answers)
	for _, s := range steps {
		stored += s.Bytes
	}
	needs.Disk = max(needs.Disk, int64(stored)) // the estimate has the parts that can be too great, this has all that steps leave
	return steps, needs, err
}

// Explain says which steps of an experiment are to do, grouped by what made them so. It writes nothing.
func Explain(ctx context.Context, r *spec.Resolved, o Options) (*explain.Explanation, error) {
	o.Priced = true
	run, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	return run.Explain().All(ctx)
}

// ExplainStep says everything of one step: named as Plan prints it, or by the beginning of its key. It writes nothing.
func ExplainStep(ctx context.Context, r *spec.Resolved, o Options, name string) (*explain.StepExplanation, error) {
	o.Priced = true
	run, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	return run.Explain().One(name)
}

// CheckRun holds a finished experiment, carried out with o, against another run of it; see compare.Runs.
func CheckRun(result *Result, o Options, other *book.Run) (*compare.RunReport, error) {
	ours, err := book.OpenRun(o.Out, result.Spec.Experiment.Name)
	if err != nil {
		return nil, err
	}
	return compare.Runs(result.Spec, result.Measurements, ours, other, "go"+policy.Numerics)
}
