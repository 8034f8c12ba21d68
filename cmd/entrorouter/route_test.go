package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkRoute decides about 1,000 problems by stored rows, from the start of the command to its last line. The rows were
// trained on as many problems as those of main; how well does not matter here.
func BenchmarkRoute(b *testing.B) {
	dir := b.TempDir()
	spec, problems := filepath.Join(dir, "route.yaml"), filepath.Join(dir, "problems.jsonl")
	rows := []string{"entrorouter", "mixture", "benchmark", "logistic", "knn", "difficulty", "bag", "cluster", "routellm", "forc"}
	var text strings.Builder
	text.WriteString("name: route\nbase: main.yaml\ntitle: Route\nlarge: 0\nprofile: {rollouts: 1}\nsft: {epochs: 1}\ngrpo: {steps: 2}\n" +
		"evaluate: {seeds: [1], bootstrap: 20, max_problems: 8, max_runs: 1}\npaper_rows: []\noutputs: [{kind: table}]\nmethods:\n")
	for _, row := range rows {
		match := ", match: entrorouter"
		if row == "entrorouter" {
			match = ""
		}
		fmt.Fprintf(&text, "  - {name: %s%s}\n", row, match)
	}
	var asked bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&asked, `{"id": "p%d", "problem": "Let a be the number of subsets of a set with %d elements. Find the remainder of a to the power %d on division by %d."}`+"\n", i, i%17+3, i+2, 1000+7*i)
	}
	for path, data := range map[string][]byte{spec: []byte(text.String()), problems: asked.Bytes()} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	store := filepath.Join(dir, "out")
	command := func(args ...string) {
		var out, notes bytes.Buffer
		if code := run(append([]string{"entrorouter"}, args...), strings.NewReader(""), &out, &notes); code != 0 {
			b.Fatalf("%q: exit code %d\n%s", args, code, notes.String())
		}
	}
	command("run", spec, "--out", store, "--figures", filepath.Join(dir, "figures"))
	for _, row := range rows {
		b.Run(row, func(b *testing.B) {
			for b.Loop() {
				command("route", spec, problems, "--row", row, "--out", store, "--offline")
			}
		})
	}
}
