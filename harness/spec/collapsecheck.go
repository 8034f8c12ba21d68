// What the knobs of protocol collapse and of ensembles must be like together.

package spec

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// checkCollapse reports what the types and ranges of a collapse experiment do not say.
func (l *loader) checkCollapse() {
	e, d := &l.out.Experiment, l.spec
	c := e.Collapse
	if e.Protocol != "collapse" {
		if c != nil {
			d.faultAt("collapse", "belongs to protocol collapse; this one is %s", e.Protocol)
		}
		return
	}
	if c == nil {
		if !d.at["collapse"].broken {
			d.faultAt("collapse", "not set; protocol collapse needs it")
		}
		return
	}
	if len(e.Pools) > 1 {
		d.faultAt("pools", "protocol collapse takes one pool, got %d", len(e.Pools))
	}
	if e.Policy.Backend == "xla" {
		d.faultAt("policy.backend", "protocol collapse trains in plain Go; want go")
	}
	ids := map[string]bool{}
	for i, b := range c.Buckets {
		checkID(d, fmt.Sprintf("collapse.buckets[%d].id", i), b.ID, ids)
	}
	clear(ids)
	for i, x := range c.Controls {
		checkID(d, fmt.Sprintf("collapse.controls[%d].id", i), x.ID, ids)
	}
	distinct(d, "collapse.curves", c.Curves)
	for _, axis := range []struct {
		knob   string
		values []float64
	}{{"collapse.sweep.assimilation", c.Sweep.Assimilation}, {"collapse.sweep.lambda", c.Sweep.Lambda}} {
		if len(axis.values) < 2 || !slices.IsSorted(axis.values) {
			d.faultAt(axis.knob, "want at least two numbers that rise")
		}
		distinct(d, axis.knob, axis.values)
	}
	if !slices.Contains(c.Sweep.Lambda, c.Setting.Lambda) {
		d.faultAt("collapse.sweep.lambda", "does not hold setting.lambda, %v, at which one panel cuts through the grid", c.Setting.Lambda)
	}
}

// mostWays is how many ways the calls of an episode can go at most: every snapshot of every policy walks all of them.
const mostWays = 2_000_000

// checkWays reports a number of calls that can go in too many ways, each call used or not where there is a chance of either.
func (l *loader) checkWays(knob string, s CollapseSetting, p *Pool) {
	each := 2 * len(p.Experts)
	if s.Assimilation == 0 || s.Assimilation == 1 {
		each = len(p.Experts)
	}
	ways := func(calls int) float64 { return math.Pow(float64(each), float64(calls)) }
	if ways(s.Horizon) <= mostWays {
		return
	}
	most := s.Horizon
	for ways(most) > mostWays {
		most--
	}
	l.spec.faultAt(knob, "%d calls among the %d experts of pool %s can go %.2g ways, all of which are walked for every policy and snapshot; want at most %d", s.Horizon, len(p.Experts), p.Name, ways(s.Horizon), most)
}

// checkCollapsePool reports experts without a probability, probabilities without an expert, and trees of calls that nobody waits for.
func (l *loader) checkCollapsePool(p *Pool) {
	c := l.out.Experiment.Collapse
	if c == nil {
		return
	}
	var known []string
	for _, x := range p.Experts {
		known = append(known, x.ID)
	}
	between := c.Setting
	between.Assimilation = 0.5 // curves and sweep have other chances than the setting
	l.checkWays("collapse.setting.horizon", between, p)
	for i, x := range c.Controls {
		if x.Horizon != nil || x.Assimilation != nil {
			l.checkWays(fmt.Sprintf("collapse.controls[%d]", i), x.Apply(c.Setting), p)
		}
	}
	for i, b := range c.Buckets {
		knob := fmt.Sprintf("collapse.buckets[%d].success", i)
		for _, id := range known {
			if _, ok := b.Success[id]; !ok && id != "" {
				l.spec.faultAt(knob, "no probability for expert %q of pool %s", id, p.Name)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(b.Success)) {
			if !slices.Contains(known, id) {
				l.spec.faultAt(child(knob, id), "%s", unknown("expert", id, known))
			}
		}
	}
}

// checkEnsemble checks the ranges.
func (l *loader) checkEnsemble() {
	e := l.out.Experiment.Ensemble
	if e == nil {
		return
	}
	for _, r := range e.Ranges() {
		at := "ensemble." + r.Knob
		switch {
		case r.From > r.To:
			l.spec.faultAt(at, "from %g is above to %g", r.From, r.To)
		case r.Scale == "log" && r.From == 0:
			l.spec.faultAt(at+".from", "a logarithmic scale does not begin at 0")
		case r.Why == "":
			l.spec.faultAt(at+".why", "not set; say why the range ends where it does")
		}
	}
}
