// Package policy is what a trainable router is: a network in GoMLX that reads a problem and gives a distribution
// over the experts. Package train changes its weights; nothing else does.
//
// A Policy is the network and how texts become its input; it is immutable. A Model is a policy with weights on a
// backend. A checkpoint is a Model on disk: plain JSON and safetensors.
//
// Letters in doc comments: B rows of a batch, M experts (cheapest first), T tokens, V inputs, H hidden units.
package policy

import (
	"context"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/seed"
)

// Row is one text as a policy reads it. It depends on the policy alone, not on the weights, so callers encode a
// text once and keep the row.
type Row struct {
	IDs     []int32   // feature ids, or token ids in reading order
	Values  []float32 // value of each feature; nil for tokens
	Written []int32   // tokens the policy wrote before it chooses; nil for a policy that only chooses
	Said    []float32 // log-probabilities that the server gave them which wrote them; nil: they were written here
	Cut     bool      // they were cut off before their end, so that no choice follows from them
}

// Weight is one tensor of a policy: trained, in float32, or frozen.
type Weight struct {
	Name    string                          // as in the checkpoint, e.g. "hidden.weight"
	Dims    []int                           // shape
	Start   Start                           // of a trained weight; nil: zeros
	NoDecay bool                            // weight decay leaves a trained weight alone
	Frozen  func() (*tensors.Tensor, error) // reads a weight that is neither trained nor in checkpoints; nil: the weight is trained
	Kept    dtypes.DType                    // type of a frozen weight; a trained one has float32
}

// Start fills in the values that a trained weight has before training. Numbers are drawn from the stream of s.
type Start func(s seed.Seed, values []float32) error

// Uniform draws values from [-limit, limit).
func Uniform(limit float64) Start {
	return func(s seed.Seed, values []float32) error {
		r := s.Rand()
		for i := range values {
			values[i] = float32(limit * (2*r.Float64() - 1))
		}
		return nil
	}
}

// Normal draws values from the normal distribution with mean 0 and a deviation.
func Normal(sd float64) Start {
	return func(s seed.Seed, values []float32) error {
		r := s.Rand()
		for i := range values {
			values[i] = float32(sd * r.NormFloat64())
		}
		return nil
	}
}

// Size returns the number of values.
func (w Weight) Size() int { return shapes.Make(dtypes.Float32, w.Dims...).Size() }

// Outputs are the nodes of a forward pass.
type Outputs struct {
	Choice  *graph.Node // [B,M] logits over the experts, where the policy chooses
	Written *graph.Node // [B,T] log-probabilities of Row.Written; nil for a policy that only chooses
	Mask    *graph.Node // [B,T] 1 where Written holds a token, 0 where it is padding; nil with Written
}

// Policy is a network over texts. Training and evaluation use nothing but this interface, so features and tokens,
// one choice and a written rationale before it, all train the same way. Implementations are immutable and safe for
// concurrent use.
type Policy interface {
	// Kind is the name written in specs and checkpoints.
	Kind() string
	// Experts are the ids of the pool, cheapest first: the meaning of the M outputs.
	Experts() []string
	// Weights lists every tensor, in the order in which the trained ones are stored.
	Weights() []Weight
	// Config returns what, beside the weights, a checkpoint must hold; it is encoded as JSON.
	Config() any
	// Encode reads texts. It fails on a text that the policy cannot read, never shortens one silently, and stops with ctx.
	Encode(ctx context.Context, texts []string) ([]Row, error)
	// Inputs packs rows into the tensors that Forward takes, padded to size rows. Few distinct shapes may come out
	// of it for one size: each is compiled once, and GoMLX keeps 32.
	Inputs(rows []Row, size int) ([]*tensors.Tensor, error)
	// Forward builds the graph on the inputs. dropout is the share of units dropped while training, 0 otherwise.
	// As GoMLX graph code does, it panics on a fault; Model turns that into an error.
	Forward(scope *model.Scope, inputs []*graph.Node, dropout float64) Outputs
}

// Sized is a policy that bounds how many rows are computed with at once where nothing is trained.
type Sized interface {
	// Sizes are the numbers of rows to pack, ascending and at most three.
	Sizes() []int
}

// Reader is a policy that reads and writes tokens, which whoever serves it pays for.
type Reader interface {
	// Tokens returns how many a row has it read and write to choose.
	Tokens(Row) (in, out int)
}
