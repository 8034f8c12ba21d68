// The parameters of recipes are a tree in the names of YAML: what a step depends on, under the path
// at which a file sets it, so that a difference of two recipes is already said in words a reader knows. What lies in the
// spec stands at its own path; the rest stands below the roots of package explain.

package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

// params are the parameters of a recipe as they are put together. The first error is kept for newStep.
type params struct {
	e    *engine
	tree spec.Tree
	from map[string]explain.Origin
	err  error
}

func (e *engine) params() *params {
	return &params{e: e, tree: spec.Tree{}, from: map[string]explain.Origin{}}
}

// pick adds what a value of a spec type has at some paths, below a root; the root "" is the spec.
func (p *params) pick(root string, v any, paths ...string) {
	at := p.tree
	if root != "" {
		at = p.below(root)
	}
	if err := at.Pick(v, paths...); err != nil && p.err == nil {
		p.err = err
	}
}

// below returns the tree below a root.
func (p *params) below(root string) spec.Tree {
	if _, ok := p.tree[root]; !ok {
		p.tree[root] = spec.Tree{}
	}
	return p.tree[root].(spec.Tree)
}

// spec adds knobs of the spec.
func (p *params) spec(paths ...string) { p.pick("", p.e.spec.Experiment, paths...) }

// seeds adds the training seeds that a step reads of those in the spec.
func (p *params) seeds(seeds ...uint64) {
	p.pick("", spec.Experiment{Evaluate: spec.Evaluate{Seeds: seeds}}, "evaluate.seeds")
}

// poolName adds the name of the pool, which measurements bear.
func (p *params) poolName() {
	p.pick("", spec.Experiment{Pools: []string{p.e.poolSpec.Name}}, "pools")
}

// code adds something of the program that no file sets.
func (p *params) code(name string, value any) { p.below(explain.RootCode)[name] = value }

// features adds what losses depend on beside the knobs: how texts are read, and the build, which moves the last digits.
func (p *params) features() {
	p.code("features", compact.FeatureVersion)
	p.below(explain.RootBuild)["numerics"] = policy.Numerics
}

// benchmarks adds some knobs of benchmarks in the order given.
func (p *params) benchmarks(names []string, of func(name string) spec.Benchmark, paths ...string) {
	var list []any
	for _, name := range names {
		b := spec.Tree{"id": name}
		if err := b.Pick(of(name), paths...); err != nil && p.err == nil {
			p.err = err
		}
		list = append(list, b)
	}
	p.tree[explain.RootBenchmarks] = list
}

// runs adds how often the problems of benchmarks are asked, and what decides that.
func (p *params) runs(names ...string) {
	p.benchmarks(names, func(name string) spec.Benchmark { return p.e.spec.Benchmarks[name] }, "runs")
	for _, name := range names {
		p.capped(name, "runs", p.e.spec.Benchmarks[name].Runs, p.e.spec.Experiment.Evaluate.MaxRuns, "evaluate.max_runs")
	}
}

// problems adds what a draw of a benchmark is made of: the first problems of its file, or a stream and the population that
// it is drawn from. by is the draw of the spec that names the benchmark, as in train.sft; empty: test.
func (p *params) problems(name, draw, by string, n int, population *problems.Population) {
	b := p.e.spec.Benchmarks[name]
	paths := []string{"split"}
	if draw == problems.Large {
		p.spec("large")
	} else {
		b.Size = n
		paths = append(paths, "size")
	}
	if population == nil {
		p.benchmarks([]string{name}, func(string) spec.Benchmark { return b }, append(paths, "file.sha256")...)
	} else {
		p.benchmarks([]string{name}, func(string) spec.Benchmark { return b }, append(paths, "generated")...)
		pool := p.e.poolSpec
		pool.Simulation = &spec.Simulation{Cells: map[string]spec.SimCell{population.Cell: population.Mix}, Topics: population.TopicDifficulty}
		p.pick(explain.RootPool, pool, "simulation.cells", "simulation.topic_difficulty")
		p.spec("seed")
	}
	if by != "" {
		p.from[explain.RootBenchmarks] = explain.Origin{Path: by + ".benchmark"}
		p.from[strings.Join([]string{explain.RootBenchmarks, name, "size"}, ".")] = explain.Origin{Path: by + ".size"}
	} else {
		p.capped(name, "size", n, p.e.spec.Experiment.Evaluate.MaxProblems, "evaluate.max_problems")
	}
}

// capped notes that the spec may lower a number of benchmarks.yaml, and whether it does.
func (p *params) capped(benchmark, field string, n, most int, knob string) {
	path := strings.Join([]string{explain.RootBenchmarks, benchmark, field}, ".")
	if most > 0 && n == most {
		p.from[path] = explain.Origin{Path: knob}
	} else {
		p.from[path] = explain.Origin{Path: path, Cap: knob}
	}
}

// experts adds members of the pool and their prices: all of its experts, or the probe. Their order is that of the ids,
// since prices decide every other.
func (p *params) experts(of []routing.Expert, paths ...string) {
	if paths == nil {
		paths = []string{"model", "revision", "params", "max_tokens"}
	}
	prices := spec.Prices{Models: map[string]cost.Price{}}
	var list []any
	for _, x := range slices.SortedFunc(slices.Values(of), func(a, b routing.Expert) int { return strings.Compare(a.ID, b.ID) }) {
		m := spec.Tree{}
		err := m.Pick(spec.Expert{ID: x.ID, Model: x.Model, Revision: x.Revision, Params: x.Params, MaxTokens: x.MaxTokens}, append([]string{"id"}, paths...)...)
		if err != nil && p.err == nil {
			p.err = err
		}
		prices.Models[x.Model] = x.Price
		if p.e.isProbe(x) {
			p.below(explain.RootPool)["probe"] = m
		} else {
			list = append(list, m)
		}
	}
	if list != nil {
		p.below(explain.RootPool)["experts"] = list
	}
	p.pick(explain.RootPrices, prices, "models")
}

func (e *engine) isProbe(x routing.Expert) bool { return e.probe != nil && x.ID == e.probe.ID }

// source adds who answers where the pool is simulated: its law, by which experts answer whatever it was solved for and
// whoever else knows it. Of a pool of servers it adds nothing, since models and sampling say all.
func (p *params) source() {
	if p.e.poolSpec.Simulation == nil {
		return
	}
	p.poolName()
	pool := p.e.poolSpec
	law := *pool.Simulation
	law.Targets, law.Routers = nil, nil
	pool.Simulation = &law
	p.pick(explain.RootPool, pool, "simulation")
	p.code("simulation", simulatedVersion)
}

// routers adds simulated language models that route.
func (p *params) routers(models ...string) {
	p.source()
	pool, routers := p.e.poolSpec, map[string]spec.SimRouter{}
	for _, m := range models {
		routers[m] = pool.Simulation.Routers[m]
	}
	pool.Simulation = &spec.Simulation{Routers: routers}
	p.pick(explain.RootPool, pool, "simulation.routers")
	p.code("simulated_router", simulatedRouterVersion)
}

// asks adds what, beside the problems and their number of runs, decides the rollouts of experts and their grades.
func (p *params) asks(of []routing.Expert, split routing.Split) {
	p.source()
	p.experts(of)
	p.pick(explain.RootPool, p.e.poolSpec, "sampling")
	p.spec("seed", "count_input")
	p.code("split", split)
	p.below(explain.RootVerifier)["version"] = verify.Version
}

// method adds a row, what it resolves to, and the code that trains it.
func (p *params) method(row spec.Method, method routing.Method) {
	resolved, err := spec.Canonical(method)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("method %s: %w", row.RowID(), err)
	}
	p.pick(explain.RootMethod, row, "name", "train")
	p.below(explain.RootMethod)["params"] = json.RawMessage(resolved)
	p.spec("c_unit", "policy", "evaluate.decoding")
	p.features()
}

// rows adds the rows that are measured, in their order, with some knobs of each.
func (p *params) rows(rows []spec.Method, paths ...string) {
	var list []any
	for _, row := range rows {
		m := spec.Tree{"id": row.RowID()}
		if err := m.Pick(row, paths...); err != nil && p.err == nil {
			p.err = err
		}
		list = append(list, m)
	}
	p.tree[explain.RootRows] = list
}

// recorded adds a recording: its checksums, how it is read, and who answered at which price.
func (p *params) recorded() {
	p.pick(explain.RootPool, p.e.poolSpec, "recorded.queries.sha256", "recorded.outcomes.sha256", "recorded.benchmarks", "recorded.prompt_tokens", "recorded.format", "recorded.gaps")
	p.experts(p.e.experts)
	p.spec("count_input")
}

// fitInputs are the trainings of rows, with the fit behind each match, and adds their seeds.
func (e *engine) fitInputs(p *params, rows ...[]*fit) (inputs []input) {
	var seeds []uint64
	for _, row := range rows {
		for _, f := range row {
			inputs = append(inputs, input{book.OfRow("fit", f.row.RowID(), f.seed), f.step})
			if f.unmatched != nil {
				inputs = append(inputs, input{book.OfRow("sweep", f.row.RowID(), f.seed), f.unmatched.step})
			}
			if !slices.Contains(seeds, f.seed) {
				seeds = append(seeds, f.seed)
			}
		}
	}
	p.seeds(seeds...)
	return inputs
}
