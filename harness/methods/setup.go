// What a method is built from, and what methods and their routers may be beside those of package routing.

package methods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// Setup is what a method is built from: its own entry of the spec, the knobs it shares with others, and the
// backend that trains networks.
type Setup struct {
	Method  spec.Method
	Spec    *spec.Experiment
	Backend policy.Backend
	Texts   *features.Texts  // what the texts that methods read are made of, so that they cut them up once; nil: no memory
	Stages  *stages.Memory   // what Stage I came to, so that rows that share it train it once; nil: no memory
	Fits    *predict.Fits    // what was fitted to texts, so that rows that share it fit it once; nil: no memory
	Models  *lm.Models       // language models that policies start from; nil: none is opened, as when a spec is only checked
	Pool    []routing.Expert // cheapest first; nil: not known yet
	Servers Servers          // nil: nobody can be asked, as when a spec is only checked
	IDs     features.IDs     // of all problems of the experiment; nil: not known yet
	Embed   Embed            // has the vectors of texts; nil: nobody can be asked

	Prices map[string]cost.Price // the experiment's price list, by model; nil: not known yet
	Data   string                // folder of data files; empty: none was named
	Out    string                // folder of the store; empty: none, as when a spec is only checked
}

// builder builds the method that a spec names.
type builder func(Setup) (routing.Method, error)

// errUnknown says that there is no such kind.
var errUnknown = errors.New("unknown method")

// Asking is a method whose routers ask language models, experts or others, for every decision. Since that costs, they
// decide on test problems alone: what they would spend on training problems is not measured, and no row can be matched
// to it.
type Asking interface {
	// Endpoints returns the models asked that are no experts of the pool.
	Endpoints() []experts.Endpoint
}

// Loader is a method whose routers come back from what their fit left.
type Loader interface {
	// Load returns the router that Fit returned, from the folder that Fit wrote to, without training and without the
	// training problems. experts are those that Fit had and work is Fit's. It leaves in work.Dir what Fit leaves there.
	// It fails on anything missing, damaged or of another pool; the error is predict.ErrNotLearned if Fit leaves nothing to load.
	Load(ctx context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error)
}

// Reporter is a router that counts more than its decisions say.
type Reporter interface {
	// Report returns measurements of the last call of Route, averaged over its queries.
	Report() []metrics.Value
}

// Servers is how a method asks language models by itself.
type Servers interface {
	// Pool returns the experts of the experiment, cheapest first, at their addresses, and how they are sampled. It starts
	// the server of a simulated pool and fails if an expert cannot be reached.
	Pool(ctx context.Context) ([]experts.Endpoint, spec.Sampling, error)
	// Chat returns a client of the given servers that asks nothing twice, not even after a kill, and obeys --offline.
	// It fails if a server does not serve what it is to be asked for. Whoever gave the servers closes it.
	Chat(ctx context.Context, endpoints []experts.Endpoint) (experts.Chatter, error)
	// Progress shows that so many conversations are to be had. Both functions are to be called from the caller's goroutine.
	Progress(what string, total int) (one func(), done func())
	// Ask puts the texts, each in the template of s, to one language model and returns its answers in order. It asks
	// nothing twice and obeys --offline, as Chat. A model without a URL is one of the pool's simulated routers.
	Ask(ctx context.Context, model experts.Endpoint, s spec.Sampling, asks []experts.Ask) ([]experts.Completion, error)
}

// Embed returns the vectors of texts in their order by a model for vectors, asking for none twice.
type Embed func(ctx context.Context, model experts.Endpoint, texts []string) ([][]float32, error)

// profiled returns the training problems of both stages. A method that learns from none, or from what is no number, would be a guess.
func profiled(m routing.Method, train routing.TrainSet) ([]routing.Example, error) {
	examples := train.Examples()
	if len(examples) == 0 {
		return nil, fmt.Errorf("method %s: no training problem to learn from", m.Name())
	}
	for _, e := range examples {
		for k, usd := range e.USD {
			var found string
			switch rate := e.Kappa[k]; {
			case !(rate >= 0 && rate <= 1):
				found = fmt.Sprintf("a pass rate of %v", rate)
			case !(usd >= 0 && usd <= math.MaxFloat64):
				found = fmt.Sprintf("a cost of %v dollars", usd)
			default:
				continue
			}
			return nil, fmt.Errorf("method %s: problem %s, expert %s: %s is nothing to learn from; measure it again", m.Name(), e.Problem.ID, train.Experts[k].ID, found)
		}
	}
	return examples, nil
}

// paramFault reports a parameter of a row that DecodeParams could not know to be wrong.
func paramFault(m spec.Method, param, format string, args ...any) error {
	return spec.Faults{{File: m.File, Line: cmp.Or(m.Params.Line, m.Line), Path: strings.TrimPrefix(m.Path+".params."+param, "."), Text: fmt.Sprintf(format, args...)}}
}

// sets says whether a row names a parameter.
func sets(row spec.Method, param string) bool {
	for i := 0; i+1 < len(row.Params.Content); i += 2 {
		if row.Params.Content[i].Value == param {
			return true
		}
	}
	return false
}
