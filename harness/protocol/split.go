// Protocol split: every step from problems to measurements.

package protocol

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/memory"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

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
	remembers := o.Memory.Now()
	if x.Policy.Kind == "lm" { // rows may read what it makes of texts, which depends on the experts that its prompt shows
		remembers = memory.New()
	}
	e := &experiment{fitting: run.fitting(members, remembers), files: problems.JSONL{Dir: o.Data, Benchmarks: r.Benchmarks}}
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
	calibrated := slices.ContainsFunc(x.Outputs, func(o spec.Output) bool { return present.WantsOf(o).Calibration })
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
	profiled := x.Profile.Test || slices.ContainsFunc(x.Outputs, func(o spec.Output) bool { return present.WantsOf(o).Difficulty })
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
	if err := e.planFits(); err != nil {
		return err
	}
	for i, o := range x.Outputs {
		if err := present.Check(e.Spec, o); err != nil {
			return err
		}
		row := present.WantsOf(o).Row
		if _, ok := x.Row(row); row != "" && !ok {
			return fmt.Errorf("%w: spec %s: outputs[%d]: a %s shows the row %q, which methods does not have", spec.ErrUsage, x.Name, i, o.Kind, row)
		}
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
		switch wants := present.WantsOf(o); {
		case wants.Trainings != nil:
			s, err = e.planCurves(wants.Trainings)
		case wants.Calibration:
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
