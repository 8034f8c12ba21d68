package claims

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func digest(t *testing.T, head string, lines ...string) ([][]string, error) {
	t.Helper()
	o, err := ReadOrderings("o.yaml", []byte(head))
	if err != nil {
		t.Fatal(err)
	}
	m := measured(t, lines...)
	l := list1(t, digestClaims)
	findings, err := l.Check("c.yaml", toyTables(t), m, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.DigestSheet("o.yaml", findings, rows)
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
		row(small, "cheap", "avg 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -32, -33, -31)+points("hull-gain-points", 0, 0, 0)+points("hull-difference-points", -1, -2, -0.5),
		row(small, "dear", "avg 10")+points("accuracy-%", 90, 89, 91)+points("difference-points", 8, 7, 9)+points("hull-gain-points", 0, 0, 0)+points("hull-difference-points", -1, -2, 0.5),
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
		{"one number", "holds", "came out 82.00 [81.00, 83.00]", "", "came out on 1 of 2, did not come out on 1; 60.00 to 81.00"},
		{"two orderings", "mismatch", "did not come out in 1 of 2 +32.00 [31.00, 33.00] points -8.00 [-9.00, -7.00] points", "cannot be told", "came out on 1 of 2, cannot be told on 1"},
		{"what a language model needs", "no such row", "not testable (did not come out) +32.00 [31.00, 33.00] points", "ahead +1.00 [0.50, 2.00]", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCountsComeMostFrequentFirst(t *testing.T) {
	if got := counted(map[string]int{"a": 1, "b": 3, "c": 2}, 6); got != "b on 3 of 6, c on 2, a on 1" {
		t.Error(got)
	}
}

func TestACellOfTheDigestHasFewNumbers(t *testing.T) {
	one := func(string) (told, bool) { return told{verdict: CameOut, numbers: []told1{{1, "+1.00", ""}}}, true }
	o := &Orderings{Scales: []Scale{{ID: "small", Kind: "simulated"}}}
	for n, want := range map[int]string{1: "came out +1.00", 2: "came out +1.00 +1.00", 3: "came out"} {
		if lines, _ := o.simulated(slices.Repeat([]telling{one}, n)); strings.Join(lines, " ") != want {
			t.Errorf("%d: %q", n, lines)
		}
	}
}

func TestTheDigestSaysWhatWasNotRun(t *testing.T) {
	got, err := digest(t, digestHead, "toy/arena=large/method=ours/benchmark=avg 10"+points("accuracy-%", 82, 81, 83), "logs/pool=p/method=ours/benchmark=all 10"+points("accuracy-%", 82, 81, 83))
	if err != nil {
		t.Fatal(err)
	}
	if got[0][2] != "came out 82.00 [81.00, 83.00]" || got[1][2] != "not run" || got[0][4] != "came out on 1 of 2, not run on 1" {
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
