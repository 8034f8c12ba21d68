// Package compact is the small policy: features of a text through one hidden layer.
package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/internal/strict"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Policy is the small policy: features of the text, one shared tanh layer, and a softmax over the experts. It is not the
// paper's backbone (a 4B language model); it stands in for it where a run must take seconds on a laptop.
//
// It reads signed hashed n-grams of words and surface features as they are counted, or else what other rows read (features.Set),
// times scale. Inputs are dense [B,V]. With the pure-Go backend a dense product beats gathering
// embeddings at 256 buckets by seven times and is level with it at 4,096 (measured), and it is what a GPU likes.
type Policy struct {
	experts []string
	cfg     config
	start   Start // nil: the network starts from nothing, or from logits that are not known here
}

// config is what a checkpoint holds beside the weights.
type config struct {
	Version int      `json:"features"` // features.Version
	Experts []string `json:"experts"`
	Hidden  int      `json:"hidden"`

	*features.Counts               // what it reads; nil: Set is it
	Set              *features.Set `json:"set,omitempty"`

	Starts bool `json:"starts,omitempty"` // rows end with the logits that the network starts from
}

// reads is what turns texts into rows.
func (c config) reads() reader {
	if c.Set != nil {
		return c.Set
	}
	return c.Counts
}

type reader interface {
	Width() int
	Rows(ctx context.Context, texts []string) ([]policy.Row, error)
}

// scale is what rows of a features.Set are multiplied by, whose parts have length 1: learning rates are those of counts, whose parts
// are about six long.
const scale = 6

// New builds the policy for the given experts (ids, cheapest first) and fits what it reads on texts, which should be the training texts.
// Where reading names no part it reads the counts that cfg says.
func New(ctx context.Context, cfg spec.Policy, experts []string, texts []string, reading features.Reading) (*Policy, error) {
	c := config{Version: features.Version, Experts: slices.Clone(experts), Hidden: cfg.Hidden}
	if len(reading.Of.Read) > 0 {
		set, err := features.New(ctx, reading, texts)
		if err != nil {
			return nil, fmt.Errorf("compact policy: %w", err)
		}
		c.Set = &set
	} else {
		counts, err := features.NewCounts(ctx, cfg.Buckets, cfg.NGrams, texts, reading.Memory)
		if err != nil {
			return nil, fmt.Errorf("compact policy: %w", err)
		}
		c.Counts = &counts
	}
	return build(c)
}

func build(cfg config) (*Policy, error) {
	switch {
	case len(cfg.Experts) < 2:
		return nil, fmt.Errorf("compact policy: %d experts; a router needs at least 2", len(cfg.Experts))
	case cfg.Hidden < 1:
		return nil, fmt.Errorf("compact policy: hidden is %d; it must be at least 1", cfg.Hidden)
	}
	return &Policy{experts: cfg.Experts, cfg: cfg}, nil
}

// Read returns the policy of what Config returns, as JSON, with what it reads vectors from. Another version of the features is an error.
func Read(raw []byte, reading features.Reading) (*Policy, error) {
	var cfg config
	if err := strict.JSON(raw, &cfg); err != nil {
		return nil, fmt.Errorf("compact policy: %w", err)
	}
	if cfg.Version != features.Version {
		return nil, fmt.Errorf("compact policy: trained on features of version %d, this program computes version %d; train it again", cfg.Version, features.Version)
	}
	var err error
	switch {
	case cfg.Set != nil:
		*cfg.Set, err = cfg.Set.With(reading)
	case cfg.Counts != nil:
		err = cfg.Counts.Check()
	default:
		err = errors.New("the checkpoint does not say what is read of a text; train it again")
	}
	if err != nil {
		return nil, fmt.Errorf("compact policy: %w", err)
	}
	return build(cfg)
}

// Start returns for each text the logits [M] that a network starts from.
type Start func(ctx context.Context, texts []string) ([][]float64, error)

// From returns the policy whose network learns what is to be added to the logits of start, at first nothing. Of a policy that was read from
// Config it is the one that was trained.
func (c *Policy) From(start Start) *Policy {
	from := *c
	from.cfg.Starts, from.start = true, start
	return &from
}

// Shifted returns a row of a policy that starts from logits, whose network starts elsewhere by so much [M].
func Shifted(row policy.Row, by []float64) policy.Row {
	row.Values = slices.Clone(row.Values)
	own := row.Values[len(row.Values)-len(by):]
	for m, z := range by {
		own[m] += float32(z)
	}
	return row
}

// Kind returns "compact".
func (c *Policy) Kind() string { return "compact" }

// Experts implements Policy.
func (c *Policy) Experts() []string { return c.experts }

// Config implements Policy.
func (c *Policy) Config() any { return c.cfg }

// width is that of an input: what is read and, behind it, the logits that the network starts from.
func (c *Policy) width() int {
	if c.cfg.Starts {
		return c.read() + len(c.experts)
	}
	return c.read()
}

// read is the number of features.
func (c *Policy) read() int { return c.cfg.reads().Width() }

// Weights implements Policy: the shared layer [V,H], [H] and the head [H,M], [M], initialised as Glorot and Bengio
// (2010) propose; a head that adds to logits is 0.
func (c *Policy) Weights() []policy.Weight {
	v, h, m := c.read(), c.cfg.Hidden, len(c.experts)
	glorot := func(in, out int) float64 { return math.Sqrt(6 / float64(in+out)) }
	head := policy.Uniform(glorot(h, m))
	if c.cfg.Starts {
		head = nil
	}
	return []policy.Weight{
		{Name: "hidden.weight", Dims: []int{v, h}, Start: policy.Uniform(glorot(v, h))},
		{Name: "hidden.bias", Dims: []int{h}},
		{Name: "head.weight", Dims: []int{h, m}, Start: head},
		{Name: "head.bias", Dims: []int{m}},
	}
}

// Encode implements Policy, see features.Counts and features.Set. It fails where ctx ends, and on a text without a vector where vectors
// are read.
func (c *Policy) Encode(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := c.cfg.reads().Rows(ctx, texts)
	if c.cfg.Set != nil {
		for _, row := range rows {
			for k := range row.Values {
				row.Values[k] *= scale
			}
		}
	}
	if err != nil || !c.cfg.Starts {
		return rows, err
	}
	if c.start == nil {
		return nil, errors.New("compact policy: it was trained to add to logits, and nobody gives them here")
	}
	logits, err := c.start(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i, from := range logits {
		row := policy.Row{IDs: slices.Clone(rows[i].IDs), Values: slices.Clone(rows[i].Values)}
		for m, z := range from {
			row.IDs, row.Values = append(row.IDs, int32(c.read()+m)), append(row.Values, float32(z))
		}
		rows[i] = row
	}
	return rows, nil
}

// atOnce is how many products of a weight and an input are computed before the context is looked at again, unless fewer rows
// than the least batch have more: about half a second of two cores.
const atOnce = 1 << 30

// Sizes implements policy.Sized.
func (c *Policy) Sizes() []int {
	sizes := []int{16, 128, 1024}
	for len(sizes) > 1 && sizes[len(sizes)-1] > atOnce/(c.width()*c.cfg.Hidden) {
		sizes = sizes[:len(sizes)-1]
	}
	return sizes
}

// Inputs implements Policy: one dense tensor [size,V].
func (c *Policy) Inputs(rows []policy.Row, size int) ([]*tensors.Tensor, error) {
	v := c.width()
	x := tensors.FromShape(shapes.Make(dtypes.Float32, size, v)) // zeros
	var fault error
	err := tensors.MutableFlatData(x, func(x []float32) { fault = scatter(rows, x, v) })
	if err = cmp.Or(err, fault); err != nil {
		return nil, errors.Join(err, x.FinalizeAll())
	}
	return []*tensors.Tensor{x}, nil
}

// scatter writes the features of rows to where they are in a dense block of width v.
func scatter(rows []policy.Row, x []float32, v int) error {
	for i, row := range rows {
		if len(row.IDs) != len(row.Values) {
			return fmt.Errorf("compact policy: row %d has %d ids and %d values; encode texts with this policy", i, len(row.IDs), len(row.Values))
		}
		for k, id := range row.IDs {
			if id < 0 || int(id) >= v {
				return fmt.Errorf("compact policy: row %d has feature %d of %d; encode texts with this policy", i, id, v)
			}
			x[i*v+int(id)] = row.Values[k]
		}
	}
	return nil
}

// Forward implements Policy: logits = head(dropout(tanh(hidden(x)))), added to those that it starts from.
func (c *Policy) Forward(scope *model.Scope, inputs []*graph.Node, dropout float64) policy.Outputs {
	x := inputs[0]
	x.AssertDims(-1, c.width())
	var from *graph.Node
	if c.cfg.Starts {
		from = graph.Slice(x, graph.AxisRange(), graph.AxisRange(c.read()))
		x = graph.Slice(x, graph.AxisRange(), graph.AxisRange(0, c.read()))
	}
	h := graph.Tanh(dense(scope, "hidden", x))
	h = layers.DropoutStatic(scope, h, dropout)
	logits := dense(scope, "head", h)
	if from != nil {
		logits = graph.Add(logits, from)
	}
	logits.AssertDims(-1, len(c.experts))
	return policy.Outputs{Choice: logits}
}

// dense returns x [B,in] times <name>.weight [in,out] plus <name>.bias [out].
func dense(scope *model.Scope, name string, x *graph.Node) *graph.Node {
	g := x.Graph()
	w := scope.GetVariable(name + ".weight").NodeValue(g)
	b := scope.GetVariable(name + ".bias").NodeValue(g)
	return graph.Add(graph.MatMul(x, w), graph.ExpandLeftToRank(b, 2))
}
