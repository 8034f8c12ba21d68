// Export of the language model of a row.

package protocol

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Export says which fit is exported, where to and how.
type Export struct {
	Row  string
	Seed uint64    // training seed; 0: the first of the experiment
	Dir  string    // folder that is written; empty or not there yet
	As   lm.Export // its card is made here
}

// Exported is what was exported.
type Exported struct {
	Seed uint64
	Fit  store.Key
}

// Write writes the language model that a fit of a finished experiment left, with a card that says what it is and what was
// measured of it. Nothing is fitted and nobody is asked: it fails with steps.ErrIncomplete if the run is not finished, and
// with spec.ErrUsage if the row is no language model, could not be fitted or was not trained with the seed.
func (x Export) Write(ctx context.Context, r *spec.Resolved, o steps.Options) (done Exported, err error) {
	if err := oneRouter(r); err != nil {
		return done, err
	}
	o.Offline, o.Beside = true, true
	if _, err := os.Stat(o.Out); errors.Is(err, fs.ErrNotExist) {
		o.Look = true // where there is no store none is made
	}
	run, err := newSplit(ctx, r, o)
	if err != nil {
		return done, err
	}
	defer run.Close()
	f, err := run.split.exportable(x.Row, x.Seed)
	if err != nil {
		return done, err
	}
	for _, s := range append(slices.Clone(run.Measured), f.Step) {
		if err := run.Finished(s); err != nil {
			return done, err
		}
	}
	router, free, err := f.router(ctx, "")
	defer free()
	if err != nil {
		return done, err
	}
	network, ok := router.(interface{ Model() *policy.Model })
	if !ok {
		return done, fmt.Errorf("%w: row %s has no network to export", spec.ErrUsage, x.Row)
	}
	if x.As.Card, err = x.card(ctx, run, f, network.Model().Policy()); err != nil {
		return done, err
	}
	if err := x.As.Write(network.Model(), x.Dir); errors.Is(err, lm.ErrNoAdapter) {
		return done, fmt.Errorf("%w: row %s: %w", spec.ErrUsage, x.Row, err)
	} else if err != nil {
		return done, err
	}
	return Exported{f.seed, f.Recipe.Key()}, nil
}

// exportable is the fit of a row with a seed, if its policy is a language model.
func (e *experiment) exportable(row string, seed uint64) (*fit, error) {
	first, err := e.languageModel(row)
	if err != nil {
		return nil, err
	}
	if seed == 0 {
		return first, nil
	}
	var seeds []string
	for _, f := range slices.Concat(e.fits...) {
		if f.row.RowID() != row {
			continue
		}
		if f.seed == seed {
			return f, nil
		}
		seeds = append(seeds, fmt.Sprint(f.seed))
	}
	return nil, fmt.Errorf("%w: row %s was not trained with seed %d; its seeds are %s", spec.ErrUsage, row, seed, strings.Join(seeds, ", "))
}

//go:embed card.tmpl
var cardText string

// modelCard is what card.tmpl shows.
type modelCard struct {
	lm.About
	Row, Experiment, Command string
	Simulated, Adapter       bool
	Seed                     uint64
	DType                    string
	Key                      string
	Inputs                   []cardInput
	Settings                 string // JSON
	Head                     []string
	Lines                    []cardLine
}

type cardInput struct{ Name, Key string }

// cardLine is what was measured of the row, or of this training of it.
type cardLine struct{ Arena, Of, Accuracy, USD, Gain string }

func (x Export) card(ctx context.Context, run *Run, f *fit, p policy.Policy) ([]byte, error) {
	network, ok := p.(*lm.Policy)
	if !ok {
		return nil, fmt.Errorf("%w: the policy of row %s is of kind %s, no language model", spec.ErrUsage, x.Row, p.Kind())
	}
	set, err := run.Measurements(ctx)
	if err != nil {
		return nil, err
	}
	var settings bytes.Buffer
	if err := json.Indent(&settings, f.Recipe.Params(), "", "  "); err != nil {
		return nil, err
	}
	c := modelCard{
		About: network.About(), Row: x.Row, Experiment: run.Spec.Experiment.Name, Command: run.Spec.Named, Simulated: f.e.pool.Kind == "simulated",
		Adapter: x.As.Adapter, Seed: f.seed, DType: string(x.As.DType), Key: fullKey(f.Recipe.Key()), Settings: settings.String(),
	}
	for _, line := range run.Head {
		c.Head = append(c.Head, strings.TrimSpace(line))
	}
	inputs := f.Recipe.Inputs()
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		c.Inputs = append(c.Inputs, cardInput{name, fullKey(inputs[name])})
	}
	routes := &metrics.Set{Measurements: slices.DeleteFunc(set.Measurements, func(m metrics.Measurement) bool { return m.Name != "Route" })}
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		for _, of := range []struct{ seed, what string }{{"", "the row"}, {fmt.Sprint(f.seed), fmt.Sprintf("training seed %d", f.seed)}} {
			m, ok, err := routes.Find(metrics.Keys("arena", arena, "method", x.Row, "benchmark", metrics.Average, "seed", of.seed)...)
			if err != nil {
				return nil, err
			}
			if ok {
				c.Lines = append(c.Lines, cardLine{arena, of.what, shown(m, metrics.Accuracy, 2), shown(m, metrics.USDPerQuery, 5), shown(m, units.HullGain, 2)})
			}
		}
	}
	t, err := template.New("card").Parse(cardText)
	if err != nil {
		return nil, fmt.Errorf("model card: %w", err)
	}
	var text bytes.Buffer
	if err := t.Execute(&text, c); err != nil {
		return nil, fmt.Errorf("model card: %w", err)
	}
	return text.Bytes(), nil
}

// fullKey is a key with all its digits.
func fullKey(k store.Key) string {
	text, _ := k.MarshalText() // never fails
	return string(text)
}

// shown is a number with its interval.
func shown(m metrics.Measurement, unit string, decimals int) string {
	v, ok := m.Value(unit)
	if !ok {
		return "not defined"
	}
	text := metrics.Format(v.Number, decimals)
	if v.Bounded {
		text += fmt.Sprintf(" [%s, %s]", metrics.Format(v.Low, decimals), metrics.Format(v.High, decimals))
	}
	return text
}
