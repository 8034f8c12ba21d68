// What EntroRouter+ starts from: what other rows expect of the experts, of training problems when fitted without them.

package methods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/train"
)

const (
	startingTemperature = 0.05 // of the policy over the utilities: a difference of a twentieth of a pass rate makes odds of e
	startingFolds       = 5    // parts of the training problems, of which the rows are fitted without one
	startsDir           = "starts"
)

// startingPrices are those of Stage II, over the range in which the curves of utility rows move: shares of a pass rate for the strongest's
// mean dollars.
func startingPrices() []float64 {
	return []float64{0.01, 0.02, 0.03, 0.05, 0.08, 0.13, 0.2, 0.35, 0.6, 1, 1.7, 3}
}

// inFull are the params of a method with every default, for recipes.
func inFull(m routing.Method) (n yaml.Node, err error) {
	text, err := spec.Canonical(m)
	if err == nil {
		err = yaml.Unmarshal(text, &n)
	}
	if err != nil || len(n.Content) == 0 {
		return yaml.Node{}, err
	}
	return *n.Content[0], nil
}

// expectation is what the mean of rows expects of the experts on texts.
type expectation struct {
	router predict.Rates
	unit   float64                    // of dollars
	held   map[string]stages.Expected // of the texts of training problems, by rows that were fitted without them
}

// start is what a policy starts from.
func (x *expectation) start(lambda float64) *stages.Start {
	return &stages.Start{Expect: x.of, Price: lambda, Prices: predict.UtilityKnobs(), Temperature: startingTemperature}
}

func (x *expectation) of(ctx context.Context, texts []string) ([]stages.Expected, error) {
	all := make([]stages.Expected, len(texts))
	var others []string
	var at []int
	for i, text := range texts {
		if held, ok := x.held[text]; ok {
			all[i] = held
		} else {
			others, at = append(others, text), append(at, i)
		}
	}
	found, err := x.router.Expects(ctx, others)
	for k, s := range found {
		all[at[k]] = x.expected(s)
	}
	return all, err
}

func (x *expectation) expected(s predict.Scores) stages.Expected {
	e := stages.Expected{Pass: s.Pass, Cost: make([]float64, len(s.USD))}
	for m, usd := range s.USD {
		e.Cost[m] = usd / x.unit
	}
	return e
}

// Fit implements routing.Method.
func (e *entroPlus) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (routing.Router, error) {
	if e.rows == nil {
		return e.Training.Fit(ctx, set, work)
	}
	x, err := e.expect(ctx, set, work)
	if err != nil {
		return nil, fmt.Errorf("method entroplus: %w", err)
	}
	r, err := e.from(x).Fit(ctx, set, work)
	clear(x.held) // the router is that which Load returns
	return r, err
}

// Load implements Loader.
func (e *entroPlus) Load(ctx context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	if e.rows == nil {
		return e.Training.Load(ctx, experts, from, work)
	}
	below, err := below(work)
	if err != nil {
		return nil, err
	}
	r, err := e.rows.Load(ctx, experts, filepath.Join(from, startsDir), below)
	if err != nil {
		return nil, err
	}
	rows := r.(predict.Rates)
	return e.from(&expectation{router: rows, unit: rows.Unit}).Load(ctx, experts, from, work)
}

// below is the work of the rows that are started from: they have a folder of their own.
func below(work routing.Work) (routing.Work, error) {
	if work.Dir == "" {
		return work, nil
	}
	work.Dir = filepath.Join(work.Dir, startsDir)
	return work, os.Mkdir(work.Dir, 0o777)
}

// from is the training of a policy that starts there.
func (e *entroPlus) from(x *expectation) *stages.Training {
	t := *e.Training
	t.With.Start = x.start(e.Lambda)
	t.With.StageTwo = func(ctx context.Context, reader policy.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error) {
		return e.prompts(ctx, reader, set, x, work)
	}
	return &t
}

// expect fits the rows to all training problems, and to all but each part of them. A text is in one part.
func (e *entroPlus) expect(ctx context.Context, set routing.TrainSet, work routing.Work) (*expectation, error) {
	fit := func(examples []routing.Example, work routing.Work) (*expectation, error) {
		r, err := e.rows.Fit(ctx, routing.TrainSet{Experts: set.Experts, C: set.C, SFT: examples}, work)
		if err != nil {
			return nil, err
		}
		rows := r.(predict.Rates)
		return &expectation{router: rows, unit: rows.Unit}, nil
	}
	work, err := below(work)
	if err != nil {
		return nil, err
	}
	x, err := fit(set.Examples(), work)
	if err != nil {
		return nil, err
	}
	work.Dir = ""
	x.held = map[string]stages.Expected{}
	for part := range startingFolds {
		var kept, held []routing.Example
		for _, of := range set.Examples() {
			if seed.Hash("starts|"+of.Problem.Text)%startingFolds == uint64(part) {
				held = append(held, of)
			} else {
				kept = append(kept, of)
			}
		}
		if len(held) == 0 || len(kept) == 0 {
			continue
		}
		without, err := fit(kept, work)
		if err != nil {
			return nil, err
		}
		without.unit = x.unit
		texts := routing.Texts(held)
		found, err := without.of(ctx, texts)
		if err != nil {
			return nil, err
		}
		for i, text := range texts {
			x.held[text] = found[i]
		}
	}
	return x, nil
}
