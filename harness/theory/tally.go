// What episodes come to, added up.

package theory

// tally sums expectations over episodes.
type tally struct {
	right, rightCall, rightNone float64
	asked, none, calls, cost    float64
	reward, broken              float64
	expert                      []float64
}

// snapshot reads the sums over n episodes as shares and means.
func (t *tally) snapshot(n float64) Snapshot {
	s := Snapshot{
		CallRate: t.asked / n, Calls: t.calls / n, Format: 1 - t.broken/n, Cost: t.cost / n, Reward: t.reward / n,
		Accuracy: t.right / n, AccuracyCall: (t.rightCall / n) / (t.asked / n), AccuracyNone: (t.rightNone / n) / (t.none / n),
	}
	for _, asked := range t.expert {
		s.Expert = append(s.Expert, asked/n)
	}
	return s
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
