// The step that measures: arenas are opened by the names of its inputs and handed to package score.

package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// planMeasure plans the step that turns decisions and outcomes into measurements.
func (e *experiment) planMeasure() error {
	x := &e.Spec.Experiment
	params := e.Params(e.pool)
	params.PoolName()
	params.Rows(x.Methods)
	params.Spec("large", "seed", "targets.tau", "evaluate.bootstrap", "evaluate.confidence")
	params.Benchmarks(x.Test, func(name string) spec.Benchmark { return spec.Benchmark{Size: e.Spec.Benchmarks[name].Whole} }, "size")
	inputs := fitInputs(params, e.fits...)
	for _, a := range e.arenas {
		inputs = append(inputs, slices.Concat(a.outcomeInputs(), a.selfInputs())...)
	}
	for _, p := range e.testProfiles {
		inputs = append(inputs, p.As(book.OfArena("profile", metrics.PaperArena, p.set.benchmark)))
	}
	measured, err := planMeasured(e.Plan, "measure", book.MeasureStage, measureVersion, params, inputs, e.prepare, nil)
	if err != nil {
		return err
	}
	measured.Amount = float64(x.Evaluate.Bootstrap * len(x.Methods) * e.questions())
	e.Measured = append(e.Measured, measured)
	return nil
}

// planMeasured plans a step that measures the arenas behind its inputs. prepare, if it is not nil, makes some of them in an
// order of its own first; more are lines of what no arena holds.
func planMeasured(p *steps.Plan, name, stage string, version int, params *steps.Params, inputs []steps.Input, prepare func(context.Context) error, more []metrics.Measurement) (measured *steps.Step, err error) {
	measured, err = p.Add(name, stage, version, params, inputs, func(ctx context.Context, d *store.Draft) error {
		if prepare != nil {
			if err := prepare(ctx); err != nil {
				return err
			}
		}
		arenas, err := book.Open(p.Entries(ctx), measured.Recipe)
		if errors.Is(err, book.ErrNothingAnswered) {
			err = fmt.Errorf("%w: %w; status says what failed, and the same command asks again for what may be had", steps.ErrIncomplete, err)
		}
		if err != nil {
			return err
		}
		set := &metrics.Set{}
		for _, a := range arenas {
			task := p.Options.Progress.Start("measuring "+a.Title(), 0)
			lines, err := measureArena(ctx, &p.Spec.Experiment, a)
			task.Done()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			set.Measurements = append(set.Measurements, lines...)
		}
		set.Measurements = append(set.Measurements, more...)
		return book.WriteMeasurements(d, set)
	})
	return measured, err
}

// measureArena measures every row of an arena.
func measureArena(ctx context.Context, x *spec.Experiment, a *book.Arena) ([]metrics.Measurement, error) {
	resampling := score.Resampling{Resamples: x.Evaluate.Bootstrap, Confidence: x.Evaluate.Confidence, Seed: seed.Seed(x.Seed), Stop: ctx.Done()}
	var apart []string
	for _, m := range x.Methods {
		if methods.RowTraits(m, x).Apart() {
			apart = append(apart, m.RowID())
		}
	}
	if a.Name == book.Recorded {
		f := &score.Folds{Arena: a, Reference: methods.ReferenceRow, Baseline: methods.BenchmarkRow, Apart: apart, Contrasts: contrasts(x), Whole: x.Folds.Whole, PredictionsVersus: x.Folds.Predictions, Resampling: resampling}
		return measureFolds(f)
	}
	s := &score.Sample{Arena: a, Reference: methods.ReferenceRow, Apart: apart, Resampling: resampling}
	for _, r := range a.Rows {
		row := score.Row{ID: r.ID, Own: methods.AnswersItself(r.Kind), NoCurve: methods.NoCurve(r.Kind), Knob: methods.Knob(r.Kind) && (r.Matched() || !methods.Policy(r.Kind))}
		var decisions [][]routing.Decision
		var fits []book.Fit
		for _, t := range r.Trainings {
			of, err := a.Decisions(t)
			if err != nil {
				return nil, err
			}
			fit, err := book.ReadFit(t.Entry)
			if err != nil {
				return nil, err
			}
			row.Seeds, decisions, fits = append(row.Seeds, t.Seed), append(decisions, of), append(fits, fit)
		}
		row.Reported = reported(fits, a.Name)
		sweeps, err := sweepsOf(a, r, decisions)
		if err != nil {
			return nil, err
		}
		s.Add(row, decisions, sweeps)
	}
	if len(a.Rows) == 0 {
		return slices.Concat(s.Unfit(), s.Lost()), nil
	}
	out := slices.Concat(s.Route(), s.Choice(), s.Unfit(), s.Lost())
	if a.Name == metrics.PaperArena && a.Best != nil {
		out = append(out, s.Difficulty()...)
	}
	return out, nil
}

// measureFolds measures a recorded pool: all questions and each benchmark.
func measureFolds(f *score.Folds) (out []metrics.Measurement, err error) {
	f.Reported = map[string][]metrics.Value{}
	for _, r := range f.Arena.Rows {
		knob := false
		var fits []book.Fit
		for i, t := range r.Trainings {
			decisions, err := f.Decisions(t)
			if err != nil {
				return nil, err
			}
			fit, err := book.ReadFit(t.Entry)
			if err != nil {
				return nil, err
			}
			fits = append(fits, fit)
			sweep, err := swept(f.Arena, r, t, decisions)
			if err != nil {
				return nil, err
			}
			if i > 0 && knob != (sweep != nil) {
				return nil, fmt.Errorf("row %s has a knob in one partition and none in another; its numbers over partitions would be of two kinds", r.ID)
			}
			knob = sweep != nil
			f.Add(r.ID, t, decisions, sweep)
			if rates, err := f.Rates(t); err != nil {
				return nil, err
			} else if rates != nil {
				f.AddRates(r.ID, rates)
			}
		}
		f.Reported[r.ID] = reported(fits, book.Recorded)
	}
	if len(f.Arena.Rows) == 0 {
		return f.Unfit(), nil
	}
	for _, b := range f.Strata() {
		out = append(out, f.Measure(b)...)
	}
	return slices.Concat(out, f.Predictions(), f.Unfit()), nil
}

// prepare makes the fits, in the order of the picture in doc.go and as many beside each other as there are processors.
func (e *experiment) prepare(ctx context.Context) error {
	var all []fitted
	for _, f := range slices.Concat(e.fits...) {
		if f.unmatched != nil {
			all = append(all, fitted{f.unmatched.Step, f.unmatched.method})
		}
		all = append(all, fitted{f.Step, f.method})
	}
	return e.fitAll(ctx, int(e.processors), all)
}

// head stands above the measurements of protocol split.
func (e *experiment) head() []string {
	x := &e.Spec.Experiment
	c := []string{" " + x.Title + "."}
	if e.asker.Sim != nil {
		law := "an item-response model"
		if note := e.pool.Simulation.Note; note != "" {
			law += " " + note
		}
		c = append(c, " A simulation: experts of pool "+e.pool.Name+" follow "+law+".")
	}
	if beside := e.pool.Beside(spec.Server); beside != nil {
		c = append(c, " Not simulated, but asked on servers: "+strings.Join(beside, ", ")+".")
	}
	if beside := e.pool.Beside(spec.Answered); beside != nil {
		c = append(c, " Not simulated, but answered elsewhere: "+strings.Join(beside, ", ")+".")
	}
	return append(c,
		fmt.Sprintf(" Intervals: %g%% paired question bootstrap, %d resamples (%d of lines Choice and Curve), stratified by benchmark, and training seeds.",
			100*x.Evaluate.Confidence, x.Evaluate.Bootstrap, min(x.Evaluate.Bootstrap, score.ChoiceResamples)),
		" usd is the total of one pass over a benchmark, averaged over runs; lines with benchmark=avg hold dollars per query.")
}

// reported averages over trainings what their routers said of their decisions on an arena; over those that said it, as the
// accuracy among no queries is nothing.
func reported(fits []book.Fit, arena string) (out []metrics.Value) {
	said := map[string]float64{} // by unit
	for _, f := range fits {
		for _, v := range f.Router[arena] {
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
	return out
}

// swept reads the sweep behind a training of a row, which decided as given; nil if it has no knob. A language model that is
// asked has none of its own and is mixed.
func swept(a *book.Arena, r book.Row, t book.Training, decisions []routing.Decision) (*book.Sweep, error) {
	if methods.AsksForDecisions(r.Kind) {
		return book.Mixed(decisions, len(a.Experts)), nil
	}
	return a.Sweep(t)
}

// sweepsOf are those of all trainings, each once; nil if the row has no knob.
func sweepsOf(a *book.Arena, r book.Row, decisions [][]routing.Decision) (sweeps []*book.Sweep, err error) {
	var read []store.Key
	for k, t := range r.Trainings {
		if slices.Contains(read, t.Sweeper.Key) {
			continue
		}
		read = append(read, t.Sweeper.Key)
		sweep, err := swept(a, r, t, decisions[k])
		if sweep == nil || err != nil {
			return nil, err
		}
		sweeps = append(sweeps, sweep)
	}
	return sweeps, nil
}

// contrasts are the pairs of rows that a spec asks to compare.
func contrasts(x *spec.Experiment) (out []score.Contrast) {
	for _, m := range x.Methods {
		asked := slices.Concat(x.Folds.Versus, m.Versus)
		for at, id := range asked {
			if _, ok := x.Row(id); ok && id != m.RowID() && !slices.Contains(asked[:at], id) {
				out = append(out, score.Contrast{Row: m.RowID(), Versus: id})
			}
		}
	}
	return out
}
