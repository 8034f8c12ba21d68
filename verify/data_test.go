package verify

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rows calls f with each line of a data file, and skips the test if there is none: the project holds no such data.
func rows(t *testing.T, name string, f func(line []byte)) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "shared", "data", name))
	if err != nil {
		t.Skipf("no data: %v", err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		f(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestEveryGoldOfEveryBenchmarkEqualsItself(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "data", "benchmarks", "*.jsonl*"))
	if len(files) == 0 {
		t.Skip("no data")
	}
	for _, f := range files {
		unread, n := 0, 0
		rows(t, "benchmarks/"+filepath.Base(f), func(line []byte) {
			var r struct {
				ID, Answer string
				Options    []string
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			n++
			k := Key{Gold: []string{r.Answer}, Options: r.Options}
			v, w := k.Compare(r.Answer), k.Grade("So $\\boxed{"+r.Answer+"}$.")
			if v.Outcome != Equal || w.Outcome != Equal {
				t.Errorf("%s: %q against itself: bare %s (%s), boxed %s (%s, %q)", r.ID, r.Answer, v.Outcome, v.Reason, w.Outcome, w.Reason, w.Extracted)
			}
			if v.Rule == "same text" {
				unread++
				t.Logf("%s: read as text only: %q", r.ID, r.Answer)
			}
		})
		t.Logf("%s: %d golds, %d not read", filepath.Base(f), n, unread)
	}
}

func TestReleasedLabelsOfGSM8KResponses(t *testing.T) {
	n := 0
	rows(t, "verifier/openai_gsm8k_pairs.jsonl.gz", func(line []byte) {
		var r struct {
			ID, Gold, Prediction, Response string
			Label                          bool
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		n++
		if v := Grade(r.Gold, r.Response); (v.Outcome == Equal) != r.Label {
			t.Errorf("%s: gold %q, extracted %q: %s, label %v", r.ID, r.Gold, v.Extracted, v.Outcome, r.Label)
		}
	})
	t.Logf("%d pairs", n)
}

func TestQwenGraderOnMATH(t *testing.T) {
	n, differ := 0, 0
	rows(t, "verifier/qwen_math_cot_100.jsonl.gz", func(line []byte) {
		var r struct {
			ID, Gold, Prediction, Response, Problem string
			Label                                   bool
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		n++
		if v := (Key{Gold: []string{r.Gold}, Question: r.Problem}).Grade(r.Response); (v.Outcome == Equal) != r.Label {
			differ++
			t.Logf("%s: gold %q, extracted %q: %s (%s), label %v prediction %q", r.ID, r.Gold, v.Extracted, v.Outcome, v.Reason, r.Label, r.Prediction)
		}
	})
	t.Logf("%d pairs, %d differ", n, differ)
}

func TestZeroEvalPairs(t *testing.T) {
	n, differ := 0, 0
	count := map[Outcome]int{}
	rows(t, "verifier/zeroeval_answer_pairs.jsonl.gz", func(line []byte) {
		var r struct {
			ID, Gold, Prediction string
			MV                   bool `json:"math_verify"`
			Strict               bool `json:"strict_numeric"`
			First                bool `json:"zeroeval_first_number"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		n++
		v := Compare(r.Gold, r.Prediction)
		count[v.Outcome]++
		if e := v.Outcome == Equal; v.Outcome == Unknown || e != r.MV || e != r.Strict || e != r.First {
			differ++
			p := r.Prediction
			if len(p) > 150 {
				p = p[:70] + " … " + p[len(p)-70:]
			}
			t.Logf("ZE %s %s mv=%v st=%v fi=%v gold %q pred %q read %q (%s)", r.ID, v.Outcome, r.MV, r.Strict, r.First, r.Gold, p, v.Answer, v.Reason)
		}
	})
	t.Logf("%d pairs, %d differ, %v", n, differ, count)
}
