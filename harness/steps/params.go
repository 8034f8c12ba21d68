// The parameters of recipes are a tree in the names of YAML: what a step depends on, under the path
// at which a file sets it, so that a difference of two recipes is already said in words a reader knows. What lies in the
// Spec stands at its own path; the rest stands below the roots of package explain.

package steps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

// Params are the parameters of a recipe as they are put together. The first error is kept for Plan.Add.
type Params struct {
	From map[string]explain.Origin // path -> where the value is set, where that is not at its path

	spec *spec.Resolved
	pool *Pool
	tree spec.Tree
	err  error
}

// Params returns parameters of a step about a pool, without any.
func (p *Plan) Params(pool *Pool) *Params {
	return &Params{From: map[string]explain.Origin{}, spec: p.Spec, pool: pool, tree: spec.Tree{}}
}

// Pick adds what a value of a spec type has at some paths, below a root; the root "" is the spec.
func (p *Params) Pick(root string, v any, paths ...string) {
	at := p.tree
	if root != "" {
		at = p.below(root)
	}
	p.err = cmp.Or(p.err, at.Pick(v, paths...))
}

// below returns the tree below a root.
func (p *Params) below(root string) spec.Tree {
	if _, ok := p.tree[root]; !ok {
		p.tree[root] = spec.Tree{}
	}
	return p.tree[root].(spec.Tree)
}

// Spec adds knobs of the spec.
func (p *Params) Spec(paths ...string) { p.Pick("", p.spec.Experiment, paths...) }

// Seeds adds the training seeds that a step reads of those in the spec.
func (p *Params) Seeds(seeds ...uint64) {
	p.Pick("", spec.Experiment{Evaluate: spec.Evaluate{Seeds: seeds}}, "evaluate.seeds")
}

// PoolName adds the name of the pool, which measurements bear.
func (p *Params) PoolName() {
	p.Pick("", spec.Experiment{Pools: []string{p.pool.Name}}, "pools")
}

// Code adds something of the program that no file sets.
func (p *Params) Code(name string, value any) { p.below(explain.RootCode)[name] = value }

// Features adds what losses depend on beside the knobs: how texts are read, and the build, which moves the last digits.
func (p *Params) Features() {
	p.Code("features", features.Version)
	p.below(explain.RootBuild)["numerics"] = policy.Numerics
}

// Benchmarks adds some knobs of benchmarks in the order given.
func (p *Params) Benchmarks(names []string, of func(name string) spec.Benchmark, paths ...string) {
	var list []any
	for _, name := range names {
		b := spec.Tree{"id": name}
		p.err = cmp.Or(p.err, b.Pick(of(name), paths...))
		list = append(list, b)
	}
	p.tree[explain.RootBenchmarks] = list
}

// Runs adds how often the problems of benchmarks are asked, and what decides that.
func (p *Params) Runs(names ...string) {
	p.Benchmarks(names, func(name string) spec.Benchmark { return p.spec.Benchmarks[name] }, "runs")
	for _, name := range names {
		p.capped(name, "runs", p.spec.Benchmarks[name].Runs, p.spec.Experiment.Evaluate.MaxRuns, "evaluate.max_runs")
	}
}

// Problems adds what a draw of a benchmark is made of: the first problems of its file, or a stream and the population that
// it is drawn from. by is the draw of the spec that names the benchmark, as in train.sft; empty: test.
func (p *Params) Problems(name, draw, by string, n int, population *problems.Population) {
	b := p.spec.Benchmarks[name]
	paths := []string{"split"}
	if draw == problems.Large {
		p.Spec("large")
	} else {
		b.Size = n
		paths = append(paths, "size")
	}
	if population == nil {
		p.Benchmarks([]string{name}, func(string) spec.Benchmark { return b }, append(paths, "file.sha256")...)
	} else {
		p.Benchmarks([]string{name}, func(string) spec.Benchmark { return b }, append(paths, "generated")...)
		pool := p.pool.Pool
		pool.Simulation = &spec.Simulation{Cells: map[string]spec.SimCell{population.Cell: population.Mix}, Topics: population.TopicDifficulty}
		p.Pick(explain.RootPool, pool, "simulation.cells", "simulation.topic_difficulty", "simulation.text")
		p.Spec("seed")
	}
	if by != "" {
		p.From[explain.RootBenchmarks] = explain.Origin{Path: by + ".benchmark"}
		p.From[strings.Join([]string{explain.RootBenchmarks, name, "size"}, ".")] = explain.Origin{Path: by + ".size"}
	} else {
		p.capped(name, "size", n, p.spec.Experiment.Evaluate.MaxProblems, "evaluate.max_problems")
	}
}

// capped notes that the spec may lower a number of benchmarks.yaml, and whether it does.
func (p *Params) capped(benchmark, field string, n, most int, knob string) {
	path := strings.Join([]string{explain.RootBenchmarks, benchmark, field}, ".")
	if most > 0 && n == most {
		p.From[path] = explain.Origin{Path: knob}
	} else {
		p.From[path] = explain.Origin{Path: path, Cap: knob}
	}
}

// Experts adds members of the pool and their prices: all of its experts, or the probe. Their order is that of the ids,
// since prices decide every other.
func (p *Params) Experts(of []routing.Expert, paths ...string) {
	if paths == nil {
		paths = []string{"model", "revision", "params", "max_tokens", "settings"}
	}
	prices := spec.Prices{Models: map[string]cost.Price{}}
	var list []any
	for _, x := range slices.SortedFunc(slices.Values(of), func(a, b routing.Expert) int { return strings.Compare(a.ID, b.ID) }) {
		m := spec.Tree{}
		err := m.Pick(spec.Expert{ID: x.ID, Model: x.Model, Revision: x.Revision, Params: x.Params, MaxTokens: x.MaxTokens, Settings: x.Settings}, append([]string{"id"}, paths...)...)
		if own, ok := p.pool.Own(x.ID); ok && err == nil {
			err = m.Pick(own, "sampling")
		}
		p.err = cmp.Or(p.err, err)
		prices.Models[x.Model] = x.Price
		if p.pool.IsProbe(x) {
			p.below(explain.RootPool)["probe"] = m
		} else {
			list = append(list, m)
		}
	}
	if list != nil {
		p.below(explain.RootPool)["experts"] = list
	}
	p.Pick(explain.RootPrices, prices, "models")
}

// Source adds who answers where the pool is simulated: its law, by which experts answer whatever it was solved for,
// is said of it, and whoever else knows it. Of a pool of servers it adds nothing, since models and sampling say all.
func (p *Params) Source() {
	if p.pool.Pool.Simulation == nil {
		return
	}
	p.PoolName()
	pool := p.pool.Pool
	law := *pool.Simulation
	law.Targets, law.Routers, law.Note = nil, nil, ""
	pool.Simulation = &law
	p.Pick(explain.RootPool, pool, "simulation")
	p.Code("simulation", sim.Version)
}

// Routers adds simulated language models that route.
func (p *Params) Routers(models ...string) {
	p.Source()
	pool, routers := p.pool.Pool, map[string]spec.SimRouter{}
	for _, m := range models {
		routers[m] = pool.Simulation.Routers[m]
	}
	pool.Simulation = &spec.Simulation{Routers: routers}
	p.Pick(explain.RootPool, pool, "simulation.routers")
	p.Code("simulated_router", sim.RouterVersion)
}

// Asks adds what, beside the problems and their number of runs, decides the rollouts of experts and their grades.
func (p *Params) Asks(of []routing.Expert, split routing.Split) {
	p.Source()
	p.Experts(of)
	if beside := p.pool.Beside(spec.Server); beside != nil {
		p.Code("served", beside) // who is no simulation though the pool is one
	}
	answers := map[string]string{}
	for _, x := range of {
		if own, ok := p.pool.Own(x.ID); ok && own.Answers != nil {
			answers[x.ID] = own.Answers.SHA256
		}
	}
	if len(answers) > 0 {
		p.Code("answers", answers)
	}
	p.Pick(explain.RootPool, p.pool.Pool, "sampling")
	p.Spec("seed", "count_input")
	p.Code("split", split)
	p.below(explain.RootVerifier)["version"] = verify.Version
}

// Method adds a row, what it resolves to, and the code that trains it.
func (p *Params) Method(row spec.Method, method routing.Method) {
	resolved, err := spec.Canonical(method)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("method %s: %w", row.RowID(), err)
	}
	p.Pick(explain.RootMethod, row, "name", "train")
	p.below(explain.RootMethod)["params"] = json.RawMessage(resolved)
	p.Spec("c_unit", "policy", "evaluate.decoding")
	p.Features()
	if coded, ok := method.(interface{ Code() (string, int) }); ok {
		if name, version := coded.Code(); name != "" {
			p.Code(name, version)
		}
	}
	if based, ok := method.(interface{ ModelDigest() (string, error) }); ok {
		digest, err := based.ModelDigest()
		if err != nil && p.err == nil {
			p.err = fmt.Errorf("method %s: %w", row.RowID(), err)
		}
		if digest != "" {
			p.below(explain.RootModel)["sha256"] = digest
		}
	}
}

// Rows adds the rows that are measured, in their order, with some knobs of each.
func (p *Params) Rows(rows []spec.Method, paths ...string) {
	var list []any
	for _, row := range rows {
		m := spec.Tree{"id": row.RowID()}
		p.err = cmp.Or(p.err, m.Pick(row, paths...))
		list = append(list, m)
	}
	p.tree[explain.RootRows] = list
}

// Recorded adds a recording: its checksums, how it is read, and who answered at which price.
func (p *Params) Recorded() {
	p.Pick(explain.RootPool, p.pool.Pool, "recorded.queries.sha256", "recorded.outcomes.sha256", "recorded.benchmarks", "recorded.prompt_tokens", "recorded.format", "recorded.gaps", "recorded.scored")
	p.Experts(p.pool.Experts)
	p.Spec("count_input")
}
