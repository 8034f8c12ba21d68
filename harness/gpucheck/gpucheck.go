// Package gpucheck says what an accelerator is good for: whether it computes what the pure-Go backend computes, and how fast it
// trains a decoder.
package gpucheck

import (
	"fmt"
	"math"
)

// Agreement is a quantity of one training on two backends, over all its steps.
type Agreement struct {
	Training string // e.g. "decoder, float32, all weights"
	What     string // e.g. "loss"
	Numbers  int    // compared
	Worst    float64
	Allowed  float64 // Worst may be at most this; both are relative to the number of the second backend
}

// Holds says whether no number differs by more than is allowed.
func (a Agreement) Holds() bool { return a.Worst <= a.Allowed }

// compare returns how two series agree. A number that is 0 would compare nothing: what is 0 by construction is not to be
// compared, and an exact 0 of anything else is a fault.
func compare(training, what string, a, b []float64, allowed float64) (Agreement, error) {
	if len(a) != len(b) || len(a) == 0 {
		return Agreement{}, fmt.Errorf("%s: %s: %d numbers against %d", training, what, len(a), len(b))
	}
	found := Agreement{Training: training, What: what, Numbers: len(a), Allowed: allowed}
	for i := range a {
		off := math.Abs(a[i]-b[i]) / math.Abs(b[i])
		if b[i] == 0 || math.IsNaN(off) || math.IsInf(off, 0) {
			return Agreement{}, fmt.Errorf("%s: %s %d is %v on one backend and %v on the other; there is nothing to compare", training, what, i, a[i], b[i])
		}
		found.Worst = max(found.Worst, off)
	}
	return found, nil
}
