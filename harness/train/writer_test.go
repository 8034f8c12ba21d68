package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// writer is the smallest policy that writes before it chooses: a text is one of two topics, the policy writes one of
// two words about it, and its choice sees nothing but the word. It can only route by topic if it learns to write.
type writer struct{}

func (writer) Kind() string      { return "writer" }
func (writer) Experts() []string { return []string{"a", "b"} }
func (writer) Config() any       { return struct{}{} }
func (writer) Writes() bool      { return true }

func (writer) Compose(string) ([]int32, error) { return []int32{0}, nil }

func (writer) Weights() []policy.Weight {
	return []policy.Weight{{Name: "write", Dims: []int{2, 2}, Start: policy.Uniform(.2)}, {Name: "choose", Dims: []int{2, 2}, Start: policy.Uniform(.2)}}
}

func (writer) Encode(_ context.Context, texts []string) ([]policy.Row, error) {
	rows := make([]policy.Row, len(texts))
	for i, t := range texts {
		rows[i].IDs = []int32{0}
		if strings.Contains(t, "integral") {
			rows[i].IDs[0] = 1
		}
	}
	return rows, nil
}

// Inputs packs topic [B], word [B,2], padded as if longer texts existed, and mask [B,2].
func (writer) Inputs(rows []policy.Row, size int) ([]*tensors.Tensor, error) {
	topic, word, mask := make([]int32, size), make([]int32, 2*size), make([]float32, 2*size)
	for i, r := range rows {
		topic[i] = r.IDs[0]
		if len(r.Written) > 0 {
			word[2*i], mask[2*i] = r.Written[0], 1
		}
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(topic, size),
		tensors.FromFlatDataAndDimensions(word, size, 2), tensors.FromFlatDataAndDimensions(mask, size, 2)}, nil
}

func (writer) Forward(scope *model.Scope, in []*graph.Node, _ float64) policy.Outputs {
	g := in[0].Graph()
	topic := graph.OneHot(in[0], 2, scope.GetVariable("write").DType())
	words := graph.OneHot(in[1], 2, topic.DType()) // [B,2,2]
	logProbs := graph.LogSoftmax(graph.MatMul(topic, scope.GetVariable("write").NodeValue(g)), -1)
	first := graph.Squeeze(graph.Slice(words, graph.AxisRange(), graph.AxisRange(0, 1), graph.AxisRange()), 1)
	return policy.Outputs{
		Choice:  graph.MatMul(first, scope.GetVariable("choose").NodeValue(g)),
		Written: graph.ReduceSum(graph.Mul(words, graph.ExpandAxes(logProbs, 1)), -1),
		Mask:    in[2],
	}
}

func (writer) Write(_ context.Context, m *policy.Model, ids []string, rows []policy.Row, n int, greedy bool, s seed.Seed) ([]policy.Row, error) {
	value, err := m.Scope().GetVariable("write").Value()
	if err != nil {
		return nil, err
	}
	w, err := tensors.CopyFlatData[float32](value)
	if err != nil {
		return nil, err
	}
	var out []policy.Row
	for i, r := range rows {
		second := 1 / (1 + math.Exp(float64(w[2*r.IDs[0]]-w[2*r.IDs[0]+1]))) // probability of word 1
		for k := range n {
			word := int32(0)
			if greedy && second > .5 || !greedy && s.Derive(ids[i], k).Uniform() < second {
				word = 1
			}
			out = append(out, policy.Row{IDs: r.IDs, Written: []int32{word}})
		}
	}
	return out, nil
}

func TestAPolicyThatWritesTrainsLikeAnyOther(t *testing.T) {
	texts, topics := planted(64, seed.Derive("writer"))
	rows, _ := writer{}.Encode(t.Context(), texts)
	var prompts []Prompt
	var examples []Example
	for i, row := range rows {
		right := topics[i] % 2 // of triangle, integral, matrix: only integral is expert b's
		reward, prob := []float64{0, 0}, []float64{0, 0}
		reward[right], prob[right] = 1, 1
		id := fmt.Sprint(i)
		prompts = append(prompts, Prompt{ID: id, Row: row, Reward: reward, Anchor: []float64{math.Log(.5), math.Log(.5)}})
		row.Written = []int32{int32(right)} // its rationale
		examples = append(examples, Example{ID: id, Row: row, Prob: prob, Weight: 1})
	}
	check := func(t *testing.T, m *policy.Model) {
		probs, err := m.Probs(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range probs {
			if p[topics[i]%2] < .9 {
				t.Fatalf("topic %d goes to %v", topics[i], p)
			}
		}
	}
	t.Run("sft", func(t *testing.T) {
		m := newModel(t, goBackend(t), writer{})
		w := weightsOf(t, m)
		curve, err := (Conduct{}).SFT(context.Background(), m, examples, spec.SFT{Epochs: 60, Batch: 64, LR: .1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var want float64 // the mean over two tokens per row: the word and the choice
		for i := range examples {
			right := topics[i] % 2
			topic, choice := w[0][2*right:2*right+2], w[1][2*right:2*right+2]
			want += math.Log1p(math.Exp(topic[1-right]-topic[right])) / 128
			want += math.Log1p(math.Exp(choice[1-right]-choice[right])) / 128
		}
		if got := curve.Points[0].Loss; math.Abs(got-want) > 1e-5 {
			t.Errorf("first loss %v, want %v", got, want)
		}
		check(t, m)
	})
	t.Run("grpo", func(t *testing.T) {
		m := newModel(t, goBackend(t), writer{})
		// A short Stage I: from a blank start the two words are a game of coordination that may end anywhere.
		if _, err := (Conduct{}).SFT(context.Background(), m, examples, spec.SFT{Epochs: 3, Batch: 64, LR: .1}, 1); err != nil {
			t.Fatal(err)
		}
		cfg := grpoConfig
		cfg.Batch, cfg.LR, cfg.Steps, cfg.Epochs = 64, .1, 80, 2
		curve, err := (Conduct{}).GRPO(context.Background(), m, prompts, cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := curve.Points[0].Reward, curve.Points[79].Reward; first > .7 || last < .95 {
			t.Errorf("reward went from %v to %v", first, last)
		}
		check(t, m)
	})
	t.Run("exact cannot", func(t *testing.T) {
		cfg := grpoConfig
		cfg.Estimator = Exact
		if _, err := (Conduct{}).GRPO(context.Background(), newModel(t, goBackend(t), writer{}), prompts, cfg, 1); err == nil || !strings.Contains(err.Error(), "use sampled") {
			t.Errorf("error is %v", err)
		}
	})
}

// Where what writes is elsewhere it may fail. The steps before are not lost.
func TestAWriterThatFailsCostsNoStep(t *testing.T) {
	rows, _ := writer{}.Encode(t.Context(), []string{"an integral", "a triangle"})
	prompts := []Prompt{{ID: "a", Row: rows[0], Reward: []float64{0, 1}}, {ID: "b", Row: rows[1], Reward: []float64{1, 0}}}
	cfg := grpoConfig
	cfg.Batch, cfg.Steps = 2, 6
	want, err := (Conduct{}).GRPO(t.Context(), newModel(t, goBackend(t), writer{}), prompts, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("the server is down")
	var c Conduct
	for _, c.Every = range []int{10, 2} {
		c.Dir = t.TempDir()
		m, calls := newModel(t, goBackend(t), writer{}), 0
		m.WrittenBy(func(ctx context.Context, m *policy.Model, ids []string, rows []policy.Row, n int, greedy bool, s seed.Seed) ([]policy.Row, error) {
			if calls++; calls > 3 {
				return nil, down
			}
			return writer{}.Write(ctx, m, ids, rows, n, greedy, s)
		})
		if _, err := c.GRPO(t.Context(), m, prompts, cfg, 1); !errors.Is(err, down) || !strings.HasPrefix(err.Error(), "grpo: step 3: ") {
			t.Fatalf("error is %v", err)
		}
		var taken []int
		c.Tell = func(p Progress) { taken = append(taken, p.Step) }
		got, err := c.GRPO(t.Context(), newModel(t, goBackend(t), writer{}), prompts, cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, want, got, nil, nil)
		if !slices.Equal(taken, []int{4, 5, 6}) {
			t.Errorf("kept every %d steps, it went on with steps %v, want 4 to 6", c.Every, taken)
		}
	}
}

func TestTokensWrittenShareTheAdvantageOfTheChoice(t *testing.T) {
	const n, m, length = 5, 3, 4
	r := rand.New(rand.NewPCG(3, 3))
	normal := func(k int) []float64 { return draws(r, k, (*rand.Rand).NormFloat64) }
	logits, written := normal(n*m), normal(n*length)
	oldChoice, oldWritten, advantage := normal(n), normal(n*length), normal(n)
	actions, mask := make([]int32, n), make([]float64, n*length)
	var want, tokens float64
	for i := range n {
		actions[i] = int32(r.IntN(m))
		var sum float64
		for _, l := range logits[i*m : (i+1)*m] {
			sum += math.Exp(l)
		}
		want += reference(logits[i*m+int(actions[i])]-math.Log(sum), oldChoice[i], advantage[i], clipping)
		tokens++
		for k := range i { // row i has i tokens
			mask[i*length+k] = 1
			want += reference(written[i*length+k], oldWritten[i*length+k], advantage[i], clipping)
			tokens++
		}
	}
	exec, err := graph.NewExec(goBackend(t), func(in []*graph.Node) *graph.Node {
		return clippedLoss(clipping)(policy.Outputs{Choice: in[0], Written: in[1], Mask: in[2]}, in[3:])[0]
	})
	if err != nil {
		t.Fatal(err)
	}
	tensor := func(x []float64, dims ...int) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(float32s(x), dims...)
	}
	out, err := exec.Call(tensor(logits, n, m), tensor(written, n, length), tensor(mask, n, length),
		tensors.FromFlatDataAndDimensions(actions, n, 1), tensor(advantage, n, 1), tensor(oldChoice, n, 1), tensor(oldWritten, n, length))
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(tensors.ToScalar[float32](out[0])); math.Abs(got-want/tokens) > 1e-5 {
		t.Errorf("loss %v, want %v", got, want/tokens)
	}
}
