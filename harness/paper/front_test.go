package paper

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
)

// A cell of real outcomes says what more than half of the pools say, and that none has so many.
func TestTheFrontPageSaysWhatMostPoolsSay(t *testing.T) {
	pools := func(verdicts ...string) (of []told) {
		for _, v := range verdicts {
			of = append(of, told{verdict: v})
		}
		return of
	}
	equal := func(of []told, verdicts ...string) []told {
		for i, v := range verdicts {
			of[i].equal = v
		}
		return of
	}
	for _, c := range []struct {
		of   []told
		want string
	}{
		{nil, "–"},
		{pools(Confirmed, Confirmed, Refuted), "✔ confirmed on 2 of 3"},
		{pools(Refuted, Inconclusive, Refuted), "✘ refuted on 2 of 3"},
		{pools(Inconclusive), "? inconclusive on 1 of 1"},
		{pools(Confirmed, Refuted), "? mixed: confirmed on 1 of 2"}, // half is not most
		{pools(Inconclusive, Refuted), "? mixed: refuted on 1 of 2"},
		{[]told{{verdict: Untestable, shows: Refuted}, {verdict: Untestable, shows: Refuted}, {verdict: Untestable, shows: Confirmed}}, "– untestable here"},
		{equal(pools(Confirmed, Confirmed), Refuted, Refuted), "✔ confirmed on 2 of 2|✘ at equal cost: refuted on 2 of 2"},
		{equal(pools(Confirmed, Confirmed), Refuted), "✔ confirmed on 2 of 2"}, // nothing at equal cost on the other
	} {
		if got := strings.ReplaceAll(strings.Join(frontRecorded(c.of), "|"), space, " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.of, got, c.want)
		}
	}
}

// Under the main rows stands what the router says by another rule, of the pools that have it; an ordering of two experts is nobody's rule.
func TestTheFrontPageHasALineForARule(t *testing.T) {
	head := strings.NewReplacer("rows: {toy:", "rows: {toy:", "names:", "  - {id: r, title: R, kind: recorded, rule: by another rule, keys: {pool: p}, average: all, experiments: {toy: logs}, rows: {router/knob=2: other, cheap: cheap, dear: dear}}\nnames:",
		"says: two orderings,", "says: two orderings, front: two,", "reference: ours", "reference: ours\nexperts: [cheap, dear]").Replace(digestHead)
	o, err := ReadOrderings("o.yaml", []byte(head+"      - {id: experts, source: s, says: y, a: dear, b: cheap, is: above, recorded: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	line := func(method, values string) string {
		return "logs/pool=p/method=" + method + "/benchmark=all 10" + values
	}
	lead := func(row, versus string) string {
		return "logs/pool=p/row=" + row + "/versus=" + versus + "/benchmark=all 10" + points("lead-points", 0, -1, 1) + points("other-lead-points", 0, -1, 1)
	}
	m := measured(t, line("ours", points("accuracy-%", 60, 59, 61)), line("other", points("accuracy-%", 80, 79, 81)),
		line("cheap", points("accuracy-%", 70, 69, 71)), line("dear", points("accuracy-%", 75, 74, 76)), lead("other", "cheap"), lead("other", "dear"))
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := list1(t, digestClaims).Check("c.yaml", toyTables(t), m, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.FrontSheet("o.yaml", findings, rows, m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.ReplaceAll(strings.Join(s.Grids[0].Rows[0][2].Lines, "|"), space, " "), "? mixed: refuted on 1 of 2|✔ by another rule: confirmed on 1 of 1|? by another rule, at equal cost: inconclusive on 1 of 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d, err := o.DigestSheet("o.yaml", findings, rows, m)
	if err != nil {
		t.Fatal(err)
	}
	const about = "By the paper's rule the dearest expert is the strongest"
	without, err := digestSheet(t, digestHead)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Notes[0], about) || !strings.Contains(s.Notes[0], about) || strings.Contains(strings.Join(without.Notes, ""), about) {
		t.Errorf("notes: %q, %q, and without a rule %q", d.Notes[0], s.Notes[0], without.Notes)
	}
	if got, want := strings.Join(d.Records[2], "|"), "by another rule: confirmed on 1 of 1"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	for _, r := range rows {
		if by := r.Judged[4]; r.Ordering.ID == "experts" && by.Verdict != NotStated {
			t.Errorf("two experts by a rule: %+v", by)
		}
	}
}

// A line of several parts that agree says how many there are, as one of which some do not does.
func TestACellOfPartsThatAgreeHasTheirNumber(t *testing.T) {
	tell := func(v told) telling { return func(string) (told, bool) { return v, true } }
	o := &Orderings{Scales: []Scale{{ID: "large", Kind: "simulated"}}}
	number := []figure{{brief: "1.00 points"}}
	confirmed, refuted, rests := told{verdict: Confirmed, numbers: number}, told{verdict: Refuted, numbers: number}, told{verdict: Assumed, shows: Confirmed, numbers: number}
	for want, of := range map[string][]telling{
		"✔ confirmed, 1.00 points":        {tell(confirmed)},
		"✔ confirmed in 2 of 2":           {tell(confirmed), tell(confirmed)},
		"✘ refuted in 1 of 2":             {tell(confirmed), tell(refuted)},
		"≈ assumed (confirmed in 2 of 2)": {tell(rests), tell(rests)},
		"– not run":                       {tell(told{verdict: NotRun}), tell(told{verdict: NotRun})},
	} {
		if got := strings.ReplaceAll(strings.Join(o.frontSimulated(of), "|"), space, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	findings := []Finding{{ID: "a", Verdict: Holds}, {ID: "b", Verdict: Holds}, {ID: "c", Verdict: NotCheckable}}
	for want, of := range map[string][]string{"✔ holds in 2 of 2": {"a", "b"}, "– not checkable": {"c"}, "– not checkable in 1 of 2": {"a", "c"}} {
		d := &DigestLine{Paper: of}
		if got := strings.ReplaceAll(strings.Join(d.frontPaper(findings, &faults{}), "|"), space, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

const frontHead = digestHead + `
front:
  - {title: Ours, method: ours}
  - {title: None, method: none}
`

// The front page has the lines that have few words for it, a number each, and what rows gain on pools.
func TestTheFrontPageHasANumberPerCell(t *testing.T) {
	head := strings.NewReplacer("says: one number,", "says: one number, front: a number,", "says: two orderings,", "says: two orderings, front: two,",
		"experiments: {toy: logs}", "experiments: {toy: logs, main: logs}").Replace(frontHead)
	o, err := ReadOrderings("o.yaml", []byte(head))
	if err != nil {
		t.Fatal(err)
	}
	row := func(at, method, values string) string { return at + "/method=" + method + "/benchmark=" + values }
	small, p, q := "toy/arena=paper", "logs/pool=p", "logs/pool=q"
	m := measured(t,
		row(small, "ours", "avg 10")+points("accuracy-%", 82, 81, 83),
		row(small, "cheap", "avg 10")+points("accuracy-%", 50, 49, 51)+points("difference-points", -32, -33, -31),
		row(small, "dear", "avg 10")+points("accuracy-%", 90, 89, 91)+points("difference-points", 8, 7, 9),
		row(p, "ours", "all 10")+points("accuracy-%", 60, 59, 61)+points("mean-gain-points", -1, -2, -0.5),
		row(q, "ours", "all 10")+points("accuracy-%", 81, 80, 82)+points("mean-gain-points", 1.234, 1, 2))
	findings, err := list1(t, digestClaims).Check("c.yaml", toyTables(t), m, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.FrontSheet("o.yaml", findings, rows, m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range s.Grids {
		for _, r := range g.Rows {
			var cells []string
			for _, c := range r {
				cells = append(cells, strings.ReplaceAll(strings.Join(c.Lines, "|"), space, " "))
			}
			got = append(got, strings.Join(cells, "; "))
		}
	}
	want := []string{
		"A number; ✔ holds, 80.000; ? mixed: confirmed on 1 of 2; –; ✔ confirmed, 82.00",
		"Two; ✘ mismatch in 1 of 2; – not run on 2 of 2; –; ✘ refuted in 1 of 2",
		"P; ✘ -1.00; ",
		"Q; ✔ 1.23; ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	f, err := o.FrontFigure(m)
	if err != nil {
		t.Fatal(err)
	}
	files, err := f.Files()
	if err != nil {
		t.Fatal(err)
	}
	csv := string(files[slices.IndexFunc(files, func(f report.File) bool { return f.Name == "gains.csv" })].Data)
	if want := "row,column,value,low,high\nP,Ours,-1,-2,-0.5\nQ,Ours,1.234,1.000,2.000\n"; csv != want {
		t.Errorf("the figure has %q, want %q", csv, want)
	}
	if f, err := o.FrontFigure(measured(t, row(small, "ours", "avg 10")+points("accuracy-%", 82, 81, 83))); f != nil || err != nil {
		t.Errorf("without recorded answers there is a figure %v, error %v", f, err)
	}
}

// A mark says at a glance what the words of a verdict say.
func TestMarksOfVerdicts(t *testing.T) {
	level := &Contrast{Value: metrics.Value{Bounded: true}}
	for _, c := range []struct {
		j    Judged
		want string
	}{
		{Judged{}, ""},
		{Judged{Verdict: NotRun}, "–"},
		{Judged{Verdict: Confirmed}, "✔"},
		{Judged{Verdict: Refuted}, "✘"},
		{Judged{Verdict: Inconclusive, Delta: level, Why: whyLevel}, "="},
		{Judged{Verdict: Inconclusive}, "?"},
		{Judged{Verdict: Assumed, Shows: Inconclusive, Why: whyLevel}, "(=)"},
		{Judged{Verdict: Untestable}, "–"},
		{Judged{Verdict: Untestable, Shows: Refuted}, "(✘)"},
	} {
		if got := c.j.mark(); got != c.want {
			t.Errorf("%s, shows %s: %q, want %q", c.j.Verdict, c.j.Shows, got, c.want)
		}
	}
}

// Whoever reads the front page alone learns what margins a verdict on a printed number, or on what stays where it is, rests on.
func TestTheFrontPageSaysItsMargins(t *testing.T) {
	notes := func(front ...string) string {
		replace := strings.NewReplacer(front...).Replace
		head := replace(strings.Replace(digestHead, "sections:", "  - {says: it stays, of: [stays]}\nsections:", 1))
		o, err := ReadOrderings("o.yaml", []byte(head+"      - {id: stays, source: s, says: y, a: dear, b: cheap, is: level, margin: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		m := measured(t, "logs/pool=p/method=ours/benchmark=all 10"+points("accuracy-%", 60, 59, 61))
		rows, err := o.Judge("o.yaml", toyTables(t), m)
		if err != nil {
			t.Fatal(err)
		}
		findings, err := list1(t, replace(digestClaims)).Check("c.yaml", toyTables(t), m, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := o.FrontSheet("o.yaml", findings, rows, m)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Notes, "\n")
	}
	const about = "our whole interval lies within a margin around it: 80.0 within 5 points. "
	number, stays := []string{"says: one number,", "says: one number, front: one,"}, []string{"says: it stays,", "says: it stays, front: it stays,"}
	for _, c := range []struct {
		front []string
		want  string
	}{{number, about}, {append(number, stays...), about + "What stays where it is does so within 1 point. "},
		{append(number, "margin: 5,", "margin: 5, seen: true,"), about + "We chose these margins after seeing a table of verdicts. "}} {
		if got := notes(c.front...); !strings.Contains(got, c.want) {
			t.Errorf("%q lacks %q", got, c.want)
		}
	}
	if got := notes(); strings.Contains(got, "margin") {
		t.Errorf("no number is on the front page: %q", got)
	}
}
