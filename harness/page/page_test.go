package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// Columns stand as they are and are moved sideways where they are wider than the page; sentences are broken.
func TestColumnsOfATextStayInLine(t *testing.T) {
	want := "<p>Pool a</p>\n<pre class=columns role=group tabindex=0 aria-label=\"By row\">            accuracy\nA &lt;b&gt; row  50.0\n</pre>\n<p>No router pays.</p>\n"
	if got := worded("Pool a\n            accuracy\nA <b> row  50.0\n\nNo router pays.\n"); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// No two verdicts that one cell may have look alike, and none looks like no verdict.
func TestVerdictsAreToldApartWithoutColour(t *testing.T) {
	seen := map[string]string{}
	for _, verdict := range []string{paper.Confirmed, paper.Refuted, paper.Inconclusive, paper.Assumed, paper.Untestable, paper.NotRun} {
		m := markOf(verdict)
		if m.Word != verdict || m.Sign == "" || seen[m.Sign] != "" {
			t.Errorf("%q is %+v, as %q is", verdict, m, seen[m.Sign])
		}
		seen[m.Sign] = verdict
	}
	if markOf(paper.NotStated) != (mark{}) {
		t.Error("what is not stated has a sign")
	}
}

// What a model or a data set may say to change a page: to end elements, to run scripts, to load what is elsewhere, to command a
// terminal, to turn the text after it around.
const hostile = `</script></td></article></style><img src=x onerror="document.title='run'"><script>document.title='run'</script>"'` + "\x00\x1b[31m\u202e\u2066 {{.}} javascript:alert(1) ]]> $<img src=x onerror=document.title=1>^2$ \\(\\text{</math><script>}\\) <!--"

// hostilePage is a page whose every text from outside is hostile.
func hostilePage() *Page {
	set := QuestionSet{Name: hostile, All: 2, Experts: []string{"small", hostile}, Rows: []Routed{{ID: hostile, Label: hostile}, {ID: "entrorouter", Label: "EntroRouter", Outlined: true}}}
	for _, id := range []string{hostile, "other"} {
		p := &trail.ProblemResult{
			Problem: trail.Question{ID: id, Benchmark: hostile, Text: hostile, Gold: []string{hostile}, Options: []string{hostile}},
			Rollouts: []trail.RolloutResult{
				{Expert: "small", Bucket: routing.Wrong, Reason: hostile, Extracted: hostile, Response: hostile},
				{Expert: hostile, Bucket: routing.Unanswered, Failure: &trail.FailureResult{Error: hostile}},
			},
			Unscored:  []string{hostile},
			Decisions: []trail.DecisionResult{{Row: "entrorouter", Expert: "small"}, {Row: hostile, Expert: hostile}},
		}
		set.Shown = append(set.Shown, set.question(p))
	}
	ours := &metrics.Value{Number: 1}
	table := &report.Table{
		Name: "planted", Caption: hostile, Head: hostile, Notes: []string{hostile},
		Groups: []report.Group{{Title: hostile, Benchmark: hostile, Columns: []report.Column{{Title: hostile}}}},
		Rows:   []report.Row{{Section: hostile, Label: hostile, Keys: metrics.Keys("arena", hostile, "method", "entrorouter"), Cells: []report.Cell{{Ours: ours}}}},
	}
	return &Page{
		Version: hostile,
		Against: &Against{Name: hostile, None: []string{hostile}},
		Paper:   &Paper{Findings: []paper.Finding{{ID: hostile, Says: hostile, Source: hostile, Reason: hostile, Verdict: hostile}}, Judge: hostile},
		Experiments: []Experiment{{
			Run: &present.Run{
				Spec:         &spec.Resolved{Named: hostile, Experiment: spec.Experiment{Name: "planted", Title: hostile}},
				Measurements: &metrics.Set{Comment: []string{hostile, metrics.Recipe{Step: hostile, Key: "key", By: hostile}.String()}},
			},
			Outputs: []present.Output{{Tables: []*report.Table{table}, Text: hostile}},
			File:    hostile, Commands: []string{hostile}, Questions: []QuestionSet{set}, NoQuestions: hostile,
			Against: &compare.NumbersReport{Experiment: "planted", Changes: []metrics.Change{{Label: "Route/method=" + hostile + "/benchmark=" + hostile, Unit: hostile, Ours: 1, Reference: 2, Gate: metrics.Exact}}},
			Compare: hostile,
		}},
	}
}

// unpacked are the cards of the questions of a page, by anchor.
func unpacked(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`data-cards="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[1])))
		if err != nil {
			t.Fatal(err)
		}
		var cards [][2]string
		if err := json.NewDecoder(z).Decode(&cards); err != nil {
			t.Fatal(err)
		}
		for _, c := range cards {
			all[c[0]] = c[1]
		}
	}
	return all
}

func TestWhatOthersSayRunsNothingAndChangesNothing(t *testing.T) {
	var b bytes.Buffer
	if err := hostilePage().Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, card := range unpacked(t, text) {
		text += card // what the script opens has to be as harmless
	}
	if n := strings.Count(text, "planted"); n == 0 {
		t.Fatal("nothing was written")
	}
	if n := strings.Count(text, "document.title="); n < 20 {
		t.Errorf("what was said is there %d times; it has to be readable, and harmless", n)
	}
	if n := strings.Count(text, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if n := strings.Count(text, "</style"); n != 1 {
		t.Errorf("%d ends of the style", n)
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U is in the page", r)
		}
	}
	markup, quoted := regexp.MustCompile(`<([a-zA-Z]\w*)(?:[^>"]|"[^"]*")*>`), regexp.MustCompile(`"[^"]*"`)
	for _, m := range markup.FindAllStringSubmatch(text, -1) {
		if m[1] == "img" || regexp.MustCompile(`(?i)\s(on\w+|src|style)\b`).MatchString(quoted.ReplaceAllString(m[0], "")) {
			t.Errorf("planted: %s", m[0])
		}
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "#") && m[1] != "data:," {
			t.Errorf("a link leads to %s", m[1])
		}
	}
}

func TestQuestionsAreSpacedOverEveryBenchmark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var problems []trail.Listed
		sizes := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 8).Draw(t, "sizes")
		for b, n := range sizes {
			for i := range n {
				problems = append(problems, trail.Listed{ID: fmt.Sprintf("%d-%d", b, i), Benchmark: fmt.Sprint(b)})
			}
		}
		most := rapid.IntRange(0, 400).Draw(t, "most")
		ids := spaced(problems, most)
		seen, of := map[string]bool{}, map[string]int{}
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
			b, _, _ := strings.Cut(id, "-")
			of[b]++
		}
		if len(ids) > most {
			t.Fatalf("%d questions of at most %d", len(ids), most)
		}
		if most >= len(problems)*len(sizes) && len(ids) != len(problems) {
			t.Fatalf("%d of %d questions, where there is room for all", len(ids), len(problems))
		}
		for b, n := range sizes {
			if of[fmt.Sprint(b)] < min(n, most/len(sizes)) {
				t.Fatalf("%d questions of benchmark %d, which has %d", of[fmt.Sprint(b)], b, n)
			}
		}
	})
}

var mainSpec = &spec.Resolved{Named: "main", Experiment: spec.Experiment{Name: "main"}}

// By hand: two runs, of which the small expert has one right answer, and both of the large one are cut off.
func TestAQuestionSaysWhoWasRightAndWhoWasAsked(t *testing.T) {
	s := QuestionSet{Name: "paper", Experts: []string{"small", "large"}, Rows: []Routed{{ID: "random", Label: "Random"}, {ID: "entrorouter", Label: "EntroRouter", Outlined: true}, {ID: "alone", Label: "Alone"}}}
	s.Shown = []Question{s.question(&trail.ProblemResult{
		Problem: trail.Question{ID: "x 1", Benchmark: "x", Text: "?", Options: []string{"7"}},
		Rollouts: []trail.RolloutResult{
			{Expert: "small", Bucket: routing.Correct, Reason: "equal", Extracted: "7", Response: "so it is 7", Usage: trail.UsageResult{Out: 10}, USD: 1},
			{Expert: "small", Run: 1, Bucket: routing.Wrong, Reason: "different", Extracted: "8", Usage: trail.UsageResult{Out: 30}, USD: 3},
			{Expert: "large", Bucket: routing.Truncated, Reason: "length", Usage: trail.UsageResult{Out: 100}, USD: 10},
			{Expert: "large", Run: 1, Bucket: routing.Truncated, Reason: "length", Usage: trail.UsageResult{Out: 300}, USD: 20},
		},
		Decisions: []trail.DecisionResult{
			{Row: "random", Expert: "small"}, {Row: "random", Run: 1, Expert: "large"}, {Row: "random", Run: 2, Expert: "large"},
			{Row: "entrorouter", Seed: 3, Expert: "small"}, {Row: "alone", Expert: "expected"},
		},
	})}
	s.Shown[0].To = s.sentTo(map[string]map[string]float64{"random": {"small": 1. / 3, "large": 2. / 3}, "entrorouter": {"small": 0.6, "large": 0.4}, "alone": {"small": 0.5, "large": 0.5}})
	of := s.asked(mainSpec, false)
	r := of.Rows[0]
	if of.Anchor != "main-paper" || of.Default != 1 || r.Anchor != "q-main-paper-x-1" || r.Sent != "10-" || r.Disagree {
		t.Errorf("%q, outlined %d, %q, sent %q, disagree %v", of.Anchor, of.Default, r.Anchor, r.Sent, r.Disagree)
	}
	if g := r.Grid; g[0].Word != split || g[0].Sign != "½" || g[0].Right != 1 || g[0].Of != 2 || !g[0].Chosen || g[1].Sign != "✂" || g[1].Right != 0 || g[1].Chosen {
		t.Errorf("%+v", g)
	}
	want := []Decided{{"Random", 0, "0", "small"}, {"Random", 0, "1–2", "large"}, {"EntroRouter", 3, "0", "small"}, {"Alone", 0, "0", "expected"}}
	if !slices.Equal(r.Decided, want) {
		t.Errorf("%+v", r.Decided)
	}
	if err := of.pack(); err != nil {
		t.Fatal(err)
	}
	card := unpacked(t, `data-cards="`+of.Packed+`"`)["q-main-paper-x-1"]
	for _, want := range []string{
		`<th scope=row>small<td>0<td>correct<td>equal<td>10<td>1<td dir="auto"><bdi>7</bdi>`, `<th scope=row>large<td>1<td>truncated<td>length<td>300<td>20<td`,
		`<th scope=row>EntroRouter<td>3<td>0<td>small`, `<summary>Response of small</summary><pre dir="auto">so it is 7</pre>`,
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the card does not say %s: %s", want, card)
		}
	}
	for _, m := range regexp.MustCompile(`<\w+ [^>]*class=text[^>]*>`).FindAllString(card, -1) {
		if !strings.Contains(m, " tabindex=0 ") || !strings.Contains(m, " aria-label=") {
			t.Errorf("no key reaches what is scrolled: %s", m)
		}
	}
	s.Shown[0].Texts = true
	for served, want := range map[bool]int{true: 1, false: 0} {
		of := s.asked(mainSpec, served)
		if err := of.pack(); err != nil {
			t.Fatal(err)
		}
		card := unpacked(t, `data-cards="`+of.Packed+`"`)["q-main-paper-x-1"]
		if n := strings.Count(card, `<a href="/answers/main/paper/x%201">whole answers</a>`); n != want {
			t.Errorf("served %v: %d links to whole answers: %s", served, n, card)
		}
	}
}

// By hand: of two questions each expert has a sign, what was right of how many and two digits of its dollars, and each row a digit.
func TestAllQuestionsArePackedByColumn(t *testing.T) {
	s := QuestionSet{Name: "paper", All: 2, Experts: []string{"small", "large"}, Rows: []Routed{{ID: "a"}, {ID: "b"}}, Every: []Glance{
		{ID: "one", Benchmark: "x", Gold: []string{"1/2", "one half"}, Cells: []trail.Tally{{Buckets: map[routing.Bucket]int{routing.Correct: 3, routing.Wrong: 1}, USD: 0.001234, Readings: trail.Readings{Right: []string{"1/2", "0.5"}, Others: []string{"7"}}}, {}}, To: []int{1, -1}},
		{ID: "two", Benchmark: "y", Gold: []string{"never read"}, Cells: []trail.Tally{{Buckets: map[routing.Bucket]int{routing.Truncated: 1}}, {Buckets: map[routing.Bucket]int{routing.Wrong: 1, routing.Correct: 1}, USD: 2, Readings: trail.Readings{Right: []string{"8"}}}}, To: []int{0, 0}},
	}}
	got := s.columns()
	want := columns{IDs: []string{"one", "two"}, Benchmarks: []string{"x", "y"}, Of: []int{0, 1}, Gold: []string{"1/2", ""}, Signs: answerSigns, Sent: []string{"10", "-0"},
		Experts: []column{{"04", []int{3, 0}, []int{4, 1}, []float64{0.0012, 0}, [][]string{{"", "0.5"}, nil}, [][]string{{"7"}, nil}}, {"-1", []int{0, 1}, []int{0, 2}, []float64{0, 2}, [][]string{nil, {"8"}}, [][]string{nil, nil}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for _, shown := range [][]Question{nil, {{ID: "one"}, {ID: "two"}}} {
		s.Shown = shown
		of := s.asked(mainSpec, false)
		if err := of.pack(); err != nil || (of.PackedAll == "") != (len(shown) == 2) {
			t.Errorf("%d of two are a sample: %d bytes hold the others (%v)", len(shown), len(of.PackedAll), err)
		}
	}
}

// As many questions as the paper's main table has, with four experts and thirty rows that mostly agree, take 30 bytes each.
func TestAllQuestionsOfATableAreSmall(t *testing.T) {
	coin := rand.New(rand.NewPCG(1, 2))
	s := QuestionSet{Name: "paper", Experts: make([]string, 4), Rows: make([]Routed, 30)}
	for i := range 1401 {
		q := Glance{ID: fmt.Sprintf("sim-math500-%05d", i+1), Benchmark: "sim-math500", Gold: []string{strconv.Itoa(coin.IntN(1000))}, To: make([]int, 30)}
		for range s.Experts {
			bucket, read := routing.Correct, trail.Readings{Right: q.Gold}
			if coin.IntN(5) == 0 {
				bucket, read = routing.Wrong, trail.Readings{Others: []string{strconv.Itoa(coin.IntN(1000))}}
			}
			q.Cells = append(q.Cells, trail.Tally{Buckets: map[routing.Bucket]int{bucket: 1}, USD: 1e-4 * (1 + 9*coin.Float64()), Readings: read})
		}
		usual := coin.IntN(3)
		for j := range q.To {
			if q.To[j] = usual; coin.IntN(20) == 0 {
				q.To[j] = coin.IntN(3)
			}
		}
		s.Every = append(s.Every, q)
	}
	if of, err := packed(s.columns()); err != nil || len(of) > 30*len(s.Every) {
		t.Errorf("%d bytes (%v)", len(of), err)
	}
}

// What is judged by another rule for the strongest expert stands with the numbers of a sentence, and has no column of marks.
func TestMarksAreOfTheMainRows(t *testing.T) {
	of := func(id string, ruled bool) judged {
		return judged{Scale: scale{ID: id, Ruled: ruled}, mark: markOf(paper.Confirmed)}
	}
	s := sentence{On: []judged{of("a", false), of("a-ruled", true), of("b", false), {Scale: scale{ID: "c"}}, of("c-ruled", true)}}
	var marked []string
	for _, j := range s.Marked() {
		marked = append(marked, j.Scale.ID)
	}
	s.On[0].Questions, s.On[1].Questions = 5, 5
	v := verdicts{Sections: []sentences{{Of: []sentence{s}}}}
	if v.leaveOutWhatTheMainRowsHave(); !s.On[1].Ditto || s.On[0].Ditto || s.On[2].Ditto {
		t.Errorf("%+v", s.On)
	}
	s.On[0].Questions = 6
	if v.leaveOutWhatTheMainRowsHave(); s.On[1].Ditto {
		t.Error("of other questions, and not said")
	}
	for _, j := range s.On {
		v.Scales = append(v.Scales, j.Scale)
	}
	if got := fmt.Sprint(marked, v.Heads(), len(s.On)); got != "[a b] [{a  false false} {b  false false} {c  false false}] 5" {
		t.Error(got)
	}
}

// By hand: of answers that are right and others the mark is that of more of them, and its own where they are as many.
func TestAMarkIsThatOfMoreAnswers(t *testing.T) {
	for of, want := range map[string]string{"c": "correct", "w": "wrong", "cw": split, "ccw": "correct", "cwt": "wrong", "cctw": split, "ctt": "truncated", "u": "unanswered", "": ""} {
		var a Answered
		for _, x := range of {
			a.Answers = append(a.Answers, Answer{Bucket: map[rune]routing.Bucket{'c': routing.Correct, 'w': routing.Wrong, 't': routing.Truncated, 'u': routing.Unanswered}[x]})
		}
		got := ""
		if at := usual(a.tally()); at >= 0 {
			got = answerSigns[at].Word
		}
		if got != want {
			t.Errorf("%q: %q, not %q", of, got, want)
		}
	}
}

// Of all sets together at most so many questions keep whole responses, as many as that where there are, and each says its own.
func TestWholeResponsesAreASample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sets []*QuestionSet
		all := 0
		for range rapid.IntRange(1, 5).Draw(t, "sets") {
			s := &QuestionSet{}
			for range rapid.IntRange(0, 30).Draw(t, "questions") {
				s.Shown = append(s.Shown, Question{Texts: true, Cells: []Answered{{Answers: []Answer{{Whole: "all of it"}}}}})
				all++
			}
			sets = append(sets, s)
		}
		most := rapid.IntRange(0, 100).Draw(t, "most")
		Sample(sets, most)
		total := 0
		for _, s := range sets {
			n := 0
			for _, q := range s.Shown {
				if q.Cells[0].Answers[0].Whole != "" {
					n++
				}
			}
			if total += n; n != s.Whole {
				t.Fatalf("a set says %d, and has %d", s.Whole, n)
			}
		}
		if total != min(all, most) {
			t.Fatalf("%d of %d have whole responses, at most %d", total, all, most)
		}
	})
}

// By hand: on the first question both rows ask the same expert, on the second two that are both right, on the third only one is right.
func TestASentenceLeadsToAQuestionOnWhichItsRowsDiffer(t *testing.T) {
	answered := func(right ...bool) (cells []Answered) {
		for m, is := range right {
			bucket := map[bool]routing.Bucket{true: routing.Correct, false: routing.Wrong}[is]
			cells = append(cells, Answered{Expert: fmt.Sprint(m), Answers: []Answer{{Bucket: bucket}}})
		}
		return cells
	}
	s := QuestionSet{Name: "paper", Experts: []string{"0", "1"}, Rows: []Routed{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Shown: []Question{
		{ID: "same", Benchmark: "x", Cells: answered(true, false), To: []int{0, 0, 1}},
		{ID: "both", Benchmark: "x", Cells: answered(true, true), To: []int{0, 1, 1}},
		{ID: "one", Benchmark: "y", Cells: answered(false, true), To: []int{0, 1, -1}},
	}}
	of := s.asked(mainSpec, false)
	for _, c := range []struct {
		rows            []string
		benchmark, want string
		differ          bool
	}{
		{[]string{"a", "b"}, "avg", "q-main-paper-one", true},
		{[]string{"a", "b"}, "x", "q-main-paper-both", true},
		{[]string{"a", "c"}, "avg", "q-main-paper-same", true},
		{[]string{"b", "c"}, "y", "q-main-paper-one", false},
		{[]string{"b", "c"}, "avg", "q-main-paper-same", true},
		{[]string{"a"}, "avg", "q-main-paper-same", false},
		{[]string{"a", "elsewhere"}, "", "q-main-paper-same", false},
	} {
		if got, differ := of.disputed(c.rows, c.benchmark); got != c.want || differ != c.differ {
			t.Errorf("%v of %s lead to %q (%t), not %q (%t)", c.rows, c.benchmark, got, differ, c.want, c.differ)
		}
	}
	here := []section{{Name: "main", Sets: []asked{of}}}
	for _, c := range []struct {
		name, arena string
		want        origin
	}{
		{"main", "paper", origin{Name: "main", Here: true, Question: "q-main-paper-one", Differ: true, Set: "g-main-paper"}},
		{"main", "large", origin{Name: "main", Here: true, Question: "q-main-paper-one", Differ: true, Other: true, Set: "g-main-paper"}},
		{"other", "paper", origin{Name: "other"}},
	} {
		if got := (&Paper{}).originOf(c.name, here, paper.Scale{Keys: map[string]string{"arena": c.arena}}, []string{"a", "b"}, ""); got != c.want {
			t.Errorf("%s of %s: %+v, not %+v", c.arena, c.name, got, c.want)
		}
	}
}

func TestScalesWithoutANumberAreLeftOut(t *testing.T) {
	none, some := judged{mark: markOf(paper.NotRun)}, judged{mark: markOf(paper.Confirmed), measured: true}
	v := &verdicts{
		Scales: []scale{{ID: "a", Title: "A"}, {ID: "b", Title: "B"}, {ID: "c", Title: "C"}},
		Sections: []sentences{
			{Of: []sentence{{On: []judged{none, {}, some}}, {On: nil}}},
			{Of: []sentence{{On: []judged{{mark: markOf(paper.Untestable)}, none, none}}}},
		},
	}
	v.leaveOutWhatWasNotRun()
	if got := fmt.Sprint(v.Scales, v.NotRun); got != "[{c C false false}] [A B]" {
		t.Errorf("shown, and not run: %s", got)
	}
	if first, second := v.Sections[0].Of, v.Sections[1].Of[0]; len(first[0].On) != 1 || !first[0].On[0].measured || len(first[1].On) != 0 || len(second.On) != 1 || second.On[0].Word != paper.NotRun {
		t.Errorf("%+v, %+v", first, second)
	}
}

// By hand: of two numbers with bands of 2 and 1 the second moved further beyond its own, and what has to repeat itself moved most.
func TestNumbersThatMovedAreListedBySize(t *testing.T) {
	change := func(row, unit string, before, after float64, gate metrics.Gate, band float64) metrics.Change {
		return metrics.Change{Label: "Route/experiment=x/pool=p/arena=paper/method=" + row + "/benchmark=avg", Unit: unit, Ours: after, Reference: before, Gate: gate, Band: band, Noise: math.NaN()}
	}
	e := Experiment{
		Run: &present.Run{Spec: &spec.Resolved{Experiment: spec.Experiment{Methods: []spec.Method{{Name: "random", Label: "By chance"}}}}},
		Against: &compare.NumbersReport{Experiment: "x", Changes: []metrics.Change{
			change("random", "a", 10, 15, metrics.Seeds, 2), change("logistic", "b", 10, 13, metrics.Seeds, 1), change("fixed", "c", 10, 10.5, metrics.Exact, 0),
			change("fixed", "d", 10, 10, metrics.Exact, 0), change("random", "e", 10, 11, metrics.Seeds, 2),
			change("random", "f", 1, 2, metrics.None, 0), change("random", "g", 100, 110, metrics.None, 0),
			{Label: "Cost/arena=paper/benchmark=x/seed=3", Unit: "h", Reference: 4, Missing: true, Gate: metrics.None, Noise: math.NaN()},
		}},
	}
	c := e.compared("there")
	if c.All != 8 || c.Same != 1 || c.Within != 1 || c.Unjudged != 2 || c.Beyond != 4 {
		t.Errorf("%+v", c)
	}
	var order string
	for _, k := range c.Kinds {
		for _, m := range k.Of {
			order += m.Unit
		}
		order += " "
	}
	if order != "hcba fg e " {
		t.Errorf("listed as %s", order)
	}
	gone, moved := c.Kinds[0].Of[0], c.Kinds[0].Of[3]
	if gone.Row != "cost" || gone.Benchmark != "x" || gone.Rest != "arena=paper seed=3" || gone.Before != "4" || gone.After+gone.Difference+gone.Noise != "" || gone.Verdict != "missing" {
		t.Errorf("%+v", gone)
	}
	if moved.Row != "By chance" || moved.Benchmark != "avg" || moved.Rest != "arena=paper" || moved.Before != "10" || moved.After != "15" || moved.Difference != "+5" || moved.Noise != "2" || moved.Verdict != "regression" {
		t.Errorf("%+v", moved)
	}
	e.Against = nil
	if c := e.compared("there"); c != nil {
		t.Errorf("compared with nothing: %+v", c)
	}
}

// Write leaves apostrophes as they are, which an attribute in such quotes would end at: no template has one.
func TestNoAttributeStandsInApostrophes(t *testing.T) {
	files, err := filepath.Glob("../*/*.gohtml")
	if err != nil || len(files) < 3 {
		t.Fatalf("templates %v (%v)", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(text, []byte("='")); i >= 0 {
			t.Errorf("%s has an attribute in apostrophes: %.60q", name, text[i:])
		}
	}
}

func TestTrainingsAreInTheOrderOfTheirSeeds(t *testing.T) {
	set := &metrics.Set{}
	for _, seed := range []string{"1", "10", "2", "", "10"} {
		set.Measurements = append(set.Measurements, metrics.Measurement{Name: "Route", Keys: metrics.Keys("seed", seed)})
	}
	if got := provenanceOf(&present.Run{Spec: &spec.Resolved{}, Measurements: set}).Seeds; !slices.Equal(got, []string{"1", "2", "10"}) {
		t.Errorf("%q", got)
	}
}
