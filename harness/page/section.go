// An experiment with its parts drawn.

package page

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

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
	Comment  []string         // what else the measurements say
	Recipes  []metrics.Recipe // none: they do not say
	Versions []string
	Seeds    []string // of single trainings or partitions, where there are several
	Numbers  int
	Files    []spec.File // that are read, recorded answers or problems
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
			s.Parts = append(s.Parts, worded(o.Text))
		}
	}
	return s, nil
}

// worded is a text of lines in columns, which two spaces part and no page is to break, and of sentences.
func worded(text string) template.HTML {
	var b, columns strings.Builder
	closing := func() {
		if columns.Len() > 0 {
			b.WriteString("<pre class=columns role=group tabindex=0 aria-label=\"By row\">" + columns.String() + "</pre>\n")
			columns.Reset()
		}
	}
	for line := range strings.Lines(text) {
		escaped := template.HTMLEscapeString(strings.TrimRight(line, "\n"))
		if strings.Contains(line, "  ") {
			columns.WriteString(escaped + "\n")
			continue
		}
		if closing(); escaped != "" {
			b.WriteString("<p>" + escaped + "</p>\n")
		}
	}
	closing()
	return template.HTML(b.String())
}

func provenanceOf(r *present.Run) (p provenance) {
	set := r.Measurements
	p.Recipes, p.Versions, p.Files, p.Numbers = set.Recipes(), set.Versions(), r.Spec.Data(), len(set.Measurements)
	p.Comment = r.Said()
	seen := map[string]bool{"": true}
	for _, m := range set.Measurements {
		if seed := m.Key("seed"); !seen[seed] {
			seen[seed] = true
			p.Seeds = append(p.Seeds, seed)
		}
	}
	slices.SortFunc(p.Seeds, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }) // as numbers
	return p
}
