package results_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
)

// otherPaper checks the claims of another paper on its tables, which are those of a folder.
func otherPaper(t *testing.T, name string, tables fs.FS) []paper.Finding {
	t.Helper()
	read, err := paper.ReadTables(tables, ".")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("papers", name, "claims.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := paper.ReadList(file, text)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := list.Check(file, read, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// The values of mismatches are worked out by hand from the printed tables.
func TestWhatRouteLLMStatesIsRecomputed(t *testing.T) {
	counts, recomputed := map[string]int{}, map[string]string{}
	for _, f := range otherPaper(t, "routellm", os.DirFS("papers/routellm")) {
		if f.Differs != "" {
			t.Errorf("%s: %s: %s", f.At(), f.ID, f.Differs)
		}
		counts[f.Verdict]++
		if f.Verdict == paper.Mismatch || f.Verdict == paper.WrongUnit {
			recomputed[f.ID] = f.Recomputed
		}
	}
	if diff := cmp.Diff(map[string]int{paper.Holds: 58, paper.Mismatch: 8, paper.WrongUnit: 1, paper.NotCheckable: 4}, counts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{
		"twice-cheaper-everywhere": "difference -0.586", // 50.07/35.40 is 1.414
		"mt-bench-savings":         "72.67%",            // 13.40 of 49.03
		"mt-bench-arena-close":     "difference -0.089", // 0.391 and 0.500 - 0.02
		"mt-bench-fewer-calls":     "59.90%",            // 31.31 of 78.08
		"mmlu-fewer-calls":         "26.28%",            // 36.9125 of 50.07
		"gold-share":               "difference 0.308%", // 1500/650 is 2.308
		"gsm8k-fewer-calls-50":     "32.72%",            // 33.64 of 50.00
		"gsm8k-fewer-calls-80":     "21.00%",            // 63.26 of 80.08, which is 16.82 less
		"pairs-half-llama31":       "0.385 of Random's", // 29.39/76.26
	}, recomputed); diff != "" {
		t.Error(diff)
	}
}

// The page has a line for each claim that does not hold, and no others.
func TestThePageOfOtherPapersHasWhatTheCommandFinds(t *testing.T) {
	text, err := os.ReadFile("../docs/other-papers.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range otherPaper(t, "routellm", os.DirFS("papers/routellm")) {
		if f.Verdict != paper.Holds {
			want = append(want, fmt.Sprintf("| %s (%s) | %s | %s | %s |", f.Says, f.Source, f.Printed, f.Recomputed, f.Verdict))
		}
	}
	if diff := cmp.Diff(want, regexp.MustCompile(`(?m)^\| .* (?:mismatch|wrong unit|not checkable) \|$`).FindAllString(string(text), -1)); diff != "" {
		t.Error(diff)
	}
}

// What is read and written again is the file, and a digit mistyped in a column that the paper has twice is found.
func TestTablesOfOtherPapersAreWhole(t *testing.T) {
	files, err := filepath.Glob("papers/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{"mt-bench": 9, "mmlu": 11, "gsm8k": 11, "pairs": 10}
	tables := fstest.MapFS{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set, err := metrics.Read(file, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := set.Write(&again); err != nil || !bytes.Equal(again.Bytes(), text) {
			t.Errorf("%s is not in canonical form (%v)", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if len(set.Measurements) != lines[name] || !strings.Contains(set.Comment[0], "source: ") {
			t.Errorf("%s holds %d measurements, want %d, of %q", file, len(set.Measurements), lines[name], set.Comment)
		}
		delete(lines, name)
		tables[name+".txt"] = &fstest.MapFile{Data: text}
	}
	if len(lines) > 0 {
		t.Error("no file of", slices.Sorted(maps.Keys(lines)))
	}
	tried := 0
	for name, file := range tables {
		for _, at := range regexp.MustCompile(`0\.\d+ apgr`).FindAllIndex(file.Data, -1) {
			wrong := bytes.Clone(file.Data)
			wrong[at[0]+3] = '0' + (wrong[at[0]+3]-'0'+1)%10 // the second decimal
			planted := maps.Clone(tables)
			planted[name] = &fstest.MapFile{Data: wrong}
			tried++
			if !slices.ContainsFunc(otherPaper(t, "routellm", planted), func(f paper.Finding) bool { return f.Differs != "" }) {
				t.Errorf("%s: %s in the place of %s is not found", name, wrong[at[0]:at[1]], file.Data[at[0]:at[1]])
			}
		}
	}
	if tried != 37 {
		t.Errorf("%d digits tried", tried)
	}
}
