package results_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
)

// page returns README.md from one heading to the next of the same or a higher level.
func page(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no heading %q", heading)
	}
	level := heading[:strings.IndexByte(heading, ' ')]
	if end := regexp.MustCompile(`(?m)^#{1,` + strconv.Itoa(len(level)) + `} `).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// terms returns what stands in code type in the first column of the tables of a section.
func terms(section string) map[string]bool {
	found := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(section, -1) {
		for _, term := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			found[term[1]] = true
		}
	}
	return found
}

// agree wants two sets of names to be the same.
func agree(t *testing.T, what string, documented, used map[string]bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !documented[name] {
			t.Errorf("README.md does not name the %s %q", what, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !used[name] {
			t.Errorf("README.md names the %s %q, which nothing has", what, name)
		}
	}
}

// unitOf puts the README's letters for the parts of a unit that vary.
var unitOf = strings.NewReplacer("-at-25%-", "-at-N%-", "-at-50%-", "-at-N%-", "-at-75%-", "-at-N%-", "-at-%d%%-", "-at-N%-", "cpt50", "cptN", "cpt80", "cptN", "cpt%d", "cptN", "%%", "%")

func TestTheReadmeNamesEveryLineKeyAndUnit(t *testing.T) {
	var files []string
	for _, pattern := range []string{"paper/*.txt", "papers/*/*.txt", "reference/*/*.txt", "../figures/*/measurements.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	names, keys, units := map[string]bool{}, map[string]bool{}, constantUnits(t)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := metrics.Read(name, f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range set.Measurements {
			names[m.Name] = true
			for _, k := range m.Keys {
				keys[k.Name] = true
			}
			for _, v := range m.Values {
				units[unitOf.Replace(v.Unit)] = true
			}
		}
	}
	names["Unanswered"], units["lost-questions"] = true, true                               // of runs in which a model did not answer, and none of those is committed
	names["Recorded"], units["repeated-questions"], units["reliability"] = true, true, true // of recordings with several answers, none of which is committed
	agree(t, "line", terms(page(t, "### Lines")), names)
	agree(t, "key", terms(page(t, "### Keys")), keys)
	documented := terms(page(t, "### Units"))
	for _, m := range regexp.MustCompile("(?m)^Of `Contrast`.*$").FindAllString(page(t, "### Units"), -1) {
		for _, term := range regexp.MustCompile("`([a-z-]+-points)`").FindAllStringSubmatch(m, -1) {
			documented[term[1]] = true
		}
	}
	agree(t, "unit", documented, units)
}

// constantUnits returns the units that constants of the program name, so that those of runs that are not committed are
// on the page too.
func constantUnits(t *testing.T) map[string]bool {
	t.Helper()
	unit := regexp.MustCompile(`^[a-z0-9%-]+(-%|-points|-nats|/query)$`)
	units := map[string]bool{"asked-EXPERT-%": true} // made of an expert's id
	err := filepath.WalkDir("../harness", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				for _, value := range s.(*ast.ValueSpec).Values {
					if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						if text, err := strconv.Unquote(lit.Value); err == nil && unit.MatchString(unitOf.Replace(text)) {
							units[unitOf.Replace(text)] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return units
}

func TestTheReadmeNamesEveryFieldOfClaimsAndOrderings(t *testing.T) {
	for heading, of := range map[string]any{"### claims.yaml": paper.List{}, "### orderings.yaml": paper.Orderings{}} {
		section := page(t, heading)
		for _, name := range fields(reflect.TypeOf(of)) {
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("%s in README.md does not name the field %q", heading, name)
			}
		}
		for term := range terms(section) {
			if !slices.Contains(fields(reflect.TypeOf(of)), term) {
				t.Errorf("%s in README.md names %q, which is no field", heading, term)
			}
		}
	}
}

// fields returns the names of the YAML fields of a type and of the types in it.
func fields(of reflect.Type) []string {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range of.NumField() {
		f := of.Field(i)
		if name := f.Tag.Get("yaml"); name != "" {
			names = append(append(names, name), fields(f.Type)...)
		}
	}
	return names
}

// The examples of the format are lines of the reference, with fewer pairs.
func TestTheReadmesExamplesAreReal(t *testing.T) {
	section := page(t, "## Measurements")
	data, err := os.ReadFile("reference/smoke/measurements.txt")
	if err != nil {
		t.Fatal(err)
	}
	real, err := metrics.Read("smoke", strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(section, "```\n")
	example, _, _ = strings.Cut(example, "```")
	shown, err := metrics.Read("README.md", strings.NewReader(example))
	if err != nil || len(shown.Measurements) != 1 {
		t.Fatalf("%d example lines (%v), want 1", len(shown.Measurements), err)
	}
	m := shown.Measurements[0]
	at := slices.IndexFunc(real.Measurements, func(r metrics.Measurement) bool { return r.Label() == m.Label() })
	if at < 0 || real.Measurements[at].N != m.N {
		t.Fatalf("no %s with a count of %d in the reference", m.Label(), m.N)
	}
	for _, v := range m.Values {
		if is, _ := real.Measurements[at].Value(v.Unit); is != v {
			t.Errorf("%s is %v, the page has %v", v.Unit, is, v)
		}
	}
	for _, m := range regexp.MustCompile("`(# [A-Z][^`]*)`").FindAllStringSubmatch(section, -1) {
		if !strings.Contains(string(data), "\n"+m[1]+"\n") {
			t.Errorf("no line %q in the reference", m[1])
		}
	}
}
