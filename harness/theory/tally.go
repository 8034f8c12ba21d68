// What episodes come to, added up.

package theory

// tally sums expectations over episodes.
type tally struct {
	right, rightCall, rightNone float64
	asked, none, calls, cost    float64
	reward, broken              float64
	expert                      []float64
}

// snapshot reads the sums as shares and means.
func (t *tally) snapshot() Snapshot {
	return Snapshot{
		CallRate: t.asked, Calls: t.calls, Expert: t.expert, Format: 1 - t.broken, Cost: t.cost, Reward: t.reward,
		Accuracy: t.right, AccuracyCall: t.rightCall / t.asked, AccuracyNone: t.rightNone / t.none,
	}
}

// count adds episodes of weight reach that end alike.
func (t *tally) count(reach, right, cost float64, calls int, called uint32) {
	t.right += reach * right
	t.cost += reach * cost
	t.calls += reach * float64(calls)
	if calls > 0 {
		t.asked += reach
		t.rightCall += reach * right
	} else {
		t.none += reach
		t.rightNone += reach * right
	}
	for m := range t.expert {
		if called&(1<<m) != 0 {
			t.expert[m] += reach
		}
	}
}
