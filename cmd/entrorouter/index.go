// The pages of the committed folder that say what is in it: an index of experiments, a page of each, and what stands behind each
// verdict. They are made of specs, of the names of files, of captions and of measurements' own words.

package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/modfile"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	indexFile  = "README.md"
	behindFile = "claims-map.md"
)

// indexed is an experiment in the folder.
type indexed struct {
	Name, Title, Kind string
	Head              []string // what the measurements say of themselves
	Seeds             int      // trainings that were measured one by one; 0: none
	Commands          []string // that make and draw it
	Specs             []string // files
	Digest            string   // of what they say
	Data              []spec.File
	Model             string // folder of the language model that policies start from; empty: none
	Drawn             []drawnAs
}

// Measurements is the base name of the file that everything else is drawn from.
func (e indexed) Measurements() string { return path.Base(present.Measurements(e.Name)) }

// Figure is its first figure, from the folder of all; empty: it has none.
func (e indexed) Figure() string {
	for _, d := range e.Drawn {
		if d.Image != "" {
			return present.File(e.Name, d.Image)
		}
	}
	return ""
}

// drawnAs is a table or a figure with its files, by their base names.
type drawnAs struct {
	Name   string
	Number string // what the paper calls it; empty: it is ours alone
	Title  string // what the caption says of it apart from the others
	Text   string // the caption, and of a table the table, in Markdown
	Files  []string
	Image  string // of them, what a browser shows of a figure; empty: it is a table
	Width  int    // of the image on a page, in pixels
}

// indexPages are the index, what stands behind the verdicts, and the page of each experiment. made are the files of verdicts.
func indexPages(c *cli.Context, folder string, made []report.File, behind []paper.Behind) (pages []report.File, err error) {
	all, err := indexedExperiments(c, folder)
	if err != nil {
		return nil, err
	}
	verdicts := []drawnAs{{Name: strings.TrimSuffix(behindFile, ".md"), Files: []string{behindFile}}}
	for _, f := range made {
		verdicts = file(verdicts, f.Name)
	}
	add := func(name string, t *template.Template, data any) {
		var text bytes.Buffer
		if err == nil {
			err = t.Execute(&text, data)
		}
		pages = append(pages, report.File{Name: name, Data: text.Bytes()})
	}
	versions, err := moduleVersions(filepath.Join(folder, "..", "go.mod"))
	if err != nil {
		return nil, err
	}
	add(indexFile, indexTemplate, map[string]any{"Verdicts": verdicts, "Experiments": all, "Versions": versions, "Printed": printed(all)})
	add(behindFile, behindTemplate, map[string]any{"Behind": behind, "Experiments": all})
	for _, e := range all {
		add(present.File(e.Name, indexFile), experimentTemplate, e)
	}
	return pages, err
}

// moduleVersions are the versions of Go and of the modules that compute numbers, as a project pins them; none where there is no project.
func moduleVersions(file string) (versions []string, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pinned, err := modfile.ParseLax(file, data, nil)
	if err != nil {
		return nil, err
	}
	if pinned.Go != nil {
		versions = append(versions, "go "+pinned.Go.Version)
	}
	for _, m := range pinned.Require {
		if slices.Contains([]string{"github.com/gomlx/gomlx", "github.com/gomlx/compute", "github.com/gomlx/go-xla", "gonum.org/v1/gonum"}, m.Mod.Path) {
			versions = append(versions, m.Mod.Path+" "+m.Mod.Version)
		}
	}
	return versions, nil
}

// printedAs is a table or a figure of the paper.
type printedAs struct{ Number, Experiment, Name string }

// printed are the tables and figures that the paper prints too, in the order of their numbers, figures first.
func printed(all []indexed) (of []printedAs) {
	for _, e := range all {
		for _, d := range e.Drawn {
			if d.Number != "" {
				of = append(of, printedAs{d.Number, e.Name, d.Name})
			}
		}
	}
	slices.SortFunc(of, func(a, b printedAs) int {
		return cmp.Or(strings.Compare(a.Number[:1], b.Number[:1]), cmp.Compare(len(a.Number), len(b.Number)), strings.Compare(a.Number, b.Number))
	})
	return of
}

// indexedExperiments are the built-in experiments that have measurements in a folder.
func indexedExperiments(c *cli.Context, folder string) (all []indexed, err error) {
	for _, name := range spec.Names(experiments.FS) {
		if _, err := os.Stat(measurementsFile(folder, name)); err != nil {
			continue
		}
		r, err := loadFrom(c, experiments.FS, name, name)
		if err != nil {
			return nil, err
		}
		set, err := readMeasurements(folder, r)
		if err != nil {
			return nil, err
		}
		e, err := index(r, set, folder)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// index describes an experiment and what a folder has of it.
func index(r *spec.Resolved, set *metrics.Set, folder string) (e indexed, err error) {
	x, seeds := &r.Experiment, seedsOf(set)
	if n := len(seeds); n > 0 && !x.Recorded() && x.Ensemble == nil && n != len(x.Evaluate.Seeds) { // as --seeds says
		r.Named += fmt.Sprintf(" --seeds %d", n)
		x.Evaluate.Seeds = seeds
	}
	e = indexed{Name: x.Name, Title: x.Title, Seeds: len(seeds), Commands: runs(folder, r)}
	if e.Digest, err = r.Digest(); err != nil {
		return e, err
	}
	switch {
	case x.Ensemble != nil:
		e.Kind = "many simulated pools"
	case x.Recorded():
		e.Kind = "recorded answers"
	case len(r.Benchmarks) == 0: // nobody is asked anything
		e.Kind = "small environment"
	default:
		e.Kind = "simulated experts"
	}
	if x.Ensemble == nil {
		e.Commands = append(e.Commands, "entrorouter render "+x.Name+" --figures "+shellWord(folder))
	}
	for _, line := range set.Comment {
		if metrics.SaysMadeOf(line) {
			continue // the page lists the data
		}
		if line = strings.TrimSpace(line); line != x.Title+"." {
			e.Head = append(e.Head, line)
		}
	}
	e.Specs = slices.Sorted(maps.Keys(r.Files))
	e.Data = r.Recordings()
	if m := x.Policy.Model; m != nil {
		e.Model = m.Folder
	}
	e.Drawn, err = drawnIn(filepath.Join(folder, filepath.FromSlash(present.File(x.Name, ""))), x.Title, x.Outputs)
	return e, err
}

// drawnIn are the tables and figures of the folder of an experiment, in the order of its outputs.
func drawnIn(folder, title string, outputs []spec.Output) (all []drawnAs, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.*"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if name := filepath.Base(f); name != path.Base(present.Measurements("")) && name != indexFile {
			all = file(all, name)
		}
	}
	slices.SortFunc(all, func(a, b drawnAs) int {
		return cmp.Or(cmp.Compare(outputOf(outputs, a.Name), outputOf(outputs, b.Name)), strings.Compare(a.Name, b.Name)) // an output's first table has its name
	})
	for i := range all {
		d := &all[i]
		caption := ""
		if at := slices.IndexFunc(outputs, func(o spec.Output) bool { return o.File == d.Name }); at >= 0 {
			d.Number = outputs[at].Number
		}
		if image := d.Name + ".svg"; slices.Contains(d.Files, image) {
			d.Image = image
			if d.Width, err = pageWidth(filepath.Join(folder, image)); err != nil {
				return nil, err
			}
		}
		if slices.Contains(d.Files, d.Name+".txt") {
			text, err := os.ReadFile(filepath.Join(folder, d.Name+".txt"))
			if err != nil {
				return nil, err
			}
			caption = strings.TrimSpace(string(text))
			d.Text = report.EscapeMarkdown(caption)
		}
		if slices.Contains(d.Files, d.Name+".md") { // a table's begins with it
			text, err := os.ReadFile(filepath.Join(folder, d.Name+".md"))
			if err != nil {
				return nil, err
			}
			caption, _, _ = strings.Cut(string(text), "\n\n")
			d.Text = strings.TrimSpace(string(text))
		}
		d.Title = apart(caption, title)
	}
	return all, nil
}

// apart is what a caption says beyond the title of its experiment and whose answers are scored: the first sentence of that, or the title.
func apart(caption, title string) string {
	caption = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(caption, title), ":"))
	for _, said := range strings.Split(strings.TrimPrefix(caption, "."), ". ") {
		said = strings.Trim(said, " .")
		if of, _, _ := strings.Cut(said, " "); said == "" || of == "Simulated" || of == "Recorded" || of == "There" {
			continue
		}
		first, size := utf8.DecodeRuneInString(said)
		return string(unicode.ToUpper(first)) + said[size:]
	}
	return title
}

// pageWidth is how wide a page shows a drawing: its letters are to be read there, and drawings are in the measures of print.
func pageWidth(file string) (pixels int, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var drawing struct {
		Width string `xml:"width,attr"`
	}
	if err := xml.Unmarshal(data, &drawing); err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	points, err := strconv.ParseFloat(strings.TrimSuffix(drawing.Width, "pt"), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: its width %q is no number of points", file, drawing.Width)
	}
	if points < 300 { // of a column of print
		return 560, nil
	}
	return 700, nil
}

// outputOf is the place of the output that a table or figure is of: what it is called begins with the output's name, the longest that
// it may be.
func outputOf(outputs []spec.Output, name string) (place int) {
	place, most := len(outputs), 0
	for i, o := range outputs {
		if (name == o.File || strings.HasPrefix(name, o.File+"-")) && len(o.File) > most {
			place, most = i, len(o.File)
		}
	}
	return place
}

// seedsOf are the training seeds that have lines of their own.
func seedsOf(set *metrics.Set) (seeds []uint64) {
	for _, m := range set.Measurements {
		if seed, err := strconv.ParseUint(m.Key("seed"), 10, 64); err == nil && !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// file adds a file to the table or figure that it is of.
func file(to []drawnAs, name string) []drawnAs {
	base := strings.TrimSuffix(name, path.Ext(name))
	at := slices.IndexFunc(to, func(s drawnAs) bool { return s.Name == base })
	if at < 0 {
		at, to = len(to), append(to, drawnAs{Name: base})
	}
	to[at].Files = append(to[at].Files, name)
	slices.SortFunc(to[at].Files, func(a, b string) int { // what a browser shows comes first
		first := func(name string) int { return slices.Index([]string{".md", ".svg"}, path.Ext(name)) }
		return cmp.Or(-cmp.Compare(first(a), first(b)), strings.Compare(a, b))
	})
	return to
}

var pageFunctions = template.FuncMap{
	"kind":  func(name string) string { return strings.TrimPrefix(path.Ext(name), ".") },
	"codes": func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" },
	"specs": func(names []string) string {
		var links []string
		for _, name := range names {
			links = append(links, fmt.Sprintf("[%s](../../experiments/%s)", name, name))
		}
		return strings.Join(links, ", ")
	},
	"data": func(at string) string { // a line of a file that GitHub shows
		file, line, _ := strings.Cut(at, ":")
		return fmt.Sprintf("[%s:%s](../%s#L%s)", path.Base(file), line, file, line)
	},
	"cell": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
	"links": func(names []string) string {
		var links []string
		for _, name := range names {
			links = append(links, fmt.Sprintf("[%s](%s)", name, present.File(name, indexFile)))
		}
		return strings.Join(links, ", ")
	},
}

var indexTemplate = template.Must(template.New(indexFile).Funcs(pageFunctions).Parse(`# Tables and figures

What the committed runs measured, one folder per experiment; its page has captions and what it was made of. ` + "`entrorouter run`" + ` writes
measurements, ` + "`entrorouter render`" + ` draws them, ` + "`entrorouter claims`" + ` judges what the paper says, and with ` + "`--update`" + ` writes these pages.
[Formats](../results/README.md).
{{with .Versions}}
Versions that numbers depend on, as [go.mod](../go.mod) has them: {{codes .}}.
{{end}}{{with .Printed}}
The paper's: {{range $i, $p := .}}{{if $i}}, {{end}}[{{.Number}}]({{.Experiment}}/README.md#{{.Name}}){{end}}.
{{end}}
| | What it shows | Numbers are of | Tables and figures |
|:---|:---|:---|:---|
| [verdicts](#verdicts) | What the paper says, judged | all below | |
{{range $e := .Experiments}}| [{{.Name}}]({{.Name}}/README.md) | {{cell .Title}} | {{.Kind}} | {{range $i, $d := .Drawn}}{{if $i}}, {{end}}[{{.Name}}]({{$e.Name}}/README.md#{{.Name}}){{end}} |
{{end}}
## verdicts

{{range .Verdicts}}- {{.Name}}: {{template "files" .Files}}
{{end}}
{{- define "files"}}{{range $i, $f := .}}{{if $i}}, {{end}}[{{kind $f}}]({{$f}}){{end}}{{end}}`))

var experimentTemplate = template.Must(template.Must(indexTemplate.Clone()).New("experiment").Parse(`# {{.Name}}: {{.Title}}

Numbers are of {{.Kind}}.{{range .Head}} {{.}}{{end}}{{if .Seeds}} Trainings or partitions measured one by one: {{.Seeds}}.{{end}}

- Made by {{range $i, $c := .Commands}}{{if $i}}, drawn by {{end}}` + "`{{$c}}`" + `{{end}}.
- Spec: {{specs .Specs}}; SHA-256 of what they say, in canonical form: ` + "`{{.Digest}}`" + `.
{{range .Data}}- Data: ` + "`{{.Path}}`" + `, SHA-256 ` + "`{{.SHA256}}`" + `; {{.Source}}; licence: {{.Licence}}.
{{end}}{{with .Model}}- Language model: ` + "`{{.}}`" + `.
{{end}}- Numbers: [{{.Measurements}}]({{.Measurements}}). All experiments: [index](../README.md).
{{$e := .}}{{range $d := .Drawn}}
<a id="{{.Name}}"></a>

## {{.Title}}
{{with .Number}}
The paper's {{.}}.
{{end}}{{with .Image}}
<img src="{{.}}" width="{{$d.Width}}" alt="{{html $d.Title}}">
{{end}}{{with .Text}}
{{.}}
{{end}}
{{template "files" .Files}}
{{end}}`))

var behindTemplate = template.Must(template.New(behindFile).Funcs(pageFunctions).Parse(`# What stands behind each verdict

Every claim and ordering: where it is written down as data, the rows that it reads, under the paper's names, the experiments whose
measurements decide, and the function and the test of package [harness/paper](../harness/paper). [Below](#experiments) are the spec, the command and
a figure of each experiment. ` + "`entrorouter claims --full`" + ` gives the verdicts, with numbers and reasons.

{{range .Behind}}- **{{.ID}}** {{.Says}}.
  Data: {{data .At}}{{with .Rows}}; rows: {{range $i, $r := .}}{{if $i}}, {{end}}{{$r}}{{end}}{{end}}{{with .Experiments}}; experiments: {{links .}}{{end}}.
  Decided by {{.By}}, tested by {{.Test}}.
{{end}}
## Experiments

{{range .Experiments}}- [{{.Name}}]({{.Name}}/README.md): [spec](../experiments/{{.Name}}.yaml){{with .Figure}}, [figure]({{.}}){{end}}, ` + "`{{index .Commands 0}}`" + `
{{end}}`))
