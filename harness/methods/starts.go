// What EntroRouter+ starts from: what other rows expect of the experts, of training problems when fitted without them.

package methods

import (
	"context"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

const (
	startingTemperature = 0.05 // of the policy over the utilities: a difference of a twentieth of a pass rate makes odds of e
	startingFolds       = 5    // parts of the training problems, of which the rows are fitted without one
	startsDir           = "starts"
)

// startingPrices are those of Stage II, over the range in which the curves of utility rows move: shares of a pass rate for the dearest's
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
