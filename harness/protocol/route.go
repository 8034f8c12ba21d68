// Routing of new problems by a row of an experiment.

package protocol

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// Routed is the decision of a fitted router on one problem.
type Routed struct {
	ID     string             `json:"id"`
	Run    int                `json:"run,omitempty"`
	Expert string             `json:"expert"`           // whose answer stands: the likeliest where the row flips a coin; "self": the router's own
	Model  string             `json:"model,omitempty"`  // name that its server knows it by, which is that of the outcomes; empty: the router's own answer
	Calls  []string           `json:"calls,omitempty"`  // experts asked on the way, by routers that may ask several
	Prob   map[string]float64 `json:"prob"`             // of every expert, sums to 1, to less where the router may answer itself
	Answer string             `json:"answer,omitempty"` // of a router that has talked to the experts
	USD    float64            `json:"usd"`              // expected: what the experts asked cost a question on the training problems, the mean over the coin where the row flips one; what the calls cost where there is an answer

	Tokens int64   `json:"tokens,omitempty"` // a language model's: its prompt and the letter
	MS     float64 `json:"ms,omitempty"`     // a language model's: milliseconds of the whole call a query, compiling included
}

// By says which router decides, and where it stands.
type By struct {
	Row    string  // id
	Budget float64 // percent of the dearest expert's dollars on the training problems that the row's knob is set to spend there; 0: the row stands where it is
	Dir    string  // where the router leaves what it leaves: checkpoint, curves, trajectories of a served policy; empty: nowhere
}

// Route routes queries by the router of one row of an experiment. A trained router is loaded from its stored fit. A row
// whose fit is not stored or left nothing to load, or whose kind is no methods.Loader, is fitted, which makes again the
// router of its run byte for byte. Profiles are read from the store and measured first if it does not have them.
//
// Under protocol folds the row is fitted to all questions of the pool, of which the spec must have one, and stored.
func Route(ctx context.Context, r *spec.Resolved, o steps.Options, by By, queries []routing.Query) ([]Routed, error) {
	o.Beside = true
	if r.Experiment.Protocol == "folds" {
		return routeRecorded(ctx, r, o, by, queries)
	}
	if err := oneRouter(r); err != nil {
		return nil, err
	}
	run, err := newSplit(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	f, err := run.split.routable(by.Row)
	if err != nil {
		return nil, err
	}
	return run.split.route(ctx, f, by, queries)
}

// Server is an OpenAI-compatible server that has an exported router.
type Server struct {
	URL   string // base URL, ending in /v1
	Model string // name that the server knows it by; empty: the only one that it serves
}

// RouteOnServer is Route by a server to which the language model of the row was exported. The stored fit is not read. A
// server that does not say how likely the letters of the experts are is an error.
func RouteOnServer(ctx context.Context, r *spec.Resolved, o steps.Options, row string, server Server, queries []routing.Query) ([]Routed, error) {
	o.Beside = true
	if err := oneRouter(r); err != nil {
		return nil, err
	}
	if err := experts.CheckURL(server.URL); err != nil {
		return nil, fmt.Errorf("%w: server: %w", spec.ErrUsage, err)
	}
	run, err := newSplit(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	e := run.split
	f, err := e.languageModel(row)
	if err != nil {
		return nil, err
	}
	client, at, err := server.connect(ctx, o.Filled())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	method, ok := f.method.(methods.Servable)
	if !ok {
		return nil, fmt.Errorf("%w: row %s cannot be asked behind a server", spec.ErrUsage, row)
	}
	router, err := method.OnServer(client, at, o.Key, e.pool.Experts, f.work(""))
	if err != nil {
		return nil, err
	}
	return e.decide(ctx, f, router, queries)
}

// exportedRouter is the id of the endpoint that has an exported router.
const exportedRouter = "exported router"

// connect returns a client of a server that was found to serve the model, and where that is. A server that is down at the beginning
// is asked once.
func (s Server) connect(ctx context.Context, o steps.Options) (*experts.HTTP, experts.Endpoint, error) {
	client := func(model string, wait time.Duration) (*experts.HTTP, experts.Endpoint, error) {
		at := experts.Endpoint{Expert: routing.Expert{ID: exportedRouter, Model: model}, URL: s.URL}
		c, err := experts.NewHTTP([]experts.Endpoint{at}, experts.HTTPOptions{Key: o.Key, Log: o.Log, ServerWait: wait})
		return c, at, err
	}
	first, at, err := client(s.Model, -1)
	if err != nil {
		return nil, at, err
	}
	defer first.Close()
	if s.Model != "" {
		if err := first.Preflight(ctx, -1); err != nil {
			return nil, at, err
		}
		return client(s.Model, 0)
	}
	names, err := first.Served(ctx)
	if err != nil {
		return nil, at, err
	}
	if len(names) == 0 {
		return nil, at, fmt.Errorf("%w: %s lists no model: say with --model which one it has", spec.ErrUsage, s.URL)
	}
	if len(names) != 1 {
		return nil, at, fmt.Errorf("%w: %s serves %d models (%s): say which one with --model", spec.ErrUsage, s.URL, len(names), strings.Join(names, ", "))
	}
	return client(names[0], 0)
}

// languageModel is the fit of a row whose policy is a language model, with its first seed.
func (e *experiment) languageModel(row string) (*fit, error) {
	f, err := e.routable(row)
	if err != nil {
		return nil, err
	}
	switch traits := methods.RowTraits(f.row, &e.Spec.Experiment); {
	case traits.LM == nil:
		return nil, fmt.Errorf("%w: row %s is no language model; name a row whose policy is of kind lm", spec.ErrUsage, row)
	case traits.Asker != nil:
		return nil, fmt.Errorf("%w: row %s is a language model that asks several experts, which keeps no checkpoint to export or serve; name a row that chooses once", spec.ErrUsage, row)
	}
	return f, nil
}

// oneRouter refuses an experiment whose rows are not one router a training seed.
func oneRouter(r *spec.Resolved) error {
	switch r.Experiment.Protocol {
	case "folds":
		return fmt.Errorf("%w: spec %s has protocol folds, whose routers are one in each fold and not kept; name a spec with protocol split", spec.ErrUsage, r.Experiment.Name)
	case "collapse":
		return fmt.Errorf("%w: spec %s has protocol collapse, whose policies read no problems; name a spec with protocol split", spec.ErrUsage, r.Experiment.Name)
	}
	return nil
}

// routable is the fit of a row, with its first seed, if it can decide about new problems.
func (e *experiment) routable(row string) (*fit, error) {
	i, err := routableRow(&e.Spec.Experiment, row)
	if err != nil {
		return nil, err
	}
	return e.fits[i][0], nil
}

// routableRow is the index of a row that can decide about new problems.
func routableRow(x *spec.Experiment, row string) (int, error) {
	var ids []string
	for i, m := range x.Methods {
		ids = append(ids, m.RowID())
		if m.RowID() != row {
			continue
		}
		if methods.Hindsight(m.Name) {
			return 0, fmt.Errorf("%w: row %s reads the outcomes of what it routes; name a router", spec.ErrUsage, row)
		}
		return i, nil
	}
	return 0, fmt.Errorf("%w: spec %s has no row %q%s", spec.ErrUsage, x.Name, row, spec.Options(row, ids))
}

// routeRecorded is Route by a row of recorded answers.
func routeRecorded(ctx context.Context, r *spec.Resolved, o steps.Options, by By, queries []routing.Query) ([]Routed, error) {
	x := &r.Experiment
	i, err := routableRow(x, by.Row)
	switch {
	case err != nil:
		return nil, err
	case len(r.Pools) != 1:
		return nil, fmt.Errorf("%w: spec %s has %d pools; name a spec of one, such as {name: mine, base: %[2]s.yaml, pools: [%[4]s]}", spec.ErrUsage, x.Name, len(r.Pools), r.Pools[0].Name)
	case len(x.Evaluate.Seeds) == 0 || len(x.Folds.Seeds) == 0:
		return nil, fmt.Errorf("%w: spec %s has no training seed or no partition", spec.ErrUsage, x.Name)
	case o.Data == "":
		return nil, fmt.Errorf("%w: spec %s reads recorded outcomes; say in which folder with --data DIR", spec.ErrUsage, x.Name)
	}
	run, err := begin(r, o)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	c, err := openRecorded(ctx, run, &recording.Reader{Folder: run.Options.Data}, r.Pools[0])
	if err != nil {
		return nil, err
	}
	w, err := c.whole(x.Methods[i])
	if err != nil {
		return nil, err
	}
	router, done, err := w.router(ctx, by.Dir)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := knownBenchmarks(by.Row, router, queries); err != nil {
		return nil, err
	}
	usd := meanDollars(c.pool.Experts, w.set.RL)
	if router, err = by.within(ctx, router, w.set.RL, usd); err != nil {
		return nil, err
	}
	return decided(ctx, x, w.row, c.pool.Experts, usd, router, queries)
}

// knownBenchmarks fails on a query of which a router that decides by benchmarks does not know the benchmark: it would decide about all such
// queries alike.
func knownBenchmarks(row string, router routing.Router, queries []routing.Query) error {
	of, ok := router.(routing.Benchmarked)
	if !ok {
		return nil
	}
	names := of.Benchmarks()
	for _, q := range queries {
		if len(names) > 1 && !slices.Contains(names, q.Problem.Benchmark) {
			return fmt.Errorf("%w: problem %s: \"benchmark\" is %q; row %s decides by it alone and knows %s", spec.ErrUsage, q.Problem.ID, q.Problem.Benchmark, row, strings.Join(names, ", "))
		}
	}
	return nil
}

// within is a router with its knob set to the budget, on examples that cost each expert usd [M] on average. It says that the row has none, or
// none that spends so little.
func (by By) within(ctx context.Context, router routing.Router, examples []routing.Example, usd []float64) (routing.Router, error) {
	if by.Budget == 0 {
		return router, nil
	}
	frontier, ok := router.(routing.Frontier)
	if !ok {
		return nil, fmt.Errorf("%w: row %s has no knob that a budget could set; leave the budget out, or name another row", spec.ErrUsage, by.Row)
	}
	dearest := usd[len(usd)-1]
	setting, err := routing.Settle(ctx, frontier, examples, by.Budget/100*dearest)
	if err != nil {
		return nil, err
	}
	router = setting.Router(frontier)
	if setting.Share == 0 { // no setting spends more, or none as little
		spent, err := routing.Spend(ctx, router, examples)
		if err != nil {
			return nil, err
		}
		if least := 100 * spent / dearest; least > by.Budget*(1+1e-9) {
			return nil, fmt.Errorf("%w: --budget %v: row %s spends at least %.1f%% of what the dearest expert costs; give that or more", spec.ErrUsage, by.Budget, by.Row, math.Ceil(10*least-1e-6)/10)
		}
	}
	return router, nil
}

// route is Route with a fit.
func (e *experiment) route(ctx context.Context, f *fit, by By, queries []routing.Query) ([]Routed, error) {
	router, done, err := f.router(ctx, by.Dir)
	defer done()
	if err == nil && by.Budget != 0 {
		router, err = e.within(ctx, by, router)
	}
	if err != nil {
		return nil, err
	}
	return e.decide(ctx, f, router, queries)
}

// within sets the knob of a router on the problems of Stage II.
func (e *experiment) within(ctx context.Context, by By, router routing.Router) (routing.Router, error) {
	if e.sftProfile == nil {
		return nil, e.unpriced(by.Row)
	}
	train, err := e.trainSet(ctx)
	if err != nil {
		return nil, err
	}
	return by.within(ctx, router, train.RL, meanDollars(e.pool.Experts, train.RL))
}

// unpriced says that what a question costs is not known.
func (e *experiment) unpriced(row string) error {
	return fmt.Errorf("%w: row %s: no row of experiment %s looks at a training problem, so what a question costs was not measured; route by an experiment with a trained row", spec.ErrUsage, row, e.Spec.Experiment.Name)
}

// decide routes queries by a router of a fit.
func (e *experiment) decide(ctx context.Context, f *fit, router routing.Router, queries []routing.Query) ([]Routed, error) {
	if e.sftProfile == nil {
		return nil, e.unpriced(f.row.RowID())
	}
	usd, err := e.meanDollars(ctx)
	if err != nil {
		return nil, err
	}
	return decided(ctx, &e.Spec.Experiment, f.row, e.pool.Experts, usd, router, queries)
}

// decided routes queries by the router of a row, of which it makes some at a time where that is nothing to it: what it makes of a text
// takes many times the room of the text. usd [M] is what a question costs each expert of the pool.
func decided(ctx context.Context, x *spec.Experiment, row spec.Method, pool []routing.Expert, usd []float64, router routing.Router, queries []routing.Query) ([]Routed, error) {
	reads := methods.RowTraits(row, x).ChoosesByLM()
	atOnce := len(queries)
	if routing.Independent(router) && !reads { // a language model reads texts of like length together
		atOnce = weighedAtOnce
	}
	out := make([]Routed, 0, len(queries))
	start := time.Now()
	for some := range slices.Chunk(queries, max(atOnce, 1)) {
		decisions, err := router.Route(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, d := range decisions {
			out = append(out, inWords(x, pool, usd, some[i], d, reads))
		}
	}
	if reads {
		ms := float64(time.Since(start).Microseconds()) / 1000 / float64(len(queries))
		for i := range out {
			out[i].MS = ms
		}
	}
	return out, nil
}

// inWords says what was decided about a query, by the ids of experts; reads: by a language model.
func inWords(x *spec.Experiment, pool []routing.Expert, usd []float64, q routing.Query, d routing.Decision, reads bool) Routed {
	out := Routed{ID: q.Problem.ID, Run: q.Run, Prob: map[string]float64{}, Expert: routing.SelfID}
	chosen := d.Expert
	if chosen == routing.Expected {
		chosen = slices.Index(d.Prob, slices.Max(d.Prob))
	}
	if chosen != routing.Self {
		out.Expert, out.Model = pool[chosen].ID, pool[chosen].Model
	}
	for _, c := range d.Calls {
		out.Calls = append(out.Calls, pool[c.Expert].ID)
	}
	asked := d.Asked(len(pool))
	for m, expert := range pool {
		out.Prob[expert.ID] = d.Prob[m]
		out.USD += asked[m] * usd[m]
	}
	if reads {
		out.Tokens = d.Usage.In + d.Usage.Out
	}
	if d.Answer != nil {
		out.Answer, out.USD = d.Answer.Text, d.Paid(pool, x.CountInput)
	}
	return out
}
