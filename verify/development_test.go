package verify

// The development rows: worked solutions without a box, notation, and wrong answers that are written to be accepted. They
// are not part of the project; make verify-dev runs this test on them, beside the verdicts of another grader if there are
// any.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// developmentRows are the rows of one file.
type developmentRow struct {
	ID, Gold, Response, Expect, Contested, Question string
	Options                                         []string
}

// tallyOf counts verdicts on rows that are equal and on rows that are different by what was found: equal, different,
// unknown.
type tallyOf struct{ equal, different [3]int }

func (c *tallyOf) add(expect string, o Outcome) {
	if expect == OutcomeEqual.String() {
		c.equal[o]++
	} else {
		c.different[o]++
	}
}

func (c *tallyOf) String() string {
	part := func(name string, n [3]int) string {
		all := n[0] + n[1] + n[2]
		if all == 0 {
			return ""
		}
		return fmt.Sprintf("  of %d %s: %d equal, %d different, %d unknown", all, name, n[OutcomeEqual], n[OutcomeDifferent], n[OutcomeUnknown])
	}
	return part("equal", c.equal) + part("different", c.different)
}

// share returns n of all in per cent.
func share(n, all int) float64 { return 100 * float64(n) / float64(max(all, 1)) }

// TestDevelopmentRows prints what becomes of the rows, and fails where less becomes of them than is promised: solutions are
// accepted two points more often than by the other grader, at most one in a hundred wrong answers that were written to be
// accepted is, no other wrong answer is, 95 of 100 rows of notation are decided as they say, and two in a hundred rows are
// unknown. VERIFY_DEV is their folder, VERIFY_OTHER a folder with another
// grader's verdicts as lines {"id", "verdict"} in files of the same names without .gz; VERIFY_MISSES=1 lists the rows that
// are not graded as they say.
func TestDevelopmentRows(t *testing.T) {
	folder := os.Getenv("VERIFY_DEV")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "data", "verifier")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "dev_*.jsonl.gz"))
	if len(files) == 0 {
		t.Skipf("no development rows in %s; name their folder with VERIFY_DEV", folder)
	}
	var all, unknown int
	for _, file := range files {
		other := otherVerdicts(t, filepath.Join(os.Getenv("VERIFY_OTHER"), strings.TrimSuffix(filepath.Base(file), ".gz")))
		var ours, theirs tallyOf
		lines(t, file, func(line []byte) {
			var r developmentRow
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if r.Contested != "" {
				return
			}
			v := Key{Gold: []string{r.Gold}, Options: r.Options, Question: r.Question}.Grade(r.Response)
			ours.add(r.Expect, v.Outcome)
			if o, ok := other[r.ID]; ok {
				theirs.add(r.Expect, o)
			}
			if v.Outcome.String() != r.Expect && os.Getenv("VERIFY_MISSES") != "" {
				t.Logf("%s: %s (%s, %s), want %s; gold %q, extracted %q of %q", r.ID, v.Outcome, v.Reason, v.Rule, r.Expect, r.Gold, v.Extracted, r.Response[max(0, len(r.Response)-200):])
			}
		})
		t.Logf("%-26s us         %s", filepath.Base(file), &ours)
		if other != nil {
			t.Logf("%-26s other      %s", "", &theirs)
		}
		equal, different := ours.equal[0]+ours.equal[1]+ours.equal[2], ours.different[0]+ours.different[1]+ours.different[2]
		all, unknown = all+equal+different, unknown+ours.equal[OutcomeUnknown]+ours.different[OutcomeUnknown]
		accepted, promised := share(ours.equal[OutcomeEqual], equal), share(theirs.equal[OutcomeEqual], equal)+2
		switch right := ours.equal[OutcomeEqual] + ours.different[OutcomeDifferent]; {
		case different == 0 && other != nil && accepted < promised:
			t.Errorf("%s: %.1f %% are accepted, less than two points more than by the other grader", filepath.Base(file), accepted)
		case different > equal && equal < 10 && share(ours.different[OutcomeEqual], different) > 1:
			t.Errorf("%s: %.1f %% of wrong answers are accepted", filepath.Base(file), share(ours.different[OutcomeEqual], different))
		case equal >= 10 && (ours.different[OutcomeEqual] > 0 || different > 0 && share(right, equal+different) < 95):
			t.Errorf("%s: %d wrong answers are accepted, %.1f %% of rows are decided as they say", filepath.Base(file), ours.different[OutcomeEqual], share(right, equal+different))
		}
	}
	if share(unknown, all) > 2 {
		t.Errorf("%d of %d rows are unknown", unknown, all)
	}
}

// otherVerdicts reads the verdicts of another grader; nil if there are none.
func otherVerdicts(t *testing.T, file string) map[string]Outcome {
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	verdicts := map[string]Outcome{}
	lines(t, file, func(line []byte) {
		var r struct {
			ID      string
			Verdict Outcome
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		verdicts[r.ID] = r.Verdict
	})
	return verdicts
}
