// A pool as steps see it: its members at their prices.

package steps

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Pool is a pool of the spec with its members at their prices.
type Pool struct {
	spec.Pool
	Experts []routing.Expert // [M] cheapest first
	Probe   *routing.Expert  // nil: none
}

// IDs are the experts of the pool, cheapest first.
func (p *Pool) IDs() []string { return routing.IDs(p.Experts) }

// Members are the experts and, if there is one, the probe.
func (p *Pool) Members() []routing.Expert {
	if p.Probe == nil {
		return p.Experts
	}
	return append(slices.Clone(p.Experts), *p.Probe)
}

// IsProbe says whether a member is the probe.
func (p *Pool) IsProbe(x routing.Expert) bool { return p.Probe != nil && x.ID == p.Probe.ID }

// OpenPool reads the members of a pool at their prices.
func OpenPool(pool spec.Pool, prices spec.Prices) (*Pool, error) {
	p := &Pool{Pool: pool}
	var err error
	if p.Experts, p.Probe, err = routing.Members(pool, prices); err != nil {
		return nil, fmt.Errorf("%w: %v", spec.ErrUsage, err)
	}
	return p, nil
}
