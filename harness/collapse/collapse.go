// Package collapse is the study of why a router that may answer itself stops asking: small policies trained in the
// environment of package theory, over a sweep of its parameters, beside the closed form of when calls pay.
package collapse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/table"
	"github.com/entrorouter/entrorouter/harness/theory"
	"github.com/entrorouter/entrorouter/harness/units"
)

// policyRun is one policy to train, once a seed.
type policyRun struct {
	keys   []metrics.Key // of its measurements
	env    *theory.Environment
	reward theory.Reward
	train  theory.Training
	logs   [][]theory.Snapshot // [seeds]
	kind   []int               // [buckets of env] bucket of the spec
}

// Study is the policies of a spec with protocol collapse.
type Study struct {
	c        *spec.Collapse
	experts  []routing.Expert
	seed     seed.Seed // of the experiment
	seeds    []uint64  // of the trainings
	curves   []*policyRun
	sweep    []*policyRun // [lambda*assimilation]
	controls []*policyRun
}

// New lists the policies of a study and checks each; it trains nothing. experts are those of the pool, cheapest first.
func New(x *spec.Experiment, experts []routing.Expert) (*Study, error) {
	c := &Study{c: x.Collapse, experts: experts, seed: seed.Seed(x.Seed), seeds: x.Evaluate.Seeds}
	return c, c.plan()
}

func (c *Study) ids() []string { return routing.IDs(c.experts) }

// costs are prices over the dearest's: the environment has no tokens.
func (c *Study) costs() []float64 { return routing.Costs(c.experts, "normalised") }

// plan lists every policy and checks it. Thresholds, phases and the search for trust regions are those of the setting's buckets under the
// linear reward of well-formed calls, and a replay has single problems for buckets: curves and sweep have nothing that these leave out.
func (c *Study) plan() error {
	for _, x := range []struct {
		knob  string
		other bool
		known string
	}{
		{"outcomes", c.c.Setting.Outcomes == "replay", "chances"},
		{"reward", c.c.Setting.Reward != theory.Linear, theory.Linear},
		{"select", c.c.Setting.Select, "false"},
		{"format_fail", c.c.Setting.FormatFail > 0, "0"},
		{"call_bonus", c.c.Setting.CallBonus > 0, "0"},
	} {
		if x.other {
			return fmt.Errorf("collapse.setting.%s: thresholds, which curves and sweep stand beside, are known for %s alone; set that here and the other in a control", x.knob, x.known)
		}
	}
	add := func(to *[]*policyRun, path string, s spec.CollapseSetting, every int, keys []metrics.Key) error {
		if s.Outcomes == "replay" && s.Policy != "network" {
			return fmt.Errorf("%s: outcomes replay needs policy network: a table would know every problem by heart", path)
		}
		run := &policyRun{keys: keys, train: c.training(s, every)}
		run.env, run.kind = c.environment(s)
		run.reward = theory.Reward{Kind: s.Reward, Lambda: s.Lambda, Alpha: s.Alpha, CostMax: s.CostMax, Window: s.Window, CallBonus: s.CallBonus}
		if err := theory.Check(run.env, run.reward, run.train); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		*to = append(*to, run)
		return nil
	}
	for i, a := range c.c.Curves {
		s := c.c.Setting
		s.Assimilation = a
		if err := add(&c.curves, fmt.Sprintf("collapse.curves[%d]", i), s, c.c.Training.LogEvery, metrics.Keys("assimilation", metrics.Decimal(a))); err != nil {
			return err
		}
	}
	for _, lambda := range c.c.Sweep.Lambda {
		for _, a := range c.c.Sweep.Assimilation {
			s := c.c.Setting
			s.Assimilation, s.Lambda = a, lambda
			if err := add(&c.sweep, "collapse.sweep", s, c.c.Training.Steps, metrics.Keys("lambda", metrics.Decimal(lambda), "assimilation", metrics.Decimal(a))); err != nil {
				return err
			}
		}
	}
	for i, x := range c.c.Controls {
		if err := add(&c.controls, fmt.Sprintf("collapse.controls[%d]", i), x.Apply(c.c.Setting), c.c.Training.Steps, metrics.Keys("control", x.ID)); err != nil {
			return err
		}
	}
	return nil
}

// environment is that of a setting, with the bucket of the spec that each of its own belongs to. A network sees which.
func (c *Study) environment(s spec.CollapseSetting) (*theory.Environment, []int) {
	e := &theory.Environment{
		Cost: c.costs(), Horizon: s.Horizon, Assimilation: s.Assimilation, Distraction: s.Distraction,
		FormatFail: s.FormatFail, Select: s.Select,
	}
	var kind []int
	for k, b := range c.c.Buckets {
		bucket := theory.Bucket{Share: b.Share, Self: b.Self}
		for _, id := range c.ids() {
			bucket.Expert = append(bucket.Expert, b.Success[id])
		}
		bucket.Features = make([]float64, len(c.c.Buckets))
		bucket.Features[k] = 1
		e.Buckets, kind = append(e.Buckets, bucket), append(kind, k)
	}
	if s.Outcomes != "replay" {
		return e, kind
	}
	return replay(e)
}

// replayProblems stand for a bucket where outcomes are replayed.
const replayProblems = 100

// replay returns the environment with problems in place of its buckets: the i-th of n is one that whoever is right
// more often than (i+1/2)/n gets right, always, and nobody else. Its rates are then those of the bucket to within 1/2n, and who
// is better on the whole is right wherever the other is. Answers stand by how often their author is right on the whole.
func replay(e *theory.Environment) (*theory.Environment, []int) {
	out := *e
	out.Buckets, out.Trust = nil, make([]float64, 1+len(e.Cost))
	var kind []int
	var shares float64
	for _, b := range e.Buckets {
		shares += b.Share
	}
	for k, b := range e.Buckets {
		for i := range replayProblems {
			hard := (float64(i) + 0.5) / replayProblems
			right := func(who int, rate float64) float64 {
				out.Trust[who] += rate * b.Share / shares / replayProblems
				if rate > hard {
					return 1
				}
				return 0
			}
			p := theory.Bucket{Share: b.Share / replayProblems, Self: right(0, b.Self), Features: b.Features}
			for m, rate := range b.Expert {
				p.Expert = append(p.Expert, right(1+m, rate))
			}
			out.Buckets, kind = append(out.Buckets, p), append(kind, k)
		}
	}
	return &out, kind
}

// merge averages the call rates of an environment's buckets over those of the spec.
func (r *policyRun) merge(log []theory.Snapshot, buckets int) {
	for i := range log {
		rate, share := make([]float64, buckets), make([]float64, buckets)
		for b, x := range r.env.Buckets {
			rate[r.kind[b]] += x.Share * log[i].Bucket[b]
			share[r.kind[b]] += x.Share
		}
		for k := range rate {
			rate[k] /= share[k]
		}
		log[i].Bucket = rate
	}
}

// training leaves the seed open. Policies share their random streams, so that differences between them are not luck.
func (c *Study) training(s spec.CollapseSetting, every int) theory.Training {
	t := c.c.Training
	out := theory.Training{Steps: t.Steps, Batch: t.Batch, Group: t.Group, LR: t.LR, MeanOnly: !s.StdNorm, EntropyBonus: s.EntropyBonus, InitialCall: t.InitialCall, LogEvery: every}
	if s.Policy == "network" {
		out.Hidden, out.LR = t.Hidden, t.NetworkLR
	}
	if s.Algorithm == theory.PPO { // with what Router-R1's code has for its clips, mini-batches and divergence
		out.Algorithm, out.Batch, out.Group, out.CriticLR = theory.PPO, t.Batch*t.Group, 1, t.CriticLR
		out.MiniBatch, out.ClipLow, out.ClipHigh, out.ValueClip, out.KL, out.ClipNorm = max(out.Batch/2, 1), 0.2, 0.2, 0.5, 0.001, 1
	}
	return out
}

// Measure says what came of the trainings: curves of some policies, and what the sweep and the controls ended with,
// beside the closed form.
func (c *Study) Measure() *metrics.Set {
	set := &metrics.Set{}
	for _, group := range []struct {
		name string
		runs []*policyRun
	}{{"Curve", c.curves}, {"Sweep", c.sweep}, {"Control", c.controls}} {
		for _, run := range group.runs {
			first := len(run.logs[0]) - 1
			if group.name == "Curve" {
				first = 0
			}
			for at := first; at < len(run.logs[0]); at++ {
				set.Measurements = append(set.Measurements, c.measureRun(group.name, run, at)...)
			}
		}
	}
	set.Measurements = append(set.Measurements, c.thresholds()...)
	set.Measurements = append(set.Measurements, c.phases()...)
	set.Measurements = append(set.Measurements, c.theorem())
	return set
}

// Policies is how many trainings there are: policies times seeds.
func (c *Study) Policies() int {
	return (len(c.curves) + len(c.sweep) + len(c.controls)) * len(c.seeds)
}

// Train trains all policies for all seeds on as many goroutines as there are processors; where a result is put depends on
// neither. done is called after each, never twice at a time.
func (c *Study) Train(ctx context.Context, done func()) error {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	var one sync.Mutex // calls done
	for _, run := range slices.Concat(c.curves, c.sweep, c.controls) {
		run.logs = make([][]theory.Snapshot, len(c.seeds))
		for k := range run.logs {
			if ctx.Err() != nil {
				break
			}
			workers.Go(func() error {
				defer crash.Exit()
				t := run.train
				t.Seed = uint64(c.seed.Derive("collapse", c.seeds[k]))
				log, err := theory.Train(run.env, run.reward, t)
				if len(run.kind) > len(c.c.Buckets) {
					run.merge(log, len(c.c.Buckets))
				}
				run.logs[k] = log
				one.Lock()
				defer one.Unlock()
				done()
				return err
			})
		}
	}
	return errors.Join(workers.Wait(), ctx.Err())
}

// quantities are what is measured of a snapshot: in runs.csv under the name of their column, in lines as a unit times scale.
var quantities = []struct {
	column, unit string
	decimals     int
	scale        float64
	of           func(theory.Snapshot) float64
}{
	{"call-rate", units.CallRate, 2, 100, func(s theory.Snapshot) float64 { return s.CallRate }},
	{"calls", "calls/query", 4, 1, func(s theory.Snapshot) float64 { return s.Calls }},
	{"entropy", units.PolicyEntropy, 4, 1, func(s theory.Snapshot) float64 { return s.Entropy }},
	{"accuracy", metrics.Accuracy, 2, 100, func(s theory.Snapshot) float64 { return s.Accuracy }},
	{"accuracy-given-call", "accuracy-given-call-%", 2, 100, func(s theory.Snapshot) float64 { return s.AccuracyCall }},
	{"accuracy-given-none", "accuracy-given-none-%", 2, 100, func(s theory.Snapshot) float64 { return s.AccuracyNone }},
	{"cost", "cost/query", 4, 1, func(s theory.Snapshot) float64 { return s.Cost }},
	{"reward", units.RewardUnit, 4, 1, func(s theory.Snapshot) float64 { return s.Reward }},
}

// measureRun measures one snapshot of a run: all problems and, where the figure or a reader asks for them, each
// bucket and each expert. Where a curve starts and ends, single seeds have lines as well.
func (c *Study) measureRun(name string, run *policyRun, at int) []metrics.Measurement {
	here := slices.Clone(run.keys)
	if name == "Curve" {
		here = append(here, metrics.Key{Name: "step", Value: fmt.Sprintf("%0*d", len(strconv.Itoa(run.train.Steps)), run.logs[0][at].Step)})
	}
	over := func(logs [][]theory.Snapshot, unit string, decimals int, scale float64, of func(theory.Snapshot) float64) []metrics.Value {
		return score.Ranged(logs, unit, decimals, func(log []theory.Snapshot) float64 { return scale * of(log[at]) })
	}
	all := func(logs [][]theory.Snapshot) (values []metrics.Value) {
		for _, q := range quantities {
			values = append(values, over(logs, q.unit, q.decimals, q.scale, q.of)...)
		}
		return values
	}
	out := []metrics.Measurement{{Name: name, Keys: here, N: len(run.logs), Values: all(run.logs)}}
	if name == "Curve" {
		if ends := at == 0 || at == len(run.logs[0])-1; ends && len(run.logs) > 1 {
			for k, id := range c.seeds {
				out = append(out, metrics.Measurement{Name: name, Keys: append(slices.Clone(here), metrics.Keys("seed", fmt.Sprint(id))...), N: 1, Values: all(run.logs[k : k+1])})
			}
		}
		return out // its buckets and experts are in runs.csv
	}
	rate := func(key, id string, of func(theory.Snapshot) float64, more ...metrics.Value) {
		if v := over(run.logs, units.CallRate, 2, 100, of); v != nil {
			out = append(out, metrics.Measurement{Name: name, Keys: append(slices.Clone(here), metrics.Key{Name: key, Value: id}), N: len(run.logs), Values: append(v, more...)})
		}
	}
	for b, x := range c.c.Buckets {
		var more []metrics.Value
		if name == "Sweep" {
			without := 0
			for _, call := range run.env.Calls(b, run.reward.Lambda) {
				if g := search(call); g.empty == g.checked {
					without++
				}
			}
			more = append(more, metrics.Rounded(float64(without), units.NoRegion, 0))
		}
		rate("bucket", x.ID, func(s theory.Snapshot) float64 { return s.Bucket[b] }, more...)
	}
	if name == "Sweep" && run.reward.Lambda != c.c.Setting.Lambda {
		return out
	}
	for m, id := range c.ids() {
		rate("expert", id, func(s theory.Snapshot) float64 { return s.Expert[m] })
	}
	return out
}

// thresholds are the assimilations below which asking does not pay: with one call (the closed form) and with as many as
// the horizon allows. One that is above 1 is left out.
func (c *Study) thresholds() []metrics.Measurement {
	var out []metrics.Measurement
	e, _ := c.environment(c.c.Setting)
	for b, x := range c.c.Buckets {
		for _, lambda := range c.c.Sweep.Lambda {
			once := math.Inf(1)
			for _, call := range e.Calls(b, lambda) {
				once = min(once, call.Threshold())
			}
			m := metrics.Measurement{Name: "Threshold", Keys: metrics.Keys("lambda", metrics.Decimal(lambda), "bucket", x.ID), N: 1}
			if once <= 1 {
				m.Values = append(m.Values, metrics.Rounded(once, units.ThresholdOnce, 4))
			}
			if any := e.Threshold(b, lambda); any <= 1 {
				m.Values = append(m.Values, metrics.Rounded(any, units.ThresholdAny, 4))
			}
			if len(m.Values) > 0 {
				out = append(out, m)
			}
		}
	}
	return out
}

// regions counts effective trust regions that were searched on a grid: those that were empty, and those that were not as
// the closed form says.
type regions struct{ checked, empty, disagree int }

// search looks for the trust region of a call under several policies and widths.
func search(call theory.Call) (g regions) {
	gap := call.Gap()
	if math.Abs(gap) < 1e-9 {
		gap = 0 // a tie, in whatever order the floating-point sum was taken
	}
	for _, p := range []float64{0.01, 0.1, 0.5, 0.9, 0.99} {
		candidates := theory.Candidates(p, 50)
		for _, epsilon := range []float64{1e-4, 1e-2, 1, 100} {
			none := len(theory.TrustRegion(call.Self, call.Self+gap, p, epsilon, candidates)) == 0
			g.checked++
			if none {
				g.empty++
			}
			if none != theory.Collapses(gap, p) {
				g.disagree++
			}
		}
	}
	return g
}

// theorem compares the effective trust region on a grid with the closed form, for every cell of the sweep, bucket and
// expert.
func (c *Study) theorem() metrics.Measurement {
	var all regions
	for _, run := range c.sweep {
		for b := range c.c.Buckets {
			for _, call := range run.env.Calls(b, run.reward.Lambda) {
				g := search(call)
				all.checked, all.empty, all.disagree = all.checked+g.checked, all.empty+g.empty, all.disagree+g.disagree
			}
		}
	}
	return metrics.Measurement{Name: "Theorem", N: all.checked, Values: []metrics.Value{
		metrics.Rounded(float64(all.disagree), units.Disagreements, 0),
		metrics.Rounded(100*float64(all.empty)/float64(all.checked), "empty-%", 2),
	}}
}

// phases compares, for each bucket, where training ended silent with where calls do not pay.
func (c *Study) phases() []metrics.Measurement {
	var out []metrics.Measurement
	e, _ := c.environment(c.c.Setting)
	for b, x := range c.c.Buckets {
		var cells, silent [2]int // below and above the threshold
		for _, run := range c.sweep {
			side := 0
			if run.env.Assimilation > e.Threshold(b, run.reward.Lambda) {
				side = 1
			}
			rate := 0.0
			for _, log := range run.logs {
				rate += log[len(log)-1].Bucket[b] / float64(len(run.logs))
			}
			cells[side]++
			if rate < units.SilentRate {
				silent[side]++
			}
		}
		out = append(out, metrics.Measurement{Name: "Phase", Keys: metrics.Keys("bucket", x.ID), N: len(c.sweep), Values: []metrics.Value{
			metrics.Rounded(float64(cells[0]), units.CellsBelow, 0), metrics.Rounded(float64(silent[0]), units.CellsBelowSilent, 0),
			metrics.Rounded(float64(cells[1]), units.CellsAbove, 0), metrics.Rounded(float64(silent[1]), units.CellsAboveSilent, 0)}})
	}
	return out
}

// snapshot is a line of runs.csv.
type snapshot struct {
	run, seed string
	theory.Snapshot
}

// WriteRuns writes every snapshot of every run and seed as CSV.
func (c *Study) WriteRuns(to io.Writer) error {
	columns := []table.Column[snapshot]{
		table.Text("run", func(s *snapshot) *string { return &s.run }),
		table.Text("seed", func(s *snapshot) *string { return &s.seed }),
		table.Int("step", func(s *snapshot) *int { return &s.Step }),
	}
	for _, q := range quantities {
		columns = append(columns, table.Float(q.column, 6, func(s *snapshot) *float64 { x := q.of(s.Snapshot); return &x }))
	}
	for i, b := range c.c.Buckets {
		columns = append(columns, table.Float("call-rate "+b.ID, 6, func(s *snapshot) *float64 { return &s.Bucket[i] }))
	}
	for i, id := range c.ids() {
		columns = append(columns, table.Float("call-rate "+id, 6, func(s *snapshot) *float64 { return &s.Expert[i] }))
	}
	w := table.NewWriter(to, columns)
	for _, run := range slices.Concat(c.curves, c.sweep, c.controls) {
		label := metrics.Measurement{Name: "Run", Keys: run.keys}.Label()
		for k, log := range run.logs {
			for _, s := range log {
				w.Write(snapshot{label, strconv.FormatUint(c.seeds[k], 10), s})
			}
		}
	}
	return w.Flush()
}
