package methods

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

// On the planted problems the router itself solves the easy half and only the large expert the hard one. Where nothing
// can be gained or lost, as on hard problems without assimilation, nothing is learned.
func TestWhatMultiRoundRoutersLearnFollowsFromTheAssimilation(t *testing.T) {
	set := routingtest.Planted(200)
	qs := routingtest.Fresh(60)
	for _, c := range []struct {
		name, kind, params string
		hard               bool // the problems that are looked at
		want               int  // whose answer stands there; the router's own: without a call
	}{
		{"Router-R1 that uses nothing asks nobody", "routerr1", "{alpha: 0.6}", false, routing.Self},
		{"nor does it where calls have no price, since they distract", "routerr1", "{alpha: 0, distraction: 0.2}", false, routing.Self},
		{"Router-R1 that uses everything asks for hard problems", "routerr1", "{assimilation: 1, alpha: 0.6}", true, 2},
		{"and for no easy ones", "routerr1", "{assimilation: 1, alpha: 0.6}", false, routing.Self},
		{"xRouter that uses nothing asks nobody if it has to write the answer", "xrouter", "{select: false, steps: 60, gen_batches: 2, filter: reward}", false, routing.Self},
		{"and hands an expert's answer over if it may", "xrouter", "{steps: 60, gen_batches: 2}", true, 2},
		{"xRouter that uses everything need not hand over", "xrouter", "{assimilation: 1, select: false, steps: 60, gen_batches: 2}", true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			so := 0
			for i, d := range routingtest.Route(t, fit(t, build(t, c.kind, c.params), set, 1), qs) {
				if routingtest.Hard(i) == c.hard && d.Expert == c.want && (d.Expert != routing.Self || len(d.Calls) == 0) {
					so++
				}
			}
			if so < 28 {
				t.Errorf("so it is on %d of 30 problems", so)
			}
		})
	}
}

// In the environment a K of 0 stands for 1, so nobody can ask for 0.
func TestARightAnswerIsWorthSomethingToXRouter(t *testing.T) {
	_, err := New(setup(t, "xrouter", "{k: 0}"))
	if err == nil || !strings.Contains(err.Error(), "params.k: want more than 0") {
		t.Errorf("k: 0: %v", err)
	}
}

// A bonus that outweighs everything makes the router call as often as it can.
func TestCallsThatAreNotUsedSpoilTheRoutersOwnAnswer(t *testing.T) {
	set, qs := routingtest.Planted(100), routingtest.Fresh(10)
	for _, d := range routingtest.Route(t, fit(t, build(t, "xrouter", "{select: false, call_bonus: 5, steps: 30, max_turns: 1, distraction: 0.25}"), set, 1), qs) {
		if d.Expert != routing.Self || len(d.Calls) != 1 || d.Spoiled != 0.25 {
			t.Errorf("one unused call: %+v", d)
		}
	}
	for _, d := range routingtest.Route(t, fit(t, build(t, "routerr1", "{call_bonus: 5, steps: 5, cold_start: 0.999, max_turns: 2, distraction: 0.5}"), set, 1), qs) {
		if d.Expert != routing.Self || len(d.Calls) != 2 || d.Spoiled != 0.75 {
			t.Errorf("two unused calls: %+v", d)
		}
	}
	for _, d := range routingtest.Route(t, fit(t, build(t, "routerr1", "{steps: 1, cold_start: 0.999, max_turns: 2, format_fail: 1}"), set, 1), qs) {
		if d.Expert != routing.Self || len(d.Calls) != 0 || d.Spoiled != 1 {
			t.Errorf("a malformed call: %+v", d)
		}
	}
}

// Coins for assimilation come out as often as they should, apart for problems and runs.
func TestAnswersAreUsedAsOftenAsAssumed(t *testing.T) {
	set := routingtest.Planted(100)
	for i := range set.RL {
		set.RL[i].Probe = 0 // every expert is trusted more than the router
	}
	r := fit(t, build(t, "routerr1", "{assimilation: 0.3, steps: 1, cold_start: 0.999, max_turns: 1}"), set, 1)
	var qs []routing.Query
	for _, q := range routingtest.Fresh(50) {
		for run := range 40 {
			qs = append(qs, routing.Query{Problem: q.Problem, Run: run})
		}
	}
	used := 0.0
	for _, d := range routingtest.Route(t, r, qs) {
		if d.Expert != routing.Self {
			used++
		}
	}
	if share := used / 2000; math.Abs(share-0.3) > 5*math.Sqrt(0.21/2000) {
		t.Errorf("answers were used in %v of the calls, want 0.3", share)
	}
}

func TestTheCurveOfAMultiRoundRouterHasEveryStep(t *testing.T) {
	set := routingtest.Planted(100)
	w := routingtest.Work(1)
	w.Dir = t.TempDir()
	if _, err := build(t, "routerr1", "{steps: 60}").Fit(t.Context(), set, w); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(w.Dir, "curve.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 61 || lines[0][2] != "call_rate" || lines[0][len(lines[0])-1] != "call_rate:large" {
		t.Fatalf("%d lines, head %v", len(lines), lines[0])
	}
	rate := func(line int) float64 {
		v, err := strconv.ParseFloat(lines[line][2], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if first, last := rate(1), rate(60); first < 0.75 || last > first-0.3 {
		t.Errorf("call rate %v in the first step, %v in the last", first, last)
	}
	read, err := rounds.ReadCourse("curve.csv", bytes.NewReader(raw), []string{"small", "medium", "large"})
	if err != nil || len(read) != 60 || math.Abs(read[59].CallRate-rate(60)) > 1e-9 || len(read[0].Expert) != 3 || read[7].Step != 7 {
		t.Errorf("read back: %d steps, %v", len(read), err)
	}
	for _, line := range lines[1:] {
		if line[4] != "1.000000" {
			t.Fatalf("format rate %s without malformed calls", line[4])
		}
	}
}

func TestUnitsOfXRoutersCost(t *testing.T) {
	usd := []float64{0.001, 0.004, 0.02}
	for unit, want := range map[string]float64{"usd": 1, "usd_per_1k_queries": 1000, "normalised": 50} {
		if got := (&xRouter{CostUnit: unit}).unit(usd); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: a dollar counts %v, want %v", unit, got, want)
		}
	}
	if got := (&xRouter{CostUnit: "normalised"}).unit([]float64{0, 0}); got != 1 {
		t.Errorf("free experts: %v", got)
	}
}
