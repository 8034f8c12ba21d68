package present

import (
	"slices"
	"strconv"
	"testing"

	"github.com/entrorouter/entrorouter/harness/ensemble"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// What a run prints of its pools is what their CSV file gives: 0.63052 has three digits 0.631, and 0.6305, as the file has it, 0.63.
func TestPoolsArePrintedAsTheirFileHasThem(t *testing.T) {
	r := builtin(t, "ensemble")
	run := &Run{Spec: r}
	drawn := ensemble.Member{Pool: spec.Pool{Name: "sim-01"}}
	for k, x := range r.Experiment.Ensemble.Ranges() {
		*x.Of(&drawn.Knobs) = 0.63052 + float64(k)
	}
	sheet := run.pools([]ensemble.Member{drawn})
	read := ensemble.Member{Pool: drawn.Pool}
	for k, x := range r.Experiment.Ensemble.Ranges() {
		var err error
		if *x.Of(&read.Knobs), err = strconv.ParseFloat(sheet.Records[1][1+k], 64); err != nil {
			t.Fatal(err)
		}
	}
	again := run.pools([]ensemble.Member{read})
	for k, cell := range sheet.Grids[0].Rows[0] {
		if got := again.Grids[0].Rows[0][k]; !slices.Equal(got.Lines, cell.Lines) || got.Lead != cell.Lead {
			t.Errorf("column %d: %v, and from its file %v", k, cell, got)
		}
	}
}
