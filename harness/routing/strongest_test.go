// Who the strongest expert is: the dearest, or the most accurate.

package routing

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestTheStrongestIsTheDearestOrTheMostAccurate(t *testing.T) {
	examples := []Example{{Kappa: []float64{0, 1, 0.5}}, {Kappa: []float64{0.6, 0.4, 0.5}}, {Kappa: []float64{1, 0.6, 0.2}}} // sums 1.6, 2.0, 1.2
	for rule, want := range map[string]int{"": 2, "price": 2, "accuracy": 1} {
		if got := Strongest(examples, 3, rule); got != want {
			t.Errorf("%q: expert %d, want %d", rule, got, want)
		}
	}
	if got := Strongest([]Example{{Kappa: []float64{0.5, 1, 1}}}, 3, "accuracy"); got != 1 {
		t.Errorf("of equals expert %d, want the cheaper one", got)
	}
	if got := Strongest([]Example{{Kappa: []float64{0.3, 0.1}}, {Kappa: []float64{0.3, 0.2}}, {Kappa: []float64{0, 0.3}}}, 2, "accuracy"); got != 0 { // 0.1 + 0.2 + 0.3 is above 0.6 by rounding
		t.Errorf("of equals to rounding expert %d, want the cheaper one", got)
	}
}

// With the middle of three as the strongest it is who is taken where nobody is reliable, and right by decree in Stage II.
func TestTargetsAndRewardsFollowTheStrongest(t *testing.T) {
	if got := MBest([]float64{0.1, 0.2, 0.3}, 0.8, 1); got != 1 {
		t.Errorf("nobody is reliable: expert %d, want 1", got)
	}
	if got := MBest([]float64{0.1, 0.2, 0.9}, 0.8, 1); got != 2 {
		t.Errorf("the dearest alone is reliable: expert %d, want 2", got)
	}
	p := spec.Targets{Tau: 0.8, K: 2, Soft: true, HardWeight: 2}
	for _, c := range []struct {
		kappa []float64
		want  Target
	}{
		{[]float64{0, 0, 0}, Target{[]float64{0, 1, 0}, 2}},
		{[]float64{0, 0.9, 0}, Target{[]float64{0, 1, 0}, 2}},
		{[]float64{0, 0.9, 0.9}, Target{[]float64{0, 0.5, 0.5}, 2}},
		{[]float64{0, 0, 0.9}, Target{[]float64{0, 0, 1}, 1}},
		{[]float64{0.9, 0.9, 0}, Target{[]float64{0.5, 0.5, 0}, 1}},
	} {
		if diff := cmp.Diff(c.want, NewTarget(c.kappa, 0, 1, p)); diff != "" {
			t.Errorf("%v: %s", c.kappa, diff)
		}
	}
	if diff := cmp.Diff([]float64{0.1, 1, 0.3}, StageTwoKappa([]float64{0.1, 0.2, 0.3}, 1, spec.Reward{StrongestKappa: "one"})); diff != "" {
		t.Error(diff)
	}
}
