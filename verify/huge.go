package verify

import "math"

// huge compares values too large to write out by their size.
func (c *comparer) huge(a, b *node) (result, bool) {
	lo, hi, ok := logBounds(a)
	if !ok {
		return result{}, false
	}
	lo2, hi2, ok := logBounds(b)
	if !ok {
		return result{}, false
	}
	if lo > hi2+1 || lo2 > hi+1 {
		return different(ruleMagnitude), true
	}
	return result{}, false
}

// logBounds returns bounds on log2 of a positive value; +Inf as lower bound says that it is beyond float64.
func logBounds(n *node) (lo, hi float64, ok bool) {
	switch n.kind {
	case kindNumber:
		if n.rat.Sign() <= 0 {
			return 0, 0, false
		}
		bits := float64(n.rat.Num().BitLen() - n.rat.Denom().BitLen())
		return bits - 1, bits + 1, true
	case kindPower:
		bl, bh, ok := logBounds(n.args[0])
		if !ok || bl < 0.5 {
			return 0, 0, false
		}
		el, eh, ok := logBounds(n.args[1])
		if !ok {
			return 0, 0, false
		}
		return bl * math.Exp2(min(el, 1e3)), bh * math.Exp2(eh), true
	}
	return 0, 0, false
}
