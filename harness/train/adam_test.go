package train

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// idle is a policy whose weights do not change what it chooses, so that decay alone can move them.
type idle struct{}

func (idle) Kind() string      { return "idle" }
func (idle) Experts() []string { return []string{"a", "b"} }
func (idle) Config() any       { return struct{}{} }

func (idle) Weights() []policy.Weight {
	frozen := func() (*tensors.Tensor, error) { return tensors.FromFlatDataAndDimensions([]float32{5, 6}, 2), nil }
	return []policy.Weight{
		{Name: "norm", Dims: []int{2}, Start: policy.Normal(1), NoDecay: true},
		{Name: "frozen", Dims: []int{2}, Frozen: frozen},
		{Name: "product", Dims: []int{2}, Start: policy.Normal(1)},
	}
}

func (idle) Encode(_ context.Context, texts []string) ([]policy.Row, error) {
	return make([]policy.Row, len(texts)), nil
}

func (idle) Inputs(_ []policy.Row, size int) ([]*tensors.Tensor, error) {
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(make([]float32, 2*size), size, 2)}, nil
}

func (idle) Forward(scope *model.Scope, in []*graph.Node, _ float64) policy.Outputs {
	sum := in[0]
	for _, name := range []string{"norm", "frozen", "product"} {
		sum = graph.Add(sum, graph.MulScalar(graph.ExpandLeftToRank(scope.GetVariable(name).NodeValue(in[0].Graph()), 2), 0))
	}
	return policy.Outputs{Choice: sum}
}

func TestDecayActsOnTheWeightsThatThePolicySays(t *testing.T) {
	m := newModel(t, goBackend(t), idle{})
	values := func() map[string][]float32 {
		dir := t.TempDir()
		if err := m.Save(dir); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "weights.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := safetensors.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string][]float32{}
		for _, v := range all {
			found[v.Name] = v.Data
		}
		return found
	}
	before := values()
	if _, kept := before["frozen"]; kept || len(before) != 2 {
		t.Errorf("the checkpoint holds %v", before)
	}
	examples := []Example{{ID: "x", Prob: []float64{1, 0}, Weight: 1}}
	cfg := spec.SFT{Epochs: 1, Batch: 1, LR: .1, WeightDecay: .5}
	if _, err := (Conduct{}).SFT(context.Background(), m, examples, cfg, 1); err != nil {
		t.Fatal(err)
	}
	after := values()
	for i := range 2 {
		if after["norm"][i] != before["norm"][i] {
			t.Errorf("norm moved from %v to %v", before["norm"], after["norm"])
		}
		if want := float64(before["product"][i]) * (1 - .1*.5); math.Abs(float64(after["product"][i])-want) > 1e-6 {
			t.Errorf("product is %v, want %v", after["product"][i], want)
		}
	}
	frozen, err := tensors.CopyFlatData[float32](m.Scope().GetVariable("frozen").MustValue())
	if err != nil || frozen[0] != 5 || frozen[1] != 6 {
		t.Errorf("the frozen weight is %v (%v)", frozen, err)
	}
}
