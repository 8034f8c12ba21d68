package verify

import "math/big"

// progression writes out a finite arithmetic progression that was given as a, b, ..., z. Other lists are returned as
// they are.
func progression(args []*node) []*node {
	n := len(args)
	if n < 4 || args[n-2].kind != kindEllipsis || args[n-1].kind != kindNumber {
		return args
	}
	for _, a := range args[:n-2] {
		if a.kind != kindNumber {
			return args
		}
	}
	step := new(big.Rat).Sub(args[1].rat, args[0].rat)
	for i := 1; i+1 < n-2; i++ {
		if new(big.Rat).Sub(args[i+1].rat, args[i].rat).Cmp(step) != 0 {
			return args
		}
	}
	if step.Sign() == 0 {
		return args
	}
	count := new(big.Rat).Sub(args[n-1].rat, args[0].rat)
	count.Quo(count, step)
	if !count.IsInt() || count.Sign() <= 0 || !count.Num().IsInt64() || count.Num().Int64() >= maxTerms {
		return args
	}
	out := make([]*node, 0, count.Num().Int64()+1)
	v := new(big.Rat).Set(args[0].rat)
	for range count.Num().Int64() + 1 {
		out = append(out, rational(new(big.Rat).Set(v)))
		v.Add(v, step)
	}
	return out
}
