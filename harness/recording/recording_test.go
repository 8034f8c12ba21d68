package recording

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	queryLines = `{"query_id":"q1","benchmark":"a","problem":"1+1?","gold":"2","prompt_tokens":5}
{"query_id":"q2","benchmark":"a","problem":"2+2?","gold":"B","prompt_tokens":6,"options":["3","4"]}

{"query_id":"q3","benchmark":"b","problem":"3+3?","gold":"6","prompt_tokens":7}
`
	outcomeLines = `{"query_id":"q1","model":"small","correct":1,"output_tokens":10}
{"query_id":"q2","model":"small","correct":0,"output_tokens":20,"no_answer":1}
{"query_id":"q3","model":"small","correct":true,"output_tokens":30}
{"query_id":"q1","model":"big","correct":1,"output_tokens":11,"no_answer":0}
{"query_id":"q2","model":"big","correct":1,"output_tokens":21,"no_answer":0}
{"query_id":"q3","model":"big","correct":0,"output_tokens":31,"no_answer":0}
{"query_id":"q1","model":"gap","correct":0,"output_tokens":12,"no_answer":0}
{"query_id":"q2","model":"gap","correct":0,"output_tokens":22,"no_answer":0}
`
)

// models are candidates of these names.
func models(names ...string) (all []Candidate) {
	for _, n := range names {
		all = append(all, Candidate{Model: n})
	}
	return all
}

// record writes a recording and returns its folder and spec.
func record(t *testing.T, queries, outcomes string) (string, spec.Recorded) {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) spec.File {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		return spec.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Source: "a test"}
	}
	return dir, spec.Recorded{Queries: file("q.jsonl", queries), Outcomes: file("o.jsonl", outcomes), PromptTokens: 80}
}

func TestRecordingIsATableOfQueriesAndCompleteModels(t *testing.T) {
	dir, s := record(t, queryLines, outcomeLines)
	got, err := Load(context.Background(), dir, s, models("small", "big"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Table{
		Queries:    []Query{{"q1", "a", "1+1?", "2", nil, 85}, {"q2", "a", "2+2?", "B", []string{"3", "4"}, 86}, {"q3", "b", "3+3?", "6", nil, 87}},
		Candidates: models("big", "small"), Partial: models("gap"),
		Runs: [][][]Answer{
			{{{Correct: true, In: 85, Out: 11}}, {{Correct: true, In: 85, Out: 10}}},
			{{{Correct: true, In: 86, Out: 21}}, {{NoAnswer: true, In: 86, Out: 20}}},
			{{{In: 87, Out: 31}}, {{Correct: true, In: 87, Out: 30}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s.Benchmarks = []string{"a"}
	if got, err = Load(context.Background(), dir, s, models("gap")); err != nil || len(got.Queries) != 2 || len(got.Candidates) != 3 {
		t.Errorf("benchmark a alone: %v, %v", got, err)
	}
}

// A reader opens files once for all pools of a recording, and again for what reads them otherwise.
func TestPoolsOfOneRecordingReadItOnce(t *testing.T) {
	dir, s := record(t, queryLines, outcomeLines)
	files := &Reader{Folder: dir}
	load := func(s spec.Recorded, needed ...string) (string, error) {
		table, err := files.Load(t.Context(), s, models(needed...))
		return fmt.Sprint(table), err
	}
	first, err := load(s, "small", "big")
	if err != nil {
		t.Fatal(err)
	}
	dropped := s
	dropped.Gaps, dropped.Scored, dropped.Note = "drop", 2, "of another pool"
	second, err := load(dropped, "gap")
	want, other := Load(t.Context(), dir, dropped, models("gap"))
	if err := errors.Join(err, other); err != nil || second != fmt.Sprint(want) || len(want.Queries) != 2 {
		t.Errorf("%v, %v", second, err)
	}
	if err := os.Remove(filepath.Join(dir, s.Outcomes.Path)); err != nil {
		t.Fatal(err)
	}
	if again, err := load(s, "small", "big"); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
	s.PromptTokens++
	if again, err := load(s, "small", "big"); err == nil {
		t.Errorf("read without its file: %v", again)
	}
}

func TestWhoAnsweredWhat(t *testing.T) {
	dir, s := record(t, queryLines, outcomeLines)
	got, err := Coverages(t.Context(), dir, s)
	want := []Coverage{{Candidate{Model: "big"}, []bool{true, true, true}}, {Candidate{Model: "gap"}, []bool{true, true, false}}, {Candidate{Model: "small"}, []bool{true, true, true}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Outcomes are graded: nobody needs a gold.
func TestAGoldMayBeMissing(t *testing.T) {
	dir, s := record(t, replaced(t, queryLines, `"gold":"6",=>`), outcomeLines)
	if got, err := Load(t.Context(), dir, s, models("small", "big")); err != nil || got.Queries[2].Gold != "" {
		t.Error(got, err)
	}
}

// Settings of any names and values are read back as they are, but for how a number is written.
func TestSettingsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "be brief", "a=b", `"`, "`x`", "'", "\n", "0.60", "high"}))
		settings := rapid.MapOf(text, text).Draw(t, "settings")
		c := CandidateOf("m", settings)
		got := c.Named()
		if again := CandidateOf("m", got); again != c || len(got) != len(settings) {
			t.Fatalf("%q is read as %q", settings, got)
		}
		for name := range settings {
			if _, ok := got[name]; !ok {
				t.Fatalf("%q is read as %q", settings, got)
			}
		}
	})
}

func TestARecordingMayBeginWithAByteOrderMark(t *testing.T) {
	dir, s := record(t, "\ufeff"+queryLines, "\ufeff"+outcomeLines)
	if got, err := Load(t.Context(), dir, s, models("small", "big")); err != nil || len(got.Queries) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRecordingSaysWhereItIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		queries, outcomes string // replacements "old=>new"
		spec              func(*spec.Recorded)
		want              string
	}{
		"an unknown query":         {outcomes: `"query_id":"q3","model":"big"=>"query_id":"q9","model":"big"`, want: `o.jsonl:6: query_id "q9" is not in the queries file`},
		"a duplicate pair":         {outcomes: `"query_id":"q3","model":"big"=>"query_id":"q1","model":"big"`, want: `o.jsonl:6: query_id "q1" and model "big" are there twice`},
		"a duplicate query":        {queries: `"query_id":"q3"=>"query_id":"q1"`, want: `q.jsonl:4: query_id "q1" is there twice`},
		"a missing pair":           {outcomes: `{"query_id":"q3","model":"big","correct":0,"output_tokens":31,"no_answer":0}=>`, want: `model "big" has outcomes for 2 of 3 queries; "q3" is the first without one`},
		"a missing model":          {outcomes: `"model":"big"=>"model":"huge"`, want: `no outcome of model "big"; it has: gap, huge, small`},
		"a misspelt key":           {outcomes: `"output_tokens":31=>"tokens":31`, want: `o.jsonl:6: unknown key "tokens"; known: query_id, model`},
		"a missing key":            {outcomes: `,"output_tokens":31=>`, want: "o.jsonl:6: output_tokens is missing"},
		"a label that is none":     {outcomes: `"correct":0,"output_tokens":31=>"correct":0.5,"output_tokens":31`, want: "o.jsonl:6: correct: 0.5 is neither 0 nor 1"},
		"a setting of orders":      {outcomes: `"correct":0,"output_tokens":31=>"correct":0,"settings":{"heat":"\u001b[31mred"},"output_tokens":31`, want: `o.jsonl:6: settings: "heat" is "\x1b[31mred", which holds a character that does not print; take it out`},
		"negative tokens":          {outcomes: `"output_tokens":31=>"output_tokens":-1`, want: "o.jsonl:6: output_tokens is -1"},
		"a right missing answer":   {outcomes: `"output_tokens":21,"no_answer":0=>"output_tokens":21,"no_answer":1`, want: "o.jsonl:5: correct and no_answer are both 1"},
		"text that is not JSON":    {queries: `{"query_id":"q2"=>{"query_id"q2"`, want: "q.jsonl:2: it is no JSON from byte 11 on"},
		"two objects on a line":    {outcomes: `"output_tokens":31,"no_answer":0}=>"output_tokens":31,"no_answer":0} {}`, want: "o.jsonl:6: more than one JSON object"},
		"an id of two lines":       {queries: `"query_id":"q2"=>"query_id":"q\r\n2"`, want: `query_id "q\r\n2" holds a character that does not print; take it out`},
		"a benchmark of orders":    {queries: `"benchmark":"a"=>"benchmark":"a\u001b[2J"`, want: `benchmark "a\x1b[2J" holds a character that does not print; take it out`},
		"an empty problem":         {queries: `"problem":"3+3?"=>"problem":""`, want: "q.jsonl:4: problem is missing or empty"},
		"an unknown benchmark":     {spec: func(s *spec.Recorded) { s.Benchmarks = []string{"c"} }, want: "q.jsonl: no query of benchmarks c"},
		"no checksum":              {spec: func(s *spec.Recorded) { s.Outcomes.SHA256 = "" }, want: `no sha256 is given for it, so nothing would notice a change of the data; write beside its path: sha256: `},
		"another checksum":         {spec: func(s *spec.Recorded) { s.Outcomes.SHA256 = "beef" }, want: `and was to be "beef": get the file from a test again`},
		"a missing file":           {spec: func(s *spec.Recorded) { s.Outcomes.Path = "none.jsonl" }, want: "no such file or directory: point --data at the folder that holds none.jsonl"},
		"tokens that nobody knows": {outcomes: `"output_tokens":31=>"output_tokens":null`, want: "o.jsonl:6: output_tokens is missing"},
		"tokens beyond any model":  {outcomes: `"output_tokens":31=>"output_tokens":9223372036854775807`, want: "o.jsonl:6: output_tokens is 9223372036854775807; want 0 to 10000000"},
		"a prompt beyond any":      {queries: `"prompt_tokens":5=>"prompt_tokens":4611686018427387904`, want: "q.jsonl:1: prompt_tokens is 4611686018427387904; want 0 to 10000000"},
		"negative prompt tokens":   {queries: `"prompt_tokens":5=>"prompt_tokens":-5`, want: "q.jsonl:1: prompt_tokens is -5; want 0 to 10000000"},
		"a key twice":              {outcomes: `"output_tokens":31=>"output_tokens":31,"output_tokens":32`, want: `o.jsonl:6: key "output_tokens" is there twice`},
		"a list":                   {queries: `{"query_id":"q2"=>[{"query_id":"q2"`, want: "q.jsonl:2: not a JSON object"},
		"half a line":              {outcomes: `"output_tokens":31,"no_answer":0}=>"output_tokens":31`, want: "o.jsonl:6: the line ends within its JSON object"},
		"a line without end":       {queries: `"problem":"3+3?"=>"problem":"` + strings.Repeat("3+", 8<<20) + `3?"`, want: "q.jsonl:4: longer than 16 MiB; a line is one JSON object, so write a line feed after each"},
		"half a .gz":               {spec: func(s *spec.Recorded) { s.Outcomes.Path = "half.gz" }, want: "half.gz:1: the compressed data are cut short or damaged here (unexpected EOF); get the file again from a test, or compress it again and correct its sha256"},
		"a file that is not a .gz": {spec: func(s *spec.Recorded) { s.Outcomes.Path = "plain.gz" }, want: "plain.gz: not compressed, though its name says so: gzip: invalid header"},
	} {
		t.Run(name, func(t *testing.T) {
			queries, outcomes := replaced(t, queryLines, c.queries), replaced(t, outcomeLines, c.outcomes)
			dir, s := record(t, queries, outcomes)
			if err := os.WriteFile(filepath.Join(dir, "plain.gz"), []byte(outcomes), 0o644); err != nil {
				t.Fatal(err)
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write([]byte(outcomes))
			z.Close()
			half := packed.Bytes()[:packed.Len()/2]
			if err := os.WriteFile(filepath.Join(dir, "half.gz"), half, 0o644); err != nil {
				t.Fatal(err)
			}
			if c.spec != nil {
				c.spec(&s)
			}
			if s.Outcomes.Path == "half.gz" {
				sum := sha256.Sum256(half)
				s.Outcomes.SHA256 = hex.EncodeToString(sum[:])
			}
			if _, err := Load(context.Background(), dir, s, models("small", "big")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}

func replaced(t *testing.T, text, change string) string {
	t.Helper()
	if change == "" {
		return text
	}
	before, after, _ := strings.Cut(change, "=>")
	if !strings.Contains(text, before) {
		t.Fatalf("nothing to replace: %s", before)
	}
	return strings.ReplaceAll(text, before, after)
}

// load reads a committed pool.
func load(t *testing.T, name string) (pool spec.Pool) {
	t.Helper()
	data, err := fs.ReadFile(experiments.FS, "pools/"+name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

// Accuracies and mean tokens of the recorded pools, as the data's own documentation gives them.
func TestRecordedPoolsHoldTheKnownOutcomes(t *testing.T) {
	const data = "../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skip("no data folder with recorded outcomes")
	}
	files := &Reader{Folder: data}
	for _, c := range []struct {
		pool     string
		queries  int
		accuracy []float64 // percent, cheapest first
	}{
		{"llama31", 2040, []float64{61.96, 76.23, 79.90}},
		{"qwen2_o1mini", 2040, []float64{60.05, 79.22, 93.48}},
		{"qwen25", 721, []float64{29.13, 51.46, 60.06}},
		{"mmlu_pro_llama_gemini", 11985, []float64{44.29, 62.98, 70.25}},
		{"routellm_gsm8k", 1319, []float64{63.84, 85.67}},
		{"routellm_mmlu", 14042, []float64{68.08, 80.58}},
		{"rgym_math", 2506, []float64{59.62, 68.56, 62.37}}, // of these 11 were not put to the probe
		{"rgym", 9344, []float64{32.97, 44.61, 43.61}},
		{"qwen3_lineage", 160, []float64{49.375, 57.5, 85.625}},
	} {
		t.Run(c.pool, func(t *testing.T) {
			pool := load(t, c.pool)
			var needed []Candidate
			for _, e := range pool.Experts {
				needed = append(needed, CandidateOf(e.Model, e.Settings))
			}
			r, err := files.Load(t.Context(), *pool.Recorded, needed)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Queries) != c.queries {
				t.Errorf("%d queries, want %d", len(r.Queries), c.queries)
			}
			if c.pool == "llama31" && len(r.Candidates) != 28 {
				t.Errorf("%d complete models, want 28", len(r.Candidates))
			}
			for m, e := range pool.Experts {
				a, err := r.Find(CandidateOf(e.Model, e.Settings))
				if err != nil {
					t.Fatal(err)
				}
				right := 0
				for q := range r.Queries {
					if r.Runs[q][a][0].Correct {
						right++
					}
				}
				if got := 100 * float64(right) / float64(len(r.Queries)); math.Abs(got-c.accuracy[m]) > 0.005 {
					t.Errorf("%s: accuracy %.2f, want %.2f", e.ID, got, c.accuracy[m])
				}
			}
		})
	}
}
