// How near to zero an algebraic number can be without being zero.

package decide

import (
	"math"
	"strconv"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// bound describes an algebraic number E = U/L with algebraic integers U and L: binary logarithms of upper bounds on the
// conjugates of U and of L, after Burnikel, Funke, Mehlhorn, Schirra and Schmitt, "A separation bound for real
// algebraic expressions" (ESA 2001). Unless it is zero, |E| >= 1/(u^(D-1) l), where D is the product of the degrees of
// the distinct radicals in E.
type bound struct{ u, l float64 }

// separation returns the least binary exponent that a-b can have unless it is zero; false if a or b holds something
// else than numbers, + - * /, integer powers, radicals and i.
func separation(a, b *formula.Node) (bits float64, ok bool) {
	degrees := map[string]float64{}
	x, ok := bounds(a, degrees)
	if !ok {
		return 0, false
	}
	y, ok := bounds(b, degrees)
	if !ok {
		return 0, false
	}
	d := 1.0
	for _, k := range degrees {
		d *= k
	}
	e := sumBound(x, y)
	return (d-1)*e.u + e.l, true
}

// sumBound bounds a sum: U = U1 L2 + U2 L1, L = L1 L2.
func sumBound(x, y bound) bound {
	return bound{u: math.Max(x.u+y.l, y.u+x.l) + 1, l: x.l + y.l}
}

func bounds(n *formula.Node, degrees map[string]float64) (bound, bool) {
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		return bound{u: float64(n.Rat.Num().BitLen()), l: float64(n.Rat.Denom().BitLen())}, true
	case formula.KindConstant:
		if n.Name == "i" {
			degrees["i"] = 2
			return bound{}, true
		}
	case formula.KindNegate:
		return bounds(n.Args[0], degrees)
	case formula.KindPercent:
		b, ok := bounds(n.Args[0], degrees)
		b.l += 7
		return b, ok
	case formula.KindAdd, formula.KindMultiply, formula.KindDivide:
		acc, ok := bounds(n.Args[0], degrees)
		for _, a := range n.Args[1:] {
			b, fine := bounds(a, degrees)
			ok = ok && fine
			switch n.Kind {
			case formula.KindAdd:
				acc = sumBound(acc, b)
			case formula.KindMultiply:
				acc = bound{u: acc.u + b.u, l: acc.l + b.l}
			default:
				acc = bound{u: acc.u + b.l, l: acc.l + b.u}
			}
		}
		return acc, ok
	case formula.KindPower:
		if n.Args[1].Kind == formula.KindDivide || n.Args[1].Kind == formula.KindNumber && !n.Args[1].Rat.IsInt() {
			return fractionalPower(n, degrees)
		}
		k, ok := n.Args[1].Integer()
		b, fine := bounds(n.Args[0], degrees)
		if !ok || !fine {
			return bound{}, false
		}
		if k < 0 {
			b, k = bound{u: b.l, l: b.u}, -k
		}
		return bound{u: b.u * float64(k), l: b.l * float64(k)}, true
	case formula.KindCall:
		if n.Name == "root" {
			if k, ok := n.Args[1].Integer(); ok && k > 1 {
				return rootBound(n.Args[0], k, degrees)
			}
		}
	}
	return bound{}, false
}

// rootBound bounds a k-th root: (U/L)^(1/k) = (U L^(k-1))^(1/k) / L, or U / (U^(k-1) L)^(1/k) if U is the smaller.
func rootBound(arg *formula.Node, k int, degrees map[string]float64) (bound, bool) {
	b, ok := bounds(arg, degrees)
	degrees[strconv.Itoa(k)+":"+arg.String()] = float64(k)
	f := float64(k)
	if b.u >= b.l {
		return bound{u: (b.u + (f-1)*b.l) / f, l: b.l}, ok
	}
	return bound{u: b.u, l: ((f-1)*b.u + b.l) / f}, ok
}

func fractionalPower(n *formula.Node, degrees map[string]float64) (bound, bool) {
	e := n.Args[1]
	var p, q int
	if e.Kind == formula.KindNumber {
		if !e.Rat.Num().IsInt64() || !e.Rat.Denom().IsInt64() {
			return bound{}, false
		}
		p, q = int(e.Rat.Num().Int64()), int(e.Rat.Denom().Int64())
	} else {
		a, okA := e.Args[0].Integer()
		b, okB := e.Args[1].Integer()
		if !okA || !okB || b < 1 {
			return bound{}, false
		}
		p, q = a, b
	}
	r, ok := rootBound(n.Args[0], q, degrees)
	if p < 0 {
		r, p = bound{u: r.l, l: r.u}, -p
	}
	return bound{u: r.u * float64(p), l: r.l * float64(p)}, ok
}
