// The kinds of tables and figures that a spec can name.

package present

import (
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

func outputs() []output {
	return []output{
		{kind: "table", printed: true, tables: (*Run).tables},
		{kind: "metrics", difficulty: true, tables: (*Run).metricsTables}, // not printed: the main tables fill a screen
		{kind: "routing-distribution", difficulty: true, figures: (*Run).distributionFigure},
		{kind: "collapse", figures: (*Run).collapseFigure},
		{kind: "pareto", figures: (*Run).paretoFigures},
		{kind: "sweep", figures: (*Run).sweepFigures},
		{kind: "seeds", figures: (*Run).seedsFigure},
		{kind: "training", figures: (*Run).trainingFigures},
		{kind: "rounds", figures: (*Run).roundsFigure},
		{kind: "calibration", figures: (*Run).calibrationFigure},
		{kind: "phase", figures: (*Run).phaseFigure},
		{kind: kindVerdict, text: (*Run).verdictText},
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

// output draws one output.
func (r *Run) output(o spec.Output, paper published) (d Output, err error) {
	at := slices.IndexFunc(outputs(), func(of output) bool { return of.kind == o.Kind })
	if at < 0 {
		return d, fmt.Errorf("%w: unknown output kind %q; known: %s", spec.ErrUsage, o.Kind, strings.Join(Kinds(), ", "))
	}
	of := outputs()[at]
	o.File = File(r.Spec.Experiment.Name, o.File)
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
