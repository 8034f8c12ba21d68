// The law of simulated experts: how likely they are right and how long their responses are.

package sim

// The law that the simulated experts follow, and its means over a population of problems.

import (
	"maps"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// law is the model of the simulated experts: the chance of a right answer and the length of a response, given a
// problem's difficulty d (in logits).
//
//	p = floor + (1-floor)*sigmoid(theta + w[topic] + offset[cell] + e - d),  e ~ N(0, residual_sd)
//	T = mean_tokens[cell] * exp(slope*s)/E_cell[exp(slope*s)] * LogNormal(mean 1, sigma),  s = sigmoid(d/scale)
//
// T does not depend on whether the answer is right. A response that reaches the limit L is cut there: it is wrong
// and billed L tokens.
type law struct {
	sim  spec.Simulation
	norm map[string]float64 // E_cell[exp(slope*s)]
}

func newLaw(sim spec.Simulation) law {
	l := law{sim: sim, norm: make(map[string]float64, len(sim.Cells))}
	for name := range sim.Cells {
		var norm float64
		for _, n := range l.population(name) {
			norm += n.weight * math.Exp(sim.Tokens.Slope*sigmoid(n.d/sim.Tokens.Scale))
		}
		l.norm[name] = norm
	}
	return l
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// success is the chance of a right answer of an expert whose response is not cut; e is the residual.
func (l law) success(skill spec.SimSkill, cell, topic string, d, e float64) float64 {
	floor := l.sim.Cells[cell].Floor
	return floor + (1-floor)*sigmoid(skill.Theta+skill.W[topic]+skill.Offset[cell]+e-d)
}

// stretch is the factor by which a problem's mean length differs from its cell's.
func (l law) stretch(cell string, d float64) float64 {
	return math.Exp(l.sim.Tokens.Slope*sigmoid(d/l.sim.Tokens.Scale)) / l.norm[cell]
}

// length is LogNormal with the given mean and sigma, cut at a limit.
type length struct{ mean, sigma float64 }

// within is the chance that the response stays below the limit.
func (t length) within(limit float64) float64 {
	if t.sigma == 0 {
		if t.mean < limit {
			return 1
		}
		return 0
	}
	return phi(math.Log(limit/t.mean)/t.sigma + t.sigma/2)
}

// billed is E[min(T, limit)].
func (t length) billed(limit float64) float64 {
	if t.sigma == 0 {
		return min(t.mean, limit)
	}
	return t.mean*phi(math.Log(limit/t.mean)/t.sigma-t.sigma/2) + limit*(1-t.within(limit))
}

// draw returns T for a standard normal number z.
func (t length) draw(z float64) float64 { return t.mean * math.Exp(t.sigma*z-t.sigma*t.sigma/2) }

// phi is the distribution function of the standard normal.
func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// node is one point of the quadrature over a cell's population.
type node struct {
	topic     string
	d, weight float64
}

// The trapezoidal rule converges exponentially for analytic integrands that vanish at both ends. The nearest pole of
// a logistic function of sd*z lies pi/sd off the real line, so at the widest cell (sd 6.4) and step 0.1 the error is
// about exp(-2*pi*pi/0.64) = 4e-14.
const (
	zStep, zReach = 0.1, 8.0
	eStep, eReach = 0.5, 6.0
)

// population returns the quadrature nodes of a cell. Topics are visited in the order of their names, so that sums
// come out the same every time.
func (l law) population(cell string) []node {
	c := l.sim.Cells[cell]
	zs, ws := normalNodes(zStep, zReach)
	var total float64
	topics := slices.Sorted(maps.Keys(c.Mix))
	for _, t := range topics {
		total += c.Mix[t]
	}
	nodes := make([]node, 0, len(topics)*len(zs))
	for _, t := range topics {
		for i, z := range zs {
			nodes = append(nodes, node{t, c.Mu + l.sim.Topics[t] + c.SD*z, ws[i] * c.Mix[t] / total})
		}
	}
	return nodes
}

// normalNodes returns points and weights that integrate against the standard normal; the weights sum to 1.
func normalNodes(step, reach float64) (points, weights []float64) {
	n := int(math.Round(reach / step))
	var sum float64
	for i := -n; i <= n; i++ {
		z := float64(i) * step
		w := math.Exp(-z * z / 2)
		points, weights = append(points, z), append(weights, w)
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return points, weights
}

// Means are what an expert reaches on the population of a cell.
type Means struct {
	Accuracy  float64 // share of right answers; truncated responses count as wrong
	Tokens    float64 // mean billed output tokens
	Truncated float64 // share of responses cut by the limit
}

// means integrates over topics, difficulties and residuals.
func (l law) means(skill spec.SimSkill, cell string, limit int) Means {
	var m Means
	es, ws := normalNodes(eStep, eReach)
	for _, n := range l.population(cell) {
		t := length{skill.Tokens[cell] * l.stretch(cell, n.d), l.sim.Tokens.Sigma}
		within := t.within(float64(limit))
		m.Truncated += n.weight * (1 - within)
		m.Tokens += n.weight * t.billed(float64(limit))
		for i, e := range es {
			m.Accuracy += n.weight * ws[i] * within * l.success(skill, cell, n.topic, n.d, e*l.sim.ResidualSD)
		}
	}
	return m
}
