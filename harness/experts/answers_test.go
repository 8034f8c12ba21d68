package experts

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// loadAnswers reads a text as a file of answers.
func loadAnswers(t *testing.T, text string) (*Answers, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return LoadAnswers(t.Context(), dir, spec.File{Path: "a.jsonl", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}, "e")
}

func TestAnswersAreFoundByProblemAndRun(t *testing.T) {
	a, err := loadAnswers(t, `{"text":"p","response":"one","tokens_in":1,"tokens_out":2}
{"text":"p","run":1,"response":"two","reasoning":"hm","finish":"length","tokens_in":3,"tokens_out":4,"split":"test","other":0}
{"text_sha256":"148de9c5a7a44d19e56cd9ae1a554bf6","split":"strata","response":"three","tokens_in":5,"tokens_out":6,"expert":"e","problem":"an id"}
{"text":"p","run":2,"response":"of another","tokens_in":5,"tokens_out":6,"expert":"f"}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		split routing.Split
		run   int
		want  Completion
	}{
		{routing.Test, 0, Completion{Text: "one", Finish: routing.Stop, Usage: cost.Usage{In: 1, Out: 2}}},
		{routing.Train, 0, Completion{Text: "one", Finish: routing.Stop, Usage: cost.Usage{In: 1, Out: 2}}},
		{routing.Test, 1, Completion{Text: "two", Reasoning: "hm", Finish: routing.Length, Usage: cost.Usage{In: 3, Out: 4}}},
		{routing.Strata, 0, Completion{Text: "three", Finish: routing.Stop, Usage: cost.Usage{In: 5, Out: 6}}},
	} {
		got, err := a.Find("p", c.split, c.run)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
	var f *Failure
	if _, err := a.Find("p", routing.Test, 2); !errors.As(err, &f) {
		t.Errorf("an answer of another expert was read: %v", err)
	}
	if _, err := a.Find("p", routing.Strata, 1); !errors.As(err, &f) || f.Again || f.Class != Absent {
		t.Errorf("an answer that is not there: %v", err)
	}
}

func TestAFileOfAnswersWithAFaultIsRefusedByItsLine(t *testing.T) {
	for line, want := range map[string]string{
		`{"text":"p","response":"r","tokens_in":1}`:                         "want text or text_sha256, response, tokens_in and tokens_out",
		`{"text":"p","response":"r","tokens_in":1,"tokens_out":null}`:       "want text or text_sha256, response, tokens_in and tokens_out",
		`{"text":"p","response":"r","tokens_in":1,"tokens_out":10000001}`:   "10000001 out in run 0: want 0 to 10000000 tokens",
		`{"text":"p","response":"r","tokens_in":-1,"tokens_out":1}`:         "-1 tokens in",
		`{"text":"p","response":"r","tokens_in":1,"tokens_out":1,"run":-1}`: "in run -1",
		`{"text":"q","response":"r","tokens_in":1,"tokens_out":1}`:          "run 0 of a problem is there twice",
		`{"text":`: "a.jsonl:2: it ends within its JSON",
		`{"text_sha256":"abc","response":"r","tokens_in":1,"tokens_out":1}`: `text_sha256 "abc": want 32 hexadecimal digits`,
	} {
		_, err := loadAnswers(t, `{"text":"q","response":"r","tokens_in":1,"tokens_out":1}`+"\n"+line+"\n")
		if err == nil || !strings.Contains(err.Error(), "a.jsonl:2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
