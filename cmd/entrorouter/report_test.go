package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
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
		if m = strings.TrimSpace(m); !strings.HasPrefix(m, `href="#`) && m != `href="data:,` {
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

// Every verdict that claims writes is in the page, with its number.
func TestEveryVerdictIsInTheReport(t *testing.T) {
	text := reportText(t)
	sentences := map[string]string{} // by id
	for _, part := range strings.Split(text, `<details class="sentence" id="c-`)[1:] {
		id, rest, _ := strings.Cut(part, `"`)
		rest, _, _ = strings.Cut(rest, "</details>")
		sentences[id] = html.UnescapeString(rest)
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run([]string{"entrorouter", "claims", "--measurements", "../../figures", "--figures", dir}, nil, &out, &errs); code != exitOK {
		t.Fatal(errs.String())
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
			_, at, _ := strings.Cut(sentence, `data-scale="`+r["scale"]+`" aria-label="`)
			at, _, _ = strings.Cut(at, `"`)
			if r["verdict"] != "" && !strings.HasSuffix(at, ": "+r["verdict"]) {
				t.Errorf("%s: %s on %s is %q and the page says %q", file, r["id"], r["scale"], r["verdict"], at)
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
	tableElement = regexp.MustCompile(`(?s)<figure class="table" id="t-([^"]*)">.*?</figure>`)
	tableBody    = regexp.MustCompile(`(?s)<tbody.*</table>`)
	anyTag       = regexp.MustCompile(`<[^>]*>`)
)

// words are the cells of a table that say something, without what sets them in bold or italics.
func words(cells []string) (all []string) {
	for _, c := range cells {
		if c = strings.TrimSpace(strings.ReplaceAll(c, "*", "")); c != "" {
			all = append(all, c)
		}
	}
	return all
}

// Every committed table is in the page, number by number, and so is every figure.
func TestEveryNumberOfATableIsInTheReport(t *testing.T) {
	text := reportText(t)
	tables := 0
	for _, m := range tableElement.FindAllStringSubmatch(text, -1) {
		markdown, err := os.ReadFile(filepath.Join("../../figures", m[1]+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		tables++
		var want, got []string
		_, body, _ := strings.Cut(string(markdown), "\n|:")
		for line := range strings.Lines(body) {
			if cells := strings.Split(strings.TrimSpace(line), "|"); strings.HasPrefix(line, "| ") {
				want = append(want, cells[2:len(cells)-1]...)
			}
		}
		for row := range strings.SplitSeq(tableBody.FindString(m[0]), "<tr") {
			for _, c := range strings.Split(row, "<td")[1:] {
				_, c, _ = strings.Cut(c, ">")
				got = append(got, html.UnescapeString(anyTag.ReplaceAllString(c, "")))
			}
		}
		got, want = words(got), words(want)
		if !slices.Equal(got, want) {
			t.Errorf("table %s:\n%q\nin Markdown\n%q", m[1], got, want)
		}
	}
	figures, _ := filepath.Glob("../../figures/*.svg")
	for _, f := range figures {
		if name := strings.TrimSuffix(filepath.Base(f), ".svg"); !strings.Contains(text, `id="f-`+name+`"`) {
			t.Errorf("figure %s is not in the page", name)
		}
	}
	if tables < 50 || len(figures) < 20 {
		t.Errorf("%d tables, %d figures", tables, len(figures))
	}
}
