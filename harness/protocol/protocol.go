// Package protocol plans experiments: which steps there are, what each reads, and what stands above the numbers.
//
// There are three protocols. split trains on some problems and tests on others (split.go and the steps it is made of:
// problemset.go, profile.go, arena.go, fit.go, measure.go); folds cross-validates on recordings (folds.go); collapse trains
// small policies in an environment without problems (collapse.go). All but collapse end in arenas, which package score
// measures. No other package asks which protocol an experiment has.
package protocol

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Run is an experiment as its protocol plans it; nothing of it has been carried out.
type Run struct {
	*steps.Plan
	Head  []string      // what stands above the measurements
	Asker *asking.Asker // nil: nobody is asked

	Questions map[string]int // of recorded pools, by name; of other protocols nil

	split   *experiment   // nil: another protocol
	asks    sync.Mutex    // of rows
	rows    *asking.Asker // of runs without Asker, whose rows may ask models of their own; nil: none has yet
	backend policy.Backend
	models  *lm.Models
}

// Open opens the store and plans every step of an experiment.
func Open(ctx context.Context, r *spec.Resolved, o steps.Options) (*Run, error) {
	switch r.Experiment.Protocol {
	case "folds":
		return newFolds(ctx, r, o)
	case "collapse":
		return newCollapse(r, o)
	}
	return newSplit(ctx, r, o)
}

// CheckTrail fails if the numbers of an experiment lead to no problems.
func CheckTrail(x *spec.Experiment) error {
	if x.Protocol == "collapse" {
		return fmt.Errorf("%w: spec %s has protocol collapse, whose numbers are expectations over a small environment without problems; the formulas are in package theory", spec.ErrUsage, x.Name)
	}
	return nil
}

// ask calls f with what asks for the rows of a run whose experts are asked for nothing: one row at a time. What answers are stored in is opened
// when it is first called.
func (r *Run) ask(ctx context.Context, pool *steps.Pool, f func(*asking.Asker) error) error {
	r.asks.Lock()
	defer r.asks.Unlock()
	if r.rows == nil {
		a, err := asking.Open(ctx, r.Plan, pool)
		if err != nil {
			return err
		}
		r.rows = a
	}
	return f(r.rows)
}

// embed returns what asks models for vectors where no expert is asked.
func (r *Run) embed(pool *steps.Pool) methods.Embed {
	return func(ctx context.Context, model experts.Endpoint, texts []string) (vectors [][]float32, err error) {
		err = r.ask(ctx, pool, func(a *asking.Asker) error {
			vectors, err = a.Embed(ctx, model, texts)
			return err
		})
		return vectors, err
	}
}

// servers lets rows of recorded pools ask language models; the experts of such a pool cannot be asked.
type servers struct {
	run  *Run
	pool *steps.Pool
}

// Pool implements methods.Servers.
func (s servers) Pool(context.Context) ([]experts.Endpoint, spec.Sampling, error) {
	return nil, spec.Sampling{}, s.refuse()
}

// Chat implements methods.Servers.
func (s servers) Chat(context.Context, []experts.Endpoint) (experts.Chatter, error) {
	return nil, s.refuse()
}

func (s servers) refuse() error {
	return fmt.Errorf("%w: pool %s is recorded: its experts cannot be talked to", spec.ErrUsage, s.pool.Name)
}

// Progress implements methods.Servers.
func (s servers) Progress(what string, total int) (one, done func()) {
	show := s.run.Options.Progress
	show.Start(what, total)
	return func() { show.Add(1) }, show.Done
}

// Ask implements methods.Servers.
func (s servers) Ask(ctx context.Context, model experts.Endpoint, sampling spec.Sampling, asks []experts.Ask) (answers []experts.Completion, err error) {
	err = s.run.ask(ctx, s.pool, func(a *asking.Asker) error {
		answers, err = asking.Servers{Asker: a}.Ask(ctx, model, sampling, asks)
		return err
	})
	return answers, err
}

// Absent lists the folders of language models that steps read and that have no weights here, of a run that is only priced.
func (r *Run) Absent() []string {
	if r.models == nil { // a study of the small environment reads no model
		return nil
	}
	return r.models.Absent()
}

// Close frees what the run holds.
func (r *Run) Close() {
	for _, a := range []*asking.Asker{r.Asker, r.rows} {
		if a != nil {
			a.Close()
		}
	}
	if r.models != nil {
		// What it wrote can be computed again.
		_ = r.models.Close()
	}
	if r.Plan != nil {
		// What was written is synced; what remains is to let others write.
		_ = r.Plan.Close()
	}
	if r.backend != nil {
		r.backend.Finalize()
	}
}

// Gather asks the experts for all that the steps to do want of them. It says whether other answers turned out not to be had
// than when the run was planned: it is to be opened again then.
func (r *Run) Gather(ctx context.Context) (changed bool, err error) {
	if r.split == nil {
		return false, nil
	}
	return r.split.gather(ctx)
}

// MayBeHad counts the answers that failed and may be had when the run is carried out again.
func (r *Run) MayBeHad(ctx context.Context) (n int, err error) {
	if r.split == nil {
		return 0, nil
	}
	for _, w := range r.split.wants {
		of, err := r.Asker.MayBeHad(ctx, w.Block)
		if err != nil {
			return 0, err
		}
		n += of
	}
	return n, nil
}

// RememberedStates bounds what is kept in memory of what frozen layers of language models made of texts, in bytes.
const RememberedStates = 2 << 30

// begin opens what the policies of a run compute on, then the store; to look at a store no backend is needed. Language models
// are opened when one is asked for.
func begin(r *spec.Resolved, o steps.Options) (*Run, error) {
	run := &Run{}
	states := ""
	if !o.Look {
		states = filepath.Join(o.Out, "states")
	}
	run.models = lm.NewModels(RememberedStates, states)
	if o.Priced {
		run.models = lm.PlannedModels()
	}
	var err error
	if !o.Look {
		name := r.Experiment.Policy.Backend
		if name == "xla" && o.Plugin != "" {
			name += ":" + o.Plugin
		}
		if run.backend, err = policy.OpenBackend(name); err != nil {
			return nil, fmt.Errorf("%w: policy.backend: %v", spec.ErrUsage, err)
		}
		if platform := policy.Platform(run.backend); platform != "" {
			o.Env = maps.Clone(o.Filled().Env)
			o.Env["platform"] = platform
		}
	}
	if run.Plan, err = steps.Open(r, o); err != nil {
		run.Close()
		return nil, err
	}
	return run, nil
}

// Finished fails with ErrIncomplete if the store does not have what a step makes, and says what to do.
func (r *Run) Finished(s *steps.Step) error {
	name := r.Spec.Experiment.Name
	_, err := r.Store.Get(s.Recipe)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, store.ErrMissing):
		return r.Lost(s, err)
	}
	if _, err := r.Store.ReadIndex(name); err == nil {
		return fmt.Errorf("%w: experiment %s was run, but not as it is now: entrorouter explain %s says what differs, entrorouter run %s carries it out", steps.ErrIncomplete, name, r.Spec.Named, r.Spec.Named)
	}
	return fmt.Errorf("%w: experiment %s is not finished in this store; run it first: entrorouter run %s", steps.ErrIncomplete, name, r.Spec.Named)
}

// Arenas are the steps that measure arenas.
func (r *Run) Arenas() (arenas []*steps.Step) {
	for _, s := range r.Measured {
		if stage := s.Recipe.Key().Stage; stage == book.MeasureStage || stage == book.MeasureFoldsStage {
			arenas = append(arenas, s)
		}
	}
	return arenas
}
