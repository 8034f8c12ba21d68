// Numbers too large to write out, compared by residues.

package decide

import (
	"math"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// residues compares two rational constants of which at least one is too large to write out; false if they hold
// anything that has no residue. They are different for
// certain if they are so modulo one prime, and equal if they agree modulo five primes of 31 bits: random numbers would
// do so once in 2^155.
func (c *Comparer) residues(a, b *formula.Node) (Result, bool) {
	x := evaluate.Exact{Steps: c.Steps}
	for _, p := range evaluate.SmallPrimes {
		ra, err := x.Residue(a, p, true)
		if err != nil {
			return Result{}, false
		}
		rb, err := x.Residue(b, p, true)
		if err != nil {
			return Result{}, false
		}
		if ra != rb {
			return different(ruleResidues), true
		}
	}
	return Result{Outcome: OutcomeEqual, Rule: ruleResidues, proof: ProofProbable}, true
}

// sizes compares positive values by bounds on their binary logarithms.
func (c *Comparer) sizes(a, b *formula.Node) (Result, bool) {
	lo, hi, ok := logBounds(a)
	if !ok {
		return Result{}, false
	}
	lo2, hi2, ok := logBounds(b)
	if !ok || !(lo > hi2+1) && !(lo2 > hi+1) {
		return Result{}, false
	}
	return different(ruleMagnitude), true
}

// logBounds bounds log2 of a positive value; infinity stands for what is beyond float64.
func logBounds(n *formula.Node) (lo, hi float64, ok bool) {
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		if n.Rat.Sign() <= 0 {
			return 0, 0, false
		}
		bits := float64(n.Rat.Num().BitLen() - n.Rat.Denom().BitLen())
		return bits - 1, bits + 1, true
	case formula.KindAdd, formula.KindMultiply:
		for i, a := range n.Args {
			l, h, ok := logBounds(a)
			switch {
			case !ok:
				return 0, 0, false
			case i == 0:
				lo, hi = l, h
			case n.Kind == formula.KindMultiply:
				lo, hi = lo+l, hi+h
			default:
				lo, hi = max(lo, l), max(hi, h)+1
			}
		}
		return lo, hi, true
	case formula.KindPower:
		bl, bh, ok := logBounds(n.Args[0])
		if !ok || bl < 0.5 {
			return 0, 0, false
		}
		el, eh, ok := logBounds(n.Args[1])
		if !ok {
			return 0, 0, false
		}
		return bl * math.Exp2(min(el, 1100)), bh * math.Exp2(eh), true
	case formula.KindCall:
		if n.Name != "factorial" {
			return 0, 0, false
		}
		l, h, ok := logBounds(n.Args[0])
		if !ok || l < 2 {
			return 0, 0, false
		}
		// (n/e)^n <= n! <= n^n
		return (l - 1.5) * math.Exp2(min(l, 1100)), h * math.Exp2(h), true
	}
	return 0, 0, false
}
