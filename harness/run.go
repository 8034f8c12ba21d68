// Running an experiment: its engine is opened, its last steps are made, what they need comes first.

package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// rememberedTexts bounds the memory of what texts are made of, in bytes: about 60,000 texts read in two ways.
const rememberedTexts = 128 << 20

var (
	// ErrUsage is spec.ErrUsage, for who imports the engine alone.
	ErrUsage = spec.ErrUsage
	// ErrIncomplete says that the run stopped with work left that it was not allowed to do.
	ErrIncomplete = errors.New("incomplete")
)

// Options say where a run reads and writes.
type Options struct {
	Out     string // folder of the store and the rollouts, e.g. results/runs
	Data    string // data folder of benchmarks and recorded outcomes; empty: none
	Offline bool   // ask no expert: what is not stored is an error
	Key     string // bearer token of the experts' servers
	Plugin  string // PJRT plugin of policies on XLA, a name or an absolute path; empty: cuda

	Progress Progress     // nil: silent
	Log      *slog.Logger // nil: silent
	Env      any          // versions and machine, written beside every entry, never compared

	look bool // the store is only looked at: nothing is made in it, not even its folder
}

// filled puts silence where nothing was given.
func (o Options) filled() Options {
	if o.Progress == nil {
		o.Progress = silent{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Progress hears how far a run is. Calls come from one goroutine.
type Progress interface {
	Start(what string, total int)
	Add(n int)
	Done()
}

type silent struct{}

func (silent) Start(string, int) {}
func (silent) Add(int)           {}
func (silent) Done()             {}

// Result is a finished experiment.
type Result struct {
	Spec         *spec.Resolved
	Measurements *metrics.Set

	Steps, Stored int // steps of the experiment, and those that were stored before and not carried out again
}

// engine is one experiment being run.
type engine struct {
	spec     *spec.Resolved
	poolSpec spec.Pool
	opt      Options

	store    *store.Store
	rollouts *store.Rollouts
	backend  policy.Backend
	texts    *compact.Texts // what fits have read
	files    problems.Source

	experts []routing.Expert // [M] cheapest first
	probe   *routing.Expert
	source  string // what answers: "http", or the simulated pool, a hash of its parameters and the version of its code
	sim     *sim.Pool

	steps                 []*step
	sets                  []*problemSet
	sftProfile, rlProfile *profile
	testProfiles          []*profile // [test benchmarks]: strata of the routing distribution
	arenas                []*arena
	fits                  [][]*fit // [rows][seeds]; rows that do not depend on a seed have one
	measured              []*step  // make measurements.txt: one, or one for each pool of recordings
	extra                 []*step  // the same, of what only some outputs show
	recorded              []*recorded
	client                *experts.HTTP
	chats                 []*experts.HTTP // clients of the methods that ask by themselves
	loopback              *sim.Loopback
	known                 problems.Index // what simulated experts may be asked
	train                 *routing.TrainSet
	kept                  map[store.Scope]map[store.RolloutKey]kept // rollouts of the scopes that were read
	routers               routers                                   // language models that route
}

// Run carries out an experiment: what the store already has is not done again. A run that is interrupted or killed
// goes on where it stopped when it is run again, and ends with the same bytes.
func Run(ctx context.Context, r *spec.Resolved, o Options) (*Result, error) {
	p := protocolOf(&r.Experiment)
	e, err := p.open(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	set, err := e.measurements(ctx, e.last()...)
	if err != nil {
		return nil, err
	}
	set.Comment = append(p.head(e), provenance(&r.Experiment).String())
	return e.finish(set)
}

// finish is the result of an experiment whose last steps are done.
func (e *engine) finish(set *metrics.Set) (*Result, error) {
	r := &Result{Spec: e.spec, Measurements: set, Steps: len(e.steps)}
	for _, s := range e.steps {
		if !s.ran {
			r.Stored++
		}
	}
	return r, e.writeIndex()
}

// measurements reads what measuring steps made, and carries them out before if need be. The name of the experiment is not
// in the stored ones, which experiments that agree in everything else share: it is added here.
func (e *engine) measurements(ctx context.Context, steps ...*step) (*metrics.Set, error) {
	set := &metrics.Set{}
	for _, s := range steps {
		entry, err := e.get(ctx, s)
		if err != nil {
			return nil, err
		}
		of, err := book.ReadMeasurements(entry)
		if err != nil {
			return nil, err
		}
		set.Measurements = append(set.Measurements, of.Measurements...)
	}
	for i := range set.Measurements {
		m := &set.Measurements[i]
		m.Keys = append([]metrics.Key{{Name: "experiment", Value: e.spec.Experiment.Name}}, m.Keys...)
	}
	return set, nil
}

// newEngine opens the store and plans every step; it runs none.
func newEngine(ctx context.Context, r *spec.Resolved, o Options) (_ *engine, err error) {
	e := &engine{spec: r, opt: o.filled(), poolSpec: r.Pools[0], source: "http", texts: compact.NewTexts(rememberedTexts)}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if len(r.Pools) > 1 {
		return nil, fmt.Errorf("%w: spec %s names %d pools, protocol split takes one", ErrUsage, r.Experiment.Name, len(r.Pools))
	}
	if e.experts, e.probe, err = routing.Members(e.poolSpec, r.Prices); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUsage, err)
	}
	switch e.poolSpec.Kind {
	case "simulated":
		if err := e.simulate(); err != nil {
			return nil, err
		}
	case "recorded":
		return nil, fmt.Errorf("%w: pool %s holds recorded outcomes, which protocol folds reads; spec %s has protocol split", ErrUsage, e.poolSpec.Name, r.Experiment.Name)
	}
	if r.Experiment.Targets.Gate && e.probe == nil {
		return nil, fmt.Errorf("%w: targets.gate asks a probe and pool %s has none; name one in the pool or set targets.gate: false", ErrUsage, e.poolSpec.Name)
	}
	if r.Experiment.CountInput && r.Experiment.Large > 0 {
		return nil, fmt.Errorf("%w: the large set is scored by expectations of output tokens; set large: 0 with count_input: true", ErrUsage)
	}
	if err := e.openBackend(); err != nil {
		return nil, err
	}
	e.files = problems.JSONL{Dir: o.Data, Benchmarks: r.Benchmarks}
	if err := e.openStore(); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Out, "rollouts.db")
	if !o.look {
		e.rollouts, err = store.OpenRollouts(ctx, path)
	} else if e.rollouts, err = store.ReadRollouts(ctx, path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return e, e.plan()
}

// openBackend opens what the policies of the run compute on; to look at a store none is needed.
func (e *engine) openBackend() (err error) {
	if e.opt.look {
		return nil
	}
	name := e.spec.Experiment.Policy.Backend
	if name == "xla" && e.opt.Plugin != "" {
		name += ":" + e.opt.Plugin
	}
	if e.backend, err = policy.OpenBackend(name); err != nil {
		return fmt.Errorf("%w: policy.backend: %v", ErrUsage, err)
	}
	return nil
}

func (e *engine) openStore() (err error) {
	if e.opt.look {
		if info, err := os.Stat(e.opt.Out); err == nil && !info.IsDir() {
			return fmt.Errorf("store %q: not a directory; name the folder that runs write to", e.opt.Out)
		}
		e.store = store.OpenReadOnly(e.opt.Out)
		return nil
	}
	e.store, err = store.Open(e.opt.Out, store.Options{Log: e.opt.Log, Env: e.opt.Env})
	return err
}

func (e *engine) close() {
	if e.client != nil {
		e.client.Close()
	}
	for _, c := range e.chats {
		c.Close()
	}
	if e.loopback != nil {
		e.loopback.Close()
	}
	e.routers.close()
	if e.rollouts != nil {
		e.rollouts.Close()
	}
	if e.backend != nil {
		e.backend.Finalize()
	}
}

// ids are the experts of the pool, cheapest first.
func (e *engine) ids() []string {
	var ids []string
	for _, x := range e.experts {
		ids = append(ids, x.ID)
	}
	return ids
}

// simulate builds the simulated experts. The same value scores the large set and, behind HTTP, answers requests.
func (e *engine) simulate() (err error) {
	law := *e.poolSpec.Simulation
	law.Targets, law.Routers = nil, nil // what the law was solved for, and who else knows it, does not change what it says
	knobs, err := spec.Canonical(law)
	if err != nil {
		return err
	}
	e.source = fmt.Sprintf("simulated %s %016x v%d", e.poolSpec.Name, uint64(seed.Derive(string(knobs))), simulatedVersion)
	e.sim, err = sim.New(e.poolSpec, e.members(), seed.Seed(e.spec.Experiment.Seed), e.known.Lookup, problems.Distractor)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUsage, err)
	}
	return nil
}

// pool returns the client that asks the experts, starting the server of a simulated pool first.
func (e *engine) pool(ctx context.Context) (experts.Pool, error) {
	if e.client != nil {
		return e.client, nil
	}
	endpoints, err := e.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	client, err := e.connect(ctx, endpoints)
	if err != nil {
		return nil, err
	}
	e.client = client
	return client, nil
}

// connect returns a client of servers that were found to serve what they are to be asked for.
func (e *engine) connect(ctx context.Context, endpoints []experts.Endpoint) (*experts.HTTP, error) {
	o := e.httpOptions()
	// A server that is down when a run begins stays down longer than a client waits: one try, and an answer at once.
	o.Tries = 1
	first, err := experts.NewHTTP(endpoints, o)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	if err := first.Preflight(ctx); err != nil {
		return nil, err
	}
	return experts.NewHTTP(endpoints, e.httpOptions())
}

func (e *engine) httpOptions() experts.HTTPOptions {
	return experts.HTTPOptions{Concurrency: e.spec.Experiment.Profile.Concurrency, Key: e.opt.Key, Log: e.opt.Log}
}

// endpoints returns the members of the pool at their addresses, starting the server of a simulated pool first.
func (e *engine) endpoints(ctx context.Context) ([]experts.Endpoint, error) {
	if e.sim == nil {
		return experts.Endpoints(e.poolSpec, e.members()), nil
	}
	if e.loopback == nil {
		err := e.loadKnown(ctx)
		if err != nil {
			return nil, err
		}
		if e.loopback, err = sim.StartLoopback(e.sim, e.opt.Log); err != nil {
			return nil, err
		}
	}
	return e.loopback.Endpoints(e.members()), nil
}

// members are the experts and, if there is one, the probe.
func (e *engine) members() []routing.Expert {
	if e.probe == nil {
		return e.experts
	}
	return append(slices.Clone(e.experts), *e.probe)
}

// loadKnown reads the problems that simulated experts may be asked.
func (e *engine) loadKnown(ctx context.Context) error {
	for i, s := range e.sets {
		// Both stages may draw from one benchmark: the larger draw begins with the smaller.
		within := func(t *problemSet) bool { return t.benchmark == s.benchmark && t.n >= s.n }
		if slices.ContainsFunc(e.sets[:i], within) || slices.ContainsFunc(e.sets[i+1:], func(t *problemSet) bool { return within(t) && t.n > s.n }) {
			continue
		}
		if err := s.load(ctx); err != nil {
			return err
		}
		if err := e.known.Add(s.problems, s.latents); err != nil {
			return err
		}
	}
	return nil
}

// scope is the part of a rollout's key that all rollouts of an expert share.
func (e *engine) scope(x routing.Expert, split routing.Split) store.Scope {
	s := e.poolSpec.Sampling
	return store.Scope{
		Source: e.source, Model: x.Model, Revision: x.Revision, Prompt: s.Prompt,
		Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MaxTokens: x.MaxTokens, Split: split,
	}
}

// trainSet reads what methods may learn from.
func (e *engine) trainSet(ctx context.Context) (*routing.TrainSet, error) {
	if e.train != nil {
		return e.train, nil
	}
	sft, err := e.sftProfile.examples(ctx)
	if err != nil {
		return nil, err
	}
	rl, err := e.rlProfile.examples(ctx)
	if err != nil {
		return nil, err
	}
	e.train = &routing.TrainSet{Experts: e.experts, C: routing.Costs(e.experts, e.spec.Experiment.CUnit), SFT: sft, RL: rl}
	return e.train, e.checkLeak(ctx)
}

// checkLeak fails if a training problem has the text of a test problem.
func (e *engine) checkLeak(ctx context.Context) error {
	trained := map[uint64]string{}
	for _, x := range e.train.Examples() {
		trained[routing.TextHash(x.Problem.Text)] = x.Problem.ID
	}
	for _, a := range e.arenas {
		if err := a.loadQueries(ctx); err != nil {
			return err
		}
		for _, q := range a.Queries {
			if id, ok := trained[routing.TextHash(q.Problem.Text)]; ok {
				return fmt.Errorf("%w: training problem %s and test problem %s have the same text; train on another set or, for generated sets, another seed", ErrUsage, id, q.Problem.ID)
			}
		}
	}
	return nil
}

func (e *engine) writeIndex() error {
	var steps []store.Step
	for _, s := range e.steps {
		steps = append(steps, store.Step{Name: s.name, Key: s.recipe.Key()})
	}
	return e.store.WriteIndex(e.spec.Experiment.Name, steps)
}

// provenance is how a run of an experiment makes its numbers.
func provenance(x *spec.Experiment) metrics.Provenance {
	return metrics.Provenance{Seed: x.Seed, Training: x.Evaluate.Seeds, Backend: x.Policy.Backend + policy.Numerics, Arch: runtime.GOARCH}
}
