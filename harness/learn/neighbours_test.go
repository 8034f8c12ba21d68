package learn

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Features that many rows have and that few do are kept differently, and added in one order all the same.
func TestAnIndexMultipliesAsRowsDo(t *testing.T) {
	const width = 6
	rapid.Check(t, func(rt *rapid.T) {
		row := rapid.Custom(func(rt *rapid.T) (r policy.Row) {
			for id := range int32(width) {
				if v := rapid.Float32Range(-1, 1).Draw(rt, "value"); rapid.Bool().Draw(rt, "set") {
					r.IDs, r.Values = append(r.IDs, id), append(r.Values, v)
				}
			}
			return r
		})
		rows := rapid.SliceOfN(row, 1, 20).Draw(rt, "rows")
		x := row.Draw(rt, "row")
		for i, got := range NewIndex(rows).Dot(x) {
			dense := make([]float64, width)
			for k, id := range x.IDs {
				dense[id] = float64(x.Values[k])
			}
			if want := dot(dense, rows[i]); math.Abs(float64(got)-want) > 1e-5 {
				rt.Errorf("row %d: %v, want %v", i, got, want)
			}
			var want float32
			for k, id := range x.IDs {
				if at := slices.Index(rows[i].IDs, id); at >= 0 {
					want += float32(x.Values[k] * rows[i].Values[at])
				}
			}
			if runtime.GOARCH == "amd64" && got != want { // others round once where this rounds twice
				rt.Errorf("row %d: %v, and %v feature by feature", i, got, want)
			}
		}
	})
}
