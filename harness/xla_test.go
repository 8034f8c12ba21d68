// What the program built with XLA does on the CPU plugin; behind 'make test-xla'.
package harness_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
)

// The smoke test's policies decide the same whether Go or XLA trains them, so its tables are the same to the byte.
func TestXLASmokeHasTheTablesOfTheGoBackend(t *testing.T) {
	program, plugin := filepath.Join(xlatest.Folder(t), "entrorouter-xla"), xlatest.Plugin(t)
	tables := map[string]map[string]string{}
	for _, backend := range []string{"go", "xla"} {
		dir := t.TempDir()
		spec := "name: swapped\nbase: smoke.yaml\npolicy: {backend: " + backend + "}\n"
		if err := os.WriteFile(filepath.Join(dir, "swapped.yaml"), []byte(spec), 0o666); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(program, "run", "swapped.yaml", "--plugin", plugin, "--out", "runs", "--figures", "figures")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", backend, err, out)
		}
		tables[backend] = map[string]string{}
		files, err := filepath.Glob(filepath.Join(dir, "figures", "swapped", "*.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tables[backend][filepath.Base(path)] = string(text)
		}
		measured, err := os.ReadFile(filepath.Join(dir, "figures", "swapped/measurements.txt"))
		if by := "by backend " + map[string]string{"go": "go", "xla": "xla:cpu"}[backend] + " on " + runtime.GOARCH + map[string]string{"go": ".", "xla": ", "}[backend]; err != nil || !bytes.Contains(measured, []byte(by)) {
			t.Errorf("the measurements do not say %q: %v", by, err)
		}
		recipes, err := filepath.Glob(filepath.Join(dir, "runs", "stages", "fit", "*", "recipe.json"))
		if err != nil || len(recipes) == 0 {
			t.Fatalf("%s: no policy was trained: %v", backend, err)
		}
		trained := 0
		for _, path := range recipes {
			recipe, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			trained += bytes.Count(recipe, []byte(`"backend": "`+backend+`"`))
		}
		if trained == 0 {
			t.Errorf("no recipe of a policy names backend %s", backend)
		}
	}
	if n := len(tables["go"]); n == 0 || n != len(tables["xla"]) {
		t.Fatalf("%d tables of Go, %d of XLA", n, len(tables["xla"]))
	}
	for name, text := range tables["go"] {
		if other := tables["xla"][name]; other != text {
			t.Errorf("%s differs:\n%s\nand with XLA\n%s", name, text, other)
		}
	}
}
