// Where a line of measurements stands.

package paper

import (
	"maps"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Place is the keys of a measurement beside those of its experiment and scale. The key line, which no measurement has,
// is the measurement's name: Choice.
type Place map[string]string

// ofTraining says whether a line there is of what trainings went through: no question was drawn for it.
func (p Place) ofTraining() bool { return p["stage"] != "" }

// versus is where the contrast of two rows stands that is of the same questions as the line of a row at p.
func (p Place) versus(row, other string) Place {
	at := maps.Clone(p)
	delete(at, "method")
	at["row"], at["versus"] = row, other
	return at
}

// keys are those of the place, in any order.
func (p Place) keys() (all []metrics.Key) {
	for name, value := range p {
		all = append(all, metrics.Key{Name: name, Value: value})
	}
	return all
}

// String prints the keys as a measurement's name has them.
func (p Place) String() string { return p.joined("/") }

func (p Place) joined(by string) string {
	var parts []string
	for _, k := range sortedKeys(p) {
		parts = append(parts, k+"="+p[k])
	}
	return strings.Join(parts, by)
}
