// What is explained: the steps of a run, and what a reader may ask about them.

package explain

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Plan is what a run would carry out.
type Plan struct {
	Spec  *spec.Resolved
	Store *store.Store // only looked at
	Steps []*Step
	Last  []*Step // what the run is for: those that measure
}

// Step is a step of a run and what a reader may ask about it.
type Step struct {
	Name      string
	Recipe    store.Recipe
	Inputs    []Input
	From      map[string]Origin // path of the recipe -> where the value is set, where that is not at its path
	Pool      string
	Row       *spec.Method // of a fit: the row of the spec, the first of those that share the step
	Benchmark string       // of problems and what is asked about them
	Fits      int          // routers that it fits
	Asking    bool         // they ask language models for every decision
	Amount    float64      // what its time and its size grow with: questions, answers, resamples of questions
	Training  float64      // seconds of it in which networks train on the Go backend, by methods.Network.Seconds
	Unpaced   bool         // nobody here knows how long it takes: networks train on XLA, or a server is asked

	// Asks says which answers are not stored, but for those that the counted steps ask for too; nil: asks for none.
	Asks func(ctx context.Context, counted []*Step) (Asked, error)
}

// Input is a step that another reads, under the name that it has there: a path that says what it is, as in
// "outcomes/paper/aime24"; that of the knob, if one of the spec says which it is.
type Input struct {
	As string
	*Step
}

// Origin says where a value of a recipe is set, where that is not at its path.
type Origin struct {
	Path string
	Cap  string // a knob that, where it is set, lowers the value; empty: none
}

// Roots of a recipe's parameters, below which stands what lies in other files than the spec.
const (
	RootPool       = "pool"       // pools/NAME.yaml
	RootBenchmarks = "benchmarks" // benchmarks.yaml; a list, each with its name as id
	RootPrices     = "prices"     // prices/NAME.yaml
	RootMethod     = "method"     // a row of methods with every knob resolved
	RootRows       = "methods"    // the rows that are measured, each with its id
	RootCode       = "code"       // versions and constants of the program
	RootBuild      = "build"      // how it was built
	RootVerifier   = "verifier"   // version of the answer verifier
	RootModel      = "model"      // files of the language model that a policy starts from, and the prompt it reads
)

func (s *Step) stage() string { return s.Recipe.Key().Stage }

// reads says whether another step is among the inputs.
func (s *Step) reads(t *Step) bool {
	return slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Step == t })
}

// Change is one difference between what is stored and what is wanted.
type Change struct {
	Knob   string `json:"knob"`             // where it is set: "grpo.steps", "pools/sim.yaml: sampling.top_p", "the code"; empty: nothing to compare with
	Field  string `json:"field,omitempty"`  // of recipe.json; empty: none of its own
	Stored Raw    `json:"stored,omitempty"` // empty: not set in what is stored
	Wanted Raw    `json:"wanted,omitempty"` // empty: not set now
	Text   string `json:"change"`           // in words: "2 stored, 3 wanted"
}

// Raw is a value in JSON, and in JSON it is that value.
type Raw string

// MarshalJSON implements json.Marshaler.
func (r Raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// String is the change as a sentence without its full stop.
func (c Change) String() string {
	if c.Knob == "" {
		return c.Text
	}
	return c.Knob + ": " + c.Text
}
