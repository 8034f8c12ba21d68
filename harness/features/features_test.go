package features

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
)

func TestRescaleByHand(t *testing.T) {
	rows := []policy.Row{
		{IDs: []int32{0, 1, 5, 9}, Values: []float32{2, -1, 3, -4}},
		{IDs: []int32{1}, Values: []float32{4}}, // a text without n-grams
	}
	rescale(rows, 2)
	for i, want := range [][]float32{{0.3, -0.15, 0.6, -0.8}, {0.6}} {
		for k, v := range rows[i].Values {
			if math.Abs(float64(v-want[k])) > 1e-6 {
				t.Errorf("row %d is %v, want %v", i, rows[i].Values, want)
				break
			}
		}
	}
}
