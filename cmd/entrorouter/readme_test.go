package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
	"github.com/entrorouter/entrorouter/internal/gofiles"
	"github.com/entrorouter/entrorouter/results"
)

// longestReadme is how many lines a front page has at most.
const longestReadme = 200

// The tables in the README and on the pages of findings, of language models' studies and of own models are the committed ones, byte for byte; UPDATE=1 copies them in.
func TestTheReadmeHoldsTheCommittedTables(t *testing.T) {
	root := filepath.Join("..", "..")
	block := regexp.MustCompile(`(?s)<!-- begin (\S+) -->\n.*?<!-- end (\S+) -->`)
	for name, tables := range map[string]int{"README.md": 1, "docs/findings.md": 6, "docs/lm-studies.md": 5, "docs/own-models.md": 1} {
		path := filepath.Join(root, filepath.FromSlash(name))
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		want := block.ReplaceAllFunc(page, func(old []byte) []byte {
			n++
			names := block.FindSubmatch(old)
			if !bytes.Equal(names[1], names[2]) {
				t.Errorf("%s: block %s ends as %s", name, names[1], names[2])
			}
			table, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(string(names[1]))))
			if err != nil {
				t.Error(err)
				return old
			}
			return fmt.Appendf(nil, "<!-- begin %s -->\n%s\n<!-- end %s -->", names[1], bytes.TrimSpace(table), names[1])
		})
		if n != tables {
			t.Errorf("%s has %d tables, want %d", name, n, tables)
		}
		if lines := bytes.Count(want, []byte("\n")); name == "README.md" && lines > longestReadme {
			t.Errorf("the README has %d lines, more than %d", lines, longestReadme)
		}
		if bytes.Equal(page, want) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("the tables of %s are not those under figures/; run UPDATE=1 go test ./cmd/entrorouter -run Readme", name)
		} else if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The main table of the README is that of figures, beside the paper's; UPDATE=1 writes it.
func TestTheReadmesMainTableIsTheCommittedOne(t *testing.T) {
	cells := map[[2]string]string{} // by row and unit
	for _, r := range records(t, filepath.Join("..", "..", "figures", "main", "table.csv")) {
		if r["group"] != "Avg." {
			continue
		}
		ours, err := strconv.ParseFloat(r["ours"], 64)
		if err != nil || r["paper"] == "" {
			continue
		}
		cells[[2]string{r["row"], r["unit"]}] = fmt.Sprintf("%.1f (%s)", ours, r["paper"])
	}
	text := documentText(t, "README.md")
	rows := 0
	want := regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]* \| [^|]* \|$`).ReplaceAllStringFunc(text, func(line string) string {
		row, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		accuracy, usd := cells[[2]string{row, "accuracy-%"}], cells[[2]string{row, "usd/1000-queries"}]
		if accuracy == "" || usd == "" {
			return line
		}
		rows++
		return fmt.Sprintf("| %s | %s | %s |", row, accuracy, usd)
	})
	if rows != 6 {
		t.Errorf("the README's main table has %d rows", rows)
	}
	if want == text {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Error("the README's main table is not figures/main/table.csv; run UPDATE=1 go test ./cmd/entrorouter -run Readme")
	} else if err := os.WriteFile(filepath.Join("..", "..", "README.md"), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// widestBlock is how many columns of code GitHub shows beside each other.
const widestBlock = 96

// What the README shows of a run are the first columns of what that run prints, line by line, on the machines whose last digits are the committed ones.
func TestTheReadmeShowsWhatSmokePrints(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the last digits of trained rows are those of amd64")
	}
	m := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(documentText(t, "README.md"))
	if m == nil || strings.Count(m[1], "\n") < 8 {
		t.Fatalf("the README shows nothing of a run: %q", m)
	}
	dir, err := smokeRun()
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(filepath.Join(dir, "printed"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(printed), "\n")
	for line := range strings.Lines(m[1]) {
		line = strings.TrimRight(line, "\n")
		if columns := utf8.RuneCountInString(line); columns > widestBlock || columns < 40 {
			t.Errorf("%d columns: %q", columns, line)
		}
		if !slices.ContainsFunc(lines, func(printed string) bool { return strings.HasPrefix(printed, line) }) {
			t.Errorf("smoke does not print %q", line)
		}
	}
}

// The README shows how make reproduce ends as the program writes it, of the experiments that the Makefile has; how long it took is what was measured.
func TestTheReadmeShowsHowReproduceEnds(t *testing.T) {
	block := regexp.MustCompile("(?s)```text\n(\\d+ experiments in .*?)\n```").FindStringSubmatch(documentText(t, "README.md"))
	if block == nil {
		t.Fatal("it does not show how a run of several experiments ends")
	}
	shown := strings.Split(block[1], "\n")
	took := regexp.MustCompile(`in (\d+):(\d\d): (\d+) steps made, (\d+) found`).FindStringSubmatch(shown[0])
	if took == nil || len(shown) != 3 {
		t.Fatalf("it shows %q", shown)
	}
	var n [4]int
	for i, text := range took[1:] {
		n[i], _ = strconv.Atoi(text)
	}
	names := regexp.MustCompile(`(?m)^SIMULATED *= *(.*)$`).FindStringSubmatch(documentText(t, "Makefile"))
	end := runSummary{Seconds: float64(60*n[0] + n[1]), Folder: ownFigures, Against: committedFigures}
	for _, name := range strings.Fields(names[1]) {
		end.Experiments = append(end.Experiments, &carriedOut{Experiment: name, Agreement: &agreement{Verdict: verdictNoise}})
	}
	end.Experiments[0].Steps, end.Experiments[0].Stored = n[2]+n[3], n[3]
	var text bytes.Buffer
	if err := end.write(&text, true); err != nil {
		t.Fatal(err)
	}
	written := strings.Split(text.String(), "\n")
	for i, line := range shown[:2] {
		if start, cut := strings.CutSuffix(line, "..."); written[i] != line && !(cut && strings.HasPrefix(written[i], start)) {
			t.Errorf("it shows\n%s\nand a run writes\n%s", line, written[i])
		}
	}
	if want := "Open results/figures/report.html"; shown[2] != want || !strings.Contains(documentText(t, "Makefile"), "--output results/figures/report.html") {
		t.Errorf("the last line is %q, want %q", shown[2], want)
	}
}

// What render and claims make of the committed measurements is what is committed, file by file and byte for byte.
func TestCommittedFiguresAreThoseOfTheirMeasurements(t *testing.T) {
	root := filepath.Join("..", "..")
	if runtime.GOARCH != "amd64" {
		t.Skip("the committed coordinates are those of amd64, which rounds products before it adds them")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("figures", 0o777); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, ".", root, "go.mod")
	if err := os.CopyFS("experiments", experiments.FS); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, "figures", filepath.Join(root, "figures"), present.Measurements("*"))
	copyFiles(t, "figures", filepath.Join(root, "figures"), present.File("ensemble", "pools.*")) // the command ensemble makes them
	for _, args := range [][]string{{"entrorouter", "render", "--update"}, {"entrorouter", "claims", "--update"}} {
		var out bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, out.String())
		}
	}
	read := func(dir string) map[string][]byte {
		files := map[string][]byte{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[path], err = os.ReadFile(filepath.Join(dir, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	committed, made := read(filepath.Join(root, "figures")), read("figures")
	for name, data := range made {
		if !bytes.Equal(data, committed[name]) {
			t.Errorf("figures/%s is not what its measurements give; run entrorouter render --update and entrorouter claims --update", name)
		}
	}
	for name := range committed {
		asked := strings.HasSuffix(name, ".pdf") || strings.HasSuffix(name, ".png") || strings.HasPrefix(name, "ensemble/pools.") // by --formats, and by the command ensemble
		if _, ok := made[name]; !ok && !asked {
			t.Errorf("nothing makes figures/%s", name)
		}
	}
}

// The index leads to the page of every experiment and that to each of its files.
func TestThePagesOfFiguresAreComplete(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages []string
	files := 0
	err := fs.WalkDir(os.DirFS(filepath.Join(root, "figures")), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		folder, base := path.Split("figures/" + name)
		if path.Ext(base) == ".md" && (base == indexFile || base == behindFile) {
			pages = append(pages, folder+base)
			if folder == "figures/" {
				return nil
			}
			folder, base = "figures/", name
		}
		if !strings.Contains(documentText(t, folder+indexFile), "]("+base+")") {
			t.Errorf("%s%s does not list %s; run entrorouter claims --update", folder, indexFile, base)
		}
		if shown := regexp.MustCompile(`<img src="` + regexp.QuoteMeta(base) + `" width="(560|700)" alt=".`); path.Ext(base) == ".svg" && !shown.MatchString(documentText(t, folder+indexFile)) {
			t.Errorf("%s%s does not show %s as wide as its letters need; run entrorouter claims --update", folder, indexFile, base)
		}
		return nil
	})
	if err != nil || files < 200 || len(pages) < 20 {
		t.Fatal(files, pages, err)
	}
}

// The tables and figures that specs call the paper's are those that results/paper has under these numbers.
func TestNumbersOfThePaperAreThoseOfItsTables(t *testing.T) {
	source := regexp.MustCompile(`^# source: .*, (Table \d+) \(tab:`)
	want := map[string]string{}
	tables, err := fs.Glob(results.FS, "paper/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		text, err := fs.ReadFile(results.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		if m := source.FindSubmatch(text); m != nil {
			want[string(m[1])] = strings.TrimSuffix(path.Base(name), ".txt")
		} else if !bytes.Contains(text[:bytes.IndexByte(text, '\n')], []byte("in no table")) {
			t.Fatalf("%s does not begin with its table's number, nor says that its numbers are in no table", name)
		}
	}
	got := map[string]string{}
	for _, name := range spec.Names(experiments.FS) {
		r, err := spec.Load(experiments.FS, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Experiment.Outputs {
			if strings.HasPrefix(o.Number, "Table ") {
				if of, twice := got[o.Number]; twice {
					t.Errorf("%s is called the paper's of %s and %s", o.Number, of, name)
				}
				got[o.Number] = r.Experiment.Paper
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The differences between rows on the page of language models' studies, and mean gains by numbers of questions, are those of the
// measurements; UPDATE=1 writes them.
func TestDifferencesOnThePageOfLanguageModelsAreThoseMeasured(t *testing.T) {
	const page = "docs/lm-studies.md"
	text := documentText(t, page)
	want := text
	for _, c := range []struct {
		heading, experiment, pool string
		rows                      int
		means                     []string // rows, without the number of questions that they learn from
	}{
		{"## Results", "lm-recorded", "rgym_math", 16, nil},
		{"## With its last layer trained", "lm-last", "rgym_math", 9, nil},
		{"## Reasoning Gym beyond mathematics", "lm-rgym", "rgym_short", 12, nil},
		{"### Llama 3.1", "lm-controls", "llama31", 9, nil},
		{"### Qwen2, GPT-4o mini and o1-mini", "lm-controls", "qwen2_o1mini", 9, nil},
		{"## A third: what a tiny language model learns from how many problems", "lm-learning", "sim", 5, []string{"lm-sft", "entrorouter", "net-sft", "net", "logistic"}},
		{"## A fourth: what models of two sizes learn from how many questions", "lm-sizes", "rgym_math", 14, []string{"benchmark", "logistic", "logistic-states", "head-sft", "head-exact", "tiny-sft", "tiny-exact"}},
		{"## A fifth: what each part of the method does when every weight moves", "lm-full", "rgym_math", 6, nil},
	} {
		before, rest, ok := strings.Cut(want, "\n"+c.heading+"\n")
		if !ok {
			t.Fatalf("%s has no heading %q", page, c.heading)
		}
		section, after := rest, ""
		if end := strings.Index(rest, "\n##"); end >= 0 {
			section, after = rest[:end], rest[end:]
		}
		section, rows := differences(t, section, c.experiment, c.pool)
		section, more := means(t, section, c.experiment, c.means)
		if rows += more; rows != c.rows {
			t.Errorf("%d rows below %q, want %d", rows, c.heading, c.rows)
		}
		want = before + "\n" + c.heading + "\n" + section + after
	}
	if want == text {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Errorf("the differences on %s are not those measured; run UPDATE=1 go test ./cmd/entrorouter -run Differences", page)
	} else if err := os.WriteFile(filepath.Join("..", "..", filepath.FromSlash(page)), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// differences writes what was measured on a pool into the lines of a text that hold a row over another, and counts them.
func differences(t *testing.T, text, experiment, pool string) (written string, rows int) {
	t.Helper()
	set := measured(t, filepath.Join("..", "..", "figures"), experiment)
	// contrast is what a row differs from another in a unit, with its interval, as the page prints it.
	contrast := func(row, over, unit, turned string) string {
		sign, lines := 1.0, set.Where(metrics.Keys("pool", pool, "row", row, "versus", over, "benchmark", metrics.BothStrata)...)
		if len(lines) == 0 { // it is measured the other way round
			sign, unit, lines = -1, turned, set.Where(metrics.Keys("pool", pool, "row", over, "versus", row, "benchmark", metrics.BothStrata)...)
			if unit == units.OtherLead {
				sign = 1 // of the row that stands first here
			}
		}
		if len(lines) != 1 {
			t.Fatalf("%d lines with %s over %s", len(lines), row, over)
		}
		v, ok := lines[0].Value(unit)
		if !ok {
			t.Fatalf("%s over %s has no %s", row, over, unit)
		}
		if v.Number == 0 && v.Low == 0 && v.High == 0 {
			return "0.00"
		}
		return fmt.Sprintf(`%.2f \[%.2f, %.2f]`, sign*v.Number, min(sign*v.Low, sign*v.High), max(sign*v.Low, sign*v.High))
	}
	line := regexp.MustCompile("(?m)^(\\| [^|]*\\(`([a-z0-9-]+)`\\), over [^|]*\\(`([a-z0-9-]+)`\\)) \\|.*\\|$")
	return line.ReplaceAllStringFunc(text, func(old string) string {
		rows++
		m := line.FindStringSubmatch(old)
		accuracy := contrast(m[2], m[3], units.Difference, units.Difference)
		if accuracy == "0.00" {
			accuracy = "level"
		}
		return fmt.Sprintf("%s | %s | %s | %s |", m[1], accuracy, contrast(m[2], m[3], units.Lead, units.OtherLead), contrast(m[2], m[3], units.MeanDifference, units.MeanDifference))
	}), rows
}

// means writes the mean gains that were measured into the lines of a text that begin with a number of questions, and counts them.
func means(t *testing.T, text, experiment string, rows []string) (written string, lines int) {
	t.Helper()
	set := measured(t, filepath.Join("..", "..", "figures"), experiment)
	line := regexp.MustCompile(`(?m)^\| ([0-9,]+) \|.*\|$`)
	return line.ReplaceAllStringFunc(text, func(old string) string {
		lines++
		count := line.FindStringSubmatch(old)[1]
		line := "| " + count + " |"
		for _, row := range rows {
			found := set.Where(metrics.Keys("method", row+"-"+strings.ReplaceAll(count, ",", ""), "seed", "")...)
			if len(found) == 0 { // the row learns from all that there are
				found = set.Where(metrics.Keys("method", row, "seed", "")...)
			}
			for _, m := range found {
				if v, ok := m.Value(units.MeanGain); ok && m.Key("arena") != "paper" {
					line += fmt.Sprintf(` %.2f \[%.2f, %.2f] |`, v.Number, v.Low, v.High)
				}
			}
		}
		return line
	}), lines
}

// link is where a document leads: a link or a picture of Markdown, or one of HTML.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)

// brokenLinks are the links of a page of the project that lead nowhere in root: files, and headings of pages.
func brokenLinks(root, page, text string) (broken []string) {
	for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		to := m[1] + m[2]
		if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
			continue
		}
		file, heading, _ := strings.Cut(to, "#")
		path := filepath.Join(root, filepath.Dir(page), filepath.FromSlash(file))
		if file == "" {
			path = filepath.Join(root, page)
		}
		if _, err := os.Stat(path); err != nil {
			broken = append(broken, to)
			continue
		}
		if heading == "" || filepath.Ext(path) != ".md" {
			continue
		}
		there, err := os.ReadFile(path)
		if err != nil || !slices.Contains(anchors(string(there)), heading) {
			broken = append(broken, to)
		}
	}
	return broken
}

// anchors are the headings of a page as links name them: in small letters, with hyphens for spaces.
func anchors(text string) (names []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range regexp.MustCompile(`<a id="([^"]+)">`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			names = append(names, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-"))
		}
	}
	return names
}

// pagesOfTheCheckout are all pages, in folders that git does not ignore.
func pagesOfTheCheckout(t *testing.T) (pages []string) {
	t.Helper()
	ignored := regexp.MustCompile(`(?m)^/(.+)/$`).FindAllStringSubmatch(documentText(t, ".gitignore"), -1)
	err := fs.WalkDir(os.DirFS(filepath.Join("..", "..")), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || slices.ContainsFunc(ignored, func(m []string) bool { return m[1] == name })):
			return fs.SkipDir
		case !d.IsDir() && path.Ext(name) == ".md":
			pages = append(pages, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// What a page of the project links to is there, on every page.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	pages, links := pagesOfTheCheckout(t), 0
	for _, page := range []string{"README.md", "docs/findings.md", "figures/README.md", "figures/digest.md", "figures/main/README.md", "tools/pjrt-cpu/README.md"} {
		if !slices.Contains(pages, page) {
			t.Errorf("%s is not looked at", page)
		}
	}
	for _, page := range pages {
		text := documentText(t, page)
		links += len(link.FindAllString(text, -1))
		for _, to := range brokenLinks(filepath.Join("..", ".."), page, text) {
			t.Errorf("%s links to %s, which is not there", page, to)
		}
	}
	if links < 1500 {
		t.Errorf("only %d links found", links)
	}
}

func TestABrokenLinkIsFound(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "there.md"), []byte("# A title, of `sorts`\n"))
	text := "[a](../there.md) [b](../gone.md) [c](https://example.com/x) [d](../there.md#a-title-of-sorts) [e](../there.md#gone) <img src=\"../gone.svg\">\n```sh\n[f](gone)\n```\n"
	if got, want := fmt.Sprint(brokenLinks(root, "docs/page.md", text)), "[../gone.md ../there.md#gone ../gone.svg]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A star between two letters, as in a product or a path, is emphasis with the next one, and so is a tilde. Code is as it stands.
func TestNoSignBetweenLettersIsMarkupByAccident(t *testing.T) {
	code, accident := regexp.MustCompile("(?m)``.+?``|`[^`]+`|^ {4}.*"), regexp.MustCompile(`[\pL\pN/_-][*~]+[\pL\pN/_]`)
	bare := func(text string) string { return code.ReplaceAllString(fence.ReplaceAllString(text, ""), "") }
	for text, want := range map[string]int{"p - c*d, c*e": 2, "a-*/b/*.c": 1, `p - c\*d`: 0, "`c*d`": 0, "**so** *or so*, of 2*": 0, "a~b~ c": 1} {
		if got := len(accident.FindAllString(bare(text), -1)); got != want {
			t.Errorf("%s has %d of them, want %d", text, got, want)
		}
	}
	for _, page := range pagesOfTheCheckout(t) {
		for _, found := range accident.FindAllString(bare(documentText(t, page)), -1) {
			t.Errorf("%s has %s outside of code: write a backslash before the sign", page, found)
		}
	}
}

// LOG.md and the others name the files and tests that show what they say: outside of links, in code spans and brackets.
func TestFilesAndTestsThatTheDocumentsNameAreThere(t *testing.T) {
	root := filepath.Join("..", "..")
	var sources bytes.Buffer
	err := gofiles.Each(os.DirFS(root), func(name string, source []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			sources.Write(source)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile(`\b(?:cmd|experiments|figures|harness|results|verify)/[A-Za-z0-9_./*-]*\.(?:csv|go|md|svg|txt|yaml)\b`)
	test := regexp.MustCompile(`\bTest[A-Z]\w+`)
	files, tests := 0, 0
	for _, name := range []string{"README.md", "DESIGN.md", "LOG.md", "docs/findings.md", "docs/distance.md", "docs/own-models.md", "docs/data.md", "docs/ci.md", "docs/performance.md"} {
		text := documentText(t, name)
		for _, path := range file.FindAllString(text, -1) {
			files++
			if found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path))); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", name, path)
			}
		}
		for _, f := range test.FindAllString(text, -1) {
			tests++
			if !bytes.Contains(sources.Bytes(), []byte("func "+f+"(")) {
				t.Errorf("%s names %s, and no such test is there", name, f)
			}
		}
	}
	if files < 50 || tests == 0 {
		t.Errorf("only %d files and %d tests found", files, tests)
	}
}

// The sentence about what EntroRouter saves on recorded pools, which no block of tables holds, says what their claims measured.
func TestTheSentenceAboutSavingsIsOfTheMeasuredClaims(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "figures", "claims-measured.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	saved, kept, pools := map[bool]map[string][]float64{true: {}, false: {}}, map[string]int{}, map[bool]int{} // by the paper's rule or not, and by verdict
	for _, row := range rows[1:] {
		scale, verdict := row[column("scale")], row[column("verdict")]
		if scale == "paper-size" || scale == "large" || strings.HasPrefix(scale, "head-") || strings.HasPrefix(scale, "last-") || strings.HasPrefix(scale, "tiny-") {
			continue
		}
		ruled := strings.HasSuffix(scale, "-paper")
		switch row[column("id")] {
		case "retention":
			if !ruled && verdict == paper.Refuted {
				kept[verdict]++
			}
		case "saving":
			x, err := strconv.ParseFloat(row[column("value")], 64)
			if err != nil {
				t.Fatal(err)
			}
			pools[ruled]++
			if verdict == paper.Refuted && x > 48.25 {
				verdict = "too much"
			}
			saved[ruled][verdict] = append(saved[ruled][verdict], x)
		}
	}
	if pools[true] != 9 || pools[false] != 9 {
		t.Fatalf("%v pools, want 9 each", pools)
	}
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	less, more := saved[true][paper.Refuted], saved[false]["too much"]
	too := words[kept[paper.Refuted]]
	for page, wants := range map[string][]string{
		"README.md": {
			fmt.Sprintf("saves what the paper says on %s pools, and %.0f to %.0f%% on %s.", words[len(saved[true][paper.Confirmed])], slices.Min(less), slices.Max(less), words[len(less)]),
			fmt.Sprintf("Then EntroRouter saves %.0f to %.0f%% on %s pools, and keeps too little of the accuracy on %s.", slices.Min(more), slices.Max(more), words[len(more)], too),
		},
		"docs/findings.md": {
			fmt.Sprintf("on %s pools it saves less, %.0f to %.0f%%.", words[len(less)], slices.Min(less), slices.Max(less)),
			fmt.Sprintf("It saves %.0f to %.0f%% on %s pools, and keeps too little on %s.", slices.Min(more), slices.Max(more), words[len(more)], too),
		},
	} {
		for _, want := range wants {
			if !strings.Contains(documentText(t, page), want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
	}
}
