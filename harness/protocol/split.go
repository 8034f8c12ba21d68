// Protocol split: every step from problems to measurements.

package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// Versions of the steps: raised when a change of code changes what a step means, so that stored entries of the old
// meaning are not taken for the new one.
const (
	problemsVersion = 1
	profileVersion  = 2
	outcomesVersion = 1
	expectedVersion = 1
	fitVersion      = 5
	matchVersion    = 2
	measureVersion  = 12
)

// rememberedTexts bounds the memory of what texts are made of, in bytes: about 60,000 texts read in two ways.
const rememberedTexts = 128 << 20

// rememberedStages bounds the memory of what Stage I came to, in bytes.
const rememberedStages = 64 << 20

// rememberedFits bounds the memory of regressions: each has about a hundred kilobytes, more with more features.
const rememberedFits = 500

// fitting is what the fits of a pool share under either protocol.
type fitting struct {
	*steps.Plan
	pool        *steps.Pool
	backend     policy.Backend  // nil: the store is only looked at
	texts       *features.Texts // what fits have read
	stages      *stages.Memory
	regressions *predict.Fits
	models      *lm.Models
}

func (r *Run) fitting(members *steps.Pool) fitting {
	return fitting{Plan: r.Plan, pool: members, backend: r.backend, texts: features.NewTexts(rememberedTexts), stages: stages.NewMemory(rememberedStages), regressions: predict.NewFits(rememberedFits), models: r.models}
}

// experiment is an experiment of protocol split as it is planned and carried out: what its steps share.
type experiment struct {
	fitting
	asker *asking.Asker
	files problems.Source

	sets                  []*problemSet
	wants                 []*want
	sftProfile, rlProfile *profile   // nil: no row looks at a training problem; the second has the problems that Stage II alone sees, and is nil, too, if there are none
	testProfiles          []*profile // [test benchmarks]: how difficult their problems are; nil: nobody asks
	arenas                []*arena
	fits                  [][]*fit // [rows][seeds]; rows that do not depend on a seed have one
	train                 *routing.TrainSet
}

// newSplit opens the store and plans every step; it runs none.
func newSplit(ctx context.Context, r *spec.Resolved, o steps.Options) (*Run, error) {
	x, pool := &r.Experiment, r.Pools[0]
	if len(r.Pools) > 1 {
		return nil, fmt.Errorf("%w: spec %s names %d pools, protocol split takes one", spec.ErrUsage, x.Name, len(r.Pools))
	}
	members, err := steps.OpenPool(pool, r.Prices)
	switch {
	case err != nil:
		return nil, err
	case pool.Kind == "recorded":
		return nil, fmt.Errorf("%w: pool %s holds recorded outcomes, which protocol folds reads; spec %s has protocol split", spec.ErrUsage, pool.Name, x.Name)
	case x.Targets.Gate && members.Probe == nil:
		return nil, fmt.Errorf("%w: targets.gate asks a probe and pool %s has none; name one in the pool or set targets.gate: false", spec.ErrUsage, pool.Name)
	case x.CountInput && x.Large > 0:
		return nil, fmt.Errorf("%w: the large set is scored by expectations of output tokens; set large: 0 with count_input: true", spec.ErrUsage)
	}
	if o.Data != "" {
		pinned := *r
		if pinned.Benchmarks, err = problems.Pinned(o.Data, r.Benchmarks); err != nil {
			return nil, err
		}
		r = &pinned
	}
	run, err := begin(r, o)
	if err != nil {
		return nil, err
	}
	e := &experiment{fitting: run.fitting(members), files: problems.JSONL{Dir: o.Data, Benchmarks: r.Benchmarks}}
	run.split = e
	if e.asker, err = asking.Open(ctx, run.Plan, members); err != nil {
		run.Close()
		return nil, err
	}
	run.Asker = e.asker
	e.asker.Known, e.asker.Arena = e.known, e.asked
	if err := e.plan(ctx); err != nil {
		run.Close()
		return nil, err
	}
	run.Head = e.head()
	return run, nil
}

// known are the problems that simulated experts may be asked.
func (e *experiment) known(ctx context.Context, add func([]routing.Problem, []routing.Latent) error) error {
	for i, s := range e.sets {
		// Both stages may draw from one benchmark: the larger draw begins with the smaller.
		within := func(t *problemSet) bool { return t.benchmark == s.benchmark && t.n >= s.n }
		if slices.ContainsFunc(e.sets[:i], within) || slices.ContainsFunc(e.sets[i+1:], func(t *problemSet) bool { return within(t) && t.n > s.n }) {
			continue
		}
		if err := s.load(ctx); err != nil {
			return err
		}
		if err := add(s.problems, s.latents); err != nil {
			return err
		}
	}
	return nil
}

// asked are the problems of every arena, which simulated routers may be asked about.
func (e *experiment) asked(ctx context.Context, add func([]routing.Problem, []routing.Latent) error) error {
	for _, a := range e.arenas {
		for _, b := range a.benches {
			if err := b.set.load(ctx); err != nil {
				return err
			}
			if err := add(b.set.problems, b.set.latents); err != nil {
				return err
			}
		}
	}
	return nil
}

// ids are those of all problems by text. Of problems that share a text the first counts.
func (e *experiment) ids(ctx context.Context) (map[string]string, error) {
	ids := map[string]string{}
	add := func(problems []routing.Problem, _ []routing.Latent) error {
		addIDs(ids, problems)
		return nil
	}
	return ids, errors.Join(e.known(ctx, add), e.asked(ctx, add))
}

func addIDs(ids map[string]string, problems []routing.Problem) {
	for _, p := range problems {
		if _, ok := ids[p.Text]; !ok {
			ids[p.Text] = p.ID
		}
	}
}

// trainSet reads what methods may learn from.
func (e *experiment) trainSet(ctx context.Context) (*routing.TrainSet, error) {
	if e.train != nil {
		return e.train, nil
	}
	set := &routing.TrainSet{Experts: e.pool.Experts, C: routing.Costs(e.pool.Experts, e.Spec.Experiment.CUnit)}
	if e.sftProfile != nil {
		var err error
		if set.SFT, err = e.sftProfile.examples(ctx); err != nil {
			return nil, err
		}
		if set.RL, err = e.stageTwo(ctx, (*profile).examples); err != nil {
			return nil, err
		}
	}
	e.train = set
	return e.train, e.checkLeak(ctx)
}

// stageTwo reads the problems of Stage II: its own and, among them, those that Stage I has seen, in such an order that of the first of
// them, however many, the same share was seen and is among as many of Stage I's. What was measured of those is Stage I's.
func (e *experiment) stageTwo(ctx context.Context, read func(*profile, context.Context) ([]routing.Example, error)) (all []routing.Example, err error) {
	train := &e.Spec.Experiment.Train
	var seen, own []routing.Example
	if e.rlProfile != nil {
		if own, err = read(e.rlProfile, ctx); err != nil {
			return nil, err
		}
	}
	if train.Again(train.RL.Size) == 0 {
		return own, nil
	}
	if seen, err = read(e.sftProfile, ctx); err != nil {
		return nil, err
	}
	for i := range train.RL.Size {
		from := &own
		if train.Again(i+1) > train.Again(i) {
			from = &seen
		}
		if len(*from) > 0 { // less than planned were answered
			all, *from = append(all, (*from)[0]), (*from)[1:]
		}
	}
	return all, nil
}

// checkLeak fails if a training problem has the text of a test problem.
func (e *experiment) checkLeak(ctx context.Context) error {
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
				return fmt.Errorf("%w: training problem %s and test problem %s have the same text; train on another set or, for generated sets, another seed", spec.ErrUsage, id, q.Problem.ID)
			}
		}
	}
	return nil
}

// plan lays out every step of protocol split, from problems to measurements.
func (e *experiment) plan(ctx context.Context) error {
	x := &e.Spec.Experiment
	trainProfile := func(d spec.Draw, by string) (*profile, error) {
		set, err := e.newProblemSet(d.Benchmark, problems.Sized, d.Size, by)
		if err != nil {
			return nil, err
		}
		e.sets = append(e.sets, set)
		return e.newProfile(ctx, set, routing.Train)
	}
	var err error
	calibrated := slices.ContainsFunc(x.Outputs, func(o spec.Output) bool { return o.Kind == "calibration" })
	if calibrated || slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return m.Match != "" || !methods.Blind(m.Name) }) {
		if e.sftProfile, err = trainProfile(x.Train.SFT, "train.sft"); err != nil {
			return err
		}
		own := x.Train.RL
		if own.Size -= x.Train.Again(own.Size); own.Size > 0 {
			if e.rlProfile, err = trainProfile(own, "train.rl"); err != nil {
				return err
			}
		}
	}
	profiled := x.Profile.Test || slices.ContainsFunc(x.Outputs, func(o spec.Output) bool { return present.ShowsDifficulty(o.Kind) })
	paper := &arena{Arena: book.Arena{Name: metrics.PaperArena}}
	for _, name := range x.Test {
		set, err := e.newProblemSet(name, problems.Sized, e.Spec.Benchmarks[name].Size, "")
		if err != nil {
			return err
		}
		e.sets = append(e.sets, set)
		if profiled {
			p, err := e.newProfile(ctx, set, routing.Strata)
			if err != nil {
				return err
			}
			e.testProfiles = append(e.testProfiles, p)
		}
		b, err := e.newOutcomes(ctx, set, e.Spec.Benchmarks[name].Runs, e.pool.Experts)
		if err != nil {
			return err
		}
		paper.benches = append(paper.benches, b)
	}
	e.arenas = []*arena{paper}
	if x.Large > 0 {
		if e.asker.Sim == nil {
			return fmt.Errorf("%w: large: only a simulated pool knows the true success probability; set large: 0 for pool %s", spec.ErrUsage, e.pool.Name)
		}
		large := &arena{Arena: book.Arena{Name: metrics.LargeArena}}
		for _, name := range x.Test {
			set, err := e.newProblemSet(name, problems.Large, x.Large, "")
			if err != nil {
				return err
			}
			b, err := e.newExpected(set, e.pool.Experts)
			if err != nil {
				return err
			}
			large.benches = append(large.benches, b)
		}
		e.arenas = append(e.arenas, large)
	}
	if i := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return methods.AnswersItself(m.Name) }); i >= 0 {
		if e.pool.Probe == nil {
			return fmt.Errorf("%w: row %s may answer itself as the probe of the pool, and pool %s has none; name one there or leave the row out", spec.ErrUsage, x.Methods[i].RowID(), e.pool.Name)
		}
		for _, a := range e.arenas {
			if err := a.addSelf(ctx, e); err != nil {
				return err
			}
		}
	}
	for i, o := range x.Outputs {
		if o.Kind == "sweep" {
			if err := present.CheckSweep(e.Spec, o); err != nil {
				return err
			}
		}
		if o.Kind == "routing-distribution" && !slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == methods.ReferenceRow }) {
			return fmt.Errorf("%w: spec %s: outputs[%d]: a routing-distribution shows the row %q, which methods does not have", spec.ErrUsage, x.Name, i, methods.ReferenceRow)
		}
	}
	if err := e.planFits(); err != nil {
		return err
	}
	if err := e.planMeasure(); err != nil {
		return err
	}
	return e.planExtra()
}

// planExtra plans the measurements that only some outputs show.
func (e *experiment) planExtra() error {
	for _, o := range e.Spec.Experiment.Outputs {
		var s *steps.Step
		var err error
		switch o.Kind {
		case "training", "rounds":
			s, err = e.planCurves(present.CurveRows(o))
		case "calibration":
			s, err = e.planCalibration()
		default:
			continue
		}
		if err != nil {
			return err
		}
		if !slices.Contains(e.Measured, s) {
			e.Measured = append(e.Measured, s)
		}
	}
	return nil
}

// planFits plans every row: those that another is matched to come first.
func (e *experiment) planFits() error {
	x := &e.Spec.Experiment
	e.fits = make([][]*fit, len(x.Methods))
	byLabel := map[string][]*fit{}
	for _, matched := range []bool{false, true} {
		for i, row := range x.Methods {
			if (row.Match != "") != matched {
				continue
			}
			seeds := x.Evaluate.Seeds
			if !methods.Seeded(row.Name) {
				seeds = seeds[:1]
			}
			for _, s := range seeds {
				f, err := e.newFit(row, s)
				if err != nil {
					return err
				}
				e.fits[i] = append(e.fits[i], f)
			}
			if matched {
				others := byLabel[row.Match]
				if others[0].hindsight {
					return fmt.Errorf("%w: row %s: match names %s, which reads the outcomes it is scored on and spends nothing on training problems; name a router", spec.ErrUsage, row.RowID(), row.Match)
				}
				if others[0].asking {
					return fmt.Errorf("%w: row %s: match names %s, which asks a language model for every decision and is not asked about training problems; name another router", spec.ErrUsage, row.RowID(), row.Match)
				}
				fits := e.fits[i]
				e.fits[i] = nil
				for k, s := range x.Evaluate.Seeds {
					// A row that does not depend on the seed has one fit for all of them.
					m, err := e.newMatch(row, s, fits[min(k, len(fits)-1)], others[min(k, len(others)-1)])
					if err != nil {
						return err
					}
					e.fits[i] = append(e.fits[i], m)
				}
			}
			byLabel[row.RowID()] = e.fits[i]
		}
	}
	return nil
}
