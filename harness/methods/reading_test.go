package methods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// vectorFile writes a vector of every planted and fresh problem: whether it is hard, and noise.
func vectorFile(t *testing.T, folder string) {
	t.Helper()
	var lines strings.Builder
	for _, from := range []int{0, 100_000} {
		for i := range 400 {
			hard := 0.0
			if routingtest.Hard(i) {
				hard = 1
			}
			fmt.Fprintf(&lines, "{\"text\": %q, \"vector\": [%v, %v, 0.2]}\n", routingtest.PlantedExample(from+i).Problem.Text, hard, float64(i*7919%100)/100)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "v.jsonl"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Every row that reads texts can read vectors and nothing else, and is the same after a restart.
func TestRowsReadVectors(t *testing.T) {
	data := t.TempDir()
	vectorFile(t, data)
	qs := routingtest.Fresh(100)
	for _, kind := range []string{"logistic", "bag", "difficulty", "knn", "cluster", "forc", "swranking", "routellm"} {
		s := setup(t, kind, "features: {read: [vectors], vectors: {file: v.jsonl}}")
		s.Data, s.Pool = data, poolOf("small", "medium", "large")
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		recipe, err := spec.Canonical(m)
		if err != nil || !strings.Contains(string(recipe), `"features":{"read":["vectors"],"vectors":{"file":"v.jsonl","sha256":"`) {
			t.Errorf("%s: the recipe %s, %v", kind, recipe, err)
		}
		w := routingtest.Work(1)
		w.Dir = t.TempDir()
		r, err := m.Fit(t.Context(), routingtest.Planted(300), w)
		if err != nil {
			t.Fatal(err)
		}
		decisions, hard := routingtest.Route(t, r, qs), 0
		for i, d := range decisions {
			if d.Expert == 2 && routingtest.Hard(i) {
				hard++
			}
		}
		if hard < 45 {
			t.Errorf("%s: %d of 50 hard questions go to the expert that solves them", kind, hard)
		}
		back, err := m.(Loader).Load(t.Context(), routingtest.Pool(), w.Dir, routingtest.Work(1))
		if err != nil {
			t.Fatal(err)
		}
		sameDecisions(t, kind+", loaded", routingtest.Route(t, back, qs), decisions)
	}
}

// What a language model makes of texts is read where the policy is one, and nothing is named beside it.
func TestFrozenVectorsAreThoseOfThePolicy(t *testing.T) {
	for params, want := range map[string]string{
		"features: {read: [vectors], vectors: {frozen: true}}":                             `features.vectors.frozen: policy is of kind compact, which reads no language`,
		"features: {read: [vectors], vectors: {frozen: true, file: v.jsonl}}":              `features.vectors.frozen: set beside a file`,
		"features: {read: [vectors], vectors: {frozen: true, model: m, url: http://h/v1}}": `features.vectors.frozen: set beside a file`,
		"features: {read: [words], vectors: {frozen: true}}":                               `features.vectors: set and not read`,
	} {
		s := setup(t, "logistic", params)
		s.Pool = poolOf("small", "medium", "large")
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", params, err, want)
		}
	}
}

// A policy reads what the spec says that rows read, and its own counts of words where it says nothing.
func TestPoliciesReadWhatOtherRowsRead(t *testing.T) {
	data := t.TempDir()
	vectorFile(t, data)
	qs := routingtest.Fresh(100)
	vectors := spec.Features{Read: []string{"vectors"}, Vectors: spec.Vectors{File: "v.jsonl"}}
	for kind, key := range map[string]string{"sft": "features", "entrorouter": "features", "entroplus": "policy_features"} {
		s := setup(t, kind, "")
		s.Data, s.Pool = data, poolOf("small", "medium", "large")
		recipe := func() string {
			m, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			text, err := spec.Canonical(m)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		want := `"` + key + `":{"read":["vectors"],"vectors":{"file":"v.jsonl","sha256":"`
		if got := recipe(); kind != "entroplus" && strings.Contains(got, "features") || strings.Contains(got, "policy_features") {
			t.Errorf("%s: features in the recipe by default: %s", kind, got)
		}
		s.Spec.Features = spec.Features{Words: spec.Words{Buckets: 64}} // and of parts that nobody says are read
		if got := recipe(); kind != "entroplus" && strings.Contains(got, "features") || strings.Contains(got, "policy_features") {
			t.Errorf("%s: features that are not read are in the recipe: %s", kind, got)
		}
		s.Spec.Features = vectors
		if got := recipe(); !strings.Contains(got, want) {
			t.Errorf("%s: no %s in the recipe %s", kind, want, got)
		}
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		w := routingtest.Work(1)
		w.Dir = t.TempDir()
		r, err := m.Fit(t.Context(), routingtest.Planted(300), w)
		if err != nil {
			t.Fatal(err)
		}
		decisions, right := routingtest.Route(t, r, qs), 0
		for i, d := range decisions {
			if routingtest.Hard(i) == (d.Expert == 2) {
				right++
			}
		}
		if right < 90 {
			t.Errorf("%s: %d of 100 questions go where their vector says", kind, right)
		}
		back, err := m.(Loader).Load(t.Context(), routingtest.Pool(), w.Dir, routingtest.Work(1))
		if err != nil {
			t.Fatal(err)
		}
		sameDecisions(t, kind+", loaded", routingtest.Route(t, back, qs), decisions)
	}
}

func TestFeaturesOfPoliciesAreChecked(t *testing.T) {
	for _, c := range []struct{ kind, params, want string }{
		{"sft", "features: {words: {buckets: 64}}", "params.features.read: not set, and then a policy reads words as policy says"},
		{"entroplus", "policy_features: {read: [characters], characters: {shortest: 9}}", "params.policy_features.characters.shortest: 9 is more than longest, which is 5"},
		{"entrorouter", "{policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: head, rationale: none, max_tokens: 100, compute: float32}, features: {read: [words]}}", "params.features: a language model reads the text itself"},
	} {
		if _, err := New(setup(t, c.kind, c.params)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.kind, c.params, err, c.want)
		}
	}
}

// Vectors are found by the ids of problems, as protocols know them.
func TestVectorsAreFoundByTheIDsOfProblems(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "v.jsonl"), []byte("{\"id\": \"p0\", \"vector\": [1, 0]}\n{\"id\": \"p1\", \"vector\": [0, 1]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := setup(t, "logistic", "features: {read: [vectors], vectors: {file: v.jsonl}}")
	s.Data, s.Pool = data, poolOf("small", "medium", "large")
	s.IDs = func(context.Context) (map[string]string, error) {
		ids := map[string]string{}
		for i := range 3 {
			p := routingtest.PlantedExample(i).Problem
			ids[p.Text] = p.ID
		}
		return ids, nil
	}
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fit(t.Context(), routingtest.Planted(2), routingtest.Work(1)); err != nil {
		t.Error(err)
	}
	if _, err := m.Fit(t.Context(), routingtest.Planted(3), routingtest.Work(1)); !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), "v.jsonl has no vector of 1 of 3 problems, the first of them problem p2,") {
		t.Error(err)
	}
}

// Vectors by a model are asked for; where its server stands decides nothing.
func TestRowsReadVectorsByAModel(t *testing.T) {
	recipe := ""
	for _, url := range []string{"http://a/v1", "http://b/v1"} {
		var asked experts.Endpoint
		s := setup(t, "logistic", "features: {read: [vectors], vectors: {model: e5, revision: r, url: '"+url+"', key_env: KEY}}")
		s.Embed = func(_ context.Context, m experts.Endpoint, texts []string) ([][]float32, error) {
			asked = m
			v := make([][]float32, len(texts))
			for i, text := range texts {
				v[i] = []float32{float32(len(text)), 1}
			}
			return v, nil
		}
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := spec.Canonical(m)
		if err != nil || !strings.Contains(string(text), `"vectors":{"model":"e5","revision":"r"}}`) || recipe != "" && recipe != string(text) {
			t.Errorf("the recipe %s, %v", text, err)
		}
		recipe = string(text)
		if _, err := m.Fit(t.Context(), routingtest.Planted(20), routingtest.Work(1)); err != nil {
			t.Fatal(err)
		}
		if asked.Model != "e5" || asked.Revision != "r" || asked.URL != url || asked.KeyEnv != "KEY" || !asked.Embeds {
			t.Errorf("asked %+v", asked)
		}
	}
}

func TestFeaturesAreChecked(t *testing.T) {
	data := t.TempDir()
	vectorFile(t, data)
	for params, want := range map[string]string{
		"features: {read: []}":                                                               "params.features.read",
		"features: {read: [word]}":                                                           `params.features.read[0]: unknown part "word"; did you mean "words"?`,
		"features: {read: [words, words]}":                                                   "params.features.read[1]: words is there already",
		"features: {read: [vectors]}":                                                        "params.features.vectors.file: not set",
		"features: {read: [vectors], vectors: {model: m}}":                                   "params.features.vectors.url: not set",
		"features: {read: [vectors], vectors: {url: 'http://a/v1'}}":                         "params.features.vectors.file: not set",
		"features: {read: [vectors], vectors: {model: m, url: 'a/v1'}}":                      "params.features.vectors.url: url \"a/v1\": want a base URL",
		"features: {read: [vectors], vectors: {file: v.jsonl, model: m}}":                    "params.features.vectors.file: set beside what a server is asked for",
		"features: {read: [vectors], vectors: {model: m, url: 'http://a/v1', sha256: '00'}}": "params.features.vectors.sha256: set without file",
		"features: {vectors: {file: v.jsonl}}":                                               "params.features.vectors: set and not read",
		"features: {read: [characters], characters: {shortest: 9}}":                          "params.features.characters.shortest: 9 is more than longest, which is 5",
		"features: {read: [vectors], vectors: {file: ../v.jsonl}}":                           "below the data folder",
		"features: {read: [vectors], vectors: {file: w.jsonl}}":                              "params.features.vectors.file",
		"features: {read: [vectors], vectors: {file: v.jsonl, sha256: \"00\"}}":              "it has changed",
	} {
		s := setup(t, "logistic", params)
		s.Data, s.Pool = data, poolOf("small", "medium", "large")
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	// What is set at the top of a spec is of every row; a row's own wins.
	s := setup(t, "knn", "features: {words: {buckets: 512}}")
	s.Spec.Features = spec.Features{Read: []string{"structure", "words"}, Words: spec.Words{Buckets: 64, NGrams: 1}}
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := spec.Canonical(m.(*knn).Features); err != nil || string(got) != `{"read":["structure","words"],"words":{"buckets":512,"ngrams":1}}` {
		t.Errorf("%s, %v", got, err)
	}
}
