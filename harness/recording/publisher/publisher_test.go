package publisher

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// given are files of a publisher by their paths, in the order of a map: none.
func given(files map[string]string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for path, text := range files {
			if !yield(File{path, func() ([]byte, error) { return []byte(text), nil }}, nil) {
				return
			}
		}
	}
}

const gym = "archive/reasoninggym-paper-experiments/zero-shot/"

func TestReasoningGymByHand(t *testing.T) {
	got, err := ReasoningGym(given(map[string]string{
		"archive/README.md": "not read",
		gym + "hard/a_big_20250416_010203/games/maze.json":       `{"results": [{"question": "é\u007f 𝒙?", "expected_answer": "4", "completions": [{"score": 0.5, "full_model_response": null}]}]}`,
		gym + "easy/b_small_20250416_010203/algebra/sums.json":   `{"results": [{"question": "1+1?", "expected_answer": "2", "completions": [{"score": 1.0, "full_model_response": "zwölf"}, {"score": 0, "full_model_response": ""}, {"full_model_response": "x"}]}]}`,
		gym + "easy/a_big_20250417_010203/algebra/sums.json":     `{"name": "sums", "results": [{"question": "2+\"2\"?", "expected_answer": "4", "completions": [{"score": 0.01, "full_model_response": "a"}]}, {"question": "1+1?", "expected_answer": "2", "completions": [{"score": 1.0, "full_model_response": "bb"}]}, {"question": "2+\"2\"?", "expected_answer": "4", "completions": [{"score": 1.0, "full_model_response": "c"}]}]}`,
		gym + "easy/a_big_20250417_010203/algebra/summary.jsonl": "not read",
	}))
	if err != nil {
		t.Fatal(err)
	}
	// Ids are the first 12 digits of SHA-256, by another program.
	want := `{"id": "fc30d05fa6ce", "level": "easy", "category": "algebra", "dataset": "sums", "question": "2+\"2\"?", "answer": "4"}
{"id": "0194e27aa140", "level": "easy", "category": "algebra", "dataset": "sums", "question": "1+1?", "answer": "2"}
{"id": "523033708dcc", "level": "hard", "category": "games", "dataset": "maze", "question": "\u00e9\u007f \ud835\udc99?", "answer": "4"}
`
	if text := string(got["reasoning_gym_questions"]); text != want {
		t.Errorf("questions\n%swant\n%s", text, want)
	}
	want = `{"query_id": "fc30d05fa6ce", "model": "a_big", "scores": [0.01], "chars": [1], "dups": 2}
{"query_id": "0194e27aa140", "model": "a_big", "scores": [1.0], "chars": [2], "dups": 1}
{"query_id": "0194e27aa140", "model": "b_small", "scores": [1.0, 0, null], "chars": [5, 0, 1], "dups": 1}
{"query_id": "523033708dcc", "model": "a_big", "scores": [0.5], "chars": [0], "dups": 1}
`
	if text := string(got["reasoning_gym_outcomes"]); text != want {
		t.Errorf("outcomes\n%swant\n%s", text, want)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":       {"[", "sums.json: unexpected end of JSON input"},
		"no completion": {`{"results": [{"question": "?", "expected_answer": "1"}]}`, "easy/m/algebra/sums: a question has no completion"},
	} {
		if _, err := ReasoningGym(given(map[string]string{gym + "easy/m/algebra/sums.json": c.text})); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReasoningGym(given(map[string]string{"a/b.json": "{}"})); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
}

// packed is a ZIP file, in which files are as they are.
func packed(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMMLUProByHand(t *testing.T) {
	const path = "x/eval_results/model_outputs_%s_5shots.zip"
	entry := func(id, more string) string {
		return `{"question_id": ` + id + `, "question": " Which é?\n", "options": ["a", "\"b\""], "answer": "B", "answer_index": 1, "category": "law"` + more + `}`
	}
	got, err := MMLUPro(given(map[string]string{
		// Names are in order of files, where - is before _ and _ before a letter.
		fmt.Sprintf(path, "Llama-3_1-8B"):      packed(t, "results/all.json", "["+entry("12", `, "pred": "B", "model_outputs": "zwölf 𝒙"`)+"]", "__MACOSX/results/._all.json", "no JSON", "results/read.me", "none"),
		fmt.Sprintf(path, "Llama-3_1-8B-Chat"): packed(t, "law.json", "["+entry("12", `, "pred": null, "response": null`)+"]", "math.json", "["+entry("7", `, "pred": "A", "response": "A"`)+","+entry("7", `, "pred": "B", "response": "twice"`)+"]"),
		fmt.Sprintf(path, "gemma"):             packed(t, "gemma.json", "["+strings.Replace(entry("12", ``), "Which", "What", 1)+"]"),
		"x/eval_results/gemma.json":            "not read",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"query_id":"mmlu_pro-7","benchmark":"mmlu_pro","problem":" Which é?\n","options":["a","\"b\""],"gold":"B","subject":"law","correct":{"Llama-3.1-8B-Chat":0},"resp_chars":{"Llama-3.1-8B-Chat":1}}
{"query_id":"mmlu_pro-12","benchmark":"mmlu_pro","problem":" Which é?\n","options":["a","\"b\""],"gold":"B","subject":"law","correct":{"Llama-3.1-8B-Chat":0,"Llama-3.1-8B":1,"gemma":0},"resp_chars":{"Llama-3.1-8B-Chat":0,"Llama-3.1-8B":7,"gemma":0}}
`
	if text := string(got["mmlu_pro_29models"]); text != want {
		t.Errorf("%swant\n%s", text, want)
	}
	for want, text := range map[string]string{
		"model_outputs_x_5shots.zip: is no ZIP file: ":                         "version https://git-lfs.github.com/spec/v1",
		"model_outputs_x_5shots.zip: has no JSON file in it":                   packed(t, "a.txt", "[]"),
		"a.json: unexpected end of JSON input":                                 packed(t, "a.json", "["),
		"a.json: entry 2 lacks one of question_id, question, answer":           packed(t, "a.json", "["+entry("0", "")+`,{"question": "?", "answer": "A"}]`),
		"a.json: entry 1 has both model_outputs and response":                  packed(t, "a.json", "["+entry("1", `, "response": "a", "model_outputs": "b"`)+"]"),
		"a.json: is damaged: zip: checksum error":                              strings.Replace(packed(t, "a.json", "["+entry("1", "")+"]"), "law", "lax", 1),
		"cannot unmarshal number into Go struct field mmluProAnswer.answer of": packed(t, "a.json", `[{"question_id": 1, "question": "?", "answer": 2}]`),
	} {
		if _, err := MMLUPro(given(map[string]string{fmt.Sprintf(path, "x"): text})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := MMLUPro(given(map[string]string{"eval_results/a.zip": "none"})); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
}

func TestLineageByHand(t *testing.T) {
	const old, newer, hash = "x/lineage-8_16/", "x/lineage-8_64/big/big_", "0123456789abcdef0123456789abcdef"
	row := func(size, relation, answer, quiz string) string {
		return size + "," + relation + "," + answer + ",\"" + quiz + "\",big,,,,\"a\nb\"\r\n"
	}
	request := func(quiz, more string) string {
		return `{"messages": [{"role": "system", "content": "Think."}, {"role": "user", "content": "` + quiz + `"}]` + more + `}`
	}
	const response = `{"provider": "p", "choices": [{"finish_reason": "stop", "message": {"content": "<ANSWER>1</ANSWER>, no, <ANSWER>2</ANSWER>."}}], "usage": {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}}`
	files := map[string]string{
		// The longest run is first, then sizes go as text: 16 before 8. Of a short run only what is new counts.
		old + "a/a_8.csv":                       row("8", "ANCESTOR", "1", "How é?"),
		old + "b/b_8.csv":                       row("8", "DESCENDANT", "2", "Who?") + row("8", "ANCESTOR", "1", "How é?"),
		old + "b/b_16.csv":                      row("16", "ANCESTOR", "3", "When?") + row("16", "ANCESTOR", "4", "Where?"),
		newer + "8.csv":                         row("8", "ANCESTOR", "2", "Why?"),
		newer + "8/" + hash + "_request.json":   request("Why?", `, "temperature": 0.7, "max_tokens": 65535.0`),
		newer + "8/" + hash + "_response.json":  response,
		newer + "16/" + hash + "_request.json":  request("When?", ""),
		newer + "16/" + hash + "_response.json": `{"choices": [{"finish_reason": null, "message": {"content": null}}], "usage": {"prompt_tokens": 7, "completion_tokens": 0}}`,
		"x/lineage-8_64/README.md":              "not read",
	}
	got, err := Lineage(given(files))
	if err != nil {
		t.Fatal(err)
	}
	// Ids are by another program.
	want := `{"id": "e5d2524902b7", "size": 16, "relation": "ANCESTOR", "problem": "When?", "answer": "3"}
{"id": "91f45115c34f", "size": 16, "relation": "ANCESTOR", "problem": "Where?", "answer": "4"}
{"id": "d991a24e8e04", "size": 8, "relation": "DESCENDANT", "problem": "Who?", "answer": "2"}
{"id": "42cbe672ab7f", "size": 8, "relation": "ANCESTOR", "problem": "How \u00e9?", "answer": "1"}
{"id": "5d8a995a6fa7", "size": 8, "relation": "ANCESTOR", "problem": "Why?", "answer": "2"}
`
	if text := string(got["lineage_quizzes"]); text != want {
		t.Errorf("quizzes\n%swant\n%s", text, want)
	}
	want = `{"query_id": "e5d2524902b7", "size": 16, "model": "big", "provider": null, "answer": null, "prompt_tokens": 7, "output_tokens": 0, "finish": null, "temperature": null, "max_tokens": null, "gold": "3", "correct": 0}
{"query_id": "5d8a995a6fa7", "size": 8, "model": "big", "provider": "p", "answer": "2", "prompt_tokens": 7, "output_tokens": 9, "finish": "stop", "temperature": 0.7, "max_tokens": 65535.0, "gold": "2", "correct": 1}
`
	if text := string(got["lineage_answers"]); text != want {
		t.Errorf("answers\n%swant\n%s", text, want)
	}
	for want, change := range map[string][2]string{
		"0123456789abcdef0123456789abcdef: has a request without a response":                     {newer + "64/" + hash + "_request.json", request("Why?", "")},
		"0123456789abcdef0123456789abcdef: its quiz is in no file of CSV":                        {newer + "8/" + hash + "_request.json", request("Whose?", "")},
		"0123456789abcdef0123456789abcdef: lacks messages, choices or usage":                     {newer + "8/" + hash + "_response.json", `{"error": "none"}`},
		"0123456789abcdef0123456789abcdef_response.json: unexpected end of JSON input":           {newer + "8/" + hash + "_response.json", "{"},
		"0123456789abcdef0123456789abcdef_request.json: cannot unmarshal array into Go value of": {newer + "8/" + hash + "_request.json", "[]"},
		"a_8.csv: row 1 has no size, relation, choice and quiz":                                  {old + "a/a_8.csv", "8,ANCESTOR,1\n"},
		`a_8.csv: row 2: "size" is no size`:                                                      {old + "a/a_8.csv", row("8", "ANCESTOR", "1", "How?") + "size,relation,answer,quiz\n"},
		`a_8.csv: parse error on line 1, column 5`:                                               {old + "a/a_8.csv", `8,"a`},
	} {
		bad := maps.Clone(files)
		bad[change[0]] = change[1]
		if _, err := Lineage(given(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Lineage(given(map[string]string{newer + "8.csv": files[newer+"8.csv"]})); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
}

func TestRouteLLMByHand(t *testing.T) {
	got, err := RouteLLMMMLU(given(map[string]string{
		"x/routellm/evals/mmlu/responses/mmlu_law.csv": "prompt,mixtral-8x7b-instruct-v0.1,gpt-4-1106-preview\n\"Who, é?\nA. \"\"me\"\"\",True,False\n",
		"x/routellm/evals/mmlu/responses/mmlu_art.csv": "gpt-4-1106-preview,prompt,mixtral-8x7b-instruct-v0.1\nTrue,What?,False\nFalse,Why?,False\n",
		"x/routellm/evals/mmlu/responses/README":       "not read",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"query_id":"mmlu-art-0","benchmark":"mmlu","problem":"What?","subject":"art","correct":{"mistralai/Mixtral-8x7B-Instruct-v0.1":0,"gpt-4-1106-preview":1}}
{"query_id":"mmlu-art-1","benchmark":"mmlu","problem":"Why?","subject":"art","correct":{"mistralai/Mixtral-8x7B-Instruct-v0.1":0,"gpt-4-1106-preview":0}}
{"query_id":"mmlu-law-0","benchmark":"mmlu","problem":"Who, é?\nA. \"me\"","subject":"law","correct":{"mistralai/Mixtral-8x7B-Instruct-v0.1":1,"gpt-4-1106-preview":0}}
`
	if text := string(got["routellm_mmlu"]); text != want {
		t.Errorf("%swant\n%s", text, want)
	}
	for text, want := range map[string]string{
		"prompt,gpt-4-1106-preview\nq,True\n": "has no column mixtral-8x7b-instruct-v0.1",
		"question\nq\n":                       "has no column prompt",
		"prompt,mixtral-8x7b-instruct-v0.1,gpt-4-1106-preview\nq,True,yes\n": `row 1: "yes" is neither True nor False`,
	} {
		if _, err := RouteLLMMMLU(given(map[string]string{"routellm/evals/mmlu/responses/mmlu_x.csv": text})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRouteLLMsGSM8KByHand(t *testing.T) {
	const path = "x/routellm/evals/gsm8k/gsm8k_responses.csv"
	const header = "prompt,mixtral-8x7b-instruct-v0.1,gpt-4-1106-preview,mixtral-8x7b-instruct-v0.1_response,gpt-4-1106-preview_response\n"
	golds := `{"id": "gsm8k-0", "benchmark": "gsm8k", "problem": "1+1?", "answer": "2"}` + "\n"
	got, err := RouteLLMGSM8K(given(map[string]string{path: header + "1+1?,False,True,\" It is\n\"\"3\"\".\",2 – two\n", Golds: golds, "x/README": "not read"}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"query_id":"gsm8k-0","model":"mistralai/Mixtral-8x7B-Instruct-v0.1","problem":"1+1?","gold":"2","correct":0,"response":" It is\n\"3\"."}
{"query_id":"gsm8k-0","model":"gpt-4-1106-preview","problem":"1+1?","gold":"2","correct":1,"response":"2 – two"}
`
	if text := string(got["routellm_gsm8k"]); text != want {
		t.Errorf("%swant\n%s", text, want)
	}
	for want, files := range map[string]map[string]string{
		"holds none of the files":                   {Golds: golds},
		"1 questions, and answers to 0":             {path: header + "1+1?,True,True,a,b\n"},
		"row 1 is not the question of gsm8k-0":      {path: header + "1+2?,True,True,a,b\n", Golds: golds},
		`row 1: "maybe" is neither True nor False`:  {path: header + "1+1?,maybe,True,a,b\n", Golds: golds},
		"has no column gpt-4-1106-preview_response": {path: "prompt,mixtral-8x7b-instruct-v0.1,gpt-4-1106-preview,mixtral-8x7b-instruct-v0.1_response\n"},
		"golds.jsonl: unexpected EOF":               {path: header, Golds: `{"id": "gsm8k-0"`},
	} {
		if _, err := RouteLLMGSM8K(given(files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

const data = "../../../../shared/data"

// unpacked is a compressed file beside the project.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(data, name))
	if err != nil {
		t.Skipf("no data folder with recorded outcomes: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Two files as they were published make the lines that the whole conversion has of them.
func TestPublishedFilesBecomeTheLinesThatAreKnown(t *testing.T) {
	files := map[string]string{}
	for _, level := range []string{"easy", "hard"} {
		files[gym+level+"/google_gemma-3-27b-it_20250416_010203/arithmetic/chain_sum.json"] = string(unpacked(t, "raw/reasoning_gym_"+level+"_gemma_chain_sum.json.gz"))
	}
	got, err := ReasoningGym(given(files))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range got {
		whole := unpacked(t, "outcomes/"+name+".jsonl.gz")
		lines := bytes.SplitAfter(text, []byte("\n"))
		for _, line := range lines {
			if !bytes.Contains(whole, line) {
				t.Fatalf("%s has not %s", name, line)
			}
		}
		if len(lines) != 101 {
			t.Errorf("%s: %d lines, want 100", name, len(lines)-1)
		}
	}
	got, err = Lineage(given(map[string]string{
		"lineage-8_64_128_192/a/a_128.csv": quizRow(t, unpacked(t, "outcomes/lineage_quizzes.jsonl.gz"), "baad5ea28857"),
		"lineage-8_64_128_192/a/qwen3-30b-a3b-thinking-2507_128/09825436dc450cd621f16479d4c3568b_request.json":  string(unpacked(t, "raw/openrouter_chat_request.json.gz")),
		"lineage-8_64_128_192/a/qwen3-30b-a3b-thinking-2507_128/09825436dc450cd621f16479d4c3568b_response.json": string(unpacked(t, "raw/openrouter_chat_response.json.gz")),
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, line := range got {
		if !bytes.Contains(unpacked(t, "outcomes/"+name+".jsonl.gz"), line) {
			t.Errorf("%s has not %s", name, line)
		}
	}
}

// quizRow is a quiz, whose id is given, in CSV.
func quizRow(t *testing.T, lines []byte, id string) string {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var q struct {
			ID, Relation, Problem, Answer string
			Size                          int
		}
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		if q.ID == id {
			var row bytes.Buffer
			if err := csv.NewWriter(&row).WriteAll([][]string{{fmt.Sprint(q.Size), q.Relation, q.Answer, q.Problem}}); err != nil {
				t.Fatal(err)
			}
			return row.String()
		}
	}
	t.Fatal("no quiz ", id)
	return ""
}
