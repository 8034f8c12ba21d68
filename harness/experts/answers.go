// Answers that a model gave elsewhere, for an expert that is not asked any more.

package experts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Answers are what a model answered elsewhere, read from a file of one JSON object per line, plain or (with a name ending in .gz)
// compressed:
//
//	{"text": "What is 6 times 7?", "run": 0, "response": "... \\boxed{42}", "reasoning": "...", "finish": "stop", "tokens_in": 65, "tokens_out": 228}
//
// text is that of the problem, as the benchmark has it; text_sha256 may stand for it, the first 32 hexadecimal digits. run counts the
// answers to one problem, from 0; tokens are at most ten million. reasoning is thinking that was sent apart; it may be left out,
// and so may run (0) and finish (stop; length: cut by the limit). A line with an expert of another id is not read, and other keys are
// not either, so the files of 'entrorouter export --answers' will do. A pair of problem and run occurs once.
//
// A line serves a training or a test problem. A profile of test problems must not be made of the answers that are scored, so its
// lines say so, and count their runs apart: "split": "strata".
type Answers struct{ of map[askedBefore]Completion }

type askedBefore struct {
	text   [16]byte // of the SHA-256 of the problem's text
	strata bool
	run    int
}

// LoadAnswers reads the answers of an expert from a file below a data folder and checks its checksum.
func LoadAnswers(ctx context.Context, folder string, file spec.File, expert string) (*Answers, error) {
	a := &Answers{map[askedBefore]Completion{}}
	_, err := lines.Read(ctx, folder, file, func(line []byte) error {
		var l struct {
			Text      *string `json:"text"`
			Hash      string  `json:"text_sha256"`
			Expert    string  `json:"expert"`
			Run       int     `json:"run"`
			Split     string  `json:"split"`
			Response  *string `json:"response"`
			Reasoning string  `json:"reasoning"`
			Finish    string  `json:"finish"`
			In        *int64  `json:"tokens_in"`
			Out       *int64  `json:"tokens_out"`
		}
		switch err := json.Unmarshal(line, &l); {
		case err != nil:
			return lines.Worded(err)
		case l.Expert != "" && l.Expert != expert:
			return nil
		case (l.Text == nil) == (l.Hash == "") || l.Response == nil || l.In == nil || l.Out == nil:
			return errors.New("want text or text_sha256, response, tokens_in and tokens_out")
		case *l.In < 0 || *l.In > cost.MaxTokens || *l.Out < 0 || *l.Out > cost.MaxTokens || l.Run < 0:
			return fmt.Errorf("%d tokens in and %d out in run %d: want 0 to %d tokens, and runs from 0", *l.In, *l.Out, l.Run, int64(cost.MaxTokens))
		case l.Finish == "":
			l.Finish = string(routing.Stop)
		}
		k := askedBefore{strata: l.Split == string(routing.Strata), run: l.Run}
		if l.Text != nil {
			k.text = keyOf(*l.Text)
		} else if n, err := hex.Decode(k.text[:], []byte(l.Hash)); err != nil || n != len(k.text) || len(l.Hash) != 2*n {
			return fmt.Errorf("text_sha256 %.80q: want 32 hexadecimal digits", l.Hash)
		}
		if _, twice := a.of[k]; twice {
			return fmt.Errorf("run %d of a problem is there twice", l.Run)
		}
		a.of[k] = Completion{Text: *l.Response, Reasoning: l.Reasoning, Finish: routing.Finish(l.Finish), Usage: cost.Usage{In: *l.In, Out: *l.Out}}
		return nil
	})
	return a, err
}

func keyOf(text string) [16]byte {
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:])
}

// Find returns the answer to a problem of a split in one run. Without one the error is a Failure, which asking again does not mend.
func (a *Answers) Find(problem string, split routing.Split, run int) (Completion, error) {
	if c, ok := a.of[askedBefore{keyOf(problem), split == routing.Strata, run}]; ok {
		return c, nil
	}
	return Completion{}, &Failure{Class: Absent, Err: fmt.Errorf("the file of answers has none in run %d of split %s to problem %.60q", run, split, problem)}
}
