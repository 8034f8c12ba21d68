// Solves the parameters of simulated experts for accuracies and token counts that are wanted.

package sim

// Calibration: the parameters with which a simulated pool reaches given accuracies and costs.

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Fit is how one expert on one cell was solved.
type Fit struct {
	Cell, Expert string
	Target       Means // what was asked for; NaN where nothing was, and always in Truncated
	Reached      Means // what the written numbers give
	Offset       float64
	MeanTokens   float64 // uncut
}

// Calibrate solves the offset and the mean tokens of every expert on every cell that sim.Targets names, so that the
// expert's accuracy and its dollars come out for the population of the cell, truncation at the expert's limit
// included. A draw of problems from the population differs from it by sampling noise, which is not tuned away.
//
// Dollars become tokens by the experts' output prices. Where a target gives a token level instead of dollars, the
// mean tokens follow from it. Everything that no target names is left as it is.
//
// Solved numbers are rounded as experiments/pools/sim.yaml writes them: offsets to four decimals, tokens to one. Fits
// come in the order of cells, then experts. The error lists every target that cannot be reached, with the bound that
// it breaks; the others are solved all the same.
func Calibrate(sim spec.Simulation, members []routing.Expert) (spec.Simulation, []Fit, error) {
	if err := checkSimulation(sim, members); err != nil {
		return sim, nil, err
	}
	if err := checkTargets(sim, members); err != nil {
		return sim, nil, err
	}
	solved := sim
	solved.Experts = make(map[string]spec.SimSkill, len(sim.Experts))
	for id, skill := range sim.Experts {
		skill.Offset, skill.Tokens = cloned(skill.Offset), cloned(skill.Tokens)
		solved.Experts[id] = skill
	}
	l := newLaw(solved)
	var fits []Fit
	var faults []error
	for _, cell := range slices.Sorted(maps.Keys(sim.Targets)) {
		for _, e := range members {
			skill := solved.Experts[e.ID] // its maps are shared with solved and l
			want, asked := wanted(sim.Targets[cell], e)
			if !asked {
				continue
			}
			if err := l.solve(skill, cell, e, sim.Targets[cell], want); err != nil {
				faults = append(faults, fmt.Errorf("targets.%s: expert %s: %w", cell, e.ID, err))
				continue
			}
			fits = append(fits, Fit{cell, e.ID, want, l.means(skill, cell, e.MaxTokens), skill.Offset[cell], skill.Tokens[cell]})
		}
	}
	return solved, fits, errors.Join(faults...)
}

func cloned(m map[string]float64) map[string]float64 {
	if m == nil {
		return map[string]float64{}
	}
	return maps.Clone(m)
}

func checkTargets(sim spec.Simulation, members []routing.Expert) error {
	price := map[string]float64{}
	for _, e := range members {
		price[e.ID] = e.Price.Out
	}
	for _, cell := range slices.Sorted(maps.Keys(sim.Targets)) {
		if _, ok := sim.Cells[cell]; !ok {
			return fmt.Errorf("targets: unknown cell %q; known: %s", cell, list(sim.Cells))
		}
		t := sim.Targets[cell]
		for _, named := range []map[string]float64{t.Accuracy, t.USD, t.TokenLevel} {
			for _, id := range slices.Sorted(maps.Keys(named)) {
				if _, ok := price[id]; !ok {
					return fmt.Errorf("targets.%s: unknown expert %q; known: %s", cell, id, list(price))
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(t.USD)) {
			_, level := t.TokenLevel[id]
			switch {
			case level:
				return fmt.Errorf("targets.%s: expert %s has usd and token_level: give one", cell, id)
			case t.Questions < 1:
				return fmt.Errorf("targets.%s: usd without questions: say how many questions it paid for", cell)
			case price[id] <= 0:
				return fmt.Errorf("targets.%s: expert %s has no output price, so its usd says nothing about tokens", cell, id)
			}
		}
	}
	return nil
}

// wanted turns a target into means, and says whether it names the expert at all.
func wanted(t spec.SimTarget, e routing.Expert) (Means, bool) {
	want := Means{math.NaN(), math.NaN(), math.NaN()}
	accuracy, hasAccuracy := t.Accuracy[e.ID]
	usd, hasUSD := t.USD[e.ID]
	_, hasLevel := t.TokenLevel[e.ID]
	if hasAccuracy {
		want.Accuracy = accuracy / 100
	}
	if hasUSD {
		want.Tokens = usd / float64(t.Questions) / e.Price.Out * 1e6
	}
	return want, hasAccuracy || hasUSD || hasLevel
}

// solve writes the mean tokens and the offset of an expert on a cell into its skill. Tokens come first: they do not
// depend on the offset, and the accuracy depends on them through truncation.
func (l law) solve(skill spec.SimSkill, cell string, e routing.Expert, target spec.SimTarget, want Means) error {
	nodes := l.population(cell)
	limit := float64(e.MaxTokens)

	if level, ok := target.TokenLevel[e.ID]; ok {
		skill.Tokens[cell] = rounded(math.Exp(level)*l.norm[cell], 10)
	}
	if !math.IsNaN(want.Tokens) {
		billed := func(logMean float64) float64 {
			var sum float64
			for _, n := range nodes {
				sum += n.weight * length{math.Exp(logMean) * l.stretch(cell, n.d), l.sim.Tokens.Sigma}.billed(limit)
			}
			return sum
		}
		low, high := math.Log(0.01), math.Log(100*limit)
		if want.Tokens <= billed(low) || want.Tokens >= billed(high) {
			return fmt.Errorf("mean tokens of %.0f: must lie between 0 and the limit of %d", want.Tokens, e.MaxTokens)
		}
		skill.Tokens[cell] = rounded(math.Exp(bisect(billed, want.Tokens, low, high)), 10)
	}
	if math.IsNaN(want.Accuracy) {
		return nil
	}
	mean, ok := skill.Tokens[cell]
	if !ok {
		return fmt.Errorf("accuracy without usd, token_level or mean_tokens: truncation is unknown")
	}

	// What does not depend on the offset is computed once.
	type point struct{ weight, logit float64 }
	var points []point
	var complete float64
	es, ws := normalNodes(eStep, eReach)
	for _, n := range nodes {
		w := n.weight * length{mean * l.stretch(cell, n.d), l.sim.Tokens.Sigma}.within(limit)
		complete += w
		for i, r := range es {
			points = append(points, point{w * ws[i], skill.Theta + skill.W[n.topic] + r*l.sim.ResidualSD - n.d})
		}
	}
	floor := l.sim.Cells[cell].Floor
	accuracy := func(offset float64) float64 {
		var sum float64
		for _, p := range points {
			sum += p.weight * (floor + (1-floor)*sigmoid(p.logit+offset))
		}
		return sum
	}
	const reach = 50 // logits
	if want.Accuracy <= accuracy(-reach) || want.Accuracy >= accuracy(reach) {
		return fmt.Errorf("accuracy of %.1f%%: with %.1f%% of the responses cut at %d tokens it must lie between %.1f%% and %.1f%%",
			100*want.Accuracy, 100*(1-complete), e.MaxTokens, 100*floor*complete, 100*complete)
	}
	skill.Offset[cell] = rounded(bisect(accuracy, want.Accuracy, -reach, reach), 10_000)
	return nil
}

// bisect returns where an increasing function reaches a value between its values at low and high.
func bisect(f func(float64) float64, value, low, high float64) float64 {
	for high-low > 1e-9 {
		mid := (low + high) / 2
		if f(mid) < value {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

func rounded(x, per float64) float64 { return math.Round(x*per) / per }
