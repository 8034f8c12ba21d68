// Whoever has figures has the page of what they were made of beside them, in a folder of their own too.
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	command(t, "render", tiny, "--figures", own)
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
