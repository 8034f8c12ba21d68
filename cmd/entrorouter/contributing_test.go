package main

// The walks of CONTRIBUTING.md, made with the files of testdata/contributing.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/methods"
)

// methodLine is the line of a method in the list of package methods: its marker is the next one.
func methodLine() string {
	return fmt.Sprintf(`{name: "second", says: "the second cheapest expert, always", section: underHeuristics, marker: %d, blind: true, build: newSecond},`, len(methods.Marked()))
}

// figureLine is the line of a kind of figure in the list of package present.
const figureLine = `{kind: "bars", figures: (*Run).barsFigure},`

// walked returns a file of testdata/contributing, with texts replaced.
func walked(t *testing.T, name string, replace ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "contributing", name))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.NewReplacer(replace...).Replace(string(data)))
}

// put writes a file of a test.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A method is a file and a line, a kind of figure is what is drawn, what is shown, a caption and a line, and a table is a
// spec that says what differs from another one: the program is built with these and nothing else, and run.
func TestAMethodAndAFigureAreTheirFilesAndALine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	here, dir := filepath.Join(root, "cmd", "entrorouter"), t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, file := range map[string]string{
		"harness/methods/second.go": "second.go", "harness/report/bars.go": "bars_drawn.go",
		"harness/present/bars.go": "bars_shown.go", "harness/present/captions/bars.tmpl": "bars.tmpl",
	} {
		overlay.Replace[filepath.Join(root, filepath.FromSlash(path))] = filepath.Join(here, "testdata", "contributing", file)
		if filepath.Ext(file) != ".go" {
			continue
		}
		switch head := headOf(t, file, walked(t, file)); { // as the tests want of every file, and of one of a row
		case head == "":
			t.Errorf("%s does not say at its top what it is for", file)
		case strings.HasPrefix(path, "harness/methods/") && !strings.HasPrefix(head, "Row kind second: "):
			t.Errorf("%s says at its top %q, want that it is row kind second", file, head)
		}
	}
	for path, line := range map[string][2]string{
		"harness/methods/methods.go": {"return []kind{\n", methodLine()},
		"harness/present/outputs.go": {"return []output{\n", figureLine},
	} {
		source := filepath.Join(root, filepath.FromSlash(path))
		data, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), line[0]); n != 1 {
			t.Fatalf("%s has %q %d times", path, line[0], n)
		}
		overlay.Replace[source] = filepath.Join(dir, filepath.Base(path))
		put(t, overlay.Replace[source], []byte(strings.Replace(string(data), line[0], line[0]+line[1]+"\n", 1)))
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "overlay.json"), text)
	program := filepath.Join(dir, "walk")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, file := range []string{"tiny.yaml", "contributing/walk.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, filepath.Base(file)), data)
	}
	run := exec.Command(program, "run", "walk.yaml", "--out", "out", "--figures", "figures")
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, "figures", "walk", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	table, _, _ := strings.Cut(read("table.md"), "**Yardsticks**")
	cells := map[string]string{} // row -> its cells
	for line := range strings.Lines(table) {
		if _, line, ok := strings.Cut(line, "|"); ok {
			label, rest, _ := strings.Cut(line, "|")
			cells[strings.TrimSpace(label)] = strings.TrimSpace(rest)
		}
	}
	if got := cells["Second cheapest"]; got == "" || got != cells["Qwen3-30B"] {
		t.Errorf("of three experts the second cheapest is Qwen3-30B; under Heuristic there is\n%s", table)
	}
	if got := read("pareto.csv"); !strings.Contains(got, "\nSecond cheapest,router,") {
		t.Errorf("the plane has no row of the method:\n%s", got)
	}
	if got, want := read("bars.txt"), "A walk: a bar a row is its accuracy. Simulated experts, "; !strings.HasPrefix(got, want) {
		t.Errorf("the caption is %q, want %q", got, want)
	}
	if got := read("bars.csv"); !strings.Contains(got, "\nSecond cheapest,") {
		t.Errorf("the bars are\n%s", got)
	}
	if got := read("bars.svg"); !strings.Contains(got, "<path") {
		t.Errorf("nothing is drawn:\n%s", got)
	}
}

// A pool, its prices and a recorded data set are files beside a spec.
func TestAPoolAndItsRecordingNeedNoGo(t *testing.T) {
	var queries, outcomes bytes.Buffer
	for i := range 40 {
		kind := []string{"sums", "products"}[i%2]
		fmt.Fprintf(&queries, `{"query_id": "q%d", "benchmark": %q, "problem": "What is %d %s %d?", "gold": "0", "prompt_tokens": 9}`+"\n", i, kind, i, []string{"plus", "times"}[i%2], 2*i)
		for _, model := range []string{"my-small-model", "my-large-model"} {
			correct := 1
			if model == "my-small-model" && kind == "products" || i%10 == 0 {
				correct = 0
			}
			fmt.Fprintf(&outcomes, `{"query_id": "q%d", "model": %q, "correct": %d, "output_tokens": %d}`+"\n", i, model, correct, 50+i)
		}
	}
	pool := walked(t, "pool.yaml", "QUERIES", fmt.Sprintf("%x", sha256.Sum256(queries.Bytes())), "OUTCOMES", fmt.Sprintf("%x", sha256.Sum256(outcomes.Bytes())))
	spec, prices := walked(t, "mine.yaml"), walked(t, "prices.yaml")
	t.Chdir(t.TempDir())
	put(t, "mine.yaml", spec)
	put(t, "pools/mine.yaml", pool)
	put(t, "prices/mine.yaml", prices)
	put(t, "data/queries.jsonl", queries.Bytes())
	put(t, "data/outcomes.jsonl", outcomes.Bytes())
	var out bytes.Buffer
	if code := run([]string{"entrorouter", "run", "mine.yaml", "--out", "out", "--figures", "figures", "--data", "data"}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	for name, wants := range map[string][]string{
		"mine/table-mine-all.md":      {"my-small-model, my-large-model (pool mine), all 40 questions. 2 folds, 1 partition.", "Pool: made up.", "| Benchmark identity ", "Prices are assumed, as of 2026-01-31"},
		"mine/table-mine-sums.md":     {"the 20 questions of Sums of two numbers."},
		"mine/table-mine-products.md": {"the 20 questions of products."},
	} {
		data, err := os.ReadFile(filepath.Join("figures", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(data), want) {
				t.Errorf("%s has no %q:\n%s", name, want, data)
			}
		}
	}
}

// Who reads CONTRIBUTING.md finds every file that is walked with, and the lines that are added.
func TestContributingNamesWhatIsWalked(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "contributing", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	wants := []string{methodLine(), figureLine}
	for _, file := range files {
		wants = append(wants, "](cmd/entrorouter/"+filepath.ToSlash(file)+")")
	}
	for _, want := range wants {
		if !strings.Contains(string(text), want) {
			t.Errorf("CONTRIBUTING.md has no %q", want)
		}
	}
}
