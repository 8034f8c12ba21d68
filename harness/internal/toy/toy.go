// Package toy has small experiments for tests to carry out.
package toy

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

//go:embed testdata
var testdata embed.FS

// Tiny is tiny.yaml: every step of protocol split in a second or two.
func Tiny(t testing.TB) *spec.Resolved {
	t.Helper()
	return TinyWith(t)
}

// Figures is figures.yaml: outputs of every kind.
func Figures(t testing.TB) *spec.Resolved {
	t.Helper()
	return with(t, "figures.yaml")
}

// TinyWith is tiny.yaml with some text replaced: old, new, old, new...
func TinyWith(t testing.TB, pairs ...string) *spec.Resolved {
	t.Helper()
	return with(t, "tiny.yaml", pairs...)
}

func with(t testing.TB, name string, pairs ...string) *spec.Resolved {
	t.Helper()
	text := Text(t, name)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s does not hold %q", name, pairs[i])
		}
	}
	path := filepath.Join(t.TempDir(), name)
	Put(t, path, strings.NewReplacer(pairs...).Replace(text))
	return Load(t, path)
}

// Text is that of tiny.yaml or figures.yaml.
func Text(t testing.TB, name string) string {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Load reads a spec beside files of its own.
func Load(t testing.TB, path string) *spec.Resolved {
	t.Helper()
	fsys, name, err := spec.Find(path, experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.Load(fsys, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Put writes a file and the folders above it.
func Put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Row makes a row of a spec.
func Row(t testing.TB, name, id, params string) spec.Method {
	t.Helper()
	m := spec.Method{Name: name, ID: id}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(params), &doc); err != nil {
		t.Fatal(err)
	}
	m.Params = *doc.Content[0]
	return m
}

// Constants looks at nothing: always the same expert, or the same mixture.
const Constants = `
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: fixed, id: middle, params: {expert: middle}}
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: mixture, kappa: "01"}
  - {name: benchmark, kappa: "01"}
outputs: [{kind: table}]
`

// Learned is a row that is trained among rows that are not.
const Learned = `
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: random}
  - {name: mixture, kappa: "01"}
  - {name: routellm, kappa: "01"}
outputs: [{kind: table}]
`

// Folder writes a pool of three experts with 300 questions and the spec constants.yaml, whose rows and knobs below
// folds the caller gives. It returns the folder and the outcomes file.
func Folder(t *testing.T, folds, rows string) (dir, outcomesFile string) {
	t.Helper()
	dir = t.TempDir()
	var queries, outcomes strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	const n = Questions
	rate := []float64{0.3, 0.7, 0.85, 0.2, 0.5, 0.6, 0.4, 0.5}
	for q := range n {
		fmt.Fprintf(&queries, `{"query_id": "q%d", "benchmark": "toy", "problem": "Question %d?", "gold": "1", "prompt_tokens": 10}`+"\n", q, q)
		for m, p := range rate {
			correct := 0
			if r.Float64() < p {
				correct = 1
			}
			fmt.Fprintf(&outcomes, `{"query_id": "q%d", "model": "m%d", "correct": %d, "output_tokens": %d}`+"\n", q, m, correct, 50+r.IntN(100))
		}
	}
	Put(t, filepath.Join(dir, "queries.jsonl"), queries.String())
	Put(t, filepath.Join(dir, "outcomes.jsonl"), outcomes.String())
	Put(t, filepath.Join(dir, "pools", "toy.yaml"), fmt.Sprintf(`
name: toy
kind: recorded
experts: [{id: small, model: m0}, {id: mid, model: m1}, {id: big, model: m2}]
recorded:
  queries: {path: queries.jsonl, sha256: %x, source: made up, licence: none}
  outcomes: {path: outcomes.jsonl, sha256: %x, source: made up, licence: none}
  prompt_tokens: 0
`, sha256.Sum256([]byte(queries.String())), sha256.Sum256([]byte(outcomes.String()))))
	Put(t, filepath.Join(dir, "prices", "toy.yaml"), "date: 2026-01-01\nbasis: assumed\nsource: made up\nmodels: {m0: {in: 1, out: 1}, m1: {in: 3, out: 3}, m2: {in: 10, out: 10}}\n")
	Put(t, filepath.Join(dir, "constants.yaml"), `
name: constants
base: base.yaml
title: Constants
protocol: folds
pools: [toy]
prices: toy
folds: {probe: m3, seeds: [0, 1]`+folds+`}
evaluate: {bootstrap: 20, seeds: [1]}
`+rows)
	return dir, outcomes.String()
}

// Questions is how many there are in a Folder.
const Questions = 300
