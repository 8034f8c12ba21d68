package lm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
	"github.com/entrorouter/entrorouter/harness/train"
)

var pool = []Expert{{"small", 1.5, cost.Price{Out: .1}}, {"middle", 0, cost.Price{Out: 1}}, {"large", 70, cost.Price{Out: 2.5}}}

var problems = []string{
	"What is 2 + 2?",
	"Find the sum of all positive integers n with n^2 < 50.",
	"Prove it.",
	"How many ways are there to seat 5 people at a round table?",
}

var freshModel = spec.LanguageModel{Arch: "qwen3", Hidden: 16, Inner: 24, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 8, Seed: 7}

// tunings are all ways to train, with a learning rate at which some steps move weights.
var tunings = map[string]spec.Tune{
	"head":   {Part: "head"},
	"last 1": {Last: 1},
	"last 2": {Last: 2},
	"lora":   {LoRA: &spec.LoRA{R: 2, Alpha: 4, Targets: spec.Projections}},
	"lora q": {LoRA: &spec.LoRA{R: 2, Alpha: 4, Targets: []string{"q_proj", "down_proj"}}},
	"full":   {Part: "full"},
}

func configOf(tune spec.Tune) spec.Policy {
	return spec.Policy{Kind: "lm", Model: &freshModel, Tune: &tune, Rationale: "none", MaxTokens: 500, Compute: "float32"}
}

func newModels(t testing.TB, bytes int64) *Models {
	t.Helper()
	m := NewModels(bytes, "")
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func newModel(t testing.TB, b policy.Backend, models *Models, cfg spec.Policy) *policy.Model {
	t.Helper()
	p, err := models.New(b, cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	m, err := policy.New(b, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func probsOf(t testing.TB, m *policy.Model, texts []string) [][]float64 {
	t.Helper()
	p, err := m.Probs(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apart is the largest difference of two lists of distributions.
func apart(a, b [][]float64) (far float64) {
	for i := range a {
		for k := range a[i] {
			far = max(far, math.Abs(a[i][k]-b[i][k]))
		}
	}
	return far
}

func TestBeforeTrainingEveryTuningChoosesAsTheModel(t *testing.T) {
	b := openGo(t)
	models := newModels(t, 1<<20)
	want := probsOf(t, newModel(t, b, models, configOf(tunings["full"])), problems)
	for name, tune := range tunings {
		if far := apart(probsOf(t, newModel(t, b, models, configOf(tune)), problems), want); !(far < 1e-6) {
			t.Errorf("%s: probabilities differ by %v from those of the whole model", name, far)
		}
	}
	// And those are the scores of the labels as next tokens.
	base, err := models.base(freshModel)
	if err != nil {
		t.Fatal(err)
	}
	n := network(t, b, base, dtypes.Float32)
	system, _ := instructions(pool, false)
	for i, problem := range problems {
		text, _ := fresh(t).Chat(system, problem)
		all := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			return []*graph.Node{n.scores(w, in[0])}
		}, tokensOf([][]int32{text}, len(text), 0))[0]
		last := all[(len(text)-1)*base.Config.Vocab:]
		var sum float64
		ids, _ := labels(fresh(t), 3)
		for _, label := range ids {
			sum += math.Exp(float64(last[label]))
		}
		for k, label := range "ABC" {
			if p := math.Exp(float64(last[label])) / sum; math.Abs(p-want[i][k]) > 1e-6 {
				t.Errorf("problem %d: %c has probability %v, its score as a next token says %v", i, label, want[i][k], p)
			}
		}
	}
}

// trained saves a model and returns the values of its trained weights.
func trainedWeights(t *testing.T, m *policy.Model) map[string][]float32 {
	t.Helper()
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

// frozenWeights are the values of the weights that a model holds beside the trained ones.
func frozenWeights(t *testing.T, m *policy.Model) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, w := range m.Policy().Weights() {
		if w.Frozen != nil {
			value, err := m.Scope().GetVariable(w.Name).Value()
			if err != nil {
				t.Fatal(err)
			}
			value.ConstBytes(func(data []byte) { found[w.Name] = string(data) })
		}
	}
	return found
}

func sft(t testing.TB, m *policy.Model, texts []string, prob [][]float64, epochs int, rate float64) *train.Curve {
	t.Helper()
	rows, err := m.Policy().Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var examples []train.Example
	for i, row := range rows {
		examples = append(examples, train.Example{ID: fmt.Sprint(i), Row: row, Prob: prob[i], Weight: 1})
	}
	curve, err := (train.Conduct{}).SFT(context.Background(), m, examples, spec.SFT{Epochs: epochs, Batch: 4, LR: rate, WeightDecay: .01}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return curve
}

// TestFitsAtTheSameTimeAreThoseOneAfterAnother: folds are fitted so, on models and frozen layers that they share.
func TestFitsAtTheSameTimeAreThoseOneAfterAnother(t *testing.T) {
	b := openGo(t)
	fit := func(models *Models, name string) (probs [][]float64, err error) {
		p, err := models.New(b, configOf(tunings[name]), pool)
		if err != nil {
			return nil, err
		}
		m, err := policy.New(b, p, 1)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		rows, err := p.Encode(t.Context(), problems)
		if err != nil {
			return nil, err
		}
		var examples []train.Example
		for i, row := range rows {
			examples = append(examples, train.Example{ID: fmt.Sprint(i), Row: row, Prob: targets[i], Weight: 1})
		}
		if _, err := (train.Conduct{Micro: 2}).SFT(t.Context(), m, examples, spec.SFT{Epochs: 2, Batch: 4, LR: .01}, 1); err != nil {
			return nil, err
		}
		return m.ProbsOf(t.Context(), rows)
	}
	names := []string{"head", "last 1", "last 1", "lora", "head"}
	models := newModels(t, 1<<20)
	got := make([][][]float64, len(names))
	var group errgroup.Group
	for i, name := range names {
		group.Go(func() (err error) { got[i], err = fit(models, name); return err })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		want, err := fit(newModels(t, 0), name)
		if err != nil {
			t.Fatal(err)
		}
		if apart(want, got[i]) != 0 {
			t.Errorf("%s: %v at the same time, %v alone", name, got[i], want)
		}
	}
}

var targets = [][]float64{{1, 0, 0}, {0, 0, 1}, {0, .5, .5}, {1, 0, 0}}

func TestEachTuningMovesItsWeightsAndNoOthers(t *testing.T) {
	b := openGo(t)
	models := newModels(t, 1<<20)
	layer := func(l int) (names []string) {
		for _, w := range (tiny("qwen3", true)).layer(l) {
			names = append(names, w.Name)
		}
		return names
	}
	adapters := func(targets ...string) (names []string) {
		for l := range 2 {
			for _, p := range targets {
				names = append(names, projection(l, p)+loraA, projection(l, p)+loraB)
			}
		}
		return names
	}
	for name, want := range map[string][]string{
		"head":   {labelHead},
		"last 1": append(layer(1), normName),
		"last 2": append(append(layer(0), layer(1)...), normName),
		"lora":   adapters(spec.Projections...),
		"lora q": adapters("q_proj", "down_proj"),
		"full":   append(append(append(layer(0), layer(1)...), normName), embedName),
	} {
		m := newModel(t, b, models, configOf(tunings[name]))
		before, still := trainedWeights(t, m), frozenWeights(t, m)
		var held []string
		for n := range before {
			held = append(held, n)
		}
		slices.Sort(held)
		slices.Sort(want)
		if !slices.Equal(held, want) {
			t.Errorf("%s: the checkpoint holds %q, want %q", name, held, want)
		}
		sft(t, m, problems, targets, 1, 1e-3)
		after := trainedWeights(t, m)
		for _, n := range want {
			if slices.Equal(before[n], after[n]) {
				t.Errorf("%s: %s did not move", name, n)
			}
		}
		for n, data := range frozenWeights(t, m) {
			if still[n] != data {
				t.Errorf("%s: the frozen %s moved", name, n)
			}
		}
	}
}

func TestATrainedLanguageModelSavedAndLoadedDecidesTheSame(t *testing.T) {
	b := openGo(t)
	for name, tune := range tunings {
		m := newModel(t, b, newModels(t, 1<<20), configOf(tune))
		before := probsOf(t, m, problems)
		sft(t, m, problems, targets, 1, 1e-2)
		want, dir := probsOf(t, m, problems), t.TempDir()
		if apart(before, want) < 1e-4 {
			t.Errorf("%s: training moved no decision", name)
		}
		if err := m.Save(dir); err != nil {
			t.Fatal(err)
		}
		models := newModels(t, 0) // remembers nothing
		loaded, err := policy.Load(b, func(kind string, config []byte) (policy.Policy, error) {
			if kind != "lm" {
				t.Errorf("kind is %q", kind)
			}
			return models.Read(b, config)
		}, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := probsOf(t, loaded, problems); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: loaded model gives %v, saved one %v", name, got, want)
		}
		loaded.Close()
	}
}

func TestCheckpointsOfLayersChangeNoLoss(t *testing.T) {
	b := openGo(t)
	for _, name := range []string{"full", "lora", "last 1"} {
		var losses []string
		for _, checkpoint := range []bool{false, true} {
			cfg := configOf(tunings[name])
			cfg.Checkpoint = checkpoint
			curve := sft(t, newModel(t, b, newModels(t, 1<<20), cfg), problems, targets, 2, 1e-3)
			for _, p := range curve.Points {
				losses = append(losses, fmt.Sprint(p.Loss))
			}
		}
		if half := len(losses) / 2; !slices.Equal(losses[:half], losses[half:]) {
			t.Errorf("%s: losses are %s, recomputing layers %s", name, losses[:half], losses[half:])
		}
	}
}

func TestHiddenStatesDependOnTheTextAlone(t *testing.T) {
	b := openGo(t)
	for _, name := range []string{"head", "last 1"} {
		p, err := newModels(t, 1<<20).New(b, configOf(tunings[name]), pool)
		if err != nil {
			t.Fatal(err)
		}
		var many []string
		for i := range 11 {
			many = append(many, fmt.Sprintf("%d %s %s", i, problems[i%len(problems)], strings.Repeat("again ", 2*i)))
		}
		want, err := p.Encode(t.Context(), many)
		if err != nil {
			t.Fatal(err)
		}
		width := freshModel.Hidden
		for i, row := range want {
			n := width
			if name != "head" {
				n *= len(row.IDs)
			}
			if len(row.Values) != n {
				t.Errorf("%s: row %d has %d values, want %d", name, i, len(row.Values), n)
			}
		}
		for _, bytes := range []int64{0, 500, 1 << 20} {
			other, err := newModels(t, bytes).New(b, configOf(tunings[name]), pool)
			if err != nil {
				t.Fatal(err)
			}
			for i := len(many) - 1; i >= 0; i-- {
				for range 2 { // the second time remembered, or not
					got, err := other.Encode(t.Context(), many[i:i+1])
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got[0].Values, want[i].Values) || !slices.Equal(got[0].IDs, want[i].IDs) {
						t.Fatalf("%s: alone, text %d has other states", name, i)
					}
				}
			}
			if inside := other.trunk.left.Take(0); !inside || bytes == 500 && len(other.trunk.known) >= len(many) {
				t.Errorf("%s: of %d bytes, inside the bound: %v, %d texts known", name, bytes, inside, len(other.trunk.known))
			}
		}
	}
}

func TestRowsInABatchDoNotSeeEachOther(t *testing.T) {
	b := openGo(t)
	for _, name := range []string{"last 1", "full"} {
		m := newModel(t, b, newModels(t, 1<<20), configOf(tunings[name]))
		want := probsOf(t, m, problems)
		for i, problem := range problems {
			if far := apart(probsOf(t, m, []string{problem}), want[i:i+1]); !(far < 1e-5) {
				t.Errorf("%s: alone, the probabilities of problem %d move by %v", name, i, far)
			}
		}
	}
}

func TestBothStagesLearnAPlantedRule(t *testing.T) {
	b := openGo(t)
	var texts []string
	var prob, reward [][]float64
	for i := range 16 {
		hard := i%2 == 1
		word := map[bool]string{false: "add", true: strings.Repeat("why ", 12)}[hard]
		texts = append(texts, fmt.Sprintf("%s %d", word, i*37%101))
		prob = append(prob, map[bool][]float64{false: {1, 0, 0}, true: {0, 0, 1}}[hard])
		reward = append(reward, map[bool][]float64{false: {1, 0, -1}, true: {-1, 0, 1}}[hard])
	}
	right := func(m *policy.Model) (share float64) {
		for i, p := range probsOf(t, m, texts) {
			share += p[2*(i%2)] / float64(len(texts))
		}
		return share
	}
	m := newModel(t, b, newModels(t, 0), configOf(tunings["full"]))
	before := right(m)
	sft(t, m, texts, prob, 4, 1e-2)
	between := right(m)
	rows, err := m.Policy().Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var prompts []train.Prompt
	for i, row := range rows {
		prompts = append(prompts, train.Prompt{ID: fmt.Sprint(i), Row: row, Reward: reward[i]})
	}
	_, err = (train.Conduct{}).GRPO(context.Background(), m, prompts, spec.GRPO{Estimator: "sampled", Steps: 6, Batch: 8, Group: 8, LR: 5e-3, ClipLow: .2, ClipHigh: .2, DualClip: 3, StdNorm: true, Epochs: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	after := right(m)
	t.Logf("probability of the right expert: %.3f, after SFT %.3f, after GRPO %.3f", before, between, after)
	if !(between > before+.2) || !(after > between) {
		t.Errorf("probability of the right expert: %.3f, after SFT %.3f, after GRPO %.3f", before, between, after)
	}
}

func TestTrainingMovesNoStateOfAFrozenLayer(t *testing.T) {
	// In a frozen trunk no row depends on what is trained: the same rows serve before and after.
	b := openGo(t)
	m := newModel(t, b, newModels(t, 0), configOf(tunings["last 1"]))
	before, err := m.Policy().Encode(t.Context(), problems)
	if err != nil {
		t.Fatal(err)
	}
	sft(t, m, problems, targets, 1, 1e-2)
	after, err := m.Policy().Encode(t.Context(), problems)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if !slices.Equal(before[i].Values, after[i].Values) {
			t.Errorf("the states of problem %d moved", i)
		}
	}
}

func TestBFloat16PoliciesTrain(t *testing.T) {
	b := openGo(t)
	for _, name := range []string{"head", "last 1", "lora q", "full"} {
		cfg := configOf(tunings[name])
		want := probsOf(t, newModel(t, b, newModels(t, 1<<20), cfg), problems)
		cfg.Compute = "bfloat16"
		m := newModel(t, b, newModels(t, 1<<20), cfg)
		if far := apart(probsOf(t, m, problems), want); !(far < .02) {
			t.Errorf("%s: probabilities in bfloat16 differ by %v", name, far)
		}
		curve := sft(t, m, problems, targets, 3, 5e-3)
		if first, last := curve.Points[0].Loss, curve.Points[len(curve.Points)-1].Loss; !(last < first) {
			t.Errorf("%s: the loss goes from %v to %v", name, first, last)
		}
	}
}

// wordy is a vocabulary whose letters are two tokens.
type wordy struct{ Vocabulary }

func (w wordy) Encode(text string) ([]int32, error) {
	tokens, err := w.Vocabulary.Encode(text)
	return append([]int32{32}, tokens...), err
}

func TestFaultsOfLanguageModelPoliciesAreNamed(t *testing.T) {
	b := openGo(t)
	models := newModels(t, 1<<20)
	if _, err := labels(wordy{fresh(t)}, 3); err == nil || !strings.Contains(err.Error(), "the label A is 2 tokens of the vocabulary") {
		t.Errorf("error is %v", err)
	}
	if _, err := labels(fresh(t), 27); err == nil || !strings.Contains(err.Error(), "27 experts; there are letters for 26") {
		t.Errorf("error is %v", err)
	}
	for want, change := range map[string]func(*spec.Policy){
		"policy.tune.last is 3; the model has 2 layers": func(p *spec.Policy) { p.Tune = &spec.Tune{Last: 3} },
		"policy.tune: not set":                          func(p *spec.Policy) { p.Tune = nil },
		"2 attention heads cannot share 4":              func(p *spec.Policy) { x := freshModel; x.KVHeads = 4; p.Model = &x },
		"language model testdata/nowhere: there is no config.json; name a Hugging Face folder": func(p *spec.Policy) { p.Model = &spec.LanguageModel{Folder: "testdata/nowhere"} },
		"max_tokens is 500; the model was made for texts of up to 64 tokens":                   func(p *spec.Policy) { p.Model = &spec.LanguageModel{Folder: "testdata/qwen3"} },
		`policy.kind is "compact"; this is a policy of kind lm`:                                func(p *spec.Policy) { *p = spec.Policy{Kind: "compact"} },
	} {
		cfg := configOf(tunings["head"])
		change(&cfg)
		if _, err := models.New(b, cfg, pool); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "lm policy: ") {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
	cfg := configOf(tunings["full"])
	p, err := models.New(b, cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	long := "Find x. " + strings.Repeat("very long ", 300)
	if _, err := p.Encode(t.Context(), []string{problems[0], long}); err == nil || !strings.Contains(err.Error(), `the prompt of problem "Find x. very long `) || !strings.Contains(err.Error(), "policy.max_tokens is 500") {
		t.Errorf("error is %v", err)
	}
	for name, row := range map[string]policy.Row{
		"features":          {IDs: []int32{1}, Values: []float32{1}},
		"an unknown token":  {IDs: []int32{5000}},
		"a negative number": {IDs: []int32{-1}},
		"no token":          {},
	} {
		if _, err := p.Inputs([]policy.Row{row}, 1); err == nil || !strings.Contains(err.Error(), "encode texts with this policy") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	writes, err := models.New(b, writing(tunings["full"], 12, 15), pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []int32{-1, int32(writes.base.Config.Vocab)} { // as a server sends that has another model
		if _, err := writes.Inputs([]policy.Row{{IDs: []int32{1}, Written: []int32{2, token}}}, 1); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row 0 has token %d of %d", token, writes.base.Config.Vocab)) {
			t.Errorf("written token %d: error is %v", token, err)
		}
	}
	raw, _ := json.Marshal(p.Config())
	if _, err := models.Read(b, raw); err != nil {
		t.Errorf("its own config is refused: %v", err)
	}
	other := strings.Replace(string(raw), `"Seed":7`, `"Seed":8`, 1)
	if _, err := models.Read(b, []byte(other)); err == nil || !strings.Contains(err.Error(), "it was trained from a model or a prompt with sha256") {
		t.Errorf("another base: error is %v", err)
	}
}

func TestTokensWithoutAnEmbeddingAreNamed(t *testing.T) {
	b := openGo(t)
	for vocab, want := range map[int]string{
		67:   "the label C has token 67, and vocab_size is 67; take the tokenizer that belongs to the weights",
		1000: `the prompt of problem "What is 2 + 2?" has token 1793, and vocab_size is 1000; take the tokenizer that belongs to the weights`,
	} {
		base, err := Fresh(Config{Arch: "llama", Vocab: vocab, Hidden: 4, Inner: 4, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 4, Epsilon: 1e-6, Theta: 1e4}, 1)
		if err != nil {
			t.Fatal(err)
		}
		dims := map[string][]int{}
		for _, w := range base.Config.Sizes() {
			dims[w.Name] = w.Dims
		}
		dir := t.TempDir()
		if err := write(dir, base.Config, func(name string) ([]float32, error) { return base.values(Size{name, dims[name]}) }, safetensors.F32, nil); err != nil {
			t.Fatal(err)
		}
		freshFolder(t, dir, freshChat)
		for _, tune := range []string{"head", "full"} {
			cfg := configOf(tunings[tune])
			cfg.Model = &spec.LanguageModel{Folder: dir}
			p, err := newModels(t, 1<<20).New(b, cfg, pool)
			if err == nil {
				_, err = p.Encode(t.Context(), problems)
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%d tokens, %s: error is %v, want %q in it and the folder", vocab, tune, err, want)
			}
		}
	}
}

func TestTheVocabularyOfAModelIsReadOnce(t *testing.T) {
	models, b := newModels(t, 0), openGo(t)
	var read [2]*tokenizer.Tokenizer
	for i := range read {
		p, err := models.New(b, configOf(tunings["full"]), pool)
		if err != nil {
			t.Fatal(err)
		}
		read[i] = p.vocabulary.(chatVocabulary).tokens
	}
	if read[0] != read[1] {
		t.Error("two policies on one model have two tokenizers")
	}
}

func TestDigestsTellModelsApart(t *testing.T) {
	models := newModels(t, 0)
	of := func(m spec.LanguageModel, rationale string) spec.Policy {
		return spec.Policy{Model: &m, Rationale: rationale}
	}
	one, err := models.Digest(of(freshModel, "none"))
	if err != nil {
		t.Fatal(err)
	}
	x := freshModel
	x.Seed++
	two, err := models.Digest(of(x, "none"))
	if err != nil || one == two {
		t.Errorf("two seeds have the digests %s and %s (%v)", one, two, err)
	}
	if three, err := PlannedModels().Digest(of(spec.LanguageModel{Folder: "testdata/llama"}, "none")); err != nil || three == one {
		t.Errorf("a folder has the digest %s (%v)", three, err)
	}
	if four, err := models.Digest(of(freshModel, "cot")); err != nil || four == one {
		t.Errorf("with another prompt it has the digest %s (%v)", four, err)
	}
}

func TestThePromptShowsThePoolAndEndsWhereTheLabelIsExpected(t *testing.T) {
	system, err := instructions(pool, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A: small, 1.5B parameters, $0.1 per million tokens\n", "B: middle, $1 per million tokens\n", "C: large, 70B parameters, $2.5 per million tokens\n"} {
		if !strings.Contains(system, want) {
			t.Errorf("%q is not in %q", want, system)
		}
	}
	v := fresh(t)
	tokens, err := v.Chat("S", "P\x01")
	if err != nil {
		t.Fatal(err)
	}
	text, err := v.tokens.Decode(tokens)
	if want := "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nP\x01<|im_end|>\n<|im_start|>assistant\n"; err != nil || text != want {
		t.Errorf("the conversation is %q, want %q", text, want)
	}
}

// fresh is the vocabulary of fresh models.
func fresh(t testing.TB) chatVocabulary {
	t.Helper()
	v, err := freshVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What shows that a model is none for a policy is told before anybody is asked for what would train it.
func TestARunRefusesAModelThatIsNoneForThePolicy(t *testing.T) {
	of := func(folder string, change func(*spec.Policy)) spec.Policy {
		p := configOf(tunings["head"])
		p.Model = &spec.LanguageModel{Folder: folder}
		if p.MaxTokens = 60; change != nil {
			change(&p)
		}
		return p
	}
	const without = "testdata/qwen3" // it has no tokenizer
	for want, p := range map[string]spec.Policy{
		"policy.max_tokens is 65; the model was made for texts of up to 64 tokens":           of(without, func(p *spec.Policy) { p.MaxTokens = 65 }),
		"policy.max_tokens and writes come to 90 tokens; the model was made for texts of up": of(without, func(p *spec.Policy) { p.Rationale = "cot"; p.Writes = &spec.Writes{Tokens: 30} }),
		"policy.tune.last is 9; the model has":                                               of(without, func(p *spec.Policy) { p.Tune = &spec.Tune{Last: 9} }),
		"has no tokenizer.json":                                                              of(without, nil),
	} {
		if _, err := newModels(t, 0).Digest(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
	if _, err := PlannedModels().Digest(of(without, func(p *spec.Policy) { p.MaxTokens = 65 })); err != nil {
		t.Errorf("a plan may stand a model in for another: %v", err)
	}
}
