package train

import (
	"runtime"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// heavy is a policy with a weight of many megabytes.
type heavy struct{ idle }

const heavyValues = 4 << 20

func (heavy) Weights() []policy.Weight {
	return []policy.Weight{{Name: "heavy", Dims: []int{heavyValues}, Start: policy.Uniform(1)}}
}

// TestAStateIsNeverInMainMemoryAsAWhole: that of a language model with its moments is as large as the memory.
func TestAStateIsNeverInMainMemoryAsAWhole(t *testing.T) {
	const size = 4 * heavyValues
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	c := Conduct{Dir: t.TempDir()}
	m := newModel(t, goBackend(t), heavy{})
	if got := allocated(func() {
		if err := c.keep("sft", m, 1, 1, []Point{{Step: 7}}); err != nil {
			t.Fatal(err)
		}
	}); got > size/4 {
		t.Errorf("to keep a state of %d bytes took %d", size, got)
	}
	other, err := policy.New(m.Backend(), heavy{}, 99)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got := allocated(func() {
		if done, points, err := c.resume("sft", other); err != nil || done != 1 || len(points) != 1 || points[0].Step != 7 {
			t.Fatal(done, points, err)
		}
	}); got > size+size/4 {
		t.Errorf("to read a state of %d bytes took %d, the weight itself among them", size, got)
	}
	values := func(m *policy.Model) []float32 {
		v, err := tensors.CopyFlatData[float32](m.Scope().GetVariable("heavy").MustValue())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if !slices.Equal(values(m), values(other)) {
		t.Error("the weight that was read is not the one that was kept")
	}
}
