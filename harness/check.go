// The comparison of a run that was just carried out with another.

package harness

import (
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// CheckRun holds a finished experiment, carried out with o, against another run of it; see compare.Runs.
func CheckRun(result *Result, o Options, other *book.Run) (*compare.RunReport, error) {
	ours, err := book.OpenRun(o.Out, result.Spec.Experiment.Name)
	if err != nil {
		return nil, err
	}
	return compare.Runs(result.Spec, result.Measurements, ours, other, "go"+policy.Numerics)
}
