package metrics

import "testing"

func TestUnitsSayWhichNumbersAreBetter(t *testing.T) {
	for unit, want := range map[string]Direction{
		Accuracy: Higher, "gain-at-50%-points": Higher, "accuracy-at-25%-%": Higher, "mean-gain-lead-points": Higher,
		USDPerQuery: Lower, "cpt80-%": Lower, "log-loss-nats": Lower, "other-lead-points": Lower,
		"gain-at-51%-points": Neither, "seed-sd-points": Neither, "entropy-nats": Neither, Questions: Neither, "": Neither,
	} {
		if got := Better(unit); got != want {
			t.Errorf("%q: %v, want %v", unit, got, want)
		}
	}
}
