package paper

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/report"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

const digestHead = `
reference: ours
scales:
  - {id: small, title: Small, kind: simulated, keys: {arena: paper}}
  - {id: big, title: Big, kind: simulated, keys: {arena: large}}
  - {id: p, title: P, kind: recorded, keys: {pool: p}, average: all, experiments: {toy: logs}}
  - {id: q, title: Q, kind: recorded, keys: {pool: q}, average: all, experiments: {toy: logs}}
names: {rows: {toy: {router/knob=2: ours}, logs: {router/knob=2: ours}}}
digest:
  - {group: First, says: one number, paper: [kept], of: [kept]}
  - {says: two orderings, paper: [lost, kept], of: [over-cheap, over-dear]}
  - {says: what a language model needs, of: [needs]}
sections:
  - title: Toy
    table: toy
    orderings:
      - {id: over-cheap, source: s, says: y, a: router/knob=2, b: cheap, is: above, recorded: {}}
      - {id: over-dear, source: s, says: y, a: router/knob=2, b: dear, is: above, recorded: {}}
      - {id: needs, source: s, says: y, a: router/knob=2, b: cheap, is: below, needs: language-model, reason: r}
`

const digestClaims = `
claims:
  - {id: kept, source: s, says: y, printed: "80.0", formula: "mean(toy, router/knob=2)", verdict: holds, ours: {margin: 5, reason: r}}
  - {id: lost, source: s, says: y, printed: "70.0", formula: "mean(toy, router/knob=2)", verdict: mismatch, reason: r}
`

// digestSheet judges lines of measurements and makes the digest of them.
func digestSheet(t *testing.T, head string, lines ...string) (*report.Sheet, error) {
	t.Helper()
	o, err := ReadOrderings("o.yaml", []byte(head))
	if err != nil {
		t.Fatal(err)
	}
	m := measured(t, lines...)
	findings, err := list1(t, digestClaims).Check("c.yaml", toyTables(t), m, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil {
		t.Fatal(err)
	}
	return o.DigestSheet("o.yaml", findings, rows, m)
}

func digest(t *testing.T, head string, lines ...string) ([][]string, error) {
	t.Helper()
	s, err := digestSheet(t, head, lines...)
	if err != nil {
		return nil, err
	}
	if g := s.Grids[0]; len(g.Rows) != 4 || g.Rows[0][0].Lead != "First" {
		t.Errorf("%v", g.Rows)
	}
	return s.Records[1:], nil
}

func TestTheDigestTakesTheLeastFavourableOfALine(t *testing.T) {
	row := func(at, method, values string) string { return at + "/method=" + method + "/benchmark=" + values }
	small, p, q := "toy/arena=paper", "logs/pool=p", "logs/pool=q"
	got, err := digest(t, digestHead,
		row(small, "ours", "avg 10")+points("accuracy-%", 82, 81, 83)+points("hull-gain-points", 1, 1, 1),
		row(small, "cheap", "avg 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -32, -33, -31)+points("hull-gain-points", 0, 0, 0)+points("lead-points", -1, -2, -0.5)+points("other-lead-points", 1, 0.5, 2),
		row(small, "dear", "avg 10")+points("accuracy-%", 90, 89, 91)+points("difference-points", 8, 7, 9)+points("hull-gain-points", 0, 0, 0)+points("lead-points", -1, -2, -0.5)+points("other-lead-points", 1, -0.5, 2),
		row(p, "ours", "all 10")+points("accuracy-%", 60, 59, 61),
		row(p, "cheap", "all 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9),
		row(p, "dear", "all 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9),
		row(q, "ours", "all 10")+points("accuracy-%", 81, 80, 82),
		row(q, "cheap", "all 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, 9),
		row(q, "dear", "all 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"one number", "holds", "confirmed on 1 of 2, refuted on 1; 80.0 within 5 points: 60.00 to 81.00; too low on 1", "", "confirmed; 80.0 within 5 points: 82.00 [81.00, 83.00]"},
		{"two orderings", "mismatch in 1 of 2", "confirmed on 1 of 2, inconclusive on 1 (1 of 2 parts)", "", "refuted in 1 of 2; router/knob=2 beside cheap: +32.00 [31.00, 33.00] points, confirmed (paper 80.0 vs 55.0 %); router/knob=2 beside dear: -8.00 [-9.00, -7.00] points, refuted (paper 80.0 vs 92.5 %); at equal cost inconclusive"},
		{"what a language model needs", "no such row", "", "", "untestable here (refuted); +32.00 [31.00, 33.00] points (paper 80.0 vs 55.0 %); (at equal cost refuted +1.00 [0.50, 2.00])"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCountsComeMostFrequentFirst(t *testing.T) {
	if got := counted(map[string]int{"a": 1, "b": 3, "c": 2}, 6, func(w string) string { return map[string]string{"c": "!"}[w] }); got != "b on 3 of 6, c on 2!, a on 1" {
		t.Error(got)
	}
}

func TestACellOfTheDigestHasFewNumbersButThosePrinted(t *testing.T) {
	tell := func(x figure) telling {
		return func(string) (told, bool) { return told{verdict: Confirmed, numbers: []figure{x}}, true }
	}
	one, printed := tell(figure{number: 1, text: "+1.00", verdict: Confirmed}), tell(figure{number: 1, text: "+1.00", printed: "2", verdict: Confirmed})
	o := &Orderings{Scales: []Scale{{ID: "small", Kind: "simulated"}}}
	for _, c := range []struct {
		of   []telling
		want string
	}{
		{[]telling{one}, "confirmed +1.00"},
		{[]telling{one, one, one}, "confirmed +1.00, confirmed +1.00, confirmed +1.00, confirmed"},
		{[]telling{one, one, one, one}, "confirmed"},
		{[]telling{one, one, printed, one}, "confirmed 2: +1.00, confirmed"},
	} {
		if lines := o.simulated(c.of); strings.Join(lines, " ") != c.want {
			t.Errorf("%d: %q", len(c.of), lines)
		}
	}
}

// What stands behind a line says the same in any order, and one that rests on something makes the line rest on it.
func TestALineOfTheDigestDoesNotHangOnTheOrderOfItsParts(t *testing.T) {
	came, not, tell := told{verdict: Confirmed}, told{verdict: Refuted}, told{verdict: Inconclusive}
	assumed, model := told{verdict: Assumed, shows: Confirmed}, told{verdict: Untestable, shows: Refuted}
	for _, c := range []struct {
		of   []told
		want string
	}{
		{[]told{came, not, tell}, "refuted in 1 of 3"},
		{[]told{came, tell, tell}, "inconclusive in 2 of 3"},
		{[]told{came, assumed}, "assumed (confirmed)"},
		{[]told{not, assumed, came}, "assumed (refuted in 1 of 3)"},
		{[]told{model, assumed, came}, "untestable here (refuted in 1 of 3)"},
		{[]told{{verdict: Untestable}, came}, "untestable here (confirmed in 1 of 2)"},
		{[]told{assumed, {verdict: NotRun}}, "not run"},
	} {
		for range c.of {
			c.of = append(c.of[1:], c.of[0])
			if l := least(c.of); l.words(l.part()) != c.want {
				t.Errorf("%v: %q, want %q", c.of, l.words(l.part()), c.want)
			}
		}
	}
}

func TestALineOfTheDigestHasTheWorstOfThePapersOwnVerdicts(t *testing.T) {
	findings := []Finding{{ID: "h", Verdict: Holds}, {ID: "m", Verdict: Mismatch}, {ID: "n", Verdict: NotCheckable}}
	for ids, want := range map[string]string{"h": "holds", "h h": "holds", "m": "mismatch", "h n": "not checkable in 1 of 2", "n h": "not checkable in 1 of 2", "m n": "mismatch in 1 of 2", "n m h": "mismatch in 1 of 3", "m h m": "mismatch in 2 of 3", "": "no such row"} {
		if verdict, part := (&DigestLine{Paper: strings.Fields(ids)}).onPaper(findings, &faults{}); verdict+part != want {
			t.Errorf("%s: %s, want %s", ids, verdict+part, want)
		}
	}
}

// A claim that has its rows on the first scale alone does not vanish beside one that has them on a larger one.
func TestEveryPartOfALineIsTakenFromItsOwnLastScale(t *testing.T) {
	on := func(at map[string]string) telling {
		return func(scale string) (told, bool) { v, ok := at[scale]; return told{verdict: v}, ok }
	}
	o := &Orderings{Scales: []Scale{{ID: "small", Kind: "simulated"}, {ID: "big", Kind: "simulated"}}}
	for _, c := range []struct {
		of   []telling
		want string
	}{
		{[]telling{on(map[string]string{"small": Refuted}), on(map[string]string{"small": Inconclusive, "big": Confirmed})}, "refuted in 1 of 2"},
		{[]telling{on(map[string]string{"small": Confirmed, "big": NotRun})}, "confirmed"},
		{[]telling{on(map[string]string{"small": NotRun, "big": NotRun})}, "not run"},
	} {
		if lines := o.simulated(c.of); strings.Join(lines, " ") != c.want {
			t.Errorf("%q, want %q", lines, c.want)
		}
	}
}

// A range over pools is of one number: no points beside percent, no one row beside another.
func TestARangeOverPoolsIsOfOneNumber(t *testing.T) {
	o := &Orderings{Scales: []Scale{{ID: "p", Kind: "recorded"}, {ID: "q", Kind: "recorded"}}}
	a := figure{number: 1, unit: " points", against: "beside x"}
	other, against := a, a
	other.unit, against.against = "%", "beside y"
	for i, c := range []struct {
		b    figure
		want string
	}{{a, "confirmed on 2 of 2|1.00 to 1.00 points"}, {other, "confirmed on 2 of 2"}, {against, "confirmed on 2 of 2"}} {
		lines := o.counts([]telling{func(scale string) (told, bool) {
			return told{verdict: Confirmed, numbers: []figure{map[string]figure{"p": a, "q": c.b}[scale]}}, true
		}}, Scale.pool)
		if strings.Join(lines, "|") != c.want {
			t.Errorf("%d: %q", i, lines)
		}
	}
}

// An interval that rounding would hide is printed with more digits, and so is one whose end would read as 0.
func TestAnIntervalDoesNotVanishByRounding(t *testing.T) {
	for _, c := range []struct {
		metric string
		x      [3]float64
		want   string
	}{
		{"call-rate-%", [3]float64{-89.59, -89.62, -89.56}, "-89.59 [-89.62, -89.56]"},
		{"call-rate-%", [3]float64{-89.59, -89.68, -89.51}, "-89.6 [-89.7, -89.5]"},
		{"call-rate-%", [3]float64{-89.6, -89.6, -89.6}, "-89.6 [-89.6, -89.6]"},
		{"cost", [3]float64{0.23, 0.04, 0.49}, "+0.23 [0.04, 0.49]"},
		{"cost", [3]float64{0.23, 0, 0.49}, "+0.2 [0.0, 0.5]"},
		{"accuracy", [3]float64{0.055, 0.0047, 0.107}, "+0.055 [0.005, 0.107]"},
		{"accuracy", [3]float64{0.055, -0.0001, 0.107}, "+0.055 [0.000, 0.107]"}, // measurements have no more
		{"accuracy", [3]float64{0, 0, 0}, "0.00 [0.00, 0.00]"},
	} {
		v := Contrast{Value: metrics.Value{Number: c.x[0], Low: c.x[1], High: c.x[2], Bounded: true}}
		if got := (&Ordering{Metric: c.metric}).number(v); got != c.want {
			t.Errorf("%s: %s, want %s", c.metric, got, c.want)
		}
		if s := (OnScale{Value: &v, Unit: " points"}); c.metric == "accuracy" && "+"+s.text() != c.want+" points" && s.text() != c.want+" points" {
			t.Errorf("%s, want %s", s.text(), c.want)
		}
	}
}

// The notes say what a reader of the verdicts alone would miss, and nothing where there is nothing to say.
func TestTheNotesOfTheDigestComeFromTheMeasurements(t *testing.T) {
	row := func(at, method, values string) string { return at + "/method=" + method + "/benchmark=" + values }
	notes := func(share, low float64) string {
		t.Helper()
		s, err := digestSheet(t, digestHead,
			row("toy/arena=paper", "ours", "avg 10")+points("accuracy-%", 80, low, 160-low),
			row("toy/arena=large", "ours", "avg 10")+points("accuracy-%", 80, 79, 81),
			row("logs/pool=p", "ours", "all 10")+points("accuracy-%", 60, 59, 61)+points("cost-share-%", share),
			row("logs/pool=p", "ours", "all/seed=0 10")+points("accuracy-%", 60),
			row("logs/pool=p", "cheap", "all 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9),
			row("logs/pool=q", "ours", "all 10")+points("accuracy-%", 60, 59, 61)+points("cost-share-%", 50))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Notes, "\n")
	}
	some := notes(99.1, 70)
	for _, want := range []string{
		"On P (99.10% of its cost) the router asks the strongest expert on (almost) every question",
		"Trained once on P: ",
	} {
		if !strings.Contains(some, want) {
			t.Errorf("no %q in %s", want, some)
		}
	}
	if none := notes(98.9, 79); strings.Contains(none, "the router asks the strongest") {
		t.Error(none)
	}
}

func TestTheDigestSaysWhatWasNotRun(t *testing.T) {
	got, err := digest(t, digestHead, "toy/arena=large/method=ours/benchmark=avg 10"+points("accuracy-%", 82, 81, 83), "logs/pool=p/method=ours/benchmark=all 10"+points("accuracy-%", 82, 81, 83))
	if err != nil {
		t.Fatal(err)
	}
	if got[0][4] != "confirmed; 80.0 within 5 points: 82.00 [81.00, 83.00]" || got[1][4] != "not run" || got[0][2] != "confirmed on 1 of 2, not run on 1" {
		t.Errorf("%q", got)
	}
}

func TestFaultsOfTheDigestNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"of: [keept]":               `o.yaml:10: digest: there is no claim or ordering "keept"`,
		"paper: [lots], of: [kept]": `o.yaml:10: digest: there is no claim "lots"`,
	} {
		_, err := digest(t, strings.Replace(digestHead, "paper: [kept], of: [kept]", text, 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, err := ReadOrderings("o.yaml", []byte(strings.Replace(digestHead, ", of: [needs]", "", 1)))
	if err == nil || !strings.Contains(err.Error(), "o.yaml:12: digest: says and of must both be set") {
		t.Errorf("%v", err)
	}
}
