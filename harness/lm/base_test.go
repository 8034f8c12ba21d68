package lm

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
)

// copyOf copies a model of testdata.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), old) {
		t.Fatalf("%s has no %q (%v)", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestConfigsOfOldAndNewFoldersAreRead(t *testing.T) {
	for name, want := range map[string]Config{
		"qwen3": {Arch: "qwen3", Vocab: 96, Hidden: 24, Inner: 40, Layers: 3, Heads: 4, KVHeads: 2, HeadDim: 8, Epsilon: 1e-6, Theta: 5e6, Tied: true, Stored: "F32", Position: 64},
		"llama": {Arch: "llama", Vocab: 80, Hidden: 24, Inner: 36, Layers: 2, Heads: 3, KVHeads: 1, HeadDim: 8, Epsilon: 1e-5, Theta: 1e4, Stored: "F32", Position: 64, BOS: []byte("1"), EOS: []byte("2")},
	} {
		got, err := readConfig(filepath.Join("testdata", name))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v (%v), want %+v", name, got, err, want)
		}
		raw, err := got.encode("BF16")
		if err != nil {
			t.Fatal(err)
		}
		want.Stored = "BF16"
		if again, err := parseConfig(raw); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%s written and read is %+v (%v), want %+v", name, again, err, want)
		}
	}
}

// transformers 5.23 takes the base of rope_scaling before that of rope_parameters, and both before rope_theta.
func TestTheBaseOfTheRotationsIsThatOfTransformers(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{`"rope_theta": 3`, 3},
		{`"rope_theta": 3, "rope_scaling": null, "rope_parameters": {"rope_theta": 4}`, 4},
		{`"rope_theta": 3, "rope_scaling": {"rope_type": "default", "rope_theta": 5}`, 5},
		{`"rope_scaling": {"rope_theta": 5}, "rope_parameters": {"rope_theta": 4}`, 5},
	} {
		got, err := parseConfig([]byte(`{"model_type": "llama", "vocab_size": 9, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, ` + c.text + `}`))
		if err != nil || got.Theta != c.want {
			t.Errorf("%s: %v (%v), want %v", c.text, got.Theta, err, c.want)
		}
	}
}

func TestAModelThatWouldBeComputedWronglyIsRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"silu"`, `"gelu"`, `hidden_act is "gelu"; only silu`},
		{`"attention_bias": false`, `"attention_bias": true`, "attention_bias or mlp_bias is true"},
		{`"rope_type": "default"`, `"rope_type": "yarn"`, `rope_parameters asks for rotations of type "yarn"`},
		{`"rope_theta": 5000000.0,`, ``, "neither rope_theta nor rope_parameters.rope_theta"},
		{`"use_cache": true`, `"rope_scaling": {"type": "linear", "factor": 2}`, `rope_scaling asks for rotations of type "linear"`},
		{`"use_cache": true`, `"rope_scaling": {"factor": 2}`, `rope_scaling has a factor of 2; only default rotations`},
		{`"use_cache": true`, `"partial_rotary_factor": 0.5`, "partial_rotary_factor is 0.5; only whole heads are rotated here"},
		{`"rope_type": "default"`, `"rope_type": "default", "partial_rotary_factor": 0.25`, "partial_rotary_factor is 0.25; only whole heads are rotated here"},
		{`"rope_type": "default"`, `"full_attention": {"rope_type": "linear", "factor": 4}`, "rope_parameters has other rotations for full_attention; all layers are rotated alike here"},
		{`"model_type": "qwen3"`, `"model_type": "gemma"`, `model_type is "gemma"; known: llama, qwen3`},
		{`"Qwen3ForCausalLM"`, `"Qwen3ForSequenceClassification"`, "must be a Qwen3ForCausalLM"},
		{`"use_sliding_window": false`, `"use_sliding_window": true`, "only full attention"},
		{`"full_attention"`, `"sliding_attention"`, "only full attention"},
		{`"use_cache": true`, `"quantization_config": {"bits": 4}`, "quantization_config is set"},
		{`"num_key_value_heads": 2`, `"num_key_value_heads": 3`, "4 attention heads cannot share 3"},
		{`"num_hidden_layers": 3`, `"num_hidden_layers": 0`, "num_hidden_layers is 0"},
		{`"dtype": "float32"`, `"dtype": "float8"`, `dtype is "float8"`},
		{`"num_hidden_layers": 3`, `"num_hidden_layers": 4`, `tensor "model.layers.3.input_layernorm.weight" is missing`},
		{`"num_hidden_layers": 3`, `"num_hidden_layers": 2`, `config.json does not ask for it`},
		{`"vocab_size": 96`, `"vocab_size": 97`, `tensor "model.embed_tokens.weight" has shape [96 24]; config.json asks for [97 24]`},
		{`"tie_word_embeddings": true`, `"tie_word_embeddings": false`, `tensor "lm_head.weight" is missing`},
	} {
		dir := copyOf(t, "qwen3")
		edit(t, filepath.Join(dir, "config.json"), c.old, c.new)
		if b, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error is %v, want %q in it and the folder", c.new, err, c.want)
			if err == nil {
				b.Close()
			}
		}
	}
}

func TestTheDigestChangesWithAnyFileThatDecides(t *testing.T) {
	dir := copyOf(t, "llama")
	open := func() string {
		b, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		return b.Digest
	}
	seen := []string{open()}
	if open() != seen[0] {
		t.Error("one folder has two digests")
	}
	index, err := os.ReadFile(filepath.Join(dir, safetensors.IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	shard := filepath.Join(dir, "second.safetensors") // the index may call them what it wants
	os.WriteFile(filepath.Join(dir, safetensors.IndexFile), bytes.ReplaceAll(index, []byte("model-00002-of-00002"), []byte("second")), 0o644)
	if err := os.Rename(filepath.Join(dir, "model-00002-of-00002.safetensors"), shard); err != nil {
		t.Fatal(err)
	}
	seen = append(seen, open())
	raw, err := os.ReadFile(shard)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 1
	os.WriteFile(shard, raw, 0o644)
	seen = append(seen, open())
	os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte("{}"), 0o644)
	seen = append(seen, open())
	edit(t, filepath.Join(dir, "config.json"), "10000.0", "20000.0")
	seen = append(seen, open())
	if slices.Sort(seen); len(slices.Compact(seen)) != 5 {
		t.Errorf("digests repeat: %q", seen)
	}
}

func TestAHeadStoredBesideItsEmbeddingMustBeIt(t *testing.T) {
	base, _ := references(t, "qwen3")
	store := func(change float32) (dir string) {
		dir = t.TempDir()
		c := base.Config
		c.Tied = false
		values := func(name string) ([]float32, error) {
			if name != headName {
				return base.file.Floats(name)
			}
			v, err := base.file.Floats(embedName)
			v[0] += change
			return v, err
		}
		if err := write(dir, c, values, safetensors.F32, nil); err != nil {
			t.Fatal(err)
		}
		edit(t, filepath.Join(dir, "config.json"), `"tie_word_embeddings": false`, `"tie_word_embeddings": true`)
		return dir
	}
	b, err := Open(store(0))
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	if _, err := Open(store(1)); err == nil || !strings.Contains(err.Error(), `tensor "lm_head.weight" differs from the embedding`) {
		t.Errorf("error is %v", err)
	}
}

func tiny(arch string, tied bool) Config {
	return Config{Arch: arch, Vocab: 70, Hidden: 16, Inner: 24, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 6, Epsilon: 1e-6, Theta: 1e4, Tied: tied}
}

func TestFreshWeightsDependOnTheSeedAlone(t *testing.T) {
	base, err := Fresh(tiny("qwen3", false), 5)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Fresh(tiny("qwen3", false), 5)
	other, _ := Fresh(tiny("qwen3", false), 6)
	if base.Digest != again.Digest || base.Digest == other.Digest {
		t.Errorf("digests are %s, %s and of another seed %s", base.Digest, again.Digest, other.Digest)
	}
	var sum, squares, count float64
	for _, w := range base.Config.Sizes() {
		x, _ := base.values(w)
		y, _ := again.values(w)
		z, _ := other.values(w)
		if !slices.Equal(x, y) || (!w.norm() && slices.Equal(x, z)) {
			t.Errorf("%s does not depend on the seed alone", w.Name)
		}
		for _, v := range x {
			if w.norm() && v != 1 {
				t.Errorf("%s starts at %v", w.Name, v)
			} else if !w.norm() {
				sum, squares, count = sum+float64(v), squares+float64(v)*float64(v), count+1
			}
		}
	}
	if sd := math.Sqrt(squares / count); math.Abs(sd-.02) > .001 || math.Abs(sum/count) > .001 {
		t.Errorf("%v weights have mean %v and deviation %v", count, sum/count, sd)
	}
	if n := base.Config.Parameters(); n != 2*70*16+16+2*(2*16+2*6+2*24*16+2*12*16+3*16*24) {
		t.Errorf("%d parameters", n)
	}
	if _, err := Fresh(Config{Arch: "mamba"}, 1); err == nil || !strings.Contains(err.Error(), `unknown arch "mamba"`) {
		t.Errorf("error is %v", err)
	}
}

func TestAFolderWrittenIsReadAsTheSameModel(t *testing.T) {
	base, r := references(t, "llama")
	from := copyOf(t, "llama")
	os.WriteFile(filepath.Join(from, "tokenizer.json"), []byte("{\"a\": 1}\n"), 0o644)
	source, err := Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	for _, dtype := range []safetensors.DType{safetensors.F32, safetensors.BF16} {
		dir := t.TempDir()
		if err := write(dir, base.Config, base.file.Floats, dtype, source); err != nil {
			t.Fatal(err)
		}
		got, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		for _, w := range base.Config.Sizes() {
			x, _ := base.values(w)
			y, _ := got.values(w)
			data, _ := dtype.Narrow(x)
			if !slices.Equal(dtype.Widen(data), y) {
				t.Errorf("%s: %s changed", dtype, w.Name)
			}
			kept, err := got.stored(w)
			if want := map[safetensors.DType]dtypes.DType{"F32": dtypes.Float32, "BF16": dtypes.BFloat16}[dtype]; err != nil || kept.DType() != want {
				t.Errorf("%s: %s is kept as %v (%v)", dtype, w.Name, kept.DType(), err)
			}
		}
		if raw, _ := os.ReadFile(filepath.Join(dir, "tokenizer.json")); string(raw) != "{\"a\": 1}\n" {
			t.Errorf("tokenizer.json became %q", raw)
		}
		// Weights of either type are computed with in float32 alike.
		n := network(t, openGo(t), got, dtypes.Float32)
		scores := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			return []*graph.Node{n.scores(w, in[0])}
		}, tokensOf(r.Tokens, longest(r.Tokens), 0))[0]
		far := furthest(scores, r.floats(t, "logits"), r.Tokens, longest(r.Tokens), base.Config.Vocab)
		t.Logf("weights in %s: logits differ by %.1e", dtype, far)
		if limit := map[safetensors.DType]float64{"F32": 1e-4, "BF16": .1}[dtype]; !(far < limit) {
			t.Errorf("weights in %s: logits differ by %v", dtype, far)
		}
	}
}

func TestXLATransformersLoadsAFolderWritten(t *testing.T) {
	python := xlatest.Python(t)
	for _, c := range []Config{tiny("qwen3", true), tiny("llama", false)} {
		base, err := Fresh(c, 3)
		if err != nil {
			t.Fatal(err)
		}
		dir, work := t.TempDir(), t.TempDir()
		values := func(name string) ([]float32, error) {
			all := base.Config.Sizes()
			v, err := base.values(all[slices.IndexFunc(all, func(w Size) bool { return w.Name == name })])
			for i := range v {
				v[i] *= 8 // so that logits are of some size
			}
			return v, err
		}
		if err := write(dir, c, values, safetensors.F32, nil); err != nil {
			t.Fatal(err)
		}
		texts := [][]int32{{1, 2, 3, 60}, {69, 5}}
		raw, _ := json.Marshal(texts)
		tokens, out := filepath.Join(work, "tokens.json"), filepath.Join(work, "out.json")
		if err := os.WriteFile(tokens, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(python, "testdata/load.py", dir, tokens, out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		var got struct {
			Keys   []string
			Class  string
			Scores [][]float64
		}
		raw, _ = os.ReadFile(out)
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Keys) > 0 || got.Class != classes[c.Arch] {
			t.Errorf("transformers made a %s and found missing or surplus keys %q", got.Class, got.Keys)
		}
		again, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		n := network(t, openGo(t), again, dtypes.Float32)
		ours := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			return []*graph.Node{n.Logits(w, n.Last(w, n.Embed(w, in[0]), 0, in[1]), nil)}
		}, tokensOf(texts, 4, 0), lengthsOf(texts))[0]
		far, top := 0.0, 0.0
		for i, s := range slices.Concat(got.Scores...) {
			far, top = max(far, math.Abs(s-float64(ours[i]))), max(top, math.Abs(s))
		}
		t.Logf("%s tied %v: logits up to %.1f differ by %.1e", c.Arch, c.Tied, top, far)
		if !(far < 1e-4) || top < .1 {
			t.Errorf("%s tied %v: logits up to %v differ by %v", c.Arch, c.Tied, top, far)
		}
	}
}

func TestBFloat16ComputesNearFloat32(t *testing.T) {
	onModels(t, func(t *testing.T, b policy.Backend, base *Base, r reference) {
		n := network(t, b, base, dtypes.BFloat16)
		width := longest(r.Tokens)
		got := call(t, n, func(w Weights, in []*graph.Node) []*graph.Node {
			loss := n.loss(w, in[0], in[1])
			return []*graph.Node{n.scores(w, in[0]), loss, graph.Gradient(loss, w(normName))[0], graph.Gradient(loss, w(embedName))[0]}
		}, tokensOf(r.Tokens, width, 0), lengthsOf(r.Tokens))
		want := r.floats(t, "logits")
		var wrong, all float64
		for i, x := range r.Tokens {
			for k := i * width * base.Config.Vocab; k < (i*width+len(x))*base.Config.Vocab; k++ {
				d := float64(got[0][k]) - float64(want[k])
				wrong, all = wrong+d*d, all+float64(want[k])*float64(want[k])
			}
		}
		t.Logf("bfloat16: logits are off by %.2f %% of their size, loss %.4f instead of %.4f", 100*math.Sqrt(wrong/all), got[1][0], r.Loss)
		if !(math.Sqrt(wrong/all) < .03) || !(math.Abs(float64(got[1][0])-r.Loss) < .05) {
			t.Errorf("bfloat16 logits are off by %v of their size, loss is %v, want %v", math.Sqrt(wrong/all), got[1][0], r.Loss)
		}
	})
}
