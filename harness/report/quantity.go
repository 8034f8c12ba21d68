// A quantity along an axis.

package report

import "slices"

// Quantity is a unit of measurements and how an axis names it.
type Quantity struct {
	Unit  string
	Label string
	Zero  bool // a dashed line at 0, where 0 is not far from the values
}

// scale returns an axis around values, whether it has 0, and what it is called: an axis that leaves 0 out says so, as 0 would be
// farther from the values than they are from each other.
func (q Quantity) scale(values []float64) (s scale, zero bool) {
	low, high := slices.Min(values), slices.Max(values)
	if !q.Zero {
		return room(q.Label, values...), false
	}
	if max(low, -high) > high-low {
		return room(q.Label+"\n(0 is not shown)", values...), false
	}
	return room(q.Label, append(values, 0)...), true
}
