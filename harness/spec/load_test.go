package spec_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// known is what packages methods and present and results/paper offer, written out: spec imports none of them.
var known = spec.Known{
	Methods: []string{"random", "fixed", "oracle", "mixture", "benchmark", "logistic", "sft", "entrorouter"},
	Outputs: []spec.OutputKind{
		{Name: "table", AnyRows: true}, {Name: "metrics", AnyRows: true, Protocols: []string{"split"}}, {Name: "pareto", Reads: []string{"rows"}},
		{Name: "sweep", Reads: []string{"param", "axis", "series"}, Swept: true},
	},
	Paper: map[string][]string{"main": {"entrorouter", "random"}, "ablation": nil, "ood": nil},
}

// sound is a spec without a fault, with a pool of each kind that can be asked.
func sound() fstest.MapFS {
	return fstest.MapFS{
		"base.yaml": {Data: []byte(`protocol: split
seed: 1
c_unit: usd_per_mtok
count_input: false
train:
  sft: {benchmark: drill, size: 40}
  rl: {benchmark: drill, size: 30}
large: 0
profile: {rollouts: 5, concurrency: 4}
targets: {tau: 0.8, k: 2, gate: true, soft: true, hard_weight: 2}
anchor: {strength: 1, t: 0.25, alpha: 0.6}
reward: {kind: performance, fail: -3, gamma: 0.2, clamp: 0.6, strongest_kappa: one, balance: true}
policy: {kind: compact, buckets: 64, ngrams: 2, hidden: 8, backend: go}
sft: {epochs: 5, batch: 16, lr: 0.003, warm_up: 0.1, weight_decay: 0, dropout: 0}
grpo: {estimator: sampled, steps: 4, batch: 8, group: 4, lr: 0.003, clip_low: 0.2, clip_high: 0.2, dual_clip: 3, std_norm: true, epochs: 1, weight_decay: 0}
folds: {k: 5, seeds: [0], kappa: k5, probe: gemma}
evaluate: {seeds: [1, 2], decoding: argmax, bootstrap: 10, confidence: 0.95, max_problems: 0, max_runs: 0}
`)},
		"spec.yaml": {Data: []byte(`name: spec
base: base.yaml
title: A test
pools: [toy]
prices: list
test: [quiz, exam]
large: 100
targets:
  tau: 0.6
methods:
  - name: random
  - name: fixed
    id: small
    label: Small
    params: {expert: small}
  - name: logistic
    match: entrorouter
  - name: entrorouter
    label: Ours
outputs:
  - {kind: table, file: out}
`)},
		"pools/toy.yaml": {Data: []byte(`name: toy
kind: simulated
sampling: {temperature: 0.6, top_p: 0.95, top_k: 20, prompt: "Solve: {problem}"}
experts:
  - {id: small, model: S-1B, max_tokens: 1000}
  - {id: big, model: B-9B, max_tokens: 2000}
probe: {id: probe, model: P-0, max_tokens: 1000}
simulation:
  residual_sd: 0.5
  tokens: {slope: 1.6, scale: 1.5, sigma: 0.35}
  topic_difficulty: {sums: 0.1, words: -0.1}
  cells:
    train: {mu: -2, sd: 2, floor: 0, mix: {sums: 0.5, words: 0.5}}
    Q: {mu: -1, sd: 1, floor: 0, mix: {sums: 1}}
  skills:
    small: {theta: 0, w: {sums: 0.2}, offset: {Q: 0.1}, mean_tokens: {train: 300, Q: 400}}
    big: {theta: 1, w: {words: 0.2}, offset: {Q: 0.1}, mean_tokens: {train: 500, Q: 600}}
    probe: {theta: -2}
  text: {noise: 4, topic_leak: 0.1, size_shown: 0.4, new_words: 0.5}
`)},
		"pools/served.yaml": {Data: []byte(`name: served
kind: http
sampling: {temperature: 0.6, top_p: 0.95, top_k: 20, prompt: "{problem}"}
experts:
  - {id: small, model: S-1B, max_tokens: 1000, url: "http://localhost:8001/v1"}
  - {id: big, model: B-9B, max_tokens: 2000, url: "http://localhost:8002/v1"}
`)},
		"pools/tape.yaml": {Data: []byte(`name: tape
kind: recorded
experts:
  - {id: small, model: S-1B}
  - {id: big, model: B-9B}
recorded:
  queries: &file {path: q.jsonl, sha256: 0000000000000000000000000000000000000000000000000000000000abcdef, source: here, licence: MIT}
  outcomes: {path: o.jsonl, sha256: 0000000000000000000000000000000000000000000000000000000000abcdef, source: here, licence: MIT}
  prompt_tokens: 80
`)},
		"prices/list.yaml": {Data: []byte(`date: 2026-01-31
basis: assumed
source: invented
models:
  S-1B: {in: 0.1, out: 0.2}
  B-9B: {in: 1, out: 2}
`)},
		"benchmarks.yaml": {Data: []byte(`drill: {title: Drill, split: train, runs: 1, size: 50, generated: {cell: train, family: math}}
quiz: {title: Quiz, split: test, runs: 4, size: 30, generated: {cell: Q, family: math}}
exam: {title: Exam, split: test, runs: 2, size: 9, generated: {cell: Q, family: choice, options: 4}}
real:
  title: Real
  split: test
  runs: 1
  size: 5
  file: {path: real.jsonl, sha256: 0000000000000000000000000000000000000000000000000000000000abcdef, source: here, licence: MIT}
`)},
	}
}

// edit replaces the one occurrence of old in a file.
func edit(t testing.TB, files fstest.MapFS, file, old, new string) {
	t.Helper()
	text := string(files[file].Data)
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s holds %q %d times", file, old, strings.Count(text, old))
	}
	files[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, new, 1))}
}

func TestASpecIsLaidOverItsBase(t *testing.T) {
	files := sound()
	edit(t, files, "spec.yaml", "outputs:", "evaluate: {max_problems: 20, max_runs: 3}\noutputs:")
	for _, name := range []string{"spec", "spec.yaml"} {
		r, err := spec.Load(files, name, known, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		e := r.Experiment
		if e.Targets.Tau != 0.6 || e.Targets.K != 2 || !e.Targets.Gate {
			t.Errorf("targets %+v: want the tau of the spec and the rest of the base", e.Targets)
		}
		if diff := cmp.Diff([]uint64{1, 2}, e.Evaluate.Seeds); diff != "" {
			t.Error(diff)
		}
		if len(r.Pools) != 1 || r.Pools[0].Simulation.Cells["Q"].Mu != -1 || r.Prices.Models["B-9B"].Out != 2 || r.Prices.Date != "2026-01-31" {
			t.Errorf("pools %+v, prices %+v", r.Pools, r.Prices)
		}
		if diff := cmp.Diff([]string{"drill", "exam", "quiz"}, slices.Sorted(maps.Keys(r.Benchmarks))); diff != "" {
			t.Errorf("benchmarks used: %s", diff)
		}
		if q, x := r.Benchmarks["quiz"], r.Benchmarks["exam"]; q.Size != 20 || q.Runs != 3 || x.Size != 9 || x.Runs != 2 {
			t.Errorf("quiz %d x %d, exam %d x %d: want caps of 20 and 3", q.Size, q.Runs, x.Size, x.Runs)
		}
		if d := r.Benchmarks["drill"]; d.Size != 50 {
			t.Errorf("the caps are for test sets, drill has %d", d.Size)
		}
		want := []string{"base.yaml", "benchmarks.yaml", "pools/toy.yaml", "prices/list.yaml", "spec.yaml"}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(r.Files))); diff != "" {
			t.Error(diff)
		}
		if m := e.Methods[1]; m.File != "spec.yaml" || m.Line != 12 || m.Path != "methods[1]" || m.RowLabel() != "Small" || m.RowID() != "small" || e.Methods[0].RowLabel() != "random" {
			t.Errorf("row %+v", m)
		}
	}
}

// A table that differs from another in a row and a knob says that row and that knob.
func TestABaseMayHaveABaseAndRowsAreAddedToItsRows(t *testing.T) {
	files := sound()
	files["more.yaml"] = &fstest.MapFile{Data: []byte(`name: more
base: spec.yaml
targets: {k: 3}
more_methods:
  - {name: random, id: dice}
  - {name: logistic, id: again, label: Again}
`)}
	files["most.yaml"] = &fstest.MapFile{Data: []byte(`name: most
base: more.yaml
title: Another test
more_methods: [{name: fixed, id: cheap, params: {expert: small}}]
`)}
	r, err := spec.Load(files, "most", known, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	e := r.Experiment
	var rows []string
	for _, m := range e.Methods {
		rows = append(rows, m.RowID())
	}
	if diff := cmp.Diff([]string{"random", "small", "logistic", "entrorouter", "dice", "again", "cheap"}, rows); diff != "" {
		t.Error(diff)
	}
	if e.Name != "most" || e.Title != "Another test" || e.Targets.K != 3 || e.Targets.Tau != 0.6 || e.Base != "more.yaml" || e.More != nil {
		t.Errorf("%+v", e)
	}
	if m := e.Methods[5]; m.File != "more.yaml" || m.Line != 6 {
		t.Errorf("the row %s is at %s:%d", m.ID, m.File, m.Line)
	}
	edit(t, files, "more.yaml", "name: random, id: dice", "name: dice")
	edit(t, files, "most.yaml", "name: fixed, id: cheap", "name: fixed, id: small")
	_, err = spec.Load(files, "most", known, spec.Changes{})
	for _, want := range []string{`more.yaml:5: methods[4].name: unknown method "dice"`, `most.yaml:4: methods[6]`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestAnOutputIsOneThatTheCallerKnows(t *testing.T) {
	files := sound()
	edit(t, files, "spec.yaml", "kind: table", "kind: tabel")
	knows := known
	knows.Outputs = nil
	if _, err := spec.Load(files, "spec", knows, spec.Changes{}); err != nil {
		t.Errorf("a caller that knows no outputs: %v", err)
	}
	knows.Outputs = []spec.OutputKind{{Name: "pareto"}, {Name: "table"}}
	if _, err := spec.Load(files, "spec", knows, spec.Changes{}); err == nil || !strings.Contains(err.Error(), `spec.yaml:21: outputs[0].kind: unknown output "tabel"; did you mean "table"? known: pareto, table`) {
		t.Errorf("%v", err)
	}
}

func TestABackendIsGoOrXLA(t *testing.T) {
	for _, backend := range []string{"go", "xla"} {
		files := sound()
		edit(t, files, "spec.yaml", "outputs:", "policy: {backend: "+backend+"}\noutputs:")
		r, err := spec.Load(files, "spec", known, spec.Changes{})
		if err != nil || r.Experiment.Policy.Backend != backend || r.Experiment.Policy.Kind != "compact" {
			t.Errorf("%s: %+v, %v", backend, r, err)
		}
	}
}

func TestEveryFaultNamesFileAndLine(t *testing.T) {
	const served, tape = "pools: [served]", "pools: [tape]\nprotocol: folds"
	for _, tc := range []struct {
		name, file, old, new string
		want                 string
		also                 string // "old => new" in spec.yaml, to make the file matter
	}{
		// What YAML lets pass.
		{"an unknown key with one near it", "spec.yaml", "large: 100", "larg: 100", `spec.yaml:7: unknown key "larg"; did you mean "large"? known: name, base, title, paper, protocol, pools, prices, seed, c_unit, count_input, train, test, large, profile, targets, anchor, reward, features, policy, language_models, teacher, writer, sft, grpo, validate, folds, evaluate, collapse, ensemble, methods, more_methods, paper_rows, outputs`, ""},
		{"an unknown key far from all", "spec.yaml", "  tau: 0.6", "  threshold: 0.6", `spec.yaml:9: targets: unknown key "threshold"; known: tau, k, gate, soft, hard_weight, strongest`, ""},
		{"an unknown key in a row", "spec.yaml", "    match: entrorouter", "    matches: Ours", `spec.yaml:17: methods[2]: unknown key "matches"; did you mean "match"? known: name, id, label, paper, match, kappa, versus, train, params`, ""},
		{"a key set twice", "spec.yaml", "large: 100", "large: 100\nprices: list", `spec.yaml:8: key "prices" is already set on line 5`, ""},
		{"an unknown key of a base, which leaves a knob out", "base.yaml", "seed: 1", "sead: 1", `base.yaml:2: unknown key "sead"; did you mean "seed"? known: name, base, title, paper, protocol, pools, prices, seed, c_unit, count_input, train, test, large, profile, targets, anchor, reward, features, policy, language_models, teacher, writer, sft, grpo, validate, folds, evaluate, collapse, ensemble, methods, more_methods, paper_rows, outputs`, ""},
		{"a key set twice in flow style", "base.yaml", "{tau: 0.8,", "{tau: 0.8, tau: 0.7,", `base.yaml:10: targets: key "tau" is already set on line 10`, ""},
		{"a fraction for a whole number", "base.yaml", "seed: 1", "seed: 1.5", `base.yaml:2: seed: want a whole number from 0 up, got "1.5"`, ""},
		{"a negative seed", "base.yaml", "seed: 1", "seed: -1", `base.yaml:2: seed: want a whole number from 0 up, got "-1"`, ""},
		{"a float that is whole", "base.yaml", "large: 0", "large: 1e3", `base.yaml:8: large: want a whole number, got "1e3"`, ""},
		{"an octal", "base.yaml", "large: 0", "large: 010", `base.yaml:8: large: want a whole number, got "010"`, ""},
		{"a number beyond 64 bits", "base.yaml", "seed: 1", "seed: 99999999999999999999", `base.yaml:2: seed: "99999999999999999999" is too large`, ""},
		{"text for a number", "spec.yaml", "large: 100", "large: many", `spec.yaml:7: large: want a whole number, got the text "many"`, ""},
		{"a number in quotes", "spec.yaml", "large: 100", "large: \"100\"", `spec.yaml:7: large: want a whole number, got the text "100"`, ""},
		{"not a number", "spec.yaml", "tau: 0.6", "tau: .nan", `spec.yaml:9: targets.tau: want a finite decimal number, got ".nan"`, ""},
		{"infinity", "spec.yaml", "tau: 0.6", "tau: .inf", `spec.yaml:9: targets.tau: want a finite decimal number, got ".inf"`, ""},
		{"a number for text", "spec.yaml", "title: A test", "title: 12", `spec.yaml:3: title: want text, got "12"; put it in quotes`, ""},
		{"yes for true", "base.yaml", "count_input: false", "count_input: no", `base.yaml:4: count_input: want true or false, got the text "no"`, ""},
		{"nothing", "spec.yaml", "title: A test", "title:", `spec.yaml:3: title: want text, got nothing`, ""},
		{"empty text", "spec.yaml", "title: A test", "title: ' '", `spec.yaml:3: title: must not be empty`, ""},
		{"an empty list", "spec.yaml", "pools: [toy]", "pools: []", `spec.yaml:4: pools: must not be empty`, ""},
		{"an empty name in a list", "spec.yaml", "[quiz, exam]", "[quiz, '']", `spec.yaml:6: test[1]: must not be empty`, ""},
		{"a word for a list", "spec.yaml", "[quiz, exam]", "quiz", `spec.yaml:6: test: want a list, got the text "quiz"`, ""},
		{"a list for a section", "base.yaml", "profile: {rollouts: 5, concurrency: 4}", "profile: [5, 4]", `base.yaml:9: profile: want keys and values, got a list`, ""},
		{"a list for params", "spec.yaml", "{expert: small}", "[small]", `spec.yaml:15: methods[1].params: want keys and values, got a list`, ""},
		{"an alias", "pools/tape.yaml", "outcomes: {path: o.jsonl, sha256: 0000000000000000000000000000000000000000000000000000000000abcdef, source: here, licence: MIT}", "outcomes: *file", `pools/tape.yaml:8: recorded.outcomes: aliases are not supported; write the value out`, "pools: [toy] => " + tape},
		{"a list as a key", "spec.yaml", "large: 100", "[a, b]: 100", `spec.yaml:7: a key is one word, got a list`, ""},
		{"a second document", "spec.yaml", "  - {kind: table, file: out}\n", "  - {kind: table, file: out}\n---\nname: more\n", `spec.yaml:22: a second document starts here; a file holds one`, ""},
		{"an empty file", "spec.yaml", string(sound()["spec.yaml"].Data), "", `spec.yaml:1: the file is empty`, ""},
		{"a file of comments", "prices/list.yaml", string(sound()["prices/list.yaml"].Data), "# nothing\n", `prices/list.yaml:1: the file is empty`, ""},
		{"no YAML", "spec.yaml", "targets:\n", "targets:\n\t", `spec.yaml:9: not YAML: found character that cannot start any token`, ""},
		{"a byte that is no text", "spec.yaml", "file: out}", "file: out} # \xff", `spec.yaml:21: not YAML: invalid leading UTF-8 octet`, ""},
		{"a character that is no text", "pools/toy.yaml", "id: big", "id: big\x01", `pools/toy.yaml:6: not YAML: control characters are not allowed`, ""},

		// Ranges and names.
		{"a share above 1", "spec.yaml", "tau: 0.6", "tau: 1.6", `spec.yaml:9: targets.tau: want more than 0 and at most 1, got "1.6"`, ""},
		{"a closed end is in, an open one out", "base.yaml", "dropout: 0}", "dropout: 1}", `base.yaml:14: sft.dropout: want at least 0 and less than 1, got "1"`, ""},
		{"a group of one", "base.yaml", "group: 4", "group: 1", `base.yaml:15: grpo.group: want at least 2 and at most 4096, got "1"`, ""},
		{"an enumerated value", "base.yaml", "kind: performance", "kind: spars", `base.yaml:12: reward.kind: unknown value "spars"; did you mean "sparse"? known: performance, sparse`, ""},
		{"a backend that there is not", "base.yaml", "backend: go", "backend: tpu", `base.yaml:13: policy.backend: unknown value "tpu"; known: go, xla`, ""},
		{"a backend and its plugin", "base.yaml", "backend: go", "backend: 'xla:cpu'", `base.yaml:13: policy.backend: unknown value "xla:cpu"; known: go, xla`, ""},
		{"an unknown pool", "spec.yaml", "pools: [toy]", "pools: [toi]", `spec.yaml:4: pools[0]: unknown pool "toi"; did you mean "toy"? known: served, tape, toy`, ""},
		{"a pool by its path", "spec.yaml", "pools: [toy]", "pools: [../pools/toy]", `spec.yaml:4: pools[0]: unknown pool "../pools/toy"; known: served, tape, toy`, ""},
		{"an unknown price list", "spec.yaml", "prices: list", "prices: today", `spec.yaml:5: prices: unknown price list "today"; known: list`, ""},
		{"an unknown benchmark", "spec.yaml", "[quiz, exam]", "[quiz, exams]", `spec.yaml:6: test[1]: unknown benchmark "exams"; did you mean "exam"? known: drill, exam, quiz, real`, ""},
		{"an unknown method", "spec.yaml", "name: logistic", "name: logstic", `spec.yaml:16: methods[2].name: unknown method "logstic"; did you mean "logistic"? known: random, fixed, oracle, mixture, benchmark, logistic, sft, entrorouter`, ""},
		{"an unknown table of the paper", "spec.yaml", "title: A test", "title: A test\npaper: table1", `spec.yaml:4: paper: unknown table of the paper "table1"; known: ablation, main, ood`, ""},
		{"an unknown row to match", "spec.yaml", "match: entrorouter", "match: theirs", `spec.yaml:17: methods[2].match: unknown row "theirs"; known: entrorouter, logistic, random, small`, ""},

		// What is missing.
		{"a knob that no file sets", "base.yaml", ", dual_clip: 3", "", `base.yaml:15: grpo.dual_clip: not set`, ""},
		{"a section that no file sets", "base.yaml", "anchor: {strength: 1, t: 0.25, alpha: 0.6}\n", "", `spec.yaml:1: anchor: not set`, ""},
		{"a required key of a list element", "spec.yaml", "{kind: table, file: out}", "{file: out}", `spec.yaml:21: outputs[0]: "kind" is not set`, ""},
		{"no test set", "spec.yaml", "test: [quiz, exam]\n", "", `spec.yaml:1: test: not set; protocol split needs the benchmarks to test on`, ""},
		{"a base that is not there", "spec.yaml", "base: base.yaml", "base: basis.yaml", `spec.yaml:2: base: no file "basis.yaml" beside this one or built in`, ""},
		{"a base of itself", "base.yaml", "seed: 1", "seed: 1\nbase: spec.yaml", `base.yaml:3: base: spec.yaml is laid over itself: spec.yaml, then base.yaml, then spec.yaml`, ""},
		{"a price", "prices/list.yaml", "  B-9B: {in: 1, out: 2}\n", "", `pools/toy.yaml:6: experts[1].model: no price of "B-9B" in prices/list.yaml; known: S-1B`, ""},
		{"every price", "prices/list.yaml", "  S-1B: {in: 0.1, out: 0.2}\n  B-9B: {in: 1, out: 2}\n", "", `prices/list.yaml:4: models: no prices yet of S-1B, B-9B; write a line for each, such as "NAME: {in: 0.1, out: 0.4}", dollars per million tokens, or give them with 'entrorouter init FOLDER --price NAME=IN,OUT'`, ""},
		{"a generation limit", "pools/toy.yaml", "{id: big, model: B-9B, max_tokens: 2000}", "{id: big, model: B-9B}", `pools/toy.yaml:6: experts[1].max_tokens: not set; pools of kind simulated need the generation limit`, ""},
		{"sampling", "pools/served.yaml", "sampling: {temperature: 0.6, top_p: 0.95, top_k: 20, prompt: \"{problem}\"}\n", "", `pools/served.yaml:1: sampling: not set; pools of kind http need it`, "pools: [toy] => " + served},
		{"a simulation", "pools/toy.yaml", "kind: simulated", "kind: http", `pools/toy.yaml:8: simulation: belongs to a simulated pool; this one is http`, ""},
		{"a recording", "pools/tape.yaml", "recorded:\n", "simulation:\n", `pools/tape.yaml:2: kind: a recorded pool needs the key "recorded"`, "pools: [toy] => " + tape},
		{"models of queries", "pools/tape.yaml", "queries: &file {", "queries: &file {models: [S-1B], ", `pools/tape.yaml:7: recorded.queries.models: belongs to recorded.outcomes`, "pools: [toy] => " + tape},
		{"models of lines of several", "pools/tape.yaml", "licence: MIT}\n  prompt_tokens", "licence: MIT, models: [S-1B, B-9B]}\n  format: {layout: wide}\n  prompt_tokens", `pools/tape.yaml:8: recorded.outcomes.models: a line must be of one model and have it under the key model`, "pools: [toy] => " + tape},
		{"a skill", "pools/toy.yaml", "    probe: {theta: -2}\n", "", `pools/toy.yaml:7: probe.id: "probe" has no entry in simulation.skills`, ""},
		{"the tokens of a cell in use", "pools/toy.yaml", "{train: 500, Q: 600}", "{train: 500}", `pools/toy.yaml:17: simulation.skills.big.mean_tokens: none for the cell "Q" of "quiz"`, ""},
		{"options", "benchmarks.yaml", ", options: 4", "", `benchmarks.yaml:3: exam.generated: family choice needs the number of options`, ""},
		{"a source of problems", "benchmarks.yaml", ", generated: {cell: train, family: math}", "", `benchmarks.yaml:1: drill: want one of the keys file and generated`, ""},

		{"a key in place of its name", "pools/served.yaml", `url: "http://localhost:8002/v1"`, `url: "http://localhost:8002/v1", key_env: "sk-1"`, `pools/served.yaml:6: experts[1].key_env: want the name of an environment variable that holds the key, not the key itself`, "pools: [toy] => " + served},
		{"two ways to say where", "pools/served.yaml", `url: "http://localhost:8002/v1"`, `url: "http://localhost:8002/v1", urls: ["http://b/v1"]`, `pools/served.yaml:6: experts[1].urls: want url or urls, not both`, "pools: [toy] => " + served},
		{"a server twice", "pools/served.yaml", `url: "http://localhost:8002/v1"`, `urls: ["http://b/v1", "http://b/v1"]`, `pools/served.yaml:6: experts[1].urls[1]: http://b/v1 is in the list twice`, "pools: [toy] => " + served},
		{"a stop that is no text", "pools/served.yaml", `url: "http://localhost:8002/v1"`, `url: "http://localhost:8002/v1", sampling: {stop: 3}`, `pools/served.yaml:6: experts[1].sampling.stop: want a text or a list of texts, got 3`, "pools: [toy] => " + served},
		{"what cannot be left out", "pools/served.yaml", `url: "http://localhost:8002/v1"`, `url: "http://localhost:8002/v1", sampling: {leave_out: [model]}`, `pools/served.yaml:6: experts[1].sampling.leave_out[0]: unknown field "model"; known: temperature, top_p, top_k, min_p, seed`, "pools: [toy] => " + served},
		{"an expert's own temperature", "pools/served.yaml", `url: "http://localhost:8002/v1"`, `url: "http://localhost:8002/v1", sampling: {temperature: hot}`, `pools/served.yaml:6: experts[1].sampling.temperature: want a finite decimal number, got the text "hot"`, "pools: [toy] => " + served},
		// What does not fit together.
		{"a name that is not the file's", "spec.yaml", "name: spec", "name: main", `spec.yaml:1: name: "main" is not the name of the file; want "spec"`, ""},
		{"no name but that of the base", "base.yaml", "protocol: split", "name: other\nprotocol: split", `spec.yaml: name: not set, and "other", the name of base.yaml, is another file's; want "spec"`, "name: spec\n => "},
		{"a pool's name that is not the file's", "pools/toy.yaml", "name: toy", "name: sim", `pools/toy.yaml:1: name: "sim" is not the name of the file; want "toy"`, ""},
		{"two pools under protocol split", "spec.yaml", "pools: [toy]", "pools: [toy, served]", `spec.yaml:4: pools: protocol split takes one pool, got 2`, ""},
		{"a pool named twice", "spec.yaml", "pools: [toy]", "pools: [toy, toy]", `spec.yaml:4: pools[1]: pool "toy" is named twice`, ""},
		{"a recorded pool under protocol split", "spec.yaml", "pools: [toy]", "pools: [tape]", `spec.yaml:4: pools: pool "tape" is recorded; protocol split needs experts that can be asked`, ""},
		{"a simulated pool under protocol folds", "spec.yaml", "large: 100", "protocol: folds", `spec.yaml:4: pools: pool "toy" is simulated; protocol folds needs recorded pools`, ""},
		{"true success probabilities of served experts", "spec.yaml", "pools: [toy]", served, `spec.yaml:7: large: the true success probability of pool "served" is not known; want 0`, ""},
		{"input tokens on the large set", "base.yaml", "count_input: false", "count_input: true", `spec.yaml:7: large: the large set knows expected output tokens only; want 0 with count_input: true`, ""},
		{"a training set to test on", "spec.yaml", "[quiz, exam]", "[quiz, drill]", `spec.yaml:6: test[1]: "drill" is a train set; want a test set`, ""},
		{"a test set to train on", "base.yaml", "sft: {benchmark: drill, size: 40}", "sft: {benchmark: quiz, size: 20}", `base.yaml:6: train.sft.benchmark: "quiz" is a test set; want a train set`, ""},
		{"more problems than there are", "base.yaml", "size: 40", "size: 51", `base.yaml:6: train.sft.size: 51 problems are asked of "drill", which has 50`, ""},
		{"a benchmark twice", "spec.yaml", "[quiz, exam]", "[quiz, quiz]", `spec.yaml:6: test[1]: quiz is in the list twice`, ""},
		{"too few resamples for an interval", "base.yaml", "bootstrap: 10,", "bootstrap: 1,", `base.yaml:17: evaluate.bootstrap: 1 resamples have no interval; want at least 10, or 0 for none`, ""},
		{"a training seed twice", "base.yaml", "seeds: [1, 2]", "seeds: [2, 2]", `base.yaml:17: evaluate.seeds[1]: 2 is in the list twice`, ""},
		{"real problems for simulated experts", "spec.yaml", "[quiz, exam]", "[quiz, real]", `spec.yaml:6: test[1]: "real" is loaded from a file; the simulated pool "toy" answers generated problems only`, ""},
		{"a cell that the pool has not", "benchmarks.yaml", "{cell: Q, family: math}", "{cell: R, family: math}", `spec.yaml:6: test[0]: "quiz" is of the cell "R", which pool toy does not have; known: Q, train`, ""},
		{"two rows with one id", "spec.yaml", "    id: small", "    id: random", `spec.yaml:12: methods[1]: the id "random" is already that of methods[0]; set another`, ""},
		{"two rows with one label", "spec.yaml", "label: Small", "label: random", `spec.yaml:12: methods[1]: the label "random" is already that of methods[0]; set another`, ""},
		{"an id with a space", "spec.yaml", "    id: small", "    id: a b", `spec.yaml:13: methods[1].id: "a b" is not an id; use letters, digits, dots, dashes and underscores`, ""},
		{"a row that the paper does not have", "spec.yaml", "    id: small", "    id: small\n    paper: 0.1.2", `spec.yaml:15: methods[1].paper: unknown row of the paper's table main "0.1.2"; known: entrorouter, random`, "title: A test => title: A test\npaper: main"},
		{"a caption that a terminal would obey", "spec.yaml", "title: A test", `title: "A \e[31mtest"`, `spec.yaml:3: title: "A \x1b[31mtest" holds a character that does not print, which a terminal or a file may take for an order; take it out`, ""},
		{"a label that reads backwards", "spec.yaml", "    id: small", "    id: small\n    label: \"a\\u202eb\"", `spec.yaml:14: methods[1].label: "a\u202eb" holds a character that does not print, which a terminal or a file may take for an order; take it out`, ""},
		{"a caption of two lines", "spec.yaml", "title: A test", `title: "A\ntest"`, `spec.yaml:3: title: want a text of one line, got "A\ntest"`, ""},
		{"a title of two lines", "pools/tape.yaml", "  prompt_tokens:", "  titles: {quiz: \"Q\\nz\"}\n  prompt_tokens:", `pools/tape.yaml:9: recorded.titles.quiz: want a text of one line, got "Q\nz"`, "pools: [toy] => " + tape},
		{"a row of the paper alone that it does not have", "spec.yaml", "outputs:\n", "paper: main\npaper_rows: [{paper: randm, label: Theirs}]\noutputs:\n", `spec.yaml:21: paper_rows[0].paper: unknown row of the paper's table main "randm"; did you mean "random"? known: entrorouter, random`, ""},
		{"a row of the paper without a value", "spec.yaml", "    id: small", "    paper: entrorouter/alpha", `spec.yaml:13: methods[1].paper: "entrorouter/alpha" is not a row of the paper; want a method and its further keys, as in entrorouter/alpha=0.2`, ""},
		{"a row of the paper alone without a value", "spec.yaml", "outputs:\n", "paper: main\npaper_rows: [{paper: theirs/alpha, label: Theirs}]\noutputs:\n", `spec.yaml:21: paper_rows[0].paper: "theirs/alpha" is not a row of the paper; want a method and its further keys, as in entrorouter/alpha=0.2`, ""},
		{"a row of the paper alone without a table", "spec.yaml", "outputs:\n", "paper_rows: [{paper: theirs, label: Theirs}]\noutputs:\n", `spec.yaml:20: paper_rows[0]: there is no table of the paper; set paper`, ""},
		{"a router of an impossible skill", "pools/toy.yaml", "  residual_sd: 0.5", "  routers: {r: {skill: 2, tau: 0.8, malformed: 0}}\n  residual_sd: 0.5", `pools/toy.yaml:9: simulation.routers.r.skill: want at least 0 and at most 1, got "2"`, ""},
		{"a row matched to itself", "spec.yaml", "match: entrorouter", "match: logistic", `spec.yaml:17: methods[2].match: the row "logistic" cannot be matched to itself`, ""},
		{"a row matched to a matched one", "spec.yaml", "    id: small", "    match: logistic", `spec.yaml:13: methods[1].match: the row "logistic" is itself matched; name one that is not`, ""},
		{"labels of a row under protocol split", "spec.yaml", "    match: entrorouter", "    kappa: k5", `spec.yaml:17: methods[2].kappa: protocol split measures the labels; leave kappa out`, ""},
		{"a contrast under protocol split", "spec.yaml", "    match: entrorouter", "    versus: [small]", `spec.yaml:17: methods[2].versus: only protocol folds measures contrasts; leave versus out`, ""},
		{"predictions under protocol split", "spec.yaml", "methods:\n", "folds: {predictions: logistic}\nmethods:\n", `spec.yaml:10: folds.predictions: only protocol folds measures what rows predict; leave it out`, ""},
		{"predictions against an unknown row", "spec.yaml", "pools: [toy]", "pools: [tape]\nprotocol: folds\nfolds: {predictions: theirs}", `spec.yaml:6: folds.predictions: unknown row "theirs"; known: entrorouter, logistic, random, small`, ""},
		{"a contrast with an unknown row", "spec.yaml", "    match: entrorouter", "    versus: [theirs]", `spec.yaml:17: methods[2].versus[0]: unknown row "theirs"; known: entrorouter, logistic, random, small`, ""},
		{"a contrast of a row with itself", "spec.yaml", "    match: entrorouter", "    versus: [logistic]", `spec.yaml:17: methods[2].versus[0]: the row "logistic" cannot be compared with itself`, ""},
		{"an output into another folder", "spec.yaml", "file: out", "file: ../out", `spec.yaml:21: outputs[0].file: "../out" is not a file name; use letters, digits, dots, dashes and underscores`, ""},
		{"more problems seen again than Stage I has", "benchmarks.yaml", "exam: {", "more: {title: More, split: train, runs: 1, size: 90, generated: {cell: train, family: math}}\nexam: {", `spec.yaml:9: train.seen: 0.6 of the 80 problems of Stage II are 48, and Stage I has 40; want a smaller share or more problems in Stage I`, "large: 100 => large: 100\ntrain:\n  seen: 0.6\n  rl: {benchmark: more, size: 80}"},
		{"more training problems than there are", "spec.yaml", "    match: entrorouter", "    train: 41", `spec.yaml:17: methods[2].train: 41 is more than the 40 problems of the larger training set`, ""},
		{"a figure of an unknown row", "spec.yaml", "{kind: table, file: out}", "{kind: pareto, file: out, rows: [small, smal]}", `spec.yaml:21: outputs[0].rows[1]: unknown row "smal"; did you mean "small"? known: entrorouter, logistic, random, small`, ""},
		{"a line of an unknown row", "spec.yaml", "{kind: table, file: out}", "{kind: sweep, file: out, param: train, axis: n, series: [{label: A, rows: [b]}]}", `spec.yaml:21: outputs[0].series[0].rows[0]: unknown row "b"; known: entrorouter, logistic, random, small`, ""},
		{"a key of another kind of output", "spec.yaml", "{kind: table, file: out}", "{kind: table, file: out, rows: [small]}", `spec.yaml:21: outputs[0].rows: outputs of kind table do not read it; leave it out`, ""},
		{"tables of metrics under protocol folds", "spec.yaml", "pools: [toy]", "pools: [tape]\nprotocol: folds", `spec.yaml:22: outputs[0].kind: outputs of kind metrics need protocol split, this spec has protocol folds`, "{kind: table, file: out} => {kind: metrics, file: out}"},
		{"a sweep over nothing", "spec.yaml", "{kind: table, file: out}", "{kind: sweep, file: out}", `spec.yaml:21: outputs[0]: a sweep needs param and axis: the number that its rows change and what to call it`, ""},
		{"two outputs in one file", "spec.yaml", "  - {kind: table, file: out}", "  - {kind: table, file: out}\n  - {kind: table, file: out}", `spec.yaml:22: outputs[1].file: "out" is already written by another output`, ""},
		{"two outputs of a kind", "spec.yaml", "{kind: table, file: out}", "{kind: table}\n  - {kind: table}", `spec.yaml:22: outputs[1].file: "table" is already written by another output`, ""},
		{"a number that no paper has", "spec.yaml", "file: out", "file: out, number: Tab. 1", `spec.yaml:21: outputs[0].number: "Tab. 1" is no number of the paper's; want one as in Table 1 or Figure 3`, ""},
		{"a pool of one", "pools/served.yaml", "  - {id: big, model: B-9B, max_tokens: 2000, url: \"http://localhost:8002/v1\"}\n", "", `pools/served.yaml:4: experts: one expert leaves nothing to route; want at least 2`, "pools: [toy] => " + served},
		{"an id taken twice", "pools/toy.yaml", "id: big", "id: small", `pools/toy.yaml:6: experts[1].id: the id "small" is already taken`, ""},
		{"an id with a slash", "pools/toy.yaml", "id: big", "id: a/big", `pools/toy.yaml:6: experts[1].id: "a/big" is not an id; use letters, digits, dots, dashes and underscores`, ""},
		{"a URL without /v1", "pools/served.yaml", "http://localhost:8001/v1", "localhost:8001", `pools/served.yaml:5: experts[0].url: want a base URL such as http://localhost:8000/v1, got "localhost:8001"`, "pools: [toy] => " + served},
		{"a URL with a query", "pools/served.yaml", "http://localhost:8001/v1", "http://localhost:8001/v1?key=1#a/v1", `pools/served.yaml:5: experts[0].url: want a base URL such as http://localhost:8000/v1, got "http://localhost:8001/v1?key=1#a/v1"`, "pools: [toy] => " + served},
		{"a prompt without the problem", "pools/toy.yaml", "Solve: {problem}", "Solve it", `pools/toy.yaml:3: sampling.prompt: want a template with one {problem}, got "Solve it"`, ""},
		{"an unknown topic in a mix", "pools/toy.yaml", "mix: {sums: 1}", "mix: {sum: 1}", `pools/toy.yaml:14: simulation.cells.Q.mix.sum: unknown topic "sum"; did you mean "sums"? known: sums, words`, ""},
		{"shares that do not add up", "pools/toy.yaml", "mix: {sums: 1}", "mix: {sums: 0.9}", `pools/toy.yaml:14: simulation.cells.Q.mix: the shares add up to 0.9; want 1`, ""},
		{"a skill of nobody", "pools/toy.yaml", "    probe: {theta: -2}", "    probe: {theta: -2}\n    bog: {theta: 1}", `pools/toy.yaml:19: simulation.skills.bog: unknown expert "bog"; did you mean "big"? known: big, probe, small`, ""},
		{"an offset in an unknown cell", "pools/toy.yaml", "w: {sums: 0.2}, offset: {Q: 0.1}", "w: {sums: 0.2}, offset: {P: 0.1}", `pools/toy.yaml:16: simulation.skills.small.offset.P: unknown cell "P"; known: Q, train`, ""},
		{"a negative price", "prices/list.yaml", "out: 2}", "out: -2}", `prices/list.yaml:6: models.B-9B.out: want at least 0 and at most 1000000, got "-2"`, ""},
		{"a day that is none", "prices/list.yaml", "2026-01-31", "January", `prices/list.yaml:1: date: want a day such as 2026-01-31, got "January"`, ""},
		{"a checksum that is none", "benchmarks.yaml", "sha256: 0000", "sha256: zz00", `benchmarks.yaml:9: real.file.sha256: want 64 hexadecimal digits, got "zz00000000000000000000000000000000000000000000000000000000abcdef"`, ""},
		{"a file outside the data folder", "benchmarks.yaml", "path: real.jsonl", "path: ../real.jsonl", `benchmarks.yaml:9: real.file.path: want a path below the data folder, got "../real.jsonl"`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := sound()
			edit(t, files, tc.file, tc.old, tc.new)
			if old, new, ok := strings.Cut(tc.also, " => "); ok {
				edit(t, files, "spec.yaml", old, new)
			}
			_, err := spec.Load(files, "spec", known, spec.Changes{})
			var faults spec.Faults
			if !errors.As(err, &faults) {
				t.Fatalf("got %v, want faults", err)
			}
			for _, f := range faults {
				if f.String() == tc.want {
					return
				}
			}
			t.Errorf("got\n%v\nwant\n%s", err, tc.want)
		})
	}
}

func TestOfAFileWithoutKeysNothingElseIsSaid(t *testing.T) {
	for _, file := range []string{"spec.yaml", "base.yaml"} {
		for text, got := range map[string]string{"- name: a\n- b\n": "a list", "hello\n": `the text "hello"`, "3\n": `"3"`} {
			files := sound()
			files[file].Data = []byte(text)
			_, err := spec.Load(files, "spec", known, spec.Changes{})
			if want := file + ":1: want keys and values, got " + got; err == nil || err.Error() != want {
				t.Errorf("got\n%v\nwant\n%s", err, want)
			}
		}
	}
}

func TestAllFaultsOfAllFilesAreReportedAtOnceInOrder(t *testing.T) {
	files := sound()
	edit(t, files, "base.yaml", "seed: 1", "seed: 1.5")
	edit(t, files, "base.yaml", "gamma: 0.2", "gamma: 2")
	edit(t, files, "spec.yaml", "large: 100", "larg: 100")
	edit(t, files, "spec.yaml", "name: logistic", "name: knn")
	edit(t, files, "pools/toy.yaml", "residual_sd: 0.5", "residual_sd: wide")
	edit(t, files, "prices/list.yaml", "source: invented\n", "")
	edit(t, files, "benchmarks.yaml", "runs: 4", "runs: 0")
	_, err := spec.Load(files, "spec", known, spec.Changes{})
	var faults spec.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, f := range faults {
		text, _, _ := strings.Cut(f.String(), ";")
		got = append(got, text)
	}
	want := []string{
		`base.yaml:2: seed: want a whole number from 0 up, got "1.5"`,
		`base.yaml:12: reward.gamma: want at least 0 and at most 1, got "2"`,
		`benchmarks.yaml:2: quiz.runs: want at least 1 and at most 10000, got "0"`,
		`pools/toy.yaml:9: simulation.residual_sd: want a finite decimal number, got the text "wide"`,
		`prices/list.yaml:1: "source" is not set`,
		`spec.yaml:7: unknown key "larg"`,
		`spec.yaml:16: methods[2].name: unknown method "knn"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(err.Error(), "\n"); n != len(want)-1 {
		t.Errorf("want one fault a line:\n%v", err)
	}
}

func TestAFaultMetOnTwoWaysIsReportedOnce(t *testing.T) {
	files := sound()
	edit(t, files, "pools/toy.yaml", "{train: 500, Q: 600}", "{Q: 600}") // both training stages draw on the cell
	_, err := spec.Load(files, "spec", known, spec.Changes{})
	if want := `pools/toy.yaml:17: simulation.skills.big.mean_tokens: none for the cell "train" of "drill"`; err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestRowsAreTriedWithTheFinishedExperiment(t *testing.T) {
	files := sound()
	edit(t, files, "spec.yaml", "{expert: small}", "{expart: small}")
	k := known
	k.Build = func(e *spec.Experiment, m spec.Method) error {
		if e.Targets.Tau != 0.6 {
			t.Errorf("tau %v", e.Targets.Tau)
		}
		switch m.Name {
		case "fixed":
			return spec.DecodeParams(m, &struct {
				Expert string `yaml:"expert"`
			}{})
		case "logistic":
			return errors.New("cannot be built")
		}
		return nil
	}
	_, err := spec.Load(files, "spec", k, spec.Changes{})
	want := `spec.yaml:15: methods[1].params: unknown key "expart"; did you mean "expert"?
spec.yaml:15: methods[1].params.expert: not set
spec.yaml:16: methods[2]: cannot be built`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}

	edit(t, files, "spec.yaml", "{expart: small}", "{expert: small}")
	edit(t, files, "spec.yaml", "large: 100", "large: -1")
	_, err = spec.Load(files, "spec", k, spec.Changes{})
	if want := `spec.yaml:7: large: want at least 0 and at most 1000000, got "-1"`; err == nil || err.Error() != want {
		t.Errorf("what only follows from another fault is left out: got\n%v\nwant\n%s", err, want)
	}
}

func TestAnUnknownSpecListsTheKnownOnes(t *testing.T) {
	for name, want := range map[string]string{
		"spek":     `unknown spec "spek"; did you mean "spec"?`,
		"../spec":  `unknown spec "../spec"; known: spec`,
		"":         `unknown spec ""; known: spec`,
		"pools":    `unknown spec "pools"; known: spec`,
		"nonsense": `unknown spec "nonsense"; known: spec`,
	} {
		if _, err := spec.Load(sound(), name, known, spec.Changes{}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
}

func TestAUsersFilesStandOverTheBuiltInOnes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	builtin := sound()
	mine := strings.Replace(string(builtin["spec.yaml"].Data), "name: spec", "name: mine", 1)
	write("mine.yaml", mine)
	write("spec.yaml", string(builtin["spec.yaml"].Data))
	write("pools/toy.yaml", strings.Replace(string(builtin["pools/toy.yaml"].Data), "residual_sd: 0.5", "residual_sd: 0.75", 1))

	fsys, name, err := spec.Find(filepath.Join(dir, "mine.yaml"), builtin)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mine", "spec"}, spec.Names(fsys)); diff != "" {
		t.Error(diff)
	}
	r, err := spec.Load(fsys, name, known, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Experiment.Name != "mine" || r.Pools[0].Simulation.ResidualSD != 0.75 {
		t.Errorf("got %s and %v", r.Experiment.Name, r.Pools[0].Simulation.ResidualSD)
	}

	write("pools/toy.yaml", "name: toy\n")
	write("mine.yaml", strings.Replace(mine, "prices: list", "prices: lost", 1))
	_, err = spec.Load(fsys, name, known, spec.Changes{})
	for _, want := range []string{filepath.Join(dir, "pools", "toy.yaml") + `:1: "kind" is not set`, filepath.Join(dir, "mine.yaml") + `:5: prices: unknown price list "lost"; did you mean "list"?`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
}

func TestANameIsBuiltInAndAPathIsAFile(t *testing.T) {
	builtin := sound()
	if fsys, name, err := spec.Find("spec", builtin); err != nil || name != "spec" || fsys == nil {
		t.Errorf("got %v, %q, %v", fsys, name, err)
	}
	for _, arg := range []string{filepath.Join(t.TempDir(), "gone.yaml"), "gone/spec", "spec.yaml"} {
		if _, _, err := spec.Find(arg, builtin); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: got %v", arg, err)
		}
	}
	folder := filepath.Join(t.TempDir(), "logs")
	for name, text := range map[string]string{"logs.yaml": "name: logs", "queries.jsonl": "{}", "empty/note": ""} {
		if err := errors.Join(os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for arg, want := range map[string]string{
		folder:                                 folder + " is a folder; name the spec in it, " + filepath.Join(folder, "logs.yaml"),
		folder + "/":                           folder + "/ is a folder; name the spec in it, " + filepath.Join(folder, "logs.yaml"),
		filepath.Join(folder, "empty"):         filepath.Join(folder, "empty") + " is a folder; name a YAML file in it, or a built-in experiment",
		filepath.Join(folder, "queries.jsonl"): filepath.Join(folder, "queries.jsonl") + " does not end in .yaml; name the YAML file of a spec, or a built-in experiment",
	} {
		if _, _, err := spec.Find(arg, builtin); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", arg, err, want)
		}
	}
	if err := os.WriteFile(folder+"/empty.yaml", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, name, err := spec.Find(filepath.Join(folder, "empty"), builtin); err != nil || name != "empty.yaml" {
		t.Errorf("a spec beside a folder of its name: %q, %v", name, err)
	}
	t.Chdir(filepath.Dir(folder))
	if _, _, err := spec.Find("logs", builtin); err == nil || err.Error() != "logs is a folder; name the spec in it, "+filepath.Join("logs", "logs.yaml") {
		t.Errorf("a folder here: %v", err)
	}
	if _, err := spec.Layer(filepath.Join(t.TempDir(), "gone"), builtin); err == nil {
		t.Error("a folder that is not there is no layer")
	}
}

// A file that a spec names is no spec, which one sentence says in the place of every key that it lacks.
func TestAPoolIsNoSpec(t *testing.T) {
	for name, want := range map[string]string{
		"pools/toy.yaml":   "spec.yaml:1: this is a pool and no spec; name the spec that has it among its pools",
		"prices/list.yaml": "spec.yaml:1: this is a price list and no spec; name the spec whose prices it has",
	} {
		files := sound()
		files["spec.yaml"] = files[name]
		if _, err := spec.Load(files, "spec", known, spec.Changes{}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

func TestTheSoundSpecLoadsWithEveryPool(t *testing.T) {
	for _, edits := range [][2]string{
		{"pools: [toy]\nprices: list\ntest: [quiz, exam]\nlarge: 100", "pools: [served]\nprices: list\ntest: [real]"},
		{"pools: [toy]\nprices: list\ntest: [quiz, exam]\nlarge: 100", "pools: [tape]\nprotocol: folds\nprices: list"},
	} {
		files := sound()
		edit(t, files, "spec.yaml", edits[0], edits[1])
		r, err := spec.Load(files, "spec", known, spec.Changes{})
		if err != nil {
			t.Error(err)
		} else if r.Experiment.Protocol == "folds" && len(r.Benchmarks) > 0 {
			t.Errorf("protocol folds uses no benchmarks, got %v", r.Benchmarks)
		}
	}
}

// One word of a sound file is replaced by another of any file: Load answers with faults that name a file, or with a
// spec that is whole. It never panics.
func TestAnySpecIsSoundOrRefused(t *testing.T) {
	var words []string
	for _, f := range sound() {
		words = append(words, strings.FieldsFunc(string(f.Data), func(r rune) bool { return strings.ContainsRune(" \n{}[],", r) })...)
	}
	words = append(words, "-", "~", "{}", "[]", "[[]]", "{a: 1}", "*x", "&x", "!!binary aGk=", "!x y", "<<", "? a", "|", "1e999", "-0", "'", "\t", "%", "\x00", "---", "...", "0x1F", "1_0")
	slices.Sort(words)
	rapid.Check(t, func(t *rapid.T) {
		files := sound()
		names := slices.Sorted(maps.Keys(files))
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			name := rapid.SampledFrom(names).Draw(t, "file")
			text := string(files[name].Data)
			old := rapid.SampledFrom(words).Draw(t, "old")
			at := strings.Index(text, old)
			if at < 0 {
				continue
			}
			text = text[:at] + rapid.SampledFrom(words).Draw(t, "new") + text[at+len(old):]
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		soundOrRefused(t, files)
	})
}

func FuzzLoad(f *testing.F) {
	for _, name := range slices.Sorted(maps.Keys(sound())) {
		f.Add(sound()["spec.yaml"].Data, sound()[name].Data)
	}
	f.Add([]byte("a: &a [*a, *a]\nb: *a"), []byte("? {}\n: !!int x"))
	f.Fuzz(func(t *testing.T, main, base []byte) {
		files := sound()
		files["spec.yaml"] = &fstest.MapFile{Data: main}
		files["base.yaml"] = &fstest.MapFile{Data: base}
		soundOrRefused(t, files)
	})
}

func soundOrRefused(t interface{ Fatalf(string, ...any) }, files fstest.MapFS) {
	r, err := spec.Load(files, "spec", known, spec.Changes{})
	if err != nil {
		var faults spec.Faults
		if !errors.As(err, &faults) || len(faults) == 0 {
			t.Fatalf("not faults: %v", err)
		}
		for _, f := range faults {
			if f.File == "" || f.Text == "" || f.Line < 1 {
				t.Fatalf("fault without a place: %+v", f)
			}
		}
		return
	}
	e := r.Experiment
	switch {
	case len(e.Methods) == 0 && e.Protocol != "collapse" || len(e.Evaluate.Seeds) == 0 || len(r.Pools) != len(e.Pools) || len(r.Pools) == 0:
		t.Fatalf("accepted without methods, seeds or pools: %+v", e)
	case !(e.Targets.Tau > 0 && e.Targets.Tau <= 1) || e.GRPO.Group < 2 || e.SFT.Batch < 1 || !(e.Reward.Fail <= 0):
		t.Fatalf("accepted out of range: %+v", e)
	}
	for _, p := range r.Pools {
		for _, x := range p.Experts {
			if _, ok := r.Prices.Models[x.Model]; !ok || x.ID == "" {
				t.Fatalf("accepted without a price: %+v", x)
			}
		}
	}
	if _, err := spec.Canonical(e); err != nil {
		t.Fatalf("accepted and cannot be written: %v", err)
	}
}

func TestARowOfThePaperHasAMethodAndFurtherKeys(t *testing.T) {
	for paper, want := range map[string][]string{
		"entrorouter":                   {"method", "entrorouter"},
		"entrorouter/alpha=0.2":         {"method", "entrorouter", "alpha", "0.2"},
		"entrorouter/alpha=1/noise=0.1": {"method", "entrorouter", "alpha", "1", "noise", "0.1"},
	} {
		if diff := cmp.Diff(want, spec.Method{Paper: paper}.PaperKeys()); diff != "" {
			t.Errorf("%s: %s", paper, diff)
		}
	}
}

func TestRangesOfAnEnsembleAreChecked(t *testing.T) {
	for _, c := range []struct{ edit, want string }{
		{"", ""},
		{"noise: {from: 9, to: 1, why: w}", "ensemble.noise: from 9 is above to 1"},
		{"noise: {from: 0, to: 1, scale: log, why: w}", "ensemble.noise.from: a logarithmic scale does not begin at 0"},
		{"noise: {from: 1, to: 2, why: ''}", "ensemble.noise.why"},
		{"noise: {from: 1, to: 2000, why: w}", "ensemble.noise.to: want at least 0 and at most 1000"},
		{"noise: {from: 1, to: 2, scale: cubic, why: w}", "ensemble.noise.scale"},
	} {
		files := sound()
		noise := c.edit
		if noise == "" {
			noise = "noise: {from: 1, to: 2, scale: log, why: w}"
		}
		files["spec.yaml"].Data = append(files["spec.yaml"].Data, []byte("ensemble:\n  pools: 2\n  "+noise+"\n  topic_leak: {from: 0, to: 1, why: w}\n  residual_sd: {from: 0, to: 1, why: w}\n"+
			"  topic_sd: {from: 0, to: 1, why: w}\n  strength_sd: {from: 0, to: 1, why: w}\n  tokens_sigma: {from: 0, to: 1, why: w}\n")...)
		_, err := spec.Load(files, "spec", known, spec.Changes{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", noise, err)
		}
	}
}

// The digest of a spec is of what it says: each knob of every file counts, and how it is written does not.
func TestTheDigestIsOfWhatASpecSays(t *testing.T) {
	digest := func(pool, file, old, new string) string {
		t.Helper()
		files := sound()
		if pool == "tape" {
			edit(t, files, "spec.yaml", "pools: [toy]", "pools: [tape]\nprotocol: folds")
			edit(t, files, "spec.yaml", "large: 100\n", "")
		}
		if old != "" {
			edit(t, files, file, old, new)
		}
		r, err := spec.Load(files, "spec", known, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Digest()
		if err != nil || len(d) != 64 {
			t.Fatal(d, err)
		}
		return d
	}
	for _, c := range []struct {
		pool, file, old, new string
		same                 bool
	}{
		{"toy", "spec.yaml", "tau: 0.6", "tau: 0.60 # as before", true},
		{"toy", "spec.yaml", "large: 100\n", "large: 100\nanchor: {alpha: 0.6}\n", true}, // which the base says
		{"toy", "spec.yaml", "tau: 0.6", "tau: 0.7", false},
		{"toy", "spec.yaml", "{expert: small}", "{expert: big}", false},
		{"toy", "spec.yaml", "match: entrorouter", "match: small", false},
		{"toy", "base.yaml", "alpha: 0.6", "alpha: 0.5", false},
		{"toy", "base.yaml", "seeds: [1, 2]", "seeds: [1, 2, 3]", false},
		{"toy", "pools/toy.yaml", "residual_sd: 0.5", "residual_sd: 0.6", false},
		{"tape", "pools/tape.yaml", "outcomes: {path: o.jsonl, sha256: 00", "outcomes: {path: o.jsonl, sha256: 10", false},
		{"toy", "prices/list.yaml", "{in: 1, out: 2}", "{in: 1, out: 3}", false},
		{"toy", "benchmarks.yaml", "runs: 4, size: 30", "runs: 5, size: 30", false},
	} {
		if same := digest(c.pool, c.file, c.old, c.new) == digest(c.pool, "", "", ""); same != c.same {
			t.Errorf("%s with %q for %q: the digest is the same: %v", c.file, c.new, c.old, same)
		}
	}
}
