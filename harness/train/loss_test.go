package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestAdvantages(t *testing.T) {
	sd := math.Sqrt(1./3) + 1e-6 // of 1 0 1 0
	for _, c := range []struct {
		name    string
		rewards []float64
		stdNorm bool
		want    []float64
	}{
		{"the sample standard deviation divides", []float64{1, 0, 1, 0}, true, []float64{.5 / sd, -.5 / sd, .5 / sd, -.5 / sd}},
		{"without it the mean is taken off", []float64{1, 0, 1, 0}, false, []float64{.5, -.5, .5, -.5}},
		{"two rewards", []float64{-3, 1}, true, []float64{-2 / (math.Sqrt(8) + 1e-6), 2 / (math.Sqrt(8) + 1e-6)}},
		{"equal rewards teach exactly nothing", []float64{.1, .1, .1}, true, []float64{0, 0, 0}},
		{"a group of one keeps its reward", []float64{2.5}, true, []float64{2.5 / (1 + 1e-6)}},
		{"a group of one without division", []float64{2.5}, false, []float64{2.5}},
		{"no group", nil, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := advantages(c.rewards, c.stdNorm)
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if math.Abs(got[i]-c.want[i]) > 1e-12 || c.want[i] == 0 && got[i] != 0 {
					t.Errorf("advantage %d is %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}

// Only beta/T acts: log pi_ref = mu/T - log Z, and the group mean removes log Z (a finding about the paper's objective).
func TestAnchorsOfEqualRatioGiveEqualAdvantages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 5).Draw(t, "experts")
		number := func(name string, low, high float64) []float64 {
			// Multiples of 1/64: pass rates and prices are no finer, and rewards that differ by rounding alone would be
			// blown up by the division by sd + 1e-6.
			grid := rapid.IntRange(int(64*low), int(64*high))
			draws := rapid.SliceOfN(grid, m, m).Draw(t, name)
			x := make([]float64, m)
			for i, k := range draws {
				x[i] = float64(k) / 64
			}
			return x
		}
		reward, mu := number("reward", -3, 1), number("mu", -1, 1)
		ratio := float64(rapid.IntRange(0, 32).Draw(t, "4 beta/T")) / 4
		shaped := func(temperature float64) []float64 {
			var z float64
			for _, u := range mu {
				z += math.Exp(u / temperature)
			}
			out := make([]float64, m)
			for i := range out {
				out[i] = reward[i] + ratio*temperature*(mu[i]/temperature-math.Log(z))
			}
			return out
		}
		a, b := shaped(rapid.Float64Range(.1, .5).Draw(t, "T")), shaped(rapid.Float64Range(.5, 2).Draw(t, "other T"))
		group := rapid.SliceOfN(rapid.IntRange(0, m-1), 2, 16).Draw(t, "choices")
		x, y := make([]float64, len(group)), make([]float64, len(group))
		for i, c := range group {
			x[i], y[i] = a[c], b[c]
		}
		std := rapid.Bool().Draw(t, "std")
		p, q := advantages(x, std), advantages(y, std)
		for i := range p {
			if math.Abs(p[i]-q[i]) > 1e-9 {
				t.Fatalf("advantages %v and %v", p, q)
			}
		}
	})
}

var clipping = spec.GRPO{ClipLow: .2, ClipHigh: .3, DualClip: 3}

// reference is the loss of one token, as VeRL computes it.
func reference(logProb, old, advantage float64, cfg spec.GRPO) float64 {
	rho := math.Exp(min(max(logProb-old, -20), 20))
	loss := max(-advantage*rho, -advantage*min(max(rho, 1-cfg.ClipLow), 1+cfg.ClipHigh))
	if advantage < 0 {
		loss = min(loss, -advantage*cfg.DualClip)
	}
	return loss
}

func TestSurrogateAndItsGradient(t *testing.T) {
	for _, c := range []struct {
		name                 string
		ratio, advantage     float64
		want, wantDerivative float64 // with respect to the log-probability
	}{
		{"on-policy, good", 1, 1, -1, -1},
		{"on-policy, bad", 1, -2, 2, 2},
		{"a good choice became likelier than the clip", 1.5, 1, -1.3, 0},
		{"a good choice became likelier within the clip", 1.25, 1, -1.25, -1.25},
		{"a good choice became unlikelier", .5, 1, -.5, -.5},
		{"a bad choice became likelier", 1.5, -1, 1.5, 1.5},
		{"a bad choice became unlikelier than the clip", .5, -1, .8, 0},
		{"a bad choice became much likelier: dual clip", 5, -2, 6, 0},
		{"a ratio out of range", math.Exp(30), -1, 3, 0},
		{"no advantage", 1.5, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reference(math.Log(c.ratio), 0, c.advantage, clipping); math.Abs(got-c.want) > 1e-12 {
				t.Fatalf("the reference gives %v, want %v", got, c.want)
			}
			exec, err := graph.NewExec(goBackend(t), func(logProb, old, advantage *graph.Node) []*graph.Node {
				loss := graph.ReduceAllSum(surrogate(logProb, old, advantage, clipping))
				return []*graph.Node{loss, graph.Gradient(loss, logProb)[0]}
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Call([][]float32{{float32(math.Log(c.ratio)) - 1}}, [][]float32{{-1}}, [][]float32{{float32(c.advantage)}})
			if err != nil {
				t.Fatal(err)
			}
			loss, slope := tensors.ToScalar[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])[0]
			if math.Abs(float64(loss)-c.want) > 1e-5 || math.Abs(float64(slope)-c.wantDerivative) > 1e-5 {
				t.Errorf("loss %v, derivative %v; want %v, %v", loss, slope, c.want, c.wantDerivative)
			}
		})
	}
}

// weights are the values of a compact policy, flat, in float64, to compute it from first principles.
type weights [][]float64

func weightsOf(t *testing.T, m *policy.Model) weights {
	t.Helper()
	var w weights
	for _, info := range m.Policy().Weights() {
		value, err := m.Scope().GetVariable(info.Name).Value()
		if err != nil {
			t.Fatal(err)
		}
		flat := tensors.MustCopyFlatData[float32](value)
		values := make([]float64, len(flat))
		for i, v := range flat {
			values[i] = float64(v)
		}
		w = append(w, values)
	}
	return w
}

// logProbs is the compact policy in plain loops.
func (w weights) logProbs(row policy.Row) []float64 {
	hidden, m := len(w[1]), len(w[3])
	logits := append([]float64(nil), w[3]...)
	for h := range hidden {
		x := w[1][h]
		for i, id := range row.IDs {
			x += float64(row.Values[i]) * w[0][int(id)*hidden+h]
		}
		for k := range logits {
			logits[k] += math.Tanh(x) * w[2][h*m+k]
		}
	}
	var sum float64
	for _, l := range logits {
		sum += math.Exp(l)
	}
	for k := range logits {
		logits[k] -= math.Log(sum)
	}
	return logits
}

// gradient is the derivative of loss by central differences.
func (w weights) gradient(loss func(weights) float64) weights {
	const h = 1e-5
	g := make(weights, len(w))
	for i := range w {
		g[i] = make([]float64, len(w[i]))
		for k, v := range w[i] {
			w[i][k] = v + h
			up := loss(w)
			w[i][k] = v - h
			down := loss(w)
			w[i][k] = v
			g[i][k] = (up - down) / (2 * h)
		}
	}
	return g
}

// small returns a policy of few weights with rows and targets for it.
func small(t *testing.T, n int) (m *policy.Model, rows []policy.Row, r *rand.Rand) {
	t.Helper()
	texts, _ := planted(n, seed.Derive("small"))
	p, err := compact.New(t.Context(), spec.Policy{Buckets: 6, NGrams: 1, Hidden: 4}, testExperts, texts, features.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err = p.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return newModel(t, goBackend(t), p), rows, rand.New(rand.NewPCG(1, 1))
}

func draws(r *rand.Rand, n int, f func(*rand.Rand) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(r)
	}
	return x
}

func float32s(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func distributionOf(x []float64) []float64 {
	var sum float64
	for _, v := range x {
		sum += v * v
	}
	for i, v := range x {
		x[i] = v * v / sum
	}
	return x
}

// TestLossGradients compares what the optimizer is given with central differences of the losses in plain Go.
func TestLossGradients(t *testing.T) {
	const n, m, choices = 6, 3, 4
	mod, rows, r := small(t, n)
	var target, weight, reward, advantage, old []float64
	for range n {
		target = append(target, distributionOf(draws(r, m, (*rand.Rand).NormFloat64))...)
	}
	weight = []float64{1, 2, 1, 0, 1, .5}
	reward = draws(r, n*m, (*rand.Rand).NormFloat64)
	advantage = draws(r, n*choices, (*rand.Rand).NormFloat64)
	old = draws(r, n*choices, func(r *rand.Rand) float64 { return -1.1 + .4*r.NormFloat64() })
	actions := make([]int32, n*choices)
	for i := range actions {
		actions[i] = int32(r.IntN(m))
	}
	for _, c := range []struct {
		name  string
		graph func(policy.Outputs, []*graph.Node) []*graph.Node
		extra []*tensors.Tensor
		plain func(weights) float64
	}{
		{"sft", sftLoss,
			[]*tensors.Tensor{tensors.FromFlatDataAndDimensions(float32s(target), n, m), tensors.FromFlatDataAndDimensions(float32s(weight), n)},
			func(w weights) float64 {
				var loss, sum float64
				for i, row := range rows {
					for k, l := range w.logProbs(row) {
						loss -= weight[i] * target[i*m+k] * l
					}
					sum += weight[i]
				}
				return loss / sum
			}},
		{"grpo sampled", clippedLoss(clipping),
			[]*tensors.Tensor{tensors.FromFlatDataAndDimensions(actions, n, choices),
				tensors.FromFlatDataAndDimensions(float32s(advantage), n, choices), tensors.FromFlatDataAndDimensions(float32s(old), n, choices)},
			func(w weights) float64 {
				var loss float64
				for i, row := range rows {
					l := w.logProbs(row)
					for k := i * choices; k < (i+1)*choices; k++ {
						loss += reference(l[actions[k]], old[k], advantage[k], clipping) / (n * choices)
					}
				}
				return loss
			}},
		{"grpo exact", exactLoss,
			[]*tensors.Tensor{tensors.FromFlatDataAndDimensions(float32s(reward), n, m)},
			func(w weights) float64 {
				var loss float64
				for i, row := range rows {
					for k, l := range w.logProbs(row) {
						loss -= math.Exp(l) * reward[i*m+k] / n
					}
				}
				return loss
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec, err := model.NewExec(mod.Backend(), mod.Store(), func(scope *model.Scope, in []*graph.Node) []*graph.Node {
				loss := c.graph(mod.Policy().Forward(mod.Scope(), in[:1], 0), in[1:])[0]
				return append([]*graph.Node{loss}, mod.Scope().BuildTrainableVariablesGradientsGraph(loss)...)
			})
			if err != nil {
				t.Fatal(err)
			}
			inputs, err := mod.Policy().Inputs(rows, n)
			if err != nil {
				t.Fatal(err)
			}
			got, err := policy.Call(exec, append(inputs, c.extra...))
			if err != nil {
				t.Fatal(err)
			}
			w := weightsOf(t, mod)
			if want := c.plain(w); math.Abs(float64(got[0][0])-want) > 1e-5 {
				t.Errorf("loss %v, want %v", got[0][0], want)
			}
			var largest float64
			for i, layer := range w.gradient(c.plain) {
				for k, want := range layer {
					largest = max(largest, math.Abs(want))
					if math.Abs(float64(got[1+i][k])-want) > 1e-5 {
						t.Fatalf("%s[%d]: derivative %v, want %v", mod.Policy().Weights()[i].Name, k, got[1+i][k], want)
					}
				}
			}
			if largest < 1e-3 {
				t.Errorf("the largest derivative is %v: nothing was tested", largest)
			}
		})
	}
}

// TestSFTStepsAreThoseOfAPlainTrainer follows whole steps (order, batches, schedule, clipping, Adam, decay) in plain
// Go from the same weights.
func TestSFTStepsAreThoseOfAPlainTrainer(t *testing.T) {
	const n, m = 10, 3
	mod, rows, r := small(t, n)
	cfg := spec.SFT{Epochs: 2, Batch: 4, LR: .05, WarmUp: .5, WeightDecay: .1}
	root := seed.Derive("plain")
	var examples []Example
	var ids []string
	for i, row := range rows {
		for k := range row.Values {
			row.Values[k] *= 2 // gradients on both sides of the clip
		}
		ids = append(ids, string(rune('a'+i)))
		examples = append(examples, Example{ID: ids[i], Row: row, Prob: distributionOf(draws(r, m, (*rand.Rand).NormFloat64)), Weight: 1 + float64(i%2)})
	}
	w := weightsOf(t, mod)
	curve, err := (Conduct{}).SFT(context.Background(), mod, examples, cfg, root)
	if err != nil {
		t.Fatal(err)
	}

	first, second := make(weights, len(w)), make(weights, len(w))
	for i := range w {
		first[i], second[i] = make([]float64, len(w[i])), make([]float64, len(w[i]))
	}
	rates := []float64{1. / 3, 2. / 3, 1, 1, .75, .25} // warm-up over 3 of 6 steps, then a cosine over 3
	clipped := 0
	for step := range 6 {
		batch := order(root.Derive("sft"), step/3, ids)[step%3*4 : min(step%3*4+4, n)]
		loss := func(w weights) float64 {
			var loss, sum float64
			for _, i := range batch {
				for k, l := range w.logProbs(examples[i].Row) {
					loss -= examples[i].Weight * examples[i].Prob[k] * l
				}
				sum += examples[i].Weight
			}
			return loss / sum
		}
		if got, want := curve.Points[step].Loss, loss(w); math.Abs(got-want) > 1e-4 {
			t.Errorf("step %d: loss %v, want %v", step, got, want)
		}
		g := w.gradient(loss)
		var norm float64
		for _, layer := range g {
			for _, v := range layer {
				norm += v * v
			}
		}
		scale := min(1, 1/math.Sqrt(norm))
		if scale < 1 {
			clipped++
		}
		for i := range w {
			for k := range w[i] {
				v := g[i][k] * scale
				first[i][k] = .9*first[i][k] + .1*v
				second[i][k] = .999*second[i][k] + .001*v*v
				direction := first[i][k] / (1 - math.Pow(.9, float64(step+1))) /
					(math.Sqrt(second[i][k]/(1-math.Pow(.999, float64(step+1)))) + 1e-8)
				w[i][k] -= cfg.LR * rates[step] * (direction + cfg.WeightDecay*w[i][k])
			}
		}
	}
	if clipped == 0 || clipped == 6 {
		t.Errorf("%d of 6 gradients were clipped: one side is not tested", clipped)
	}
	for i, layer := range weightsOf(t, mod) {
		for k, got := range layer {
			if math.Abs(got-w[i][k]) > 2e-3 { // Adam divides by small roots: float32 gradients differ in the last digits
				t.Fatalf("%s[%d] = %v, want %v", mod.Policy().Weights()[i].Name, k, got, w[i][k])
			}
		}
	}
}
