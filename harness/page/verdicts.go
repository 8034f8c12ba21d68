// The verdicts on what a paper says, and what stands behind each.

package page

import (
	"cmp"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/report"
)

// Paper is a paper that was judged.
type Paper struct {
	List      *paper.List
	Findings  []paper.Finding
	Orderings *paper.Orderings // nil: it has none
	Rows      []paper.Row
	Short     *report.Sheet                       // what most readers want of them; nil: nothing
	Gains     *report.Figure                      // beside it; nil: nothing
	Commands  func(experiments []string) []string // that make the measurements of experiments, by their names; nil: not known
	Judge     string                              // the command that gives these verdicts
	Filled    []string                            // experiments that were not run with the others
	From      string                              // where their measurements are from
}

type verdicts struct {
	Scales   []scale
	NotRun   []string // scales without a measurement, which are left out
	Sections []sentences
	Legend   []kind
	Judge    string
	Filled   []string
	From     string
}

type scale struct {
	ID, Title string
	Ruled     bool // its router takes the strongest expert by another rule: the numbers of a sentence have it, and its line has no mark for it
	Filled    bool // every experiment that it is judged on is one of those that were not run with the others
}

// sentences are those of one part of a paper.
type sentences struct {
	Title string
	Wide  bool // they are judged on our scales too
	Of    []sentence
}

type sentence struct {
	ID, Says, Source string
	Printed          string // by the paper
	Recomputed       string
	Tolerance        string
	Reasons          []because
	Ours             string // why a number of ours decides nothing, or what the margin is
	Own              mark   // on the paper's own tables
	On               []judged
	paper.Decided
	Commands []string
}

// judged is a sentence on one scale.
type judged struct {
	Scale scale
	mark
	Lines       []string // number, interval and what else tables print
	measured    bool     // there is a number of ours
	Ditto       bool     // questions, seeds and experiments are those of the main rows
	Questions   int      // 0: none was drawn, or their number was not measured
	Seeds       int      // whose spread is in the interval; 0: none is
	Experiments []origin
}

// because is a verdict, and what is said of why it fell.
type because struct{ Verdict, Why string }

// origin is an experiment whose measurements are read.
type origin struct {
	Name     string
	From     string // where its measurements are from, if it was not run with the others
	Here     bool   // it is in the page
	Question string // anchor of one, on which rows of the sentence disagree if there is such; empty: none is in the page
	Differ   bool   // they do
	Other    bool   // it is of the paper's sizes, since nobody answered those of the large set
	Set      string // anchor of the questions that it was decided on; empty: they are not in the page
}

// because adds what is said of why a verdict fell, once; what every verdict means stands with the signs.
func (s *sentence) because(verdict, said string) {
	if b := (because{verdict, said}); said != "" && !slices.Contains(s.Reasons, b) {
		s.Reasons = append(s.Reasons, b)
	}
}

// verdicts are those of a page with some experiments.
func (p *Paper) verdicts(here []section) *verdicts {
	v := &verdicts{Legend: kinds, Judge: p.Judge, Filled: p.Filled, From: p.From}
	at := map[string]int{} // column of a scale
	if p.Orderings != nil {
		for i, s := range p.Orderings.Scales {
			at[s.ID] = i
			v.Scales = append(v.Scales, scale{ID: s.ID, Title: s.Title, Ruled: s.Rule != ""})
		}
	}
	claims, whole, ours := sentences{Title: "Numbers in words", Wide: true}, sentences{Title: "Whole tables of the paper"}, sentences{Title: "Whole tables of our measurements"}
	for _, f := range p.Findings {
		s := sentence{ID: f.ID, Says: f.Says, Source: f.Source, Printed: f.Printed, Recomputed: f.Recomputed, Tolerance: f.Tolerance, Ours: f.OursReason, Own: markOf(f.Verdict), Decided: f.Decided()}
		s.because(f.Verdict, f.Reason)
		if f.Differs != "" {
			s.because(f.Verdict, "Not as recorded: "+f.Differs+".")
		}
		switch {
		case f.Measured:
			s.Says, s.Commands = "percentages and averages of experiment "+f.ID, p.commands([]string{f.ID})
			ours.Of = append(ours.Of, s)
		case f.Table:
			s.Says = cmp.Or(f.Says, f.ID)
			whole.Of = append(whole.Of, s)
		default:
			var from []string
			if f.Ours != nil {
				s.On = make([]judged, len(v.Scales))
			}
			for _, on := range f.Ours {
				j := judged{Scale: v.Scales[at[on.Scale.ID]], mark: markOf(on.Verdict), Lines: on.Cell().Lines}
				if on.Verdict == paper.NotStated && on.Value != nil { // a number that nothing printed is held against
					j.mark = mark{"no verdict", paper.Sign(paper.NotStated), "none"}
				}
				if on.Value != nil {
					j.measured = true
					j.Questions, j.Seeds = on.Value.Questions, on.Value.Seeds
				}
				if j.Word != "" {
					claim := p.claim(f.ID)
					for _, name := range claim.Experiments(on.Scale) {
						j.Experiments, from = append(j.Experiments, p.originOf(name, here, on.Scale, claim.Rows(p.Orderings, on.Scale, name), "")), merge(from, name)
					}
				}
				s.On[at[on.Scale.ID]] = j
			}
			s.Commands = p.commands(from)
			claims.Of = append(claims.Of, s)
		}
	}
	for _, r := range p.Rows {
		if n := len(v.Sections); n == 0 || v.Sections[n-1].Title != r.Section.Title {
			v.Sections = append(v.Sections, sentences{Title: r.Section.Title, Wide: true})
		}
		part := &v.Sections[len(v.Sections)-1]
		part.Of = append(part.Of, p.ordering(r, v.Scales, here))
	}
	for _, part := range []sentences{claims, whole, ours} {
		if part.Of != nil {
			v.Sections = append(v.Sections, part)
		}
	}
	v.leaveOutWhatWasNotRun()
	v.markWhatWasFilled()
	v.leaveOutWhatTheMainRowsHave()
	return v
}

// leaveOutWhatTheMainRowsHave leaves out of numbers by another rule what main rows of the same experiment and questions say.
func (v *verdicts) leaveOutWhatTheMainRowsHave() {
	for _, part := range v.Sections {
		for _, s := range part.Of {
			for i, j := range s.On {
				s.On[i].Ditto = j.Scale.Ruled && slices.ContainsFunc(s.On, func(main judged) bool {
					return !main.Scale.Ruled && main.Questions == j.Questions && main.Seeds == j.Seeds && slices.EqualFunc(main.Experiments, j.Experiments, func(a, b origin) bool { return a.Name == b.Name && a.From == b.From })
				})
			}
		}
	}
}

// leaveOutWhatWasNotRun leaves out the scales on which no sentence has a number.
func (v *verdicts) leaveOutWhatWasNotRun() {
	ran := make([]bool, len(v.Scales))
	for _, part := range v.Sections {
		for _, s := range part.Of {
			for i, on := range s.On {
				ran[i] = ran[i] || on.measured
			}
		}
	}
	var scales []scale
	for i, s := range v.Scales {
		if ran[i] {
			scales = append(scales, s)
		} else {
			v.NotRun = append(v.NotRun, s.Title)
		}
	}
	v.Scales = scales
	for _, part := range v.Sections {
		for i := range part.Of {
			at := 0
			part.Of[i].On = slices.DeleteFunc(part.Of[i].On, func(judged) bool {
				at++
				return !ran[at-1]
			})
		}
	}
}

// markWhatWasFilled marks the scales that are judged on nothing but measurements from elsewhere.
func (v *verdicts) markWhatWasFilled() {
	own := map[string]bool{} // scales with an experiment that was run with the others
	for _, part := range v.Sections {
		for _, s := range part.Of {
			for _, on := range s.On {
				own[on.Scale.ID] = own[on.Scale.ID] || slices.ContainsFunc(on.Experiments, func(x origin) bool { return x.From == "" })
			}
		}
	}
	for i := range v.Scales {
		v.Scales[i].Filled = v.From != "" && !own[v.Scales[i].ID]
	}
}

// ordering is a sentence that puts a row above another.
func (p *Paper) ordering(r paper.Row, scales []scale, here []section) sentence {
	o := r.Ordering
	s := sentence{ID: o.ID, Says: o.Says, Source: o.Source, Printed: r.Paper, Decided: r.Decided(), Own: mark{"in its own table", paper.Sign(paper.Holds), "yes"}}
	if !r.PaperHas {
		s.Own = mark{"not so in its own table", paper.Sign(paper.Mismatch), "no"}
	}
	if r.Paper == "" {
		s.Own = mark{}
	}
	var from []string
	for i, j := range r.Judged {
		on := judged{Scale: scales[i], mark: markOf(j.Verdict), Lines: r.Cell(i).Lines}
		s.because(j.Verdict, j.Reason)
		if j.Delta != nil {
			on.measured = true
			on.Questions, on.Seeds = j.Delta.Questions, j.Delta.Seeds
		}
		if experiment := r.Experiment(i); experiment != "" {
			rows, benchmark := p.Orderings.Sides(r, i)
			on.Experiments, from = []origin{p.originOf(experiment, here, j.Scale, rows, benchmark)}, merge(from, experiment)
		}
		s.On = append(s.On, on)
	}
	s.Commands = p.commands(from)
	return s
}

func (p *Paper) claim(id string) *paper.Claim {
	for i := range p.List.Claims {
		if p.List.Claims[i].ID == id {
			return &p.List.Claims[i]
		}
	}
	return &paper.Claim{}
}

// commands make the measurements of experiments.
func (p *Paper) commands(experiments []string) []string {
	if p.Commands == nil || len(experiments) == 0 {
		return nil
	}
	return p.Commands(experiments)
}

// originOf is an experiment that a sentence about rows is decided on, with the way to its questions.
func (p *Paper) originOf(name string, here []section, scale paper.Scale, rows []string, benchmark string) origin {
	of := origin{Name: name}
	if slices.Contains(p.Filled, name) {
		of.From = p.From
	}
	at := slices.IndexFunc(here, func(s section) bool { return s.Name == name })
	if at < 0 {
		return of
	}
	of.Here = true
	decided := cmp.Or(scale.Keys["arena"], scale.Keys["pool"])
	if of.Other = decided == metrics.LargeArena; of.Other {
		decided = metrics.PaperArena
	}
	for _, set := range here[at].Sets {
		if set.Name == decided {
			of.Set = "g-" + set.Anchor
			of.Question, of.Differ = set.disputed(rows, benchmark)
		}
	}
	return of
}

func merge(some []string, x string) []string {
	if slices.Contains(some, x) {
		return some
	}
	return append(some, x)
}

// Heads are the scales that lines have marks for.
func (v verdicts) Heads() []scale {
	return slices.DeleteFunc(slices.Clone(v.Scales), func(s scale) bool { return s.Ruled })
}

// Marked are these scales up to the last that has a mark: a line of the page ends with it.
func (s sentence) Marked() []judged {
	on := slices.DeleteFunc(slices.Clone(s.On), func(j judged) bool { return j.Scale.Ruled })
	n := len(on)
	for n > 0 && on[n-1].Word == "" {
		n--
	}
	return on[:n]
}

// ownTables is the title of what stands before our scales.
const ownTables = "The paper's own tables"

// Own is that title.
func (verdicts) Own() string { return ownTables }

// OwnTables is the cell of the paper's own tables.
func (s sentence) OwnTables() judged { return judged{Scale: scale{Title: ownTables}, mark: s.Own} }
