package paper

import (
	"fmt"
	"strings"
	"testing"
)

// Over an ensemble the sign on every pool counts, and one pool decides nothing where the file says so.
func TestAnOrderingIsJudgedOverTheEnsemble(t *testing.T) {
	const head = `
reference: ours
one-pool: Nobody measured its knobs.
scales:
  - {id: one, title: One, kind: simulated, keys: {arena: paper}}
  - {id: many, title: Many, kind: ensemble, keys: {arena: large}, experiments: {toy: pools}, rows: {router/knob=2: ours, cheap: beside}}
sections:
  - title: Toy
    table: toy
    orderings:
      - `
	// beside is above ours by half a point on the first of so many pools and below it on the others, and pays more.
	lines := func(above, of int) (all []string) {
		for k := range of {
			pool, d := fmt.Sprintf("pools/pool=sim-%02d/arena=large", k+1), -2+float64(k)/100
			if k < above {
				d = 0.5 + float64(k)/100
			}
			all = append(all,
				pool+"/method=ours/benchmark=avg 100"+points("accuracy-%", 80)+points("cost-share-%", 50),
				pool+"/method=beside/benchmark=avg 100"+points("accuracy-%", 80+d)+points("cost-share-%", 60)+points("lead-points", d/2)+points("other-lead-points", -d/4))
		}
		return append(all, "toy/arena=paper/method=router/knob=2/benchmark=avg 100"+points("accuracy-%", 80, 79.9, 80.1), "toy/arena=paper/method=cheap/benchmark=avg 100"+points("accuracy-%", 90, 89, 91))
	}
	const above, below = "{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: above}", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: below}"
	for _, c := range []struct {
		item          string
		above, of     int
		verdict, text string
		equal         string
	}{
		{above, 24, 24, Confirmed, "on 24 of 24 pools, +0.62 (0.50 to 0.73)", "on 24 of 24 pools, +0.31 (0.25 to 0.36)"},
		{above, 23, 24, Confirmed, "on 23 of 24 pools, +0.60 (-1.77 to 0.72)", "on 23 of 24 pools, +0.30 (-0.89 to 0.36)"},
		{above, 22, 24, Inconclusive, "on 22 of 24 pools, +0.59 (-1.78 to 0.71)", "on 22 of 24 pools, +0.30 (-0.89 to 0.35)"},
		{above, 1, 24, Refuted, "on 1 of 24 pools, -1.88 (-1.99 to 0.50)", "on 1 of 24 pools, -0.94 (-0.99 to 0.25)"},
		{below, 24, 24, Confirmed, "on 24 of 24 pools, -0.62 (-0.73 to -0.50)", "on 24 of 24 pools, -0.31 (-0.36 to -0.25)"},
		{"{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: level, margin: 1}", 24, 24, Confirmed, "on 24 of 24 pools, -0.62 (-0.73 to -0.50)", ""},
		{"{id: x, source: s, says: y, a: cheap, b: router/knob=2, metric: equal-cost, is: above}", 24, 24, Confirmed, "on 24 of 24 pools, +0.31 (0.25 to 0.36)", ""},
		{"{id: x, source: s, says: y, a: router/knob=2, b: cheap, metric: equal-cost, is: below}", 23, 24, Confirmed, "on 23 of 24 pools, -0.30 (-0.36 to 0.44)", ""},
		{"{id: x, source: s, says: y, a: cheap, b: router/knob=2, metric: equal-cost, is: above}", 1, 24, Refuted, "on 1 of 24 pools, -0.47 (-0.50 to 0.25)", ""},
		{"{id: x, source: s, says: y, a: cheap, b: router/knob=2, metric: cost, is: above}", 1, 24, Confirmed, "on 24 of 24 pools, +10.0 (10.0 to 10.0)", ""},
		{"{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: above, needs: assumption, reason: r}", 24, 24, Assumed, "on 24 of 24 pools, +0.62 (0.50 to 0.73)", "on 24 of 24 pools, +0.31 (0.25 to 0.36)"},
	} {
		o, err := ReadOrderings("o.yaml", []byte(head+c.item+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if alone, err := o.Judge("o.yaml", toyTables(t), measured(t, lines(1, 1)...)); err != nil || alone[0].Judged[1].Verdict != NotRun || alone[0].Judged[1].Missing != "pools on more than one pool" {
			t.Errorf("%s: one pool passes for an ensemble: %+v (%v)", c.item, alone[0].Judged[1], err)
		}
		rows, err := o.Judge("o.yaml", toyTables(t), measured(t, lines(c.above, c.of)...))
		if err != nil {
			t.Fatal(err)
		}
		one, many := rows[0].Judged[0], rows[0].Judged[1]
		if one.Verdict != Assumed && one.Verdict != NotRun || one.Verdict == Assumed && one.Reason != "Nobody measured its knobs." && one.Reason != "r" {
			t.Errorf("%s: one pool says %s, %s", c.item, one.Verdict, one.Reason)
		}
		if got := rows[0].Ordering.number(*many.Delta); many.Verdict != c.verdict || got != c.text {
			t.Errorf("%s, %d of %d: %s, %s; want %s, %s", c.item, c.above, c.of, many.Verdict, got, c.verdict, c.text)
		}
		equal := ""
		if many.Equal != nil {
			equal = interval(many.Equal.Told, 2)
		}
		if equal != c.equal {
			t.Errorf("%s: at equal cost %s, want %s", c.item, equal, c.equal)
		}
		if sheet := o.Sheet(rows, measured(t)); !strings.Contains(strings.Join(sheet.Records[len(sheet.Records)-1], ","), fmt.Sprintf(",%d,%d,", many.Delta.Pools.Of, many.Delta.Pools.Came)) {
			t.Errorf("%s: %v", c.item, sheet.Records)
		}
	}
}

// On one simulated pool a router's gain over an expert is assumed, since numbers that we put in decide it. Which of two learners is ahead no
// such number says, and one pool does not say it of another.
func TestOnOnePoolTwoLearnersDecideNothing(t *testing.T) {
	for _, c := range []struct{ item, verdict, why, equal, printed string }{
		{"a: router/knob=2, b: cheap, is: above", Inconclusive, "one pool", Inconclusive, "inconclusive (one pool)"},
		{"a: cheap, b: router/knob=2, is: below", Inconclusive, "one pool", Inconclusive, "inconclusive (one pool)"},
		{"a: router/knob=2, b: cheap, is: level, margin: 12", Inconclusive, "one pool", Inconclusive, "inconclusive (one pool)"},
		{"a: router/knob=2, b: dear, is: above", Assumed, "", Confirmed, "assumed (confirmed)"},
		{"a: router/knob=2, b: cheap, is: above, needs: assumption, reason: r", Assumed, "", Confirmed, "assumed (confirmed)"},
		{"a: {method: ours, stratum: hard}, b: {method: ours, stratum: easy}, metric: share-%, paper: none, is: above", Assumed, "", "", "assumed (confirmed)"},
	} {
		o := orderings(t, "{id: x, source: s, says: y, "+c.item+"}")
		o.OnePool, o.Learners = "Nobody measured its knobs.", []string{"ours", "cheap"}
		m := measured(t,
			line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9)+points("lead-points", -1, -2, -0.5)+points("other-lead-points", 1, 0.5, 2)),
			line("paper", "dear", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9)+points("lead-points", -1, -2, -0.5)+points("other-lead-points", 1, 0.5, 2)),
			line("paper", "ours", points("accuracy-%", 60, 59, 61)),
			"toy/arena=paper/method=ours/stratum=hard 10"+points("share-%", 60, 55, 65),
			"toy/arena=paper/method=ours/stratum=easy 10"+points("share-%", 20, 15, 25))
		j := judged(t, o, m)
		if j.Verdict != c.verdict || j.Why != c.why || j.AtEqual != c.equal || j.phrase() != c.printed || j.Tested != nil {
			t.Errorf("%s: %+v, %q; want %s, %q, %s, %q", c.item, j, j.phrase(), c.verdict, c.why, c.equal, c.printed)
		}
	}
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	o.OnePool, o.Learners = "Nobody measured its knobs.", []string{"ours", "cheap"}
	m := measured(t,
		line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9)),
		line("paper", "dear", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9)),
		line("paper", "ours", points("accuracy-%", 60, 59, 61)))
	for formula, want := range map[string][2]string{
		"mean(toy, router/knob=2) > mean(toy, cheap)":                       {Inconclusive, "one pool"},
		"mean(toy, router/knob=2) > max(mean(toy, cheap), mean(toy, dear))": {Assumed, ""},
		"mean(toy, router/knob=2) > 50":                                     {Assumed, ""},
	} {
		found, err := list1(t, "claims:\n  - {id: z, source: s, says: y, verdict: holds, formula: \""+formula+"\", ours: {}}\n").Check("c.yaml", toyTables(t), m, o)
		if on := found[0].Ours[0]; err != nil || on.Verdict != want[0] || on.Why != want[1] {
			t.Errorf("%s: %+v (%v)", formula, on, err)
		}
	}
}

// A row that the scale does not name is not stated there; one that it names and nobody measured was not run.
func TestRowsThatAnEnsembleDoesNotHave(t *testing.T) {
	const head = `
reference: ours
scales:
  - {id: many, title: Many, kind: ensemble, keys: {arena: large}, experiments: {toy: pools}, rows: {router/knob=2: ours, cheap: beside}}
sections:
  - title: Toy
    table: toy
    orderings:
      - `
	for item, want := range map[string]string{
		"{id: x, source: s, says: y, a: dear, b: router/knob=2, is: above}":                                                          NotStated,
		"{id: x, source: s, says: y, a: {method: dear, benchmark: avg}, b: {method: ours, benchmark: avg}, is: above}":               NotStated,
		"{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: above}":                                                         NotRun,
		"{id: x, source: s, says: y, a: {method: beside, benchmark: avg}, b: {method: ours, benchmark: avg}, is: above}":             NotRun,
		"{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: above, simulated: {scales: [many]}}":                            NotStated,
		"{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: above, simulated: {none: true}, ensemble: {experiment: pools}}": NotRun,
	} {
		o, err := ReadOrderings("o.yaml", []byte(head+item+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := o.Judge("o.yaml", toyTables(t), measured(t, "pools/pool=a/arena=large/method=ours/benchmark=avg 100"+points("accuracy-%", 80)))
		if err != nil {
			t.Fatal(err)
		}
		if got := rows[0].Judged[0]; got.Verdict != want || want == NotRun && got.Missing != "pools without these rows" {
			t.Errorf("%s: %q %q, want %q", item, got.Verdict, got.Missing, want)
		}
	}
}
