package ensemble

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

func builtIn(pools int) (*spec.Resolved, *spec.Ensemble, error) {
	r, err := spec.Load(experiments.FS, "ensemble", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		return nil, nil, err
	}
	e := *r.Experiment.Ensemble
	e.Pools = pools
	return r, &e, nil
}

// drawn are the built-in ensemble with a few pools, the pool that these are drawn from, and they; to be read only.
var drawn = sync.OnceValue(func() (d struct {
	resolved *spec.Resolved
	ensemble *spec.Ensemble
	members  []Member
	err      error
}) {
	d.resolved, d.ensemble, d.err = builtIn(few)
	if d.err == nil {
		d.members, d.err = Draw(d.ensemble, d.resolved.Pools[0], d.resolved.Prices, 1)
	}
	return d
})

const few = 3

// Of a Latin hypercube every stratum of every knob has one pool.
func TestEveryStratumHasOnePool(t *testing.T) {
	const pools = few
	d := drawn()
	if d.err != nil {
		t.Fatal(d.err)
	}
	e, all := d.ensemble, d.members
	for _, of := range e.Ranges() {
		seen := make([]int, pools)
		for _, m := range all {
			share := (*of.Of(&m.Knobs) - of.From) / (of.To - of.From)
			if of.Scale == "log" {
				share = math.Log(*of.Of(&m.Knobs)/of.From) / math.Log(of.To/of.From)
			}
			if share < 0 || share >= 1 {
				t.Fatalf("%s of pool %s is %g, outside %g to %g", of.Knob, m.Pool.Name, *of.Of(&m.Knobs), of.From, of.To)
			}
			seen[int(share*pools)]++
		}
		if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
			t.Errorf("%s: pools a stratum %v", of.Knob, seen)
		}
	}
}

func TestPoolsOfAnEnsembleReachThePapersFixedExpertsAndDiffer(t *testing.T) {
	d := drawn()
	if d.err != nil {
		t.Fatal(d.err)
	}
	r, e, all := d.resolved, d.ensemble, d.members
	base := r.Pools[0]
	again, err := Draw(e, base, r.Prices, 1)
	if err != nil {
		t.Fatal(err)
	}
	experts, probe, err := routing.Members(base, r.Prices)
	if err != nil {
		t.Fatal(err)
	}
	experts = append(experts, *probe)
	for i, m := range all {
		if m.Knobs != again[i].Knobs || m.Pool.Simulation.Experts["qwen3-4b"].Offset["HMMT"] != again[i].Pool.Simulation.Experts["qwen3-4b"].Offset["HMMT"] {
			t.Errorf("pool %s is another when it is drawn again", m.Pool.Name)
		}
		if m.Pool.Simulation.Text.Noise != m.Knobs.Noise || m.Pool.Simulation.Text.SizeShown != base.Simulation.Text.SizeShown {
			t.Errorf("pool %s has texts of %+v", m.Pool.Name, m.Pool.Simulation.Text)
		}
		_, fits, err := sim.Calibrate(*m.Pool.Simulation, experts)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fits {
			if far := 100 * math.Abs(f.Reached.Accuracy-f.Target.Accuracy); far > .05 {
				t.Errorf("pool %s: %s on %s is off by %.3f points", m.Pool.Name, f.Expert, f.Cell, far)
			}
		}
		if i > 0 && m.Pool.Simulation.Topics["algebra"] == all[0].Pool.Simulation.Topics["algebra"] && m.Pool.Simulation.Topics["units"] == all[0].Pool.Simulation.Topics["units"] {
			t.Errorf("pools %s and %s have the same topics", all[0].Pool.Name, m.Pool.Name)
		}
	}
	if base.Simulation.Text.Noise != 4.2 || base.Simulation.Topics["algebra"] != .42 {
		t.Error("drawing changed the pool it was drawn from")
	}
}

func TestAPoolThatCannotReachTheTargetsIsNamed(t *testing.T) {
	r, e, err := builtIn(2)
	if err != nil {
		t.Fatal(err)
	}
	e.TokensSigma = spec.Range{From: 1.5, To: 1.6}
	_, err = Draw(e, r.Pools[0], r.Prices, 1)
	if err == nil || !strings.Contains(err.Error(), "pool sim-01 of the ensemble: targets.") {
		t.Error(err)
	}
	if _, err := Draw(e, spec.Pool{Name: "x", Kind: "recorded"}, r.Prices, 1); err == nil || !strings.Contains(err.Error(), "pool x is of kind recorded") {
		t.Error(err)
	}
}

// By hand: the differences -1, 0, 2 and 4 are above 0 on two of four pools, below on one, with the median 1.
func TestSharesByHand(t *testing.T) {
	var measured []*metrics.Set
	for _, v := range []float64{2, -1, 4, 0} {
		measured = append(measured, &metrics.Set{Measurements: []metrics.Measurement{
			{Name: "Route", Keys: metrics.Keys("arena", "large", "method", "a", "benchmark", "avg"), Values: []metrics.Value{{Number: v, Unit: units.Difference}, {Number: 7, Unit: metrics.Accuracy}}},
			{Name: "Route", Keys: metrics.Keys("arena", "large", "method", "a", "benchmark", "avg", "seed", "1"), Values: []metrics.Value{{Number: 9, Unit: units.Difference}}},
			{Name: "Route", Keys: metrics.Keys("arena", "paper", "method", "a", "benchmark", "avg"), Values: []metrics.Value{{Number: 9, Unit: units.Difference}}},
			{Name: "Choice", Keys: metrics.Keys("arena", "large", "method", "a", "benchmark", "avg"), Values: []metrics.Value{{Number: 9, Unit: units.Difference}}},
		}})
	}
	want := []Share{{Row: "a", Unit: units.Difference, Pools: 4, Above: 2, Below: 1, Median: 1, Least: -1, Most: 4}}
	got := Shares(measured)
	if !slices.Equal(got, want) {
		t.Fatalf("%+v, not %+v", got, want)
	}
	records := [][]string{{"row", "number", "pools", "above 0", "below 0", "median", "from", "to"}, {"a", "difference-points", "4", "2", "1", "1.000", "-1.000", "4.000"}}
	if !reflect.DeepEqual(ShareRecords(got), records) {
		t.Errorf("%q, not %q", ShareRecords(got), records)
	}
	lines := Lines("all", measured).Measurements
	if len(lines) != 4 || lines[0].Label() != "Route/arena=large/method=a/benchmark=avg" || len(lines[0].Values) != 2 || lines[0].Values[0].Unit != metrics.Accuracy {
		t.Errorf("%+v", lines)
	}
}

func TestLinesNameTheRecipeOfEachPool(t *testing.T) {
	var measured []*metrics.Set
	for _, pool := range []string{"sim-01", "sim-02"} {
		measured = append(measured, &metrics.Set{Comment: []string{" Of one pool.", metrics.Recipe{Step: "measure", Key: "measure-" + pool, By: "go go1"}.String()},
			Measurements: []metrics.Measurement{{Name: "Route", Keys: metrics.Keys("pool", pool)}}})
	}
	want := []metrics.Recipe{{Step: "measure of sim-01", Key: "measure-sim-01", By: "go go1"}, {Step: "measure of sim-02", Key: "measure-sim-02", By: "go go1"}}
	if lines := Lines("all", measured); !slices.Equal(lines.Recipes(), want) || len(lines.Said()) != 0 {
		t.Errorf("%q", lines.Comment)
	}
}
