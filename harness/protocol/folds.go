// Protocol folds: recorded pools under cross-validation, planned and carried out.

package protocol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/memory"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

const (
	crossFitVersion     = 4
	foldsMeasureVersion = 9
	recordingVersion    = 1
)

// defaultSeed is that of base.yaml.
const defaultSeed = 1

// recorded is one recorded pool under cross-validation.
type recorded struct {
	fitting
	embed   methods.Embed
	servers methods.Servers

	*outcomes
	again     int // questions that share the fold of another of their text
	partition []*partition
}

// partition is one assignment of the questions to folds.
type partition struct {
	seed uint64
	fold []int // [Q]
	rows []*crossFit
}

// crossFit is one row's decisions on every question, each made by a router that was fitted on the other folds.
type crossFit struct {
	*steps.Step
	row    spec.Method
	method routing.Method
	shown  bool // its trainings are, so that it keeps what they went through
}

// newFolds opens the store, reads the recordings and plans every step of protocol folds; it runs none.
func newFolds(ctx context.Context, r *spec.Resolved, o steps.Options) (*Run, error) {
	x := &r.Experiment
	switch {
	case len(x.Evaluate.Seeds) != 1 || x.Evaluate.MaxProblems != 0 || x.Evaluate.MaxRuns != 0:
		return nil, fmt.Errorf("%w: spec %s: protocol folds has one training seed (its partitions stand in for more), all questions and one run; set evaluate.seeds to one seed, max_problems and max_runs to 0", spec.ErrUsage, x.Name)
	case o.Data == "":
		return nil, fmt.Errorf("%w: spec %s reads recorded outcomes; say in which folder with --data DIR", spec.ErrUsage, x.Name)
	}
	for _, out := range x.Outputs {
		if err := present.Check(r, out); err != nil {
			return nil, err
		}
	}
	run, err := begin(r, o)
	if err != nil {
		return nil, err
	}
	partitions := "1 partition"
	if n := len(x.Folds.Seeds); n != 1 {
		partitions = fmt.Sprintf("%d partitions", n)
	}
	run.Head = []string{
		" " + x.Title + ".",
		metrics.InFolds(x.Folds.K) + fmt.Sprintf(", %s. Intervals: %g%% paired question bootstrap, %d resamples, stratified by benchmark, and partitions, as trainings that share their questions (Nadeau and Bengio).",
			partitions, 100*x.Evaluate.Confidence, x.Evaluate.Bootstrap),
		fmt.Sprintf(" Prices: %s, %s; every cost inherits them.", x.Prices, r.Prices.Basis),
	}
	for _, f := range r.Recordings() {
		run.Head = append(run.Head, metrics.MadeOf(f.Path, f.SHA256))
	}
	run.Questions = map[string]int{}
	files := &recording.Reader{Folder: run.Options.Data}
	for _, pool := range r.Pools {
		if err := planRecorded(ctx, run, files, pool); err != nil {
			run.Close()
			return nil, err
		}
	}
	return run, nil
}

// openRecorded reads the recording of a pool.
func openRecorded(ctx context.Context, run *Run, files *recording.Reader, pool spec.Pool) (*recorded, error) {
	if pool.Recorded == nil {
		return nil, fmt.Errorf("%w: pool %s is of kind %s; protocol folds needs recorded pools", spec.ErrUsage, pool.Name, pool.Kind)
	}
	members, err := steps.OpenPool(pool, run.Spec.Prices)
	if err != nil {
		return nil, err
	}
	c := &recorded{fitting: run.fitting(members, memory.New()), embed: run.embed(members), servers: servers{run, members}}
	if c.outcomes, err = readOutcomes(ctx, files, members, &run.Spec.Experiment); err != nil {
		return nil, err
	}
	c.again = askedAgain(c.problems)
	return c, c.lent()
}

// planRecorded reads the recording of a pool and plans its steps.
func planRecorded(ctx context.Context, run *Run, files *recording.Reader, pool spec.Pool) error {
	c, err := openRecorded(ctx, run, files, pool)
	if err != nil {
		return err
	}
	run.Questions[pool.Name] = len(c.problems)
	measured, err := c.plan()
	run.Measured = append(run.Measured, measured...)
	return err
}

// lent holds the recording to have the models that pass rates k5 are lent by.
func (c *recorded) lent() error {
	for _, row := range c.Spec.Experiment.Methods {
		if lenders := c.lenders(); c.kappa(row) == "k5" && lenders < spec.NearestModels {
			return fmt.Errorf("%w: experiment %s, row %s, pool %s: kappa k5 takes answers of %d models outside the pool, and its recording has %d; use kappa runs or 01",
				spec.ErrUsage, c.Spec.Experiment.Name, row.RowID(), c.pool.Name, spec.NearestModels, lenders)
		}
	}
	return nil
}

// ids are those of all questions by text. Of questions that share a text the first counts.
func (c *recorded) ids(context.Context) (map[string]string, error) {
	ids := map[string]string{}
	addIDs(ids, c.problems)
	return ids, nil
}

// plan lays out a cross-fit for each partition and row, and the measurements of the pool.
func (c *recorded) plan() (measured []*steps.Step, err error) {
	x := &c.Spec.Experiment
	if x.Folds.K > len(c.problems) {
		return nil, fmt.Errorf("%w: folds.k is %d, more than the questions of pool %s, %d; a fold has one at least", spec.ErrUsage, x.Folds.K, c.pool.Name, len(c.problems))
	}
	var trained []string // rows whose trainings are shown
	for _, o := range x.Outputs {
		trained = append(trained, present.WantsOf(o).Trainings...)
	}
	var inputs []steps.Input
	for _, s := range x.Folds.Seeds {
		p := &partition{seed: s, fold: folds(c.problems, x.Folds.K, s)}
		for _, row := range x.Methods {
			if row.Match != "" {
				return nil, fmt.Errorf("%w: row %s: protocol folds compares at every cost; leave match out", spec.ErrUsage, row.RowID())
			}
			if row.RowID() == x.Folds.Predictions && !methods.PredictsRates(row.Name) {
				return nil, fmt.Errorf("%w: folds.predictions: row %s predicts no pass rates; name one that does, of kind logistic for example", spec.ErrUsage, row.RowID())
			}
			method, err := c.method(row)
			if err != nil {
				return nil, err
			}
			f := &crossFit{row: row, method: method, shown: slices.Contains(trained, row.RowID())}
			params := c.labelled(row, method)
			if methods.Policy(row.Name) {
				params.Code("curve", true) // the entry has it, which those of older programs have not
			}
			if f.shown {
				params.Code("trainings", true)
			}
			if c.predicts(row) {
				params.Code("rates", true)
			}
			params.Spec("folds.k")
			params.Pick("", spec.Experiment{Folds: spec.Folds{Seeds: []uint64{s}}}, "folds.seeds")
			f.Step, err = c.Add(fmt.Sprintf("crossfit %s %s partition=%d", c.pool.Name, row.RowID(), s), "crossfit", crossFitVersion, params, nil,
				func(ctx context.Context, d *store.Draft) error { return c.crossFit(ctx, p, f, d) })
			if err != nil {
				return nil, err
			}
			f.Row, f.Fits = cmp.Or(f.Row, &f.row), x.Folds.K
			learned := len(c.problems) * (x.Folds.K - 1) / x.Folds.K
			if row.Train > 0 {
				learned = min(learned, row.Train)
			}
			c.takes(f.Step, method, x.Folds.K, learned, learned, len(c.problems)/x.Folds.K)
			p.rows = append(p.rows, f)
			inputs = append(inputs, f.As(book.OfRow("crossfit", row.RowID(), s)))
		}
		c.partition = append(c.partition, p)
	}
	what, err := c.planOutcomes(c.source())
	if err != nil {
		return nil, err
	}
	inputs = append(inputs, what.As(book.OfArena("outcomes", book.Recorded, "")))
	params := c.source()
	params.PoolName()
	params.Rows(x.Methods, "versus")
	params.Spec("folds.seeds", "folds.probe", "folds.whole", "folds.versus", "folds.predictions", "evaluate.bootstrap", "evaluate.confidence", "seed")
	all, err := planMeasured(c.Plan, "measure "+c.pool.Name, book.MeasureFoldsStage, foldsMeasureVersion, params, inputs, c.prepare, c.described(c.pool.Name))
	if err != nil {
		return nil, err
	}
	all.Amount = float64(x.Evaluate.Bootstrap * len(x.Methods) * len(c.problems) * len(x.Folds.Seeds))
	measured = append(measured, all)
	for _, o := range x.Outputs {
		rows := present.WantsOf(o).Trainings
		if rows == nil {
			continue
		}
		s, err := c.planCurves(c.source(), rows)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(measured, s) {
			measured = append(measured, s)
		}
	}
	return measured, nil
}

// source are the params of all that is read from the recording.
func (c *recorded) source() *steps.Params {
	p := c.Params(c.pool)
	p.Recorded()
	if c.again > 0 {
		p.Code("asked_again", c.again)
	}
	return p
}

// labelled are the params of what is fitted to labels of the recording: the row, the pool, and what the labels of a row are of.
func (c *recorded) labelled(row spec.Method, method routing.Method) *steps.Params {
	p := c.source()
	p.Method(row, method)
	p.Pick(explain.RootMethod, spec.Method{Kappa: c.kappa(row)}, "kappa")
	if knowsOthers(row) {
		p.Code("knows", "labels")
	}
	p.Spec("folds.probe")
	p.Seeds(c.Spec.Experiment.Evaluate.Seeds[0])
	c.taught(p, method)
	if len(methods.Endpoints(method)) > 0 && c.Spec.Experiment.Seed != defaultSeed { // the seed of what is asked; of the default stored recipes say nothing
		p.Spec("seed")
	}
	return p
}

// method is what a row is fitted with.
func (c *recorded) method(row spec.Method) (routing.Method, error) {
	if methods.AnswersItself(row.Name) {
		return nil, fmt.Errorf("%w: row %s may answer itself, and recordings hold no answers of a router; leave it out", spec.ErrUsage, row.RowID())
	}
	method, err := c.newMethod(row, c.servers, c.ids, c.embed)
	if err != nil {
		return nil, err
	}
	for _, m := range methods.Endpoints(method) {
		if m.URL == "" {
			return nil, fmt.Errorf("%w: row %s: model %q has no url, and recorded pools have no simulated routers; give it a url", spec.ErrUsage, row.RowID(), m.Model)
		}
	}
	return method, nil
}

// courseFile is where a cross-fit keeps what the training of a fold went through.
func courseFile(fold int) string { return fmt.Sprintf("curve-%d.csv", fold) }

// planCurves plans the measurement of what the trainings of some rows went through, each fold one training.
func (c *recorded) planCurves(p *steps.Params, ids []string) (*steps.Step, error) {
	rows, err := c.trained(ids)
	if err != nil {
		return nil, err
	}
	var inputs []steps.Input
	courses := make([][]course, len(rows))
	for k, i := range rows {
		for _, of := range c.partition {
			f := of.rows[i]
			inputs = append(inputs, f.As(book.OfRow("crossfit", f.row.RowID(), of.seed)))
			for fold := range c.Spec.Experiment.Folds.K {
				courses[k] = append(courses[k], course{f.Step, courseFile(fold), metrics.Key{Name: "fold", Value: fmt.Sprintf("%d.%d", of.seed, fold)}})
			}
		}
	}
	return c.fitting.planCurves("training curves "+c.pool.Name, p, rows, courses, inputs)
}

// planOutcomes plans the step that keeps what was recorded in the form of every other run: questions, what the experts of
// the pool did on them, and the folds of each partition.
func (c *recorded) planOutcomes(p *steps.Params) (*steps.Step, error) {
	p.Spec("folds.k", "folds.seeds", "folds.probe")
	s, err := c.Add("recording "+c.pool.Name, "recording", recordingVersion, p, nil, func(_ context.Context, d *store.Draft) error {
		var partitions []book.Partition
		for _, p := range c.partition {
			partitions = append(partitions, book.Partition{Seed: p.seed, Fold: p.fold})
		}
		return errors.Join(book.WriteProblems(d, c.problems, nil), book.WriteFolds(d, partitions),
			book.WriteOutcomes(d, book.Exact, func(line func(problem, run, expert int, o routing.Outcome)) error {
				for q := range c.problems {
					for m := range c.columns {
						line(q, 0, m, c.outcome(q, m))
					}
				}
				return nil
			}))
	})
	if err == nil {
		s.Amount = float64(len(c.problems) * len(c.columns))
	}
	return s, err
}

// knowsOthers says whether a row that chooses in hindsight knows what routers learn from, and not the answers that are scored.
func knowsOthers(row spec.Method) bool { return methods.Hindsight(row.Name) && row.Kappa == "runs" }

// kappa is the kind of label that a row learns from.
func (c *recorded) kappa(row spec.Method) string {
	return cmp.Or(row.Kappa, c.Spec.Experiment.Folds.Kappa)
}

// predicts says whether the pass rates that a row predicts are kept.
func (c *recorded) predicts(row spec.Method) bool {
	return c.Spec.Experiment.Folds.Predictions != "" && methods.PredictsRates(row.Name)
}

// prepare makes all cross-fits, so many beside each other that no processor waits for the last fold of one.
func (c *recorded) prepare(ctx context.Context) error {
	var all []fitted
	for _, p := range c.partition {
		for _, f := range p.rows {
			all = append(all, fitted{f.Step, f.method})
		}
	}
	return c.fitAll(ctx, 2+(int(c.processors)-1)/c.Spec.Experiment.Folds.K, all)
}

// crossFit fits a row on all folds but one, for every fold, and writes its decisions on the one left out; of a router
// with a knob also its choices at every setting. Folds are fitted at the same time, those of rows beside each other too, as many as there
// are processors; those of a language model one after another, and nothing beside them.
func (c *recorded) crossFit(ctx context.Context, p *partition, f *crossFit, d *store.Draft) error {
	k, row := c.Spec.Experiment.Folds.K, f.row
	task := c.Options.Progress.Start(fmt.Sprintf("%s: %s, partition %d", c.pool.Name, row.RowLabel(), p.seed), k)
	defer task.Done()
	parts := make([]routed, k)
	group, gctx := errgroup.WithContext(ctx)
	if goesAlone(f.method) {
		group.SetLimit(1) // in order
	}
	for fold := range k {
		group.Go(func() (err error) {
			defer crash.Exit()
			done, err := c.begin(gctx, f.method)
			if err != nil {
				return err
			}
			defer done()
			parts[fold], err = c.fitFold(gctx, p, fold, f, filepath.Join(d.Unfinished(), strconv.Itoa(fold)), task.Say)
			if unfit := (*routing.Unfit)(nil); errors.As(err, &unfit) {
				parts[fold].unfit = unfit.Why
			} else if err != nil {
				return err
			}
			task.Add(1)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if i := slices.IndexFunc(parts, func(r routed) bool { return r.unfit != "" }); i >= 0 {
		c.Options.Log.Warn("a row could not be fitted", "row", row.RowID(), "partition", p.seed, "why", parts[i].unfit)
		return book.Fit{Unfit: parts[i].unfit}.Write(d)
	}
	decisions := make([]routing.Decision, len(c.problems))
	var sweep *book.Sweep
	var rates [][]float64
	if parts[0].rates != nil {
		rates = make([][]float64, len(c.problems))
	}
	for fold, part := range parts {
		if part.course == nil {
			continue
		}
		if err := d.WriteFile(courseFile(fold), part.course); err != nil {
			return err
		}
	}
	report := book.Fit{Knobs: parts[0].knobs, Router: said(parts)}
	if report.Knobs != nil {
		sweep = &book.Sweep{Queries: make([]book.Swept, len(c.problems)), Settings: len(report.Knobs)}
	}
	for _, part := range parts {
		if len(part.knobs) != len(report.Knobs) {
			return fmt.Errorf("the router has %d settings in one fold and %d in another; a sweep needs the same number", len(report.Knobs), len(part.knobs))
		}
		for i, q := range part.test {
			decisions[q] = part.decisions[i]
			if sweep != nil {
				sweep.Queries[q] = part.sweep.Queries[i]
			}
			if rates != nil {
				rates[q] = part.rates[i]
			}
		}
	}
	if err := book.WriteDecisions(d, book.Recorded, len(c.pool.Experts), decisions); err != nil {
		return err
	}
	if sweep != nil {
		if err := sweep.Write(d, book.Recorded); err != nil {
			return err
		}
	}
	if rates != nil {
		if err := book.WriteRates(d, book.Recorded, decisions, rates); err != nil {
			return err
		}
	}
	return report.Write(d)
}

// said is what the routers of all folds say of themselves, each weighed by its questions; nil: nothing.
func said(parts []routed) map[string][]metrics.Value {
	var out []metrics.Value
	questions := 0
	for _, part := range parts {
		questions += len(part.test)
	}
	for i := range parts[0].said {
		v := parts[0].said[i]
		v.Number = 0
		for _, part := range parts {
			v.Number += part.said[i].Number * float64(len(part.test)) / float64(questions)
		}
		out = append(out, metrics.Rounded(v.Number, v.Unit, v.Decimals))
	}
	if out == nil {
		return nil
	}
	return map[string][]metrics.Value{book.Recorded: out}
}

// routed is what a router did on the questions of one fold.
type routed struct {
	test      []int // questions
	decisions []routing.Decision
	knobs     []float64       // nil: no knob
	sweep     *book.Sweep     // of the test questions
	rates     [][]float64     // that the router predicts of the test questions, [test][M]; nil: it predicts none, or nobody asks
	said      []metrics.Value // what the router says of itself
	course    []byte          // what its training went through, as methods write it; nil: it writes nothing, or it is not shown
	unfit     string          // why the row could not be fitted on the other folds; empty: it was
}

// fitFold fits a row on all folds but one and routes the questions of that one.
func (c *recorded) fitFold(ctx context.Context, p *partition, fold int, f *crossFit, unfinished string, say func(string)) (out routed, err error) {
	x, row := &c.Spec.Experiment, f.row
	var train []int
	var queries []routing.Query
	for q, f := range p.fold {
		if f == fold {
			out.test = append(out.test, q)
			queries = append(queries, routing.Query{Problem: c.problems[q]})
		} else {
			train = append(train, q)
		}
	}
	if train, err = fewer(c.problems, train, row.Train, p.seed); err != nil {
		return out, err
	}
	set := c.trainSet(train, row)
	work := routing.Work{
		Seed: seed.Seed(x.Evaluate.Seeds[0]).Derive("fold", p.seed, fold), Log: c.Options.Log, Unfinished: unfinished, Every: c.Options.Every, Say: say,
	}
	if f.shown {
		work.Dir = filepath.Join(unfinished, "fitted") // where what a stopped run leaves is found and goes with the rest
		if err := errors.Join(os.RemoveAll(work.Dir), os.MkdirAll(work.Dir, 0o777)); err != nil {
			return out, err
		}
		defer os.RemoveAll(work.Dir) // the checkpoint of a fold is kept nowhere
	}
	router, err := f.method.Fit(ctx, set, work)
	if err != nil {
		return out, err
	}
	if closer, ok := router.(io.Closer); ok {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	if h, ok := router.(routing.HindsightRouter); ok {
		outcomes := make([][]routing.Outcome, len(out.test))
		for i, q := range out.test {
			for m := range c.columns {
				o := c.outcome(q, m)
				if knowsOthers(row) {
					o = c.learnable(q, m, row.Kappa)
				}
				outcomes[i] = append(outcomes[i], o)
			}
		}
		out.decisions, err = h.RouteKnowing(ctx, queries, outcomes)
	} else {
		out.decisions, err = router.Route(ctx, queries)
	}
	if err != nil {
		return out, err
	}
	if r, ok := router.(methods.Reporter); ok {
		out.said = r.Report()
	}
	if p, ok := router.(routing.Predictor); ok && c.predicts(row) {
		if out.rates, err = p.PassRates(ctx, queries); err != nil {
			return out, err
		}
	}
	if f.shown {
		if out.course, err = os.ReadFile(filepath.Join(work.Dir, stages.CurveFile)); err != nil {
			return out, err
		}
	}
	knob, ok := router.(routing.Frontier)
	if !ok {
		return out, nil
	}
	out.knobs = knob.Knobs()
	out.sweep, err = sweepOf(ctx, knob, queries)
	return out, err
}

// trainSet is what a row may learn from training questions.
func (c *recorded) trainSet(train []int, row spec.Method) routing.TrainSet {
	examples := c.examples(train, c.kappa(row))
	return routing.TrainSet{Experts: c.pool.Experts, C: routing.Costs(c.pool.Experts, c.Spec.Experiment.CUnit), SFT: examples, RL: examples}
}
