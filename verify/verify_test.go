package verify

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// testCase is one line of testdata/cases.txt.
type testCase struct {
	line                            int
	key                             Key
	response, want, reason, comment string
	whole                           bool // a response, though nothing shows it
}

func loadCases(t testing.TB) []testCase { return loadCasesFrom(t, "testdata/cases.txt") }

func loadCasesFrom(t testing.TB, path string) []testCase {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []testCase
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "# ") || line == "#" {
			continue
		}
		fields := strings.Split(line, "::")
		if len(fields) != 5 {
			t.Fatalf("cases.txt:%d: %d fields, want 5", n, len(fields))
		}
		for i := range fields {
			fields[i] = strings.ReplaceAll(strings.TrimSpace(fields[i]), "⏎", "\n")
			if fields[i] == "<empty>" {
				fields[i] = ""
			}
		}
		c := testCase{line: n, response: fields[1], comment: fields[4]}
		c.response, c.whole = strings.CutPrefix(c.response, "> ")
		c.want, c.reason, _ = strings.Cut(fields[2], "=")
		c.key.Gold = strings.Split(fields[0], "||")
		for i := range c.key.Gold {
			c.key.Gold[i] = strings.TrimSpace(c.key.Gold[i])
		}
		var policies []string
		for p := range strings.SplitSeq(fields[3], ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
			number, _ := strconv.ParseFloat(value, 64)
			switch name {
			case "":
			case "abs":
				c.key.Tolerance = append(c.key.Tolerance, Tolerance{Abs: number})
			case "rel":
				c.key.Tolerance = append(c.key.Tolerance, Tolerance{Rel: number})
			case "options":
				c.key.Options = strings.Split(value, "|")
			case "question":
				c.key.Question = value
			default:
				policies = append(policies, name)
			}
		}
		var err error
		if c.key.Policy, err = ParsePolicy(strings.Join(policies, ",")); err != nil {
			t.Fatalf("cases.txt:%d: %v", n, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// bare reports whether a response is an answer without anything around it.
func bare(c testCase) bool {
	return len(c.key.Options) == 0 && !c.whole && !strings.Contains(c.response, "boxed") && !strings.Contains(c.response, "think>") && !strings.Contains(c.response, ". ") && !strings.Contains(c.response, "nswer") && !strings.Contains(c.response, "##") && !strings.Contains(c.response, "答") && !strings.HasSuffix(c.response, ".") && !strings.Contains(c.response, "\n")
}

func TestCasesFileIsGradedAsItSays(t *testing.T) {
	for _, c := range loadCases(t) {
		check := func(how string, v Verdict) {
			t.Helper()
			if v.Outcome.String() != c.want || c.reason != "" && v.Reason != c.reason {
				t.Errorf("cases.txt:%d (%s, %s): gold %q, response %q: %s (%s, %s), want %s %s; read as %s and %s", c.line, how, c.comment, c.key.Gold, c.response, v.Outcome, v.Reason, v.Rule, c.want, c.reason, v.Gold, v.Answer)
			}
		}
		if bare(c) {
			check("bare", c.key.Equal(c.response))
			check("boxed", c.key.Grade(`Hence $\boxed{`+c.response+`}$.`))
			continue
		}
		check("response", c.key.Grade(c.response))
	}
}
