// Tests of commands that are proposed.
package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// A command that reads what a run on recorded answers did needs their folder, too.
func TestProposedCommandsNameTheDataThatTheyRead(t *testing.T) {
	for name, want := range map[string]string{"recorded": "recorded --data DIR", "live": "live --data DIR", "main": "main"} {
		r, err := spec.Load(experiments.FS, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		if got := withData(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if r.Named = name + " --out o --data d"; withData(r) != r.Named {
			t.Errorf("%q, want %q", withData(r), r.Named)
		}
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "figures", "*", indexFile))
	if err != nil || len(pages) < 20 {
		t.Fatal(len(pages), err)
	}
	explain := regexp.MustCompile("`entrorouter explain [^`]*`")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		made, _, _ := strings.Cut(string(text), ", drawn by")
		if command := explain.FindString(string(text)); strings.Contains(made, " --data ") != strings.Contains(command, " --data ") && command != "" {
			t.Errorf("%s: %s", page, command)
		}
	}
}
