package lm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// writing is a policy that writes up to so many tokens.
func writing(tune spec.Tune, tokens, atTest int) spec.Policy {
	p := configOf(tune)
	p.Rationale, p.Writes = "cot", &spec.Writes{Tokens: tokens, TestTokens: atTest}
	return p
}

func encoded(t *testing.T, m *policy.Model, texts []string) []policy.Row {
	t.Helper()
	rows, err := m.Policy().Encode(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// What the policy says of a text that was written is what the model says of its tokens one by one, prompt and all, and the
// choice is that of the labels behind it: from a whole pass over each text alone, by the scores of every token of the vocabulary.
func TestAWrittenTextHasTheProbabilitiesOfItsTokens(t *testing.T) {
	b, models := openGo(t), newModels(t, 1<<20)
	for name, tune := range map[string]spec.Tune{"full": tunings["full"], "lora": tunings["lora"]} {
		m := newModel(t, b, models, writing(tune, 12, 15))
		p := m.Policy().(*Policy)
		rows := encoded(t, m, problems[:3])
		for i, text := range []string{"It is easy.", "", "Hard"} {
			var err error
			if rows[i].Written, err = p.Compose(text); err != nil || rows[i].Written == nil {
				t.Fatalf("%q is written as %v (%v)", text, rows[i].Written, err)
			}
		}
		inputs, err := p.Inputs(rows, 4)
		if err != nil {
			t.Fatal(err)
		}
		exec, err := model.NewExec(b, m.Store(), func(_ *model.Scope, in []*graph.Node) []*graph.Node {
			out := p.Forward(m.Scope(), in, 0)
			return []*graph.Node{graph.LogSoftmax(out.Choice, -1), out.Written, out.Mask}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := policy.Call(exec, inputs)
		if err != nil {
			t.Fatal(err)
		}
		base, err := models.base(freshModel)
		if err != nil {
			t.Fatal(err)
		}
		n, v, w := network(t, b, base, dtypes.Float32), base.Config.Vocab, 12
		for i, row := range rows {
			whole := slices.Concat(row.IDs, row.Written)
			scores := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
				return []*graph.Node{n.scores(w, in[0])}
			}, tokensOf([][]int32{whole}, len(whole), 0))[0]
			for k, token := range row.Written {
				at := (len(row.IDs) - 1 + k) * v
				want := scores[at+int(token)] - logSum(scores[at:at+v])
				if got := out[1][i*w+k]; !(math.Abs(float64(got-want)) < 1e-4) || out[2][i*w+k] != 1 {
					t.Errorf("%s: token %d of text %d has log-probability %v and weight %v, want %v and 1", name, k, i, got, out[2][i*w+k], want)
				}
			}
			if k := len(row.Written); k < w && out[2][i*w+k] != 0 {
				t.Errorf("%s: behind text %d a token counts", name, i)
			}
			var labels []float32
			for _, id := range p.labels {
				labels = append(labels, scores[(len(whole)-1)*v+int(id)])
			}
			for k, l := range labels {
				if got, want := out[0][i*3+k], l-logSum(labels); !(math.Abs(float64(got-want)) < 1e-4) {
					t.Errorf("%s: expert %d has log-probability %v behind text %d, want %v", name, k, got, i, want)
				}
			}
		}
	}
}

func logSum(scores []float32) float32 {
	var sum float64
	for _, s := range scores {
		sum += math.Exp(float64(s))
	}
	return float32(math.Log(sum))
}

// A text is drawn token by token from what the policy says: over many draws the first tokens have the shares of their probabilities.
// The same stream gives the same texts, other streams others; a text ends at a line break or is cut at its bound.
func TestTextsAreDrawnFromThePolicy(t *testing.T) {
	b, models := openGo(t), newModels(t, 1<<20)
	m := newModel(t, b, models, writing(tunings["full"], 3, 5))
	p := m.Policy().(*Policy)
	// Three tokens have nearly all the probability of any first token: a small norm's scale makes the others alike.
	rows := encoded(t, m, problems[:2])
	write := func(n int, greedy bool, s uint64) []policy.Row {
		t.Helper()
		out, err := p.Write(context.Background(), m, []string{"a", "b"}, rows, n, greedy, seed.Seed(s))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	texts := func(rows []policy.Row) string {
		var all []string
		for _, r := range rows {
			all = append(all, fmt.Sprint(r.Written, r.Cut))
		}
		return strings.Join(all, " ")
	}
	one, again, other := write(20, false, 1), write(20, false, 1), write(20, false, 2)
	if texts(one) != texts(again) || texts(one) == texts(other) {
		t.Errorf("texts of one seed\n%s\nand again\n%s\nand of another\n%s", texts(one), texts(again), texts(other))
	}
	if len(one) != 40 {
		t.Fatalf("%d texts, want 20 of each of 2 rows", len(one))
	}
	distinct := map[string]bool{}
	for i, r := range one {
		distinct[fmt.Sprint(r.Written)] = true
		ends := r.Written[len(r.Written)-1] == p.end
		if r.Cut == ends || len(r.Written) > 3 || r.Cut && len(r.Written) != 3 || !slices.Equal(r.IDs, rows[i/20].IDs) {
			t.Errorf("text %d is %v, cut: %v", i, r.Written, r.Cut)
		}
	}
	if len(distinct) < 20 {
		t.Errorf("%d of 40 texts are distinct", len(distinct))
	}
	// Greedy: the likeliest token each time, up to the bound of the test.
	base, err := models.base(freshModel)
	if err != nil {
		t.Fatal(err)
	}
	want, err := network(t, b, base, dtypes.Float32).Greedy(context.Background(), [][]int32{rows[0].IDs, rows[1].IDs}, 5, []int32{p.end}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range write(1, true, 1) {
		if !slices.Equal(r.Written, want[i]) {
			t.Errorf("greedy text %d is %v, want %v", i, r.Written, want[i])
		}
	}
}

func TestSampledTokensHaveTheirProbabilities(t *testing.T) {
	scores := []float32{0, float32(math.Log(2)), float32(math.Inf(-1)), float32(math.Log(5))}
	for u, want := range map[float64]int32{0: 0, .124: 0, .126: 1, .374: 1, .376: 3, .999999: 3} {
		if got := sampled(scores, u); got != want {
			t.Errorf("at %v token %d, want %d", u, got, want)
		}
	}
}

// Both stages train a policy that writes: Stage I teaches texts that tell two kinds of problem apart, and Stage II keeps to what pays.
func TestAPolicyThatWritesLearnsBoth(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	b, models := openGo(t), newModels(t, 1<<20)
	m := newModel(t, b, models, writing(tunings["full"], 5, 0))
	p := m.Policy().(*Policy)
	texts := []string{"Compute 2 + 2.", "Prove that the sum of the series converges to the integral."}
	rows := encoded(t, m, texts)
	var examples []train.Example
	var prompts []train.Prompt
	for i, say := range []string{"easy", "hard"} {
		row := rows[i]
		var err error
		if row.Written, err = p.Compose(say); err != nil || row.Written == nil {
			t.Fatal(row.Written, err)
		}
		prob, reward := []float64{0, 0, 0}, []float64{0, 0, 0}
		prob[2*i], reward[2*i] = 1, 1
		examples = append(examples, train.Example{ID: say, Row: row, Prob: prob, Weight: 1})
		prompts = append(prompts, train.Prompt{ID: say, Row: rows[i], Reward: reward, Anchor: []float64{math.Log(.4), math.Log(.2), math.Log(.4)}, Cut: -3})
	}
	sft, err := (train.Conduct{}).SFT(ctx, m, examples, spec.SFT{Epochs: 60, Batch: 2, LR: .02}, 1)
	if err != nil {
		t.Fatal(err)
	}
	first, last := sft.Points[0], sft.Points[len(sft.Points)-1]
	if !(last.Loss < first.Loss/10) || !(first.Written > 1) {
		t.Errorf("Stage I went from loss %v to %v, %v tokens written", first.Loss, last.Loss, first.Written)
	}
	written, err := m.Written(ctx, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range written {
		if !slices.Equal(r.Written, examples[i].Row.Written) {
			t.Errorf("it writes %v of problem %d, and was taught %v", r.Written, i, examples[i].Row.Written)
		}
		if _, out := p.Tokens(r); out != len(r.Written)+1 {
			t.Errorf("%d tokens are counted for %d and a letter", out, len(r.Written))
		}
	}
	grpo, err := (train.Conduct{}).GRPO(ctx, m, prompts, spec.GRPO{Estimator: train.Sampled, Steps: 4, Batch: 2, Group: 4, LR: .001, ClipLow: .2, ClipHigh: .2, DualClip: 3, Epochs: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range grpo.Points {
		if math.IsNaN(at.Loss) || !(at.Written > 0) || at.Cut < 0 || at.Cut > 1 {
			t.Errorf("step %+v", at)
		}
	}
	for i, q := range probsOf(t, m, texts) {
		if q[2*i] < .9 {
			t.Errorf("problem %d goes to %v", i, q)
		}
	}
}

// An untrained policy comes to no end in three tokens, and such texts have the reward of a failure whatever is chosen.
func TestACutTextIsAFailure(t *testing.T) {
	b, models := openGo(t), newModels(t, 1<<20)
	m := newModel(t, b, models, writing(tunings["full"], 2, 0))
	rows := encoded(t, m, problems[:1])
	curve, err := (train.Conduct{}).GRPO(context.Background(), m, []train.Prompt{{ID: "a", Row: rows[0], Reward: []float64{1, 1, 1}, Cut: -3}},
		spec.GRPO{Estimator: train.Sampled, Steps: 1, Batch: 1, Group: 8, LR: 1e-6, DualClip: 3, Epochs: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if at := curve.Points[0]; !(at.Cut > .5) || math.Abs(at.Reward-(1-4*at.Cut)) > 1e-9 {
		t.Errorf("%v of the texts are cut and the mean reward is %v", at.Cut, at.Reward)
	}
	var csv strings.Builder
	if err := curve.WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	back, err := train.ReadCSV("curve.csv", strings.NewReader(csv.String()), curve.Experts)
	if err != nil || back.Points[0].Cut != curve.Points[0].Cut || back.Points[0].Written != curve.Points[0].Written {
		t.Errorf("of\n%s\ncomes %+v (%v)", csv.String(), back, err)
	}
}

func TestWhatCannotWriteIsRefused(t *testing.T) {
	b, models := openGo(t), newModels(t, 1<<20)
	for want, cfg := range map[string]spec.Policy{
		"rationale cot needs lora or full":       writing(tunings["head"], 3, 0),
		"not set; rationale cot needs writes":    func() spec.Policy { p := writing(tunings["full"], 3, 0); p.Writes = nil; return p }(),
		"2 is less than the 3 of training":       writing(tunings["full"], 3, 2),
		"belongs to rationale cot; leave it out": func() spec.Policy { p := writing(tunings["full"], 3, 0); p.Rationale = "none"; return p }(),
	} {
		if _, err := models.New(b, cfg, pool); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
	m := newModel(t, b, models, writing(tunings["full"], 3, 0))
	long := encoded(t, m, problems[:1])
	long[0].Written = make([]int32, 4)
	if _, err := m.Policy().Inputs(long, 1); err == nil || !strings.Contains(err.Error(), "policy.writes allows 3") {
		t.Errorf("error is %v", err)
	}
	for text, want := range map[string]int{"x": 2, "two\nlines": 0, strings.Repeat("no end ", 9): 0} {
		if tokens, err := m.Policy().(*Policy).Compose(text); err != nil || len(tokens) != want {
			t.Errorf("%q is %v (%v), want %d tokens", text, tokens, err, want)
		}
	}
}

// A batch in parts has the loss of the whole: rows of unlike lengths share the mean over their tokens.
func TestABatchOfRationalesInPartsHasTheSameLoss(t *testing.T) {
	b, models := openGo(t), newModels(t, 1<<20)
	loss := map[int][]float64{}
	for _, micro := range []int{0, 1, 2} {
		m := newModel(t, b, models, writing(tunings["full"], 12, 0))
		rows := encoded(t, m, problems[:4])
		var examples []train.Example
		var prompts []train.Prompt
		for i, say := range []string{"easy", "", "so hard", "x"} {
			row := rows[i]
			row.Written, _ = m.Policy().(*Policy).Compose(say)
			examples = append(examples, train.Example{ID: fmt.Sprint(i), Row: row, Prob: []float64{.5, .5, 0}, Weight: float64(1 + i%2)})
			prompts = append(prompts, train.Prompt{ID: fmt.Sprint(i), Row: rows[i], Reward: []float64{1, float64(i), 0}, Cut: -1})
		}
		c := train.Conduct{Micro: micro}
		sft, err := c.SFT(context.Background(), m, examples, spec.SFT{Epochs: 20, Batch: 4, LR: .02}, 1)
		if err != nil {
			t.Fatal(err)
		}
		grpo, err := c.GRPO(context.Background(), m, prompts, spec.GRPO{Estimator: train.Sampled, Steps: 2, Batch: 2, Group: 2, LR: .001, ClipLow: .2, ClipHigh: .2, DualClip: 3, Epochs: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(sft.Points, grpo.Points...) {
			loss[micro] = append(loss[micro], p.Loss)
		}
	}
	for micro, got := range loss {
		for i := range got {
			if !(math.Abs(got[i]-loss[0][i]) < 1e-3*(1+math.Abs(loss[0][i]))) {
				t.Errorf("parts of %d: loss %v at step %d, whole %v", micro, got[i], i, loss[0][i])
			}
		}
	}
}
