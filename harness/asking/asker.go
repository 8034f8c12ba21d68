// Package asking has the models of a run asked: what is stored is read and graded, what is not is asked for once and kept.
//
// An Asker knows who answers: the servers of a pool, or the simulation, which answers their requests in this process. Rollouts of experts are
// graded; what methods ask by themselves (routers, conversations) is kept beside them.
package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Asker asks the models of a run. It is used by one goroutine at a time.
type Asker struct {
	Known Problems  // what simulated experts may be asked
	Arena Problems  // what simulated routers may be asked beside it
	Sim   *sim.Pool // nil: the pool is not simulated

	plan     *steps.Plan
	pool     *steps.Pool
	source   string                 // what answers: "http", or the simulated pool, a hash of its parameters and the version of its code
	rollouts *store.Rollouts        // nil: none are stored, of a plan that only looks
	read     map[store.Scope]*known // the scopes that were read
	client   *experts.HTTP          // of the pool; nil: not asked yet
	clients  []*experts.HTTP        // of the methods that ask by themselves
	handler  http.Handler           // answers for the simulated experts; nil: not asked yet
	keyHost  string                 // that was sent the run's key; empty: none was
	starting sync.Mutex
	started  bool // the run is noted in the rollouts
	known    problems.Index
	routers  routers // language models that route
	talked   conversations
	embedded embeddings
}

// Problems hands every problem with what is latent in it to add.
type Problems func(ctx context.Context, add func([]routing.Problem, []routing.Latent) error) error

// Open opens the rollouts of a plan for the members of a pool; it asks nobody.
func Open(ctx context.Context, plan *steps.Plan, pool *steps.Pool) (*Asker, error) {
	a := &Asker{plan: plan, pool: pool, source: served}
	if pool.Kind == "simulated" {
		if err := a.simulate(); err != nil {
			return nil, err
		}
	}
	var err error
	if a.rollouts, err = plan.Store.Rollouts(ctx); plan.Options.Look && errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return a, err
}

// Pool is whose members are asked.
func (a *Asker) Pool() *steps.Pool { return a.pool }

// USD is what a rollout of an expert costs.
func (a *Asker) USD(x routing.Expert, s store.Stored) float64 {
	return x.Price.USD(cost.Usage{In: s.In, Out: s.Out}, a.plan.Spec.Experiment.CountInput)
}

// Close ends the connections.
func (a *Asker) Close() {
	if a.client != nil {
		a.client.Close()
	}
	for _, c := range a.clients {
		c.Close()
	}
	a.routers.close()
	if a.rollouts != nil {
		if err := a.rollouts.Close(); err != nil { // it says how many answers are lost
			a.plan.Options.Log.Error("not everything that was answered is stored", "fault", err)
		}
	}
}

// simulate builds the simulated experts. The same value scores the large set and answers requests.
func (a *Asker) simulate() (err error) {
	law := *a.pool.Simulation
	law.Targets, law.Routers, law.Note = nil, nil, "" // what the law was solved for, who else knows it and what is said of it does not change what it says
	knobs, err := spec.Canonical(law)
	if err != nil {
		return err
	}
	a.source = fmt.Sprintf("simulated %s %016x v%d", a.pool.Name, uint64(seed.Derive(string(knobs))), sim.Version)
	a.Sim, err = sim.New(a.pool.Pool, a.simulated(), seed.Seed(a.plan.Spec.Experiment.Seed), a.known.Lookup, problems.Distractor)
	if err != nil {
		return fmt.Errorf("%w: %v", spec.ErrUsage, err)
	}
	return nil
}

// simulated are the members of the pool that the simulation answers for.
func (a *Asker) simulated() []routing.Expert {
	return slices.DeleteFunc(slices.Clone(a.pool.Members()), func(x routing.Expert) bool { return a.pool.SourceOf(x.ID) != spec.Simulated })
}

// sourceOf says who answers for a member.
func (a *Asker) sourceOf(x routing.Expert) string {
	switch own, _ := a.pool.Own(x.ID); a.pool.SourceOf(x.ID) {
	case spec.Server:
		return served
	case spec.Answered:
		return "answers " + own.Answers.SHA256
	}
	return a.source
}

// served is the source of what real servers answered.
const served = "http"

// experts returns the client that asks the experts, starting the server of a simulated pool first.
func (a *Asker) experts(ctx context.Context) (experts.Pool, error) {
	if a.client != nil {
		return a.client, nil
	}
	endpoints, err := a.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(slices.Clone(endpoints), func(e experts.Endpoint) bool { return a.pool.SourceOf(e.ID) == spec.Answered })
	o := a.httpOptions()
	o.KeyHost = "" // the experts of a pool have one, or else name their keys
	client, err := a.connect(ctx, asked, o)
	if err != nil {
		return nil, err
	}
	a.client = client
	if err := a.startRun(ctx); err != nil {
		return nil, err
	}
	for url, version := range client.Versions() {
		a.rollouts.Serves(url, version)
	}
	return client, nil
}

// Noted notes what a server that is no expert calls itself.
func (a *Asker) Noted(ctx context.Context, url, version string) error {
	if err := a.startRun(ctx); err != nil {
		return err
	}
	a.rollouts.Serves(url, version)
	return nil
}

// startRun notes who asks from now on.
func (a *Asker) startRun(ctx context.Context) error {
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.started {
		return nil
	}
	a.started = true
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	return a.rollouts.StartRun(ctx, store.Run{Name: a.plan.Spec.Experiment.Name, Command: strings.Join(os.Args, " "), PID: os.Getpid(), Host: host, Started: time.Now()})
}

// connect returns a client of servers that were found to serve what they are to be asked for.
func (a *Asker) connect(ctx context.Context, endpoints []experts.Endpoint, o experts.HTTPOptions) (*experts.HTTP, error) {
	client, err := experts.NewHTTP(endpoints, o)
	if err != nil {
		return nil, err
	}
	a.keyHost = cmp.Or(a.keyHost, client.KeyHost())
	show := a.plan.Options.Progress.Start("looking at servers of models", len(endpoints))
	defer show.Done()
	limited, done := a.plan.Options.Budget.Limit(ctx)
	defer done()
	// A server that is down when a run begins is said to be so at once, unless the pool says how long it may take to load.
	if err := client.Preflight(limited, o.ServerWait); err != nil {
		client.Close()
		if why := context.Cause(limited); errors.Is(why, cost.ErrSpent) {
			err = a.spent(fmt.Errorf("%w, and not all servers were looked at", why))
		}
		return nil, err
	}
	return client, nil
}

// spent says that a budget ended a run.
func (a *Asker) spent(why error) error {
	usd, tokens := a.plan.Options.Budget.Spent()
	return fmt.Errorf("%w: %w; all in all %.4g dollars and %d tokens were spent; what was answered is kept, and the same command with another budget goes on", steps.ErrIncomplete, why, usd, tokens)
}

func (a *Asker) httpOptions() experts.HTTPOptions {
	o := experts.HTTPOptions{Concurrency: a.plan.Spec.Experiment.Profile.Concurrency, Key: a.plan.Options.Key, KeyHost: a.keyHost, Log: a.plan.Options.Log, Transport: a.plan.Options.Transport}
	for _, x := range experts.Endpoints(a.pool.Pool, a.pool.Members()) {
		if u, err := url.Parse(x.URL); x.KeyEnv == "" && x.URL != "" && err == nil {
			o.KeyHost = u.Hostname() // and not the host of a row that asks a server of its own
		}
	}
	return o.Timing(a.pool.Asking)
}

// endpoints returns the members of the pool at their addresses; simulated ones answer in this process.
func (a *Asker) endpoints(ctx context.Context) ([]experts.Endpoint, error) {
	all := experts.Endpoints(a.pool.Pool, a.pool.Members())
	if a.Sim == nil {
		return all, nil
	}
	if a.handler == nil {
		if err := a.Known(ctx, a.known.Add); err != nil {
			return nil, err
		}
		a.handler = sim.NewServer(a.Sim, vllm.Options{Log: a.plan.Options.Log})
	}
	for i, e := range all {
		if a.pool.SourceOf(e.ID) == spec.Simulated {
			all[i] = experts.Endpoint{Expert: e.Expert, URL: sim.Address, Handler: a.handler, Whole: true} // at once, so that nothing is gained by a stream
		}
	}
	return all, nil
}

// Scope is the part of a rollout's key that all rollouts of an expert share.
func (a *Asker) Scope(x routing.Expert, split routing.Split) store.Scope {
	return scope(a.sourceOf(x), x, x.Sampling, split)
}

// scope is where what a model says is stored: under all that can change it.
func scope(source string, x routing.Expert, s spec.Sampling, split routing.Split) store.Scope {
	return store.Scope{
		Source: source, Model: x.Model, Revision: x.Revision, Prompt: s.Prompt,
		Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MaxTokens: x.MaxTokens, Split: split,
		MinP: s.MinP, System: s.System, Stop: string(s.Stop), TemplateKwargs: string(s.TemplateKwargs),
		ReasoningEffort: s.ReasoningEffort, LeaveOut: string(s.LeaveOut),
	}
}

// Serve answers on l for the simulated experts and routers of the pool until ctx ends. ready is called with the names of
// the models once the problems are there.
func (a *Asker) Serve(ctx context.Context, l net.Listener, s Serving, ready func(models []string)) error {
	if err := a.Known(ctx, a.known.Add); err != nil {
		return err
	}
	pool := sim.Join(a.Sim, sim.NewRouters(a.Sim, a.pool.Simulation.Routers, a.known.Lookup))
	var models []string
	for _, x := range pool.Experts() {
		models = append(models, x.Model)
	}
	log := a.plan.Options.Log
	var h http.Handler = sim.NewServer(pool, vllm.Options{Key: s.Key, Reasoning: s.Reasoning, Log: log})
	if s.Wrap != nil {
		h = s.Wrap(h)
	}
	ready(models)
	return sim.Serve(ctx, l, h, log)
}

// Serving says how models are served.
type Serving struct {
	Key       string                          // what clients must send as bearer token; empty: nothing
	Reasoning bool                            // thinking is sent apart from the text
	Wrap      func(http.Handler) http.Handler // what stands before the server, called once; nil: nothing
}
