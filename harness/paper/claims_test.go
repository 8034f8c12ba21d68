package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/results"
)

func list1(t *testing.T, text string) *List {
	t.Helper()
	l, err := ReadList("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// checked is the finding on the one entry of a list: those on whole tables that it says nothing of have no line.
func checked(t *testing.T, l *List, tables *Tables) Finding {
	t.Helper()
	found, err := l.Check("c.yaml", tables, nil, nil)
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Line == 0 })
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

func TestEveryTableIsTriedWhateverTheListSays(t *testing.T) {
	found, err := (&List{}).Check("folder", toyTables(t), nil, nil)
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if f := found[0]; f.ID != "averages of toy" || f.Verdict != Holds || f.At() != "folder" {
		t.Errorf("%+v", f)
	}
	if f := found[1]; f.ID != "granularity of toy" || f.Verdict != Mismatch || !strings.HasPrefix(f.Differs, "toy.txt: mismatch that is not recorded: cheap on a: 50.0% of 3; ") {
		t.Errorf("%+v", f)
	}
	bare, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte("BenchmarkRoute/table=t/method=x/benchmark=p 4 25.0 accuracy-%\n")}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := (&List{}).Check("folder", bare, nil, nil); err != nil || len(found) != 1 || found[0].Verdict != Holds {
		t.Errorf("a table without averages: %+v, %v", found, err)
	}
}

// mean(toy, cheap) is 55, and its cells can move it by 0.05.
func TestVerdictsOnClaims(t *testing.T) {
	for _, c := range []struct {
		name, rest, want string
	}{
		{"the number itself", `printed: "55.0", formula: "mean(toy, cheap)"`, Holds},
		{"off by all that rounding of the number and of the cells can do", `printed: "55.1", formula: "mean(toy, cheap)"`, Holds},
		{"and not more", `printed: "55.11", formula: "mean(toy, cheap)"`, Mismatch},
		{"below as above", `printed: "54.9", formula: "mean(toy, cheap)"`, Holds},
		{"below, too far", `printed: "54.89", formula: "mean(toy, cheap)"`, Mismatch},
		{"whole numbers are rounded to one", `printed: "55", formula: "mean(toy, cheap) + 0.54"`, Holds},
		{"a rounded number, not a cut one", `printed: "48.2", formula: "48.2544 + 0 * mean(toy, cheap)"`, Mismatch},
		{"digits of a power of ten", `printed: "1.7e-5", formula: "0.00001749"`, Holds},
		{"digits of a power of ten, too far", `printed: "1.7e-5", formula: "0.0000176"`, Mismatch},
		{"noise that the claim is allowed", `printed: "57.0", allow: 1.9, formula: "mean(toy, cheap)"`, Holds},
		{"more than that noise", `printed: "57.0", allow: 1.89, formula: "mean(toy, cheap)"`, Mismatch},
		{"no formula", `printed: "57.0"`, NotCheckable},
		{"no printed number", `formula: "mean(toy, cheap)"`, NotCheckable},
		{"a comparison that is true", `formula: "mean(toy, cheap) < mean(toy, dear)"`, Holds},
		{"a comparison that is not", `formula: "mean(toy, cheap) > mean(toy, dear)"`, Mismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := list1(t, "claims:\n  - {id: x, source: s, says: y, verdict: "+c.want+", reason: r, "+c.rest+"}\n")
			if f := checked(t, l, toyTables(t)); f.Verdict != c.want || f.Differs != "" {
				t.Errorf("%+v, want %s", f, c.want)
			}
			other := Holds
			if c.want == Holds {
				other = Mismatch
			}
			l.Claims[0].Verdict = other
			if f := checked(t, l, toyTables(t)); f.Differs != c.want+" now, recorded as "+other {
				t.Errorf("differs: %q", f.Differs)
			}
		})
	}
}

func TestAToleranceIsPrintedWithTheDigitsThatItHas(t *testing.T) {
	for _, c := range []struct{ formula, recomputed, tolerance string }{
		{"accuracy(toy, dear, a) > accuracy(toy, cheap, a)", "difference 40 points", "±0.10"},
		{"usd(toy, dear, b) / 1000 > usd(toy, cheap, b) / 1000", "difference 0.002 $", "±0.00010"},
		{"2 > 1", "difference 1", "±0.00"},
	} {
		l := list1(t, "claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: \""+c.formula+"\"}\n")
		if f := checked(t, l, toyTables(t)); f.Recomputed != c.recomputed || f.Tolerance != c.tolerance {
			t.Errorf("%s: %s %s, want %s %s", c.formula, f.Recomputed, f.Tolerance, c.recomputed, c.tolerance)
		}
	}
}

// 48.2 lies 0.0544 below 48.2544, whose tolerance is 0.05 and 0.004: with three decimals both would read 0.054.
func TestAVerdictCanBeSeenInTheDigitsThatArePrinted(t *testing.T) {
	for _, c := range []struct{ printed, formula, verdict, recomputed, tolerance string }{
		{"48.2", "48.2544 + 0.08 * (accuracy(toy, dear, a) - 90)", Mismatch, "48.2544", "±0.0540"},
		{"48.2", "48.2539 + 0.08 * (accuracy(toy, dear, a) - 90)", Holds, "48.254", "±0.054"},
		{"48.2", "48.3544 + 0.08 * (accuracy(toy, dear, a) - 90)", Mismatch, "48.354", "±0.054"},
	} {
		l := list1(t, "claims:\n  - {id: x, source: s, says: y, reason: r, verdict: "+c.verdict+", printed: \""+c.printed+"\", formula: \""+c.formula+"\"}\n")
		if f := checked(t, l, toyTables(t)); f.Verdict != c.verdict || f.Recomputed != c.recomputed || f.Tolerance != c.tolerance {
			t.Errorf("%s: %s %s %s, want %s %s %s", c.formula, f.Verdict, f.Recomputed, f.Tolerance, c.verdict, c.recomputed, c.tolerance)
		}
	}
}

func TestAClaimMayHoldWithAnotherSizeOfABenchmark(t *testing.T) {
	// With 2 questions of a beside the one of b the mean is 56.67.
	l := list1(t, "sizes: {a: [3, 2]}\nclaims:\n  - {id: x, source: s, says: y, verdict: holds, printed: \"56.7\", formula: \"mean(toy, cheap)\"}\n")
	if f := checked(t, l, toyTables(t)); f.Verdict != Holds || !strings.Contains(f.Reason, "With a of 2 questions.") || !strings.HasPrefix(f.Recomputed, "56.66") {
		t.Errorf("%+v", f)
	}
	l.Claims[0].Printed = "55.0"
	if f := checked(t, l, toyTables(t)); f.Verdict != Holds || f.Reason != "" {
		t.Errorf("the printed sizes come first: %+v", f)
	}
	l.Claims[0].Printed = "56.2"
	if f := checked(t, l, toyTables(t)); f.Verdict != Mismatch || !strings.HasPrefix(f.Recomputed, "55.0") {
		t.Errorf("%+v", f)
	}
}

func TestAveragesAreRecomputedFromTheirRow(t *testing.T) {
	l := list1(t, "averages:\n  - {table: toy}\n")
	// (3*80 + 80)/4 and 6/4: as printed, and so are the others.
	if f := checked(t, l, toyTables(t)); f.Verdict != Holds || f.Recomputed != "6 of 6" {
		t.Errorf("%+v", f)
	}
	wrong := strings.Replace(toy, "avg 4 55.0", "avg 4 55.2", 1)
	tables, err := ReadTables(fstest.MapFS{"toy.txt": {Data: []byte(wrong)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	f := checked(t, l, tables)
	if f.Verdict != Mismatch || f.Differs != "toy.txt: mismatch that is not recorded: cheap accuracy: printed 55.2, the cells give 55" || !strings.Contains(f.Reason, "printed 55.2, the cells give 55") {
		t.Errorf("%+v", f)
	}
	l = list1(t, "averages:\n  - {table: toy, mismatch: [cheap accuracy]}\n")
	if f := checked(t, l, tables); f.Verdict != Mismatch || f.Differs != "" {
		t.Errorf("%+v", f)
	}
	if f := checked(t, l, toyTables(t)); f.Differs != "toy.txt: holds now, recorded as mismatch: cheap accuracy" {
		t.Errorf("%+v", f)
	}
}

// Many papers average over benchmarks, each counting as much: that is no mismatch where all averages of a table do, and it is said.
func TestAveragesMayCountEachBenchmarkAsMuch(t *testing.T) {
	const table = `BenchmarkRoute/table=t/method=x/benchmark=a 30 80.0 accuracy-% 3.0000 usd 30 questions
BenchmarkRoute/table=t/method=x/benchmark=b 10 40.0 accuracy-% 5.0000 usd 10 questions
BenchmarkRoute/table=t/method=x/benchmark=avg 40 60.0 accuracy-% 0.3000 usd/query
BenchmarkRoute/table=t/method=y/benchmark=a 30 90.0 accuracy-% 6.0000 usd 30 questions
BenchmarkRoute/table=t/method=y/benchmark=b 10 50.0 accuracy-% 3.0000 usd 10 questions
BenchmarkRoute/table=t/method=y/benchmark=avg 40 70.0 accuracy-% 0.2500 usd/query
`
	const equally = "Averages of accuracies count each benchmark as much. Averages of costs count each benchmark as much."
	for _, c := range []struct{ name, from, to, verdict, fit, reason string }{
		{"all of them", "", "", Holds, "4 of 4", equally},
		{"accuracies alone", "3.0000 usd 30 questions", "4.0000 usd 30 questions", Mismatch, "2 of 4", "x cost: printed 0.3000, the cells give 0.225; y cost: printed 0.2500, the cells give 0.225. Averages of accuracies count each benchmark as much."},
		{"neither way", "avg 40 60.0", "avg 40 61.0", Mismatch, "2 of 4", "x accuracy: printed 61.0, the cells give 70; y accuracy: printed 70.0, the cells give 80. Averages of costs count each benchmark as much."},
	} {
		tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte(strings.Replace(table, c.from, c.to, 1))}}, ".")
		if err != nil {
			t.Fatal(err)
		}
		found, err := (&List{}).Check("folder", tables, nil, nil)
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		if f := found[0]; f.Verdict != c.verdict || f.Recomputed != c.fit || !strings.Contains(f.Reason, c.reason) {
			t.Errorf("%s: %s, %s, %q", c.name, f.Verdict, f.Recomputed, f.Reason)
		}
	}
	// One row may agree by chance.
	single := strings.Join(strings.SplitAfter(table, "\n")[:3], "")
	tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte(single)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := (&List{}).Check("folder", tables, nil, nil); err != nil || found[0].Verdict != Mismatch {
		t.Errorf("a single row: %+v (%v)", found, err)
	}
}

func TestPercentagesOfWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		printed  float64
		decimals int
		n        int
		want     bool
	}{
		{77.5, 1, 674, false}, // 522 are 77.448 %, 523 are 77.596 %
		{77.5, 1, 1348, true}, // 1045 are 77.522 %
		{96.6, 1, 664, false}, // 641 are 96.536 %, 642 are 96.687 %
		{96.6, 1, 1328, true},
		{97.4, 1, 500, true},
		{97.5, 1, 500, false},
		{12.5, 1, 8, true},
		{12.4, 1, 8, false},
		{0, 1, 3, true},
		{100, 1, 3, true},
		{33.3, 1, 3, true},
		{33.33, 2, 3, true},
		{33.3, 2, 3, false}, // 33.30 is not 33.33
		{6.3, 1, 8, false},  // 1/16 is not 1/8
		{6.3, 1, 16, true},  // 6.25, rounded up
		{6.2, 1, 16, true},  // or down
		{150, 1, 10, false}, // 15 of 10
		{-10, 1, 10, false},
	} {
		if got := attainable(metrics.Value{Number: c.printed, Decimals: c.decimals}, c.n); got != c.want {
			t.Errorf("%v with %d decimals of %d: %v", c.printed, c.decimals, c.n, got)
		}
	}
	l := list1(t, "granularity:\n  - {table: toy, benchmark: a, count: 3, mismatch: [cheap a, dear a, router/knob=2 a]}\n")
	if f := checked(t, l, toyTables(t)); f.Verdict != Mismatch || f.Differs != "" || f.Recomputed != "0 of 3" {
		t.Errorf("%+v", f)
	}
	l = list1(t, "granularity:\n  - {table: toy, benchmark: a, count: 10}\n")
	if f := checked(t, l, toyTables(t)); f.Verdict != Holds || f.Recomputed != "3 of 3" {
		t.Errorf("%+v", f)
	}
}

func TestListsHaveToBeAboutTheTables(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sizes: {a: [3, 2]}\n", ""},
		{"sizes: {c: [3, 2]}\n", `c.yaml: sizes: no table has a benchmark "c"; known: a, b`},
		{"sizes: {a: [2, 3]}\n", "c.yaml: sizes: the first of a is 2, and a table has 3 questions"},
		{"sizes: {a: []}\n", "c.yaml: sizes: a has no size; leave it out"},
		{"averages:\n  - {table: toy}\n  - {table: toy, mismatch: [cheap cost]}\n", "c.yaml:3: averages: table toy is at line 2 already"},
		{"granularity:\n  - {table: toy}\n  - {table: toy, mismatch: [cheap a]}\n", "c.yaml:3: granularity: table toy is at line 2 already"},
		{"granularity:\n  - {table: toy, count: -3}\n", "c.yaml:2: granularity: count is -3"},
		{"granularity:\n  - {table: toy, benchmark: c}\n", `c.yaml:2: granularity: table toy has no percentage on "c"; known: a, b`},
	} {
		l, err := ReadList("c.yaml", []byte(c.text))
		if err == nil {
			_, err = l.Check("c.yaml", toyTables(t), nil, nil)
		}
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.text, got, c.want)
		}
	}
}

func TestWhatHasNoPartsIsNotTried(t *testing.T) {
	for _, c := range []struct{ name, text, id, fit, verdict, reason string }{
		{"nothing of a table", "method=x/benchmark=avg 4 25.0 accuracy-%", "averages of t", "0 of 0", NotCheckable, "Not tried: x accuracy, no questions."},
		{"a benchmark of no question", "method=x/benchmark=a 4 25.0 accuracy-% 0 questions\nmethod=x/benchmark=avg 4 25.0 accuracy-%", "averages of t", "0 of 0", NotCheckable, "Not tried: x accuracy, no questions."},
		{"a row of some", "method=x/benchmark=a 4 25.0 accuracy-%\nmethod=x/benchmark=avg 4 25.0 accuracy-%\nmethod=y/benchmark=a 4 25.0 accuracy-% 4 questions\nmethod=y/benchmark=avg 4 50.0 accuracy-%",
			"averages of t", "0 of 1", Mismatch, "y accuracy: printed 50.0, the cells give 25. Not tried: x accuracy, no questions on a."},
		{"costs alone", "method=x/benchmark=a 4 1.0 usd\nmethod=y/benchmark=a 4 25.0 accuracy-% 1.0 usd", "granularity of t", "1 of 1", Holds, ""},
	} {
		tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte("BenchmarkRoute/table=t/" + strings.ReplaceAll(c.text, "\n", "\nBenchmarkRoute/table=t/") + "\n")}}, ".")
		if err != nil {
			t.Fatal(err)
		}
		found, err := (&List{}).Check("folder", tables, nil, nil)
		k := slices.IndexFunc(found, func(f Finding) bool { return f.ID == c.id })
		if err != nil || k < 0 || found[k].Recomputed != c.fit || found[k].Verdict != c.verdict || found[k].Reason != c.reason {
			t.Errorf("%s: %+v (%v)", c.name, found, err)
		}
	}
}

func TestFaultsOfFilesNameTheLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "c.yaml: empty"},
		{"unknown key", "claims:\n  - id: x\n    prined: 3\n", `c.yaml:3: unknown key "prined"`},
		{"no YAML", "claims: [\n", "c.yaml:1: "},
		{"two documents", "claims: []\n---\nclaims: []\n", "c.yaml: more than one document"},
		{"a list that is none", "claims: 3\n", `c.yaml:1: want a list, got "3"`},
		{"keys for a list", "repeated:\n  rows: [a, b]\n", "c.yaml:2: want a list, got keys and values"},
		{"a list for keys", "costs:\n  - table: t\n    experts:\n      - {price: 1}\n", "c.yaml:4: want keys and values, got a list"},
		{"text for a number", "claims:\n  - {id: x, allow: much}\n", `c.yaml:2: want a number, got "much"`},
		{"a list for text", "claims:\n  - {id: [x]}\n", "c.yaml:2: want text, got a list"},
		{"no id", "claims:\n  - {source: s}\n", "c.yaml:2: claim: no id"},
		{"no source", "claims:\n  - {id: x, says: y, verdict: holds}\n", "c.yaml:2: x: source and says must both be set"},
		{"verdict", "claims:\n\n  - {id: x, source: s, says: y, verdict: hold}\n", `c.yaml:3: x: unknown verdict "hold"; known: holds, mismatch, wrong unit, not checkable`},
		{"reason", "claims:\n  - {id: x, source: s, says: y, verdict: mismatch}\n", `c.yaml:2: x: a verdict of "mismatch" needs a reason`},
		{"printed", "claims:\n  - {id: x, source: s, says: y, verdict: holds, printed: 3%}\n", `c.yaml:2: x: printed is "3%"`},
		{"formula", "claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: 1 +}\n", "c.yaml:2: x: formula: column 4: the formula ends"},
		{"a printed comparison", "claims:\n  - {id: x, source: s, says: y, verdict: holds, printed: \"1\", formula: 1 < 2}\n", "c.yaml:2: x: the formula is a comparison"},
		{"taken id", "claims:\n  - {id: x, source: s, says: y, verdict: holds}\n  - {id: x, source: s, says: y, verdict: holds}\n", "c.yaml:3: x: the id is taken by line 2"},
		{"noise", "claims:\n  - {id: x, source: s, says: y, verdict: holds, allow: -1}\n", "c.yaml:2: x: allow is -1"},
		{"a margin without a printed number", "claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: 1 < 2, ours: {margin: 1, reason: r}}\n", "c.yaml:2: x: ours: a margin above 0 goes with a printed number"},
		{"a printed number without a margin", "claims:\n  - {id: x, source: s, says: y, verdict: holds, printed: \"1\", formula: \"1\", ours: {}}\n", "c.yaml:2: x: ours: a margin above 0 goes with a printed number"},
		{"a margin without a reason", "claims:\n  - {id: x, source: s, says: y, verdict: holds, printed: \"1\", formula: \"1\", ours: {margin: 1}}\n", "c.yaml:2: x: ours: a margin and needs want a reason"},
		{"seen without a margin", "claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: 1 < 2, ours: {seen: true}}\n", "c.yaml:2: x: ours: seen is about a margin"},
		{"ours without a formula", "claims:\n  - {id: x, source: s, says: y, verdict: not checkable, reason: r, ours: {}}\n", "c.yaml:2: x: ours needs a formula"},
		{"ours with a bad one", "claims:\n  - {id: x, source: s, says: y, verdict: not checkable, reason: r, ours: {formula: 1 +}}\n", "c.yaml:2: x: ours: formula: column 4"},
		{"needs", "claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: 1 < 2, ours: {needs: luck, reason: r}}\n", `c.yaml:2: x: ours: unknown needs "luck"; known: language-model, assumption`},
		{"two faults", "claims:\n  - {id: x}\n  - {id: y}\n", "c.yaml:2: x: source and says must both be set\nc.yaml:3: y: source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ReadList("c.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	l := list1(t, "claims:\n  - {id: x, source: s, says: y, verdict: holds, formula: \"mean(toy, nobody)\"}\naverages:\n  - {table: tou}\n")
	_, err := l.Check("c.yaml", toyTables(t), nil, nil)
	if err == nil || !strings.Contains(err.Error(), `c.yaml:2: x: formula: column 1: mean(toy, nobody): table toy has no row "nobody"`) || !strings.Contains(err.Error(), `c.yaml:4: averages: unknown table "tou"; known: toy`) {
		t.Errorf("%v", err)
	}
}

func builtIn(t *testing.T) (*Tables, *List, *Orderings) {
	t.Helper()
	tables, err := ReadTables(results.FS, "paper")
	if err != nil {
		t.Fatal(err)
	}
	text, err := results.FS.ReadFile("paper/claims.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadList("claims.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = results.FS.ReadFile("paper/orderings.yaml"); err != nil {
		t.Fatal(err)
	}
	o, err := ReadOrderings("orderings.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return tables, l, o
}

// The yardstick is what audits of the paper recomputed, by other programs than this one.
func TestThePapersClaimsComeOutAsAnAuditFoundThem(t *testing.T) {
	tables, l, o := builtIn(t)
	findings, err := l.Check("claims.yaml", tables, &Measurements{}, o)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Finding{}
	for _, f := range findings {
		if f.Differs != "" {
			t.Errorf("%s: %s", f.ID, f.Differs)
		}
		found[f.ID] = f
	}
	for _, c := range []struct{ id, recomputed, verdict string }{
		{"retention", "98.33", Holds},
		{"saving", "48.254", Holds},
		{"saving-conclusion", "48.254", Mismatch},
		{"average-accuracy", "88.639", Holds},
		{"ood-retention", "95.54", Holds},
		{"ood-saving", "38.43", Mismatch},
		{"ood-loss", "4.46", WrongUnit},
		{"ood-sample", "76.90", Mismatch},
		{"hetero-gain-aime", "8.7", Holds},
		{"hetero-gain-hmmt", "9.1", Holds},
		{"hetero-gain-smt", "9.4", Holds},
		{"hetero-fixed", "", Mismatch},
		{"alpha-low", "80.415", Holds},
		{"alpha-default", "79.869", Holds},
		{"alpha-highest", "", Holds},
		{"alpha-cost", "", Holds},
		{"best-router", "", Holds},
		{"best-router-everywhere", "", Holds},
		{"ood-best-router", "", Holds},
		{"soft-supervision-significant", "7.194", NotCheckable},
		{"anchor-trade-off", "difference -3.82", Holds}, // 0.32 - 4.13
		{"reward-trade-off", "difference -4.79", Holds}, // -0.65 - 4.13
		{"llm-as-router-ood-gpt-cost", "1.897", NotCheckable},
		{"llm-as-router-ood-qwen-cost", "2.76", NotCheckable},
		{"hetero-fixed-added", "", Holds},
		{"router-overhead", "4.763", NotCheckable},
		{"llm-as-router-gpt-cost", "1.174", NotCheckable},
		{"llm-as-router-qwen-cost", "1.334", NotCheckable},
		{"ood-bold", "", Mismatch},
		{"easy-to-4b", "", NotCheckable},
		{"hard-to-4b", "", NotCheckable},
		{"hard-to-235b", "", NotCheckable},
		{"pareto-hull", "difference 1.09", Holds},
		{"ood-pareto-hull", "-0.305", NotCheckable}, // the paper does not say it
		{"ood-30b-average-cost", "0.00185", Mismatch},
		{"llm-as-router-gpt-average-cost", "0.004648", Mismatch},
		{"hetero-random-aime", "58.98", Mismatch},
		{"hetero-random-hmmt", "54.64", Mismatch},
		{"ood-retention-counts", "95.53", Mismatch},
		{"ood-loss-counts", "3.72", Mismatch},
		{"llm-as-router-ood-advantage", "-3.3", NotCheckable}, // -0.31 - 3.00
		{"llm-as-router-ood-coin", "-1.33", NotCheckable},     // 79.55 - 80.88
		{"saving-with-router", "48.093", Mismatch},
		{"frontier-hetero", "difference -13.6", Mismatch},
		{"hetero-not-monotone-gpt", "", Holds},
		{"noise-cost-aime", "21.84", NotCheckable},
		{"noise-cost-smt", "14.53", NotCheckable},
		{"noise-cost-all", "10.94", NotCheckable},
		{"noise-trade-off", "-1.00", NotCheckable}, // 3.13 - 4.13
		{"granularity of main", "57 of 63", Mismatch},
		{"granularity of llm-as-router", "20 of 21", Mismatch},
		{"granularity of main, olympiadbench with 1348", "9 of 9", Holds},
	} {
		f, ok := found[c.id]
		if !ok {
			t.Errorf("no claim %s", c.id)
			continue
		}
		near := strings.HasPrefix(f.Recomputed, c.recomputed)
		var got, want float64
		if n, _ := fmt.Sscan(strings.TrimRight(f.Recomputed, "% $points"), &got); n == 1 && c.recomputed != "" {
			if n, _ := fmt.Sscan(c.recomputed, &want); n == 1 && !strings.Contains(c.recomputed, " of ") {
				near = got-want < 0.0051 && want-got < 0.0051
			}
		}
		if f.Verdict != c.verdict || !near {
			t.Errorf("%s: %s, recomputed %q, want %s, %q", c.id, f.Verdict, f.Recomputed, c.verdict, c.recomputed)
		}
	}
}

// The numbers of right answers that claims have are the only ones behind their cells, with 198 and 1,200 questions asked once.
func TestRightAnswersOutOfDistributionAreTheOnlyOnes(t *testing.T) {
	tables, _, _ := builtIn(t)
	for _, c := range []struct {
		row, benchmark string
		right, of      int
	}{{"entrorouter", "gpqa", 145, 198}, {"entrorouter", "mmlu-pro", 967, 1200}, {"qwen3-235b", "gpqa", 156, 198}, {"qwen3-235b", "mmlu-pro", 1008, 1200}} {
		printed, err := tables.Cell("ood", c.row, c.benchmark, metrics.Accuracy)
		if err != nil {
			t.Fatal(err)
		}
		var fit []int
		for k := range c.of + 1 {
			if math.Abs(100*float64(k)/float64(c.of)-printed.Number) <= 0.05+1e-9 {
				fit = append(fit, k)
			}
		}
		if !slices.Equal(fit, []int{c.right}) {
			t.Errorf("%s on %s: %v of %d, want %d alone", c.row, c.benchmark, fit, c.of, c.right)
		}
	}
}

// A digit that is transcribed wrong changes a verdict, if by more than what roundings can hide.
func TestAChangedDigitInATableOfThePaperIsCaught(t *testing.T) {
	_, l, o := builtIn(t)
	for _, c := range []struct{ file, old, changed string }{
		{"main", "method=entrorouter/benchmark=olympiadbench 674 81.8", "method=entrorouter/benchmark=olympiadbench 674 81.3"},
		{"main", "method=qwen3-235b/benchmark=math500 500 99.2 accuracy-% 2.5881", "method=qwen3-235b/benchmark=math500 500 99.2 accuracy-% 2.8881"},
		{"main", "method=forc/benchmark=avg 3702 87.7", "method=forc/benchmark=avg 3702 87.4"},
		{"main", "method=random/benchmark=math500 500 98.0", "method=random/benchmark=math500 500 98.1"},
		{"ood", "method=entrorouter/benchmark=mmlu-pro 1200 80.6", "method=entrorouter/benchmark=mmlu-pro 1200 80.3"},
		{"hetero", "method=random/benchmark=smt25 424 66.3", "method=random/benchmark=smt25 424 66.6"},
		{"alpha", "alpha=1/benchmark=avg 1384 75.3", "alpha=1/benchmark=avg 1384 75.6"},
		{"ablation", "no-gate/benchmark=smt25 424 80.2", "no-gate/benchmark=smt25 424 82.2"},
	} {
		t.Run(c.changed, func(t *testing.T) {
			fsys := fstest.MapFS{}
			entries, err := results.FS.ReadDir("paper")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !strings.HasSuffix(e.Name(), ".txt") {
					continue
				}
				text, err := results.FS.ReadFile("paper/" + e.Name())
				if err != nil {
					t.Fatal(err)
				}
				if e.Name() == c.file+".txt" {
					if strings.Count(string(text), c.old) != 1 {
						t.Fatalf("%q is in %s %d times", c.old, c.file, strings.Count(string(text), c.old))
					}
					text = []byte(strings.Replace(string(text), c.old, c.changed, 1))
				}
				fsys[e.Name()] = &fstest.MapFile{Data: text}
			}
			tables, err := ReadTables(fsys, ".")
			if err != nil {
				t.Fatal(err)
			}
			findings, err := l.Check("claims.yaml", tables, &Measurements{}, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				if f.Differs != "" {
					return
				}
			}
			t.Error("no verdict changed")
		})
	}
}

// A printed 0 is as far from the number behind it as any other.
func TestAPrintedZeroHasTheSameSlack(t *testing.T) {
	tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte("BenchmarkRoute/table=t/method=x/benchmark=p 1 0.2 accuracy-%\nBenchmarkRoute/table=t/method=x/benchmark=q 1 0.2 accuracy-%\n")}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	// The cells may hide 0.05 each and the printed number 0.005: exactly what is missing, but for what binary fractions do.
	l := list1(t, "claims:\n  - {id: x, source: s, says: y, verdict: holds, printed: \"0.00\", formula: \"accuracy(t, x, q) - accuracy(t, x, p) - 0.105\"}\n")
	f, err := l.Check("c.yaml", tables, nil, nil)
	if err != nil || f[0].Verdict != Holds {
		t.Errorf("%+v (%v)", f, err)
	}
}

// What is true of the unrounded numbers never comes out as a mismatch, however the table and the text round them.
func TestRoundingAloneMakesNoMismatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return rapid.Float64Range(0, 100).Draw(t, name) }
		a, b, c, d := draw("a"), draw("b"), draw("c"), draw("d")
		decimals := rapid.IntRange(0, 3).Draw(t, "decimals")
		var table strings.Builder
		for _, cell := range []struct {
			method, benchmark string
			accuracy          float64
		}{{"x", "p", a}, {"x", "q", b}, {"y", "p", c}, {"y", "q", d}} {
			fmt.Fprintf(&table, "BenchmarkRoute/table=t/method=%s/benchmark=%s 1 %.*f accuracy-%% %d questions\n", cell.method, cell.benchmark, decimals, cell.accuracy, map[string]int{"p": 3, "q": 1}[cell.benchmark])
		}
		tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte(table.String())}}, ".")
		if err != nil {
			t.Fatal(err)
		}
		for formula, truth := range map[string]float64{
			"mean(t, x) - mean(t, y)": (3*a+b)/4 - (3*c+d)/4,
			"(accuracy(t, x, p) + accuracy(t, y, q)) / 2 - accuracy(t, x, p) / 4":       (a+d)/2 - a/4,
			"max(accuracy(t, x, p), accuracy(t, y, p))":                                 max(a, c),
			"100 - min(accuracy(t, x, q), accuracy(t, y, q)) + 0.3 * accuracy(t, x, p)": 100 - min(b, d) + 0.3*a,
			"100 * mean(t, x) / (1 + mean(t, y))":                                       100 * (3*a + b) / 4 / (1 + (3*c+d)/4),
		} {
			text := fmt.Sprintf("claims:\n  - {id: x, source: s, says: y, verdict: holds, printed: \"%.2f\", formula: \"%s\"}\n", truth, formula)
			l, err := ReadList("c.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if f, err := l.Check("c.yaml", tables, nil, nil); err != nil || f[0].Verdict != Holds {
				t.Fatalf("%s: %+v (%v)\n%s", formula, f, err, table.String())
			}
		}
	})
}
