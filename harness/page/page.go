// Package page makes one HTML file of what experiments measured: the verdicts on what the paper says, tables and figures, and of
// runs whose store is at hand the questions behind them. The file loads nothing: its content security policy allows its own style
// and script, by their hashes, and nothing else. Tables, figures and verdicts can be read without the script.
//
// It computes no number: verdicts are those of package paper, tables and figures are those of package present, answers and
// decisions those of package trail.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Page is what is shown.
type Page struct {
	Version     string   // of the program
	Served      bool     // by a server that has the pages beside it
	Paper       *Paper   // nil: no paper is judged
	Against     *Against // nil: nothing is compared
	Experiments []Experiment
}

// Experiment is one finished run.
type Experiment struct {
	Run         *present.Run
	Outputs     []present.Output
	File        string        // of its measurements
	Commands    []string      // that make it, in the order of their use
	Recipes     []Recipe      // nil: they are not known
	Questions   []QuestionSet // nil: there is no store of the run
	NoQuestions string        // why there are none, a sentence; may be empty

	Against *compare.NumbersReport // its measurements beside those of the page's other run; nil: that has none
	Compare string                 // the command that lists every number of it
}

// Recipe is that of a step that measures, whose key covers the recipes of all steps behind it.
type Recipe struct {
	Step, Key string
	Made      string // by what, of a stored one; empty: the store does not have it
}

//go:embed page.gohtml page.css page.js served.gohtml
var files embed.FS

var pageTemplate = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{"slug": slug, "own": ownTables, "formulas": formulas}).ParseFS(files, "page.gohtml"))

// slug makes an id of a name.
func slug(name string) string { return strings.Join(strings.Fields(name), "-") }

// whole is what the template is filled with.
type whole struct {
	*Page
	Policy      string
	Style       template.CSS
	Script      template.JS
	Short       template.HTML
	First       bool // verdicts come before experiments: some of those are what the paper is judged on
	Verdicts    *verdicts
	Compared    []*compared
	Experiments []section
	Menu        bool // there are too many experiments for a line
}

// inLine is how many experiments the line of contents names itself.
const inLine = 6

// section is an experiment with its parts drawn.
type section struct {
	*Experiment
	Name, Title string
	Provenance  provenance
	Compared    *compared
	Parts       []template.HTML
	Sets        []asked
}

type provenance struct {
	Comment []string
	Seeds   []string // of single trainings or partitions, where there are several
	Numbers int
	Files   []spec.File // that are read, recorded answers or problems
}

// Write writes the page. Equal pages are equal byte for byte.
func (p *Page) Write(w io.Writer) error {
	style, err := files.ReadFile("page.css")
	if err != nil {
		return err
	}
	script, err := files.ReadFile("page.js")
	if err != nil {
		return err
	}
	out := whole{Page: p, Script: template.JS(script)}
	draw := &report.HTML{}
	for i := range p.Experiments {
		s, err := p.Experiments[i].section(draw, p.Served)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Experiments[i].Run.Spec.Experiment.Name, err)
		}
		if p.Against != nil {
			if s.Compared = p.Experiments[i].compared(p.Against.Name); s.Compared != nil {
				out.Compared = append(out.Compared, s.Compared)
			}
		}
		out.Experiments = append(out.Experiments, s)
	}
	out.Menu = len(out.Experiments) > inLine
	columns := ""
	if p.Paper != nil {
		out.Verdicts = p.Paper.verdicts(out.Experiments)
		out.First = len(out.Verdicts.Scales) > 0
		if s := p.Paper.Short; s != nil && out.First {
			if out.Short, err = draw.Sheet(s); err != nil {
				return err
			}
		}
		columns = fmt.Sprintf(":root{--scales:%d}\n", 1+len(out.Verdicts.Scales))
	}
	out.Style = template.CSS(string(style) + columns + draw.Styles())
	out.Policy = policy(string(out.Style), string(out.Script))
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, out); err != nil {
		return err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("&#43;"), []byte("+")) // escaped for encodings that this is not in
	text = bytes.ReplaceAll(text, []byte("&#39;"), []byte("'"))       // escaped for attributes in such quotes, which there are none of
	_, err = w.Write(bytes.Map(harmless, text))
	return err
}

// policy is the content security policy of a page with a style and a script; empty: it has none.
func policy(style, script string) string {
	scripts := "'none'"
	if script != "" {
		scripts = "'" + hash([]byte(script)) + "'"
	}
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src %s; img-src data:; base-uri 'none'; form-action 'none'", hash([]byte(style)), scripts)
}

// hash is how a content security policy names a text.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// harmless replaces what would change the order of the text around it, or has no place in a page.
func harmless(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
		return unicode.ReplacementChar
	}
	return r
}

// section draws what an experiment shows; served: where a server has whole answers.
func (e *Experiment) section(draw *report.HTML, served bool) (section, error) {
	x := &e.Run.Spec.Experiment
	s := section{Experiment: e, Name: x.Name, Title: x.Title, Provenance: provenanceOf(e.Run)}
	for i := range e.Questions {
		set := e.Questions[i].asked(e.Run.Spec, served)
		if err := set.pack(); err != nil {
			return s, err
		}
		s.Sets = append(s.Sets, set)
	}
	draw.Link = link(s.Sets)
	draw.Section()
	for _, o := range e.Outputs {
		for _, t := range o.Tables {
			part, err := draw.Table(t)
			if err != nil {
				return s, err
			}
			s.Parts = append(s.Parts, part)
		}
		for _, f := range o.Figures {
			part, err := draw.Figure(f)
			if err != nil {
				return s, err
			}
			s.Parts = append(s.Parts, part)
		}
		if o.Text != "" {
			s.Parts = append(s.Parts, template.HTML("<pre>"+template.HTMLEscapeString(o.Text)+"</pre>\n"))
		}
	}
	return s, nil
}

func provenanceOf(r *present.Run) (p provenance) {
	set := r.Measurements
	p.Comment, p.Numbers = set.Comment, len(set.Measurements)
	seen := map[string]bool{"": true}
	for _, m := range set.Measurements {
		if seed := m.Key("seed"); !seen[seed] {
			seen[seed] = true
			p.Seeds = append(p.Seeds, seed)
		}
	}
	add := func(f *spec.File) {
		if f != nil && f.Path != "" && !slices.ContainsFunc(p.Files, func(g spec.File) bool { return g.Path == f.Path }) {
			p.Files = append(p.Files, *f)
		}
	}
	x := &r.Spec.Experiment
	for _, name := range append([]string{x.Train.SFT.Benchmark, x.Train.RL.Benchmark}, x.Test...) {
		add(r.Spec.Benchmarks[name].File)
	}
	for _, pool := range r.Spec.Pools {
		if of := pool.Recorded; of != nil {
			add(&of.Queries)
			add(&of.Outcomes)
		}
	}
	return p
}
