package starting

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Whatever a model is called, the files say so. Specs have no characters that do not print.
func TestTextsAreReadAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringOf(rapid.RuneFrom(nil, unicode.GraphicRanges...)), rapid.SampledFrom([]string{"yes", "No", "~", "1e3", "0x1", "a: b", "a #b", "2026-01-31", "null", "org/model-7b"})).Draw(t, "text")
		written, err := quoted(text)
		if err != nil {
			t.Fatal(err)
		}
		var read any
		if err := yaml.Unmarshal([]byte("{k: "+written+"}"), &struct{ K *any }{&read}); err != nil || read != text {
			t.Fatalf("%q is written %s and read as %v: %v", text, written, read, err)
		}
	})
}

var day = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// load reads the spec of a folder as run does, but for what methods and outputs say of themselves.
func load(t *testing.T, folder, name string) *spec.Resolved {
	t.Helper()
	fsys, err := spec.Layer(folder, experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.Load(fsys, name, spec.Known{Methods: []string{"random", "fixed", "oracle", "mixture", "benchmark", "logistic", "bag", "knn", "mean", "entrorouter"}}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A model under two settings is two experts, several answers are pass rates, and what is left out is said.
func TestRecordedOutcomesAreDescribed(t *testing.T) {
	folder := t.TempDir()
	more := func(line string) (all string) { // of the questions 4 to 9
		for n := 4; n < 10; n++ {
			all += fmt.Sprintf(line+"\n", n)
		}
		return all
	}
	write(t, filepath.Join(folder, Queries), `{"query_id": "1", "benchmark": "a", "problem": "1 + 1", "gold": "2", "prompt_tokens": 5}
{"query_id": "2", "benchmark": "b", "problem": "1 + 2", "gold": "3", "prompt_tokens": 5}
{"query_id": "3", "benchmark": "b", "problem": "1 + 3", "prompt_tokens": 5}
`+more(`{"query_id": "%[1]d", "benchmark": "b", "problem": "1 + %[1]d", "prompt_tokens": 5}`))
	write(t, filepath.Join(folder, Outcomes), `{"query_id": "1", "model": "org/a: b", "correct": [1, 0], "output_tokens": [10, 30], "settings": {"effort": "low"}}
{"query_id": "2", "model": "org/a: b", "correct": [1, 1], "output_tokens": [20, 20], "settings": {"effort": "low"}}
{"query_id": "1", "model": "org/a: b", "correct": 1, "output_tokens": 100, "settings": {"effort": "high"}}
{"query_id": "2", "model": "org/a: b", "correct": 1, "output_tokens": 100, "settings": {"effort": "high"}}
{"query_id": "3", "model": "org/a: b", "correct": 1, "output_tokens": 100, "settings": {"effort": "high"}}
{"query_id": "2", "model": "gaps", "correct": 1, "output_tokens": 5}
`+more(`{"query_id": "%d", "model": "org/a: b", "correct": [0, 1], "output_tokens": [20, 20], "settings": {"effort": "low"}}`)+
		more(`{"query_id": "%d", "model": "org/a: b", "correct": 1, "output_tokens": 100, "settings": {"effort": "high"}}`))
	b, err := Recorded(t.Context(), folder, "mine", Origin{Source: "a test", Licence: "none", Note: "made up: yes", Prices: map[string]Price{"org/a: b": {Price: cost.Price{In: 1e-7, Out: 2}}, "gaps": {}}}, day)
	if err != nil || len(b.Priceless) > 0 || b.Left != "gaps, which answered 1 of 9 questions; 1 of 9 questions, which not every other model answered; remaining: models 2, questions 8" {
		t.Fatal(err, b)
	}
	if err := Write(folder, b.Files); err != nil {
		t.Fatal(err)
	}
	r := load(t, folder, "mine")
	p := r.Pools[0]
	if len(p.Experts) != 2 || p.Experts[0].ID != "a-b-high" || p.Experts[0].Settings["effort"] != "high" || p.Experts[1].Model != "org/a: b" {
		t.Errorf("experts %+v", p.Experts)
	}
	if p.Recorded.Scored != 1 || r.Prices.Models["org/a: b"] != (cost.Price{In: 1e-7, Out: 2}) || r.Prices.Date != "2026-01-31" {
		t.Errorf("scored %d, prices %+v", p.Recorded.Scored, r.Prices)
	}
	if p.Recorded.Note != "made up: yes" || p.Recorded.Gaps != "drop" || p.Recorded.Queries.Source != "a test" || p.Recorded.Outcomes.Licence != "none" {
		t.Errorf("%+v", p.Recorded)
	}
	pool := string(b.Files[0].Data)
	for _, want := range []string{"right in 56.2% of 16 answers, 20 tokens per answer", `Left out: "gaps, which answered 1 of 9 questions"`} {
		if !strings.Contains(pool, want) {
			t.Errorf("no %q in\n%s", want, pool)
		}
	}
}

// A model one of whose settings is left out goes by the other, since its name alone says neither.
func TestASettingThatIsLeftOut(t *testing.T) {
	folder, queries, outcomes := t.TempDir(), "", `{"query_id": "1", "model": "m", "correct": 1, "output_tokens": 9, "settings": {"heat": 1}}`+"\n"
	for n := range 9 {
		queries += fmt.Sprintf(`{"query_id": "%d", "problem": "1 + %[1]d", "prompt_tokens": 5}`+"\n", n)
		outcomes += fmt.Sprintf(`{"query_id": "%d", "model": "m", "correct": 1, "output_tokens": 9, "settings": {"heat": 0}}
{"query_id": "%[1]d", "model": "other", "correct": 0, "output_tokens": 9}
`, n)
	}
	write(t, filepath.Join(folder, Queries), queries)
	write(t, filepath.Join(folder, Outcomes), outcomes)
	b, err := Recorded(t.Context(), folder, "mine", Origin{Source: "a test", Licence: "none", Prices: map[string]Price{"m": {}, "other": {}}}, day)
	if err == nil {
		err = Write(folder, b.Files)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := load(t, folder, "mine").Pools[0]
	var pool []recording.Candidate
	for _, e := range p.Experts {
		pool = append(pool, recording.CandidateOf(e.Model, e.Settings))
	}
	if _, err := recording.Load(t.Context(), folder, *p.Recorded, pool); err != nil || !slices.Contains(pool, recording.Candidate{Model: "m", Settings: "heat=0"}) {
		t.Error(pool, err)
	}
}

// A folder that cannot be read is its owner's to mend, who is told where, and of no type of this program.
func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	const (
		question = `{"query_id": "1", "benchmark": "a", "problem": "1 + 1", "gold": "2", "prompt_tokens": 5}`
		answer   = `{"query_id": "1", "model": "x", "correct": 1, "output_tokens": 5}`
	)
	for name, c := range map[string]struct{ queries, outcomes, want string }{
		"what is not compressed":  {question, answer, "outcomes.jsonl.gz: cannot be read: gzip: invalid header"},
		"half a line":             {question + "\n" + question[:40], answer, "queries.jsonl:2: the line ends within its JSON object"},
		"a question of two":       {question, answer + "\n" + answer, `outcomes.jsonl:2: query_id "1" and model "x" are there twice`},
		"another encoding":        {question, answer + "\n" + strings.Replace(answer, "x", "caf\xe9", 1), "outcomes.jsonl:2: not UTF-8; convert the file"},
		"a text of another":       {"\n" + strings.Replace(question, "1 + 1", "caf\xe9", 1), answer, "queries.jsonl:2: not UTF-8; convert the file"},
		"a model without a name":  {question, strings.Replace(answer, "x", " ", 1), "outcomes.jsonl:1: model is empty"},
		"a model of orders":       {question, strings.Replace(answer, "x", `\u001b[31mx`, 1), `outcomes.jsonl:1: model "\x1b[31mx" holds a character that does not print; take it out`},
		"half a token":            {question, answer + "\n" + strings.Replace(answer, "5", "5.5", 1), "outcomes.jsonl:2: output_tokens is 5.5; want a whole number of at most 18 digits"},
		"half a token of several": {question, strings.Replace(answer, "5", "[5, 1e99]", 1), "outcomes.jsonl:1: output_tokens is 1e99; want a whole number of at most 18 digits"},
		"a token in words":        {strings.Replace(question, "5", `"five"`, 1), answer, "queries.jsonl:1: prompt_tokens is of type string; want a number"},
		"tokens in a list":        {strings.Replace(question, "5", "[5]", 1), answer, "queries.jsonl:1: prompt_tokens is of type array; want a number"},
		"an id that is a number":  {strings.Replace(question, `"1"`, "1", 1), answer, "queries.jsonl:1: query_id is of type number; want a text"},
		"a list of lists":         {question, strings.Replace(answer, "5", "[[5]]", 1), "outcomes.jsonl:1: output_tokens is of type array; want a number"},
		"a rate beyond all":       {question, strings.Replace(answer, `"correct": 1`, `"pass_rate": 1e999, "runs": 2`, 1), "outcomes.jsonl:1: pass_rate is 1e999, which is too large"},
		"why it ended":            {question, strings.Replace(answer, "5}", `5, "finish": 7}`, 1), "outcomes.jsonl:1: finish is of type number; want a text"},
	} {
		folder := t.TempDir()
		write(t, filepath.Join(folder, Queries), c.queries)
		outcomes, _, _ := strings.Cut(c.want, ":") // if these are at fault, by the name that they are to have
		write(t, filepath.Join(folder, strings.Replace(outcomes, Queries, Outcomes, 1)), c.outcomes)
		want := spec.ErrUsage.Error() + ": " + folder + string(filepath.Separator) + c.want
		if _, err := Recorded(t.Context(), folder, "mine", Origin{}, day); !errors.Is(err, spec.ErrUsage) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// What is written runs: the largest part of the questions that is scored leaves enough to learn from.
func TestQuestionsSuffice(t *testing.T) {
	for name, c := range map[string]struct {
		benchmarks, problems string // a letter a question
		few                  string // how many they are said to be; empty: enough
		learned              int
	}{
		"one question too few":     {"aaaaaa", "123456", "6", 4},
		"enough":                   {"aaaaaaa", "1234567", "", 5},
		"of two benchmarks":        {"aaaabbb", "1234567", "", 5},
		"a benchmark each":         {"abcdefg", "1234567", "7", 0},
		"twice each":               {"aaaaaaaa", "11223344", "", 6},
		"asked again elsewhere":    {"aaaabbbb", "12341111", "8 (different texts: 4)", 3},
		"two that are often there": {"aaaaaaaaaa", "1111122222", "", 5},
		"one that is always there": {"aaaaaaaaaa", "1111111111", "10 (different texts: 1)", 0},
	} {
		folder := t.TempDir()
		var queries, outcomes strings.Builder
		for i := range c.benchmarks {
			fmt.Fprintf(&queries, `{"query_id": "%d", "benchmark": "%c", "problem": "%c", "prompt_tokens": 5}`+"\n", i, c.benchmarks[i], c.problems[i])
			for _, m := range "xy" {
				fmt.Fprintf(&outcomes, `{"query_id": "%d", "model": "%c", "correct": 1, "output_tokens": 5}`+"\n", i, m)
			}
		}
		write(t, filepath.Join(folder, Queries), queries.String())
		write(t, filepath.Join(folder, Outcomes), outcomes.String())
		_, err := Recorded(t.Context(), folder, "mine", Origin{}, day)
		want := fmt.Sprintf("%v: %s: too few questions have answers of all models that are compared, %s: routers are scored on a fifth of each benchmark and learn from the others, which are %d at the least and must be 5; 7 different questions of one benchmark will do", spec.ErrUsage, folder, c.few, c.learned)
		if c.few != "" && (!errors.Is(err, spec.ErrUsage) || err.Error() != want) || c.few == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// All models are kept where half of the questions have answers of all of them; otherwise those go that answered the fewest.
func TestWhatIsKeptOfModelsWithGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		questions := rapid.IntRange(1, 8).Draw(t, "questions")
		var all []recording.Coverage
		for m := range rapid.IntRange(0, 6).Draw(t, "models") {
			all = append(all, recording.Coverage{Candidate: recording.Candidate{Model: fmt.Sprint(m)}, Answered: rapid.SliceOfN(rapid.SampledFrom([]bool{true, true, true, false}), questions, questions).Draw(t, "answered")})
		}
		common := func(of ...recording.Coverage) (n int) {
			for q := range questions {
				n += bit(!slices.ContainsFunc(of, func(c recording.Coverage) bool { return !c.Answered[q] }))
			}
			return n
		}
		some, out, err := kept(all)
		if err != nil {
			if len(all) > 1 && common(all...) > 0 {
				t.Fatal(err)
			}
			return
		}
		var in, gone []recording.Coverage
		for _, c := range all {
			if slices.Contains(some, c.Candidate) {
				in = append(in, c)
			} else {
				gone = append(gone, c)
			}
		}
		n := common(in...)
		if len(in) != len(some) || len(in) < 2 || n == 0 || len(in) > 2 && 2*n < questions || len(gone) != len(out) || len(gone) > 0 && 2*common(all...) >= questions {
			t.Fatalf("%v are kept of %v, out are %v", some, all, out)
		}
		for _, c := range in {
			for _, other := range gone {
				if common(c) < common(other) {
					t.Fatalf("%v is kept and %v is not", c, other)
				}
			}
		}
		if len(gone) > 0 {
			name, _, _ := strings.Cut(out[0], ",")
			next := gone[slices.IndexFunc(gone, func(c recording.Coverage) bool { return c.Model == name })]
			if 2*common(append(in, next)...) >= questions {
				t.Fatalf("%v need not be left out of %v", next, all)
			}
		}
	})
}

// Ids are plain and each one's own, whatever models are called.
func TestIdsAreOnesOwn(t *testing.T) {
	experts := []Expert{{Model: "a/small"}, {Model: "b/small"}, {Model: "!"}, {Model: "b-small"}, {Model: "b/small", Settings: map[string]string{"t": "0.5"}}, {Model: "?"}, {Model: "通义/千问 (大)"}}
	identify(experts)
	var got []string
	for _, x := range experts {
		got = append(got, x.ID)
	}
	if want := []string{"a-small", "b-small", "model", "b-small-2", "b-small-0.5", "model-2", "千问-大"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The same questions are divided alike in whatever order they come, into halves that share none.
func TestQuestionsAreDividedByTheirTexts(t *testing.T) {
	folder := t.TempDir()
	lines := []string{`{"id": "1", "problem": "one", "answer": "1"}`, `{"id": "2", "problem": "two", "answer": "A", "options": ["2", "3"]}`, `{"id": "3", "problem": "three", "answer": "3"}`, `{"id": "4", "problem": "four", "answer": "4"}`, `{"id": "5", "problem": "five", "answer": "5"}`}
	file := filepath.Join(folder, "questions.jsonl")
	write(t, file, strings.Join(lines, "\n\n")+"\n")
	train, test, err := halves(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if n, m := bytes.Count(train, []byte("\n")), bytes.Count(test, []byte("\n")); n != 3 || m != 2 {
		t.Errorf("%d and %d questions", n, m)
	}
	for _, line := range lines {
		if strings.Contains(string(train), line) == strings.Contains(string(test), line) {
			t.Errorf("%s is in both halves or in none", line)
		}
	}
	write(t, file, lines[4]+"\n"+lines[0]+"\n"+lines[2]+"\n"+lines[1]+"\n"+lines[3])
	again, other, err := halves(t.Context(), file)
	if err != nil || !bytes.Equal(again, train) || !bytes.Equal(other, test) {
		t.Errorf("in another order the halves are\n%s\n%s\nand were\n%s\n%s: %v", again, other, train, test, err)
	}
}

// Whoever adds questions has most answers already: hardly any question changes its half, where it would be asked again.
func TestMoreQuestionsLeaveOthersInTheirHalf(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "questions.jsonl")
	learned := func(n int) (of map[string]bool) {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `{"id": "%d", "problem": "%d + 1?", "answer": "%d"}`+"\n", i, i, i+1)
		}
		write(t, file, text.String())
		train, _, err := halves(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		of = map[string]bool{}
		for line := range strings.Lines(string(train)) {
			of[line] = true
		}
		return of
	}
	few, many := learned(200), learned(500)
	stayed := 0
	for line := range few {
		if many[line] {
			stayed++
		}
	}
	if len(few) != 100 || len(many) != 250 || stayed < 85 {
		t.Errorf("of %d questions that were learned from %d still are, of %d", len(few), stayed, len(many))
	}
}

// What is there stays as it is; if it differs nothing is written.
func TestNothingIsOverwritten(t *testing.T) {
	folder := t.TempDir()
	files := []File{{"pools/a.yaml", []byte("a")}, {"b.yaml", []byte("b")}}
	for range 2 {
		if err := Write(folder, files); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(folder, "b.yaml"), "mine")
	err := Write(folder, []File{{"c.yaml", []byte("c")}, {"b.yaml", []byte("b")}, {"pools/a.yaml", []byte("a\nb")}})
	b := filepath.Join(folder, "b.yaml")
	want := fmt.Sprintf(`%v: %s is there already and is not overwritten: its line 1 is "mine" and would be "b"; keep what is there and go on with 'entrorouter run', or delete %s %s and call again`, spec.ErrUsage, b, b, filepath.Join(folder, "pools", "a.yaml"))
	if !errors.Is(err, spec.ErrUsage) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if got, _ := os.ReadFile(filepath.Join(folder, "b.yaml")); string(got) != "mine" {
		t.Errorf("b.yaml is %q", got)
	}
	if _, err := os.Stat(filepath.Join(folder, "c.yaml")); err == nil {
		t.Error("c.yaml was written")
	}
}

// Another version explains a knob in other words, and whoever edits a file adds comments: that is no difference. A knob that has
// another value is named, wherever it stands and whatever comments are above it.
func TestCommentsAreNoDifference(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pool.yaml")
	held := "# ours\nsampling: # sent\n  top_k: 20\nexperts:\n- {id: small, url: a}\n"
	write(t, path, held)
	if err := Write(folder, []File{{"pool.yaml", []byte("sampling: {top_k: 20}   # sent with every request\nexperts:\n  - id: small\n    url: a\n")}}); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != held {
		t.Errorf("the file is %q", got)
	}
	for would, want := range map[string]string{
		"sampling: {top_k: 0} # 0: off\nexperts: [{id: small, url: a}]\n":       "it has 20 for sampling.top_k and would have 0;",
		"sampling: {top_k: 20}\nexperts: [{id: small, url: b}]\n":               `it has "a" for experts.small.url and would have "b";`,
		"sampling: {}\nexperts: [{id: small, url: a}]\n":                        "it has 20 for sampling.top_k and would have nothing;",
		"sampling: {top_k: 20}\nexperts: [{id: small, url: a}]\nlimits: {x: 1}": "it has nothing for limits.x and would have 1;",
	} {
		if err := Write(folder, []File{{"pool.yaml", []byte(would)}}); !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Files for servers are written once: on another day the same call goes on with the prices of the first.
func TestServersAreAskedOnOnAnotherDay(t *testing.T) {
	folder := t.TempDir()
	questions := filepath.Join(folder, "questions.jsonl")
	var lines strings.Builder
	for i := range fewest {
		fmt.Fprintf(&lines, `{"id": "%d", "problem": "%d + 1?", "answer": "%d"}`+"\n", i, i, i+1)
	}
	write(t, questions, lines.String())
	models := []Expert{{Model: "small", URL: "http://localhost:1/v1"}, {Model: "large", URL: "http://localhost:2/v1"}}
	try := func(now time.Time, in float64) error {
		prices := map[string]Price{"small": {Price: cost.Price{In: in, Out: 1}}, "large": {Price: cost.Price{In: 1, Out: 2}}}
		files, err := LiveFiles(t.Context(), folder, "mine", questions, models, prices, Live{MaxTokens: 10, Runs: 1}, now)
		if err != nil {
			return err
		}
		return Write(folder, files)
	}
	if err := errors.Join(try(day, 0.1), try(day.AddDate(0, 0, 1), 0.1)); err != nil {
		t.Error(err)
	}
	if err := try(day.AddDate(0, 0, 1), 0.2); !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), "it has 0.1 for models.small.in and would have 0.2; ") {
		t.Errorf("another price: %v", err)
	}
}

func TestNamesAreThoseOfFiles(t *testing.T) {
	for _, want := range []string{"logs", "日志-2"} {
		if name, err := Name("", filepath.Join("x", want)); name != want || err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"base", "benchmarks", "fetched", "a b", ".hidden", "a/b", "é?", "\u0301a"} {
		if _, err := Name(name, "x"); !errors.Is(err, spec.ErrUsage) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
