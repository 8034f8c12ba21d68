package imports

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/starting"
)

// file is a file that is in no folder.
func file(name, text string) File {
	return File{name, func() ([]byte, error) { return whole(name, strings.NewReader(text)) }}
}

// zipped are files as an archive of a method, which is a text too.
func zipped(t *testing.T, method uint16, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	header = `{"eval": {"task": "suite/sums", "model": "lab/small"}, "plan": {"config": {"temperature": 0.5}}}`
	sample = `{"id": 7, "epoch": 1, "input": "What is 1 + 1?", "target": [" 2", "two"], "output": {"model": "small-1", "choices":
		[{"message": {"content": [{"type": "reasoning", "reasoning": "3"}, {"type": "text", "text": "The answer is 2."}]}, "stop_reason": "stop"}],
		"usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 19}}, "scores": {"match": {"value": "I"}}}`
	choice = `{"id": "b", "epoch": 1, "input": [{"role": "system", "content": "Choose."}, {"role": "user", "content": "attachment://abc"}], "attachments": {"abc": "Which is red?"},
		"choices": ["a rose", "the sea"], "target": "A", "output": {"choices": [{"message": {"content": "ANSWER: B"}, "stop_reason": "max_tokens"}]},
		"model_usage": {"lab/small": {"input_tokens": 3, "output_tokens": 4}}, "scores": {}}`
	failed   = `{"id": 9, "input": "?", "target": "?", "error": {"message": "down"}}`
	requests = `{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "small", "temperature": 0.5, "messages": [{"role": "user", "content": "What is 1 + 1?"}]}}
{"custom_id": "2", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "small", "temperature": 0.5, "messages": [{"role": "user", "content": "Think. What is 2 + 2? Box it."}]}}
`
	results = `{"id": "r2", "custom_id": "2", "response": {"status_code": 200, "body": {"model": "small-2025", "choices": [{"finish_reason": "length", "message": {"content": "\\boxed{4}"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 8}}}, "error": null}
{"id": "r1", "custom_id": "1", "response": {"status_code": 200, "request_id": "q", "body": {"id": "c", "object": "chat.completion", "created": 1, "model": "small-2025", "choices": [{"index": 0, "logprobs": null, "finish_reason": "stop", "message": {"role": "assistant", "content": "\\boxed{3}", "refusal": null, "annotations": []}}], "usage": {"prompt_tokens": 7, "completion_tokens": 6, "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}, "cost": 0.01}, "service_tier": "default", "system_fingerprint": "f"}}, "error": null}
`
	golds = `{"id": "a", "problem": "What is 1 + 1?", "answer": "2", "level": 3}
{"id": "b", "problem": "What is 2 + 2?", "answer": 4}
`
	lmTime    = "2026-11-23T09-10-18.159992"
	lmResults = `{"model_name": "lab/small", "config": {"model": "local-chat-completions", "gen_kwargs": {"temperature": 0.5}}}`
	lmFirst   = `{"doc_id": 7, "doc": {"text": "1 + 1"}, "target": "2", "arguments": {"gen_args_0": {"arg_0": ["[{\"role\": \"system\", \"content\": \"Add.\"}, {\"role\": \"user\", \"content\": \"What is 1 + 1?\"}]"], "arg_1": {"until": []}}},
"resps": [["It is 2."]], "filtered_resps": ["[invalid]"], "filter": "strict", "metrics": ["exact_match"], "exact_match": 0.0}
`
	lmSecond = `{"doc_id": 7, "doc": {"text": "1 + 1"}, "target": "2", "arguments": {"gen_args_0": {"arg_0": "<user>What is 1 + 1?<end>", "arg_1": {"until": []}}}, "resps": [["It is 2."]], "filter": "loose", "metrics": ["exact_match"], "exact_match": 1.0}
{"doc_id": 8, "doc": {"text": "1 + 2", "choices": ["2", "3"]}, "target": "3", "arguments": {"gen_args_0": {"arg_0": "What is 1 + 2?", "arg_1": {"until": []}}}, "resps": [["B", "It is 4."]], "filter": "loose", "metrics": ["exact_match"], "exact_match": 1.0}
{"doc_id": 9, "doc": {}, "target": "0", "arguments": {"gen_args_0": {"arg_0": "Red?", "arg_1": " a rose"}, "gen_args_1": {"arg_0": "Red?", "arg_1": " the sea"}}, "resps": [[["-0.2", "True"]], [["-0.8", "False"]]], "filter": "none", "metrics": ["acc"], "acc": 1.0}
{"doc_id": 10, "doc": {}, "target": "['Bern', \"the town of Bern\"]", "arguments": {"gen_args_0": {"arg_0": "Which town?", "arg_1": {"until": []}}}, "resps": [["Bern"]], "filter": "none", "metrics": ["exact_match", "f1"], "exact_match": 1.0, "f1": 1}
`
	gym = `{"name": "sums", "results": [{"question": "1 + 1 = ", "expected_answer": "2", "completions": [{"full_model_response": "<answer>2</answer>", "score": 1.0}, {"full_model_response": "<answer>3</answer>", "score": 0.01}]},
		{"question": "1 + 1 = ", "expected_answer": "2", "completions": [{"full_model_response": "<answer>2</answer>", "score": 0.5}]}]}`
	omnis = `{"items": [{"policy": "always_big", "dataset": "sums", "item_id": "s1", "grader": "numeric_match", "reference": "2", "response_text": "It is 2.", "chosen_model": "big", "passed": false, "cost_usd": 0.5, "input_tokens": 3, "output_tokens": 4},
		{"policy": "oracle", "dataset": "sums", "item_id": "s1", "grader": "numeric_match", "reference": "2", "response_text": "It is 2.", "chosen_model": "big", "passed": true, "input_tokens": 3, "output_tokens": 4},
		{"policy": "oracle", "dataset": "code", "item_id": "c1", "grader": "code_unittest", "reference": "check", "response_text": "def f", "chosen_model": "small", "passed": true, "input_tokens": 3, "output_tokens": 4},
		{"policy": "always_big", "dataset": "code", "item_id": "c1", "grader": "code_unittest", "reference": "check(f)", "response_text": "def f", "chosen_model": "big", "passed": true, "input_tokens": 5, "output_tokens": 6}]}`
	omnisProblems = `{"id": "s1", "problem": "What is 1 + 1?", "answer": "2"}
{"id": "c1", "problem": "Write f.", "answer": "-"}
`
	table = "name,question,answer,model,said,in,out,ok,heat\n" +
		"q1,\"What is 1 + 1,\nagain?\",2,small,It is 2.,10,5,0,0.5\nq1,\"What is 1 + 1,\nagain?\",2,big,It is 3.,10,7,1,0.5\n"
	objects = `{"q": {"text": "What is 1 + 1?"}, "options": ["2", "3"], "gold": "A", "model": "small", "correct": 0.5, "usd": 0.25, "prompt_tokens": 1, "output_tokens": 2, "split": "test"}` + "\n"
)

// oneLine is a sample that stands on two here.
func oneLine(sample string) string { return strings.Replace(sample, ",\n", ", ", 1) }

// epoch is the sample in an epoch, after as many output tokens.
func epoch(n int) string {
	return strings.NewReplacer(`"epoch": 1`, fmt.Sprintf(`"epoch": %d`, n), `"output_tokens": 5`, fmt.Sprintf(`"output_tokens": %d`, n)).Replace(sample)
}

// hashed is the id of a question that has none.
var hashed = regexp.MustCompile(`\b[0-9a-f]{16}\b`)

// told is what a test looks at: question, gold, model, verdict, tokens, why it ended.
func told(l *Log) (all []string) {
	for q, of := range l.Questions {
		for m, model := range l.Models {
			for _, a := range l.Answers[q][m] {
				all = append(all, fmt.Sprintf("%s %q %q %v | %s | %v %d/%d %s", of.ID, of.Problem, of.Golds, of.Options, model, a.Correct, a.In, a.Out, a.Finish))
			}
		}
	}
	return all
}

func TestFormatsAreRead(t *testing.T) {
	problems := func(text string) *Problems {
		p, err := ReadProblems(file("problems", text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	columns := map[string]string{"query_id": "name", "problem": "question", "gold": "answer", "response": "said", "prompt_tokens": "in", "output_tokens": "out", "correct": "ok", "settings.temperature": "heat"}
	parts := []string{"header.json", header, "samples/7_epoch_1.json", sample, "samples/b_epoch_1.json", choice, "samples/9_epoch_1.json", failed, "summaries.json", "[]"}
	inspected := []string{`sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 14/5 stop`, `sums-b "Which is red?" ["A"] [a rose the sea] | lab/small temperature=0.5 | false 3/4 length`}
	for name, c := range map[string]struct {
		format string
		o      Options
		files  []File
		want   []string
		left   []string
	}{
		"inspect, a zip":                  {"inspect", Options{}, []File{file("a.eval", zipped(t, zip.Deflate, parts...))}, inspected, []string{"1 sample: the log has an error in the place of an answer"}},
		"inspect, with zstd":              {"inspect", Options{}, []File{file("a.eval", zipped(t, zstd.ZipMethodWinZip, parts...))}, inspected, []string{"1 sample: the log has an error in the place of an answer"}},
		"inspect, one file":               {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+sample+","+choice+"]}")}, inspected, nil},
		"inspect, with a byte order mark": {"inspect", Options{}, []File{file("a.json", "\ufeff"+strings.TrimSuffix(header, "}")+`, "samples": [`+sample+","+choice+"]}")}, inspected, nil},
		"inspect, not at its end":         {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "status": "cancelled", "samples": [`+sample+","+choice+"]}")}, inspected, []string{"what 1 evaluation did not come to: a.json (cancelled)"}},
		"inspect, tried again": {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "status": "error", "samples": [`+strings.Replace(sample, `"id"`, `"uuid": "u", "id"`, 1)+"]}"),
			file("b.json", strings.TrimSuffix(header, "}")+`, "status": "success", "samples": [`+strings.Replace(sample, `"id"`, `"uuid": "u", "id"`, 1)+","+choice+"]}")}, inspected, []string{"1 sample: there already, with the same uuid, as after a retry", "what 1 evaluation did not come to: a.json (error)"}},
		"inspect, without an end": {"inspect", Options{}, []File{file("a.eval", zipped(t, zip.Deflate, "_journal/start.json", header, "samples/7_epoch_1.json", sample))}, inspected[:1], []string{"what 1 evaluation did not come to: a.eval (started)"}},
		"inspect, epochs in the order in which they ended": {"inspect", Options{}, []File{file("a.eval", zipped(t, zip.Deflate, "header.json", header, "samples/7_epoch_10.json", epoch(10), "samples/7_epoch_2.json", epoch(2), "samples/7_epoch_1.json", epoch(1)))}, []string{
			`sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 18/1 stop`, `sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 17/2 stop`, `sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 10/10 stop`}, nil},
		"inspect, epochs in such an order in one file": {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+epoch(10)+","+epoch(2)+","+epoch(1)+"]}")}, []string{
			`sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 18/1 stop`, `sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 17/2 stop`, `sums-7 "What is 1 + 1?" ["2" "two"] [] | lab/small temperature=0.5 | true 10/10 stop`}, nil},
		"inspect, several letters at once": {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+strings.NewReplacer(`"A"`, `["A", "B"]`, "max_tokens", "stop", "ANSWER: B", "ANSWER: A,B", `"scores": {}`, `"scores": {"choice": {"value": "C"}}`).Replace(choice)+"]}")}, []string{
			`sums-b "Which is red?" ["A" "B"] [a rose the sea] | lab/small temperature=0.5 | true 3/4 stop`}, nil},
		"options in two orders": {"jsonl", Options{}, []File{file("a.jsonl", `{"query_id": "1", "problem": "Red?", "options": ["rose", "sea"], "gold": "A", "model": "x", "response": "ANSWER: A", "prompt_tokens": 1, "output_tokens": 2}`+"\n"+
			`{"query_id": "1", "problem": "Red?", "options": ["sea", "rose"], "gold": "B", "model": "y", "response": "ANSWER: B", "prompt_tokens": 1, "output_tokens": 2}`+"\n"+
			`{"query_id": "1", "problem": "Red?", "options": ["sea", "rose"], "gold": "rose", "model": "z", "response": "ANSWER: A", "prompt_tokens": 1, "output_tokens": 2}`+"\n")}, []string{
			`all-1 "Red?" ["A"] [rose sea] | x | true 1/2 `, `all-1 "Red?" ["A"] [rose sea] | y | true 1/2 `, `all-1 "Red?" ["A"] [rose sea] | z | false 1/2 `}, nil},
		"options in another order than those of the problems": {"jsonl", Options{Problems: problems(`{"id": "1", "problem": "Red?", "options": ["rose", "sea"], "answer": "A"}`)}, []File{file("a.jsonl",
			`{"query_id": "1", "options": ["sea", "rose"], "gold": "B", "model": "y", "response": "ANSWER: B", "prompt_tokens": 1, "output_tokens": 2}`+"\n")}, []string{
			`all-1 "Red?" ["rose"] [sea rose] | y | true 1/2 `}, nil},
		"inspect, as it was":                         {"inspect", Options{Keep: true}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+sample+"]}")}, []string{strings.Replace(inspected[0], "true", "false", 1)}, nil},
		"inspect, thinking beside the output tokens": {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+strings.Replace(sample, `"total_tokens": 19`, `"total_tokens": 25, "input_tokens_cache_read": 4, "reasoning_tokens": 6`, 1)+"]}")}, []string{strings.Replace(inspected[0], "14/5", "14/11", 1)}, nil},
		"inspect, thinking among them":               {"inspect", Options{}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+strings.Replace(sample, `"total_tokens": 19`, `"total_tokens": 19, "input_tokens_cache_read": 4, "reasoning_tokens": 3`, 1)+"]}")}, inspected[:1], nil},
		"inspect, without a verdict":                 {"inspect", Options{Keep: true}, []File{file("a.json", strings.TrimSuffix(header, "}")+`, "samples": [`+strings.Replace(sample, `"I"`, "null", 1)+"]}")}, inspected[:1], nil},
		"lm-eval": {"lm-eval", Options{CharsPerToken: 4}, []File{file("out/small/results_"+lmTime+".json", lmResults), file("out/small/samples_my_sums_"+lmTime+".jsonl", oneLine(lmFirst)+lmSecond)}, []string{
			`my_sums-7 "What is 1 + 1?" ["2"] [] | lab/small temperature=0.5 | true 4/2 `,
			`my_sums-8 "What is 1 + 2?" ["3"] [] | lab/small temperature=0.5 | false 4/1 `, `my_sums-8 "What is 1 + 2?" ["3"] [] | lab/small temperature=0.5 | false 4/2 `,
			`my_sums-10 "Which town?" [] [] | lab/small temperature=0.5 | true 3/1 `}, []string{"1 sample: likelihoods of given texts, and no answer of a model"}},
		"lm-eval, without settings": {"lm-eval", Options{CharsPerToken: 4}, []File{file("a/results_"+lmTime+".json", strings.Replace(lmResults, `{"temperature": 0.5}`, `""`, 1)), file("a/samples_sums_"+lmTime+".jsonl", oneLine(lmFirst))}, []string{
			`sums-7 "What is 1 + 1?" ["2"] [] | lab/small | true 4/2 `}, nil},
		"lm-eval, as it was": {"lm-eval", Options{CharsPerToken: 4, Keep: true, Model: "m", Benchmark: "sums"}, []File{file("samples.jsonl", oneLine(lmFirst))}, []string{
			`sums-7 "What is 1 + 1?" ["2"] [] | m | false 4/2 `}, nil},
		"lm-eval, filters that differ": {"lm-eval", Options{CharsPerToken: 4, Keep: true, Model: "m", Benchmark: "sums"}, []File{file("samples.jsonl", oneLine(lmFirst)+strings.SplitAfter(lmSecond, "\n")[0])}, []string{
			`sums-7 "What is 1 + 1?" ["2"] [] | m | true 4/2 `}, nil},
		"lm-eval, prompts of two templates": {"lm-eval", Options{CharsPerToken: 4, Keys: map[string]string{"problem": "doc.text"}}, []File{
			file("a/samples_sums_"+lmTime+".jsonl", oneLine(lmFirst)), file("b/samples_sums_"+lmTime+".jsonl.gz", strings.SplitAfter(lmSecond, "\n")[0]),
			file("a/results_"+lmTime+".json", lmResults), file("b/out_"+lmTime+".json", strings.ReplaceAll(lmResults, "small", "big"))}, []string{
			`sums-7 "1 + 1" ["2"] [] | lab/big temperature=0.5 | true 1/2 `, `sums-7 "1 + 1" ["2"] [] | lab/small temperature=0.5 | true 1/2 `}, nil},
		"lm-eval, options and gold named": {"lm-eval", Options{Model: "m", CharsPerToken: 4, Keys: map[string]string{"options": "doc.choices", "gold": "doc.choices.1"}}, []File{file("sums.jsonl", strings.SplitAfter(lmSecond, "\n")[1])}, []string{
			`all-8 "What is 1 + 2?" ["3"] [2 3] | m | true 4/1 `, `all-8 "What is 1 + 2?" ["3"] [2 3] | m | false 4/2 `}, nil},
		"lm-eval, whose golds are elsewhere": {"lm-eval", Options{Model: "m", CharsPerToken: 4, Problems: problems(`{"id": "8", "problem": "What is 1 + 1?", "answer": 3}`)}, []File{file("sums.jsonl", strings.Join(strings.SplitAfter(lmSecond, "\n")[:2], ""))}, []string{
			`all-8 "What is 1 + 1?" ["3"] [] | m | false 4/2 `}, []string{"2 answers: their question is not among those of the problems"}},
		"a batch, whose golds are elsewhere": {"openai", Options{Problems: problems(golds), Benchmark: "sums"}, []File{file("in.jsonl", requests), file("out.jsonl", results)}, []string{
			`sums-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `sums-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`}, nil},
		"pairs on lines and in files": {"openai", Options{Problems: problems(golds)}, []File{
			file("pairs.jsonl", `{"request": {"model": "big", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}, "response": {"choices": [{"finish_reason": "stop", "message": {"content": "2"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}}`+"\n"+
				`{"request": {"model": "big", "messages": []}, "response": {"error": "down"}}`+"\n"),
			file("x_response.json", `{"choices": [{"finish_reason": "stop", "message": {"content": "5"}}], "usage": {"prompt_tokens": 2, "completion_tokens": 3}}`),
			file("x_request.json", `{"model": "small", "messages": [{"role": "user", "content": [{"type": "text", "text": "What is 1 + 1?"}]}]}`)}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | big | true 1/1 stop`, `all-a "What is 1 + 1?" ["2"] [] | small | false 2/3 stop`}, []string{"1 response: a failure in the place of an answer"}},
		"two batches of the same names": {"openai", Options{Problems: problems(golds)}, []File{file("in", requests), file("big", strings.ReplaceAll(requests, "small", "big")), file("out", results), file("more", strings.ReplaceAll(results, "small", "big"))}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | big temperature=0.5 | false 7/6 stop`, `all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-b "What is 2 + 2?" ["4"] [] | big temperature=0.5 | false 9/8 length`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`}, nil},
		"thinking, among the output tokens or in the total alone": {"openai", Options{Problems: problems(golds)}, []File{file("in", requests), file("out", strings.NewReplacer(
			`"completion_tokens": 8`, `"completion_tokens": 8, "total_tokens": 57`, `"reasoning_tokens": 0`, `"reasoning_tokens": 5`, `"cached_tokens": 0`, `"cached_tokens": 6`).Replace(results))}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/48 length`}, nil},
		"choices of one response": {"openai", Options{Problems: problems(golds)}, []File{file("in", requests), file("out", strings.NewReplacer(
			`"completion_tokens": 8`, `"completion_tokens": 9`, `"finish_reason": "length", "message": {"content": "\\boxed{4}"}}`,
			`"finish_reason": "length", "message": {"content": "\\boxed{4}"}}, {"finish_reason": "stop", "message": {"content": "4"}}, {"finish_reason": "stop", "message": {"content": "\\boxed{5}"}}, {"finish_reason": "stop", "message": {"content": "4."}}`).Replace(strings.SplitAfter(results, "\n")[0]))}, []string{
			`all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/3 length`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | true 9/2 stop`,
			`all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/2 stop`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | true 9/2 stop`}, nil},
		"two batches of the same names, of models one of whose names begins the other's": {"openai", Options{Problems: problems(golds)}, []File{file("in", strings.SplitAfter(requests, "\n")[0]), file("mini", strings.ReplaceAll(strings.SplitAfter(requests, "\n")[0], "small", "small-mini")),
			file("out", strings.SplitAfter(results, "\n")[1]), file("more", strings.ReplaceAll(strings.SplitAfter(results, "\n")[1], "small", "small-mini"))}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-a "What is 1 + 1?" ["2"] [] | small-mini temperature=0.5 | false 7/6 stop`}, nil},
		"a pair of files with byte order marks": {"openai", Options{Problems: problems(golds)}, []File{
			file("x_response.json", "\ufeff"+`{"choices": [{"finish_reason": "stop", "message": {"content": "5"}}], "usage": {"prompt_tokens": 2, "completion_tokens": 3}}`),
			file("x_request.json", "\ufeff"+`{"model": "small", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}`)}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small | false 2/3 stop`}, nil},
		"requests of one question, whose responses came in another order": {"openai", Options{Problems: problems(golds)}, []File{file("in", strings.SplitAfter(requests, "\n")[0]+strings.Replace(strings.SplitAfter(requests, "\n")[0], `"1"`, `"again"`, 1)),
			file("out", strings.NewReplacer(`"1"`, `"again"`, `"prompt_tokens": 7`, `"prompt_tokens": 8`).Replace(strings.SplitAfter(results, "\n")[1])+strings.SplitAfter(results, "\n")[1])}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 8/6 stop`}, nil},
		"a response twice": {"openai", Options{Problems: problems(golds)}, []File{file("in", requests), file("out", results), file("again", strings.ReplaceAll(results, ": ", ":"))}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`}, []string{"1 response: there already, with the same id"}},
		"a batch of what failed, sent again": {"openai", Options{Problems: problems(golds)}, []File{file("in", requests), file("out", strings.Replace(results, `"body"`, `"none"`, 1)), file("again", requests), file("more", strings.SplitAfter(results, "\n")[0])}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`}, []string{"1 response: a failure in the place of an answer"}},
		"pairs whose first try failed, or was not answered": {"openai", Options{Problems: problems(golds)}, []File{file("pairs.jsonl",
			`{"custom_id": "x", "request": {"model": "big", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}}`+"\n"+
				`{"custom_id": "x", "request": {"model": "big", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}, "response": {"error": "down"}}`+"\n"+
				`{"custom_id": "x", "request": {"model": "big", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}, "response": {"choices": [{"finish_reason": "stop", "message": {"content": "2"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}}`+"\n")}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | big | true 1/1 stop`}, []string{"2 responses: a failure in the place of an answer"}},
		"responses that share an id": {"openai", Options{Problems: problems(golds)}, []File{file("in", requests), file("out", results), file("other", strings.ReplaceAll(results, "boxed{3}", "boxed{2}"))}, []string{
			`all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | false 7/6 stop`, `all-a "What is 1 + 1?" ["2"] [] | small temperature=0.5 | true 7/6 stop`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`, `all-b "What is 2 + 2?" ["4"] [] | small temperature=0.5 | false 9/8 length`}, nil},
		"reasoning gym": {"reasoning-gym", Options{CharsPerToken: 4}, []File{file("easy/lab_small_20250227_230002/arithmetic/sums.json", gym)}, []string{
			`sums-ID "1 + 1 = " ["2"] [] | lab_small | true 2/5 `, `sums-ID "1 + 1 = " ["2"] [] | lab_small | false 2/5 `, `sums-ID-2 "1 + 1 = " ["2"] [] | lab_small | true 2/5 `}, nil},
		"omnisbench": {"omnisbench", Options{Problems: problems(omnisProblems)}, []File{file("results.json", omnis)}, []string{
			`sums-s1 "What is 1 + 1?" ["2"] [] | big | true 3/4 `, `code-c1 "Write f." [] [] | big | true 5/6 `},
			[]string{"2 answers of oracle: these policies choose a model, and a recording has the answers of every model"}},
		"csv": {"csv", Options{Keys: columns}, []File{file("a.csv", "\ufeff"+table)}, []string{
			`all-q1 "What is 1 + 1,\nagain?" ["2"] [] | big temperature=0.5 | false 10/7 `, `all-q1 "What is 1 + 1,\nagain?" ["2"] [] | small temperature=0.5 | true 10/5 `}, nil},
		"jsonl": {"jsonl", Options{Keys: map[string]string{"problem": "q.text"}, CorrectFrom: 0.5}, []File{file("a.jsonl", objects)}, []string{
			`all-ID "What is 1 + 1?" ["A"] [2 3] | small | true 1/2 `}, nil},
		"a score above 1": {"jsonl", Options{Keys: map[string]string{"problem": "q.text"}, CorrectFrom: 60}, []File{file("a.jsonl", strings.Replace(objects, "0.5", "60", 1)+strings.Replace(objects, "0.5", "59.5", 1))}, []string{
			`all-ID "What is 1 + 1?" ["A"] [2 3] | small | true 1/2 `, `all-ID "What is 1 + 1?" ["A"] [2 3] | small | false 1/2 `}, nil},
		"stars from one to five": {"jsonl", Options{CorrectFrom: 4}, []File{file("a.jsonl", strings.Join([]string{`{"problem": "a", "model": "m", "correct": 1, "prompt_tokens": 1, "output_tokens": 2}`, `{"problem": "b", "model": "m", "correct": 4, "prompt_tokens": 1, "output_tokens": 2}`, `{"problem": "c", "model": "m", "correct": true, "prompt_tokens": 1, "output_tokens": 2}`}, "\n"))}, []string{
			`all-ID "a" [] [] | m | false 1/2 `, `all-ID "b" [] [] | m | true 1/2 `, `all-ID "c" [] [] | m | true 1/2 `}, nil},
		"benchmarks in other letters": {"csv", Options{}, []File{file("a.csv", "query_id,benchmark,problem,model,correct,prompt_tokens,output_tokens\n1,数学,a,m,1,1,2\n1,语文,b,m,1,1,2\n2,数学,c,m,0,1,2\n1,C++,d,m,1,1,2\n1,C#,e,m,1,1,2\n1,!,f,m,1,1,2\n")}, []string{
			`数学-1 "a" [] [] | m | true 1/2 `, `语文-1 "b" [] [] | m | true 1/2 `, `数学-2 "c" [] [] | m | false 1/2 `, `C-1 "d" [] [] | m | true 1/2 `, `C-2-1 "e" [] [] | m | true 1/2 `, `benchmark-1 "f" [] [] | m | true 1/2 `}, nil},
		"ids that begin with another benchmark": {"csv", Options{}, []File{file("a.csv", "query_id,benchmark,problem,model,correct,prompt_tokens,output_tokens\nhard-1,sums,a,m,1,1,2\n1,sums-hard,b,m,1,1,2\nhard-1,sums,a,n,0,1,2\n1,sums-hard,b,n,0,1,2\n")}, []string{
			`sums-hard-1 "a" [] [] | m | true 1/2 `, `sums-hard-1 "a" [] [] | n | false 1/2 `, `sums-hard-1-2 "b" [] [] | m | true 1/2 `, `sums-hard-1-2 "b" [] [] | n | false 1/2 `}, nil},
		"names with dots": {"jsonl", Options{CharsPerToken: 4, Keys: map[string]string{"response": "said.text", "gold": `golds.gpt-4\.1`}}, []File{file("a.jsonl", `{"problem": "a", "golds": {"gpt-4.1": "2"}, "said.text": "It is 2.", "said": {"text": "It is 3."}, "model": "m"}`)}, []string{
			`all-ID "a" ["2"] [] | m | true 1/2 `}, nil},
		"models that --model names": {"csv", Options{Model: "rest"}, []File{file("a.csv", "problem,model,correct,prompt_tokens,output_tokens\na,x,1,1,2\na,,1,1,2\n")}, []string{
			`all-ID "a" [] [] | rest | true 1/2 `, `all-ID "a" [] [] | x | true 1/2 `}, nil},
		"a table of pandas": {"csv", Options{Keys: map[string]string{"output_tokens": "out"}}, []File{file("a.csv", ",problem,gold,model,response,correct,prompt_tokens,out,usd\n0,a,2,x,2,NaN,1.0,2.0,nan\n1,a,2,y,NaN,True,1.0,3.0,0.5\n2,b,NaN,x,3,1.0,1.0,4.0,\n")}, []string{
			`all-ID "a" ["2"] [] | x | true 1/2 `, `all-ID "a" ["2"] [] | y | false 1/3 `, `all-ID "b" ["NaN"] [] | x | false 1/4 `}, nil},
		"columns of each model": {"csv", Options{Keys: map[string]string{"problem": "q", "correct": "{model}", "output_tokens": "{model} tokens"}}, []File{file("a.csv", ",q,model,x,y,x tokens,y tokens,z tokens,prompt_tokens\n0,a,m,True,False,2.0,3.0,,5\n1,b,m,NaN,True,,4.0,,6\n")}, []string{
			`all-ID "a" [] [] | x | true 5/2 `, `all-ID "a" [] [] | y | false 5/3 `, `all-ID "b" [] [] | y | true 6/4 `}, nil},
		"columns of each model, and a length for all": {"csv", Options{Keys: map[string]string{"problem": "q", "correct": "{model}", "output_tokens": "out"}}, []File{file("a.csv", "q,gold,x,y,out,prompt_tokens\na,0,1,0,2,5\n")}, []string{
			`all-ID "a" ["0"] [] | x | true 5/2 `, `all-ID "a" ["0"] [] | y | false 5/2 `}, nil},
		"messages in the place of a question": {"jsonl", Options{Keys: map[string]string{"problem": "asked.messages", "gold": "golds"}}, []File{file("a.jsonl", `{"asked": {"messages": [{"role": "system", "content": "Add."}, {"role": "user", "content": [{"type": "text", "text": "What is 1 + 1?"}]}]}, "golds": ["2", "two"], "model": "m", "correct": true, "prompt_tokens": 1, "output_tokens": 2}`)}, []string{
			`all-ID "What is 1 + 1?" ["2" "two"] [] | m | true 1/2 `}, nil},
		"lines of Windows": {"jsonl", Options{}, []File{file("a.jsonl", "\ufeff"+`{"problem": "a", "model": "m", "correct": true, "prompt_tokens": 1, "output_tokens": 2}`+"\r\n")}, []string{
			`all-ID "a" [] [] | m | true 1/2 `}, nil},
		"limits of other services": {"csv", Options{}, []File{file("a.csv", "problem,model,correct,prompt_tokens,output_tokens,finish\na,m,1,1,2,max_tokens\nb,m,1,1,2,MAX_TOKENS\nc,m,1,1,2,end_turn\n")}, []string{
			`all-ID "a" [] [] | m | false 1/2 length`, `all-ID "b" [] [] | m | false 1/2 length`, `all-ID "c" [] [] | m | true 1/2 end_turn`}, nil},
		"a model that its file names": {"jsonl", Options{Keys: map[string]string{"problem": "q.text"}}, []File{file("logs/gpt-4.1.jsonl.gz", strings.Replace(objects, `"model"`, `"asked"`, 1))}, []string{
			`all-ID "What is 1 + 1?" ["A"] [2 3] | gpt-4.1 | false 1/2 `}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Find(c.format)
			if err != nil {
				t.Fatal(err)
			}
			l, err := f.Read(context.Background(), c.files, c.o)
			if err != nil {
				t.Fatal(err)
			}
			got := told(l)
			for i := range got {
				got[i] = hashed.ReplaceAllString(got[i], "ID")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.left, l.Left); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	asked, err := ReadProblems(file("problems.jsonl", golds))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		format string
		o      Options
		text   string
		want   string
	}{
		"no JSON":                 {"inspect", Options{}, "PDF", "f: no log of inspect_ai: it is no JSON from byte 1 on"},
		"a zip cut short":         {"inspect", Options{}, zipped(t, zip.Deflate, "header.json", header)[:60], "f: no log of inspect_ai: not a valid zip file; was it cut short?"},
		"a zip of other things":   {"inspect", Options{}, zipped(t, zip.Deflate, "a", "b"), "f: no log of inspect_ai: its header names no model"},
		"a sample without id":     {"inspect", Options{}, strings.TrimSuffix(header, "}") + `, "samples": [{"input": "?"}]}`, "f: sample 1: the sample has no id"},
		"a sample of other types": {"inspect", Options{}, strings.TrimSuffix(header, "}") + `, "samples": [` + failed + `, {"id": 1, "epoch": "one"}]}`, "f: sample 2: epoch is of type string"},
		"a sample of nothing":     {"inspect", Options{}, strings.TrimSuffix(header, "}") + `, "samples": [` + strings.NewReplacer(`"output"`, `"outputs"`).Replace(sample) + `]}`, "f: sample 1: neither the output tokens nor the text of the response is there; leave it out"},
		"a score of what":         {"inspect", Options{}, strings.TrimSuffix(header, "}") + `, "samples": [` + strings.NewReplacer(`[" 2", "two"]`, `""`, `"I"`, "7").Replace(sample) + `]}`, "f: sample 1: nothing says whether the answer is right: there is no label, such as a score from 0 to 1, or further with --correct-from above 1, and no gold with a response; give the golds with --problems, or leave it out"},
		"a score that is a text":  {"reasoning-gym", Options{Model: "m", CharsPerToken: 4}, strings.Replace(gym, `"score": 0.01`, `"score": "low"`, 1), `f: result 1: score is "low"; want a number`},
		"an item of other types":  {"omnisbench", Options{Problems: asked}, strings.Replace(omnis, `"input_tokens": 5`, `"input_tokens": 0.5`, 1), "f: item 4: input_tokens is 0.5; want a whole number of at most 18 digits"},
		"responses of two models": {"openai", Options{Problems: asked}, strings.SplitAfter(requests, "\n")[0] + strings.SplitAfter(results, "\n")[1] + strings.ReplaceAll(strings.SplitAfter(results, "\n")[1], "small", "big"), `f:3: this response to the request "1" is of "big-2025", and that at f:2 of "small-2025": the request of one of them is not there; name the file that has it, too`},
		"a setting of orders":     {"csv", Options{Model: "m", Keys: map[string]string{"settings.heat": "heat"}}, "problem,correct,prompt_tokens,output_tokens,heat\na,1,1,1,\x1b[31mred\n", `f:2: the setting heat, "\x1b[31mred", holds a character that does not print; take it out`},
		"tokens of a whole text":  {"jsonl", Options{}, `{"problem": "a", "output_tokens": "` + strings.Repeat("long ", 1000) + `"}`, `f:1: output_tokens is "long long long long long long long long long long long long "; want a whole number of tokens, in digits alone`},
		"no samples":              {"inspect", Options{}, header, "no answer in f"},
		"failures alone":          {"inspect", Options{}, strings.TrimSuffix(header, "}") + `, "samples": [` + failed + "]}", "no answer in f; left out: 1 sample: the log has an error in the place of an answer"},
		"a response alone":        {"openai", Options{}, results, `f:1: no request "2" to this response is there; name the file that has it, too`},
		"a request alone":         {"openai", Options{}, requests, "f: there are requests and no response to them; name the files that have these, too"},
		"two requests of a name":  {"openai", Options{}, requests + strings.ReplaceAll(requests, "1 + 1", "1 + 3"), `f:3: the request "1" to "small" is at f:1 already, and differs`},
		"requests on lines":       {"openai", Options{}, strings.Repeat("{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"response\": {}}\n", 2), `f:1: neither a request with its response, {"request": ..., "response": ...}, nor a line of a batch`},
		"responses of others":     {"openai", Options{}, strings.Repeat(`{"request": {"model": "m", "messages": []}, "response": {"content": [{"text": "3"}]}}`+"\n", 2), "none of 2 responses has choices, as those of chat completions have"},
		"responses on lines":      {"openai", Options{}, strings.Repeat("{\"choices\": []}\n", 2), `f:1: neither a request with its response, {"request": ..., "response": ...}, nor a line of a batch`},
		"neither":                 {"openai", Options{}, "{\"a\": 1}\n{}\n", "f:1: neither a request nor a response of chat completions"},
		"tokens below nothing":    {"openai", Options{}, strings.Replace(requests+strings.SplitAfter(results, "\n")[0], `"completion_tokens": 8`, `"completion_tokens": -4`, 1), "f:3: -4 output tokens; want 0 to 10000000"},
		"one token below nothing": {"omnisbench", Options{Model: "m", Problems: asked}, strings.NewReplacer("s1", "a", `"input_tokens": 3`, `"input_tokens": -1`).Replace(omnis), "f: item 1: -1 input tokens; want 0 to 10000000"},
		"choices of no question":  {"openai", Options{}, `{"request": {"model": "m", "messages": []}, "response": {"choices": [{"message": {"content": "1"}}, {}]}}`, "f, choice 1: the question has no text"},
		"half a token":            {"openai", Options{}, strings.Replace(requests+results, `"completion_tokens": 8`, `"completion_tokens": 5.5`, 1), "f:3: the response is none of chat completions: completion_tokens is 5.5; want a whole number of at most 18 digits"},
		"a heat that is a text":   {"openai", Options{}, strings.Replace(requests, "0.5", `"hot"`, 1), "f:1: not a JSON object of a request or a response: temperature is of type string"},
		"a list of logs":          {"inspect", Options{}, "[]", "f: no log of inspect_ai: it is of type array"},
		"a log within":            {"inspect", Options{}, zipped(t, zip.Deflate, "header.json", header, "samples/1.json", `{"epoch": "one"}`), "f: samples/1.json: epoch is of type string"},
		"a list of results":       {"reasoning-gym", Options{}, "[]", "f: no result of reasoning-gym-eval: it is of type array"},
		"items that are a number": {"omnisbench", Options{}, `{"items": 3}`, "f: no results of OmnisBench: items is of type number"},
		"no gold":                 {"openai", Options{}, requests + results, "nothing says whether the answer is right"},
		"samples of something":    {"lm-eval", Options{}, "{}\n", "f:1: no sample of lm-evaluation-harness: want an object with doc_id"},
		"samples without model":   {"lm-eval", Options{CharsPerToken: 4}, oneLine(lmFirst), "f:1: which model answered is not said; name it with --model"},
		"samples without tokens":  {"lm-eval", Options{Model: "m"}, oneLine(lmFirst), "f:1: the input tokens are not said; --chars-per-token 4"},
		"a sample twice":          {"lm-eval", Options{Model: "m"}, oneLine(lmFirst) + oneLine(lmFirst), `f:2: doc_id 7 with the filter "strict" is there already`},
		"a prompt of no kind":     {"lm-eval", Options{Model: "m"}, strings.Replace(oneLine(lmFirst), `["[{`, `["{`, 1), "f:1: the prompt is neither a text nor a list of messages"},
		"a path into nothing":     {"lm-eval", Options{Model: "m", Keys: map[string]string{"problem": "doc.question"}}, oneLine(lmFirst), `f:1: problem is to be read from "doc.question", and there is none or it is empty`},
		"a summary":               {"reasoning-gym", Options{}, "{}", "f: no result of reasoning-gym-eval: name or results are missing"},
		"no model":                {"reasoning-gym", Options{CharsPerToken: 4}, gym, "f: result 1: which model answered is not said; name it with --model"},
		"no tokens":               {"reasoning-gym", Options{Model: "m"}, gym, "f: result 1: the input tokens are not said; --chars-per-token 4"},
		"no questions":            {"omnisbench", Options{}, omnis, "f: item 1: the question has no text; give the questions with --problems"},
		"no question column":      {"csv", Options{Model: "m"}, "question,correct\na,1\n", "f: no column is problem, the text of the question; name the one that is with --key problem=COLUMN, or give the questions with --problems; there are question, correct"},
		"no column":               {"csv", Options{Keys: map[string]string{"problem": "q"}}, table, `f: problem is to be read from the column "q", and there is none; there are name, question`},
		"semicolons":              {"csv", Options{}, "question;model;correct\nA?;x;1\n", "f: its columns seem to be separated by semicolons; separate them by commas"},
		"tabs":                    {"csv", Options{}, "question\tmodel\nA?\tx\n", "f: its columns seem to be separated by tabs; separate them by commas"},
		"labels alone":            {"csv", Options{CharsPerToken: 4, Model: "m"}, "problem,correct\na,1\n", "f:2: neither the output tokens nor the text of the response is there; name a column of either with --key output_tokens=COLUMN or --key response=COLUMN"},
		"a cell of no tokens":     {"csv", Options{CharsPerToken: 4, Model: "m"}, "problem,correct,output_tokens\na,1,\n", "f:2: neither the output tokens nor the text of the response is there; name a column of either with --key output_tokens=COLUMN or --key response=COLUMN, or leave the line out"},
		"no prompt tokens":        {"csv", Options{Model: "m"}, "problem,correct,output_tokens\na,1,5\n", "f:2: the input tokens are not said; name their column with --key prompt_tokens=COLUMN, or --chars-per-token 4 counts the characters of the question in their place"},
		"other problems":          {"csv", Options{Model: "m", Problems: asked}, "query_id,problem,correct\nx,What is it?,1\ny,And that?,1\n", `the log has 2 answers, and none of their questions is in problems.jsonl: the first one is to id "x", "What is it?", and problems.jsonl begins with id "a", "What is 1 + 1?"`},
		"a workbook":              {"csv", Options{}, "PK\x03\x04\x14", "f: it is a zip archive, as a workbook is; export it as text, and import that"},
		"Parquet":                 {"jsonl", Options{}, "PAR1\x15", "f: it is Parquet; write it as lines of JSON, and import these"},
		"objects for a table":     {"csv", Options{}, objects, "f: it holds JSON; import it as jsonl"},
		"half a quotation":        {"csv", Options{}, "problem,correct,prompt_tokens,output_tokens\na,1,1,1\n\"b,1,1,1\nc,1,1,1\n", "f:3: the quotation marks of this line do not pair: put a cell that holds any in quotation marks, and write each of its own twice"},
		"a mark within":           {"csv", Options{}, "problem,correct\na \"b\" c,1\n", "f:2: the quotation marks of this line do not pair"},
		"a mark in a name":        {"csv", Options{}, "prob\"lem,correct\na,1\n", "f:1: the quotation marks of this line do not pair"},
		"a path that none has":    {"jsonl", Options{Keys: map[string]string{"problem": "q.text", "usd": "bill.dollars"}, CorrectFrom: 0.5}, objects, `f: usd is to be read from "bill.dollars", and no line has that`},
		"a text that none has":    {"jsonl", Options{Keys: map[string]string{"problem": "question"}, CorrectFrom: 0.5}, objects, `f:1: the question has no text where it is to be read from, "question"; name where it is with --key problem=KEY, or give the questions with --problems`},
		"another encoding":        {"csv", Options{Model: "m"}, "problem,correct,prompt_tokens,output_tokens\n\xe9,1,1,1\n", "f:2: the question is not UTF-8; convert the file"},
		"a column twice":          {"csv", Options{}, "a,a\n", `f: the column "a" is there twice; give each a name of its own`},
		"a short line":            {"csv", Options{}, "problem,correct\n1\n", "f:2: the line has 1 column and that of the names has 2"},
		"a long line":             {"csv", Options{}, "problem,correct\n\"a\n\",2,3\n", "f:2: the line has 3 columns and that of the names has 2"},
		"carriage returns":        {"csv", Options{}, "problem,sums,sums\r1 + 1?,1,2\r", "f: its lines end in carriage returns alone; end them in line feeds"},
		"objects and returns":     {"jsonl", Options{}, strings.Repeat(strings.TrimSpace(objects)+"\r", 2), "f: its lines end in carriage returns alone; end them in line feeds"},
		"tokens that are none":    {"csv", Options{}, "problem,output_tokens\na,-3\n", `f:2: output_tokens is "-3"; want a whole number of tokens, in digits alone`},
		"thousands":               {"csv", Options{}, "problem,output_tokens\na,\"7,590\"\n", `f:2: output_tokens is "7,590"; want a whole number of tokens, in digits alone`},
		"more than any":           {"csv", Options{}, "problem,prompt_tokens,output_tokens,correct\na,1,10000001,1\n", `f:2: 10000001 output tokens; want 0 to 10000000`},
		"a verdict that is none":  {"csv", Options{}, "problem,correct\na,maybe\n", `f:2: correct is "maybe"; want true or false`},
		"a score of nothing":      {"csv", Options{CharsPerToken: 4}, "problem,correct,output_tokens\na,NaN,3\n", `f:2: nothing says whether the answer is right: there is no label, and no gold with a response; name a column of labels with --key correct=COLUMN, give the golds with --problems, or leave the line out`},
		"a label that is null":    {"jsonl", Options{Keys: map[string]string{"correct": "ok"}}, `{"problem": "a", "ok": null, "prompt_tokens": 1, "output_tokens": 2}`, "f:1: nothing says whether the answer is right: there is no label, and no gold with a response; give the golds with --problems, or leave the line out"},
		"NaN in JSON":             {"jsonl", Options{}, `{"problem": "a", "correct": NaN}`, "f:1: not a JSON object, which has no NaN: write null"},
		"tokens of some models":   {"csv", Options{Keys: map[string]string{"correct": "{model}", "output_tokens": "{model}_out"}}, "problem,x,y,x out\na,1,0,5\n", `f: no model has a column "{model}" and a column "{model}_out"; there are problem, x, y, x out`},
		"a column per model":      {"csv", Options{}, ",problem,x,y\n0,a,1,0\n", "f: no column is correct, response or output_tokens; name those that are with --key KEY=COLUMN, and write {model} for the name of a model where each has columns of its own: --key correct={model} --key output_tokens={model}_tokens"},
		"an endless score":        {"csv", Options{CorrectFrom: 60}, "problem,correct\na,Inf\n", `f:2: correct is "Inf"; want true or false, or a score from 0 on`},
		"a score below nothing":   {"jsonl", Options{CorrectFrom: 60}, `{"problem": "a", "correct": -1}`, `f:1: correct is "-1"; want true or false, or a score from 0 on`},
		"a score beyond all":      {"jsonl", Options{}, `{"problem": "a", "correct": 2}`, `f:1: correct is "2"; want true or false, or a score from 0 to 1; of scores that go further --correct-from, above 1, says which are right`},
		"a model without name":    {"csv", Options{}, "problem,model,correct,prompt_tokens,output_tokens\na,x,1,1,1\na,,1,1,1\n", "f:3: which model answered is not said; name it with --model"},
		"a model of blanks":       {"csv", Options{}, "problem,model,correct,prompt_tokens,output_tokens\na,\" \",1,1,1\n", "f:2: which model answered is not said; name it with --model"},
		"a model of orders":       {"csv", Options{}, "problem,model,correct,prompt_tokens,output_tokens\na,\x1b[31mred,1,1,1\n", `f:2: the name of the model, "\x1b[31mred", holds a character that does not print; take it out, or name the model with --model`},
		"an id of two lines":      {"csv", Options{}, "query_id,problem,model,correct,prompt_tokens,output_tokens\n\"x\ny\",a,m,1,1,1\n", `f:2: the id of the question, "x\ny", holds a character that does not print; take it out, or name another column with --key query_id=COLUMN`},
		"a line without a ground": {"jsonl", Options{}, `{"problem":"a","model":"m","correct":1,"prompt_tokens":1,"output_tokens":1,"more":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "f:1: not a JSON object"},
		"a model of two lines":    {"csv", Options{}, "problem,model,correct,prompt_tokens,output_tokens\na,\"x\ny\",1,1,1\n", `f:2: the name of the model, "x\ny", holds a character that does not print`},
		"a model that is null":    {"jsonl", Options{}, `{"problem": "a", "model": null, "correct": 1, "prompt_tokens": 1, "output_tokens": 1}`, "f:1: which model answered is not said; name it with --model"},
		"a line without model":    {"jsonl", Options{Keys: map[string]string{"problem": "q.text"}, CorrectFrom: 0.5}, objects + strings.Replace(objects, `"model"`, `"asked"`, 1), "f:2: which model answered is not said here and is at f:1; say it on every line, or on none with --model"},
		"models from here on":     {"jsonl", Options{Keys: map[string]string{"problem": "q.text"}, CorrectFrom: 0.5}, strings.Replace(objects, `"model"`, `"asked"`, 1) + objects, "f:2: which model answered is said here and is not at f:1; say it on every line, or on none with --model"},
		"dollars that are none":   {"csv", Options{}, "problem,usd,correct\na,-1,1\n", `f:2: usd is "-1"; want a number of dollars, such as 0.0015`},
		"a decimal comma":         {"csv", Options{}, "problem,usd,correct\na,\"0,5\",1\n", `f:2: usd is "0,5"; want a number of dollars, such as 0.0015`},
		"a question that changes": {"csv", Options{Model: "m"}, "query_id,problem,correct,prompt_tokens,output_tokens\nq,a,1,1,1\nq,b,1,1,1\n", `f:3: question "all-q" reads otherwise than at f:2`},
		"options of another gold": {"jsonl", Options{}, `{"query_id": "1", "problem": "Red?", "options": ["rose", "sea"], "gold": "A", "model": "x", "response": "A", "prompt_tokens": 1, "output_tokens": 2}` + "\n" + `{"query_id": "1", "problem": "Red?", "options": ["sea", "rose"], "gold": "A", "model": "y", "response": "A", "prompt_tokens": 1, "output_tokens": 2}`, `f:2: question "all-1" has the gold ["A"] here and ["A"] at f:1, of options in another order`},
		"a gold that changes":     {"csv", Options{Model: "m"}, "problem,gold,correct,prompt_tokens,output_tokens\na,1,1,1,1\na,2,1,1,1\n", `has the gold ["2"] here and ["1"] at f:2`},
		"a list on a line":        {"jsonl", Options{}, "[]\n", "f:1: not a JSON object"},
		"a list in a file":        {"jsonl", Options{}, "[\n{}]\n", "f:1: not a JSON object but a list of them: write each on a line, as jq -c '.[]' does"},
		"a problem of keys":       {"jsonl", Options{Keys: map[string]string{"problem": "q"}}, `{"q": {"text": "a"}, "correct": 1, "output_tokens": 2}`, "f:1: problem is to be a text, and is a JSON object: name the text within it with --key problem=q.KEY"},
		"a response of choices":   {"jsonl", Options{}, `{"problem": "a", "response": [{"message": {"content": "2"}}], "gold": "2", "output_tokens": 2}`, "f:1: response is to be a text, and is a JSON list: name the text within it with --key response=response.0.KEY"},
		"tokens that are null":    {"jsonl", Options{Keys: map[string]string{"prompt_tokens": "usage.in"}}, `{"problem": "a", "correct": 1, "usage": null, "output_tokens": 2}`, "f:1: usage.in says no input tokens; --chars-per-token 4 counts the characters of the question in their place"},
		"half a line":             {"jsonl", Options{}, objects[:40], "f:1: the line ends within its JSON object: write each object on one line, as jq -c . does, and take out one that was cut short"},
		"an object on lines":      {"jsonl", Options{}, "{\n\"problem\": \"a\"\n}\n", "f:1: the line ends within its JSON object"},
		"options that are none":   {"jsonl", Options{}, `{"options": "red"}`, `f:1: options is no list of texts in JSON, such as ["red", "blue"]: "red"`},
		"options of Python":       {"csv", Options{}, "problem,options,correct\na,\"['red', 'blue']\",1\n", `f:2: options is no list of texts in JSON, such as ["red", "blue"]: "['red', 'blue']"`},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Find(c.format)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Read(context.Background(), []File{file("f", c.text)}, c.o); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}

func TestWhatAreNoProblems(t *testing.T) {
	for text, want := range map[string]string{
		"[]\n": "f:1: no problem: it is of type array; want an object",
		golds + `{"id": "c", "problem": 7, "answer": "1"}`: "f:3: no problem: problem is of type number; want a text",
		`{"id": "c", "problem": "1 + 1`:                    "f:1: no problem: it ends within its JSON",
	} {
		if _, err := ReadProblems(file("f", text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A prompt holds the longest problem that is anywhere in it, and of several as long the first.
func TestTheLongestProblemOfAPromptIsFound(t *testing.T) {
	r := seed.Derive("prompts").Rand()
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString([]string{"a", "b", "é"}[r.IntN(3)])
		}
		return b.String()
	}
	for range 300 {
		var lines strings.Builder
		for i := range 1 + r.IntN(12) {
			fmt.Fprintf(&lines, "{\"id\": \"%d\", \"problem\": %q, \"answer\": 1}\n", i, text(1+r.IntN(5)))
		}
		p, err := ReadProblems(file("p", lines.String()))
		if err != nil {
			t.Fatal(err)
		}
		prompt, want := text(r.IntN(12)), -1
		for i, x := range p.all {
			if strings.Contains(prompt, x.Problem) && (want < 0 || len(x.Problem) > len(p.all[want].Problem)) {
				want = i
			}
		}
		if got, _ := p.in(prompt); got != want {
			t.Fatalf("in %q problem %d of\n%s\nwant %d", prompt, got, lines.String(), want)
		}
	}
}

// Prompts of many problems: a search for each of them in each prompt would take minutes.
func BenchmarkProblemsOfPrompts(b *testing.B) {
	const n = 40_000
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "{\"id\": \"%d\", \"problem\": \"Case %d: what is twice as many as are there?\", \"answer\": 1}\n", i, i)
	}
	p, err := ReadProblems(file("p", lines.String()))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for i, x := range p.all {
			if got, _ := p.in("Answer the question, and say why.\n" + x.Problem + "\nAnswer:"); got != i {
				b.Fatalf("problem %d where %d is", got, i)
			}
		}
	}
}

// A file in another encoding says which one, whatever it holds.
func TestUTF16IsNamed(t *testing.T) {
	for name, text := range map[string]string{"a mark": "\xff\xfep\x00,\x00", "the other mark": "\xfe\xff\x00p\x00,", "no mark": "p\x00,\x00", "neither, the other way": "\x00p\x00,"} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path).Data(); err == nil || err.Error() != path+": it is UTF-16; convert it to UTF-8" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that holds nothing, or what its name does not say, is named as such and not read as a text of nonsense.
func TestFilesWithoutATextAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		" \n":                    "the file is empty",
		"\ufeff\n":               "the file is empty",
		"\x1f\x8b\x08\x00\r\x01": "it is compressed by gzip; let its name end in .gz",
	} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path).Data(); err == nil || err.Error() != path+": "+want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A compressed file that was cut short or damaged on its way is named as such.
func TestDamagedFilesAreNamed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(table)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for name, c := range map[string]struct{ text, want string }{
		"all but its end":  {text[:len(text)-9], "its compressed text ends too early; was it cut short?"},
		"a part of a mark": {text[:5], "its compressed text ends too early; was it cut short?"},
		"another sum":      {text[:len(text)-8] + "\x00\x00\x00\x00" + text[len(text)-4:], "its compressed text is damaged; copy the file anew"},
		"another text":     {text[:12] + "\xff\xff" + text[14:], "its compressed text is damaged; copy the file anew"},
		"what is no text":  {"problem,correct\na,1\n", "not compressed, though its name says so"},
		"nothing":          {"", "the file is empty"},
	} {
		path := filepath.Join(t.TempDir(), "a.csv.gz")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path).Data(); err == nil || err.Error() != path+": "+c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// What is written is what a recording is read from, and a folder that holds something stays as it is.
func TestTheFolderIsARecording(t *testing.T) {
	f, err := Find("csv")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("query_id,benchmark,problem,gold,model,response,prompt_tokens,output_tokens,settings\n")
	for q := range 7 {
		for m, model := range []string{"lab/small", "lab/big", "lab/big"} {
			fmt.Fprintf(&text, "q%d,sums,What is %d + 1?,%d,%s,it is %d,%d,%d,%d\n", q, q, q+1, model, q+1-(q+m)%2, 10+m, 20+q, m)
		}
	}
	l, err := f.Read(context.Background(), []File{file("a.csv", text.String())}, Options{Keys: map[string]string{"settings.heat": "settings"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "mine")
	origin := starting.Origin{Source: "a test", Licence: "none"}
	if b, err := l.Write(t.Context(), dir, "mine", origin, l.Audit(nil), time.Now()); err != nil || b.Left != "" || len(b.Files) != 6 || !slices.Equal(b.Priceless, []string{"lab/big", "lab/small"}) {
		t.Fatal(b, err)
	}
	if _, err := l.Write(t.Context(), dir, "mine", origin, nil, time.Now()); err == nil || !strings.Contains(err.Error(), "holds audit.txt already") {
		t.Error("a second import: ", err)
	}
	if parts, err := filepath.Glob(dir + ".part"); err != nil || len(parts) > 0 {
		t.Error(parts, err)
	}
	if held, err := os.ReadDir(dir); err != nil || len(held) != 6 {
		t.Error(held, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "pools", "mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pool spec.Pool
	if err := yaml.Unmarshal(data, &pool); err != nil {
		t.Fatal(err)
	}
	read, err := recording.Load(t.Context(), dir, *pool.Recorded, l.Models)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read.Candidates, l.Models) || len(read.Queries) != 7 {
		t.Fatal(read.Candidates, read.Queries)
	}
	for q, query := range read.Queries {
		for m := range read.Candidates {
			x, y := read.Runs[q][m][0], l.Answers[q][m][0]
			if query.Problem != l.Questions[q].Problem || x.Correct != y.Correct || x.In != y.In || x.Out != y.Out {
				t.Errorf("%v is read as %v", y, x)
			}
		}
	}
}

// An answer of no text is an answer, wrong and paid for, whether the format finds its column or it is named.
func TestAnEmptyAnswerIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		format, text string
		o            Options
	}{
		"a cell":       {"csv", "query_id,problem,gold,model,response,prompt_tokens,output_tokens\na,1 + 1?,2,m,,3,5\nb,1 + 2?,3,m,3,3,5\n", Options{}},
		"a named cell": {"csv", "query_id,problem,gold,model,said,prompt_tokens,output_tokens\na,1 + 1?,2,m,,3,5\nb,1 + 2?,3,m,3,3,5\n", Options{Keys: map[string]string{"response": "said"}}},
		"null": {"jsonl", `{"query_id": "a", "problem": "1 + 1?", "gold": "2", "model": "m", "response": null, "prompt_tokens": 3, "output_tokens": 5}
{"query_id": "b", "problem": "1 + 2?", "gold": "3", "model": "m", "response": "3", "prompt_tokens": 3, "output_tokens": 5}
`, Options{}},
	} {
		f, err := Find(c.format)
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Read(t.Context(), []File{file("f", c.text)}, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a, b := l.Answers[0][0][0], l.Answers[1][0][0]; a.Correct || a.Chars != 0 || a.Out != 5 || !b.Correct {
			t.Errorf("%s: %+v, %+v", name, a, b)
		}
	}
}

// Answers of one letter may have as many tokens each, but not five hundred.
func TestConstantTokensOfShortAnswers(t *testing.T) {
	for tokens, want := range map[int]bool{1: false, 2: false, 512: true} {
		text := "query_id,problem,gold,model,response,prompt_tokens,output_tokens\n"
		for q := range 40 {
			text += fmt.Sprintf("q%d,Which of %d?,%c,m,%c,%d,%d\n", q, q, 'A'+q%4, 'A'+q%3, 10+q, tokens)
		}
		f, err := Find("csv")
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Read(t.Context(), []File{file("f", text)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(l.Audit(nil), func(f Finding) bool { return f.Check == "constant tokens" }); got != want {
			t.Errorf("%d tokens each: found %v, want %v", tokens, got, want)
		}
	}
}

// Blanks around the name of a model are none of it: a price names the model without them.
func TestBlanksAroundAModelAreNotItsName(t *testing.T) {
	f, err := Find("csv")
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.Read(t.Context(), []File{file("f", "query_id,problem,gold,model,response,prompt_tokens,output_tokens\na,1+1?,2, small,2,5,1\na,1+1?,2,large ,2,5,1\nb,1+2?,3,small,3,5,1\n")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Models) != 2 || l.Models[0].Model != "large" || l.Models[1].Model != "small" {
		t.Errorf("models are %q", l.Models)
	}
}

// Blanks around a question, which one client sends and another does not, make no other question of it.
func TestBlanksAroundAQuestionAreNotItsText(t *testing.T) {
	f, err := Find("jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ golds, lines string }{
		"with an id": {"", `{"query_id": "q", "problem": "1 + 1?", "gold": "2", "model": "a", "response": "2"}` + "\n" +
			`{"query_id": "q", "problem": "1 + 1?\r\n", "gold": "2", "model": "b", "response": "2"}` + "\n"},
		"without one": {"", `{"problem": " 1 + 1?", "gold": "2", "model": "a", "response": "2"}` + "\n" + `{"problem": "1 + 1?", "gold": "2", "model": "b", "response": "2"}` + "\n"},
		"of a file with golds": {`{"id": "q", "problem": "1 + 1?\n", "answer": 2}`, `{"problem": "1 + 1?", "model": "a", "response": "2"}` + "\n" +
			`{"problem": "\n1 + 1? ", "model": "b", "response": "2"}` + "\n"},
	} {
		o := Options{CharsPerToken: 4}
		if c.golds != "" {
			if o.Problems, err = ReadProblems(file("golds", c.golds)); err != nil {
				t.Fatal(err)
			}
		}
		if log, err := f.Read(context.Background(), []File{file("f", c.lines)}, o); err != nil || len(log.Questions) != 1 || len(log.Models) != 2 || len(log.Left) > 0 {
			t.Errorf("%s: error %v, read %+v; want a question that two models answered", name, err, log)
		}
	}
}

// Scores below 1 are wrong without --correct-from, and told, but not where somebody said which are right or the verifier did.
func TestPartialScoresAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		text string
		want int
	}{
		"scores":              {Options{}, "problem,model,correct,prompt_tokens,output_tokens\na,x,0.5,1,1\nb,x,1,1,1\nc,x,0,1,1\nd,x,0.9,1,1\n", 2},
		"scores from half on": {Options{CorrectFrom: 0.6}, "problem,model,correct,prompt_tokens,output_tokens\na,x,0.5,1,1\nb,x,1,1,1\n", 0},
		"graded again":        {Options{}, "problem,model,correct,gold,response,prompt_tokens,output_tokens\na,x,0.5,2,\\boxed{2},1,1\n", 0},
	} {
		f, err := Find("csv")
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Read(t.Context(), []File{file("f", c.text)}, c.o)
		if err != nil || l.Partial != c.want {
			t.Errorf("%s: %d, %v, want %d", name, l.Partial, err, c.want)
		}
	}
	for metrics, want := range map[string]int{`["f1"], "f1": 0.4`: 1, `["f1", "exact_match"], "f1": 0.4, "exact_match": 0`: 0, `["bleu", "f1"], "bleu": 35.2, "f1": 0.4`: 1, `["exact_match"], "exact_match": 1`: 0} {
		f, err := Find("lm-eval")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`"target": "2"`, `"target": ""`, `["exact_match"], "exact_match": 0.0`, metrics).Replace(oneLine(lmFirst))
		if l, err := f.Read(t.Context(), []File{file("f", text)}, Options{Model: "m", CharsPerToken: 4}); err != nil || l.Partial != want {
			t.Errorf("metrics %s: %+v, %v, want %d", metrics, l, err, want)
		}
	}
	for value, want := range map[string]int{`"P"`: 1, "0.5": 1, `"I"`: 0, "0": 0, "1": 0} {
		f, err := Find("inspect")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(header, "}") + `, "samples": [` + strings.NewReplacer(`[" 2", "two"]`, `""`, `"I"`, value).Replace(sample) + "]}"
		if l, err := f.Read(t.Context(), []File{file("f", text)}, Options{}); err != nil || l.Partial != want {
			t.Errorf("a score of %s: %+v, %v, want %d", value, l, err, want)
		}
		l, err := f.Read(t.Context(), []File{file("f", text)}, Options{CorrectFrom: 0.5})
		if right := want > 0 || value == "1"; err != nil || l.Partial != 0 || l.Answers[0][0][0].Correct != right {
			t.Errorf("a score of %s, right from 0.5 on: %+v, %v, want %v", value, l, err, right)
		}
	}
}

// Answers that nobody could grade count as wrong, which is told with the first one.
func TestUnknownVerdictsAreTold(t *testing.T) {
	f, err := Find("jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const line = `{"problem": "Red?", "options": ["rose", "sea"], "gold": "1", "model": "x", "response": "ANSWER: B", "prompt_tokens": 1, "output_tokens": 2}`
	l, err := f.Read(t.Context(), []File{file("f", line+"\n"+strings.NewReplacer("Red", "Rose-red", `"1"`, `"A"`).Replace(line)+"\n")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{"no verdict", "1 of 2 answers have neither a verdict of the verifier nor one of the log, and count as wrong, such as that at f:1, whose gold is \"1\"; name a column of labels with --key correct=COLUMN, or write golds in a form that is read, such as letters or texts of options"}
	if all := l.Audit(nil); !slices.Contains(all, want) {
		t.Error(all)
	}
}

// A question whose answers are in two splits is in both, whatever its id; answers that say no split are in none.
func TestAQuestionOfTwoSplitsIsTold(t *testing.T) {
	f, err := Find("csv")
	if err != nil {
		t.Fatal(err)
	}
	const names = "query_id,split,problem,model,correct,prompt_tokens,output_tokens\n"
	for text, want := range map[string]bool{
		names + ",train,a,x,1,1,5\n,test,a,y,1,1,6\n": true, names + "q,train,a,x,1,1,5\nq,,a,y,1,1,6\nq,test,a,z,1,1,6\n": true, names + "q,,a,x,1,1,5\nq,test,a,y,1,1,6\nq,train,a,z,1,1,6\n": true,
		names + "q,train,a,x,1,1,5\nq,train,a,y,1,1,6\n": false, names + "q,,a,x,1,1,5\nq,train,a,y,1,1,6\n": false,
	} {
		l, err := f.Read(t.Context(), []File{file("f", text)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(l.Audit(nil), func(f Finding) bool {
			return f.Check == "train/test overlap" && strings.HasPrefix(f.Text, "1 question with answers in two splits, such as all-")
		}); got != want {
			t.Errorf("%s: %v, want %v", text, l.Audit(nil), want)
		}
	}
}

// How an evaluation ended is a word, which holds no orders to a terminal.
func TestAnEndThatDoesNotPrint(t *testing.T) {
	f, err := Find("inspect")
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.Read(t.Context(), []File{file("f", strings.TrimSuffix(header, "}")+`, "status": "\u001b[31mred", "samples": [`+sample+"]}")}, Options{})
	if err != nil || !slices.Equal(l.Left, []string{"what 1 evaluation did not come to: f (31mred)"}) {
		t.Error(l, err)
	}
}

// A model under several settings is several models, which is told where these were asked different questions.
func TestSettingsOfDifferentQuestionsAreTold(t *testing.T) {
	f, err := Find("inspect")
	if err != nil {
		t.Fatal(err)
	}
	log := func(header, task, sample string) File {
		return file(task, strings.TrimSuffix(strings.Replace(header, "suite/sums", task, 1), "}")+`, "samples": [`+sample+"]}")
	}
	l, err := f.Read(t.Context(), []File{log(header, "sums", sample), log(strings.Replace(header, `"temperature": 0.5`, "", 1), "more", sample)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{"different settings", "lab/small and lab/small temperature=0.5 are one model, count as two and share no question; import the logs of each setting alone"}
	if all := l.Audit(nil); !slices.Contains(all, want) {
		t.Error(all)
	}
}

// Of a conversation the last message is the question, which is told where more was said.
func TestConversationsAreTold(t *testing.T) {
	const table = `{"problem": [{"role": "user", "content": "1 + 1"}, {"role": "assistant", "content": "2"}, {"role": "user", "content": "and 1 + 2?"}], "model": "m", "correct": 1, "prompt_tokens": 9, "output_tokens": 1}`
	const chat = `{"request": {"model": "m", "messages": [{"role": "user", "content": "1 + 1"}, {"role": "assistant", "content": "2"}, {"role": "user", "content": "and 1 + 2?"}]}, "response": {"choices": [{"message": {"content": "3"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}}`
	problems, err := ReadProblems(file("problems.jsonl", `{"id": "1", "problem": "and 1 + 2?", "answer": "3"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{"conversations", "1 of 2 answers are to the last question of a conversation, which alone is read: two conversations that end alike count as one question"}
	for format, text := range map[string]string{"jsonl": table, "openai": chat} {
		f, err := Find(format)
		if err != nil {
			t.Fatal(err)
		}
		text += "\n" + strings.NewReplacer(`{"role": "user", "content": "1 + 1"}, {"role": "assistant", "content": "2"}, `, `{"role": "system", "content": "Add."}, `).Replace(text) + "\n"
		l, err := f.Read(t.Context(), []File{file("f", text)}, Options{Problems: problems})
		if err != nil {
			t.Fatal(err)
		}
		if all := l.Audit(nil); !slices.Contains(all, want) {
			t.Errorf("%s: %v", format, all)
		}
	}
}

// Answers under other system messages count as of one model, which is told.
func TestSystemMessagesThatDifferAreTold(t *testing.T) {
	f, err := Find("openai")
	if err != nil {
		t.Fatal(err)
	}
	problems, err := ReadProblems(file("problems.jsonl", `{"id": "1", "problem": "1 + 1", "answer": "2"}`))
	if err != nil {
		t.Fatal(err)
	}
	pair := func(system string) string {
		return `{"request": {"model": "m", "messages": [{"role": "system", "content": "` + system + `"}, {"role": "user", "content": "1 + 1"}]}, "response": {"choices": [{"message": {"content": "2"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}}` + "\n"
	}
	want := "m was asked with 2 different system messages, which are not told apart: of several answers to a question the first is scored, whichever it had; import those under one of them"
	for text, told := range map[string]bool{pair("be brief") + pair("be brief"): false, pair("be brief") + pair("be kind"): true} {
		l, err := f.Read(t.Context(), []File{file("f", text)}, Options{Problems: problems})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(l.Audit(nil), Finding{"different instructions", want}); got != told {
			t.Errorf("%sfound %v, want %v: %v", text, got, told, l.Audit(nil))
		}
	}
}
