// Points at which expressions are compared.

package decide

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/draw"
	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// point is a value of every variable; generic says that it was drawn from intervals, so that whatever holds there holds on
// an interval.
type point struct {
	at      []evaluate.Coordinate
	generic bool
}

// inexact reports whether doubles do not hold the point.
func (p point) inexact() bool {
	return slices.ContainsFunc(p.at, func(c evaluate.Coordinate) bool { return c.Exact != nil })
}

// negatives counts the negative coordinates. Where domains are compared at most one is: a and b in ln(ab) are positive
// unless something says otherwise, x in ln(x^2) need not be.
func (p point) negatives() int {
	n := 0
	for _, c := range p.at {
		if c.Near < 0 {
			n++
		}
	}
	return n
}

// Ranges that the variables are drawn from in turn, so that roots, logarithms and inverse functions meet their domains and
// a sign that matters is met.
var ranges = [...][2]float64{{0, 1}, {-3, -1}, {1, 3}, {-1, 0}, {-3, 3}, {2, 40}, {-1, 1}}

// uniform draws from [0,1).
func (s *sampler) uniform() float64 { return float64(draw.Next(&s.seed)>>11) / (1 << 53) }

// integral reports whether a variable takes integers only.
func (s *sampler) integral(name string) bool {
	return s.whole && (!s.stepped || strings.Contains(wholes, name[:1]))
}

// generic draws so many points.
func (s *sampler) generic(count int) []point {
	points := make([]point, count)
	for try := range points {
		at := make([]evaluate.Coordinate, len(s.names))
		r := ranges[draw.Next(&s.seed)%uint64(len(ranges))]
		if try < len(ranges) {
			r = ranges[try]
		}
		for k, name := range s.names {
			if s.integral(name) {
				at[k].Near = float64(1 + draw.Next(&s.seed)%uint64(6+4*try))
				continue
			}
			at[k].Near = r[0] + (r[1]-r[0])*s.uniform()
		}
		points[try] = point{at: at, generic: true}
	}
	return points
}

// residues is how many integers, from 0 on, are tried one by one: all remainders of what divides by a number below it.
const residues = 128

// scaled returns points at all scales: powers of two, both signs, around and beyond every number that is written.
func (s *sampler) scaled(scales []float64) (points []point) {
	var values []float64 // candidates for each variable
	if s.whole {
		for _, v := range scales {
			for _, f := range []float64{v - 1, v, v + 1, 2 * v, 3 * v, math.Floor(v * (1 + 7*s.uniform()))} {
				values = append(values, math.Round(f))
			}
			if v < 1<<26 {
				values = append(values, v*v, v*v-1)
			}
			if v == math.Trunc(v) {
				for q := 2.0; q*q <= v && q < 1000; q++ {
					if divides(q, v) {
						values = append(values, q, v/q)
					}
				}
			}
		}
		for _, k := range []int{3, 4, 6, 8, 11, 16, 23, 32, 45} {
			values = append(values, math.Ldexp(1, k), math.Floor(math.Ldexp(1+s.uniform(), k)))
		}
		for r := range residues {
			values = append(values, float64(r))
		}
		values = append(values, 720720, 5040, 30030)
		slices.Sort(values)
		values = slices.Compact(values)
		values = slices.DeleteFunc(values, func(v float64) bool { return v < 0 || v >= s.limit(scales) })
	} else {
		for _, v := range scales {
			for _, f := range []float64{1, 1 + s.uniform()/1024, 1 - s.uniform()/1024, 1 + s.uniform(), 2 + 100*s.uniform(), s.uniform()} {
				values = append(values, v*f, -v*f)
			}
		}
		for _, k := range []int{-20, 4, 7, 10, 20, 34, 60} {
			values = append(values, math.Ldexp(1+s.uniform(), k), -math.Ldexp(1+s.uniform(), k))
		}
		values = append(values, 0, 1, -1)
	}
	if !s.Steps.Spend(40 * len(values) * len(s.names)) {
		return nil
	}
	base := s.generic(16)
	turn := int(draw.Next(&s.seed) % 16)
	for j, v := range values {
		p := point{at: slices.Clone(base[(j+turn)%16].at), generic: !s.whole && v != math.Trunc(v)}
		k := j % len(s.names)
		for i, name := range s.names {
			if i != k && draw.Next(&s.seed)%2 == 0 {
				p.at[i] = s.fit(name, values[draw.Next(&s.seed)%uint64(len(values))])
				p.generic = false
			}
		}
		p.at[k] = s.fit(s.names[k], v)
		points = append(points, p)
		if len(s.names) > 1 { // all of one size
			p.at = slices.Clone(p.at)
			for i, name := range s.names {
				p.at[i] = s.fit(name, v*(1+s.uniform()))
			}
			points = append(points, p)
		}
	}
	if s.whole && len(s.names) > 1 {
		for _, v := range scales {
			p := point{at: slices.Clone(base[0].at)}
			for i, name := range s.names {
				p.at[i] = s.fit(name, v)
			}
			points = append(points, p)
		}
	}
	if len(s.names) > 1 { // where variables are the same, or share factors
		for j := range 6 {
			v := s.fit(s.names[0], values[draw.Next(&s.seed)%uint64(len(values))])
			p := point{at: slices.Clone(base[j].at)}
			for k := range p.at {
				p.at[k] = v
				if j%3 == 1 && k%2 == 1 {
					p.at[k] = s.fit(s.names[k], 2*v.Near)
				} else if j%3 == 2 && k%2 == 1 {
					p.at[k] = s.fit(s.names[k], -v.Near)
				}
			}
			points = append(points, p)
		}
	}
	return points
}

// divides reports whether the integer q divides the integer v; both are positive.
func divides(q, v float64) bool {
	if v < 1<<53 {
		return uint64(v)%uint64(q) == 0
	}
	return math.Mod(v, q) == 0
}

// limit bounds integer values: by what doubles hold, or, where terms are summed up, by a few times what is written.
func (s *sampler) limit(scales []float64) float64 {
	series := func(n *formula.Node) bool { return n.Kind == formula.KindCall && (n.Name == "sum" || n.Name == "prod") }
	if !s.a.Has(series) && !s.b.Has(series) {
		return 1 << 52
	}
	limit := 64.0
	for _, v := range scales {
		if v < 1000 {
			limit = max(limit, 3*v)
		}
	}
	return limit
}

// fit makes v a value that the variable may have.
func (s *sampler) fit(name string, v float64) evaluate.Coordinate {
	if s.integral(name) {
		v = math.Abs(math.Round(v))
		if strings.Contains(wholes, name[:1]) {
			v = max(v, 1)
		}
	}
	return evaluate.Coordinate{Near: v}
}

// scales returns the sizes of the constants in both expressions, the largest first and at most twelve; complete is false
// if some are beyond doubles.
func (s *sampler) scales() (sizes []float64, complete bool) {
	complete = true
	var visit func(n *formula.Node)
	visit = func(n *formula.Node) {
		if n.Has(func(m *formula.Node) bool { return m.Kind == formula.KindSymbol }) {
			for _, a := range n.Args {
				visit(a)
			}
			return
		}
		if !n.Scalar() {
			return
		}
		k := evaluate.Sketch{Steps: s.Steps}
		v, err := k.Value(n)
		size := math.Abs(v.V)
		if err != nil {
			x := evaluate.Numeric{Real: evaluate.Real{Prec: firstPrecision, Steps: s.Steps}}
			w, err := x.Value(n)
			switch {
			case err != nil:
				complete = complete && evaluate.Infinity(n) == 0
				return
			case w.Magnitude() > 900:
				complete = false
				return
			}
			f, _ := w.Re.Float64()
			size = math.Abs(f)
		}
		if size > 0x1p900 {
			complete = false
			return
		}
		if size > 0 {
			sizes = append(sizes, size)
		}
	}
	visit(s.a)
	visit(s.b)
	slices.Sort(sizes)
	slices.Reverse(sizes)
	sizes = slices.Compact(sizes)
	if len(sizes) > 12 {
		sizes = append(sizes[:8], sizes[len(sizes)-4:]...)
	}
	return sizes, complete
}

// breakpoints returns points at and around the values of each variable at which a function changes its branch, the others
// being what they are at one of the base points, and points between these.
func (s *sampler) breakpoints(switches []*formula.Node) []point {
	if len(switches) == 0 {
		return nil
	}
	base := s.generic(len(ranges))
	var points []point
	for k, name := range s.names {
		if s.Steps.Spent() {
			break
		}
		b := base[k%len(base)].at
		var at []*big.Rat
		for _, u := range switches {
			if slices.Contains(formula.Variables(u), name) {
				at = append(at, s.zeros(u, k, b)...)
			}
		}
		slices.SortFunc(at, (*big.Rat).Cmp)
		at = slices.CompactFunc(at, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
		if len(at) > 24 {
			at = at[:24]
		}
		add := func(r *big.Rat) {
			if s.integral(name) {
				if !r.IsInt() {
					r = new(big.Rat).SetInt(new(big.Int).Div(r.Num(), r.Denom()))
				}
				if r.Sign() < 0 || r.Sign() == 0 && strings.Contains(wholes, name[:1]) {
					return
				}
			}
			if c, ok := evaluate.CoordinateOf(r); ok {
				p := point{at: slices.Clone(b)}
				p.at[k] = c
				points = append(points, p)
			}
		}
		for i, r := range at {
			tiny := new(big.Rat).Mul(new(big.Rat).Add(new(big.Rat).Abs(r), big.NewRat(1, 1)), big.NewRat(1, 1<<30))
			for _, d := range []*big.Rat{new(big.Rat), big.NewRat(1, 1), big.NewRat(1, 2), tiny} {
				add(new(big.Rat).Add(r, d))
				if d.Sign() > 0 {
					add(new(big.Rat).Sub(r, d))
				}
			}
			if i > 0 {
				mid := new(big.Rat).Add(r, at[i-1])
				add(mid.Mul(mid, big.NewRat(1, 2)))
			}
			add(new(big.Rat).Mul(r, big.NewRat(2, 1)))
			add(new(big.Rat).Neg(r))
		}
	}
	return points
}

// cells brings the points of different cells to the front, one of each, and returns how many there are: in a cell the
// signs of all switches are the same. Behind them come points that differ in the signs of the variables or in the largest
// scale below one of them.
func (s *sampler) cells(points []point, switches []*formula.Node, scales []float64) (cells, front int) {
	if len(switches) == 0 {
		return 0, 0
	}
	signature := func(p point, name []byte) []byte {
		k := evaluate.Sketch{Steps: s.Steps, Names: s.names, At: p.at}
		for _, u := range switches {
			v, err := k.Value(u)
			switch {
			case err != nil:
				name = append(name, '?')
			case v.V > v.Off:
				name = append(name, '+')
			case v.V < -v.Off:
				name = append(name, '-')
			default:
				name = append(name, '0')
			}
		}
		return name
	}
	place := func(p point, name []byte) []byte {
		for _, c := range p.at {
			below := 0
			for below < min(len(scales), 4) && scales[below] > math.Abs(c.Near) {
				below++
			}
			if c.Near < 0 {
				below = -below - 1
			}
			name = append(name, byte(below))
		}
		return name
	}
	seen := map[string]bool{}
	bring := func(key func(point, []byte) []byte) {
		var space [64]byte
		for i := front; i < len(points); i++ {
			if name := key(points[i], space[:0]); !seen[string(name)] {
				seen[string(name)] = true
				points[front], points[i] = points[i], points[front]
				front++
			}
		}
	}
	bring(signature)
	cells = front
	bring(place)
	return cells, front
}

// switches lists expressions at whose zeros a function changes its branch, the innermost first.
func (s *sampler) switches() []*formula.Node {
	var found []*formula.Node
	add := func(n *formula.Node) {
		if len(found) < 24 && len(formula.Variables(n)) > 0 && !slices.ContainsFunc(found, func(m *formula.Node) bool { return formula.Identical(m, n) }) {
			found = append(found, n)
		}
	}
	var visit func(n *formula.Node)
	visit = func(n *formula.Node) {
		for _, a := range n.Args {
			visit(a)
		}
		if n.Kind == formula.KindPower && len(formula.Variables(n.Args[1])) == 0 {
			if e, err := (evaluate.Exact{Steps: s.Steps}).Value(n.Args[1]); err != nil || !e.IsInt() {
				add(n.Args[0])
			}
		}
		if n.Kind != formula.KindCall {
			return
		}
		switch n.Name {
		case "abs", "sign", "root", "ln", "log":
			if u := n.Args[0]; u.Kind == formula.KindPower { // the root of (x-1)^2 turns where x-1 does
				add(u.Args[0])
			} else {
				add(u)
			}
		case "max", "min":
			for i, a := range n.Args {
				for _, b := range n.Args[i+1:] {
					add(formula.Subtract(a, b))
				}
			}
		case "floor", "ceil":
			add(n.Args[0])
			add(formula.Subtract(n.Args[0], formula.Number(1)))
		case "mod", "gcd", "lcm", "binom":
			for i, a := range n.Args {
				for j, b := range n.Args[i+1:] {
					add(formula.Subtract(a, b))
					if i+j == 0 {
						add(formula.Subtract(a, formula.Apply(formula.KindMultiply, formula.Number(2), b)))
					}
				}
			}
			add(n.Args[0])
		}
	}
	visit(s.a)
	visit(s.b)
	return found
}

// zeros returns values of variable k at which u is zero or changes its sign: exactly where u is linear, else by halving
// between values of a grid.
func (s *sampler) zeros(u *formula.Node, k int, b []evaluate.Coordinate) []*big.Rat {
	at := make(map[string]*big.Rat, len(s.names))
	for i, name := range s.names {
		at[name] = b[i].Rat()
	}
	value := func(v int64) *big.Rat {
		at[s.names[k]] = big.NewRat(v, 1)
		r, err := evaluate.Exact{Steps: s.Steps, At: at}.Value(u)
		if err != nil {
			return nil
		}
		return r
	}
	if v0, v1, v2 := value(0), value(1), value(2); v0 != nil && v1 != nil && v2 != nil {
		slope := new(big.Rat).Sub(v1, v0)
		if bend := new(big.Rat).Sub(new(big.Rat).Sub(v2, v1), slope); bend.Sign() == 0 && slope.Sign() != 0 {
			r := new(big.Rat).Quo(v0, slope)
			r.Neg(r)
			if c, ok := evaluate.CoordinateOf(r); ok {
				at[s.names[k]] = c.Rat()
				if w, err := (evaluate.Exact{Steps: s.Steps, At: at}).Value(u); err == nil && w.Sign() == 0 {
					return []*big.Rat{r}
				}
			}
		}
	}
	x := evaluate.Sketch{Steps: s.Steps, Names: s.names, At: slices.Clone(b)}
	sign := func(v float64) int {
		x.At[k] = evaluate.Coordinate{Near: v}
		w, err := x.Value(u)
		switch {
		case err != nil:
			return 2
		case w.V > w.Off:
			return 1
		case w.V < -w.Off:
			return -1
		}
		return 0
	}
	var grid []float64
	for e := 1000; e > 60; e -= 45 {
		grid = append(grid, -math.Ldexp(1, e))
	}
	for e := 60; e > -8; e-- {
		grid = append(grid, -math.Ldexp(1.1, e))
	}
	for i := len(grid) - 1; i >= 0; i-- {
		grid = append(grid, -grid[i])
	}
	var out []*big.Rat
	last, before := 2, 0.0
	for _, v := range grid {
		now := sign(v)
		if last != 2 && now != 2 && now != last && len(out) < 6 {
			lo, hi := before, v
			for range 80 {
				mid := lo + (hi-lo)/2
				if mid == lo || mid == hi {
					break
				}
				if t := sign(mid); t == last {
					lo = mid
				} else {
					hi = mid
				}
			}
			out = append(out, new(big.Rat).SetFloat64(hi))
		}
		last, before = now, v
	}
	return out
}
