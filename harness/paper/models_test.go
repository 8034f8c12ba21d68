package paper

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const modelHead = `
reference: ours
experts: [cheap, dear]
scales:
  - {id: small, title: Small, kind: simulated, keys: {arena: paper}}
  - {id: logs, title: Logs, kind: recorded, keys: {pool: p}, average: all, experiments: {toy: logs}, rows: {router/knob=2: ours, cheap: cheap, dear: dear, without: without}}
  - {id: head, title: A head, kind: language-model, trains: head, study: lm, keys: {pool: p}, average: all, experiments: {toy: lm}, rows: {router/knob=2: ours, cheap: cheap, dear: dear, without: without}}
  - {id: loop, title: A loop, kind: language-model, trains: every weight, study: lm-loop, seeds: true, rows: {loop: loop}}
names: {rows: {toy: {router/knob=2: ours}}}
`

// On a language model nothing more is needed for what is said of one: there is a verdict, on the rows that its experiment has. It was trained
// once a fold, so the verdict is on these routers.
func TestASentenceAboutALanguageModelIsJudgedOnOne(t *testing.T) {
	const sections = `
sections:
  - title: Toy
    table: toy
    orderings:
      - {id: part, source: s, says: a part helps, paper: "1 vs 2", a: without, b: router/knob=2, is: below, needs: language-model, reason: r, recorded: {}}
      - {id: other, source: s, says: another row is better, paper: "1 vs 2", a: nobody, b: router/knob=2, is: above}
      - {id: experts, source: s, says: experts differ, a: dear, b: cheap, is: above, recorded: {a: dear, b: cheap}}
      - id: loop
        source: s
        says: calls fall
        paper: none
        a: {method: loop, step: "9"}
        b: {method: loop, step: "0"}
        metric: call-rate-%
        is: below
        simulated: {none: true}
        language-model: {scales: [loop], experiment: lm-loop, a: {method: loop, step: "9"}, b: {method: loop, step: "0"}}
`
	const claims = `
claims:
  - {id: more, source: s, says: y, verdict: holds, formula: "mean(toy, router/knob=2) > mean(toy, cheap)", ours: {needs: language-model, reason: r}}
`
	o, err := ReadOrderings("o.yaml", []byte(modelHead+`
language-models:
  - {of: [part, more], decide: a card}
  - {of: [loop], decide: another}
  - {says: it writes, decide: a server}
  - {says: others are better, of: [other], decide: rows}
  - {says: never said, of: [part], decide: more}
`+sections))
	if err != nil {
		t.Fatal(err)
	}
	once := func(experiment, method string, values string) []string {
		line := experiment + "/pool=p/method=" + method + "/benchmark=all"
		return []string{line + " 100" + values, line + "/seed=0 100" + points("accuracy-%", 50)}
	}
	loop := func(step, seed string, x ...float64) string {
		return "lm-loop/pool=p/method=loop/step=" + step + seed + " 3" + points("call-rate-%", x...)
	}
	var lines []string
	for _, experiment := range []string{"logs", "lm"} {
		lines = append(lines, once(experiment, "ours", points("accuracy-%", 60, 59, 61))...)
		lines = append(lines, once(experiment, "without", points("accuracy-%", 58, 57, 59)+points("difference-points", -2, -3, -1)+points("lead-points", -1, -2, -0.5)+points("other-lead-points", 0.5, -1, 2))...)
		lines = append(lines, once(experiment, "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9))...)
		lines = append(lines, once(experiment, "dear", points("accuracy-%", 70, 69, 71)+points("difference-points", 10, 9, 11))...)
	}
	m := measured(t, append(lines, loop("0", "", 90, 88, 92), loop("9", "", 3, 2, 4), loop("0", "/seed=1", 88), loop("0", "/seed=2", 92), loop("9", "/seed=1", 2), loop("9", "/seed=2", 4))...)
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		var words []string
		for _, j := range r.Judged {
			words = append(words, j.phrase())
		}
		got = append(got, r.Ordering.ID+": "+strings.Join(words, "; "))
	}
	want := []string{
		"part: not run; untestable here (inconclusive); confirmed; ", // one training says nothing on the recorded pool
		"other: not run; ; ; ",
		"experts: not run; inconclusive; ; ",
		"loop: ; ; ; confirmed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if head := rows[0].Judged[2]; !head.Delta.Once || head.AtEqual != Inconclusive || head.Tested == nil || head.Reason != "" {
		t.Errorf("%+v", head)
	}
	findings, err := list1(t, claims).Check("c.yaml", toyTables(t), m, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.ModelSheet("o.yaml", findings, rows)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"A part helps.||||||a card",
		"A head|confirmed|-2.00 [-3.00, -1.00]|-0.50 [-2.00, 1.00]|1.43|lm|",
		"Y.||||||",
		"A head|confirmed|10.00 [9.00, 11.00] points|||lm|",
		"Calls fall.||||||another",
		// Of -86 and -88 by t, 12.706 times 1; with 80% power 12.706 and 1.376.
		"A loop|confirmed|-87.0 [-99.7, -74.3]||14.1|lm-loop|",
		"It writes.|untestable here|||||a server",
		"Others are better.|untestable here|||||rows",
		"A part helps.||||||more",
		"A head|confirmed|-2.00 [-3.00, -1.00]|-0.50 [-2.00, 1.00]|1.43|lm|",
	}
	got = nil
	for _, r := range s.Grids[0].Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, strings.TrimSpace(c.Lead+" "+strings.Join(c.Lines, " ")))
		}
		got = append(got, strings.Join(cells, "|"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Records) != 1+6 {
		t.Errorf("%q", s.Records)
	}
}

// What the front page says of language models it says by what was trained of them.
func TestTheFrontPageSaysWhatWasTrainedOfALanguageModel(t *testing.T) {
	o := &Orderings{Scales: []Scale{
		{ID: "pool", Kind: kindRecorded}, {ID: "a", Kind: kindModel, Trains: "head"}, {ID: "b", Kind: kindModel, Trains: "head"}, {ID: "c", Kind: kindModel, Trains: "all"},
	}}
	of := []telling{func(scale string) (told, bool) {
		t, ok := map[string]told{"pool": {verdict: Refuted}, "a": {verdict: Confirmed, equal: Refuted}, "b": {verdict: Confirmed, equal: Inconclusive}, "c": {verdict: Inconclusive}}[scale]
		return t, ok
	}}
	want := []string{"✔ head: confirmed on 2 of 2", "? head, at equal cost: mixed: refuted on 1 of 2", "? all: inconclusive"}
	got := o.frontModels(of)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], space, " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := o.frontModels(nil); len(got) != 1 || got[0] != nothing {
		t.Errorf("%q", got)
	}
}

func TestFaultsOfLinesOnLanguageModels(t *testing.T) {
	for item, want := range map[string]string{
		"{of: [x]}":   "o.yaml:12: language-models: decide must be set, and says or of",
		"{decide: d}": "o.yaml:12: language-models: decide must be set, and says or of",
		"{says: y}":   "o.yaml:12: language-models: decide must be set, and says or of",
	} {
		if _, err := ReadOrderings("o.yaml", []byte(modelHead+"language-models:\n\n  - "+item+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", item, err)
		}
	}
	o, err := ReadOrderings("o.yaml", []byte(modelHead+"language-models:\n  - {of: [x], decide: d}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.ModelSheet("o.yaml", nil, nil); err == nil || !strings.Contains(err.Error(), `language-models: there is no claim or ordering "x"`) {
		t.Error(err)
	}
	for _, scale := range []string{"{id: x, title: X, kind: language-model, study: s}", "{id: x, title: X, kind: recorded, trains: head, study: s}"} {
		if _, err := ReadOrderings("o.yaml", []byte("scales:\n  - "+scale+"\n")); err == nil || !strings.Contains(err.Error(), "o.yaml:2: x: trains and study go with kind language-model, and only with it") {
			t.Errorf("%s: %v", scale, err)
		}
	}
}
