// Where the files of experiments lie in a folder of tables and figures: one folder an experiment.

package present

import (
	"bytes"

	"github.com/entrorouter/entrorouter/harness/report"
)

// File is the name of a file of an experiment below the folder of all, with a slash.
func File(experiment, name string) string { return experiment + "/" + name }

// Measurements is the name of the file that everything else is drawn from; of experiment "*" a pattern of all there are.
func Measurements(experiment string) string { return File(experiment, "measurements.txt") }

// measured is that file.
func (r *Run) measured() (report.File, error) {
	var text bytes.Buffer
	err := r.Measurements.Write(&text)
	return report.File{Name: Measurements(r.Spec.Experiment.Name), Data: text.Bytes()}, err
}
