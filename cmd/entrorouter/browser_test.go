//go:build browser

// What a reader does with the page of report, in Chromium: make test-browser. Without one the tests are skipped, or fail where BROWSER is
// required. The driver is large, so other tests are built without it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/page"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
)

// browser opens a page of report; what the console says against it fails the test.
func browser(t *testing.T, width int64, args ...string) (do func(...chromedp.Action)) {
	t.Helper()
	return browserAt(t, width, reportFile(t, args...))
}

// reportFile is a page of report.
func reportFile(t testing.TB, args ...string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "report.html")
	command(t, append([]string{"report", "--output", file}, args...)...)
	return file
}

func browserAt(t testing.TB, width int64, file string, before ...chromedp.Action) (do func(...chromedp.Action)) {
	t.Helper()
	var found string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		without := t.Skip
		if os.Getenv("BROWSER") == "required" {
			without = t.Fatal
		}
		without("there is no Chromium to open a page with: install chromium")
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the script failed: %s", e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			t.Errorf("the console says: %s", e.Entry.Text)
		}
	})
	do = func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	do(chromedp.EmulateViewport(width, 900))
	do(append(before, chromedp.Navigate("file://"+file))...)
	return do
}

// mainRun is the experiment main with 10 problems of each benchmark and one training seed.
var mainRun = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(shared, "small")
	text, err := os.ReadFile("../../experiments/main.yaml")
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main.yaml"), append(regexp.MustCompile(`(?m)^large: .*$`).ReplaceAll(text, []byte("large: 200")), "\nevaluate: {seeds: [1], max_problems: 10}\n"...), 0o666)
	}
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	if code := run([]string{"entrorouter", "run", filepath.Join(dir, "main.yaml"), "--out", filepath.Join(dir, "out"), "--figures", filepath.Join(dir, "fig")}, nil, &out, &errs); code != exitOK {
		return "", fmt.Errorf("exit code %d: %s", code, errs.String())
	}
	return dir, nil
})

// click is that of a reader, who sees what is clicked: where it is, is known once what is shown has been laid out, and once the page
// has stopped to follow the link that was clicked before.
func click(selector string) chromedp.Action {
	frames := func(n int) chromedp.Action {
		var is bool
		return chromedp.Evaluate(fmt.Sprintf(`new Promise((done) => { const wait = (n) => n ? requestAnimationFrame(() => wait(n - 1)) : done(true); wait(%d); })`, n), &is,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
	}
	return chromedp.Tasks{frames(12), chromedp.ScrollIntoView(selector, chromedp.ByQuery), frames(2), chromedp.Click(selector, chromedp.ByQuery)}
}

// tells is what an expression in the page comes to.
func tells[T any](do func(...chromedp.Action), expression string) (value T) {
	do(chromedp.Evaluate(expression, &value))
	return value
}

// Without Chromium tests are skipped, with a sentence, and fail where it is required.
func TestBrowserIsMissed(t *testing.T) {
	for required, want := range map[string]string{"": "--- SKIP", "required": "--- FAIL"} {
		formulas := exec.Command(os.Args[0], "-test.v", "-test.run", "^TestBrowserSetsFormulas$")
		formulas.Env = append(os.Environ(), "PATH=", "BROWSER="+required)
		said, err := formulas.CombinedOutput()
		if (err != nil) != (required != "") || !bytes.Contains(said, []byte(want)) || !bytes.Contains(said, []byte("install chromium")) {
			t.Errorf("BROWSER=%s: %v\n%s", required, err, said)
		}
	}
}

func TestBrowserGoesFromAClaimToItsDetail(t *testing.T) {
	do := browser(t, 1280, "main", "--figures", "../../figures")
	const opened = `getComputedStyle(document.querySelector("#c-retention .opened")).contentVisibility !== "hidden" && document.querySelector("#c-retention .opened").checkVisibility()`
	if tells[bool](do, opened) {
		t.Error("a sentence is open before it is clicked")
	}
	do(click(`nav a[href="#verdicts"]`), click(`#c-retention > summary`)) // two clicks
	if !tells[bool](do, opened) || !strings.Contains(tells[string](do, `document.querySelector("#c-retention .opened").innerText`), "paper.List.Check") {
		t.Error("two clicks do not lead to what is behind a claim")
	}
	do(chromedp.SetValue(`#filter-verdicts [name=verdict]`, "refuted", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById("filter-verdicts").dispatchEvent(new Event("input"))`, nil))
	if n, all := tells[int](do, `document.querySelectorAll(".sentence:not([hidden])").length`), tells[int](do, `document.querySelectorAll(".sentence").length`); n == 0 || n >= all {
		t.Errorf("%d of %d sentences are refuted somewhere", n, all)
	}
	if n := tells[int](do, `[...document.querySelectorAll(".sentence:not([hidden])")].filter((s) => ![...s.querySelectorAll("summary .mark")].some((m) => m.ariaLabel.endsWith(": refuted"))).length`); n > 0 {
		t.Errorf("%d sentences are left that nothing refutes", n)
	}
}

func TestBrowserSortsATable(t *testing.T) {
	do := browser(t, 1280, "main", "--figures", "../../figures")
	const order = `[...document.querySelectorAll("[id='t-main/table'] tbody:not(.section) tr:first-child")].map((r) => r.cells[0].textContent).join("|")`
	before := tells[string](do, order)
	const numbers = `[...document.querySelectorAll("[id='t-main/table'] tbody:not(.section) tr:first-child")].map((r) => parseFloat(r.cells[r.cells.length - 2].textContent)).filter((x) => !Number.isNaN(x))`
	sort := click(`[id='t-main/table'] thead tr:last-child th:nth-last-child(2) button`)
	for _, sign := range []float64{-1, 1} {
		do(sort)
		of := tells[[]float64](do, numbers)
		for i := 1; i < len(of); i++ {
			if sign*of[i] < sign*of[i-1] {
				t.Errorf("sorted: %v", of)
				break
			}
		}
		if len(of) < 15 {
			t.Errorf("%d numbers", len(of))
		}
	}
	do(sort)
	if after := tells[string](do, order); after != before {
		t.Errorf("the third click leaves %s, not %s", after, before)
	}
	// The paper's rows and the benchmarks.
	shown := func(selector string) int {
		return tells[int](do, `[...document.querySelectorAll("`+selector+`")].filter((e) => e.checkVisibility()).length`)
	}
	if shown("[id='t-main/table'] tr.paper") == 0 || shown("[id='t-main/table'] tr > td:first-of-type") > 0 {
		t.Error("at first the paper's rows are there, and benchmarks are folded")
	}
	do(click("#paper-rows"), click("[id='t-main/table'] .fold input"))
	if shown("[id='t-main/table'] tr.paper") > 0 || shown("[id='t-main/table'] tr > td:first-of-type") == 0 {
		t.Error("neither switch does anything")
	}
}

func TestBrowserGoesFromACellToItsQuestions(t *testing.T) {
	dir, err := mainRun()
	if err != nil {
		t.Fatal(err)
	}
	do := browser(t, 1280, filepath.Join(dir, "main.yaml"), "--figures", filepath.Join(dir, "fig"), "--out", filepath.Join(dir, "out"))
	do(click("[id='t-main/table'] .fold input"),
		chromedp.Evaluate(`(() => {
			const table = document.querySelector("[id='t-main/table']");
			const at = [...table.querySelectorAll("thead th:not([colspan])")].findIndex((head) => head.dataset.benchmark === "sim-aime24");
			table.querySelector('tr[data-row="logistic"]').cells[at].querySelector("a").click();
		})()`, nil), // one click
		click(`#g-main-paper .grid tbody tr:not([hidden]) td`), chromedp.WaitVisible(".card h4", chromedp.ByQuery)) // two
	if of := tells[string](do, `document.querySelector(".card h4").textContent`); !strings.HasPrefix(of, "sim-aime24-") {
		t.Errorf("two clicks lead to %q", of)
	}
	do(click(`[id='t-main/metrics'] tr[data-row="knn"] th a`)) // numbers on the large set: the row's name leads to its other questions
	if row, from := tells[string](do, `document.querySelector("#g-main-paper [name=row]").value`), tells[string](do, `document.querySelector("#g-main-paper [name=benchmark]").value`); row != "knn" || from != "" {
		t.Errorf("the name of a row leads to row %q on benchmark %q", row, from)
	}
	do(chromedp.Evaluate(`history.back()`, nil), chromedp.WaitVisible(".card h4", chromedp.ByQuery))
	do(chromedp.SetValue(`#g-main-paper [name=benchmark]`, "sim-aime24", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector("#g-main-paper form").dispatchEvent(new Event("input"))`, nil), chromedp.Sleep(100*time.Millisecond))
	hash := tells[string](do, "location.hash")
	if !strings.HasPrefix(hash, "#q-main-paper-sim-aime24-") {
		t.Errorf("the address is %s", hash)
	}
	do(click(".card .after"), chromedp.Sleep(100*time.Millisecond))
	if next := tells[string](do, "location.hash"); next == hash || !strings.HasPrefix(next, "#q-main-paper-sim-aime24-") {
		t.Errorf("after %s comes %s", hash, next)
	}
	hash = tells[string](do, "location.hash")
	do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.Sleep(100*time.Millisecond), chromedp.KeyEvent(kb.ArrowRight), chromedp.Sleep(100*time.Millisecond))
	if back := tells[string](do, "location.hash"); back != hash || tells[int](do, `document.querySelectorAll(".card").length`) != 1 {
		t.Errorf("keys lead from %s to %s", hash, back)
	}
	do(chromedp.KeyEvent(kb.Escape), chromedp.Sleep(100*time.Millisecond))
	if n := tells[int](do, `document.querySelectorAll(".card").length`); n != 0 {
		t.Error("Escape leaves the card open")
	}
	do(click(`#g-main-paper [name=disagree]`))
	if n := tells[int](do, `document.querySelectorAll("#g-main-paper .grid tbody tr:not([hidden]):not(.disagree)").length`); n > 0 {
		t.Errorf("%d questions are left on which nobody disagrees", n)
	}
}

// A page with a sample of the questions lists all of them, and an address leads to any.
func TestBrowserListsEveryQuestion(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	do := browser(t, 1280, "smoke", "--figures", filepath.Join(dir, "fig"), "--out", filepath.Join(dir, "out"), "--questions", "7")
	lines := func(which string) int {
		return tells[int](do, `document.querySelectorAll("#g-smoke-paper .grid tbody tr`+which+`").length`)
	}
	sample := lines("")
	do(click(`#g-smoke-paper [name=every]`), chromedp.Sleep(100*time.Millisecond))
	every := lines("")
	if listed := tells[string](do, `document.querySelector("#g-smoke-paper [name=every]").parentElement.textContent.trim()`); sample != 7 || every <= sample || listed != fmt.Sprintf("all %d questions", every) {
		t.Fatalf("%d lines, then %d of %s", sample, every, listed)
	}
	if n := tells[int](do, `new Set([...document.querySelectorAll("#g-smoke-paper .grid tbody tr")].map((line) => line.id)).size`); n != every {
		t.Errorf("%d lines have %d addresses", every, n)
	}
	do(click(`#g-smoke-paper [name=disagree]`), chromedp.Sleep(100*time.Millisecond))
	if disagree, all := lines(":not([hidden])"), lines(".disagree"); disagree == 0 || disagree != all || disagree == every {
		t.Errorf("%d lines are shown, experts disagree on %d of %d", disagree, all, every)
	}
	do(click(`#g-smoke-paper [name=disagree]`), click(`#g-smoke-paper [name=every]`), chromedp.Sleep(100*time.Millisecond))
	if n := lines(""); n != sample {
		t.Errorf("%d lines are left of %d", n, sample)
	}
	do(chromedp.Evaluate(`location.hash = "q-smoke-paper-sim-aime24-00002"`, nil), chromedp.WaitVisible(".card h4", chromedp.ByQuery))
	said := tells[string](do, `document.querySelector(".card").textContent`)
	for _, want := range []string{"sim-aime24-00002", "EntroRouter", "Dollars per answer", "Right ones read as", "Others read as", "entrorouter show smoke ", " --set paper --problem sim-aime24-00002"} {
		if !strings.Contains(said, want) {
			t.Errorf("the card does not say %q: %s", want, said)
		}
	}
	right := func() []string {
		return tells[[]string](do, `[...document.querySelectorAll("#g-smoke-paper .grid tbody tr")].filter((line) => line.querySelector(".mark.yes")).map((line) => line.id)`)
	}
	if tells[bool](do, `document.querySelector("#g-smoke-paper [name=every]").checked`) {
		do(click(`#g-smoke-paper [name=every]`), chromedp.Sleep(100*time.Millisecond))
	}
	sampled := right()
	do(click(`#g-smoke-paper [name=every]`), chromedp.Sleep(100*time.Millisecond))
	others := slices.DeleteFunc(right(), func(id string) bool { return slices.Contains(sampled, id) })
	if len(others) == 0 {
		t.Fatal("nobody was right on a question outside the sample")
	}
	do(chromedp.Evaluate(`location.hash = "`+others[0]+`"`, nil), chromedp.Sleep(100*time.Millisecond))
	// Verdict, Right, Dollars, Right ones, Others: of each expert there is a reading of right answers just where there are some.
	for _, line := range tells[[][]string](do, `[...document.querySelectorAll(".card .answers tbody tr")].map((tr) => [...tr.children].map((x) => x.textContent))`) {
		if len(line) != 6 || strings.HasPrefix(line[2], "0 of ") != (line[4] == "") {
			t.Errorf("of an expert the card says %q", line)
		}
	}
}

// A touch has no pointer that could rest on a mark: what it says stands below the figure, with the contrast at equal cost.
func TestBrowserSaysWhatATouchedMarkIs(t *testing.T) {
	do := browser(t, 400, "main", "--figures", "../../figures")
	do(chromedp.Evaluate(`[...document.querySelectorAll("[id='f-main/pareto'] circle")].find((s) => s.textContent.startsWith("Logistic")).dispatchEvent(new MouseEvent("click", {bubbles: true}))`, nil))
	said := tells[string](do, `document.querySelector("[id='f-main/pareto'] span[aria-live]").textContent`)
	if !regexp.MustCompile(`^Logistic utility: Accuracy \(%\) [\d.]+ \[.*; above EntroRouter at equal cost by -?[\d.]+ \[-?[\d.]+, -?[\d.]+\] points; hull gain `).MatchString(said) {
		t.Errorf("a touched mark says %q", said)
	}
	// By keys alone a button says one mark after the other, and outlines it.
	do(chromedp.Evaluate(`[...document.querySelectorAll("[id='f-main/pareto'] button")].find((b) => b.textContent === "Next mark").focus()`, nil))
	for range 2 {
		before := said
		do(chromedp.KeyEvent(kb.Enter))
		said = tells[string](do, `document.querySelector("[id='f-main/pareto'] span[aria-live]").textContent`)
		if outlined := tells[[]string](do, `[...document.querySelectorAll("[id='f-main/pareto'] circle.told")].map((c) => c.textContent)`); said == before || !slices.Equal(outlined, []string{said}) {
			t.Errorf("the next mark says %q, and outlined is %q", said, outlined)
		}
	}
}

// Whatever a point of accuracy is worth, the row that is marked has most left after its costs, and no row is above the line through it.
func TestBrowserSaysWhichRowIsBestAtAPrice(t *testing.T) {
	do := browser(t, 1280, "main", "--figures", "../../figures")
	const slider = `[id='f-main/pareto'] .worth input`
	type row struct {
		Name                 string
		Cost, Accuracy, X, Y float64
		Best                 bool
	}
	const rows = `[...document.querySelectorAll("[id='f-main/pareto'] circle[data-row]")].map((c) => ({Name: c.dataset.row, Cost: +c.dataset.cost, Accuracy: +c.dataset.accuracy, X: +(c.dataset.x ?? c.getAttribute("cx")), Y: +(c.dataset.y ?? c.getAttribute("cy")), Best: c.matches(".best")}))`
	look := func(at string) (best row) {
		t.Helper()
		said := tells[string](do, `document.querySelector("[id='f-main/pareto'] .worth output").textContent`)
		var worth float64
		if _, err := fmt.Sscanf(said, "$%f per 1,000 questions: best is ", &worth); err != nil || worth <= 0 {
			t.Fatalf("%s: %q", at, said)
		}
		all := tells[[]row](do, rows)
		marked := slices.DeleteFunc(slices.Clone(all), func(r row) bool { return !r.Best })
		if len(all) < 10 || len(marked) != 1 {
			t.Fatalf("%s: %d of %d rows are marked", at, len(marked), len(all))
		}
		best = marked[0]
		if !strings.Contains(said, "best is "+best.Name+", which leaves ") || !strings.Contains(tells[string](do, `document.querySelector("`+slider+`").getAttribute("aria-valuetext")`), "best is "+best.Name) {
			t.Errorf("%s: %q, and %s is marked", at, said, best.Name)
		}
		end := func(name string) float64 {
			return tells[float64](do, `Number(document.querySelector("[id='f-main/pareto'] .iso").getAttribute("`+name+`"))`)
		}
		x1, y1, x2, y2 := end("x1"), end("y1"), end("x2"), end("y2")
		line := func(x float64) float64 { return y1 + (x-x1)*(y2-y1)/(x2-x1) }
		if d := line(best.X) - best.Y; x2-x1 < 1 || math.Abs(d) > 0.2 {
			t.Errorf("%s: the line passes %s by %.2f points", at, best.Name, d)
		}
		for _, r := range all {
			if most := best.Accuracy - best.Cost/worth; r.Accuracy-r.Cost/worth > most+0.01 || r.Y > line(r.X)+0.2 {
				t.Errorf("%s: %s has %.3f left, %s %.3f", at, r.Name, r.Accuracy-r.Cost/worth, best.Name, most)
			}
		}
		return best
	}
	set := func(value string) row {
		do(chromedp.SetValue(slider, value, chromedp.ByQuery), chromedp.Evaluate(`document.querySelector("`+slider+`").dispatchEvent(new Event("input"))`, nil))
		return look(value)
	}
	least, middle, most := set("0"), set("100"), set("200")
	if least.Name != "Qwen3-4B" || most.Name != "Qwen3-235B" || middle.Accuracy <= least.Accuracy || middle.Accuracy >= most.Accuracy {
		t.Errorf("best are %+v, %+v and %+v", least, middle, most)
	}
	before := tells[string](do, `document.querySelector("`+slider+`").value`)
	do(chromedp.Focus(slider, chromedp.ByQuery), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	if after := tells[string](do, `document.querySelector("`+slider+`").value`); before != "200" || after != "1" || look("by keys").Name != least.Name {
		t.Errorf("keys lead from %s to %s", before, after)
	}
}

// A fraction stands upright, one that is no formula stays, and neither a wide nor a hostile one changes the page around it.
func TestBrowserSetsFormulas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.html")
	var text bytes.Buffer
	wide := "$$" + strings.Repeat("x+", 400) + "1$$"
	err := page.WriteAnswers(&text, "main", &trail.ProblemResult{
		Problem:  trail.Question{ID: "q", Text: `Find $\frac{1}{2}$ of $3 and $4.`, Options: []string{wide, strings.ReplaceAll(wide, "$$", "$")}},
		Rollouts: []trail.RolloutResult{{Expert: "small", Response: wide + ` \(\sqrt{\text{</math><script>document.title="run"</script>}}\) $<img src=x onerror=document.title=1>$ \[\boxed{\frac{3}{2}}\]`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	do := browserAt(t, 400, file)
	if n := tells[int](do, `document.querySelectorAll(".text math").length`); n != 3 {
		t.Errorf("the question has %d formulas", n)
	}
	if upright := tells[bool](do, `(() => { const [above, below] = [...document.querySelectorAll("p.text mfrac > *")].map((e) => e.getBoundingClientRect()); return above.bottom <= below.top && above.height > 0; })()`); !upright {
		t.Error("a fraction is a line")
	}
	if said := tells[string](do, `document.querySelector("p.text").innerText.replace(/\s/g, "")`); said != "Find12of$3and$4." {
		t.Errorf("the question says %q", said)
	}
	if n := tells[int](do, `document.querySelectorAll(".answer > pre math").length`); n != 4 {
		t.Errorf("the answer has %d formulas", n)
	}
	if title := tells[string](do, "document.title"); title != "EntroRouter: q" {
		t.Errorf("a script ran: %s", title)
	}
	if n := tells[int](do, `document.querySelectorAll("script, img").length`); n != 0 {
		t.Errorf("%d elements came of an answer", n)
	}
	if width := tells[int](do, "document.documentElement.scrollWidth"); width > 400 {
		t.Errorf("the page is %d pixels wide on a screen of 400", width)
	}
}

// A claim opens with a click, and the second leads to a question on which its rows differ, with every answer graded.
func TestBrowserGoesFromAClaimToAGradedAnswer(t *testing.T) {
	dir, err := mainRun()
	if err != nil {
		t.Fatal(err)
	}
	do := browser(t, 1280, filepath.Join(dir, "main.yaml"), "--figures", filepath.Join(dir, "fig"), "--out", filepath.Join(dir, "out"))
	if without := tells[[]string](do, `[...document.querySelectorAll(".sentence")].filter((s) => s.querySelector('a[href="#e-main"]') && !s.querySelector("a.question")).map((s) => s.id)`); len(without) > 0 {
		t.Errorf("no question stands behind %q", without)
	}
	if n := tells[int](do, `document.querySelectorAll(".sentence:has(a.question)").length`); n < 30 {
		t.Errorf("%d sentences lead to a question", n)
	}
	claim := tells[string](do, `document.querySelector(".sentence:has(a.question)").id`)
	do(click(`[id="`+claim+`"] > summary`), click(`[id="`+claim+`"] a.question`), chromedp.WaitVisible(".card h4", chromedp.ByQuery))
	if !strings.HasPrefix(tells[string](do, "location.hash"), "#q-main-paper-") {
		t.Errorf("%s leads to %s", claim, tells[string](do, "location.hash"))
	}
	if shown, answers := tells[bool](do, `document.querySelector(".card").checkVisibility()`), tells[[]string](do, `[...document.querySelectorAll(".card .answers tbody tr")].map((r) => r.cells[2].textContent)`); !shown || len(answers) < 2 || !slices.Contains(answers, "correct") {
		t.Errorf("%s leads to answers %q", claim, answers)
	}
	if to := tells[int](do, `new Set([...document.querySelectorAll(".card .decisions tbody tr")].map((r) => r.cells[3].textContent.split(" ")[0])).size`); to < 2 {
		t.Errorf("on the question of %s no rows differ", claim)
	}
}

// From a number of a recorded pool two clicks lead to a question with the answers that were recorded.
func TestBrowserGoesFromACellOfARecordedPoolToItsQuestions(t *testing.T) {
	const data = "../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skip("the recorded answers are not here: " + data)
	}
	dir := t.TempDir()
	at := []string{"recorded-lineage", "--data", data, "--out", filepath.Join(dir, "out"), "--figures", filepath.Join(dir, "fig")}
	command(t, append([]string{"run"}, at...)...)
	do := browser(t, 1280, at...)
	do(chromedp.Evaluate(`document.querySelector('[id^="t-recorded-lineage/"] tr[data-row="entrorouter"] a').click()`, nil),
		click(`#g-recorded-lineage-qwen3_lineage .grid tbody tr:not([hidden]) td`), chromedp.WaitVisible(".card h4", chromedp.ByQuery))
	if row := tells[string](do, `document.querySelector("#g-recorded-lineage-qwen3_lineage [name=row]").value`); row != "entrorouter" {
		t.Errorf("the questions are shown for row %q", row)
	}
	if answers := tells[[]string](do, `[...document.querySelectorAll(".card .answers tbody tr")].map((r) => r.cells[2].textContent)`); len(answers) < 3 {
		t.Errorf("the card has answers %q", answers)
	}
}

// The contents of many experiments are a menu: two clicks lead to any, and no width makes a line that scrolls.
func TestBrowserHasAMenuOfExperiments(t *testing.T) {
	text, err := committedReport()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	put(t, file, []byte(text))
	for _, width := range []int64{400, 1280} {
		do := browserAt(t, width, file)
		if high := tells[float64](do, `document.querySelector("nav").offsetHeight`); high > 120 {
			t.Errorf("at %d pixels contents take %.0f", width, high)
		}
		do(click(".menu > summary"))
		if wide := tells[bool](do, `[...document.querySelectorAll("nav ul")].some((l) => l.scrollWidth > l.clientWidth)`); wide {
			t.Errorf("at %d pixels contents scroll sideways", width)
		}
		do(click(`.menu a[href="#e-recorded-mmlu"]`))
		if open := tells[bool](do, `document.querySelector(".menu").open || location.hash !== "#e-recorded-mmlu"`); open {
			t.Errorf("at %d pixels the menu stays open, or leads elsewhere", width)
		}
		if wide := tells[[]float64](do, `[...document.querySelectorAll(".drawing:not(.wide) svg")].map((d) => d.getBoundingClientRect().width)`); len(wide) < 20 || slices.Max(wide) > 700 || slices.Min(wide) < min(600, float64(width)-40) {
			t.Errorf("at %d pixels drawings have %v", width, wide)
		}
	}
}

// A link to an experiment leads to its heading, though nothing on the way was laid out, in a browser that does not allow for that, as Firefox.
func TestBrowserFollowsALinkToWhereItLeads(t *testing.T) {
	text, err := committedReport()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	put(t, file, []byte(text))
	for _, name := range []string{"recorded-mmlu", "hetero"} {
		do := browserAt(t, 1280, file)
		do(chromedp.Evaluate(`document.documentElement.style.overflowAnchor = document.body.style.overflowAnchor = "none"; document.querySelector('.menu a[href="#e-`+name+`"]').click()`, nil), chromedp.Sleep(time.Second))
		if top := tells[float64](do, `document.getElementById("h-`+name+`").getBoundingClientRect().top`); top < 0 || top > 300 {
			t.Errorf("the link to %s leads to %.0f pixels above it", name, -top)
		}
	}
}

// Of the committed measurements of simulated and of recorded experts, beside another run: every column sorts, on a phone and on a desk
// nothing scrolls sideways, and all that is written can be read, by day and by night. What the console says fails the test, too.
func TestBrowserShowsTheCommittedMeasurements(t *testing.T) {
	other := t.TempDir()
	for _, name := range []string{"main", "recorded-mmlu"} {
		text, err := os.ReadFile(measurementsFile("../../figures", name))
		if err != nil {
			t.Fatal(err)
		}
		was := regexp.MustCompile(`(?m)^(BenchmarkRoute/experiment=\S*/method=(?:logistic|random)/benchmark=(?:avg|all) \d+) \S+`).ReplaceAll(text, []byte("$1 50.125"))
		if bytes.Equal(was, text) {
			t.Fatalf("no number of %s was changed", name)
		}
		put(t, measurementsFile(other, name), was)
	}
	file := reportFile(t, "main", "recorded-mmlu", "--figures", "../../figures", "--against", other, "--questions", "0")
	for _, width := range []int64{360, 1280} {
		do := browserAt(t, width, file)
		if moved := tells[[]string](do, `[...document.querySelectorAll("#against td:last-child")].map((c) => c.textContent)`); len(moved) != 2 || slices.Contains(moved, "0") {
			t.Errorf("beside the other run %q numbers moved by more than noise", moved)
		}
		do(chromedp.Evaluate(`document.querySelectorAll("main details").forEach((d) => { d.open = true; }); document.querySelectorAll(".fold input").forEach((f) => { f.click(); })`, nil))
		if of := tells[int64](do, "document.documentElement.scrollWidth"); of > width {
			t.Errorf("the page is %d pixels wide on a screen of %d", of, width)
		}
		for _, scheme := range []string{"light", "dark"} {
			do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
			if is := tells[bool](do, `matchMedia("(prefers-color-scheme: dark)").matches`); is != (scheme == "dark") {
				t.Fatalf("the page is not %s", scheme)
			}
			if faint := tells[[]string](do, faintTexts); len(faint) > 0 {
				t.Errorf("%s, %d pixels: hard to read are %q", scheme, width, faint)
			}
		}
		if width < 1000 {
			continue
		}
		if of := tells[[]string](do, unsortedColumns); len(of) < 40 || slices.ContainsFunc(of, func(said string) bool { return said != "" }) {
			t.Errorf("%d columns; not sorted: %q", len(of), slices.DeleteFunc(of, func(said string) bool { return said == "" }))
		}
	}
}

// faintTexts are styles of text whose contrast with what is behind it is below 4.5, as WCAG 2 computes it. Drawings are left out: they are
// black on white, and turned over as a whole at night.
const faintTexts = `(() => {
  const parts = (colour) => { const n = colour.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => { const v = c[i] / 255; return sum + weight * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255]; };
  const faint = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || e.closest("script, .drawing .scroll") || !e.checkVisibility()) continue;
    seen++;
    const a = light(parts(getComputedStyle(e).color)), b = light(behind(e)), contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.add(e.tagName + "." + e.className + " " + contrast.toFixed(2));
  }
  if (seen < 1000) faint.add("only " + seen + " texts");
  return [...faint];
})()`

// unsortedColumns clicks the head of every column once: an empty text for one whose numbers fall then, or whose words rise.
const unsortedColumns = `[...document.querySelectorAll("table.numbers thead th:not([colspan])")].map((head) => {
  const table = head.closest("table"), at = [...table.querySelectorAll("thead th:not([colspan])")].indexOf(head);
  head.querySelector("button").click();
  const cells = [...table.tBodies].filter((b) => !b.classList.contains("section")).map((b) => b.rows[0].cells[at]?.textContent.trim() ?? "");
  const sign = head.getAttribute("aria-sort") === "ascending" ? 1 : head.getAttribute("aria-sort") === "descending" ? -1 : 0;
  const numbers = at > 0 ? cells.map(parseFloat).filter((x) => !Number.isNaN(x)) : [];
  const words = cells.filter((c) => c !== "" && (at === 0 || Number.isNaN(parseFloat(c))));
  const falls = (of, compare) => of.some((x, i) => i > 0 && sign * compare(of[i - 1], x) > 0);
  return sign === 0 || falls(numbers, (a, b) => a - b) || falls(words, (a, b) => a.localeCompare(b)) ? table.closest("figure, section").id + " " + head.textContent : "";
})`

// A page with 1,000 questions that ten experts answered ten times, 100,000 outcomes, until its script has run. It is no test:
// go test -tags browser -run '^$' -bench Browser ./cmd/entrorouter.
func BenchmarkBrowserLoads100000Outcomes(b *testing.B) {
	set := page.QuestionSet{Name: "paper", All: 1000, Rows: []page.Routed{{ID: "random", Label: "Random"}}}
	for m := range 10 {
		set.Experts = append(set.Experts, fmt.Sprintf("expert-%d", m))
	}
	for q := range set.All {
		of := page.Question{ID: fmt.Sprintf("q-%d", q), Benchmark: fmt.Sprintf("b-%d", q%7), Text: "What is half of $x^2$?", Gold: []string{"x^2/2"}, To: []int{q % 10}}
		for m, x := range set.Experts {
			a := page.Answered{Expert: x}
			for run := range 10 {
				bucket := routing.Wrong
				if run < (q+m)%11 {
					bucket = routing.Correct
				}
				a.Answers = append(a.Answers, page.Answer{Run: run, Bucket: bucket, Reason: "graded"})
			}
			of.Cells = append(of.Cells, a)
		}
		set.Shown = append(set.Shown, of)
	}
	var text bytes.Buffer
	p := page.Page{Experiments: []page.Experiment{{Run: &present.Run{Spec: &spec.Resolved{Experiment: spec.Experiment{Name: "many"}}, Measurements: &metrics.Set{}}, Questions: []page.QuestionSet{set}}}}
	if err := p.Write(&text); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "report.html")
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	do := browserAt(b, 1280, file)
	for b.Loop() {
		do(chromedp.Reload())
		if said := tells[string](do, `document.querySelector(".questions output").textContent`); said != "1000 questions" {
			b.Fatal(said)
		}
	}
}

// The report of all committed experiments, until its script has run and the table of its verdicts can be sorted. It is no test, as the other.
func BenchmarkBrowserLoadsTheCommittedReport(b *testing.B) {
	do := browserAt(b, 1280, reportFile(b, "--figures", "../../figures"))
	for b.Loop() {
		do(chromedp.Reload())
		if hidden := tells[bool](do, `document.querySelector("#filter-verdicts").hidden`); hidden {
			b.Fatal("the script has not run")
		}
	}
}

func TestBrowserScrollsNoPageSideways(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	do := browser(t, 400, "smoke", "--figures", filepath.Join(dir, "fig"), "--out", filepath.Join(dir, "out"))
	switches := func() bool { return tells[bool](do, `document.querySelector(".switches").checkVisibility()`) }
	if !switches() {
		t.Error("there is no switch for rows of the paper, which the page has")
	}
	do(chromedp.Evaluate(`document.querySelectorAll("tr.paper,td.paper").forEach((x) => { x.remove(); })`, nil))
	if switches() {
		t.Error("there is a switch for rows of the paper, of which the page has none")
	}
	do(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; }); document.querySelectorAll(".fold input").forEach((f) => { f.checked = true; }); document.querySelector(".grid a").click()`, nil), chromedp.WaitVisible(".card h4", chromedp.ByQuery))
	if width := tells[int](do, "document.documentElement.scrollWidth"); width > 400 {
		t.Errorf("the page is %d pixels wide on a screen of 400", width)
	}
	do(emulation.SetDeviceMetricsOverride(320, 256, 1, false)) // a window of 1280 by 1024 at 400%
	if width := tells[int](do, "document.documentElement.scrollWidth"); width > 320 {
		t.Errorf("the page is %d pixels wide at 400%%", width)
	}
	if sticky := tells[bool](do, `getComputedStyle(document.querySelector("nav")).position === "sticky"`); sticky {
		t.Error("the menu stays over a third of a window at 400%")
	}
}

// Without its script the page has its verdicts, tables, figures and who answered what, and says what it needs one for.
func TestBrowserReadsWithoutAScript(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	do := browserAt(t, 1280, reportFile(t, "smoke", "--figures", filepath.Join(dir, "fig"), "--out", filepath.Join(dir, "out")), emulation.SetScriptExecutionDisabled(true))
	if hidden := tells[bool](do, `document.querySelector("form.filter").checkVisibility()`); hidden {
		t.Error("the script ran: there is a filter")
	}
	for _, selector := range []string{"table.numbers tbody th", ".drawing svg", ".sentence summary", ".grid tbody tr .mark", "noscript p"} {
		if !tells[bool](do, `!!document.querySelector("`+selector+`")?.checkVisibility()`) {
			t.Errorf("%s is not to be seen", selector)
		}
	}
}

// Printed, the page begins on its first sheet, leaves shut what is shut, and takes some twenty sheets.
func TestBrowserPrints(t *testing.T) {
	do := browser(t, 1280, "main", "--figures", "../../figures")
	var pdf []byte
	do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = cdppage.PrintToPDF().Do(ctx)
		return err
	}))
	if n := len(regexp.MustCompile(`/Type /Page\b[^s]`).FindAll(pdf, -1)); n < 5 || n > 30 {
		t.Errorf("%d sheets", n)
	}
	do(emulation.SetEmulatedMedia().WithMedia("print"))
	if broken := tells[bool](do, `[...document.querySelectorAll("h1, h2, h3")].some((h) => getComputedStyle(h).breakBefore !== "auto")`); broken {
		t.Error("a heading begins a sheet")
	}
	if open := tells[bool](do, `[...document.querySelectorAll(".sentence .opened")].some((s) => s.checkVisibility({contentVisibilityAuto: true}) && s.getBoundingClientRect().height > 0 && s.closest("details").open)`); open {
		t.Error("a sentence is open that nobody opened")
	}
	// Paper cuts what is wider than it, is white where the screen is dark, and repeats the heads of a table without the buttons in them.
	do(emulation.SetDeviceMetricsOverride(700, 1000, 1, false), emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		chromedp.Evaluate(`document.querySelectorAll(".fold input").forEach((f) => { f.checked = false; })`, nil))
	if wide := tells[[]string](do, `[...document.querySelectorAll("table, pre, svg")].filter((e) => e.getBoundingClientRect().right > 700).map((e) => e.closest("section")?.id + ": " + e.textContent.trim().slice(0, 60))`); len(wide) > 0 {
		t.Errorf("wider than a sheet of A4: %q", wide)
	}
	if ground := tells[string](do, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", ground)
	}
	if boxes := tells[bool](do, `[...document.querySelectorAll("th button")].some((b) => getComputedStyle(b).display !== "contents")`); boxes {
		t.Error("heads of tables are buttons in print")
	}
}
