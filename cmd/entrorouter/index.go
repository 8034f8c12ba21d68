// The pages of the committed folder that say what is in it: an index of experiments, and what stands behind each verdict. They are
// made of specs, of the names of files and of measurements' own words.

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"

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

// indexed is an experiment on the index page.
type indexed struct {
	Name, Title, Kind string
	Head              []string // what the measurements say of themselves
	Seeds             int      // trainings that were measured one by one; 0: none
	Specs             []string
	Command           string
	Data              []spec.File
	Measurements      string // its file, below the folder
	Pages             []drawnAs
}

// drawnAs is a table or a figure with its files, below the folder.
type drawnAs struct {
	Name  string
	Files []string
}

// indexPages are both pages. made are the files of verdicts, which are in no experiment's name.
func indexPages(c *cli.Context, folder string, made []report.File, behind []paper.Behind) ([]report.File, error) {
	all, err := indexedExperiments(c, folder)
	if err != nil {
		return nil, err
	}
	verdicts := []drawnAs{{Name: strings.TrimSuffix(behindFile, ".md"), Files: []string{behindFile}}}
	for _, f := range made {
		verdicts = file(verdicts, f.Name)
	}
	var index, claims bytes.Buffer
	if err := indexTemplate.Execute(&index, map[string]any{"Verdicts": verdicts, "Experiments": all}); err != nil {
		return nil, err
	}
	if err := behindTemplate.Execute(&claims, behind); err != nil {
		return nil, err
	}
	return []report.File{{Name: indexFile, Data: index.Bytes()}, {Name: behindFile, Data: claims.Bytes()}}, nil
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
		x := &r.Experiment
		e := indexed{Name: name, Title: x.Title, Command: runs(folder, r)[0], Measurements: present.Measurements(name)}
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
		for _, line := range set.Comment {
			if line = strings.TrimSpace(line); line != x.Title+"." {
				e.Head = append(e.Head, line)
			}
		}
		e.Seeds = len(seedsOf(set))
		for f := range r.Files {
			e.Specs = append(e.Specs, f)
		}
		slices.Sort(e.Specs)
		for _, p := range r.Pools {
			if p.Recorded == nil {
				continue
			}
			for _, f := range []spec.File{p.Recorded.Queries, p.Recorded.Outcomes} {
				if !slices.ContainsFunc(e.Data, func(d spec.File) bool { return d.Path == f.Path }) {
					e.Data = append(e.Data, f)
				}
			}
		}
		files, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(present.File(name, "*.*"))))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f := present.File(name, filepath.Base(f)); f != e.Measurements {
				e.Pages = file(e.Pages, f)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// seedsOf are the training seeds that have lines of their own.
func seedsOf(set *metrics.Set) map[string]bool {
	seeds := map[string]bool{}
	for _, m := range set.Measurements {
		if seed := m.Key("seed"); seed != "" {
			seeds[seed] = true
		}
	}
	return seeds
}

// file adds a file to the table or figure that it is of.
func file(to []drawnAs, name string) []drawnAs {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
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
	"cell": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
	"links": func(names []string) string {
		var links []string
		for _, name := range names {
			links = append(links, fmt.Sprintf("[%s](%s#%s)", name, indexFile, name))
		}
		return strings.Join(links, ", ")
	},
}

var indexTemplate = template.Must(template.New(indexFile).Funcs(pageFunctions).Parse(`# Tables and figures

What the committed runs measured. ` + "`entrorouter run`" + ` writes measurements, ` + "`entrorouter render`" + ` draws them, ` + "`entrorouter claims`" + ` judges what
the paper says, and with ` + "`--update`" + ` writes this page. [Formats](../results/README.md).

| | What it shows | Numbers are of |
|:---|:---|:---|
| [verdicts](#verdicts) | What the paper says, judged | all below |
{{range .Experiments}}| [{{.Name}}](#{{.Name}}) | {{cell .Title}} | {{.Kind}} |
{{end}}
## verdicts

{{template "files" .Verdicts}}
{{range .Experiments}}
## {{.Name}}

{{.Title}}: {{.Kind}}.{{range .Head}} {{.}}{{end}}{{if .Seeds}} Trainings or partitions measured one by one: {{.Seeds}}.{{end}}

- Made by ` + "`{{.Command}}`" + `, of {{codes .Specs}} in [experiments](../experiments).
{{range .Data}}- Data: ` + "`{{.Path}}`" + `, SHA-256 ` + "`{{.SHA256}}`" + `; {{.Source}}; licence: {{.Licence}}.
{{end}}- Numbers: [measurements]({{.Measurements}})

{{template "files" .Pages}}
{{end}}
{{- define "files"}}{{range $i, $s := .}}{{if $i}}
{{end}}- {{.Name}}:{{range $k, $f := .Files}}{{if $k}},{{end}} [{{kind $f}}]({{$f}}){{end}}{{end}}{{end}}`))

var behindTemplate = template.Must(template.New(behindFile).Funcs(pageFunctions).Parse(`# What stands behind each verdict

Every claim and ordering: where it is written down as data, the rows that it reads, under the paper's names, the experiments whose
measurements decide, and the function and the test of package [harness/paper](../harness/paper). An experiment leads to its spec, command,
tables and figures. ` + "`entrorouter claims --full`" + ` gives the verdicts, with numbers and reasons.

| Sentence | Data | Rows | Experiments | Decided by | Tested by |
|:---|:---|:---|:---|:---|:---|
{{range .}}| **{{.ID}}** {{cell .Says}} | {{data .At}} | {{range $i, $r := .Rows}}{{if $i}}, {{end}}{{$r}}{{end}} | {{links .Experiments}} | {{.By}} | {{.Test}} |
{{end}}`))
