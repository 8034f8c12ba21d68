// Captions and notes are templates, the files in captions: a table or figure each, and what several share. A template is
// paragraphs, divided by empty lines, of lines; how they are broken does not matter. A caption is all of them in a row, a
// note is a paragraph, and what comes out empty is left out. Numbers and names are filled in from words, below.

package present

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

//go:embed captions/*.tmpl
var captionFiles embed.FS

// templates are those of all files; they are read once.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{"listed": report.Listed, "joined": strings.Join}).ParseFS(captionFiles, "captions/*.tmpl")
})

// notes fills in the template of a name and returns its paragraphs.
func notes(name string, data any) (paragraphs []string, err error) {
	t, err := templates()
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	var lines []string
	for line := range strings.Lines(b.String() + "\n\n") {
		line = strings.TrimSpace(line)
		switch {
		case line != "":
			lines = append(lines, line)
		case lines != nil:
			paragraphs, lines = append(paragraphs, strings.Join(lines, " ")), nil
		}
	}
	return paragraphs, nil
}

// caption fills in the template of a name as one paragraph.
func caption(name string, data any) (string, error) {
	paragraphs, err := notes(name, data)
	return strings.Join(paragraphs, " "), err
}

// build sets a table under the caption and over the notes of a name.
func build(l report.Layout, name string, data any, set, printed *metrics.Set) (*report.Table, error) {
	var err error
	if l.Caption, err = caption(name+" caption", data); err != nil {
		return nil, err
	}
	if l.Notes, err = notes(name+" notes", data); err != nil {
		return nil, err
	}
	return report.Build(l, set, printed)
}

// words is what every template can fill in.
type words struct {
	run        *Run
	Experiment *spec.Experiment
	Prices     spec.Prices
}

func (r *Run) words() words { return words{r, &r.Spec.Experiment, r.Spec.Prices} }

// Served are the experts that are asked on servers though the pool is simulated.
func (w words) Served() []string { return w.run.Spec.Pools[0].Beside(spec.Server) }

// Answered are the experts whose answers were given elsewhere though the pool is simulated.
func (w words) Answered() []string { return w.run.Spec.Pools[0].Beside(spec.Answered) }

// Simulated says whether the experts are.
func (w words) Simulated() bool { return w.run.Spec.Pools[0].Kind == "simulated" }

// SimulationNote is what the pool says of its simulation; empty: nothing.
func (w words) SimulationNote() string {
	if s := w.run.Spec.Pools[0].Simulation; s != nil {
		return s.Note
	}
	return ""
}

// Seeds is how many trainings numbers are means of.
func (w words) Seeds() int { return w.run.seeds() }

// Confidence is that of intervals, in percent.
func (w words) Confidence() float64 { return 100 * w.Experiment.Evaluate.Confidence }

// OnLarge says whether figures and tables of metrics show the larger set.
func (w words) OnLarge() bool { return w.run.arena() == metrics.LargeArena }

// Large is how many problems of a benchmark the larger set has, its thousands apart.
func (w words) Large() string {
	n := strconv.Itoa(w.run.large())
	for at := len(n) - 3; at > 0; at -= 3 {
		n = n[:at] + "," + n[at:]
	}
	return n
}

// OwnHull says whether some rows may answer themselves, and so have a hull of their own.
func (w words) OwnHull() bool {
	return slices.ContainsFunc(w.Experiment.Methods, func(m spec.Method) bool { return methods.AnswersItself(m.Name) })
}

// Mixed are the rows of language models that are asked, where they have a curve. Measurements of older programs have none.
func (w words) Mixed() (rows []string) {
	for _, m := range w.Experiment.Methods {
		if methods.AsksForDecisions(m.Name) && w.run.hasCurve(m) {
			rows = append(rows, m.RowLabel())
		}
	}
	return rows
}

// Hindsight says whether a row decides by the answers.
func (w words) Hindsight() bool {
	return slices.ContainsFunc(w.Experiment.Methods, func(m spec.Method) bool { return methods.Hindsight(m.Name) })
}

// ofTable is what templates of the tables of an experiment fill in besides.
type ofTable struct {
	words
	Table    string // its name
	Paper    published
	Averaged bool // it prints averages of the paper that the paper does not
}

// inPool is what templates of one pool fill in besides.
type inPool struct {
	words
	Pool      spec.Pool
	Stratum   string // of a recorded pool, what the only benchmark is called; empty: all of them
	Questions int
	Lead      string // heading of the column of leads; empty: there is none
}

// inPool returns what there is to say of a pool, of a stratum of it if it is recorded.
func (r *Run) inPool(pool spec.Pool, stratum string) inPool {
	w := inPool{words: r.words(), Pool: pool, Questions: r.stratumSize(pool.Name, stratum)}
	if stratum != metrics.BothStrata {
		w.Stratum = stratum
		if pool.Recorded != nil && pool.Recorded.Titles[stratum] != "" {
			w.Stratum = pool.Recorded.Titles[stratum]
		}
	}
	return w
}

// Models are the names of the pool's models, cheapest first.
func (w inPool) Models() []string { return w.run.models(w.Pool) }
