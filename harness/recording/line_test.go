package recording

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	wideLines = `{"query_id":"q1","benchmark":"all","subject":"law","problem":"Who?","options":["me","you"],"gold":"A","correct":{"small":0,"big":1},"chars":{"small":10,"big":401}}
{"query_id":"q2","benchmark":"all","subject":"art","problem":"What?","gold":"B","correct":{"small":1},"chars":{"small":9}}
{"query_id":"q3","benchmark":"all","subject":"law","problem":"Where?","gold":"C","correct":{"small":true,"big":false,"gap":1},"chars":{"small":8,"big":0,"gap":4}}
`
	repeatLines = `{"id":"q1","model":"small","problem":"Äpfel: 1+1?","correct":1,"response":"It is 2."}
{"id":"q1","model":"big","problem":"Äpfel: 1+1?","correct":1,"response":"Zwölf \"minus\" zehn."}
{"id":"q2","model":"small","problem":"2+2?","correct":0,"response":""}
{"id":"q2","model":"big","problem":"2+2?","correct":1,"response":"four"}
`
	bareLines = `{"query_id":"q1","subject":"law","problem":"Who?","correct":{"small":0,"big":1}}
`
)

func wideFormat() *spec.Format {
	return &spec.Format{Layout: "wide", Keys: map[string]string{"benchmark": "subject", "output_tokens": "chars"}, Ignore: []string{"benchmark"}, CharsPerToken: 4}
}

func repeatFormat() *spec.Format {
	return &spec.Format{Layout: "long", Keys: map[string]string{"query_id": "id", "output_tokens": "response"}, CharsPerToken: 2, Benchmark: "sums"}
}

// oneFile writes a recording whose queries and outcomes are in one file.
func oneFile(t *testing.T, lines string, f *spec.Format) (string, spec.Recorded) {
	t.Helper()
	dir, s := record(t, lines, "")
	s.Outcomes, s.Format = s.Queries, f
	return dir, s
}

func TestFilesOfOtherPeopleAreReadAsTheirFormatIsDeclared(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		spec  func(*spec.Recorded)
		want  Table
	}{
		"a line a query, lengths in characters, questions with gaps left out": {wideLines, func(s *spec.Recorded) { s.Format, s.Gaps = wideFormat(), "drop" }, Table{
			// q1 has 4 + 2 + 3 characters, 9/4 rounded and the 80 around it; 401 characters are 100 tokens.
			Queries:    []Query{{"q1", "law", "Who?", "A", []string{"me", "you"}, 82}, {"q3", "law", "Where?", "C", nil, 82}},
			Candidates: models("big", "small"), Partial: models("gap"),
			Runs: [][][]Answer{
				{{{Correct: true, In: 82, Out: 100}}, {{In: 82, Out: 3}}},
				{{{In: 82}}, {{Correct: true, In: 82, Out: 2}}},
			},
		}},
		"both kinds of line in one file, texts for lengths, no benchmark": {repeatLines, func(s *spec.Recorded) { s.Format = repeatFormat() }, Table{
			// Characters, not bytes: 11 and 4 of the questions; 8, 20, 0 and 4 of the answers.
			Queries:    []Query{{"q1", "sums", "Äpfel: 1+1?", "", nil, 86}, {"q2", "sums", "2+2?", "", nil, 82}},
			Candidates: models("big", "small"),
			Runs: [][][]Answer{
				{{{Correct: true, In: 86, Out: 10}}, {{Correct: true, In: 86, Out: 4}}},
				{{{Correct: true, In: 82, Out: 2}}, {{In: 82}}},
			},
		}},
		"no lengths at all": {bareLines, func(s *spec.Recorded) {
			s.Format = &spec.Format{Layout: "wide", Keys: map[string]string{"benchmark": "subject"}, CharsPerToken: 4, OutputTokens: 7}
		}, Table{
			Queries:    []Query{{"q1", "law", "Who?", "", nil, 81}},
			Candidates: models("big", "small"),
			Runs:       [][][]Answer{{{{Correct: true, In: 81, Out: 7}}, {{In: 81, Out: 7}}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := oneFile(t, c.lines, nil)
			c.spec(&s)
			got, err := Load(t.Context(), dir, s, models("small", "big"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFormatThatDoesNotFitIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		lines, change string
		format        *spec.Format
		want          string
	}{
		"a question with a gap":                {wideLines, "", wideFormat(), `model "big" has outcomes for 2 of 3 queries; "q2" is the first without one`},
		"a key that is neither read nor known": {wideLines, `"gold":"A"=>"golden":"A"`, wideFormat(), `unknown key "golden"; known: query_id, subject, problem, gold, prompt_tokens, options`},
		"a key of no recording":                {wideLines, "", &spec.Format{Layout: "wide", Keys: map[string]string{"subject": "benchmark"}}, `format.keys: a recording has no key "subject"; it has: query_id, benchmark`},
		"two keys read from one":               {wideLines, "", &spec.Format{Layout: "wide", Keys: map[string]string{"problem": "gold"}}, `format.keys: both problem and gold are read from the key "gold"`},
		"a length without a label":             {wideLines, `"correct":{"small":0,"big":1}=>"correct":{"small":0}`, wideFormat(), `q.jsonl:1: output_tokens of model "big", which correct does not have`},
		"a label without a length":             {wideLines, `"chars":{"small":10,"big":401}=>"chars":{"small":10}`, wideFormat(), `q.jsonl:1: model "big": output_tokens is missing`},
		"a query that changes":                 {repeatLines, `"model":"big","problem":"2+2?"=>"model":"big","problem":"2+3?"`, repeatFormat(), `q.jsonl:4: query_id "q2" is there twice and differs`},
		"a query twice in the wide layout":     {wideLines, `"q2"=>"q1"`, wideFormat(), `q.jsonl:2: query_id "q1" is there twice`},
		"an outcome twice":                     {repeatLines, `"q2","model":"big"=>"q2","model":"small"`, repeatFormat(), `q.jsonl:4: query_id "q2" and model "small" are there twice`},
		"a model twice in an object":           {wideLines, `"correct":{"small":0,=>"correct":{"small":1,"small":0,`, wideFormat(), `q.jsonl:1: correct: key "small" is there twice`},
		"models that are a number":             {wideLines, `"correct":{"small":0,"big":1}=>"correct":3`, wideFormat(), `q.jsonl:1: correct: not a JSON object`},
		"a length below 0":                     {wideLines, `"big":401=>"big":-1`, wideFormat(), `q.jsonl:1: model "big": output_tokens is -1 characters; want at least 0`},
		"a length beyond any":                  {wideLines, `"big":401=>"big":1e300`, wideFormat(), `q.jsonl:1: model "big": output_tokens is 10000001; want 0 to 10000000`},
		"lengths that nobody declared":         {bareLines, "", &spec.Format{Layout: "wide", Keys: map[string]string{"benchmark": "subject"}, CharsPerToken: 4}, `output_tokens is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := oneFile(t, replaced(t, c.lines, c.change), c.format)
			if _, err := Load(t.Context(), dir, s, models("small", "big")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}
