package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
)

// largest is how many bytes the page of the committed experiments may have.
const largest = 1_500_000

// committedReport is the page of the committed measurements.
var committedReport = sync.OnceValues(func() (string, error) {
	file := filepath.Join(shared, "report.html")
	var out, errs bytes.Buffer
	if code := run([]string{"entrorouter", "report", "--figures", "../../figures", "-o", file}, nil, &out, &errs); code != exitOK {
		return "", errors.New(errs.String())
	}
	text, err := os.ReadFile(file)
	return string(text), err
})

func reportText(t *testing.T) string {
	t.Helper()
	text, err := committedReport()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheReportOfTheCommittedExperimentsIsSmallAndAlone(t *testing.T) {
	text := reportText(t)
	if len(text) > largest {
		t.Errorf("%d bytes; at most %d may be", len(text), largest)
	}
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(text)
	if policy == nil {
		t.Fatal("no content security policy")
	}
	rules := html.UnescapeString(policy[1])
	if !strings.HasPrefix(rules, "default-src 'none';") {
		t.Errorf("the policy is %q", rules)
	}
	for _, element := range []string{"style", "script"} {
		of := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(text, -1)
		if len(of) != 1 {
			t.Fatalf("%d elements %s", len(of), element)
		}
		sum := sha256.Sum256([]byte(of[0][1]))
		if name := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(rules, element+"-src "+name) {
			t.Errorf("the policy %q does not allow the %s, %s", rules, element, name)
		}
	}
	for _, m := range regexp.MustCompile(`(?i)\s(?:src|href|action|style|on\w+)\s*=\s*"?[^"\s>]*|url\(|@import|fetch\(|XMLHttpRequest`).FindAllString(text, -1) {
		if m = strings.TrimSpace(m); !strings.HasPrefix(strings.Replace(m, `"`, "", 1), `href=#`) && m != `href="data:,` {
			t.Errorf("the page has %q", m)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\shref="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !ids[html.UnescapeString(m[1])] {
			t.Errorf("a link leads to #%s, which is not there", m[1])
		}
	}
}

// Every row of a table has a cell for each of its columns, and what is moved sideways is no landmark, of which a page of many tables has too many.
func TestTablesOfTheReportAreWhole(t *testing.T) {
	text := reportText(t)
	if n := strings.Count(text, "role=region"); n > 0 {
		t.Errorf("%d tables are landmarks", n)
	}
	cell, span := regexp.MustCompile(`<t[hd][^>]*>`), regexp.MustCompile(` (?:col|row)span=(\d+)`)
	tables := strings.Split(text, "<table")[1:]
	if len(tables) < 100 {
		t.Fatalf("%d tables", len(tables))
	}
	for _, table := range tables {
		table, _, _ = strings.Cut(table, "</table>")
		columns, tall := 0, 0
		for _, row := range strings.Split(table, "<tr")[1:] {
			n := tall
			tall = 0
			for _, c := range cell.FindAllString(row, -1) {
				wide := 1
				if m := span.FindStringSubmatch(c); m != nil && strings.Contains(c, "rowspan") {
					tall++
				} else if m != nil {
					wide, _ = strconv.Atoi(m[1])
				}
				n += wide
			}
			if columns == 0 {
				columns = n
			} else if n != columns {
				t.Fatalf("%d cells for %d columns: %s", n, columns, row)
			}
		}
	}
}

// With its questions the page that make reproduce ends with is as small: a question costs what one of smoke does, row for row, and in the
// list of all what package page allows.
func TestTheReportOfReproduceIsSmallWithItsQuestions(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	makefile := documentText(t, "Makefile")
	simulated := strings.Fields(regexp.MustCompile(`(?m)^SIMULATED = (.*)$`).FindStringSubmatch(makefile)[1])
	asked, err := strconv.Atoi(regexp.MustCompile(`--questions (\d+)`).FindStringSubmatch(makefile)[1])
	if err != nil || len(simulated) < 10 {
		t.Fatal(simulated, err)
	}
	size := func(args ...string) int {
		file := filepath.Join(t.TempDir(), "report.html")
		command(t, append([]string{"report", "-o", file}, args...)...)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Size())
	}
	// rowsAndQuestions of the answered set of an experiment.
	rowsAndQuestions := func(figures, name string) (rows, questions int) {
		for _, m := range measured(t, figures, name).Where(metrics.Keys("arena", metrics.PaperArena, "benchmark", metrics.Average, "seed", "", "knob", "")...) {
			if n, ok := m.Value(metrics.Questions); ok {
				rows, questions = rows+1, int(n.Number)
			}
		}
		return rows, questions
	}
	base := size(append(simulated, "--figures", "../../figures", "--questions", "0")...)
	smoke := []string{"smoke", "--figures", filepath.Join(dir, "fig"), "--out", filepath.Join(dir, "out")}
	cards := size(append(smoke, "--questions", strconv.Itoa(asked))...) - size(append(smoke, "--questions", "0")...)
	all, rows, questions := base, 0, 0
	most, _ := rowsAndQuestions(filepath.Join(dir, "fig"), "smoke")
	for _, name := range simulated {
		const packed = 30 // bytes that a question takes in the list of all
		r, q := rowsAndQuestions("../../figures", name)
		rows, questions = rows+r, questions+q
		all += cards*r/most + packed*q
	}
	if all > largest || cards < 500*asked || rows < 5*most || questions < 1401 {
		t.Errorf("%d bytes with %d of %d questions by %d rows, where %d rows of smoke have %d; at most %d may be", all, asked, questions, rows, most, cards, largest)
	}
}

// Every verdict that claims writes is in the page, with its number.
func TestEveryVerdictIsInTheReport(t *testing.T) {
	text := reportText(t)
	sentences := map[string]string{} // by id
	for _, part := range strings.Split(text, `<details class=sentence id="c-`)[1:] {
		id, rest, _ := strings.Cut(part, `"`)
		rest, _, _ = strings.Cut(rest, "</details>")
		sentences[id] = html.UnescapeString(rest)
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run([]string{"entrorouter", "claims", "--measurements", "../../figures", "--figures", dir}, nil, &out, &errs); code != exitOK {
		t.Fatal(errs.String())
	}
	titles, ruled := map[string]string{}, map[string]bool{} // of scales, by id; those by another rule for the strongest expert
	built, err := readPaper("")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range built.orderings.Scales {
		titles[s.ID], ruled[s.ID] = s.Title, s.Rule != ""
	}
	n := 0
	for _, file := range []string{"claims.csv", "claims-measured.csv", "verdicts.csv"} {
		for _, r := range records(t, filepath.Join(dir, file)) {
			sentence, ok := sentences[strings.Join(strings.Fields(r["id"]), "-")]
			if !ok {
				t.Errorf("%s: %s is not in the page", file, r["id"])
				continue
			}
			n++
			if r["scale"] == "" {
				if !strings.Contains(sentence, `: `+r["verdict"]+`">`) {
					t.Errorf("%s: %s does not say %q", file, r["id"], r["verdict"])
				}
				continue
			}
			marked := strings.Contains(sentence, `aria-label="`+titles[r["scale"]]+": "+r["verdict"]+`"`)
			if ruled[r["scale"]] { // it has no mark, and a line of the numbers as the others have
				marked = regexp.MustCompile("<th>" + regexp.QuoteMeta(titles[r["scale"]]) + `<td><b class=\w+>.</b>[ \x{a0}]` + r["verdict"] + "<td>").MatchString(sentence)
			}
			if r["verdict"] != "" && !marked {
				t.Errorf("%s: %s on %s is %q and the page does not say so", file, r["id"], r["scale"], r["verdict"])
			}
			if r["reason"] != "" && !strings.Contains(sentence, r["reason"]) {
				t.Errorf("%s: %s on %s has no reason", file, r["id"], r["scale"])
			}
			if q := r["questions"]; q != "" && !strings.Contains(sentence, "<td>"+q+"<td>") {
				t.Errorf("%s: %s on %s has no %s questions", file, r["id"], r["scale"], q)
			}
		}
	}
	if n < 450 {
		t.Errorf("%d verdicts", n)
	}
}

// records reads a CSV file, its heads as keys.
func records(t *testing.T, file string) (all []map[string]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		r := map[string]string{}
		for i, head := range lines[0] {
			r[head] = line[i]
		}
		all = append(all, r)
	}
	return all
}

var (
	tableElement = regexp.MustCompile(`(?s)<figure class=table id="t-([^"]*)">.*?</figure>`)
	groupHead    = regexp.MustCompile(`<th(?: class="g")? colspan=(\d+) scope=colgroup>([^<]*)`)
	columnHead   = regexp.MustCompile(`<th(?: class="g")?>([^<]*)`)
	anyTag       = regexp.MustCompile(`<[^>]*>`)
)

// plain is the text of an element.
func plain(markup string) string {
	return strings.TrimSpace(html.UnescapeString(anyTag.ReplaceAllString(markup, "")))
}

// tableCells are the numbers of a table of the page as they are printed, by section, row, group, column and, of the paper's, "paper".
func tableCells(t *testing.T, table string) map[[5]string]string {
	t.Helper()
	var columns [][2]string // group, column
	heads, rest, _ := strings.Cut(table, "</thead>")
	for _, g := range groupHead.FindAllStringSubmatch(heads, -1) {
		n, err := strconv.Atoi(g[1])
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			columns = append(columns, [2]string{plain(g[2])})
		}
	}
	for i, c := range columnHead.FindAllStringSubmatch(heads, -1) {
		columns[i][1] = plain(c[1])
	}
	cells := map[[5]string]string{}
	section, label := "", ""
	for _, row := range strings.Split(rest, "<tr")[1:] {
		row, _, _ = strings.Cut(row, "</table>")
		parts := strings.Split(row, "<td")
		head := plain("<tr" + parts[0])
		whose := ""
		switch {
		case strings.Contains(parts[0], `scope=rowgroup`):
			section = head
			continue
		case strings.HasPrefix(row, ` class="paper`):
			whose = "paper"
		default:
			label = strings.TrimSuffix(head, " †")
		}
		if len(parts) != len(columns)+1 {
			t.Fatalf("%s has %d cells for %d columns", head, len(parts)-1, len(columns))
		}
		for i, c := range parts[1:] {
			cells[[5]string{section, label, columns[i][0], columns[i][1], whose}] = plain("<td" + c)
		}
	}
	return cells
}

// Every number of every committed table is in the page, rounded as it is printed, and every figure is.
func TestEveryNumberOfATableIsInTheReport(t *testing.T) {
	text := reportText(t)
	tables, numbers := 0, 0
	for _, m := range tableElement.FindAllStringSubmatch(text, -1) {
		tables++
		cells := tableCells(t, m[0])
		for _, r := range records(t, filepath.Join("../../figures", m[1]+".csv")) {
			for _, whose := range []string{"", "paper"} {
				want := r["ours"]
				if whose != "" {
					want = r["paper"]
				}
				if want == "" {
					continue
				}
				printed := cells[[5]string{r["section"], r["row"], r["group"], r["column"], whose}]
				number, _, _ := strings.Cut(printed, " ")
				x, err := strconv.ParseFloat(want, 64)
				got, gotErr := strconv.ParseFloat(number, 64)
				_, digits, _ := strings.Cut(number, ".")
				unit := math.Pow10(-len(digits))
				if len(digits) == 0 { // three significant digits
					unit = math.Pow10(max(len(number)-3, 0))
				}
				if err != nil || gotErr != nil || math.Abs(got-x) > unit/2*(1+1e-6) {
					t.Errorf("%s: %s, %s, %s %s is %s, and the page says %q", m[1], r["row"], r["group"], r["column"], whose, want, printed)
				}
				numbers++
			}
		}
	}
	figures, _ := fs.Glob(os.DirFS("../../figures"), present.File("*", "*.svg"))
	for _, f := range figures {
		if name := strings.TrimSuffix(f, ".svg"); !strings.Contains(text, `id="f-`+name+`"`) {
			t.Errorf("figure %s is not in the page", name)
		}
	}
	if tables < 50 || numbers < 5000 || len(figures) < 20 {
		t.Errorf("%d tables, %d numbers, %d figures", tables, numbers, len(figures))
	}
}

// Beside another run stand the counts and verdicts of check, and the marks of both runs.
func TestTheReportSetsARunBesideAnother(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	figures, other := filepath.Join(dir, "fig"), t.TempDir()
	text, err := os.ReadFile(measurementsFile(figures, "smoke"))
	if err != nil {
		t.Fatal(err)
	}
	was := regexp.MustCompile(`(?m)^(BenchmarkRoute/experiment=smoke/pool=sim/arena=large/method=(?:logistic|qwen3-4b)/benchmark=avg \d+) \S+`).ReplaceAll(text, []byte("$1 50.125"))
	if bytes.Equal(was, text) {
		t.Fatal("no number was changed")
	}
	put(t, measurementsFile(other, "smoke"), was)
	page := func(args ...string) string {
		file := filepath.Join(t.TempDir(), "report.html")
		command(t, append([]string{"report", "smoke", "--figures", figures, "--questions", "0", "-o", file}, args...)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	beside := page("--against", other)
	var out, errs bytes.Buffer
	if code := run([]string{"entrorouter", "check", "smoke", "--out", filepath.Join(dir, "out"), "--against", other, "--json"}, nil, &out, &errs); code != exitMismatch {
		t.Fatal(code, errs.String())
	}
	var check struct {
		Compared int
		Moved    []struct{ Verdict string }
	}
	if err := json.Unmarshal(out.Bytes(), &check); err != nil {
		t.Fatal(err)
	}
	if n := len(check.Moved); n < 2 || n > 20 {
		t.Fatalf("%d numbers moved", n)
	}
	want := fmt.Sprintf(`<a href="#a-smoke">smoke</a><td>%d<td>%d<td>0<td>0<td><b>%d</b>`, check.Compared, check.Compared-len(check.Moved), len(check.Moved))
	if !strings.Contains(beside, want) {
		t.Errorf("check says %s", want)
	}
	for _, want := range []string{`<td class=said>avg<td class=said>arena=large<td class=said>accuracy-%<td>50.125<td>`, "in the other run accuracy 50.1", "A dotted line leads", "entrorouter check smoke --against "} {
		if !strings.Contains(beside, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, args := range [][]string{nil, {"--against", figures}} {
		if text := page(args...); strings.Contains(text, "in the other run") || strings.Contains(text, "<b>") && strings.Contains(text, `<td>0<td>0<td><b>`) {
			t.Errorf("%q: something moved", args)
		}
	}
	if strings.Contains(page(), `id="against"`) {
		t.Error("beside nothing stands something")
	}
	for args, want := range map[[2]string]string{
		{"smoke", filepath.Join(other, "nowhere")}: `no such folder or file`,
		{"smoke", ""}:                                        `--against is empty`,
		{"smoke", filepath.Join(dir, "out")}:                 `is a store; name the folder`,
		{"smoke", t.TempDir()}:                               `has no measurements of smoke; name the folder`,
		{"smoke", measurementsFile("../../figures", "main")}: `has no measurements of smoke`,
		{"smoke", "results/paper"}:                           `the tables have the paper's numbers`,
		{"smoke", "report.go"}:                               `report.go:1`,
	} {
		if said := fails(t, exitUsage, "report", args[0], "--figures", figures, "--against", args[1], "-o", filepath.Join(other, "none.html")); !regexp.MustCompile(want).MatchString(said) || strings.Count(strings.TrimSpace(said), "\n") > 0 {
			t.Errorf("%q: %s", args, said)
		}
	}
	if _, err := os.Stat(filepath.Join(other, "none.html")); err == nil {
		t.Error("a page was written")
	}
}

// What was not run is as in another folder, and said to be, in the table in short as in verdicts; what was run is not.
func TestTheReportFillsWhatWasNotRun(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	figures := filepath.Join(dir, "fig")
	file := filepath.Join(t.TempDir(), "report.html")
	made := func(args ...string) string {
		command(t, append([]string{"report", "smoke", "--figures", figures, "--questions", "0", "-o", file}, args...)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	without, with := made(), made("--fill", "../../figures")
	gains := regexp.MustCompile(`(?s)<caption>Mean gain.*?</table>`)
	number := regexp.MustCompile(`\d\.\d\d<`)
	if n := len(number.FindAllString(gains.FindString(without), -1)); n != 0 {
		t.Errorf("%d gains were measured where nothing was run", n)
	}
	if n := len(number.FindAllString(gains.FindString(with), -1)); n < 40 {
		t.Errorf("%d gains are filled in", n)
	}
	for _, want := range []string{`(?s)id="short-title".*so as measured in <code>../../figures</code>: .*recorded, .*<figure class=sheet`, `<span class=head>Qwen2.5 †</span>`, `<td>recorded-mmlu \(as in ../../figures\)`,
		`entrorouter claims --measurements [^<]+ --figures '' --fill ../../figures`} {
		if !regexp.MustCompile(want).MatchString(with) {
			t.Errorf("the page does not say %s", want)
		}
	}
	if strings.Contains(without, "†</span>") || strings.Contains(without, "(as in ") {
		t.Error("something is filled in that nobody asked for")
	}
	said := fails(t, exitUsage, "report", "smoke", "--figures", figures, "--fill", "nowhere", "-o", file)
	if !strings.Contains(said, "--fill nowhere: there are no measurements in such a folder; name one that has */measurements.txt") {
		t.Error(said)
	}

	// main is run, with the measurements of the committed one: nothing of it is filled in, and no scale of it is marked.
	own := t.TempDir()
	text, err := os.ReadFile(measurementsFile("../../figures", "main"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, measurementsFile(own, "main"), text)
	command(t, "report", "main", "--figures", own, "--fill", "../../figures", "--questions", "0", "-o", file)
	if text, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `main (as in`) || strings.Contains(string(text), `<a href="#e-main">main</a> (as in`) || !strings.Contains(string(text), `<td>ablation (as in ../../figures)`) {
		t.Error("main was run, and ablation was not")
	}
	var out, errs bytes.Buffer
	if code := run([]string{"entrorouter", "claims", "--measurements", own, "--fill", "../../figures", "--figures", "", "--short"}, nil, &out, &errs); code != exitOK || !strings.Contains(out.String(), "on real outcomes") || !strings.Contains(errs.String(), "so as in ../../figures: ablation, ") {
		t.Errorf("%d\n%s%s", code, out.String(), errs.String())
	}
}

// Provenance names the recipes that measurements are of and the versions that made them, whatever the store has; and the files of
// recordings. The recipes of committed ones are those that a run would have today.
func TestTheReportNamesRecipes(t *testing.T) {
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	key := func(args ...string) string {
		t.Helper()
		var of struct{ Key string }
		if err := json.Unmarshal([]byte(command(t, append([]string{"explain"}, args...)...)), &of); err != nil || of.Key == "" {
			t.Fatal(args, err)
		}
		return of.Key
	}
	file := filepath.Join(t.TempDir(), "report.html")
	for _, out := range []string{filepath.Join(dir, "out"), filepath.Join(t.TempDir(), "nothing")} {
		command(t, "report", "smoke", "--figures", filepath.Join(dir, "fig"), "--out", out, "--questions", "0", "-o", file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"<code>" + key("smoke", "--out", out, "measure", "--json") + "</code> of step measure", "<dt>Made by<dd><span class=line>entrorouter ", ", go 1.", "github.com/gomlx/gomlx v"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the page with the store %s does not say %s", out, want)
			}
		}
	}
	committed := reportText(t)
	if m := regexp.MustCompile(`(?m)entrorouter (run [^\n]*recorded[^\n]*--seeds|render [^\n]*--seeds|[^\n]*--seeds 10[^\n]*--seeds)[^\n]*`).FindString(committed); m != "" {
		t.Errorf("a command that is refused: %s", m)
	}
	for _, want := range []string{
		"entrorouter run main --seeds 10\nentrorouter run recorded recorded-mmlu recorded-rgym-math ",
		"<code>" + key("main", "--seeds", "10", "--out", filepath.Join(t.TempDir(), "nothing"), "measure", "--json") + "</code> of step measure",
		"entrorouter run main --seeds 10 --figures ../../figures\nentrorouter render main --figures ../../figures\nentrorouter show main --seeds 10\nentrorouter explain main --seeds 10 measure\n",
		"SHA-256 <code>e18df25e235186c1105079d845a7a2feef41f4f6ed986d4b1bcaa93e1279de01</code>; Apache-2.0; questions of MATH and GSM8K MIT; github.com/WildEval/ZeroEval at ",
	} {
		if !strings.Contains(committed, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
}

// What would bring the questions of an experiment names the store of the page once, where the page names one.
func TestTheReportSaysHowItsQuestionsComeHere(t *testing.T) {
	dir := t.TempDir()
	for _, store := range []string{"", filepath.Join(dir, "runs")} {
		file := filepath.Join(dir, "report.html")
		args := []string{"entrorouter", "report", "alpha", "--figures", "../../figures", "-o", file}
		want := "entrorouter run alpha --seeds 10"
		if store != "" {
			args, want = append(args, "--out", store), "entrorouter run alpha --out "+shellWord(store)+" --seeds 10"
		}
		var out, errs bytes.Buffer
		if code := run(args, nil, &out, &errs); code != exitOK {
			t.Fatal(errs.String())
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(html.UnescapeString(string(text)), "Its questions are here once '"+want+"' has been carried out.") {
			t.Errorf("the page with --out %q does not say %s", store, want)
		}
	}
}
