// The pages of the committed folder that say what is in it: an index of experiments, a page of each, and what stands behind each
// verdict. They are made of specs, of the names of files, of captions and of measurements' own words.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/modfile"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const behindFile = "claims-map.md"

// indexPages are the index, what stands behind the verdicts, and the page of each experiment. made are the files of verdicts.
func indexPages(c *cli.Context, folder string, made []report.File, behind []paper.Behind) (pages []report.File, err error) {
	all, err := indexedExperiments(c, folder)
	if err != nil {
		return nil, err
	}
	verdicts := []drawnAs{{Name: strings.TrimSuffix(behindFile, ".md"), Files: []string{behindFile}}}
	for _, f := range made {
		verdicts = file(verdicts, f.Name)
		d := &verdicts[slices.IndexFunc(verdicts, func(d drawnAs) bool { return slices.Contains(d.Files, f.Name) })]
		switch path.Ext(f.Name) {
		case ".svg":
			if err := d.show(f.Name, f.Data); err != nil {
				return nil, err
			}
		case ".txt":
			d.Text = strings.TrimSpace(string(f.Data))
			d.Title, _, _ = strings.Cut(d.Text, ":")
		}
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
		page, fault := e.file()
		err = errors.Join(err, fault)
		pages = append(pages, page)
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
		if slices.Contains(numericModules, m.Mod.Path) {
			versions = append(versions, m.Mod.Path+" "+m.Mod.Version)
		}
	}
	return versions, nil
}

// printedAs is a table or a figure of the paper.
type printedAs struct{ Number, Experiment, Name string }

// printed are the tables and figures that the paper prints too, in the order of their numbers, figures first.
func printed(all []experimentPage) (of []printedAs) {
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
func indexedExperiments(c *cli.Context, folder string) (all []experimentPage, err error) {
	for _, name := range spec.Names(experiments.FS) {
		if _, err := os.Stat(measurementsFile(folder, name)); err != nil {
			continue
		}
		run, err := measuredRun(c, folder, experiments.FS, name, name)
		if err != nil {
			return nil, err
		}
		e, err := pageOf(run, folder)
		if err != nil {
			return nil, err
		}
		e.Index = true
		all = append(all, e)
	}
	return all, nil
}

var indexTemplate = template.Must(template.Must(experimentTemplate.Clone()).New(indexFile).Parse(`# Tables and figures

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
{{range $e := .Experiments}}| [{{.Name}}]({{.Name}}/README.md) | {{text .Title}} | {{.Kind}} | {{range $i, $d := .Drawn}}{{if $i}}, {{end}}[{{.Name}}]({{$e.Name}}/README.md#{{.Name}}){{end}} |
{{end}}
## verdicts

{{range .Verdicts}}- {{.Name}}: {{template "files" .Files}}
{{end}}{{range $d := .Verdicts}}{{with .Image}}
<img src="{{.}}" width="{{$d.Width}}" alt="{{html $d.Title}}">

{{$d.Text}}
{{end}}{{end}}`))

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
