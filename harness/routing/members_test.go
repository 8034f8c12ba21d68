package routing_test

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestMembersAreSortedByPriceAndPriced(t *testing.T) {
	prices := spec.Prices{Date: "2025-01-01", Models: map[string]cost.Price{"A": {Out: 2}, "B": {Out: 1}}}
	pool := spec.Pool{Name: "p", Experts: []spec.Expert{{ID: "a", Model: "A"}, {ID: "b", Model: "B"}}, Probe: &spec.Expert{ID: "c", Model: "C"}}
	experts, probe, err := routing.Members(pool, prices)
	if err != nil || len(experts) != 2 || experts[0].ID != "b" || probe == nil || probe.ID != "c" {
		t.Errorf("%v, %v, %v", experts, probe, err)
	}
	for want, change := range map[string]func(*spec.Pool){
		`pool p: model "C" of expert c has no price in the list of 2025-01-01; it has: A, B`: func(p *spec.Pool) { p.Experts = append(p.Experts, spec.Expert{ID: "c", Model: "C"}) },
		`pool p: expert id "a b": must be a name without spaces or slashes`:                  func(p *spec.Pool) { p.Experts = []spec.Expert{{ID: "a b", Model: "A"}} },
		`pool p: expert id "a" is there twice`:                                               func(p *spec.Pool) { p.Probe = &spec.Expert{ID: "a", Model: "A"} },
	} {
		changed := pool
		change(&changed)
		if _, _, err := routing.Members(changed, prices); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
