// The figure of pass rates against the truth.

package present

import (
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// calibrationFigure draws pass rates against the truth.
func (r *Run) calibrationFigure(o spec.Output, _ published) ([]*report.Figure, error) {
	x := &r.Spec.Experiment
	l := report.CalibrationLayout{Name: o.File, Rollouts: x.Profile.Rollouts, Experts: r.expertTerms()}
	var err error
	if l.Caption, err = caption("calibration caption", r.words()); err != nil {
		return nil, err
	}
	return one(report.Calibration(l, r.Measurements))
}
