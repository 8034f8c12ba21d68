package lm

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// trainedModel is a fresh tiny model that some steps have moved.
func trainedModel(t *testing.T, b policy.Backend, models *Models, cfg spec.Policy) *policy.Model {
	t.Helper()
	m := newModel(t, b, models, cfg)
	before := probsOf(t, m, problems)
	sft(t, m, problems, targets, 8, .02)
	if far := apart(probsOf(t, m, problems), before); far < .01 {
		t.Fatalf("training moved probabilities by %v only", far)
	}
	return m
}

func exported(t *testing.T, m *policy.Model, x Export) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "below", "it")
	if err := x.Write(m, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openExported is the untrained policy of a folder.
func openExported(t *testing.T, b policy.Backend, dir string) *policy.Model {
	t.Helper()
	cfg := configOf(spec.Tune{Part: "full"})
	cfg.Model = &spec.LanguageModel{Folder: dir}
	return newModel(t, b, newModels(t, 1<<20), cfg)
}

func TestAnExportedModelDecidesTheSame(t *testing.T) {
	b := openGo(t)
	models := newModels(t, 1<<20)
	texts := append(slices.Clone(problems), "What is <|im_end|>?", "é \U0001F600\n\n 12")
	for name, tune := range tunings {
		m := trainedModel(t, b, models, configOf(tune))
		want := probsOf(t, m, texts)
		for dtype, limit := range map[safetensors.DType]float64{safetensors.F32: 1e-5, safetensors.BF16: .02} {
			dir := exported(t, m, Export{DType: dtype, Card: []byte("a card\n")})
			again := openExported(t, b, dir)
			far := apart(probsOf(t, again, texts), want)
			t.Logf("%s in %s: probabilities differ by %.1e", name, dtype, far)
			if !(far < limit) {
				t.Errorf("%s in %s: probabilities differ by %v", name, dtype, far)
			}
			ours, _ := m.Policy().Encode(t.Context(), texts)
			theirs, _ := again.Policy().Encode(t.Context(), texts)
			for i := range ours {
				if !slices.Equal(ours[i].IDs, theirs[i].IDs) {
					t.Errorf("%s: problem %d is other tokens", name, i)
				}
			}
			c, err := readConfig(dir)
			if err != nil || c.Tied != (name != "head") || c.Position != 501 || c.Stored != dtype {
				t.Errorf("%s: config is %+v (%v)", name, c, err)
			}
			if card, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || string(card) != "a card\n" {
				t.Errorf("the card is %q (%v)", card, err)
			}
		}
	}
}

func TestAnExportOfAnUntiedFolderDecidesTheSame(t *testing.T) {
	b := openGo(t)
	head := exported(t, trainedModel(t, b, newModels(t, 1<<20), configOf(tunings["head"])), Export{DType: safetensors.F32}) // untied
	for _, name := range []string{"head", "last 1", "lora", "full"} {
		cfg := configOf(tunings[name])
		cfg.Model = &spec.LanguageModel{Folder: head}
		m := trainedModel(t, b, newModels(t, 1<<20), cfg)
		dir := exported(t, m, Export{DType: safetensors.F32})
		if far := apart(probsOf(t, openExported(t, b, dir), problems), probsOf(t, m, problems)); !(far < 1e-5) {
			t.Errorf("%s: probabilities differ by %v", name, far)
		}
		for _, file := range []string{"tokenizer.json", "tokenizer_config.json", "generation_config.json"} {
			from, _ := os.ReadFile(filepath.Join(head, file))
			to, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil || string(from) != string(to) {
				t.Errorf("%s: %s changed (%v)", name, file, err)
			}
		}
	}
}

// adapted is a folder and a model with trained adapters on it.
func adapted(t *testing.T, b policy.Backend) (base string, m *policy.Model) {
	t.Helper()
	models := newModels(t, 1<<20)
	base = exported(t, newModel(t, b, models, configOf(tunings["full"])), Export{DType: safetensors.F32})
	cfg := configOf(tunings["lora"])
	cfg.Model = &spec.LanguageModel{Folder: base}
	return base, trainedModel(t, b, models, cfg)
}

func TestAdaptersAreWrittenAsPEFTLaysThemOut(t *testing.T) {
	base, m := adapted(t, openGo(t))
	dir := exported(t, m, Export{DType: safetensors.F32, Adapter: true})
	f, err := safetensors.Open(filepath.Join(dir, "adapter_model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := len(f.Tensors()); n != 2*2*7 {
		t.Errorf("%d tensors", n)
	}
	weights := trainedWeights(t, m)
	for name, dims := range map[string][]int{"model.layers.1.self_attn.q_proj.lora_A.weight": {2, 16}, "model.layers.0.mlp.down_proj.lora_B.weight": {16, 2}} {
		info, ok := f.Find("base_model.model." + name)
		values, err := f.Floats(info.Name)
		if !ok || err != nil || !slices.Equal(info.Dims, dims) || !slices.Equal(values, weights[name]) {
			t.Errorf("%s has shape %v (%v)", name, info.Dims, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Type    string   `json:"peft_type"`
		R       int      `json:"r"`
		Alpha   int      `json:"lora_alpha"`
		Targets []string `json:"target_modules"`
		Base    string   `json:"base_model_name_or_path"`
	}
	if err := json.Unmarshal(raw, &config); err != nil || config.Type != "LORA" || config.R != 2 || config.Alpha != 4 || len(config.Targets) != 7 || config.Base != base {
		t.Errorf("adapter_config.json is %s (%v)", raw, err)
	}
}

func TestExportsThatCannotBeAreRefused(t *testing.T) {
	b := openGo(t)
	models := newModels(t, 1<<20)
	full, lora := newModel(t, b, models, configOf(tunings["full"])), newModel(t, b, models, configOf(tunings["lora"]))
	for name, c := range map[string]struct {
		m    *policy.Model
		want string
	}{"full": {full, "the policy was trained without any"}, "lora": {lora, "which no folder holds"}} {
		dir := filepath.Join(t.TempDir(), "new")
		if err := (Export{DType: safetensors.F32, Adapter: true}).Write(c.m, dir); !errors.Is(err, ErrNoAdapter) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666)
	for _, x := range []Export{{DType: safetensors.F32}, {DType: safetensors.BF16, Card: []byte("x")}} {
		if err := x.Write(full, dir); err == nil || !strings.Contains(err.Error(), "holds notes.txt already; name a folder that is empty or not there yet") {
			t.Errorf("error is %v", err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are in the folder", len(left))
	}
}

func TestAFolderHalfWrittenIsNotLeft(t *testing.T) {
	b := openGo(t)
	dir := filepath.Join(t.TempDir(), "half")
	if err := (Export{DType: safetensors.F16}).Write(newModel(t, b, newModels(t, 0), configOf(tunings["full"])), dir); err == nil {
		t.Fatal("half precision is written")
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// asked is what transformers says of a folder and conversations.
type asked struct {
	Keys   []string
	Tokens [][]int32
	Scores [][]float64 // of the tokens A, B, C behind each conversation
}

// transformers asks them; adapter may be empty.
func transformers(t *testing.T, dir, adapter string, texts []string) (a asked) {
	t.Helper()
	python := xlatest.Python(t)
	system, err := instructions(pool, false)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	in, out := filepath.Join(work, "in.json"), filepath.Join(work, "out.json")
	raw, _ := json.Marshal(map[string]any{"folder": dir, "adapter": adapter, "system": system, "texts": texts, "labels": []string{"A", "B", "C"}})
	if err := os.WriteFile(in, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(python, "testdata/ask.py", in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if raw, err = os.ReadFile(out); err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// agree compares with a policy: scores up to 1e-4, tokens exactly.
func (a asked) agree(t *testing.T, m *policy.Model, texts []string) {
	t.Helper()
	if len(a.Keys) > 0 {
		t.Errorf("missing or surplus keys %q", a.Keys)
	}
	rows, err := m.Policy().Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	want := probsOf(t, m, texts)
	far := 0.0
	for i := range texts {
		if !slices.Equal(a.Tokens[i], rows[i].IDs) {
			t.Errorf("problem %d is the tokens %v there and %v here", i, a.Tokens[i], rows[i].IDs)
		}
		for k, p := range want[i] { // differences of scores are those of log probabilities
			far = max(far, math.Abs(a.Scores[i][k]-a.Scores[i][0]-math.Log(p/want[i][0])))
		}
	}
	t.Logf("differences of the labels' logits agree to %.1e", far)
	if !(far < 1e-4) {
		t.Errorf("differences of the labels' logits are off by %v", far)
	}
}

func TestXLATransformersLoadsAnExportAndScoresTheLabelsAlike(t *testing.T) {
	xlatest.Python(t)
	b := openGo(t)
	models := newModels(t, 1<<20)
	texts := append(slices.Clone(problems), "é \U0001F600\n\n 12  x")
	for name, tune := range tunings {
		t.Run(name, func(t *testing.T) {
			m := trainedModel(t, b, models, configOf(tune))
			transformers(t, exported(t, m, Export{DType: safetensors.F32}), "", texts).agree(t, m, texts)
		})
	}
}

func TestXLAPEFTLoadsTheAdapters(t *testing.T) {
	xlatest.Python(t)
	base, m := adapted(t, openGo(t))
	transformers(t, base, exported(t, m, Export{DType: safetensors.F32, Adapter: true}), problems).agree(t, m, problems)
}
