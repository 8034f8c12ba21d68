// The evaluations of ZeroEval: a file of JSON a benchmark and model, each question with what the model answered. Whether that is right, and
// how many tokens it has, they do not say.

package publisher

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

var (
	zeroEvalFile = regexp.MustCompile(`(?:^|/)result_dirs/(gsm|math-l5)/([^/]+)\.json$`)
	mergesFile   = regexp.MustCompile(`(?:^|/)merges\.txt$`)
)

// zeroEvalAnswer is what a file has of one question.
type zeroEvalAnswer struct {
	ID       json.RawMessage `json:"id"`       // of GSM8K a text that ends with the number, of MATH the number
	Question string          `json:"question"` // of GSM8K
	Problem  string          `json:"problem"`  // of MATH
	Answer   string          `json:"answer"`   // of GSM8K behind a #
	Output   []string        `json:"output"`
}

var lastNumber = regexp.MustCompile(`(\d+)"?$`)

// ZeroEval makes zeroeval_queries and zeroeval_outcomes_all: the questions of GSM8K and then those of level 5 of MATH by number, and of each
// what the models answered, by their names. An answer is right if the number that it states is that of the question (see numberIn), and has as
// many tokens as merges.txt makes of its text, which is that of Qwen2. no_answer is 1 where there is none in the text (see stated).
func ZeroEval(files iter.Seq2[File, error]) (map[string][]byte, error) {
	type answer struct {
		benchmark, model string
		number           int
		problem, gold    string
		text             string
	}
	var all []answer
	var merges [][2]string
	for f, err := range matching(files, zeroEvalFile, mergesFile) {
		if err != nil {
			return nil, err
		}
		if f.of == mergesFile {
			if merges, err = tokenizer.ReadMerges(f.raw); err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
			continue
		}
		var entries []zeroEvalAnswer
		if err := json.Unmarshal(f.raw, &entries); err != nil {
			return nil, fmt.Errorf("%s: %s", f.path, strings.TrimPrefix(err.Error(), "json: "))
		}
		for i, e := range entries {
			a := answer{benchmark: map[string]string{"gsm": "gsm8k", "math-l5": "math_l5"}[f.groups[1]], model: f.groups[2], problem: cmp.Or(e.Question, e.Problem)}
			a.gold = strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(e.Answer, "#")), ",", "")
			digits := lastNumber.FindSubmatch(e.ID)
			if digits == nil || a.problem == "" || a.gold == "" || len(e.Output) == 0 {
				return nil, fmt.Errorf("%s: entry %d lacks one of id with a number, question or problem, answer, output", f.path, i+1)
			}
			if a.number, err = strconv.Atoi(string(digits[1])); err != nil {
				return nil, fmt.Errorf("%s: entry %d: %w", f.path, i+1, err)
			}
			a.text = e.Output[0]
			all = append(all, a)
		}
	}
	switch {
	case len(all) == 0:
		return nil, ErrNoFiles
	case merges == nil:
		return nil, errors.New("merges.txt is not among the files: tokens cannot be counted")
	}
	tokens, err := tokenizer.New(tokenizer.Merged(tokenizer.Qwen2, merges))
	if err != nil {
		return nil, fmt.Errorf("merges.txt: %w", err)
	}
	slices.SortStableFunc(all, func(a, b answer) int {
		return cmp.Or(strings.Compare(a.benchmark, b.benchmark), cmp.Compare(a.number, b.number), strings.Compare(a.model, b.model))
	})
	queries, outcomes := &writer{comma: ",", colon: ":"}, &writer{comma: ",", colon: ":"}
	var last answer
	var gold *big.Rat
	for i, a := range all {
		id := fmt.Sprintf("%s-%d", a.benchmark, a.number)
		switch {
		case i == 0 || a.benchmark != last.benchmark || a.number != last.number:
			if gold = numberIn(a.gold); gold == nil {
				return nil, fmt.Errorf("%s: the right answer %q is no number", id, a.gold)
			}
			queries.line(pair{"query_id", id}, pair{"benchmark", a.benchmark}, pair{"problem", a.problem}, pair{"gold", a.gold}, pair{"prompt_tokens", len(tokens.EncodeData(a.problem))})
		case a.problem != last.problem || a.gold != last.gold:
			return nil, fmt.Errorf("%s: %s was asked another question than %s", id, a.model, last.model)
		case a.model == last.model:
			return nil, fmt.Errorf("%s: %s answered it twice", id, a.model)
		}
		last = a
		right, none := 0, 0
		if text, ok := stated(a.text); !ok {
			none = 1
		} else if n := numberIn(text); n != nil && near(n, gold) {
			right = 1
		}
		outcomes.line(pair{"query_id", id}, pair{"model", a.model}, pair{"correct", right}, pair{"output_tokens", len(tokens.EncodeData(a.text))}, pair{"no_answer", none})
	}
	return map[string][]byte{"zeroeval_queries": queries.Bytes(), "zeroeval_outcomes_all": outcomes.Bytes()}, nil
}
