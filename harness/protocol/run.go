// A run of an experiment, whatever its protocol.

package protocol

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/memory"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
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

// RememberedStates bounds what is kept in memory of what frozen layers of language models made of texts, in bytes.
const RememberedStates = 2 << 30

// begin opens what the policies of a run compute on, then the store; to look at a store no backend is needed. Language models
// are opened when one is asked for.
func begin(r *spec.Resolved, o steps.Options) (*Run, error) {
	run := &Run{}
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
			if processor := policy.Processor(run.backend); processor != "" {
				o.Env["processor"] = processor
			}
		}
	}
	if run.Plan, err = steps.Open(r, o); err != nil {
		run.Close()
		return nil, err
	}
	states := ""
	if !run.Options.Look {
		states = filepath.Join(o.Out, "states")
	}
	run.models = lm.NewModels(RememberedStates, states)
	if o.Priced {
		run.models = lm.PlannedModels()
	}
	run.models.Say = run.Options.Progress.Say
	return run, nil
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

func (r *Run) fitting(members *steps.Pool, m memory.Memory) fitting {
	processors := int64(runtime.GOMAXPROCS(0))
	return fitting{Plan: r.Plan, pool: members, backend: r.backend, remembers: m, models: r.models, processors: processors, slots: semaphore.NewWeighted(processors)}
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
	task := s.run.Options.Progress.Start(what, total)
	return func() { task.Add(1) }, task.Done
}

// Ask implements methods.Servers.
func (s servers) Ask(ctx context.Context, model experts.Endpoint, sampling spec.Sampling, asks []experts.Ask) (answers []experts.Completion, err error) {
	err = s.run.ask(ctx, s.pool, func(a *asking.Asker) error {
		answers, err = asking.Servers{Asker: a}.Ask(ctx, model, sampling, asks)
		return err
	})
	return answers, err
}
