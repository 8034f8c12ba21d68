package harness

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
	"github.com/entrorouter/entrorouter/harness/units"
)

// followTrail checks every cell of an experiment: it is what the table has, its questions add up to it, and a question
// is what its decisions and the answers or outcomes behind them say; and back from the question to the cell.
func followTrail(t *testing.T, r *spec.Resolved, o Options, result *Result) {
	t.Helper()
	tr, done, err := OpenTrail(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	cells, err := tr.Cells("", "")
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b, within float64) bool { return math.Abs(a-b) <= within*(1+1e-6) }
	type place struct{ set, row, benchmark, problem string }
	questions := map[place]trail.QuestionResult{}
	average := func(set, row string) trail.Cell {
		t.Helper()
		i := slices.IndexFunc(cells, func(c trail.Cell) bool { return c.Set == set && c.Row == row && c.Benchmark == metrics.Average })
		if i < 0 {
			t.Fatalf("no row %s on set %s", row, set)
		}
		return cells[i]
	}
	seen := 0
	for _, c := range cells {
		where := []string{c.Set, c.Row, c.Benchmark}
		// The table's numbers are rounded.
		check := func(line metrics.Measurement, unit string, got, within float64) {
			t.Helper()
			if v, ok := line.Value(unit); ok {
				seen++
				if !near(got, v.Number, within) {
					t.Errorf("%v: the trail says %v %s, the table %v", where, got, unit, v.Number)
				}
			}
		}
		set := "arena"
		if r.Experiment.Protocol == "folds" {
			set = "pool"
		}
		lines := result.Measurements.Where(metrics.Keys(set, c.Set, "method", c.Row, "benchmark", c.Benchmark, "seed", "")...)
		if slices.Contains(score.Difficulties[:], c.Benchmark) {
			lines = result.Measurements.Where(metrics.Keys(set, c.Set, "method", c.Row, "stratum", c.Benchmark, "expert", "")...)
		}
		if len(lines) != 1 {
			t.Fatalf("%v: %d lines of the table", where, len(lines))
		}
		check(lines[0], metrics.Accuracy, c.Accuracy, 5e-4)
		check(lines[0], metrics.USD, c.USD, 5e-7)
		check(lines[0], metrics.USDPerQuery, c.PerQuery, 5e-9)
		if c.CostShare == nil {
			t.Fatalf("%v: no cost share", where)
		}
		check(lines[0], units.CostShare, *c.CostShare, 5e-4)
		check(lines[0], metrics.Questions, float64(c.Questions), 0)
		if (c.Gain != nil) != (set == "arena" && c.Benchmark == metrics.Average) {
			t.Errorf("%v: a gain: %v", where, c.Gain)
		}
		if c.Gain != nil {
			check(lines[0], units.HullGain, c.Gain.Points, 5e-4)
			flip, asked := 0.0, 0.0
			for id, share := range c.Gain.Coin {
				flip += share * average(c.Set, id).Accuracy
				asked += share * average(c.Set, id).PerQuery
			}
			if !near(flip, c.Gain.Accuracy, 1e-9) || !near(c.Accuracy-flip, c.Gain.Points, 1e-9) || asked > c.PerQuery+1e-12 {
				t.Errorf("%v: a flip between %v comes to %v%% and %v dollars, the gain is %+v", where, c.Gain.Coin, flip, asked, *c.Gain)
			}
		}
		for _, bucket := range routing.Buckets {
			check(lines[0], string(bucket), c.Verdicts[bucket], 5e-3)
		}
		for _, x := range c.Trainings {
			for _, line := range result.Measurements.Where(metrics.Keys(set, c.Set, "method", c.Row, "benchmark", c.Benchmark, "seed", fmt.Sprint(x.Seed))...) {
				check(line, metrics.Accuracy, x.Accuracy, 5e-4)
				check(line, metrics.USDPerQuery, x.PerQuery, 5e-9)
			}
		}
		of, err := tr.Questions(c.Set, c.Row, c.Benchmark)
		if err != nil {
			t.Fatal(err)
		}
		var weight, accuracy, usd, tokens float64
		chosen := map[string]float64{}
		for _, q := range of {
			questions[place{c.Set, c.Row, c.Benchmark, q.Problem}] = q
			weight += q.Weight
			accuracy += q.Weight * q.Accuracy
			usd += q.Weight * q.USD
			tokens += q.Weight * q.Tokens
			for id, share := range q.Chosen {
				chosen[id] += 100 * q.Weight * share
			}
		}
		if len(of) != c.Questions || !near(weight, 1, 1e-9) || !near(accuracy, c.Accuracy, 1e-9) || !near(usd, c.PerQuery, 1e-12) {
			t.Errorf("%v: %d questions with weights of %v come to %v%% and %v dollars, the cell to %v and %v", where, len(of), weight, accuracy, usd, c.Accuracy, c.PerQuery)
		}
		check(lines[0], units.Tokens, tokens, 0.05)
		for _, line := range result.Measurements.Where(metrics.Keys(set, c.Set, "method", c.Row, "stratum", c.Benchmark)...) {
			if id := line.Key("expert"); id != "" {
				check(line, units.Share, chosen[id], 5e-3)
			}
		}
	}
	if seen < 3*len(cells) {
		t.Errorf("%d numbers of %d cells were compared", seen, len(cells))
	}
	experts := map[string][]string{}
	for _, set := range tr.Sets() {
		experts[set.Set] = set.Experts
	}
	var problems []place
	for p := range questions {
		if p.row == r.Experiment.Methods[0].RowID() && (p.benchmark == metrics.Average || p.benchmark == metrics.BothStrata) {
			problems = append(problems, p)
		}
	}
	for _, at := range problems[:min(len(problems), 40)] {
		p, err := tr.Problem(t.Context(), at.set, at.problem, "")
		if err != nil {
			t.Fatal(err)
		}
		glance := overviewOf(t, tr, at.set, at.problem)
		for m, x := range experts[at.set] {
			buckets, usd, n := map[routing.Bucket]int{}, 0.0, 0.0
			var read trail.Readings
			for _, ro := range p.Rollouts {
				if ro.Expert == x {
					as := &read.Others
					if ro.Bucket == routing.Correct {
						as = &read.Right
					}
					if ro.Extracted != "" && !slices.Contains(*as, ro.Extracted) {
						*as = append(*as, ro.Extracted)
					}
					buckets[ro.Bucket]++
					usd, n = usd+ro.USD, n+1
				}
			}
			for _, o := range p.Outcomes {
				if o.Expert == x {
					buckets[o.Bucket]++
					usd, n = usd+o.USD, n+1
				}
			}
			if of := glance.Experts[m]; !maps.Equal(of.Buckets, buckets) || !reflect.DeepEqual(of.Readings, read) || !near(of.USD, usd/n, 1e-9) {
				t.Errorf("%v at a glance: %s has %+v, whose answers come to %v and %v dollars", at, x, of, buckets, usd/n)
			}
		}
		entered := 0
		for _, x := range p.Enters {
			if q, ok := questions[place{x.Set, x.Row, x.Benchmark, at.problem}]; ok && !maps.Equal(q.Chosen, glance.Chosen[x.Row]) {
				t.Errorf("%v at a glance: row %s asks %v, and behind its cell %v", at, x.Row, glance.Chosen[x.Row], q.Chosen)
			}
			q, ok := questions[place{x.Set, x.Row, x.Benchmark, at.problem}]
			if !ok || q.Weight != x.Weight || q.Accuracy != x.Accuracy || q.USD != x.USD {
				t.Errorf("%v enters %+v, where it is %+v", at, x, q)
			}
			entered++
			var accuracy, usd, n float64
			for _, d := range p.Decisions {
				if d.Row == x.Row {
					accuracy, usd, n = accuracy+d.Accuracy, usd+d.USD, n+1
				}
			}
			if !near(accuracy/n, q.Accuracy, 1e-9) || !near(usd/n, q.USD, 1e-12) {
				t.Errorf("%v: %v decisions of row %s come to %v%% and %v dollars, the question to %v and %v", at, n, x.Row, accuracy/n, usd/n, q.Accuracy, q.USD)
			}
		}
		for _, c := range cells {
			if _, ok := questions[place{c.Set, c.Row, c.Benchmark, at.problem}]; ok {
				entered--
			}
		}
		if entered != 0 {
			t.Errorf("%v enters %d cells that do not show it", at, entered)
		}
		for _, d := range p.Decisions {
			if d.Calls != nil || d.Answer != "" {
				continue
			}
			accuracy, usd, found := 0.0, 0.0, false
			for _, ro := range p.Rollouts {
				if ro.Expert == d.Expert && ro.Run == d.Run {
					usd, found = ro.USD, true
					if ro.Bucket == routing.Correct {
						accuracy = 100
					}
				}
			}
			for _, o := range p.Outcomes {
				if o.Expert == d.Expert {
					accuracy, usd, found = 100*o.Correct, o.USD, true
				}
			}
			if found && (!near(accuracy, d.Accuracy, 1e-9) || !near(usd, d.USD, 1e-9)) || !found && d.Expert != "expected" && d.Expert != routing.SelfID {
				t.Errorf("%v: row %s has %v%% and %v dollars by %s, whose answer has %v and %v", at, d.Row, d.Accuracy, d.USD, d.Expert, accuracy, usd)
			}
		}
	}
}

// overviewOf is a question at a glance.
func overviewOf(t *testing.T, tr *trail.Trail, set, problem string) trail.Overview {
	t.Helper()
	all, err := tr.Overview(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(o trail.Overview) bool { return o.Problem == problem })
	if i < 0 {
		t.Fatalf("set %s has no question %s at a glance", set, problem)
	}
	return all[i]
}

func TestTheTrailOfEveryCellEndsAtItsRollouts(t *testing.T) {
	r, dir := toy.Tiny(t), t.TempDir()
	for _, x := range r.Pools[0].Experts[:2] { // so that every coin flip is between rows
		m := spec.Method{Name: "fixed", ID: x.ID}
		if err := m.Params.Encode(map[string]string{"expert": x.ID}); err != nil {
			t.Fatal(err)
		}
		r.Experiment.Methods = append(r.Experiment.Methods, m)
	}
	result := runIn(t, r, dir)
	untouched := snapshot(t, dir)
	followTrail(t, r, Options{Out: dir}, result)
	if now := snapshot(t, dir); len(now) != len(untouched) {
		t.Errorf("%d files, there were %d", len(now), len(untouched))
	}
}

func TestTheTrailOfEveryRecordedCellEndsAtItsOutcomes(t *testing.T) {
	dir, _ := toy.Folder(t, "", `
methods:
  - {name: random}
  - {name: fixed, id: middle, params: {expert: middle}}
  - {name: oracle}
  - {name: mixture, kappa: "01"}
  - {name: logistic, kappa: "01"}
outputs: [{kind: table}]
`)
	o := Options{Out: filepath.Join(dir, "out"), Data: dir}
	path := filepath.Join(dir, "constants.yaml")
	followTrail(t, toy.Load(t, path), o, runFile(t, path, o))
	tr, done, err := OpenTrail(t.Context(), toy.Load(t, path), o)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	p, err := tr.Problem(t.Context(), "", "q7", "logistic")
	if err != nil {
		t.Fatal(err)
	}
	questions, err := tr.Questions("toy", "logistic", "toy")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(questions, func(q trail.QuestionResult) bool { return q.Problem == "q7" })
	if len(p.Outcomes) != 3 || len(p.Decisions) != 2 || i < 0 || p.Decisions[0].Fold != questions[i].Folds[0] || p.Decisions[1].Fold != questions[i].Folds[1] {
		t.Errorf("%+v, in the cell %+v", p, questions[max(i, 0)])
	}
}

func TestATrailLeadsBackAndSaysWhatItCannotFollow(t *testing.T) {
	out := t.TempDir()
	if _, _, err := OpenTrail(t.Context(), toy.Tiny(t), Options{Out: out}); !errors.Is(err, ErrIncomplete) {
		t.Errorf("%v, want ErrIncomplete", err)
	}
	if _, _, err := OpenTrail(t.Context(), smallCollapse(t), Options{Out: out}); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "without problems") {
		t.Errorf("%v", err)
	}
	tinyIn(t, out)
	tr, done, err := OpenTrail(t.Context(), toy.Tiny(t), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	p, err := tr.Problem(t.Context(), "", "sim-math500-00003", "random")
	if err != nil {
		t.Fatal(err)
	}
	for _, ro := range p.Rollouts {
		if id, err := tr.Answered(t.Context(), int64(ro.ID)); err != nil || id != p.Problem.ID {
			t.Errorf("answer %d is to %s, %v; want %s", ro.ID, id, err, p.Problem.ID)
		}
	}
	for want, ask := range map[string]func() error{
		`gave answer 5 to a test problem`:                                              func() error { _, err := tr.Answered(t.Context(), 5); return err },
		`no row "nobody"; known: random, `:                                             func() error { _, err := tr.Cells("", "nobody"); return err },
		`no set "huge"; it has: paper, large`:                                          func() error { _, err := tr.Cells("huge", ""); return err },
		`row oracle reads graded answers and is not scored on set large`:               func() error { _, err := tr.Questions("large", "oracle", "avg"); return err },
		`no benchmark "gsm8k" on set paper; known: sim-aime25, sim-math500, avg, easy`: func() error { _, err := tr.Questions("", "random", "gsm8k"); return err },
		`no test problem "sim-aime25-1"; near are "sim-aime25-00001", `:                func() error { _, err := tr.Problem(t.Context(), "", "sim-aime25-1", ""); return err },
	} {
		if err := ask(); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
