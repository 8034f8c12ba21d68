// What make reproduce does to a checkout.
package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhatIsWrittenByDefaultIsIgnoredByGit(t *testing.T) {
	for _, folder := range []string{ownFigures, "results/runs", "build", "bin"} {
		if !slices.Contains(strings.Split(documentText(t, ".gitignore"), "\n"), "/"+folder+"/") {
			t.Errorf(".gitignore lacks /%s/", folder)
		}
	}
}

// Reproducing, once or again, touches nothing that git tracks and says whether the result agrees with the committed
// tables; with UPDATE=1 it rewrites them. In a repository of its own, with one experiment.
func TestReproducingLeavesTheCheckoutClean(t *testing.T) {
	for _, program := range []string{"make", "git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, " is not installed")
		}
	}
	r := &reader{dir: t.TempDir()}
	program, err := exec.LookPath("entrorouter") // the test itself, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(r.dir, "bin", "entrorouter")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	const committed = "figures/smoke/measurements.txt"
	r.write(t, "Makefile", documentText(t, "Makefile"))
	r.write(t, ".gitignore", documentText(t, ".gitignore"))
	r.write(t, "tiny.yaml", documentText(t, "cmd/entrorouter/testdata/tiny.yaml"))
	r.write(t, committed, documentText(t, "results/reference/smoke/measurements.txt"))
	r.write(t, "figures/smoke/table.md", "committed\n")
	r.write(t, "figures/claims.md", "committed\n")

	smokeRun.store(t, filepath.Join(r.dir, "results", "runs"))

	const commit = "git -c user.name=A -c user.email=a@example.org commit -qam A"
	const reproduce = "make reproduce" + prebuilt
	agrees := `(?s)Agrees with figures: nothing moved by more than noise, and every number that must repeat itself does: smoke\n.*\nClaims: \d+ hold[^\n]*\nwritten to results/figures/report\.html: [^\n]*\nOpen results/figures/report\.html\n$`
	for _, step := range []documented{
		{command: "git init -q . && git add . && " + commit},
		{command: reproduce + " SIMULATED=smoke", prints: agrees},
		{command: reproduce + " SIMULATED=smoke SEEDS=2", prints: agrees},
		{command: "entrorouter render smoke && entrorouter claims", prints: `written to results/figures: smoke/table\.md .*\n(?s).*written to results/figures: claims\.md`},
		{command: reproduce + " SIMULATED=tiny.yaml", prints: `No measurements in figures to compare with: tiny\n`},
		{command: "git status --porcelain", prints: `^$`},
		{command: "make smoke" + prebuilt + " && git status --porcelain", prints: `written to build/smoke: .*\n\n1 experiment in .*\nAgrees with figures: nothing moved by more than noise, and every number that must repeat itself does: smoke\nBehind a number: .*; one page of it: entrorouter report smoke --figures build/smoke\n$`},
	} {
		carryOut(t, r.dir, step)
	}
	if t.Failed() {
		return
	}

	// A number of a row that trains nothing is another one's: make fails, and says which row has it and which has lost it.
	r.change(t, committed, "method=qwen3-235b/benchmark=sim-math500 ", "method=qwen3-235x/benchmark=sim-math500 ")
	for _, step := range []documented{
		{command: commit},
		{command: reproduce + " SIMULATED=smoke", exit: 2, prints: `(?s)\nsmoke moved against figures by more than noise: qwen3-235x, qwen3-235b\n  its account: results/figures/smoke/check\.txt\n.*Claims: \d+ hold`},
		{command: "cat results/figures/smoke/check.txt", prints: `(?s)More than noise:.*qwen3-235x.*qwen3-235b`},
		{command: "git status --porcelain", prints: `^$`},
		{command: reproduce + " SIMULATED=smoke SEEDS=2 UPDATE=1", prints: `Training seeds: 2`},
		{command: "git status --porcelain --untracked-files=no", prints: `^ M figures/claims\.md\n M figures/smoke/measurements\.txt\n M figures/smoke/table\.md\n$`},
		{command: reproduce + " SIMULATED=smoke SEEDS=2", prints: `\nEvery number is that of figures: smoke\n`},
	} {
		carryOut(t, r.dir, step)
	}
}
