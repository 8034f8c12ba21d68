// The bounds of knobs as docs/bounds.md has them.

package spec

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// boundsOf lists the intervals of the numbers of a struct type, and those of the structs in it as sections of their own.
func boundsOf(section string, t reflect.Type, seen map[reflect.Type]bool) (lines []string) {
	if seen[t] {
		return nil
	}
	seen[t] = true
	var own []string
	var inner []string
	for _, k := range knobs(t) {
		if k.in != "" {
			own = append(own, fmt.Sprintf("`%s` %s", k.name, k.in))
		}
		of := k.typ
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct {
			inner = append(inner, boundsOf(section+"."+k.name, of, seen)...)
		}
	}
	if own != nil {
		lines = append(lines, fmt.Sprintf("| `%s` | %s |", section, strings.Join(own, ", ")))
	}
	return append(lines, inner...)
}

func TestTheDocumentedBoundsAreThoseOfTheKnobs(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var want []string
	for _, file := range []struct {
		name string
		typ  reflect.Type
	}{{"spec", reflect.TypeFor[Experiment]()}, {"pool", reflect.TypeFor[Pool]()}, {"benchmarks.yaml", reflect.TypeFor[Benchmark]()}, {"prices", reflect.TypeFor[Prices]()}} {
		want = append(want, boundsOf(file.name, file.typ, seen)...)
	}
	raw, err := os.ReadFile("../../docs/bounds.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(raw), "<!-- begin bounds -->\n")
	block, _, ok := strings.Cut(after, "<!-- end bounds -->")
	if table := "| part | bounds |\n|---|---|\n" + strings.Join(want, "\n") + "\n"; !ok || block != table {
		t.Errorf("docs/bounds.md has not the bounds of the knobs; between its marks belongs\n%s", table)
	}
}
