package lm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
)

// reference is what transformers computed with a model of testdata (make.py).
type reference struct {
	Tokens [][]int32 `json:"tokens"`
	Loss   float64   `json:"loss"`
	Greedy [][]int32 `json:"greedy"`

	file *safetensors.File
}

func references(t *testing.T, name string) (*Base, reference) {
	t.Helper()
	dir := filepath.Join("testdata", name)
	base, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if r.file, err = safetensors.Open(filepath.Join(dir, "reference.safetensors")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close(); r.file.Close() })
	return base, r
}

func (r reference) floats(t *testing.T, name string) []float32 {
	t.Helper()
	v, err := r.file.Floats(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func openGo(t testing.TB) policy.Backend {
	t.Helper()
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

// onModels runs a test on both models of testdata, on the Go backend and on XLA.
func onModels(t *testing.T, test func(t *testing.T, b policy.Backend, base *Base, r reference)) {
	for _, backend := range []string{"go", "xla"} {
		for _, name := range []string{"qwen3", "llama"} {
			t.Run(backend+" "+name, func(t *testing.T) {
				var b policy.Backend
				if backend == "go" {
					b = openGo(t)
				} else {
					b = xlatest.Backend(t)
				}
				base, r := references(t, name)
				test(t, b, base, r)
			})
		}
	}
}

func network(t *testing.T, b policy.Backend, base *Base, compute dtypes.DType) *Network {
	t.Helper()
	n, err := NewNetwork(b, Decoder{Config: base.Config, Compute: compute}, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// call compiles a graph on the weights of a network and runs it once.
func call(t *testing.T, n *Network, body func(w Weights, in []*graph.Node) []*graph.Node, inputs ...*tensors.Tensor) [][]float32 {
	t.Helper()
	e, err := model.NewExec(n.backend, n.store, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		return body(n.weights(in[0].Graph()), in)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Finalize()
	out, err := policy.Call(e, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tokensOf lays texts side by side with padding of a token, up to a width; the first input of scores.
func tokensOf(texts [][]int32, width int, padding int32) *tensors.Tensor {
	flat := slices.Repeat([]int32{padding}, len(texts)*width)
	for i, x := range texts {
		copy(flat[i*width:], x)
	}
	return tensors.FromFlatDataAndDimensions(flat, len(texts), width)
}

func lengthsOf(texts [][]int32) *tensors.Tensor {
	lengths := make([]int32, len(texts))
	for i, x := range texts {
		lengths[i] = int32(len(x))
	}
	return tensors.FromFlatDataAndDimensions(lengths, len(texts))
}

// scores are the logits [B,T,V] at every position.
func (n *Network) scores(w Weights, tokens *graph.Node) *graph.Node {
	return n.Logits(w, n.Norm(w, n.layers(w, n.Embed(w, tokens), 0, n.Config.Layers)), nil)
}

func longest(texts [][]int32) int {
	return slices.MaxFunc(lengths(texts), func(a, b int) int { return a - b })
}

func lengths(texts [][]int32) []int {
	var all []int
	for _, x := range texts {
		all = append(all, len(x))
	}
	return all
}

// furthest is the largest difference of two slices at the positions of real tokens, each of width values.
func furthest(got, want []float32, texts [][]int32, t, width int) (far float64) {
	for i, x := range texts {
		for k := i * t * width; k < (i*t+len(x))*width; k++ {
			far = max(far, math.Abs(float64(got[k])-float64(want[k])))
		}
	}
	return far
}

func TestLogitsAreThoseOfTransformers(t *testing.T) {
	onModels(t, func(t *testing.T, b policy.Backend, base *Base, r reference) {
		n, width := network(t, b, base, dtypes.Float32), longest(r.Tokens)
		want := r.floats(t, "logits")
		got := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			return []*graph.Node{n.scores(w, in[0])}
		}, tokensOf(r.Tokens, width, 0))[0]
		far := furthest(got, want, r.Tokens, width, base.Config.Vocab)
		t.Logf("largest difference %.1e", far)
		if !(far < 1e-4) {
			t.Errorf("logits differ by %v", far)
		}
		last := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			return []*graph.Node{n.Logits(w, n.Last(w, n.Embed(w, in[0]), 0, in[1]), nil)}
		}, tokensOf(r.Tokens, width, 0), lengthsOf(r.Tokens))[0]
		for i, x := range r.Tokens {
			at := (i*width + len(x) - 1) * base.Config.Vocab
			if far := furthest(last[i*base.Config.Vocab:], want[at:], [][]int32{{0}}, 1, base.Config.Vocab); !(far < 1e-4) {
				t.Errorf("at the last position of text %d logits differ by %v", i, far)
			}
		}
	})
}

// loss is the mean cross-entropy of the real tokens that follow another, as transformers computes it from labels.
func (n *Network) loss(w Weights, tokens, lengths *graph.Node) *graph.Node {
	width := tokens.Shape().Dim(1)
	all, g := graph.AxisRange(), tokens.Graph()
	logProbs := graph.Slice(graph.LogSoftmax(n.scores(w, tokens), -1), all, graph.AxisRange(0, width-1), all)
	next := graph.OneHot(graph.Slice(tokens, all, graph.AxisRange(1)), n.Config.Vocab, dtypes.Float32)
	position := graph.Iota(g, next.Shape(), 1)
	real := graph.ConvertDType(graph.LessThan(position, graph.BroadcastToShape(graph.Reshape(graph.ConvertDType(graph.AddScalar(lengths, -1), dtypes.Float32), -1, 1, 1), next.Shape())), dtypes.Float32)
	count := graph.DivScalar(graph.ReduceAllSum(real), float64(n.Config.Vocab))
	return graph.Neg(graph.Div(graph.ReduceAllSum(graph.Mul(graph.Mul(next, real), logProbs)), count))
}

func TestLossAndEveryGradientAreThoseOfTransformers(t *testing.T) {
	onModels(t, func(t *testing.T, b policy.Backend, base *Base, r reference) {
		for _, checkpoint := range []bool{false, true} {
			n := network(t, b, base, dtypes.Float32)
			n.Checkpoint = checkpoint
			var names []string
			for _, w := range base.Config.Sizes() {
				names = append(names, w.Name)
			}
			out := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
				loss := n.loss(w, in[0], in[1])
				var weights []*graph.Node
				for _, name := range names {
					weights = append(weights, w(name))
				}
				return append([]*graph.Node{loss}, graph.Gradient(loss, weights...)...)
			}, tokensOf(r.Tokens, longest(r.Tokens), 0), lengthsOf(r.Tokens))
			if far := math.Abs(float64(out[0][0]) - r.Loss); !(far < 1e-5) {
				t.Errorf("loss is %v, want %v", out[0][0], r.Loss)
			}
			worst := 0.0
			for i, name := range names {
				want := r.floats(t, "gradient."+name)
				top, far := 0.0, 0.0
				for k, v := range out[i+1] {
					top = max(top, math.Abs(float64(want[k])))
					far = max(far, math.Abs(float64(v)-float64(want[k])))
				}
				if len(want) != len(out[i+1]) || top == 0 || !(far < 1e-4*top) {
					t.Errorf("the gradient of %s differs by %.1e where its largest entry is %.1e", name, far, top)
				}
				worst = max(worst, far/top)
			}
			t.Logf("checkpoint %v: loss %.6f; largest difference of a gradient over the largest entry of its tensor: %.1e", checkpoint, out[0][0], worst)
		}
	})
}

func TestCachedGenerationIsThatOfTransformersAndOfAWholePass(t *testing.T) {
	onModels(t, func(t *testing.T, b policy.Backend, base *Base, r reference) {
		n := network(t, b, base, dtypes.Float32)
		var steps [][]float32
		texts, err := n.Greedy(context.Background(), r.Tokens, len(r.Greedy[0]), nil, func(scores []float32) { steps = append(steps, scores) })
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(texts) != fmt.Sprint(r.Greedy) {
			t.Errorf("generated %v, want %v", texts, r.Greedy)
		}
		var whole [][]int32
		for i, x := range r.Tokens {
			whole = append(whole, slices.Concat(x, texts[i]))
		}
		width, v := longest(whole), base.Config.Vocab
		all := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			return []*graph.Node{n.scores(w, in[0])}
		}, tokensOf(whole, width, 0))[0]
		for k, scores := range steps {
			for i, x := range r.Tokens {
				at := (i*width + len(x) - 1 + k) * v
				if far := furthest(scores[i*v:], all[at:], [][]int32{{0}}, 1, v); !(far < 1e-4) {
					t.Errorf("step %d, text %d: cached logits differ from uncached ones by %v", k, i, far)
				}
			}
		}
		stopped, err := n.Greedy(context.Background(), r.Tokens, 20, []int32{r.Greedy[0][2]}, nil)
		if err != nil || len(stopped[0]) > 3 {
			t.Errorf("a stop token after at most 3 gave %v (%v)", stopped, err)
		}
	})
}

func TestPaddingBatchAndOrderChangeNothing(t *testing.T) {
	onModels(t, func(t *testing.T, b policy.Backend, base *Base, r reference) {
		n, v := network(t, b, base, dtypes.Float32), base.Config.Vocab
		last := func(texts [][]int32, width int, padding int32) []float32 {
			return call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
				return []*graph.Node{n.Logits(w, n.Last(w, n.Embed(w, in[0]), 0, in[1]), nil)}
			}, tokensOf(texts, width, padding), lengthsOf(texts))[0]
		}
		width := longest(r.Tokens)
		want := last(r.Tokens, width, 0)
		for name, got := range map[string][]float32{
			"other padding": last(r.Tokens, width, 7),
			"a wider batch": last(r.Tokens, 3*width+1, 5),
		} {
			if far := furthest(got, want, [][]int32{{0, 0, 0}}, 3, v); !(far < 1e-5) {
				t.Errorf("%s moves logits by %v", name, far)
			}
		}
		for i, x := range r.Tokens {
			if far := furthest(last([][]int32{x}, len(x), 0), want[i*v:], [][]int32{{0}}, 1, v); !(far < 1e-5) {
				t.Errorf("alone, logits of text %d move by %v", i, far)
			}
		}
		turned := last([][]int32{r.Tokens[2], r.Tokens[0], r.Tokens[1]}, width, 0)
		for k, i := range []int{2, 0, 1} {
			if far := furthest(turned[k*v:], want[i*v:], [][]int32{{0}}, 1, v); !(far < 1e-5) {
				t.Errorf("in another order, logits of text %d move by %v", i, far)
			}
		}
	})
}
