// The experts of a pool with their prices.

package routing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// Members returns the experts of a pool with their prices, cheapest first, and its probe, nil if it has none.
// An expert without a price is an error; a probe without one is free, since nobody is routed to it.
func Members(pool spec.Pool, prices spec.Prices) ([]Expert, *Expert, error) {
	seen := map[string]bool{}
	member := func(e spec.Expert) (Expert, error) {
		if e.ID == "" || strings.ContainsAny(e.ID, " /\t\n") {
			return Expert{}, fmt.Errorf("pool %s: expert id %q: must be a name without spaces or slashes", pool.Name, e.ID)
		}
		if seen[e.ID] {
			return Expert{}, fmt.Errorf("pool %s: expert id %q is there twice", pool.Name, e.ID)
		}
		seen[e.ID] = true
		sampling, err := pool.SamplingOf(&e)
		if err != nil {
			return Expert{}, fmt.Errorf("pool %s: expert %s: %w", pool.Name, e.ID, err)
		}
		return Expert{ID: e.ID, Model: e.Model, Revision: e.Revision, Params: e.Params, MaxTokens: e.MaxTokens, Sampling: sampling, Settings: e.Settings, Price: prices.Models[e.Model]}, nil
	}
	experts := make([]Expert, 0, len(pool.Experts))
	for _, e := range pool.Experts {
		if _, ok := prices.Models[e.Model]; !ok {
			return nil, nil, fmt.Errorf("pool %s: model %q of expert %s has no price in the list of %s; it has: %s",
				pool.Name, e.Model, e.ID, prices.Date, cmp.Or(strings.Join(slices.Sorted(maps.Keys(prices.Models)), ", "), "nothing"))
		}
		m, err := member(e)
		if err != nil {
			return nil, nil, err
		}
		experts = append(experts, m)
	}
	SortByPrice(experts)
	if pool.Probe == nil {
		return experts, nil, nil
	}
	probe, err := member(*pool.Probe)
	if err != nil {
		return nil, nil, err
	}
	return experts, &probe, nil
}
