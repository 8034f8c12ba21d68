// The kinds of tables and figures that a spec can name.

package present

import (
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

func outputs() []output {
	const split, folds, collapse = "split", "folds", "collapse" // protocols
	return []output{
		{kind: "table", printed: true, protocols: []string{split, folds}, tables: (*Run).tables},
		{kind: "metrics", difficulty: true, protocols: []string{split}, tables: (*Run).metricsTables}, // not printed: the main tables fill a screen
		{kind: "routing-distribution", difficulty: true, protocols: []string{split}, reads: []string{"paper"}, needs: (*Run).distributionNeeds, figures: (*Run).distributionFigure},
		{kind: "collapse", protocols: []string{collapse}, figures: (*Run).collapseFigure},
		{kind: "pareto", protocols: []string{split, folds}, reads: []string{"rows", "paper", "wide"}, needs: (*Run).hullNeeds, figures: (*Run).paretoFigures},
		{kind: "sweep", protocols: []string{split, folds}, reads: []string{"param", "axis", "log", "paper", "series"}, needs: (*Run).sweepNeeds, figures: (*Run).sweepFigures},
		{kind: "seeds", protocols: []string{split}, reads: []string{"rows"}, needs: (*Run).seedsNeed, figures: (*Run).seedsFigure},
		{kind: "training", protocols: []string{split, folds}, reads: []string{"rows"}, figures: (*Run).trainingFigures},
		{kind: "rounds", protocols: []string{split}, reads: []string{"series"}, needs: (*Run).roundsNeed, figures: (*Run).roundsFigure},
		{kind: "calibration", protocols: []string{split}, figures: (*Run).calibrationFigure},
		{kind: "phase", protocols: []string{collapse}, figures: (*Run).phaseFigure},
		{kind: kindVerdict, protocols: []string{split, folds}, reads: []string{"rows"}, needs: (*Run).verdictNeeds, text: (*Run).verdictText},
	}
}

// Kinds returns the kinds of outputs that a spec may have, in the order of the list.
func Kinds() (kinds []string) {
	for _, o := range outputs() {
		kinds = append(kinds, o.kind)
	}
	return kinds
}

// ShowsDifficulty says whether an output shows how difficult test problems are.
func ShowsDifficulty(kind string) bool {
	return slices.ContainsFunc(outputs(), func(of output) bool { return of.kind == kind && of.difficulty })
}

// Check says whether the outputs of an experiment can be drawn: one that would end in an output that cannot does not begin. The
// error wraps spec.ErrUsage where an output is at fault.
func Check(r *spec.Resolved) error {
	run := &Run{Spec: r}
	for _, o := range r.Experiment.Outputs {
		of, err := kindOf(o)
		if err != nil {
			return err
		}
		o.File = File(r.Experiment.Name, o.File)
		if err := run.check(of, o); err != nil {
			return err
		}
	}
	return nil
}

// kindOf is the kind that an output names.
func kindOf(o spec.Output) (output, error) {
	at := slices.IndexFunc(outputs(), func(of output) bool { return of.kind == o.Kind })
	if at < 0 {
		return output{}, fmt.Errorf("%w: unknown output kind %q; known: %s", spec.ErrUsage, o.Kind, strings.Join(Kinds(), ", "))
	}
	return outputs()[at], nil
}

// output draws one output.
func (r *Run) output(o spec.Output, paper published) (d Output, err error) {
	of, err := kindOf(o)
	if err != nil {
		return d, err
	}
	o.File = File(r.Spec.Experiment.Name, o.File)
	if err := r.check(of, o); err != nil {
		return d, err
	}
	d.File, d.printed = o.File, of.printed
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
