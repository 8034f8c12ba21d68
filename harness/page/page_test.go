package page

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/paper"
)

// Where the page says that verdicts are decided and tested, there is something of that name.
func TestWhereVerdictsAreDecidedIsThere(t *testing.T) {
	files, err := filepath.Glob("../paper/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, symbol := range slices.Concat(ofClaims, ofOurs, ofTables, ofMeasured, ofOrderings, ofPools) {
		parts := strings.Split(symbol, ".")
		declared := `(?m)^func ` + parts[len(parts)-1] + `\(`
		if len(parts) == 3 {
			declared = `(?m)^func \(\w+ \*?` + parts[1] + `\) ` + parts[2] + `\(`
		}
		if parts[0] != "paper" || !regexp.MustCompile(declared).MatchString(source.String()) {
			t.Errorf("there is no %s", symbol)
		}
	}
}

// No two verdicts that one cell may have look alike, and none looks like no verdict.
func TestVerdictsAreToldApartWithoutColour(t *testing.T) {
	seen := map[string]string{}
	for _, verdict := range []string{paper.CameOut, paper.DidNot, paper.CannotBeTold, paper.Assumed, paper.NeedsModel, paper.NotRun} {
		m := markOf(verdict)
		if m.Word != verdict || m.Sign == "" || seen[m.Sign] != "" {
			t.Errorf("%q is %+v, as %q is", verdict, m, seen[m.Sign])
		}
		seen[m.Sign] = verdict
	}
	if markOf(paper.NotStated) != (mark{}) {
		t.Error("what is not stated has a sign")
	}
}
