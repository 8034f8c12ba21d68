package methods

import (
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

var backend = sync.OnceValues(func() (policy.Backend, error) { return policy.OpenBackend("go") })

// build makes the method of a row whose params are YAML.
func build(t testing.TB, name, params string) routing.Method {
	t.Helper()
	m, err := New(setup(t, name, params))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func setup(t testing.TB, name, params string) Setup {
	t.Helper()
	b, err := backend()
	if err != nil {
		t.Fatal(err)
	}
	s := Setup{Method: spec.Method{Name: name}, Spec: routingtest.Experiment(), Backend: b, Servers: talkative{}}
	if name == "routerr1" || name == "xrouter" {
		s.Servers = standIns{}
	}
	if params != "" {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(params), &doc); err != nil {
			t.Fatal(err)
		}
		s.Method.Params = *doc.Content[0]
	}
	return s
}

func fit(t testing.TB, m routing.Method, set routing.TrainSet, s seed.Seed) routing.Router {
	t.Helper()
	r, err := m.Fit(t.Context(), set, routingtest.Work(s))
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := r.(*stages.Router); ok {
		t.Cleanup(func() { c.Close() })
	}
	return r
}

// paramsOf is a row of each kind that works without knowing the pool.
func paramsOf(kind string) string {
	switch kind {
	case "fixed":
		return "expert: middle"
	case "mean":
		return "of: [{name: bag, params: {epochs: 1}}, {name: bag, params: {epochs: 1, hidden: 8}}]"
	case "llmrouter":
		return "model: router"
	case "routellm", "bag":
		return "epochs: 1" // trained to the end, every seed finds the planted rule
	case "routerr1", "xrouter":
		return "{steps: 20, assimilation: 0.5}"
	}
	return ""
}

func queries(examples []routing.Example) []routing.Query {
	q := make([]routing.Query, len(examples))
	for i, e := range examples {
		q[i] = routing.Query{Problem: e.Problem}
	}
	return q
}

// spends returns the mean dollars per question of a router on examples, at a setting of its knob.
func spends(t testing.TB, f routing.Frontier, knob float64, examples []routing.Example) float64 {
	t.Helper()
	usd, err := routing.Spend(t.Context(), routing.Setting{Cheap: knob}.Router(f), examples)
	if err != nil {
		t.Fatal(err)
	}
	return usd
}

// poolOf is a pool of experts of which only the ids are known.
func poolOf(ids ...string) (pool []routing.Expert) {
	for _, id := range ids {
		pool = append(pool, routing.Expert{ID: id})
	}
	return pool
}
