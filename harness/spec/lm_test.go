package spec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// withPolicy loads the sound spec with more keys in its policy.
func withPolicy(keys string) (spec.Policy, error) {
	files := sound()
	text := string(files["base.yaml"].Data)
	text = strings.Replace(text, "policy: {kind: compact, buckets: 64, ngrams: 2, hidden: 8, backend: go}", "policy: {buckets: 64, ngrams: 2, hidden: 8, backend: go, "+keys+"}", 1)
	files["base.yaml"].Data = []byte(text)
	r, err := spec.Load(files, "spec", known, spec.Changes{})
	if err != nil {
		return spec.Policy{}, err
	}
	return r.Experiment.Policy, nil
}

const rest = "kind: lm, rationale: none, max_tokens: 100, compute: float32, "

const fresh = "model: {arch: qwen3, hidden: 8, inner: 16, layers: 2, heads: 2, kv_heads: 1, head_dim: 4, seed: 3}, "

func TestALanguageModelAndItsTuningHaveShortForms(t *testing.T) {
	for keys, want := range map[string]struct {
		model spec.LanguageModel
		tune  spec.Tune
	}{
		"model: some/folder, tune: head":                                       {spec.LanguageModel{Folder: "some/folder"}, spec.Tune{Part: "head"}},
		"model: {folder: some/folder}, tune: {part: full}":                     {spec.LanguageModel{Folder: "some/folder"}, spec.Tune{Part: "full"}},
		fresh + "tune: {last: 2}":                                              {spec.LanguageModel{Arch: "qwen3", Hidden: 8, Inner: 16, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 4, Seed: 3}, spec.Tune{Last: 2}},
		"model: x, tune: {lora: {r: 4, alpha: 8, targets: [q_proj, up_proj]}}": {spec.LanguageModel{Folder: "x"}, spec.Tune{LoRA: &spec.LoRA{R: 4, Alpha: 8, Targets: []string{"q_proj", "up_proj"}}}},
	} {
		got, err := withPolicy(rest + keys)
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if diff := cmp.Diff(want.model, *got.Model) + cmp.Diff(want.tune, *got.Tune); diff != "" {
			t.Errorf("%s: %s", keys, diff)
		}
	}
}

func TestARowMayReplaceTheTuning(t *testing.T) {
	files := sound()
	files["base.yaml"].Data = []byte(strings.Replace(string(files["base.yaml"].Data), "policy: {kind: compact,", "policy: {"+rest+"model: x, tune: {last: 2},", 1))
	files["spec.yaml"].Data = append(files["spec.yaml"].Data, []byte("\npolicy: {tune: head}\n")...)
	r, err := spec.Load(files, "spec", known, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec.Tune{Part: "head"}, *r.Experiment.Policy.Tune); diff != "" {
		t.Error(diff)
	}
}

func TestKnobsOfLanguageModelsThatDoNotFitAreFaults(t *testing.T) {
	for keys, want := range map[string]string{
		"kind: compact, max_tokens: 3":                                               "policy.max_tokens: belongs to policies of kind lm, this one is compact",
		rest + "tune: head":                                                          "policy.model: not set; policies of kind lm need a folder",
		rest + "model: x":                                                            "policy.tune: not set; want head, full",
		rest + "model: {folder: x, layers: 2}, tune: head":                           "policy.model: want a folder or the sizes of a fresh model, not both",
		rest + "model: {arch: qwen3}, tune: head":                                    "policy.model: a fresh model needs arch, hidden",
		rest + "model: {arch: bert}, tune: head":                                     `policy.model.arch: unknown value "bert"`,
		rest + "model: x, tune: tail":                                                `policy.tune: unknown value "tail"`,
		rest + "model: x, tune: {last: 1, part: head}":                               "policy.tune: want one of head, full, last: K",
		rest + "model: x, tune: {last: 0}":                                           "policy.tune.last: want at least 1",
		rest + "model: x, tune: {lora: {r: 1, alpha: 1}}":                            `policy.tune.lora: "targets" is not set`,
		rest + "model: x, tune: {lora: {r: 1, alpha: 1, targets: [qproj]}}":          `policy.tune.lora.targets[0]: unknown projection "qproj"`,
		rest + "model: x, tune: {lora: {r: 1, alpha: 1, targets: [q_proj, q_proj]}}": `policy.tune.lora.targets[1]: q_proj is in the list twice`,
		rest + "model: [x], tune: head":                                              "policy.model: want keys and values, got a list",
		"kind: lm, model: x, tune: head, rationale: none, compute: float32":          "policy.max_tokens: not set",
		"kind: lm, model: x, tune: head, rationale: some, compute: float32":          `policy.rationale: unknown value "some"`,
	} {
		if _, err := withPolicy(keys); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "base.yaml:") {
			t.Errorf("%s: error is %v, want %q in it and the file", keys, err, want)
		}
	}
}
