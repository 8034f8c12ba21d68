package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// planMeasure plans the step that turns decisions and outcomes into measurements.
func (e *engine) planMeasure() error {
	x := &e.spec.Experiment
	type row struct {
		ID, Match string
		Fits      int
	}
	params := struct {
		Pool       string
		Rows       []row
		Test       []string
		Weights    []int
		Bootstrap  int
		Confidence float64
		Seed       uint64
		Tau        float64
	}{Pool: e.poolSpec.Name, Test: x.Test, Bootstrap: x.Evaluate.Bootstrap, Confidence: x.Evaluate.Confidence, Seed: x.Seed, Tau: x.Targets.Tau}
	for _, name := range x.Test {
		params.Weights = append(params.Weights, e.spec.Benchmarks[name].Whole)
	}
	var inputs []*step
	for i, m := range x.Methods {
		params.Rows = append(params.Rows, row{m.RowID(), m.Match, len(e.fits[i])})
		for _, f := range e.fits[i] {
			inputs = append(inputs, f.step)
			if f.unmatched != nil {
				inputs = append(inputs, f.unmatched.step)
			}
		}
	}
	for _, a := range e.arenas {
		inputs = append(inputs, slices.Concat(a.outcomeSteps(), a.selfSteps())...)
	}
	for _, p := range e.testProfiles {
		inputs = append(inputs, p.step)
	}
	var err error
	e.measured, err = e.newStep("measure", "measure", measureVersion, params, inputs, func(ctx context.Context, d *store.Draft) error {
		if err := e.prepare(ctx); err != nil {
			return err
		}
		set := &metrics.Set{}
		for _, a := range e.arenas {
			if err := a.loadOutcomes(ctx); err != nil {
				return err
			}
			sample, err := e.sample(ctx, a)
			if err != nil {
				return err
			}
			e.opt.Progress.Start("measuring "+a.Name, 1)
			set.Measurements = slices.Concat(set.Measurements, sample.Route(), sample.Choice())
			if a.Name == metrics.PaperArena {
				set.Measurements = append(set.Measurements, sample.Difficulty()...)
			}
			e.opt.Progress.Done()
		}
		w, err := d.Create("measurements.txt")
		if err != nil {
			return err
		}
		return errors.Join(set.Write(w), w.Close())
	})
	return err
}

// prepare makes what measuring reads in the order of the picture in doc.go. Every problem set comes before the first
// question to an expert, so that a data file that is missing costs nobody anything.
func (e *engine) prepare(ctx context.Context) error {
	for _, s := range e.sets {
		if _, err := e.get(ctx, s.step); err != nil {
			return err
		}
	}
	if err := e.askable(ctx); err != nil {
		return err
	}
	for _, row := range e.fits {
		for _, f := range row {
			if _, err := e.get(ctx, f.step); err != nil {
				return err
			}
		}
	}
	return nil
}

// comment is the head of measurements.txt.
func (e *engine) comment() []string {
	x := &e.spec.Experiment
	c := []string{" " + x.Title + "."}
	if e.sim != nil {
		c = append(c, " A simulation: experts of pool "+e.poolSpec.Name+" follow an item-response model calibrated to the paper's fixed experts and to nothing else.")
	}
	return append(c,
		fmt.Sprintf(" Intervals: %g%% paired question bootstrap, %d resamples (%d of lines Choice and Curve), stratified by benchmark, trained routers held fixed.",
			100*x.Evaluate.Confidence, x.Evaluate.Bootstrap, min(x.Evaluate.Bootstrap, score.ChoiceResamples)),
		" usd is the total of one pass over a benchmark, averaged over runs; lines with benchmark=avg hold dollars a query.")
}

// sample reads the rows of an arena whose outcomes are loaded.
func (e *engine) sample(ctx context.Context, a *arena) (*score.Sample, error) {
	x := &e.spec.Experiment
	best, err := e.best(ctx, a)
	if err != nil {
		return nil, err
	}
	s := &score.Sample{Arena: &a.Arena, Pool: e.poolSpec.Name, Pass: questionsOfAPass(&a.Arena, e.spec.Benchmarks), Best: best, Reference: methods.ReferenceRow, Resampling: resampling(x)}
	for i, m := range x.Methods {
		fits := e.fits[i]
		if !fits[0].covers(a) {
			continue
		}
		row := score.Row{ID: m.RowID(), Own: methods.AnswersItself(m.Name), Knob: methods.Knob(m.Name)}
		if row.Reported, err = reported(ctx, fits, a.Name); err != nil {
			return nil, err
		}
		var decisions [][]routing.Decision
		for _, f := range fits {
			of, err := f.decisions(ctx, a)
			if err != nil {
				return nil, err
			}
			row.Seeds, decisions = append(row.Seeds, f.seed), append(decisions, of)
		}
		sweeps, err := sweepsOf(ctx, &a.Arena, fits)
		if err != nil {
			return nil, err
		}
		s.Add(row, decisions, sweeps)
	}
	return s, nil
}

// resampling is how the intervals of an experiment are made.
func resampling(x *spec.Experiment) score.Resampling {
	return score.Resampling{Resamples: x.Evaluate.Bootstrap, Confidence: x.Evaluate.Confidence, Seed: seed.Seed(x.Seed)}
}

// reported averages over fits what their routers said of their decisions on an arena; over those that said it, as the
// accuracy among no queries is nothing.
func reported(ctx context.Context, fits []*fit, arena string) (out []metrics.Value, err error) {
	said := map[string]float64{} // by unit
	for _, f := range fits {
		r, err := f.report(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range r.Router[arena] {
			said[v.Unit]++
			k := slices.IndexFunc(out, func(o metrics.Value) bool { return o.Unit == v.Unit })
			if k < 0 {
				k, out = len(out), append(out, metrics.Rounded(0, v.Unit, v.Decimals))
			}
			out[k].Number += v.Number
		}
	}
	for k, v := range out {
		out[k] = metrics.Rounded(v.Number/said[v.Unit], v.Unit, v.Decimals)
	}
	return out, nil
}

// questionsOfAPass is how many questions one pass over each benchmark has: those of the paper's arena, and in the large arena those
// of the whole benchmark that the draw stands for. Averages weigh benchmarks by it and dollars are of one pass.
func questionsOfAPass(a *book.Arena, benchmarks spec.Benchmarks) []float64 {
	var n []float64
	for _, b := range a.Benchmarks {
		if a.Name == metrics.LargeArena {
			n = append(n, float64(max(benchmarks[b.Name].Whole, benchmarks[b.Name].Size)))
		} else {
			n = append(n, float64(benchmarks[b.Name].Size))
		}
	}
	return n
}

// sweepsOf reads the sweeps of the fits of a row, nil if it has no knob; those of a match are of the fit behind it.
func sweepsOf(ctx context.Context, a *book.Arena, fits []*fit) (sweeps []*book.Sweep, err error) {
	var read []*step
	for _, f := range fits {
		if f.unmatched != nil {
			f = f.unmatched
		}
		if slices.Contains(read, f.step) {
			continue
		}
		read = append(read, f.step)
		sweep, err := f.sweep(ctx, a.Name, a.Queries)
		if sweep == nil || err != nil {
			return nil, err
		}
		sweeps = append(sweeps, sweep)
	}
	return sweeps, nil
}

// best returns m_best of every question of an arena.
func (e *engine) best(ctx context.Context, a *arena) ([]int, error) {
	tau := e.spec.Experiment.Targets.Tau
	var best []int
	kappa := make([]float64, len(e.experts))
	if a.Name == metrics.LargeArena {
		for _, o := range a.Outcomes {
			for m := range kappa {
				kappa[m] = o[m].Correct
			}
			best = append(best, routing.MBest(kappa, tau))
		}
		return best, nil
	}
	for _, p := range e.testProfiles {
		pr, err := p.load(ctx)
		if err != nil {
			return nil, err
		}
		for i := range pr.Problems {
			for m := range kappa {
				kappa[m] = pr.Kappa(i, m)
			}
			best = append(best, routing.MBest(kappa, tau))
		}
	}
	return best, nil
}
