package publisher

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// rowsOf calls read for each line of a compressed file beside the project; where it is not there the test is skipped.
func rowsOf[T any](t *testing.T, name string, read func(T)) {
	t.Helper()
	for line := range bytes.Lines(unpacked(t, name)) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		read(one)
	}
}

// same says whether an answer states the number of another.
func same(answer, gold string) bool {
	a, b := numberIn(answer), numberIn(gold)
	return a != nil && b != nil && near(a, b)
}

// Every different answer that 57 models gave to 2,040 questions, with the verdict that the recording has.
func TestRealAnswersStateTheNumbersOfTheirRecording(t *testing.T) {
	n := 0
	rowsOf(t, "verifier/zeroeval_answer_pairs.jsonl.gz", func(r struct {
		Gold, Prediction string
		Strict           bool `json:"strict_numeric"`
	}) {
		if len([]rune(r.Prediction)) >= 400 { // the file has no more of them
			return
		}
		n++
		if got := same(r.Prediction, r.Gold); got != r.Strict {
			t.Errorf("%q for %q: %v", r.Prediction, r.Gold, got)
		}
	})
	if n != 13026 {
		t.Errorf("%d answers", n)
	}
}

// Every response of 13 models, of which the recording has the text.
func TestRealResponsesAreReadAsTheirRecordingHasThem(t *testing.T) {
	merges, err := tokenizer.ReadMerges(unpacked(t, "tokenizer/merges.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenizer.New(tokenizer.Merged(tokenizer.Qwen2, merges))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	rowsOf(t, "outcomes/zeroeval_responses_13models.jsonl.gz", func(r struct {
		ID             string `json:"query_id"`
		Model          string
		Gold, Response string
		Prediction     *string
		Correct        int
		Tokens         int `json:"output_tokens"`
	}) {
		n++
		answer, ok := stated(r.Response)
		if ok != (r.Prediction != nil) || (ok && same(answer, r.Gold)) != (r.Correct == 1) {
			t.Errorf("%s of %s: answer %q, %v", r.ID, r.Model, answer, ok)
		}
		if got := len(tokens.EncodeData(r.Response)); got != r.Tokens {
			t.Errorf("%s of %s: %d tokens, recorded are %d", r.ID, r.Model, got, r.Tokens)
		}
	})
	if n != 21244 {
		t.Errorf("%d responses", n)
	}
}

func TestZeroEvalByHand(t *testing.T) {
	const gsm, math = "x/result_dirs/gsm/", "x/result_dirs/math-l5/"
	entry := func(id, question, answer, output string) string {
		return `{"id": ` + id + `, ` + question + `, "answer": "` + answer + `", "output": ["` + output + `"], "generator": "m"}`
	}
	files := map[string]string{
		"y/merges.txt":              "#version: 0.2\r\na a\r\n1 8\r\n",
		gsm + "b.json":              "[" + entry(`"gsm8k-main-test-#10"`, `"question": "aaé?"`, "# 1,018", `1018`) + "," + entry(`"gsm8k-main-test-#2"`, `"question": "aa"`, "# 18", `{\"answer\": \"18 aa\"}`) + "]",
		gsm + "a.json":              "[" + entry(`"gsm8k-main-test-#2"`, `"question": "aa"`, "# 18", `{\"answer\": \"___\"}`) + "]",
		math + "a.json":             "[" + entry(`0`, `"problem": "a"`, "-22_3", `so \\boxed{-22}`) + "]",
		"x/result_dirs/crux/a.json": "not read",
	}
	got, err := ZeroEval(given(files))
	if err != nil {
		t.Fatal(err)
	}
	// Of bytes only "aa" and "18" are joined: é is two, what stands between quotes and braces each its own.
	want := `{"query_id":"gsm8k-2","benchmark":"gsm8k","problem":"aa","gold":"18","prompt_tokens":1}
{"query_id":"gsm8k-10","benchmark":"gsm8k","problem":"aaé?","gold":"1018","prompt_tokens":4}
{"query_id":"math_l5-0","benchmark":"math_l5","problem":"a","gold":"-22_3","prompt_tokens":1}
`
	if text := string(got["zeroeval_queries"]); text != want {
		t.Errorf("questions\n%swant\n%s", text, want)
	}
	want = `{"query_id":"gsm8k-2","model":"a","correct":0,"output_tokens":17,"no_answer":1}
{"query_id":"gsm8k-2","model":"b","correct":1,"output_tokens":18,"no_answer":0}
{"query_id":"gsm8k-10","model":"b","correct":0,"output_tokens":4,"no_answer":1}
{"query_id":"math_l5-0","model":"a","correct":1,"output_tokens":14,"no_answer":0}
`
	if text := string(got["zeroeval_outcomes_all"]); text != want {
		t.Errorf("answers\n%swant\n%s", text, want)
	}
	const path = gsm + "b.json"
	for want, change := range map[string]map[string]string{
		"merges.txt is not among the files":                               {"y/merges.txt": ""},
		`merges.txt: merge 1 is "a"`:                                      {"y/merges.txt": "a\n"},
		"b.json: unexpected end of JSON input":                            {path: "["},
		"b.json: entry 1 lacks one of id with a number":                   {path: "[" + entry(`"none"`, `"question": "aa"`, "# 18", "") + "]"},
		"b.json: entry 2 lacks one of":                                    {path: "[" + entry(`"#3"`, `"question": "aa"`, "# 18", "") + `,{"id": 4, "question": "aa", "answer": "# 18", "output": []}]`},
		`gsm8k-3: the right answer "many" is no number`:                   {path: "[" + entry(`"#3"`, `"question": "aa"`, "# many", "") + "]"},
		"gsm8k-2: b was asked another question than a":                    {path: "[" + entry(`"#2"`, `"question": "bb"`, "# 18", "") + "]"},
		"gsm8k-3: b answered it twice":                                    {path: "[" + entry(`"#3"`, `"question": "aa"`, "# 18", "") + "," + entry(`"#3"`, `"question": "aa"`, "# 18", "") + "]"},
		"b.json: entry 1: strconv.Atoi: parsing \"99999999999999999999\"": {path: "[" + entry(`99999999999999999999`, `"question": "aa"`, "# 18", "") + "]"},
	} {
		these := maps.Clone(files)
		for path, text := range change {
			if these[path] = text; text == "" {
				delete(these, path)
			}
		}
		if _, err := ZeroEval(given(these)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := ZeroEval(given(map[string]string{"merges.txt": "a a\n"})); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
}

func TestWhatAResponseStates(t *testing.T) {
	for response, want := range map[string]string{
		`{"reasoning": "...", "answer": "42"}`:                             "42",
		"```json\n{\"reasoning\": \"over\ntwo lines\", \"answer\": 42}```": "42",
		`{"answer": {"a": 1}}`:                                             `{"a": 1}`,
		`first {"answer": "1"}, then {"answer": "2"}, and {"other": "3"}`:  "2",
		`{"reasoning": "\(x\)", "answer": "7"}`:                            "7", // \( is no JSON
		`{"reasoning": "\(x\)", "answer": -7.5}`:                           "-7.5",
		`answer": "6"`:                                                     "6",
		`It is \boxed{1}, no, \boxed{\frac{1}{2}}.`:                        `\frac{1}{2}`,
		`{"answer": "___"}`:                                                "",
		`{"answer": " "}`:                                                  "",
		"":                                                                 "",
		"42":                                                               "",
		`{"question": "?"}`:                                                "",
	} {
		got, ok := stated(response)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", response, got, ok)
		}
	}
}

func TestTheNumberInAnAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"18": "18", "-0.50": "-1/2", "$1,450,000.00": "1450000", "12,34": "", "20%": "20", `"5"`: "5", "5 pounds/day": "5", "−3": "-3",
		"2 + 8 + 6 = 16": "16", "7^{2} * 2": "98", "2^-1": "1/2", "2**3**2": "512", "-2^2": "-4", "17 // 5": "3", "-17 // 5": "-4", "3/4/2": "3/8", `\frac{3}{4}`: "3/4",
		"1/0": "", "1//0": "", "0^-1": "", "2^0.5": "", "9^100^100": "", "(1": "", "1)": "", "3(4)": "", "1 2": "", "": "", "=": "",
		"Sally has 9 books.": "9", "Over 18 hours": "18", "x = $420": "420", "3/8 miles": "3/8", "48g": "48", "1010_2": "1010", "1010₂": "1010",
		"In 4 weeks, 34 hours": "", "$15/car": "", "4i": "", "i-1": "", "p - 2": "", "x + 1": "", "1, 2": "", "1, 2, 3, ...": "3", "`276`": "", "___3___": "", "5 / 0 miles": "",
	} {
		got := numberIn(answer)
		if (got == nil) != (want == "") || got != nil && got.RatString() != want {
			t.Errorf("%s: %v, want %s", answer, got, want)
		}
	}
}

// Whatever is written nothing panics, and a number that was found is found again where it is written alone or ends a chain of equations.
func FuzzNumbers(f *testing.F) {
	for _, seed := range []string{"18", "$1,000", "2^3^4", "((((1))))", "- - 1", "1//3", `\frac{1}{2}`, "He has 9 books.", "9, 18, ..."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := numberIn(text)
		if n == nil {
			return
		}
		if again := numberIn(n.RatString()); again == nil || again.Cmp(n) != 0 {
			t.Errorf("%q is %v, which read again is %v", text, n, again)
		}
		if words := numberIn("So it is = " + n.RatString()); words == nil || words.Cmp(n) != 0 {
			t.Errorf("%v behind = is %v", n, words)
		}
	})
}
