// Protocol split: every step from problems to measurements.

package harness

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// plan lays out every step of protocol split, from problems to measurements.
func (e *engine) plan() error {
	x := &e.spec.Experiment
	trainProfile := func(d spec.Draw, by string) (*profile, error) {
		set, err := e.newProblemSet(d.Benchmark, problems.Sized, d.Size, by)
		if err != nil {
			return nil, err
		}
		e.sets = append(e.sets, set)
		return e.newProfile(set, routing.Train)
	}
	var err error
	if e.sftProfile, err = trainProfile(x.Train.SFT, "train.sft"); err != nil {
		return err
	}
	if e.rlProfile, err = trainProfile(x.Train.RL, "train.rl"); err != nil {
		return err
	}
	paper := &arena{Arena: book.Arena{Name: metrics.PaperArena}}
	for _, name := range x.Test {
		set, err := e.newProblemSet(name, problems.Sized, e.spec.Benchmarks[name].Size, "")
		if err != nil {
			return err
		}
		e.sets = append(e.sets, set)
		p, err := e.newProfile(set, routing.Strata)
		if err != nil {
			return err
		}
		e.testProfiles = append(e.testProfiles, p)
		b, err := e.newOutcomes(set, e.spec.Benchmarks[name].Runs, e.experts)
		if err != nil {
			return err
		}
		paper.benches = append(paper.benches, b)
	}
	e.arenas = []*arena{paper}
	if x.Large > 0 {
		if e.sim == nil {
			return fmt.Errorf("%w: large: only a simulated pool knows the true success probability; set large: 0 for pool %s", ErrUsage, e.poolSpec.Name)
		}
		large := &arena{Arena: book.Arena{Name: metrics.LargeArena}}
		for _, name := range x.Test {
			set, err := e.newProblemSet(name, problems.Large, x.Large, "")
			if err != nil {
				return err
			}
			b, err := e.newExpected(set, e.experts)
			if err != nil {
				return err
			}
			large.benches = append(large.benches, b)
		}
		e.arenas = append(e.arenas, large)
	}
	if i := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return methods.AnswersItself(m.Name) }); i >= 0 {
		if e.probe == nil {
			return fmt.Errorf("%w: row %s may answer itself as the probe of the pool, and pool %s has none; name one there or leave the row out", ErrUsage, x.Methods[i].RowID(), e.poolSpec.Name)
		}
		for _, a := range e.arenas {
			if err := a.addSelf(e); err != nil {
				return err
			}
		}
	}
	for i, o := range x.Outputs {
		if o.Kind == "sweep" {
			if err := present.CheckSweep(e.spec, o); err != nil {
				return err
			}
		}
		if o.Kind == "routing-distribution" && !slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == methods.ReferenceRow }) {
			return fmt.Errorf("%w: spec %s: outputs[%d]: a routing-distribution shows the row %q, which methods does not have", ErrUsage, x.Name, i, methods.ReferenceRow)
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
func (e *engine) planExtra() error {
	for _, o := range e.spec.Experiment.Outputs {
		var s *step
		var err error
		switch o.Kind {
		case "training":
			s, err = e.planCurves(present.CurveRows(o))
		case "calibration":
			s, err = e.planCalibration()
		default:
			continue
		}
		if err != nil {
			return err
		}
		if !slices.Contains(e.extra, s) {
			e.extra = append(e.extra, s)
		}
	}
	return nil
}

// planFits plans every row: those that another is matched to come first.
func (e *engine) planFits() error {
	x := &e.spec.Experiment
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
					return fmt.Errorf("%w: row %s: match names %s, which reads the outcomes it is scored on and spends nothing on training problems; name a router", ErrUsage, row.RowID(), row.Match)
				}
				if others[0].asking {
					return fmt.Errorf("%w: row %s: match names %s, which asks a language model for every decision and is not asked about training problems; name another router", ErrUsage, row.RowID(), row.Match)
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
