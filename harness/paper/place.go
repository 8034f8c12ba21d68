// Where a line of measurements stands.

package paper

import "strings"

// Place is the keys of a measurement beside those of its experiment and scale. The key line, which no measurement has,
// is the measurement's name: Choice.
type Place map[string]string

// ofTraining says whether a line there is of what trainings went through: no question was drawn for it.
func (p Place) ofTraining() bool { return p["stage"] != "" }

// String prints the keys as a measurement's name has them.
func (p Place) String() string {
	var parts []string
	for _, k := range sortedKeys(p) {
		parts = append(parts, k+"="+p[k])
	}
	return strings.Join(parts, "/")
}
