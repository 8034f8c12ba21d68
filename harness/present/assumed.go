// What rows assume.

package present

import (
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
)

// assumed is what rows follow from that nothing measured says; what no row assumes has no value.
type assumed struct {
	Skill, Tau                           stated // of simulated routers
	Assimilation, Distraction, ColdStart stated // of multi-round routers that are trained here
}

// Assumptions are those of all rows.
func (w words) Assumptions() (all assumed) {
	for _, m := range w.Experiment.Methods {
		traits := methods.RowTraits(m, w.Experiment)
		if sim := w.run.Spec.Pools[0].Simulation; sim != nil {
			if s, ok := sim.Routers[traits.Simulated]; ok {
				all.Skill.add(s.Skill, m.RowLabel())
				all.Tau.add(s.Tau, m.RowLabel())
			}
		}
		if a := traits.Asker; a != nil {
			all.Assimilation.add(a.Assimilation, m.RowLabel())
			all.Distraction.add(a.Distraction, m.RowLabel())
			all.ColdStart.add(a.ColdStart, m.RowLabel())
		}
	}
	return all
}

// stated are the values of a parameter, each with the rows that have it.
type stated struct {
	values []float64
	rows   [][]string
}

func (s *stated) add(value float64, row string) {
	k := slices.Index(s.values, value)
	if k < 0 {
		k = len(s.values)
		s.values, s.rows = append(s.values, value), append(s.rows, nil)
	}
	s.rows[k] = append(s.rows[k], row)
}

// Any says whether a row has a value.
func (s stated) Any() bool { return s.values != nil }

// String names rows only where they differ.
func (s stated) String() string {
	var parts []string
	for k, v := range s.values {
		part := strconv.FormatFloat(v, 'g', -1, 64)
		if len(s.values) > 1 {
			part += " (" + strings.Join(s.rows[k], "; ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
