// Package ensemble draws simulated pools that reach the paper's fixed experts alike and differ in what no data fix, and says on how many
// of them a contrast has its sign.
package ensemble

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Member is one pool of an ensemble.
type Member struct {
	Pool  spec.Pool
	Knobs spec.Drawn
}

// attempts bounds how often a pool's topics and strengths are drawn.
const attempts = 8

// Draw returns the pools of an ensemble: a Latin hypercube over its ranges, topic difficulties and the experts' strengths on topics drawn
// anew for each, offsets and mean tokens solved for the targets of the base, which must be simulated. Topics and strengths
// with which the targets cannot be reached contradict the paper's data and are drawn again; a pool that finds none is an
// error that names it.
func Draw(e *spec.Ensemble, base spec.Pool, prices spec.Prices, s seed.Seed) ([]Member, error) {
	if base.Simulation == nil {
		return nil, fmt.Errorf("an ensemble is of simulated pools; pool %s is of kind %s", base.Name, base.Kind)
	}
	experts, probe, err := routing.Members(base, prices)
	if err != nil {
		return nil, err
	}
	if probe != nil {
		experts = append(experts, *probe)
	}
	s = s.Derive("ensemble")
	all := make([]Member, e.Pools)
	for _, r := range e.Ranges() {
		strata := s.Derive("strata", r.Knob).Rand().Perm(e.Pools)
		for i := range all {
			share := (float64(strata[i]) + s.Derive("within", r.Knob, i).Uniform()) / float64(e.Pools)
			*r.Of(&all[i].Knobs) = at(r.Range, share)
		}
	}
	for i := range all {
		m := &all[i]
		m.Pool = base
		m.Pool.Name = fmt.Sprintf("%s-%02d", base.Name, i+1)
		var err error
		for attempt := range attempts {
			var solved spec.Simulation
			if solved, _, err = sim.Calibrate(m.drawn(*base.Simulation, s.Derive(i, attempt)), experts); err == nil {
				m.Pool.Simulation = &solved
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("pool %s of the ensemble: %w", m.Pool.Name, err)
		}
	}
	return all, nil
}

// drawn is a simulation with the member's knobs, and topics and strengths of a seed.
func (m *Member) drawn(x spec.Simulation, s seed.Seed) spec.Simulation {
	k := m.Knobs
	x.Text.Noise, x.Text.TopicLeak, x.ResidualSD, x.Tokens.Sigma = k.Noise, k.TopicLeak, k.ResidualSD, k.TokensSigma
	x.Topics = normal(x.Topics, k.TopicSD, s.Derive("topics"))
	x.Experts = maps.Clone(x.Experts)
	for id, skill := range x.Experts {
		if skill.W != nil {
			skill.W = normal(skill.W, k.StrengthSD, s.Derive("strengths", id))
			x.Experts[id] = skill
		}
	}
	return x
}

// at is the value of a range below which a share of it lies.
func at(r spec.Range, share float64) float64 {
	if r.Scale == "log" {
		return r.From * math.Pow(r.To/r.From, share)
	}
	return r.From + share*(r.To-r.From)
}

// normal draws a number for every key, of mean 0, in the order of the keys, to two decimals as pool files have them.
func normal(keys map[string]float64, sd float64, s seed.Seed) map[string]float64 {
	r, drawn := s.Rand(), map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		drawn[key] = math.Round(100*sd*r.NormFloat64()) / 100
	}
	return drawn
}
