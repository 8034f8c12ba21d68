// Package page makes one HTML file of what experiments measured: the verdicts on what the paper says, tables and figures, and of
// runs whose store is at hand the questions behind them. The file loads nothing: its content security policy allows its own style
// and script, by their hashes, and nothing else. Tables, figures and verdicts can be read without the script.
//
// It computes no number: verdicts are those of package paper, tables and figures are those of package present, answers and
// decisions those of package trail.
package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io"

	"github.com/entrorouter/entrorouter/harness/report"
)

// Page is what is shown.
type Page struct {
	Version     string   // of the program
	Served      bool     // by a server that has the pages beside it
	Paper       *Paper   // nil: no paper is judged
	Against     *Against // nil: nothing is compared
	Experiments []Experiment
}

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
			if f := p.Paper.Gains; f != nil {
				drawn, err := draw.Figure(f)
				if err != nil {
					return err
				}
				out.Short = drawn + out.Short
			}
		}
		columns = fmt.Sprintf(":root{--scales:%d}\n", 1+len(out.Verdicts.Heads()))
	}
	out.Style = template.CSS(string(style) + columns + draw.Styles())
	out.Policy = policy(string(out.Style), string(out.Script))
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, out); err != nil {
		return err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("&#43;"), []byte("+")) // escaped for encodings that this is not in
	text = bytes.ReplaceAll(text, []byte("&#39;"), []byte("'"))       // escaped for attributes in such quotes, which there are none of
	_, err = w.Write(bytes.Map(Harmless, text))
	return err
}
