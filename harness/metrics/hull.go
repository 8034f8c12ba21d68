// The upper hull of operating points in the plane of cost and quality.

package metrics

import (
	"cmp"
	"math"
	"slices"
)

// rounding is by how much, relative to what they are, two means over the same questions may differ in their last digits, which depend on
// the order of the questions. What compares them for equality would have chance decide otherwise: of resamples many have two settings
// of a knob that differ on no question drawn, and of graded answers many put a setting on the level that is asked for.
const rounding = 1e-11

// same says whether two means differ by no more.
func same(a, b float64) bool { return math.Abs(a-b) <= rounding*max(math.Abs(a), math.Abs(b)) }

// Point is one operating point in the plane of cost and quality.
type Point struct {
	Cost    float64
	Quality float64
}

// Hull is the upper concave hull of the fixed experts: its vertices with cost and quality both increasing and
// slopes decreasing. Every point on it is reached by a coin flip between two experts, with no look at the
// question, so a router is worth something only above it (RouterBench, Hu et al. 2024, calls it the
// non-decreasing convex hull).
type Hull []Point

// UpperHull returns the hull of points. Points that a mixture of others dominates are no vertices; of equal
// points one stays.
func UpperHull(points []Point) Hull {
	hull, points := make(Hull, 0, len(points)), slices.Clone(points)
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(b.Quality, a.Quality))
	})
	for _, p := range points {
		if n := len(hull); n > 0 && p.Quality <= hull[n-1].Quality {
			continue // dearer and no better
		}
		for len(hull) > 1 && !turnsDown(hull[len(hull)-2], hull[len(hull)-1], p) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// Vertices returns which of the points are the vertices of their upper hull; of equal points the first.
func Vertices(points []Point) (vertices []int) {
	for _, p := range UpperHull(points) {
		vertices = append(vertices, slices.Index(points, p))
	}
	return vertices
}

// turnsDown says whether b lies strictly above the line from a to c.
func turnsDown(a, b, c Point) bool {
	return (b.Quality-a.Quality)*(c.Cost-a.Cost) > (c.Quality-a.Quality)*(b.Cost-a.Cost)
}

// At returns the quality of the hull at a cost. Right of the dearest vertex it is flat: money that buys no
// expert buys nothing. Left of the cheapest vertex it falls linearly to 0 at cost 0, the mixture of that
// expert with no answer at all. An empty hull is 0 everywhere.
func (h Hull) At(cost float64) float64 {
	if len(h) == 0 {
		return 0
	}
	switch i := h.Edge(cost); i {
	case 0:
		return h[0].Quality * max(cost, 0) / h[0].Cost
	case len(h):
		return h[len(h)-1].Quality
	default:
		a, b := h[i-1], h[i]
		return a.Quality + (b.Quality-a.Quality)*(cost-a.Cost)/(b.Cost-a.Cost)
	}
}

// Edge returns which edge of the hull lies at a cost: the index of the first vertex that costs more, and their number if none does. Along
// an edge At is linear.
func (h Hull) Edge(cost float64) int {
	if i := slices.IndexFunc(h, func(p Point) bool { return cost < p.Cost }); i >= 0 {
		return i
	}
	return len(h)
}

// Shares returns how often a mixture on the hull that costs so much asks each vertex, [vertices]; At is what it gets. Left
// of the cheapest vertex they sum to less than 1, since the rest of the questions get no answer; right of the dearest the
// mixture costs less.
func (h Hull) Shares(cost float64) []float64 {
	out := make([]float64, len(h))
	if len(h) == 0 {
		return out
	}
	switch i := h.Edge(cost); i {
	case 0:
		out[0] = max(cost, 0) / h[0].Cost
	case len(h):
		out[len(h)-1] = 1
	default:
		out[i] = (cost - h[i-1].Cost) / (h[i].Cost - h[i-1].Cost)
		out[i-1] = 1 - out[i]
	}
	return out
}

// Gain returns how far p lies above the hull at its own cost, in units of quality: the hull gain.
func (h Hull) Gain(p Point) float64 { return p.Quality - h.At(p.Cost) }

// Edge is two of several points, by their places in a list: those of an edge of their hull. Both are the same right of the dearest vertex;
// Cheaper is -1, no answer at all, left of the cheapest.
type Edge struct{ Cheaper, Dearer int }

// Coin is a mixture of two of several points, and what the hull gains there by more money.
type Coin struct {
	Edge
	Share float64 // of the questions that go to the dearer, from 0 to 1
	Slope float64 // of the hull, in quality for a unit of cost
}

// BestCoin returns the mixture that gets most for a cost. Left of the cheapest vertex of the hull it is that vertex mixed with no answer at
// all, right of the dearest it is the dearest. points must not be empty.
//
// It is chosen once, on the sample as it is: resamples move the points, and At reads the same mixture. Chosen anew in every resample, it
// would lie above the router by chance.
func BestCoin(points []Point, cost float64) Coin {
	vertices := Vertices(points)
	hull := make(Hull, len(vertices))
	for i, v := range vertices {
		hull[i] = points[v]
	}
	switch i := hull.Edge(cost); i {
	case 0:
		return Coin{Edge{-1, vertices[0]}, max(cost, 0) / hull[0].Cost, hull[0].Quality / hull[0].Cost}
	case len(hull):
		return Coin{Edge{vertices[i-1], vertices[i-1]}, 1, 0}
	default:
		a, b := hull[i-1], hull[i]
		return Coin{Edge{vertices[i-1], vertices[i]}, (cost - a.Cost) / (b.Cost - a.Cost), (b.Quality - a.Quality) / (b.Cost - a.Cost)}
	}
}

// At returns what the mixture gets for a cost, where at returns the points of the list. Where a resample has moved the cost of the mixture away
// from it, the difference is worth what it is on the sample: to the first order that is the line through both ends as they are now, which has
// no direction where they have come to cost nearly the same.
func (c Coin) At(cost float64, at func(i int) Point) float64 {
	a, b := Point{}, at(c.Dearer)
	if c.Cheaper >= 0 {
		a = at(c.Cheaper)
	}
	mixed := Point{Cost: a.Cost + c.Share*(b.Cost-a.Cost), Quality: a.Quality + c.Share*(b.Quality-a.Quality)}
	return mixed.Quality + c.Slope*(cost-mixed.Cost)
}

// area returns the integral of the hull from a to b.
func (h Hull) area(a, b float64) float64 {
	knots := []float64{a, b}
	for _, p := range h {
		if p.Cost > a && p.Cost < b {
			knots = append(knots, p.Cost)
		}
	}
	slices.Sort(knots)
	sum := 0.0
	for i := 1; i < len(knots); i++ {
		sum += (knots[i] - knots[i-1]) * (h.At(knots[i-1]) + h.At(knots[i])) / 2
	}
	return sum
}
