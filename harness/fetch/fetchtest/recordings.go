// Files of publishers, put together from the lines that are known.

package fetchtest

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"crypto/md5"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// formats make the files that recorded sets are made of out of the known lines in a data folder: what a file has beside them is made up.
// That the publishers' files are these is not shown by it.
var formats = map[string]func(data string, put put) error{
	"lineage": lineage, "mmlu-pro": mmluPro, "reasoning-gym": reasoningGym, "routellm-mmlu": routeLLMMMLU, "routellm-gsm8k": routeLLMGSM8K,
	"zeroeval": zeroEval,
}

// put takes a file of a publisher by its path in the repository.
type put func(path string, text []byte) error

// Publish puts what a recorded set is made of where a Hub with a root serves it, as far as the known lines in a data folder say: files where
// the set has paths of some, the others in an archive.
func Publish(root, data string, p spec.Published) error {
	make, ok := formats[p.Format]
	if !ok {
		return fmt.Errorf("nobody puts the lines of format %s back into files", p.Format)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	var archived bool
	if err := make(data, func(path string, text []byte) error {
		for _, o := range p.From {
			if slices.Contains(o.Paths, path) {
				return write(filepath.Join(root, o.Repo, o.Revision, path), text)
			}
		}
		archived = true
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "repository-at-a-commit/" + path, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}); err != nil {
		return err
	}
	if err := cmp.Or(w.Close(), z.Close()); err != nil {
		return err
	}
	for _, o := range p.From {
		if o.Archived() {
			archived = false
			if err := write(filepath.Join(root, o.Repo, "tar.gz", o.Revision), packed.Bytes()); err != nil {
				return err
			}
		}
	}
	if archived {
		return errors.New("files are in none of the set's repositories")
	}
	return nil
}

func write(path string, text []byte) error {
	return cmp.Or(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, text, 0o666))
}

// PublishGSM8K puts the questions of GSM8K with their right answers where their home is.
func PublishGSM8K(root, data string, home spec.Part) error {
	raw, err := os.ReadFile(filepath.Join(data, "benchmarks/gsm8k_test.jsonl"))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var l struct{ Problem, Answer string }
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		answer := thousands.ReplaceAllString(l.Answer, "$1,$2") // as some are written
		if err := out.Encode(map[string]string{"question": l.Problem, "answer": "So it is 12.\n#### 12\n#### " + answer}); err != nil {
			return err
		}
	}
	return write(filepath.Join(root, home.Repo, home.Revision, home.Path), text.Bytes())
}

var thousands = regexp.MustCompile(`(\d)(\d{3})$`)

// unpacked is the text of a compressed file of a data folder.
func unpacked(data, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(data, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// each reads the lines of a compressed file of a data folder.
func each[T any](data, name string, read func(T) error) error {
	text, err := unpacked(data, name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		var one T
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := read(one); err != nil {
			return err
		}
	}
}

// answer is a text of so many characters, which are not as many bytes.
func answer(chars int) string {
	if chars == 0 {
		return ""
	}
	return "ü" + strings.Repeat("a", chars-1)
}

func mmluPro(data string, put put) error {
	type line struct {
		ID        string `json:"query_id"`
		Problem   string
		Options   []string
		Gold      string
		Subject   string
		Correct   map[string]int
		RespChars map[string]int `json:"resp_chars"`
	}
	var all []line
	models := map[string]bool{}
	if err := each(data, "outcomes/mmlu_pro_29models.jsonl.gz", func(l line) error {
		all = append(all, l)
		for m := range l.Correct {
			models[m] = true
		}
		return nil
	}); err != nil {
		return err
	}
	type entry map[string]any
	for i, model := range slices.Sorted(maps.Keys(models)) {
		var entries []entry
		for _, l := range all {
			right, asked := l.Correct[model]
			if !asked {
				continue
			}
			e := entry{"question_id": json.Number(strings.TrimPrefix(l.ID, "mmlu_pro-")), "question": l.Problem, "options": l.Options, "answer": l.Gold, "category": l.Subject, "pred": nil}
			if right == 1 {
				e["pred"] = l.Gold
			}
			e[[]string{"model_outputs", "response"}[i%2]] = answer(l.RespChars[model])
			entries = append(entries, e)
		}
		slices.Reverse(entries)
		text, err := json.Marshal(entries)
		if err != nil {
			return err
		}
		file := "model_outputs_" + strings.Replace(model, "3.1", "3_1", 1) + "_5shots"
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		w, err := z.Create(file + ".json")
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		if err := cmp.Or(err, z.Close()); err != nil {
			return err
		}
		if err := put("eval_results/"+file+".zip", packed.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func reasoningGym(data string, put put) error {
	type question struct{ ID, Level, Category, Dataset, Question, Answer string }
	of := map[string]question{}
	if err := each(data, "outcomes/reasoning_gym_questions.jsonl.gz", func(q question) error { of[q.ID] = q; return nil }); err != nil {
		return err
	}
	type completion struct {
		Score    json.Number `json:"score"`
		Response string      `json:"full_model_response"`
	}
	type result struct {
		Question    string       `json:"question"`
		Expected    string       `json:"expected_answer"`
		Completions []completion `json:"completions"`
	}
	type outcome struct {
		ID     string `json:"query_id"`
		Model  string
		Scores []json.Number
		Chars  []int
		Dups   int
	}
	results := map[string][]result{}
	if err := each(data, "outcomes/reasoning_gym_outcomes.jsonl.gz", func(o outcome) error {
		q := of[o.ID]
		r := result{Question: q.Question, Expected: q.Answer}
		for i, s := range o.Scores {
			r.Completions = append(r.Completions, completion{s, answer(o.Chars[i])})
		}
		path := fmt.Sprintf("reasoninggym-paper-experiments/zero-shot/%s/%s_20250416_010203/%s/%s.json", q.Level, o.Model, q.Category, q.Dataset)
		results[path] = append(results[path], slices.Repeat([]result{r}, o.Dups)...)
		return nil
	}); err != nil {
		return err
	}
	for path, all := range results {
		text, err := json.Marshal(map[string]any{"results": all})
		if err := cmp.Or(err, put(path, text)); err != nil {
			return err
		}
	}
	return nil
}

// columns are those of the models in RouteLLM's files, and what they are called in ours.
var columns = [...]struct{ column, model string }{
	{"mixtral-8x7b-instruct-v0.1", "mistralai/Mixtral-8x7B-Instruct-v0.1"}, {"gpt-4-1106-preview", "gpt-4-1106-preview"},
}

var marks = [...]string{"False", "True"}

func sheet(put put, path string, rows [][]string) error {
	var text bytes.Buffer
	return cmp.Or(csv.NewWriter(&text).WriteAll(rows), put(path, text.Bytes()))
}

func routeLLMMMLU(data string, put put) error {
	type line struct {
		Problem, Subject string
		Correct          map[string]int
	}
	rows := map[string][][]string{}
	if err := each(data, "outcomes/routellm_mmlu.jsonl.gz", func(q line) error {
		row := []string{q.Problem}
		for _, c := range columns {
			row = append(row, marks[q.Correct[c.model]])
		}
		rows[q.Subject] = append(rows[q.Subject], row)
		return nil
	}); err != nil {
		return err
	}
	for subject, of := range rows {
		if err := sheet(put, "routellm/evals/mmlu/responses/mmlu_"+subject+".csv", slices.Insert(of, 0, []string{"prompt", columns[0].column, columns[1].column})); err != nil {
			return err
		}
	}
	return nil
}

func routeLLMGSM8K(data string, put put) error {
	rows := [][]string{{"prompt", columns[0].column, columns[1].column, columns[0].column + "_response", columns[1].column + "_response"}}
	type line struct {
		Problem, Response string
		Correct           int
	}
	var before *line // the line of the other model
	if err := each(data, "outcomes/routellm_gsm8k.jsonl.gz", func(l line) error {
		if before == nil {
			before = &l
			return nil
		}
		rows = append(rows, []string{l.Problem, marks[before.Correct], marks[l.Correct], before.Response, l.Response})
		before = nil
		return nil
	}); err != nil {
		return err
	}
	return sheet(put, "routellm/evals/gsm8k/gsm8k_responses.csv", rows)
}

func lineage(data string, put put) error {
	type quiz struct {
		ID                        string
		Size                      int
		Relation, Problem, Answer string
	}
	type exchange struct {
		ID          string `json:"query_id"`
		Size        int
		Model       string
		Provider    string
		Answer      *string
		Prompt      int    `json:"prompt_tokens"`
		Output      int    `json:"output_tokens"`
		Finish      string `json:"finish"`
		Temperature json.Number
		MaxTokens   json.Number `json:"max_tokens"`
	}
	var quizzes []quiz
	of := map[string]quiz{}
	if err := each(data, "outcomes/lineage_quizzes.jsonl.gz", func(q quiz) error {
		quizzes, of[q.ID] = append(quizzes, q), q
		return nil
	}); err != nil {
		return err
	}
	models := []string{"qwen3-235b-a22b-thinking-2507", "qwen3-30b-a3b-thinking-2507", "qwen3-next-80b-a3b-thinking"}
	asked := map[string]bool{}
	if err := each(data, "outcomes/lineage_answers.jsonl.gz", func(x exchange) error {
		if !slices.Contains(models, x.Model) {
			return nil
		}
		asked[x.ID] = true
		content := "So it is"
		if x.Answer != nil {
			content = "Not <ANSWER>0</ANSWER> but <ANSWER>" + *x.Answer + "</ANSWER>"
		}
		request, err := json.Marshal(map[string]any{"model": "qwen/" + x.Model, "temperature": x.Temperature, "max_tokens": x.MaxTokens, "messages": []map[string]string{{"role": "user", "content": of[x.ID].Problem}}})
		if err != nil {
			return err
		}
		response, err := json.Marshal(map[string]any{"provider": x.Provider, "choices": []any{map[string]any{"finish_reason": x.Finish, "message": map[string]string{"content": content, "reasoning": "Or <ANSWER>9</ANSWER>?"}}},
			"usage": map[string]int{"prompt_tokens": x.Prompt, "completion_tokens": x.Output, "total_tokens": x.Prompt + x.Output}})
		if err != nil {
			return err
		}
		path := fmt.Sprintf("lineage-8_64_128_192/%s/%s_%d/%x_", x.Model, x.Model, x.Size, md5.Sum([]byte(of[x.ID].Problem)))
		return cmp.Or(put(path+"response.json", response), put(path+"request.json", request))
	}); err != nil {
		return err
	}
	run := func(folder, model string, of []quiz) error {
		rows := map[int][][]string{}
		for _, q := range of {
			rows[q.Size] = append(rows[q.Size], []string{fmt.Sprint(q.Size), q.Relation, q.Answer, q.Problem, "maker/" + model, "", "", "", "So it is\n\"that\"."})
		}
		for size, of := range rows {
			if err := sheet(put, fmt.Sprintf("%s/%s/%s_%d.csv", folder, model, model, size), of); err != nil {
				return err
			}
		}
		return nil
	}
	// The first 800 are those of the older runs, in one of which some were not answered. The newer ones go through the four relations in
	// turn, with some of the older quizzes among them.
	old, new := quizzes[:800], quizzes[800:]
	var both []quiz
	for _, size := range []int{8, 64, 128, 192} {
		ofSize := func(of []quiz) []quiz {
			return slices.DeleteFunc(slices.Clone(of), func(q quiz) bool { return q.Size != size || !asked[q.ID] })
		}
		first, then := ofSize(old), ofSize(new)
		for _, relation := range slices.Repeat([]string{"ANCESTOR", "DESCENDANT", "COMMON_ANCESTOR", "COMMON_DESCENDANT"}, 10) {
			from := &then
			if len(then) == 0 || then[0].Relation != relation {
				from = &first
			}
			both, *from = append(both, (*from)[0]), (*from)[1:]
		}
	}
	return cmp.Or(run("lineage-8_16_32_64", "claude-3.5-sonnet", slices.Clone(old[7:])), run("lineage-8_16_32_64", "deepseek-v3", old), run("lineage-8_64_128_192", models[0], both))
}

// zeroEval has the responses of models whose texts are known, and of the others as many tokens, with the answer where one was right.
func zeroEval(data string, put put) error {
	raw, err := unpacked(data, "tokenizer/merges.txt.gz")
	if err != nil {
		return err
	}
	merges, err := tokenizer.ReadMerges(raw)
	if err != nil {
		return err
	}
	tokens, err := tokenizer.New(tokenizer.Merged(tokenizer.Qwen2, merges))
	if err != nil {
		return err
	}
	if err := put("merges.txt", bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))); err != nil {
		return err
	}
	type question struct {
		ID            string `json:"query_id"`
		Problem, Gold string
	}
	of := map[string]question{}
	if err := each(data, "outcomes/zeroeval_queries.jsonl.gz", func(q question) error { of[q.ID] = q; return nil }); err != nil {
		return err
	}
	type outcome struct {
		ID       string `json:"query_id"`
		Model    string
		Correct  int
		Tokens   int `json:"output_tokens"`
		None     int `json:"no_answer"`
		Response string
	}
	type key struct{ id, model string }
	known := map[key]string{}
	if err := each(data, "outcomes/zeroeval_responses_13models.jsonl.gz", func(o outcome) error { known[key{o.ID, o.Model}] = o.Response; return nil }); err != nil {
		return err
	}
	files := map[string][]map[string]any{}
	if err := each(data, "outcomes/zeroeval_outcomes_all.jsonl.gz", func(o outcome) error {
		q := of[o.ID]
		response, ok := known[key{o.ID, o.Model}]
		if !ok {
			switch {
			case o.Correct == 1:
				response = `"answer": "` + q.Gold + `"`
			case o.None == 0:
				response = `"answer": "?"`
			}
			response = strings.Repeat(" a", o.Tokens-len(tokens.Encode(response))) + response
		}
		benchmark, number, _ := strings.Cut(o.ID, "-")
		entry := map[string]any{"output": []string{response}, "generator": "maker/" + o.Model}
		path := "result_dirs/math-l5/" + o.Model + ".json"
		if benchmark == "gsm8k" {
			path = "result_dirs/gsm/" + o.Model + ".json"
			entry["id"], entry["question"], entry["answer"] = "gsm8k-main-test-#"+number, q.Problem, "# "+q.Gold
		} else {
			entry["id"], entry["problem"], entry["answer"] = json.Number(number), q.Problem, q.Gold
		}
		files[path] = append(files[path], entry)
		return nil
	}); err != nil {
		return err
	}
	for path, entries := range files {
		slices.Reverse(entries)
		text, err := json.Marshal(entries)
		if err := cmp.Or(err, put(path, text)); err != nil {
			return err
		}
	}
	return nil
}
