package paper

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Two tables that print one row, and two experts with a coin between them.
const coarse = `BenchmarkRoute/table=one/method=small/benchmark=a 100 50.0 accuracy-% 0.30 usd 10 questions
BenchmarkRoute/table=one/method=big/benchmark=a 100 80.0 accuracy-% 4.00 usd 10 questions
BenchmarkRoute/table=one/method=coin/benchmark=a 100 65.0 accuracy-% 2.15 usd 10 questions
BenchmarkRoute/table=one/method=ours/benchmark=a 100 70.0 accuracy-% 0.516 usd 10 questions
`

const fine = `BenchmarkRoute/table=two/method=ours/alpha=1/benchmark=a 100 70.0 accuracy-% 0.5155 usd 10 questions
`

// 0.30 dollars are 3,000 tokens per question at 10 dollars per million, 4.00 are 5,000 at 80.
const acrossTables = `repeated:
  - rows: [one:ours, two:ours/alpha=1]
costs:
  - {table: one, experts: {small: {price: 10, limit: 6000}, big: {price: 80, limit: 6000}}, apart: 2, random: coin, between: [ours, two:ours/alpha=1]}
totals:
  - table: one
    rows: {small: [50, 0.3], big: [80, 4], coin: [65, 2.15], ours: [70, 0.516]}
    columns: {a: [265, 6.966]}
`

// acrossOf checks the two tables with some text of them or of the list replaced.
func acrossOf(t *testing.T, old, with string) (text string, err error) {
	t.Helper()
	replaced := 0
	replace := func(text string) string {
		if old != "" && strings.Contains(text, old) {
			replaced++
			return strings.Replace(text, old, with, 1)
		}
		return text
	}
	tables, err := ReadTables(fstest.MapFS{"one.txt": {Data: []byte(replace(coarse))}, "two.txt": {Data: []byte(replace(fine))}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadList("c.yaml", []byte(replace(acrossTables)))
	if err != nil {
		t.Fatal(err)
	}
	if old != "" && replaced != 1 {
		t.Fatalf("%q is in %d of the texts, want 1", old, replaced)
	}
	found, err := l.Check("c.yaml", tables, nil, nil)
	for _, f := range found {
		if f.Differs != "" && f.ID != "granularity of one" {
			text += f.At() + ": " + f.ID + ": " + f.Differs + "\n"
		}
	}
	return text, err
}

func TestChecksAcrossTablesByHand(t *testing.T) {
	for _, c := range []struct{ name, old, with, want string }{
		{"as it is", "", "", ""},
		{"a digit more rounds to the digits there are, upwards", "0.5155 usd", "0.5166 usd", "two.txt: ours/alpha=1 a usd is 0.5166, one.txt has 0.516"},
		{"and downwards", "0.5155 usd", "0.5154 usd", "two.txt: ours/alpha=1 a usd is 0.5154, one.txt has 0.516"},
		{"an accuracy", "alpha=1/benchmark=a 100 70.0", "alpha=1/benchmark=a 100 70.1", "c.yaml:2: repeated row one:ours: mismatch that is not recorded: two.txt: ours/alpha=1 a accuracy-% is 70.1, one.txt has 70.0"},
		{"a size", "0.5155 usd 10 q", "0.5155 usd 11 q", "two.txt: ours/alpha=1 a questions is 11, one.txt has 10"},
		{"an answer longer than its limit", "0.30 usd", "0.61 usd", "one.txt: small a usd is 0.61: 6100 tokens per question at 10 dollars per million, and an answer has at most 6000"},
		{"lengths too far apart", "0.30 usd", "0.24 usd", "one.txt: small a usd is 0.24: 2400 tokens per question, and one.txt: big a usd has 5000, more than 2 times apart"},
		{"an expert for nothing", "0.30 usd", "0.00 usd", "one.txt: small a usd is 0.00: an expert's answers cost something"},
		// A draw costs 0.3 or 4, 2.15 on average with a deviation of 1.85; twice the error of 100 draws of spread lengths is
		// 2 * 1.85 * sqrt(2) / 10 = 0.523, with rounding 0.533.
		{"a coin within its error", "2.15 usd", "2.67 usd", "transcription of one: "},
		{"a coin outside", "2.15 usd", "2.69 usd", "one.txt: coin a usd is 2.69: a uniform choice among the experts costs 2.15, give or take 0.53 in 100 draws"},
		{"a router that spends less than the cheapest expert", "0.516 usd", "0.290 usd", "one.txt: ours a usd is 0.290: who asks one expert each time spends between 0.295 and 4.005"},
		{"a cell against the control totals", "65.0 acc", "56.0 acc", "c.yaml:6: transcription of one: mismatch that is not recorded: one.txt: coin a accuracy-% is 56.0, the control totals of its row and column want 65.0\n"},
		{"a row that the control totals do not know", ", coin: [65, 2.15]", "", "one.txt: the accuracies of row coin add up to 65, the control total is 0"},
		{"a row that the table does not have", "coin: [65, 2.15]", "coin: [65, 2.15], gone: [1, 1]", "one.txt: the costs of row gone add up to 0, the control total is 1"},
		{"a control total that is wrong itself", "6.966", "6.967", "one.txt: the costs of column a add up to 6.966, the control total is 6.967"},
		{"what is recorded", "two:ours/alpha=1]\ncosts", "two:ours/alpha=1]\n    mismatch: [two:ours/alpha=1 a usd]\ncosts", "repeated row one:ours: holds now, recorded as mismatch: two:ours/alpha=1 a usd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := acrossOf(t, c.old, c.with)
			if err != nil || !strings.Contains(text, c.want) || c.want == "" && text != "" {
				t.Errorf("%q, %v; want %q", text, err, c.want)
			}
			if strings.HasPrefix(c.want, "transcription") && strings.Contains(text, "costs of") {
				t.Errorf("%q; want nothing of costs", text)
			}
		})
	}
}

func TestFaultsOfChecksAcrossTablesNameTheLine(t *testing.T) {
	for _, c := range []struct{ name, old, with, want string }{
		{"one row", "[one:ours, two:ours/alpha=1]", "[one:ours]", "c.yaml:2: repeated: rows has 1 entries"},
		{"an unknown row", "[one:ours, two", "[one:their, two", `c.yaml:2: repeated: table one has no row "their"`},
		{"no table", "[one:ours, two", "[ours, two", `c.yaml:2: repeated: unknown table ""`},
		{"one expert", ", big: {price: 80, limit: 6000}", "", "c.yaml:4: costs: experts has 1 entries"},
		{"no price", "price: 80, ", "", "c.yaml:4: costs: expert big: price is 0 and limit 6000; both must be above 0"},
		{"apart", "apart: 2", "apart: 0.5", "c.yaml:4: costs: apart is 0.5"},
		{"an unknown coin", "random: coin", "random: die", `c.yaml:4: costs: table one has no row "die"`},
		{"an unknown router", "between: [ours", "between: [theirs", `c.yaml:4: costs: table one has no row "theirs"`},
		{"totals of no table", "  - table: one\n", "  - table: three\n", `c.yaml:6: totals: unknown table "three"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := acrossOf(t, c.old, c.with); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A number that is right in another unit is no mismatch, and one that is wrong in both is.
func TestASlipOfUnitHasAVerdictOfItsOwn(t *testing.T) {
	for _, c := range []struct{ printed, want string }{
		{"40.0", WrongUnit}, {"44.4", Holds}, {"41.0", Mismatch}, // 90 - 50 points, 100*40/90 percent
	} {
		l := list1(t, "claims:\n  - {id: x, source: s, says: y, verdict: "+c.want+", reason: r, printed: \""+c.printed+
			"\", formula: \"100 * (accuracy(toy, dear, a) - accuracy(toy, cheap, a)) / accuracy(toy, dear, a)\", slip: \"accuracy(toy, dear, a) - accuracy(toy, cheap, a)\"}\n")
		if f := checked(t, l, toyTables(t)); f.Verdict != c.want || f.Differs != "" {
			t.Errorf("%s: %s, %s, want %s", c.printed, f.Verdict, f.Differs, c.want)
		}
	}
	if _, err := ReadList("c.yaml", []byte("claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: \"1\", slip: \"2\"}\n")); err == nil || !strings.Contains(err.Error(), "c.yaml:2: x: slip is what a printed number") {
		t.Errorf("%v", err)
	}
}
