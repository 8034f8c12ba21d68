package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// 7,200 tokens at two a second are an hour; as long as one model's speed is unknown nobody knows how long all take.
func TestHoursOfModelsThatHaveAnsweredNothing(t *testing.T) {
	all := Asked{Rollouts: 1, Hours: map[string]float64{"old": 0.5}}.Add(Asked{Rollouts: 2, Unpaced: map[string]float64{"new": 3600, "other": 10}}).Add(Asked{Unpaced: map[string]float64{"new": 3600}})
	if h := all.Longest(); h != 0 {
		t.Errorf("%v hours without a speed", h)
	}
	one := all.At(map[string]float64{"new": 2})
	if diff := cmp.Diff(Asked{Rollouts: 3, Hours: map[string]float64{"old": 0.5, "new": 1}, Unpaced: map[string]float64{"other": 10}}, one); diff != "" {
		t.Error(diff)
	}
	if h := one.Longest(); h != 0 {
		t.Errorf("%v hours without the speed of one", h)
	}
	if h := one.At(map[string]float64{"other": 1}).Longest(); h != 1 {
		t.Errorf("%v hours, want those of the slowest", h)
	}
	if diff := cmp.Diff(map[string]float64{"new": 7200, "other": 10}, all.Unpaced); diff != "" {
		t.Errorf("what was asked about has changed: %s", diff)
	}
}
