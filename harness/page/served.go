// Pages beside the report, which a server makes when they are asked for: whole answers, and how far a run is.

package page

import (
	"bytes"
	"html/template"
	"io"

	"github.com/entrorouter/entrorouter/harness/trail"
)

// beside is a page beside the report.
type beside struct {
	Title, Back string
	Policy      string
	Style       template.CSS

	Seconds int    // between two readings; 0: it is read once
	Text    string // of the status

	Experiment string // whose answers are shown
	Problem    *trail.ProblemResult
}

// WriteAnswers writes everything that experts said to a question. What they say runs nothing, loads nothing and is text.
func WriteAnswers(w io.Writer, experiment string, p *trail.ProblemResult) error {
	card := "#q-" + slug(slug(experiment+"-"+p.Set)+"-"+p.Problem.ID)
	return beside{Title: p.Problem.ID, Back: ReportPath + card, Experiment: experiment, Problem: p}.write(w, "answers")
}

// WriteStatus writes a text that says how far a run is, to be read again after so many seconds.
func WriteStatus(w io.Writer, text string, seconds int) error {
	return beside{Title: "how far the run is", Back: ReportPath, Seconds: seconds, Text: text}.write(w, "status")
}

func (p beside) write(w io.Writer, name string) error {
	style, err := files.ReadFile("page.css")
	if err != nil {
		return err
	}
	p.Style, p.Policy = template.CSS(style), policy(string(style), "")
	var b bytes.Buffer
	if err := besideTemplate().ExecuteTemplate(&b, name, p); err != nil {
		return err
	}
	_, err = w.Write(bytes.Map(Harmless, b.Bytes()))
	return err
}
