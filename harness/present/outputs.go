// The kinds of tables and figures that a spec can name.

package present

import (
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func outputs() []output {
	split, measured, collapse := []string{"split"}, []string{"split", "folds"}, []string{"collapse"} // protocols
	return []output{
		{kind: kindTable, protocols: measured, suffixes: tableSuffixes, printed: true, tables: (*Run).tables},
		{kind: "metrics", protocols: split, suffixes: metricsSuffixes, wants: Wants{Difficulty: true}, tables: (*Run).metricsTables}, // not printed: the main tables fill a screen
		{kind: "routing-distribution", protocols: split, reads: []string{"paper"}, wants: Wants{Difficulty: true, Row: methods.ReferenceRow}, figures: (*Run).distributionFigure},
		{kind: "collapse", protocols: collapse, figures: (*Run).collapseFigure},
		{kind: "pareto", protocols: measured, reads: []string{"rows", "paper", "wide"}, suffixes: poolSuffixes, needs: (*Run).hullNeeds, figures: (*Run).paretoFigures},
		{kind: "sweep", protocols: measured, reads: []string{"param", "axis", "log", "paper", "series"}, suffixes: poolSuffixes, swept: true, needs: (*Run).sweepNeeds, figures: (*Run).sweepFigures},
		{kind: "seeds", protocols: split, reads: []string{"rows"}, needs: (*Run).seedsNeed, figures: (*Run).seedsFigure},
		{kind: "training", protocols: measured, reads: []string{"rows"}, suffixes: poolSuffixes, trainings: trainingRows, figures: (*Run).trainingFigures},
		{kind: "rounds", protocols: split, reads: []string{"series"}, trainings: roundsRows, needs: (*Run).roundsNeed, figures: (*Run).roundsFigure},
		{kind: "calibration", protocols: split, wants: Wants{Calibration: true}, figures: (*Run).calibrationFigure},
		{kind: "phase", protocols: collapse, figures: (*Run).phaseFigure},
		{kind: kindVerdict, protocols: measured, reads: []string{"rows"}, needs: (*Run).verdictNeeds, text: (*Run).verdictText},
	}
}

// Kinds returns the kinds of outputs that a spec may have, in the order of the list.
func Kinds() (kinds []spec.OutputKind) {
	for _, of := range outputs() {
		kinds = append(kinds, spec.OutputKind{Name: of.kind, AnyRows: of.tables != nil, Protocols: of.protocols, Reads: of.reads, Swept: of.swept, Suffixes: of.suffixes})
	}
	return kinds
}

// kindOf returns the kind of an output; ok is false for one that is not known, which wants nothing and shows nothing.
func kindOf(o spec.Output) (kind output, ok bool) {
	for _, of := range outputs() {
		if of.kind == o.Kind {
			return of, true
		}
	}
	return kind, false
}

// WantsOf returns what is wanted for an output.
func WantsOf(o spec.Output) Wants {
	of, _ := kindOf(o)
	if of.trainings != nil {
		of.wants.Trainings = of.trainings(o)
	}
	return of.wants
}

// Check says whether an output can be drawn, as far as its spec says: an experiment that would end in one that cannot does not begin.
// The error wraps spec.ErrUsage where the output is at fault.
func Check(r *spec.Resolved, o spec.Output) error {
	of, _ := kindOf(o)
	if of.needs == nil {
		return nil
	}
	o.File = File(r.Experiment.Name, o.File)
	return of.needs(&Run{Spec: r}, o)
}

// output draws one output.
func (r *Run) output(o spec.Output, paper published) (d Output, err error) {
	of, ok := kindOf(o)
	if !ok {
		var known []string
		for _, of := range outputs() {
			known = append(known, of.kind)
		}
		return d, fmt.Errorf("%w: unknown output kind %q; known: %s", spec.ErrUsage, o.Kind, strings.Join(known, ", "))
	}
	o.File = File(r.Spec.Experiment.Name, o.File)
	d.File, d.printed = o.File, of.printed
	if of.needs != nil {
		if err := of.needs(r, o); err != nil {
			return d, err
		}
	}
	switch {
	case of.tables != nil:
		d.Tables, err = of.tables(r, o, paper)
	case of.figures != nil:
		d.Figures, err = of.figures(r, o, paper)
	default:
		d.Text, err = of.text(r, o)
	}
	return d, err
}
