// The page beside the tables and figures of an experiment: what they show, and what they were made of.

package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
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

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// indexFile is the page of an experiment, and that of all of them.
const indexFile = "README.md"

// experimentPage is what a folder has of an experiment.
type experimentPage struct {
	Name, Title, Kind string
	Head              []string // what the measurements say of themselves
	Seeds             int      // trainings that were measured one by one; 0: none
	Commands          []string // that make and draw it
	Specs             []string // files, in Markdown
	Digest            string   // of what they say
	Data              []spec.File
	Models            []spec.ModelOrigin // language models that policies start from or that rows ask
	Recipes           []metrics.Recipe
	Explain           string   // the command that shows one of them; empty: none does
	Versions          []string // of the program and its modules; none: nobody wrote them down
	Index             bool     // the page of all experiments lies beside it
	Drawn             []drawnAs
}

// Measurements is the base name of the file that everything else is drawn from.
func (e experimentPage) Measurements() string { return path.Base(present.Measurements(e.Name)) }

// Figure is its first figure, from the folder of all; empty: it has none.
func (e experimentPage) Figure() string {
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
	Title  string // what the caption says of it apart from the others; of a table in Markdown, as its caption is
	Text   string // the caption, and of a table the table, in Markdown
	Files  []string
	Image  string // of them, what a browser shows of a figure; empty: it is a table
	Width  int    // of the image on a page, in pixels
}

// writeFigures writes the tables and figures of an experiment to a folder, and beside them its page.
func writeFigures(w io.Writer, dir string, run *present.Run, files []report.File) (names []string, err error) {
	write := func(f report.File) error {
		names = append(names, f.Name)
		return store.WriteFile(filepath.Join(dir, f.Name), f.Data)
	}
	for _, f := range files {
		if err := write(f); err != nil {
			return nil, err
		}
	}
	e, err := pageOf(run, dir)
	if err != nil {
		return nil, err
	}
	page, err := e.file()
	if err != nil {
		return nil, err
	}
	if err := write(page); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "written to %s: %s\n", dir, strings.Join(names, " "))
	return names, err
}

// file is the page.
func (e experimentPage) file() (report.File, error) {
	var text bytes.Buffer
	err := experimentTemplate.Execute(&text, e)
	return report.File{Name: present.File(e.Name, indexFile), Data: text.Bytes()}, err
}

// pageOf describes an experiment and what a folder has of it.
func pageOf(run *present.Run, folder string) (e experimentPage, err error) {
	set, r := run.Measurements, run.Spec
	x := &r.Experiment
	name, _ := unflagged(r.Named)
	e = experimentPage{Name: x.Name, Title: x.Title, Seeds: len(set.Seeds()), Commands: runs(folder, r), Data: r.Data(), Models: r.LanguageModels(), Recipes: set.Recipes(), Versions: set.Versions()}
	if e.Digest, err = r.Digest(); err != nil {
		return e, err
	}
	e.Index = isThere(filepath.Join(folder, indexFile))
	for _, file := range slices.Sorted(maps.Keys(r.Files)) {
		to := path.Join("..", "experiments", file)
		if there, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(to))); err == nil && bytes.Equal(there, r.Files[file]) {
			file = fmt.Sprintf("[%s](../%s)", file, to)
		} else {
			file = "`" + file + "`"
		}
		e.Specs = append(e.Specs, file)
	}
	switch {
	case x.Ensemble != nil:
		e.Kind = "many simulated pools"
	case x.ReadsAnswers():
		e.Kind = "recorded answers"
	case !x.AsksExperts():
		e.Kind = "a small environment"
	case slices.ContainsFunc(r.Pools, func(p spec.Pool) bool { return p.Simulation == nil }):
		e.Kind = "experts behind servers"
	default:
		e.Kind = "simulated experts"
	}
	e.Commands = append(e.Commands, "entrorouter render "+name+" --figures "+shellWord(folder))
	if x.Ensemble == nil && e.Recipes != nil { // of its pools no step has the name that it has here
		e.Explain = "entrorouter explain " + withData(r) + " " + shellWord(e.Recipes[0].Step)
	}
	for _, line := range run.Said() {
		e.Head = append(e.Head, strings.TrimSpace(line))
	}
	e.Drawn, err = drawnIn(filepath.Join(folder, filepath.FromSlash(present.File(x.Name, ""))), x.Title, x.Outputs)
	return e, err
}

// drawnIn are the tables and figures of the folder of an experiment, in the order of its outputs. Hidden files are what a kill left,
// see store.WriteFile.
func drawnIn(folder, title string, outputs []spec.Output) (all []drawnAs, err error) {
	files, err := fs.Glob(os.DirFS(folder), "*.*")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if name[0] != '.' && name != path.Base(present.Measurements("")) && name != indexFile {
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
			drawing, err := os.ReadFile(filepath.Join(folder, image))
			if err != nil {
				return nil, err
			}
			if err := d.show(image, drawing); err != nil {
				return nil, err
			}
		}
		if slices.Contains(d.Files, d.Name+".txt") {
			text, err := os.ReadFile(filepath.Join(folder, d.Name+".txt"))
			if err != nil {
				return nil, err
			}
			if d.Image == "" { // lines that stand by themselves
				d.Title, d.Text = upperFirst(d.Name), "```text\n"+strings.TrimRight(string(text), "\n")+"\n```"
				continue
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

// apart is what a caption says beyond the title of its experiment and whose answers are scored: the beginning of the first sentence of
// that, or the title.
func apart(caption, title string) string {
	caption = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(caption, title), ":"))
	for _, said := range strings.Split(strings.TrimPrefix(caption, "."), ". ") {
		said = strings.Trim(said, " .")
		if of, _, _ := strings.Cut(said, " "); said == "" || of == "Simulated" || of == "Recorded" || of == "There" {
			continue
		}
		said, _, _ = strings.Cut(said, ";")
		return upperFirst(said)
	}
	return title
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// show has a page show a drawing, so wide that its letters are read: drawings are in the measures of print.
func (d *drawnAs) show(name string, svg []byte) error {
	var drawing struct {
		Width string `xml:"width,attr"`
	}
	if err := xml.Unmarshal(svg, &drawing); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d.Image, d.Width = name, 700
	if points, err := strconv.ParseFloat(strings.TrimSuffix(drawing.Width, "pt"), 64); err == nil && points < 300 { // of a column of print
		d.Width = 560
	}
	return nil
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
	"data": func(at string) string { // a line of a file that GitHub shows
		file, line, _ := strings.Cut(at, ":")
		return fmt.Sprintf("[%s:%s](../%s#L%s)", path.Base(file), line, file, line)
	},
	"text": report.EscapeMarkdown, // as words, whatever signs they have
	"links": func(names []string) string {
		var links []string
		for _, name := range names {
			links = append(links, fmt.Sprintf("[%s](%s)", name, present.File(name, indexFile)))
		}
		return strings.Join(links, ", ")
	},
}

var experimentTemplate = template.Must(template.New("experiment").Funcs(pageFunctions).Parse(`# {{.Name}}: {{text .Title}}

Numbers are of {{.Kind}}.{{range .Head}} {{text .}}{{end}}{{if .Seeds}} Trainings or partitions measured one by one: {{.Seeds}}.{{end}}

- Made by {{range $i, $c := .Commands}}{{if $i}}, drawn by {{end}}` + "`{{$c}}`" + `{{end}}.
- Spec: {{range $i, $s := .Specs}}{{if $i}}, {{end}}{{$s}}{{end}}; SHA-256 of what they say, in canonical form: ` + "`{{.Digest}}`" + `.
{{range .Data}}- Data: ` + "`{{.Path}}`" + `{{with .SHA256}}, SHA-256 ` + "`{{.}}`" + `{{end}}{{with .Source}}; {{text .}}{{end}}; licence: {{or .Licence "not stated" | text}}.
{{end}}{{range .Models}}- Language model: ` + "`{{.Name}}`" + `{{with .Source}}; {{text .}}{{end}}; licence: {{or .Licence "not stated" | text}}.
{{end}}- Recipes: {{range $i, $r := .Recipes}}{{if $i}}, {{end}}` + "`{{.Key}}`" + ` of step {{text .Step}}{{else}}not written down{{end}}{{with .Explain}}; ` + "`{{.}}`" + ` shows what is in one{{end}}.
- Versions: {{range $i, $v := .Versions}}{{if $i}}; {{end}}{{text .}}{{else}}not written down{{end}}.
- Numbers: [{{.Measurements}}]({{.Measurements}}).{{if .Index}} All experiments: [index](../README.md).{{end}}
{{$e := .}}{{range $d := .Drawn}}
<a id="{{.Name}}"></a>

## {{if .Image}}{{text .Title}}{{else}}{{.Title}}{{end}}
{{with .Number}}
The paper's {{.}}.
{{end}}{{with .Image}}
<img src="{{.}}" width="{{$d.Width}}" alt="{{html $d.Title}}">
{{end}}{{with .Text}}
{{.}}
{{end}}
{{template "files" .Files}}
{{end}}{{- define "files"}}{{range $i, $f := .}}{{if $i}}, {{end}}[{{kind $f}}]({{$f}}){{end}}{{end}}`))
