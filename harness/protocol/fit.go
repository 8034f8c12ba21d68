// Fits and matches: the steps that train a row and write what it decides.

package protocol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// covers says whether the row can be scored on an arena: hindsight needs answers, and the large arena has
// probabilities.
func (f *fit) covers(a *arena) bool { return !f.hindsight || a.Name != metrics.LargeArena }

// newFit plans a fit.
func (e *experiment) newFit(row spec.Method, s uint64) (*fit, error) {
	method, err := e.newMethod(row, asking.Servers{Asker: e.asker}, e.ids, e.asker.Embed)
	if err != nil {
		return nil, err
	}
	p := e.Params(e.pool)
	p.Method(row, method)
	p.Seeds(s)
	p.Spec("large")
	p.Runs(e.Spec.Experiment.Test...) // a decision is made for each
	if methods.Knob(row.Name) {
		p.Code("sweep", true) // the entry has the sweep of the router's knob
	}
	_, asks := method.(methods.Asking)
	var simulated []string
	for _, m := range methods.Endpoints(method) {
		if _, err := e.asker.RouterSource(m); err != nil {
			return nil, fmt.Errorf("row %s: %w", row.RowID(), err)
		}
		if m.URL == "" {
			simulated = append(simulated, m.Model)
		}
	}
	if simulated != nil {
		p.Routers(simulated...)
	}
	e.taught(p, method)
	var inputs []steps.Input
	if e.sftProfile != nil {
		inputs = append(inputs, e.sftProfile.As("profile/sft"))
		if e.rlProfile != nil {
			inputs = append(inputs, e.rlProfile.As("profile/rl"))
		}
		if train := &e.Spec.Experiment.Train; train.Again(train.RL.Size) > 0 {
			p.Spec("train.rl.size", "train.seen")
		}
	} else {
		p.Experts(e.pool.Experts, "model") // which a profile has: decisions name them by their order, that of their prices
	}
	for _, a := range e.arenas {
		inputs = append(inputs, a.problemInputs()...)
	}
	f := &fit{e: e, row: row, seed: s, method: method, asking: asks}
	if _, f.hindsight = method.(routing.HindsightRouter); f.hindsight {
		for _, a := range e.arenas {
			if f.covers(a) {
				inputs = append(inputs, a.outcomeInputs()...)
			}
		}
	}
	f.Step, err = e.Add(fmt.Sprintf("fit %s seed=%d", row.RowID(), s), "fit", fitVersion, p, inputs, f.run)
	if err != nil {
		return nil, err
	}
	f.Row, f.Fits, f.Asking = cmp.Or(f.Row, &f.row), 1, asks
	one, two := e.Spec.Experiment.Train.SFT.Size, e.Spec.Experiment.Train.RL.Size
	if n := row.Train; n > 0 {
		one, two = min(one, n), min(two, n)
	}
	e.takes(f.Step, method, 1, one, two, e.questions())
	if teacher, ok := methods.TeacherOf(method); ok {
		f.Asks = func(_ context.Context, counted []*explain.Step) (explain.Asked, error) {
			return f.lessons(teacher, counted), nil
		}
	}
	return f, nil
}

// taught adds who teaches a row and who writes for it.
func (c *fitting) taught(p *steps.Params, method routing.Method) {
	if _, taught := methods.TeacherOf(method); taught {
		p.Spec("teacher.model", "teacher.revision", "teacher.temperature", "teacher.top_p", "teacher.max_tokens", "teacher.attempts")
	}
	if by := methods.WrittenBy(method, &c.Spec.Experiment); by != "" {
		p.Code("written_by", by)
	}
}

// lessons are what a teacher is asked for at most: two rationales a problem of Stage I, each as often as the spec allows. Rows share them.
func (f *fit) lessons(teacher experts.Endpoint, counted []*explain.Step) (a explain.Asked) {
	for _, g := range slices.Concat(f.e.fits...) {
		if t, ok := methods.TeacherOf(g.method); ok && t.Model == teacher.Model && slices.Contains(counted, &g.Step.Step) {
			return a
		}
	}
	x := &f.e.Spec.Experiment
	n := x.Train.SFT.Size
	if f.row.Train > 0 {
		n = min(n, f.row.Train)
	}
	a = explain.Asked{Rollouts: 2 * n * x.Teacher.Attempts, AtMost: true}
	if teacher.URL != "" {
		a.Tokens, a.USD = asking.Unmeasured(teacher.Expert).Times(a.Rollouts, teacher.Price)
		a.Bound, a.Unpaced = true, map[string]float64{teacher.Model: a.Tokens}
	}
	return a
}

// The inputs of a match.
const (
	inputFit   = "fit"                         // whose knob is set
	inputMatch = explain.RootMethod + ".match" // who spends what it is set to
)

// newMatch plans the match of a fit to another row's spending.
func (e *experiment) newMatch(row spec.Method, s uint64, unmatched, to *fit) (*fit, error) {
	if !methods.Knob(row.Name) {
		return nil, fmt.Errorf("%w: row %s: method %s has no knob that could be set to the cost of row %s; leave match out", spec.ErrUsage, row.RowID(), row.Name, row.Match)
	}
	f := &fit{e: e, row: row, seed: s, unmatched: unmatched, matched: to}
	p := e.Params(e.pool)
	p.Pick(explain.RootMethod, row, "match")
	var err error
	f.Step, err = e.Add(fmt.Sprintf("match %s seed=%d", row.RowID(), s), "match", matchVersion, p, []steps.Input{unmatched.As(inputFit), to.As(inputMatch)}, f.match)
	if err != nil {
		return nil, err
	}
	f.Row, f.Amount = cmp.Or(f.Row, &f.row), float64(e.questions())
	return f, nil
}

// takes says what some fits of a row take that each learn from so many problems of the two stages and then decide about others.
func (c *fitting) takes(s *steps.Step, method routing.Method, fits, one, two, decides int) {
	s.Amount = float64(fits * (one + two + decides))
	s.Unpaced = slices.ContainsFunc(methods.Endpoints(method), func(m experts.Endpoint) bool { return m.URL != "" })
	if trains := methods.TraitsOf(method).Network; trains != nil {
		network := trains(len(c.pool.Experts))
		s.Training = float64(fits) * network.Seconds(network.Effort(one, two), one+two+decides)
		s.Unpaced = s.Unpaced || network.Backend == "xla" || network.Writes > 0
	}
}

// learns is the part of the training set that the row may learn from.
func (f *fit) learns(all *routing.TrainSet) *routing.TrainSet {
	set := *all
	if n := f.row.Train; n > 0 {
		set.SFT, set.RL = set.SFT[:min(n, len(set.SFT))], set.RL[:min(n, len(set.RL))]
	}
	return &set
}

// router returns the router of the row, its knob set: the stored fit's, if there is one and the method can load it, and
// one fitted now otherwise, as of stores that are older than what its method keeps. Training problems are read for what
// is fitted or matched now. What a fit leaves goes to dir, nowhere if it is empty. done frees the router.
func (f *fit) router(ctx context.Context, dir string) (router routing.Router, done func(), err error) {
	if f.unmatched != nil {
		if router, done, err = f.unmatched.router(ctx, dir); err != nil {
			return nil, done, err
		}
		frontier, ok := router.(routing.Frontier)
		if !ok {
			return nil, done, f.noKnob()
		}
		setting, err := f.setting(ctx, frontier)
		if err != nil {
			return nil, done, err
		}
		return setting.Router(frontier), done, nil
	}
	again := func() (routing.Router, func(), error) {
		all, err := f.e.trainSet(ctx)
		if err != nil {
			return nil, func() {}, err
		}
		return f.train(ctx, all, f.work(dir))
	}
	loader, ok := f.method.(methods.Loader)
	if !ok {
		return again()
	}
	entry, err := f.e.Store.Get(f.Recipe)
	switch {
	case errors.Is(err, store.ErrMissing):
		return again()
	case err == nil:
		report, bad := book.ReadFit(entry)
		if bad != nil {
			err = bad
			break
		}
		if report.Unfit != "" {
			return nil, func() {}, fmt.Errorf("%w: row %s could not be fitted: %s; name another row, or give it other training problems", spec.ErrUsage, f.row.RowID(), report.Unfit)
		}
		router, err = loader.Load(ctx, f.e.pool.Experts, entry.Dir, f.work(dir))
		if err == nil {
			return router, closer(router), nil
		}
		if errors.Is(err, predict.ErrNotLearned) {
			return again()
		}
		err = &store.CorruptError{Key: entry.Key, Dir: entry.Dir, Faults: []string{err.Error()}}
	}
	return nil, func() {}, &steps.Error{Step: f.Name, Err: f.e.Lost(f.Step, err)}
}

// setting is where the knob of a match stands: by the sweep that is stored with the fit, or else by that of its router,
// which reads the training problems.
func (f *fit) setting(ctx context.Context, frontier routing.Frontier) (s routing.Setting, err error) {
	to, err := f.matched.report(ctx)
	if err != nil {
		return s, err
	}
	if _, err := f.e.Store.Get(f.unmatched.Recipe); err != nil {
		all, err := f.e.trainSet(ctx)
		if err != nil {
			return s, err
		}
		return routing.Settle(ctx, frontier, f.learns(all).RL, to.TrainUSD)
	}
	dollars, err := f.e.stageTwo(ctx, (*profile).dollars)
	if err != nil {
		return s, err
	}
	set := f.learns(&routing.TrainSet{RL: dollars})
	train, err := f.unmatched.sweep(ctx, trainSweep, routing.Queries(set.RL))
	if err != nil {
		return s, err
	}
	if train == nil {
		return s, f.noKnob()
	}
	if s, err = routing.Settle(ctx, newReplayed(len(f.e.pool.Experts), train), set.RL, to.TrainUSD); err != nil {
		return s, err
	}
	knobs := frontier.Knobs() // a replayed router counts them
	s.Cheap, s.Dear = knobs[int(s.Cheap)], knobs[int(s.Dear)]
	return s, nil
}

// train fits the row on its part of the training set. done frees the router.
func (f *fit) train(ctx context.Context, all *routing.TrainSet, work routing.Work) (router routing.Router, done func(), err error) {
	router, err = f.method.Fit(ctx, *f.learns(all), work)
	if err != nil {
		return nil, func() {}, err
	}
	return router, closer(router), nil
}

func (f *fit) work(dir string) routing.Work {
	return routing.Work{Seed: seed.Seed(f.seed), Dir: dir, Log: f.e.Options.Log}
}

// closer frees a router.
func closer(router routing.Router) func() {
	if c, ok := router.(io.Closer); ok {
		return func() { c.Close() }
	}
	return func() {}
}

func (f *fit) noKnob() error {
	return fmt.Errorf("match: method %s has no knob with these parameters that could be set to another row's cost; leave match out", f.row.Name)
}

// reads reads what a fit or a match works on: the training set, the queries of every arena and, for hindsight, what the experts did on
// them. Fits share it, so one at a time reads.
func (f *fit) reads(ctx context.Context) (all *routing.TrainSet, err error) {
	f.e.reading.Lock()
	defer f.e.reading.Unlock()
	if all, err = f.e.trainSet(ctx); err != nil {
		return nil, err
	}
	for _, a := range f.e.arenas {
		switch {
		case f.hindsight && f.covers(a):
			err = a.loadOutcomes(ctx)
		default:
			err = a.loadQueries(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// run makes a fit.
func (f *fit) run(ctx context.Context, d *store.Draft) error {
	e := f.e
	done, err := e.begin(ctx, f.method)
	if err != nil {
		return err
	}
	defer done()
	all, err := f.reads(ctx)
	if err != nil {
		return err
	}
	work := f.work(d.Dir())
	work.Unfinished, work.Every, work.Say = d.Unfinished(), e.Options.Every, f.Say
	router, free, err := f.train(ctx, all, work)
	defer free()
	if unfit := (*routing.Unfit)(nil); errors.As(err, &unfit) {
		return f.unfit(d, unfit.Why)
	}
	if err != nil {
		return err
	}
	var report book.Fit
	hindsight, knows := router.(routing.HindsightRouter)
	if knows != f.hindsight {
		return fmt.Errorf("method %s: the method and its router must both be a routing.HindsightRouter or neither: the recipe of a fit that reads outcomes names them", f.row.Name)
	}
	frontier, sweeps := router.(routing.Frontier)
	if sweeps && !methods.Knob(f.row.Name) {
		return fmt.Errorf("method %s: its router has a knob and the list of methods says it has none: the recipe of a fit that stores a sweep says so", f.row.Name)
	}
	if !knows && !f.asking && e.sftProfile != nil {
		if report.TrainUSD, err = routing.Spend(ctx, router, f.learns(all).RL); err != nil {
			return err
		}
	}
	var ms map[string]float64
	if methods.TraitsOf(f.method).ChoosesByLM() {
		ms = map[string]float64{}
	}
	for _, a := range e.arenas {
		if !f.covers(a) {
			continue
		}
		var decisions []routing.Decision
		began := time.Now()
		if knows {
			decisions, err = hindsight.RouteKnowing(ctx, a.Queries, a.Outcomes)
		} else {
			decisions, err = router.Route(ctx, a.Queries)
		}
		if err != nil {
			return err
		}
		if ms != nil {
			ms[a.Name] = time.Since(began).Seconds() * 1000 / float64(texts(a.Queries))
		}
		if err := book.WriteDecisions(d, a.Name, len(e.pool.Experts), decisions); err != nil {
			return err
		}
		if r, ok := router.(methods.Reporter); ok {
			if counted := r.Report(); counted != nil {
				if report.Router == nil {
					report.Router = map[string][]metrics.Value{}
				}
				report.Router[a.Name] = counted
			}
		}
		if sweeps {
			if err := writeSweep(ctx, d, a.Name, frontier, a.Queries); err != nil {
				return err
			}
		}
	}
	if sweeps {
		report.Knobs = frontier.Knobs()
		if err := writeSweep(ctx, d, trainSweep, frontier, routing.Queries(f.learns(all).RL)); err != nil {
			return err
		}
	}
	if ms != nil {
		book.NoteRouterMS(d, ms)
	}
	return report.Write(d)
}

// texts is how many different problems queries are about: a router that reads a problem decides once about it.
func texts(queries []routing.Query) int {
	seen := map[string]bool{}
	for _, q := range queries {
		seen[q.Problem.Text] = true
	}
	return len(seen)
}

// unfit leaves why the row could not be fitted, and nothing else.
func (f *fit) unfit(d *store.Draft, why string) error {
	f.e.Options.Log.Warn("a row could not be fitted", "row", f.row.RowID(), "why", why)
	return book.Fit{Unfit: why}.Write(d)
}

// match makes a match.
func (f *fit) match(ctx context.Context, d *store.Draft) error {
	e := f.e
	to, err := f.matched.report(ctx)
	if err != nil {
		return err
	}
	own, err := f.unmatched.report(ctx)
	switch {
	case err != nil:
		return err
	case own.Unfit != "":
		return f.unfit(d, own.Unfit)
	case to.Unfit != "":
		return f.unfit(d, "row "+f.row.Match+", to whose spending it is set, could not be fitted: "+to.Unfit)
	}
	done, err := e.begin(ctx, nil) // after the fits that it waits for
	if err != nil {
		return err
	}
	defer done()
	all, err := f.reads(ctx)
	if err != nil {
		return err
	}
	set := f.learns(all)
	train, err := f.unmatched.sweep(ctx, trainSweep, routing.Queries(set.RL))
	if err != nil {
		return err
	}
	if train == nil {
		return f.noKnob()
	}
	sweeps := []*book.Sweep{train}
	for _, a := range e.arenas {
		s, err := f.unmatched.sweep(ctx, a.Name, a.Queries)
		if err != nil {
			return err
		}
		sweeps = append(sweeps, s)
	}
	router, err := routing.Match(ctx, newReplayed(len(e.pool.Experts), sweeps...), set.RL, to.TrainUSD)
	if err != nil {
		return err
	}
	var report book.Fit
	if report.TrainUSD, err = routing.Spend(ctx, router, set.RL); err != nil {
		return err
	}
	for _, a := range e.arenas {
		decisions, err := router.Route(ctx, a.Queries)
		if err != nil {
			return err
		}
		decided, err := f.unmatched.decisions(ctx, a)
		if err != nil {
			return err
		}
		for i := range decisions {
			decisions[i].Usage = decided[i].Usage // what the router itself reads and writes does not depend on its knob
		}
		if err := book.WriteDecisions(d, a.Name, len(e.pool.Experts), decisions); err != nil {
			return err
		}
	}
	return report.Write(d)
}

// writeSweep sweeps a router over queries.
func writeSweep(ctx context.Context, d *store.Draft, name string, f routing.Frontier, queries []routing.Query) error {
	s, err := sweepOf(ctx, f, queries)
	if err != nil {
		return err
	}
	return s.Write(d, name)
}

// sweep reads the choices of a fit at every setting of its knob; nil if its router has none.
func (f *fit) sweep(ctx context.Context, name string, queries []routing.Query) (*book.Sweep, error) {
	report, err := f.report(ctx)
	if err != nil || report.Knobs == nil {
		return nil, err
	}
	entry, err := f.e.Get(ctx, f.Step)
	if err != nil {
		return nil, err
	}
	return book.ReadSweep(entry, name, queries, len(report.Knobs), len(f.e.pool.Experts))
}

func (f *fit) report(ctx context.Context) (r book.Fit, err error) {
	entry, err := f.e.Get(ctx, f.Step)
	if err != nil {
		return r, err
	}
	return book.ReadFit(entry)
}

// decisions reads the decisions on an arena, in the order of its queries.
func (f *fit) decisions(ctx context.Context, a *arena) ([]routing.Decision, error) {
	entry, err := f.e.Get(ctx, f.Step)
	if err != nil {
		return nil, err
	}
	return book.ReadDecisions(entry, a.Name, a.Queries, len(f.e.pool.Experts))
}

// fitInputs are the trainings of rows, with the fit behind each match, and adds their seeds.
func fitInputs(p *steps.Params, rows ...[]*fit) (inputs []steps.Input) {
	var seeds []uint64
	for _, f := range slices.Concat(rows...) {
		inputs = append(inputs, f.As(book.OfRow("fit", f.row.RowID(), f.seed)))
		if f.unmatched != nil {
			inputs = append(inputs, f.unmatched.As(book.OfRow("sweep", f.row.RowID(), f.seed)))
		}
		if !slices.Contains(seeds, f.seed) {
			seeds = append(seeds, f.seed)
		}
	}
	p.Seeds(seeds...)
	return inputs
}
