// The figure of pass rates against the truth.

package present

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// calibrationFigure draws pass rates against the truth.
func (r *Run) calibrationFigure(o spec.Output) (*report.Figure, error) {
	x := &r.Spec.Experiment
	l := report.CalibrationLayout{Name: o.File, Rollouts: x.Profile.Rollouts, Experts: r.expertTerms()}
	l.Caption = fmt.Sprintf("%s: what %d rollouts say about an expert's true success probability on a training problem of Stage II%s ", x.Title, x.Profile.Rollouts, r.scale()) +
		fmt.Sprintf("In (b), rates are shrunk to a logistic regression on the text that was fitted to the problems of Stage I, as EntroRouter+ does it. "+
			"(c) is the share of problems on which the cheapest expert that passes %g by the estimates is not the one that does so in truth; the line is exact, the points are the %d problems. EntroRouter+ takes shrunk rates as rewards and names no such expert by them.", x.Targets.Tau, x.Train.RL.Size)
	return report.Calibration(l, r.Measurements)
}
