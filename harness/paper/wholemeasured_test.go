package paper

import (
	"strings"
	"testing"
)

// Two benchmarks of 4 questions and 2, one run, two training seeds: a quarter of the answers to one are half right on
// average.
var graded = []string{
	"e/arena=paper/method=ours/benchmark=a 4 62.500 accuracy-% 4.00 usd 4 questions 2.50 correct 1.00 wrong 0.00 no-answer 0.50 truncated 0.00 ungraded",
	"e/arena=paper/method=ours/benchmark=b 2 100.000 accuracy-% 1.00 usd 2 questions 2.00 correct 0.00 wrong 0.00 no-answer 0.00 truncated 0.00 ungraded",
	"e/arena=paper/method=ours/benchmark=avg 6 75.000 accuracy-% 0.833 usd/query 6 questions 4.50 correct 1.00 wrong 0.00 no-answer 0.50 truncated 0.00 ungraded",
	"e/arena=paper/method=ours/benchmark=avg/seed=1 6 66.667 accuracy-%",
	"e/arena=paper/method=ours/benchmark=avg/seed=2 6 83.333 accuracy-%",
	"e/arena=large/method=ours/benchmark=a 100 60.000 accuracy-% 8.00 usd 100 questions",
	"e/arena=large/method=ours/benchmark=b 100 90.000 accuracy-% 1.00 usd 100 questions",
	"e/arena=large/method=ours/benchmark=avg 200 70.000 accuracy-% 1.500 usd/query 200 questions", // 4 and 2 questions
	"e/arena=large/method=ours/benchmark=avg/seed=1 200 70.000 accuracy-%",
	"e/arena=large/method=ours/benchmark=avg/seed=2 200 70.000 accuracy-%",
}

func TestOurTablesFitTheirCountsAndAverages(t *testing.T) {
	for _, c := range []struct {
		name, old, planted, want string
	}{
		{"as measured", "", "", ""},
		{"a percentage that is not that of its counts", "4 62.500 accuracy", "4 62.600 accuracy", "arena=paper/method=ours/benchmark=a: printed 62.600%, 2.5 right of 4 are 62.5%"},
		{"counts that do not add up", "1.00 wrong 0.00 no-answer 0.50 truncated", "1.00 wrong 0.00 no-answer 0.70 truncated", "benchmark=a: the counts add up to 4.2 of 4"},
		{"a bucket that is gone", " 0.00 no-answer 0.50 truncated", " 0.50 truncated", "benchmark=a: the counts add up to 4 of 4"},
		{"an average", "6 75.000 accuracy", "6 75.100 accuracy", "benchmark=avg: printed 75.100 accuracy-%, the benchmarks give 75"},
		{"a cost on average", "0.833 usd/query", "0.853 usd/query", "benchmark=avg: printed 0.853 usd/query, the benchmarks give 0.833333"},
		{"an average of the larger set has the weights of the paper's sizes", "200 70.000 accuracy-% 1.500", "200 75.000 accuracy-% 1.500", "arena=large/method=ours/benchmark=avg: printed 75.000 accuracy-%, the benchmarks give 70"},
		{"weighted by other sizes", "200 70.000 accuracy-% 1.500", "200 75.000 accuracy-% 1.600", "not checkable"},
		{"within what rounding of the counts hides, and no whole number of answers", "4 62.500 accuracy", "4 62.510 accuracy", "benchmark=a: printed 62.510%, 2.5 right of 4 are 62.5%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Join(graded, "\n")
			if c.old != "" && strings.Count(text, c.old) == 0 {
				t.Fatalf("%q is not there", c.old)
			}
			found := measured(t, strings.Split(strings.Replace(text, c.old, c.planted, 1), "\n")...).CheckTables()
			if len(found) != 1+strings.Count(c.want, NotCheckable) || found[0].ID != "e" || found[0].File != "m.txt" || !found[0].Measured {
				t.Fatalf("%+v", found)
			}
			f := found[0]
			if c.want == NotCheckable {
				if large := found[1]; f.Verdict != Holds || f.Recomputed != "4 of 4" || large.Verdict != NotCheckable || large.ID != "e, larger set" || large.Recomputed != "0 of 2" {
					t.Errorf("%+v", found)
				}
				return
			}
			if c.want == "" {
				if f.Verdict != Holds || f.Differs != "" || f.Recomputed != "6 of 6" {
					t.Errorf("%+v", f)
				}
				return
			}
			if f.Verdict != Mismatch || !strings.Contains(f.Differs, c.want) || !strings.Contains(f.Reason, c.want) {
				t.Errorf("%+v, want %q", f, c.want)
			}
		})
	}
}

// Half a right answer of one training is none that was graded: nothing is asked of it but that its counts add up.
func TestRowsOfExpectationsAreNotTriedAsWholeNumbers(t *testing.T) {
	line := "e/arena=paper/method=coin/benchmark=a 4 62.500 accuracy-% 4 questions 2.50 correct 1.50 wrong 0.00 no-answer 0.00 truncated 0.00 ungraded"
	f := measured(t, line).CheckTables()[0]
	if f.Verdict != Holds || !strings.Contains(f.Reason, "; 1 rows by expectation") {
		t.Errorf("%+v", f)
	}
	f = measured(t, strings.Replace(line, "62.500", "62.300", 1)).CheckTables()[0]
	if f.Verdict != Mismatch {
		t.Errorf("%+v", f)
	}
}

func TestFoldsHaveAveragesAlone(t *testing.T) {
	lines := []string{
		"r/pool=p/method=ours/benchmark=x 30 50.000 accuracy-% 20.000 cost-share-% 30 questions",
		"r/pool=p/method=ours/benchmark=y 10 90.000 accuracy-% 80.000 cost-share-% 10 questions",
		"r/pool=p/method=ours/benchmark=all 40 60.000 accuracy-% 30.000 cost-share-% 40 questions",
	}
	if f := measured(t, lines...).CheckTables()[0]; f.Verdict != Holds || f.Recomputed != "1 of 1" || !strings.Contains(f.Reason, "; 1 without counts") {
		t.Errorf("%+v", f)
	}
	lines[1] = strings.Replace(lines[1], "90.000", "91.000", 1)
	if f := measured(t, lines...).CheckTables()[0]; f.Verdict != Mismatch || !strings.Contains(f.Differs, "printed 60.000 accuracy-%, the benchmarks give 60.25") {
		t.Errorf("%+v", f)
	}
	if f := measured(t, "c/method=ours/benchmark=avg 1 3 accuracy-%", "c/assimilation=0/step=1 5 90 call-rate-%").CheckTables(); len(f) != 0 {
		t.Errorf("nothing to try: %+v", f)
	}
}

// Nothing times any weight is nothing: a row that costs nothing does not say what the larger set was weighted by.
func TestRowsThatCostNothingSayNothingAboutWeights(t *testing.T) {
	lines := append(strings.Split(strings.Replace(strings.Join(graded, "\n"), "200 70.000 accuracy-% 1.500", "200 75.000 accuracy-% 1.600", 1), "\n"),
		"e/arena=paper/method=free/benchmark=a 4 60.000 accuracy-% 0.00 usd 4 questions",
		"e/arena=paper/method=free/benchmark=b 2 90.000 accuracy-% 0.00 usd 2 questions",
		"e/arena=large/method=free/benchmark=a 100 60.000 accuracy-% 0.00 usd 100 questions",
		"e/arena=large/method=free/benchmark=b 100 90.000 accuracy-% 0.00 usd 100 questions",
		"e/arena=large/method=free/benchmark=avg 200 75.000 accuracy-% 0.000 usd/query 200 questions")
	found := measured(t, lines...).CheckTables()
	if len(found) != 2 || found[0].Verdict != Holds || found[1].Verdict != NotCheckable {
		t.Errorf("%+v", found)
	}
	// But it costs nothing on average.
	found = measured(t, append(lines, "e/arena=paper/method=free/benchmark=avg 6 70.000 accuracy-% 0.500 usd/query 6 questions")...).CheckTables()
	if len(found) != 2 || found[0].Verdict != Mismatch || !strings.Contains(found[0].Differs, "method=free/benchmark=avg: printed 0.500 usd/query, the benchmarks give 0") {
		t.Errorf("%+v", found)
	}
}

// A uniform choice of three experts has thirds of answers, whole numbers of them in three seeds, and its thirds are stored
// as 0.333333.
func TestThirdsAreNotMoreExactThanTheyAreStored(t *testing.T) {
	lines := []string{"e/arena=paper/method=coin/benchmark=a 664 95.883 accuracy-% 83 questions 636.67 correct 27.33 wrong 0.00 no-answer 0.00 truncated 0.00 ungraded"}
	for _, seed := range []string{"1", "2", "3"} {
		lines = append(lines, "e/arena=paper/method=coin/benchmark=avg/seed="+seed+" 664 95.883 accuracy-%")
	}
	if f := measured(t, lines...).CheckTables()[0]; f.Verdict != Holds {
		t.Errorf("%+v", f)
	}
	lines[0] = strings.Replace(lines[0], "95.883", "95.882", 1)
	if f := measured(t, lines...).CheckTables()[0]; f.Verdict != Mismatch {
		t.Errorf("%+v", f)
	}
}
