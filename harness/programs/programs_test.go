package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
	"github.com/entrorouter/entrorouter/harness/workload"
)

const gib = 1 << 30

// written has the trainer's own step written: adapters of rank 16 on all projections of a Qwen3 of some size in bfloat16, each layer
// computed again backwards, three experts, a batch of 4 texts of 1,024 tokens.
func written(t *testing.T, size, stage string, conduct train.Conduct) string {
	t.Helper()
	c, err := workload.Qwen3(size)
	if err != nil {
		t.Fatal(err)
	}
	c.Stored = safetensors.BF16
	outline, err := lm.Outline(c, spec.Policy{
		Kind: "lm", Tune: &spec.Tune{LoRA: &spec.LoRA{R: 16, Alpha: 32, Targets: spec.Projections}}, MaxTokens: 1024, Compute: "bfloat16", Checkpoint: true,
	}, 3)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := write(filepath.Join(xlatest.Folder(t), "xla_cuda_programs.so"), t.TempDir(), []string{size}, func(b policy.Backend, _ string) error {
		m, err := policy.Outline(b, outline)
		if err != nil {
			return err
		}
		defer m.Close()
		if stage == "grpo" {
			return conduct.CompileGRPO(m, outline.Longest(), spec.GRPO{Estimator: train.Sampled, Batch: 4, Group: 16, Epochs: 1, ClipLow: .2, ClipHigh: .2, DualClip: 3})
		}
		return conduct.CompileSFT(m, outline.Longest(), spec.SFT{Batch: 4, Dropout: .1, WeightDecay: .01})
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths[0]
}

// What go-xla writes for a card has the precision that a card takes, and no algorithm that it refuses.
func TestXLAProgramsAreThoseOfACard(t *testing.T) {
	for _, stage := range []string{"sft", "grpo"} {
		text, err := os.ReadFile(written(t, "tiny", stage, train.Conduct{}))
		if err != nil {
			t.Fatal(err)
		}
		program := string(text)
		if !strings.Contains(program, "precision_config") && !strings.Contains(program, "precision =") || strings.Contains(program, "lhs_precision_type") {
			t.Errorf("no program for a card:\n%.2000s", program)
		}
	}
}

// What is compiled without a weight is, to the byte, what a training hands to the backend.
func TestXLAProgramsAreThoseOfTheTrainer(t *testing.T) {
	model := spec.LanguageModel{Arch: "qwen3", Hidden: 16, Inner: 24, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 8}
	cfg := spec.Policy{Kind: "lm", Model: &model, Tune: &spec.Tune{LoRA: &spec.LoRA{R: 2, Alpha: 4, Targets: spec.Projections}}, Rationale: "none", MaxTokens: 128, Compute: "float32"}
	sft := spec.SFT{Batch: 2, Epochs: 1, LR: 1, Dropout: .1, WeightDecay: .01}
	grpo := spec.GRPO{Estimator: train.Exact, Batch: 2, Group: 4, Epochs: 1, Steps: 1, LR: 1, ClipLow: .2, ClipHigh: .2, DualClip: 3}
	config, err := lm.ConfigOf(model)
	if err != nil {
		t.Fatal(err)
	}
	outline, err := lm.Outline(config, cfg, 2)
	if err != nil {
		t.Fatal(err)
	}
	row := outline.Longest()
	for stage, do := range map[string]struct {
		trained, compiled func(train.Conduct, *policy.Model) error
	}{
		"sft": {func(c train.Conduct, m *policy.Model) error {
			_, err := c.SFT(t.Context(), m, []train.Example{{ID: "a", Row: row, Prob: []float64{1, 0}, Weight: 1}, {ID: "b", Row: row, Prob: []float64{0, 1}, Weight: 1}}, sft, 1)
			return err
		}, func(c train.Conduct, m *policy.Model) error { return c.CompileSFT(m, row, sft) }},
		"grpo": {func(c train.Conduct, m *policy.Model) error {
			_, err := c.GRPO(t.Context(), m, []train.Prompt{{ID: "a", Row: row, Reward: []float64{1, 0}}, {ID: "b", Row: row, Reward: []float64{0, 1}}}, grpo, 1)
			return err
		}, func(c train.Conduct, m *policy.Model) error { return c.CompileGRPO(m, row, grpo) }},
	} {
		for _, micro := range []int{0, 1} {
			paths, err := write(filepath.Join(xlatest.Folder(t), "xla_cuda_programs.so"), t.TempDir(), []string{"trained", "compiled"}, func(b policy.Backend, name string) error {
				conduct := train.Conduct{Micro: micro}
				if name == "compiled" {
					m, err := policy.Outline(b, outline)
					if err != nil {
						return err
					}
					defer m.Close()
					return do.compiled(conduct, m)
				}
				models := lm.NewModels(1<<20, "")
				defer models.Close()
				p, err := models.New(b, cfg, []lm.Expert{{ID: "small"}, {ID: "large"}})
				if err != nil {
					return err
				}
				m, err := policy.New(b, p, 1)
				if err != nil {
					return err
				}
				defer m.Close()
				return do.trained(conduct, m)
			})
			if err != nil {
				t.Fatal(err)
			}
			var text [2]string
			for i, path := range paths {
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				text[i] = string(raw)
			}
			if text[0] != text[1] {
				t.Errorf("%s in parts of %d: the program of %d bytes that is compiled is not the trainer's of %d", stage, micro, len(text[1]), len(text[0]))
			}
		}
	}
}

// Weights, moments and step counts are written where they lay: only the loss and log-probabilities are new. A step in parts takes
// less between, its moments beside it.
func TestXLAProgramsWriteInPlace(t *testing.T) {
	paths := []string{written(t, "tiny", "sft", train.Conduct{}), written(t, "tiny", "grpo", train.Conduct{}), written(t, "tiny", "sft", train.Conduct{Micro: 1})}
	found, err := CompileH200(t.Context(), xlatest.Python(t), paths)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range found {
		if m.Aliased == 0 || m.Outputs-m.Aliased > 4<<10 {
			t.Errorf("%s: %+v: outputs lie beside what they replace; go-xla's change in tools/go-xla-donate.patch is for that (-modfile build/go.xla.mod)", paths[i], m)
		}
	}
	if whole, part := found[0].Temporary, found[2].Temporary; part >= whole {
		t.Errorf("a text of four takes %d bytes, all four %d", part, whole)
	}
}

// The LoRA step of Qwen3-4B, 4 x 1024 tokens on a bfloat16 base, each layer computed again backwards, leaves an H200 room
// for a server beside it. Minutes of compilation; no weight is made.
func TestXLAQwen34BAdaptersFitBelow16GiB(t *testing.T) {
	path := written(t, "4b", "sft", train.Conduct{})
	found, err := CompileH200(t.Context(), xlatest.Python(t), []string{path})
	if err != nil {
		t.Fatal(err)
	}
	m := found[0]
	t.Logf("arguments %.2f, outputs %.2f, aliased %.2f, temporary %.2f, total %.2f GiB; %.0f s", float64(m.Arguments)/gib, float64(m.Outputs)/gib,
		float64(m.Aliased)/gib, float64(m.Temporary)/gib, float64(m.Total())/gib, m.Seconds)
	if m.Arguments < 7.5*gib || m.Total() >= 16*gib {
		t.Errorf("%+v: the weights alone are 7.5 GiB, and all of it must stay below 16", m)
	}
}
