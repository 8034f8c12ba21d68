package remember

import (
	"errors"
	"slices"
	"testing"
)

func TestAMemoryIsAskedOnceForEachKey(t *testing.T) {
	var m Memory[int]
	var asked [][]string
	lengths := func(unknown []string) (all []int, err error) {
		asked = append(asked, unknown)
		for _, key := range unknown {
			all = append(all, len(key))
		}
		return all, nil
	}
	broken := errors.New("broken")
	if _, err := m.Of([]string{"a"}, func([]string) ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	for _, c := range []struct {
		keys []string
		want []int
	}{{[]string{"bb", "a", "bb"}, []int{2, 1, 2}}, {[]string{"a", "ccc"}, []int{1, 3}}, {[]string{"ccc", "bb"}, []int{3, 2}}} {
		if got, err := m.Of(c.keys, lengths); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.keys, got, err, c.want)
		}
	}
	if len(asked) != 2 || !slices.Equal(asked[0], []string{"bb", "a"}) || !slices.Equal(asked[1], []string{"ccc"}) {
		t.Errorf("asked for %q", asked)
	}
}
