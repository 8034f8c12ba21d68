package compare

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Rows give the same numbers on every machine with the Go backend, and in XLA they need not: what trains nothing is told in differences
// to what does.
func TestTrainedRowsOfXLANeedNotRepeatThemselvesOnAnotherProcessor(t *testing.T) {
	r := &spec.Resolved{Experiment: spec.Experiment{
		Name: "toy", Protocol: "folds", Evaluate: spec.Evaluate{Seeds: []uint64{1}},
		Methods: []spec.Method{{Name: "fixed", ID: "cheapest"}, {Name: "entrorouter"}},
	}}
	for backend, want := range map[string]map[string]metrics.Gate{
		"go":      {"cheapest": metrics.Exact, "entrorouter": metrics.Golden},
		"xla:cpu": {"cheapest": metrics.None, "entrorouter": metrics.None},
	} {
		set := func(cheapest, trained string) *metrics.Set {
			s, err := metrics.Read("toy", strings.NewReader("# Made with seed 1 by backend "+backend+" on amd64.\n"+
				"BenchmarkRoute/experiment=toy/pool=p/method=cheapest/benchmark=all 100 "+cheapest+" accuracy-%\n"+
				"BenchmarkRoute/experiment=toy/pool=p/method=entrorouter/benchmark=all 100 "+trained+" accuracy-%\n"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		found := map[string]metrics.Gate{}
		for _, x := range Numbers(r, set("60.1", "70.1"), set("60", "70")).Changes {
			_, row, _ := strings.Cut(x.Label, "method=")
			row, _, _ = strings.Cut(row, "/")
			found[row] = x.Gate
			if x.Regressed() != (x.Gate != metrics.None) {
				t.Errorf("%s, %s: gate %v, regressed: %v", backend, x.Label, x.Gate, x.Regressed())
			}
		}
		for row, gate := range want {
			if found[row] != gate {
				t.Errorf("%s: %s has the gate %v, want %v", backend, row, found[row], gate)
			}
		}
	}
}
