// Rational expressions, evaluated without rounding.

package evaluate

import (
	"errors"
	"math"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Reasons why an expression has no value under one kind of arithmetic.
var (
	ErrSymbolic   = errors.New("holds a variable")
	ErrIrrational = errors.New("not known to be rational")
	ErrUndefined  = errors.New("undefined")
	ErrBudget     = errors.New("beyond the documented limits")
	ErrPrecision  = errors.New("not to be told at this precision")
	ErrConvention = errors.New("a matter of convention") // a sum whose upper bound is far below the lower one
)

// Exact evaluates rational expressions without rounding.
type Exact struct {
	Steps *formula.Budget
	At    map[string]*big.Rat // values of variables; nil for none
	bound []binding           // values of the indices of sums around
}

// Value returns the value of n.
func (x Exact) Value(n *formula.Node) (*big.Rat, error) {
	if !x.Steps.Spend(costNode) {
		return nil, ErrBudget
	}
	switch n.Kind {
	case formula.KindAdd, formula.KindMultiply, formula.KindDivide, formula.KindPower, formula.KindNegate:
		if f, ok := x.small(n); ok {
			return f.rat(), nil
		}
	}
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		return n.Rat, nil
	case formula.KindSymbol:
		for k := len(x.bound) - 1; k >= 0; k-- {
			if x.bound[k].name == n.Name {
				return x.bound[k].value.rat(), nil
			}
		}
		if v, ok := x.At[n.Name]; ok {
			return v, nil
		}
		return nil, ErrSymbolic
	case formula.KindConstant:
		if n.Name == "infinity" {
			return nil, ErrUndefined
		}
		return nil, ErrIrrational
	case formula.KindPercent:
		v, err := x.Value(n.Args[0])
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Mul(v, big.NewRat(1, 100)), nil
	case formula.KindNegate:
		v, err := x.Value(n.Args[0])
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Neg(v), nil
	case formula.KindAdd, formula.KindMultiply:
		return x.fold(n)
	case formula.KindDivide:
		a, err := x.Value(n.Args[0])
		b, err2 := x.Value(n.Args[1])
		switch {
		case errors.Is(err, ErrSymbolic) || errors.Is(err2, ErrSymbolic):
			return nil, ErrSymbolic
		case err != nil:
			return nil, err
		case err2 != nil:
			return nil, err2
		case b.Sign() == 0:
			return nil, ErrUndefined
		case formula.Size(a)+formula.Size(b) > formula.MaxBits || !x.Steps.Quotient(a, b):
			return nil, ErrBudget
		}
		return new(big.Rat).Quo(a, b), nil
	case formula.KindPower:
		return x.power(n)
	case formula.KindCall:
		return x.call(n)
	}
	return nil, ErrIrrational
}

// values evaluates all arguments; a variable anywhere wins over other reasons.
func (x Exact) values(args []*formula.Node) ([]*big.Rat, error) {
	vs := make([]*big.Rat, len(args))
	var first error
	for i, a := range args {
		v, err := x.Value(a)
		if errors.Is(err, ErrSymbolic) {
			return nil, err
		}
		if err != nil && first == nil {
			first = err
		}
		vs[i] = v
	}
	return vs, first
}

func (x Exact) fold(n *formula.Node) (*big.Rat, error) {
	vs, err := x.values(n.Args)
	if err != nil {
		return nil, err
	}
	acc := new(big.Rat).Set(vs[0])
	for _, v := range vs[1:] {
		if formula.Size(acc)+formula.Size(v) > formula.MaxBits || !x.Steps.Rationals(acc, v) {
			return nil, ErrBudget
		}
		if n.Kind == formula.KindAdd {
			acc.Add(acc, v)
		} else {
			acc.Mul(acc, v)
		}
	}
	return acc, nil
}

// power computes integer powers, and roots that come out.
func (x Exact) power(n *formula.Node) (*big.Rat, error) {
	vs, err := x.values(n.Args)
	if err != nil {
		return nil, err
	}
	base, e := vs[0], vs[1]
	if !e.IsInt() {
		if !e.Denom().IsInt64() || e.Denom().Int64() > 64 || base.Sign() < 0 && e.Denom().Bit(0) == 0 {
			return nil, ErrIrrational
		}
		r, ok := x.Root(base, int(e.Denom().Int64()))
		if !ok {
			return nil, ErrIrrational
		}
		base, e = r, new(big.Rat).SetInt(e.Num())
	}
	if base.Sign() == 0 {
		switch e.Sign() {
		case 0, -1:
			return nil, ErrUndefined
		}
		return new(big.Rat), nil
	}
	if base.IsInt() && base.Num().IsInt64() {
		switch base.Num().Int64() {
		case 1:
			return base, nil
		case -1:
			if e.Num().Bit(0) == 0 {
				return big.NewRat(1, 1), nil
			}
			return base, nil
		}
	}
	if !e.Num().IsInt64() {
		return nil, ErrBudget
	}
	k := e.Num().Int64()
	bits := math.Max(bitsOf(base.Num()), bitsOf(base.Denom()))*math.Abs(float64(k)) + 1
	if bits > formula.MaxBits || !x.Steps.Multiply(int(bits), int(bits)) {
		return nil, ErrBudget
	}
	if !base.IsInt() && !x.Steps.Multiply(int(2*bits), int(2*bits)) {
		return nil, ErrBudget
	}
	exp := big.NewInt(Abs64(k))
	num, den := new(big.Int).Exp(base.Num(), exp, nil), new(big.Int).Exp(base.Denom(), exp, nil)
	if k < 0 {
		num, den = den, num
	}
	return new(big.Rat).SetFrac(num, den), nil
}

// bitsOf returns the binary logarithm of |v|, rounded up where v is long; 0 for 0.
func bitsOf(v *big.Int) float64 {
	if v.BitLen() > 53 {
		return float64(v.BitLen())
	}
	return math.Log2(math.Max(1, math.Abs(float64(v.Int64()))))
}

func Abs64(k int64) int64 {
	if k < 0 {
		return -k
	}
	return k
}

// Root returns the rational k-th root of v, negative for odd roots of negative numbers.
func (x Exact) Root(v *big.Rat, k int) (*big.Rat, bool) {
	if k < 1 || v.Sign() < 0 && k%2 == 0 {
		return nil, false
	}
	num, ok := x.integerRoot(new(big.Int).Abs(v.Num()), k)
	if !ok {
		return nil, false
	}
	den, ok := x.integerRoot(v.Denom(), k)
	if !ok {
		return nil, false
	}
	if v.Sign() < 0 {
		num.Neg(num)
	}
	return new(big.Rat).SetFrac(num, den), true
}

// integerRoot returns the exact k-th root of v >= 0, if it is an integer.
func (x Exact) integerRoot(v *big.Int, k int) (*big.Int, bool) {
	if v.Sign() == 0 || k == 1 {
		return new(big.Int).Set(v), true
	}
	if !x.Steps.Quadratic(v.BitLen(), 4*v.BitLen()) {
		return nil, false
	}
	if k == 2 {
		r := new(big.Int).Sqrt(v)
		return r, new(big.Int).Mul(r, r).Cmp(v) == 0
	}
	// Newton from above converges monotonically.
	r := new(big.Int).Lsh(big.NewInt(1), uint(v.BitLen()/k+1))
	kk, k1 := big.NewInt(int64(k)), big.NewInt(int64(k-1))
	for {
		p := new(big.Int).Exp(r, k1, nil)
		next := new(big.Int).Div(v, p)
		next.Add(next, new(big.Int).Mul(k1, r)).Div(next, kk)
		if next.Cmp(r) >= 0 {
			break
		}
		r = next
		if !x.Steps.Quadratic(v.BitLen(), v.BitLen()) {
			return nil, false
		}
	}
	return r, new(big.Int).Exp(r, kk, nil).Cmp(v) == 0
}

// call evaluates functions whose value is rational for rational arguments.
func (x Exact) call(n *formula.Node) (*big.Rat, error) {
	if n.Name == "sum" || n.Name == "prod" {
		return x.series(n)
	}
	if n.Name == "det" {
		return x.determinant(n.Args[0])
	}
	vs, err := x.values(n.Args)
	if errors.Is(err, ErrBudget) && !x.Steps.Spent() {
		switch n.Name {
		case "mod":
			if m, err := x.Value(n.Args[1]); err == nil && m.IsInt() && m.Sign() != 0 {
				return x.remainder(n.Args[0], m.Num())
			}
		case "gcd", "lcm":
			if v, ok, err := x.common(n); ok {
				return v, err
			}
		}
	}
	if err != nil {
		return nil, err
	}
	integers := func() bool {
		for _, v := range vs {
			if !v.IsInt() {
				return false
			}
		}
		return true
	}
	switch n.Name {
	case "abs":
		return new(big.Rat).Abs(vs[0]), nil
	case "conj", "re":
		return vs[0], nil
	case "im":
		return new(big.Rat), nil
	case "sign":
		return big.NewRat(int64(vs[0].Sign()), 1), nil
	case "floor", "ceil":
		q, r := new(big.Int).DivMod(vs[0].Num(), vs[0].Denom(), new(big.Int))
		if n.Name == "ceil" && r.Sign() != 0 {
			q.Add(q, big.NewInt(1))
		}
		return new(big.Rat).SetInt(q), nil
	case "max", "min":
		best := vs[0]
		for _, v := range vs[1:] {
			if c := v.Cmp(best); c > 0 && n.Name == "max" || c < 0 && n.Name == "min" {
				best = v
			}
		}
		return best, nil
	case "root":
		if !vs[1].IsInt() || !vs[1].Num().IsInt64() || vs[1].Sign() <= 0 || vs[1].Num().Int64() > 64 {
			return nil, ErrIrrational
		}
		if r, ok := x.Root(vs[0], int(vs[1].Num().Int64())); ok {
			return r, nil
		}
		return nil, ErrIrrational
	case "log":
		return x.logarithm(vs)
	}
	if !integers() {
		return nil, ErrIrrational
	}
	switch n.Name {
	case "gcd", "lcm":
		acc := new(big.Int).Abs(vs[0].Num())
		for _, v := range vs[1:] {
			w := new(big.Int).Abs(v.Num())
			if !x.Steps.Quadratic(acc.BitLen()*2, w.BitLen()) {
				return nil, ErrBudget
			}
			g := new(big.Int).GCD(nil, nil, acc, w)
			if n.Name == "gcd" || g.Sign() == 0 {
				acc = g
				continue
			}
			acc.Mul(acc, w).Div(acc, g)
			if acc.BitLen() > formula.MaxBits {
				return nil, ErrBudget
			}
		}
		return new(big.Rat).SetInt(acc), nil
	case "mod":
		if vs[1].Sign() == 0 {
			return nil, ErrUndefined
		}
		m := new(big.Int).Abs(vs[1].Num())
		return new(big.Rat).SetInt(new(big.Int).Mod(vs[0].Num(), m)), nil
	case "factorial", "doublefactorial":
		return x.factorial(vs[0].Num(), n.Name == "doublefactorial")
	case "binom":
		return x.binomial(vs[0].Num(), vs[1].Num())
	case "arrangements":
		n, err := x.factorial(vs[0].Num(), false)
		if err != nil {
			return nil, err
		}
		rest, err := x.factorial(new(big.Int).Sub(vs[0].Num(), vs[1].Num()), false)
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Quo(n, rest), nil
	}
	return nil, ErrIrrational
}

func (x Exact) factorial(v *big.Int, double bool) (*big.Rat, error) {
	if v.Sign() < 0 {
		return nil, ErrUndefined
	}
	if !v.IsInt64() || v.Int64() > 1<<20 {
		return nil, ErrBudget
	}
	n := v.Int64()
	bits := float64(n) * math.Log2(float64(n)+1)
	if bits > formula.MaxBits || !x.Steps.Multiply(int(bits), int(bits)) {
		return nil, ErrBudget
	}
	if !double {
		return new(big.Rat).SetInt(new(big.Int).MulRange(1, n)), nil
	}
	acc := big.NewInt(1)
	for ; n > 1; n -= 2 {
		acc.Mul(acc, big.NewInt(n))
	}
	return new(big.Rat).SetInt(acc), nil
}

func (x Exact) binomial(n, k *big.Int) (*big.Rat, error) {
	if k.Sign() < 0 || n.Sign() >= 0 && k.Cmp(n) > 0 {
		return new(big.Rat), nil
	}
	if n.Sign() < 0 || !n.IsInt64() {
		return nil, ErrBudget
	}
	a, b := n.Int64(), k.Int64()
	b = min(b, a-b)
	bits := float64(b+1) * math.Log2(float64(a)+2)
	if bits > formula.MaxBits || !x.Steps.Multiply(int(bits), int(bits)) {
		return nil, ErrBudget
	}
	return new(big.Rat).SetInt(new(big.Int).Binomial(a, b)), nil
}

// logarithm computes log_b(a) where it is rational.
func (x Exact) logarithm(vs []*big.Rat) (*big.Rat, error) {
	if len(vs) < 2 {
		if vs[0].Cmp(big.NewRat(1, 1)) == 0 {
			return new(big.Rat), nil
		}
		return nil, ErrIrrational
	}
	a, b := vs[0], vs[1]
	if a.Sign() <= 0 || b.Sign() <= 0 || b.Cmp(big.NewRat(1, 1)) == 0 {
		return nil, ErrUndefined
	}
	if formula.Size(a) > 4096 || formula.Size(b) > 4096 {
		return nil, ErrIrrational
	}
	// log_b a = p/q means a^q = b^p. The candidates with small q are read off a float64 and checked exactly.
	la, lb := log2(a), log2(b)
	for q := int64(1); q <= 12; q++ {
		p := math.Round(la / lb * float64(q))
		if math.Abs(la/lb*float64(q)-p) > 1e-9 || math.Abs(p) > 4096 {
			continue
		}
		left, err := x.power(formula.Power(formula.Rational(a), formula.Number(q)))
		if err != nil {
			return nil, err
		}
		right, err := x.power(formula.Power(formula.Rational(b), formula.Number(int64(p))))
		if err != nil {
			return nil, err
		}
		if left.Cmp(right) == 0 {
			return big.NewRat(int64(p), q), nil
		}
		break
	}
	return nil, ErrIrrational
}

// log2 returns the binary logarithm of v > 0.
func log2(v *big.Rat) float64 {
	part := func(n *big.Int) float64 {
		f := new(big.Float).SetInt(n)
		m := new(big.Float)
		e := f.MantExp(m)
		g, _ := m.Float64()
		return float64(e) + math.Log2(g)
	}
	return part(v.Num()) - part(v.Denom())
}

// series evaluates a finite sum or product term by term.
func (x Exact) series(n *formula.Node) (*big.Rat, error) {
	body, index := n.Args[0], n.Args[1]
	if Infinity(n.Args[2]) != 0 || Infinity(n.Args[3]) != 0 {
		return nil, ErrBudget
	}
	bounds, err := x.values(n.Args[2:4])
	if err != nil {
		return nil, err
	}
	lo, hi := bounds[0], bounds[1]
	if !lo.IsInt() || !hi.IsInt() || !lo.Num().IsInt64() || !hi.Num().IsInt64() {
		return nil, ErrBudget
	}
	a, b := lo.Num().Int64(), hi.Num().Int64()
	acc := new(big.Rat)
	if n.Name == "prod" {
		acc.SetInt64(1)
	}
	if b < a-1 && len(x.At) > 0 {
		return nil, ErrConvention
	}
	if b < a {
		return acc, nil
	}
	if b-a < 0 || b-a >= MaxTerms {
		return nil, ErrBudget
	}
	if f, ok := x.smallSeries(n, a, b); ok {
		return f.rat(), nil
	}
	inner := x
	inner.bound = append(append([]binding(nil), x.bound...), binding{name: index.Name})
	for k := a; ; k++ {
		inner.bound[len(x.bound)].value = shortRat{k, 1}
		v, err := inner.Value(body)
		if err != nil {
			return nil, err
		}
		if formula.Size(acc)+formula.Size(v) > formula.MaxBits || !x.Steps.Rationals(acc, v) {
			return nil, ErrBudget
		}
		if n.Name == "sum" {
			acc.Add(acc, v)
		} else {
			acc.Mul(acc, v)
		}
		if k == b {
			return acc, nil
		}
	}
}

// determinant eliminates.
func (x Exact) determinant(m *formula.Node) (*big.Rat, error) {
	if m.Kind != formula.KindMatrix || m.Cols*m.Cols != len(m.Args) {
		return nil, ErrUndefined
	}
	n := m.Cols
	if n > MaxElimination {
		return nil, ErrBudget
	}
	vs, err := x.values(m.Args)
	if err != nil {
		return nil, err
	}
	rows := make([][]*big.Rat, n)
	for i := range rows {
		rows[i] = vs[i*n : (i+1)*n]
	}
	det := big.NewRat(1, 1)
	for c := range n {
		pivot := c
		for pivot < n && rows[pivot][c].Sign() == 0 {
			pivot++
		}
		if pivot == n {
			return new(big.Rat), nil
		}
		if pivot != c {
			rows[pivot], rows[c] = rows[c], rows[pivot]
			det.Neg(det)
		}
		if formula.Size(det)+formula.Size(rows[c][c]) > formula.MaxBits || !x.Steps.Rationals(det, rows[c][c]) {
			return nil, ErrBudget
		}
		det.Mul(det, rows[c][c])
		for r := c + 1; r < n; r++ {
			if rows[r][c].Sign() == 0 {
				continue
			}
			q := new(big.Rat).Quo(rows[r][c], rows[c][c])
			for k := c; k < n; k++ {
				if rows[c][k].Sign() == 0 {
					continue
				}
				if formula.Size(q)+formula.Size(rows[c][k])+formula.Size(rows[r][k]) > formula.MaxBits || !x.Steps.Rationals(q, rows[c][k]) || !x.Steps.Rationals(q, rows[r][k]) {
					return nil, ErrBudget
				}
				product := new(big.Rat).Mul(q, rows[c][k])
				rows[r][k] = product.Sub(rows[r][k], product)
			}
		}
	}
	return det, nil
}
