package remember

import "testing"

func TestARoomGivesNoMoreThanItHas(t *testing.T) {
	r := RoomOf(10)
	for _, c := range []struct {
		size       int64
		took, full bool
	}{{6, true, false}, {4, true, false}, {0, true, false}, {1, false, true}, {0, true, true}} {
		if took := r.Take(c.size); took != c.took || r.Full() != c.full {
			t.Errorf("take %d: %v, full %v", c.size, took, r.Full())
		}
	}
}
