package methods

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// tinyWriter is the policy of a row that writes up to 24 tokens.
const tinyWriter = "policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: full, rationale: cot, writes: {tokens: 24}, max_tokens: 600, compute: float32}"

func TestAPolicyThatWritesNeedsATeacher(t *testing.T) {
	s := setup(t, "sft", tinyWriter)
	s.Spec.Protocol = "split"
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "params.policy.rationale: cot needs teacher") {
		t.Errorf("error is %v", err)
	}
	s.Spec.Teacher, s.Spec.Writer = &spec.Teacher{Model: "x"}, &spec.Writer{URL: "http://localhost:1/v1", Flight: 1}
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "params.policy.tune: a writer takes adapters") {
		t.Errorf("error is %v", err)
	}
}

// Otherwise Stage II would say so, when a teacher has been paid for Stage I.
func TestAPolicyThatWritesHasNoExactGradient(t *testing.T) {
	for method, want := range map[string]string{"entrorouter": "params.grpo.estimator: exact cannot sum over all texts", "entroplus": "params.grpo.estimator: exact cannot sum over all texts", "sft": ""} {
		s := setup(t, method, tinyWriter)
		s.Spec.Protocol, s.Spec.Teacher, s.Spec.GRPO.Estimator = "split", &spec.Teacher{Model: "x"}, "exact"
		if _, err := New(s); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error is %v, want %q in it", method, err, want)
		}
	}
}

func TestARecipeSaysWhoWrites(t *testing.T) {
	for rationale, want := range map[string]string{"cot, writes: {tokens: 24}": "server", "none": ""} {
		s := setup(t, "entrorouter", "policy: {kind: lm, model: some/folder, tune: {lora: {r: 4, alpha: 8, targets: [q_proj]}}, rationale: "+rationale+", max_tokens: 600, compute: float32}")
		s.Spec.Teacher, s.Spec.Writer = &spec.Teacher{Model: "x"}, &spec.Writer{URL: "http://localhost:1/v1", Flight: 1}
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if by := WrittenBy(m, s.Spec); by != want {
			t.Errorf("rationale %s: a recipe says that %q writes, want %q", rationale, by, want)
		}
	}
}
