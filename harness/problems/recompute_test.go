package problems

import (
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The tests of this file read the numbers of a phrase back and compute its value by other means than the generator:
// loops that count, sums that add up, floating-point evaluation of the gold.

var (
	constants = regexp.MustCompile(`\^[0-9]|_[0-9]|_\{[a-z][=+][0-9]\}|\^\{-2\}|x\^\{|carbon-14|24-hour|29 February`)
	numerals  = regexp.MustCompile(`[0-9]+`)
)

// numbersOf returns the whole numbers of a phrase in order, fixed exponents and indices left out.
func numbersOf(phrase string, v int64) []int64 {
	text := constants.ReplaceAllString(strings.ReplaceAll(phrase, "@", strconv.FormatInt(v, 10)), " ")
	var ns []int64
	for _, s := range numerals.FindAllString(text, -1) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			panic(err)
		}
		ns = append(ns, n)
	}
	return ns
}

// count returns how many integers of [lo, hi] have a property.
func count(lo, hi int64, has func(int64) bool) (n int64) {
	for x := lo; x <= hi; x++ {
		if has(x) {
			n++
		}
	}
	return n
}

// first returns the smallest integer from lo on that has a property.
func first(lo int64, has func(int64) bool) int64 {
	for !has(lo) {
		lo++
	}
	return lo
}

func divides(d int64) func(int64) bool { return func(n int64) bool { return n%d == 0 } }

func bruteGCD(a, b int64) int64 {
	for d := min(a, b); ; d-- {
		if a%d == 0 && b%d == 0 {
			return d
		}
	}
}

func slowPower(b, e, m int64) int64 {
	out := 1 % m
	for range e {
		out = out * b % m
	}
	return out
}

// total adds the numbers of a text like "5 + 7", of which phrases hold one or two.
func total(ns []int64) (s int64) {
	for _, n := range ns {
		s += n
	}
	return s
}

func digitsOf(n int64, base int) (s int64) {
	for _, c := range strconv.FormatInt(n, base) {
		d, _ := strconv.ParseInt(string(c), base, 64)
		s += d
	}
	return s
}

// recount computes a link from the numbers its phrase shows.
var recount = map[string]func(n []int64) int64{
	"arith/crates":   func(n []int64) int64 { return n[0]*n[1] - n[2] },
	"arith/cartons":  func(n []int64) int64 { return count(1, total(n[1:]), divides(n[0])) },
	"arith/buses":    func(n []int64) int64 { return first(0, func(b int64) bool { return b*n[0] >= n[1] }) },
	"arith/leftover": func(n []int64) int64 { s := total(n[1:]); return s - n[0]*count(1, s, divides(n[0])) },
	"arith/percent":  func(n []int64) int64 { return n[0] * (n[1] * n[2]) / 100 },
	"arith/digits":   func(n []int64) int64 { return digitsOf(n[0]*n[1]+n[2], 10) },
	"arith/gap":      func(n []int64) int64 { return int64(math.Abs(float64(n[0]*n[1] - n[2]))) },
	"arith/round":    func(n []int64) int64 { return n[0] * int64(math.Round(float64(n[1])/float64(n[0]))) },
	"arith/tank": func(n []int64) int64 {
		s := n[0]
		for range n[2] {
			s += n[1]
		}
		return s - n[3]
	},

	"algebra/evaluate":    func(n []int64) int64 { return (n[0]+n[1])*n[0] + n[2] },
	"algebra/linear":      func(n []int64) int64 { return first(0, func(x int64) bool { return n[0]*x-n[1] == n[2] }) },
	"algebra/powersum":    func(n []int64) int64 { return powerSum(n) },
	"algebra/system":      func(n []int64) int64 { return first(0, func(x int64) bool { return x-(n[0]-x) == n[1] }) },
	"algebra/squares":     func(n []int64) int64 { return (n[0]+n[1])*(n[0]+n[1]) - n[0]*n[0] },
	"algebra/reciprocal":  func(n []int64) int64 { return reciprocalSum(n[len(n)-1]) },
	"algebra/root":        func(n []int64) int64 { return count(1, 2000, func(x int64) bool { return x*x <= total(n) }) },
	"algebra/inequality":  func(n []int64) int64 { return count(1, n[2], func(x int64) bool { return n[0]*x+n[1] <= n[2] }) },
	"algebra/vertex":      func(n []int64) int64 { return least(func(x int64) int64 { return x*x - n[0]*x + total(n[1:]) }) },
	"algebra/composition": func(n []int64) int64 { f := func(x int64) int64 { return n[1]*x + n[2] }; return f(f(n[0])) },

	"numtheory/power residue": func(n []int64) int64 { return slowPower(n[0], n[1], n[2]) },
	"numtheory/residue":       func(n []int64) int64 { return (n[0]*n[0] + n[1]) % n[2] },
	"numtheory/gcd":           func(n []int64) int64 { return bruteGCD(n[0]*n[1], n[2]) },
	"numtheory/lcm": func(n []int64) int64 {
		m := max(n[0], n[1])
		return m * first(1, func(k int64) bool { return m*k%n[0] == 0 && m*k%n[1] == 0 })
	},
	"numtheory/divisor count": func(n []int64) int64 { s := total(n); return count(1, s, func(d int64) bool { return s%d == 0 }) },
	"numtheory/divisor sum": func(n []int64) (s int64) {
		for d := int64(1); d <= n[0]; d++ {
			if n[0]%d == 0 {
				s += d
			}
		}
		return s
	},
	"numtheory/totient": func(n []int64) int64 {
		s := total(n)
		return count(1, s, func(x int64) bool { return gcdOf(x, s) == 1 })
	},
	"numtheory/largest prime": func(n []int64) int64 { ps := primesOf(total(n)); return ps[len(ps)-1] },
	"numtheory/next prime": func(n []int64) int64 {
		return first(n[0]+1, func(p int64) bool { return big.NewInt(p).ProbablyPrime(20) })
	},
	"numtheory/base digits": func(n []int64) int64 { return digitsOf(total(n[1:]), int(n[0])) },
	"numtheory/inverse": func(n []int64) int64 {
		return first(1, func(x int64) bool { return (n[0]%n[2])*x%n[2] == n[1]%n[2] })
	},
	"numtheory/factorial zeros": func(n []int64) (e int64) {
		for m := int64(1); m <= total(n[1:]); m++ {
			for x := m; x%n[0] == 0; x /= n[0] {
				e++
			}
		}
		return e
	},

	"counting/teams":     func(n []int64) int64 { return binomial(total(n[1:]), n[0]) },
	"counting/offices":   func(n []int64) int64 { return 2 * binomial(n[0], 2) },
	"counting/diagonals": func(n []int64) int64 { s := total(n); return binomial(s, 2) - s },
	"counting/words": func(n []int64) (words int64) {
		v := n[1]
		ends := [2]int64{v, 0} // words that end in their first letter, and others
		for range n[0] - 1 {
			ends = [2]int64{ends[1], ends[0]*(v-1) + ends[1]*(v-2)}
		}
		return ends[0] + ends[1]
	},
	"counting/bars": func(n []int64) (s int64) {
		for x := int64(0); x <= n[0]; x++ {
			s += n[0] - x + 1
		}
		return s
	},
	"counting/paths": func(n []int64) int64 { return binomial(n[2]+n[3], n[3]) },
	"counting/multiples": func(n []int64) int64 {
		a, b := n[len(n)-2], n[len(n)-1]
		return count(n[0], total(n[1:len(n)-2]), func(x int64) bool { return x%a == 0 || x%b == 0 })
	},
	"counting/drawers": func(n []int64) int64 {
		return first(1, func(socks int64) bool { return socks > (n[0]-1)*n[1] })
	},
	"counting/lockers":    func(n []int64) int64 { return first(0, func(bags int64) bool { return bags*n[0] >= n[1] }) },
	"counting/handshakes": func(n []int64) int64 { return binomial(n[0], 2) - binomial(n[1], 2) },
	"counting/residue":    func(n []int64) int64 { return slowPower(2, n[0], n[1]) },

	"geometry/rectangle":  func(n []int64) int64 { return n[0] * n[1] },
	"geometry/perimeter":  func(n []int64) int64 { return n[0] + n[1] + n[0] + n[1] },
	"geometry/hypotenuse": func(n []int64) int64 { return n[0]*n[0] + n[1]*n[1] },
	"geometry/shoelace": func(n []int64) int64 {
		return int64(math.Round(math.Abs(float64(n[2])*float64(n[5]) - float64(n[3])*float64(n[4]))))
	},
	"geometry/angle sum": func(n []int64) (s int64) {
		for range n[0] - 2 { // one triangle of a triangulation after the other
			s += 180
		}
		return s
	},
	"geometry/grid":        func(n []int64) int64 { return (n[2] - n[0] + 1) * (n[3] - n[1] + 1) },
	"geometry/segment":     func(n []int64) int64 { return gcdOf(n[2]*n[3], n[4]) + 1 },
	"geometry/similar":     func(n []int64) int64 { return n[0] * n[0] * n[1] },
	"geometry/square side": func(n []int64) int64 { return count(1, 2000, func(x int64) bool { return x*x <= total(n) }) },
	"geometry/regions": func(n []int64) int64 {
		regions := int64(1)
		for line := int64(1); line <= n[0]; line++ {
			regions += line
		}
		return regions
	},
	"geometry/triangle count": func(n []int64) int64 {
		return count(1, n[0]+n[1], func(c int64) bool { return c < n[0]+n[1] && n[0] < n[1]+c && n[1] < n[0]+c })
	},

	"seqcalc/arithmetic term": func(n []int64) int64 {
		x := n[1]
		for range n[0] - 1 {
			x += n[2]
		}
		return x
	},
	"seqcalc/arithmetic sum": func(n []int64) (s int64) {
		for i := range n[0] {
			s += n[1] + i*n[2]
		}
		return s
	},
	"seqcalc/derivative": func(n []int64) int64 {
		at, p := n[0], n[1]
		f := func(x *big.Rat) *big.Rat {
			cube := new(big.Rat).Mul(x, new(big.Rat).Mul(x, x))
			return cube.Add(cube, new(big.Rat).Mul(big.NewRat(p, 1), x))
		}
		h := big.NewRat(1, 1_000_000)
		x := big.NewRat(at, 1)
		up, down := f(new(big.Rat).Add(x, h)), f(new(big.Rat).Sub(x, h))
		slope, _ := new(big.Rat).Quo(up.Sub(up, down), big.NewRat(2, 1_000_000)).Float64()
		return int64(math.Round(slope))
	},
	"seqcalc/integral": func(n []int64) int64 { // the trapezium rule is exact for a linear function
		return n[0] * (n[2] + n[1]*n[0] + n[2]) / 2
	},
	"seqcalc/recurrence": func(n []int64) int64 {
		x := n[1]
		for range n[0] {
			x = (n[2]*x + n[3]) % n[4]
		}
		return x
	},
	"seqcalc/fibonacci": func(n []int64) int64 {
		f := func(k int64) int64 { return [...]int64{0, 1, 1, 2, 3, 5, 8, 13, 21, 34}[k] }
		return f(n[0]-1)*n[1] + f(n[0])*n[2]
	},
	"seqcalc/maximum": func(n []int64) int64 { return -least(func(x int64) int64 { return x*x - n[1]*x - n[0] }) },
	"seqcalc/limit": func(n []int64) int64 {
		k := float64(n[1] * n[2])
		return int64(math.Round(math.Sin(k*1e-9)/1e-9)) + n[3]
	},
	"seqcalc/terms": func(n []int64) int64 {
		return count(n[0], n[2], func(x int64) bool { return (x-n[0])%(n[1]-n[0]) == 0 })
	},
	"seqcalc/geometric": func(n []int64) int64 { return n[1] * int64(math.Round(math.Pow(float64(n[2]), float64(n[0]-1)))) },
	"seqcalc/index": func(n []int64) int64 {
		sum := int64(0)
		return first(1, func(k int64) bool { sum += k; return sum > total(n[2:]) })
	},

	"linalg/determinant":     func(n []int64) int64 { return det2(n[0], n[1], -n[2], n[3]) },
	"linalg/trace of square": func(n []int64) int64 { return n[0]*n[0] + n[1]*n[2] + n[2]*n[1] + n[3]*n[3] },
	"linalg/dot product":     func(n []int64) int64 { return n[0]*n[3] + n[1]*n[4] + n[2]*n[5] },
	"linalg/cross product":   func(n []int64) int64 { return n[0]*n[4] - n[1]*(-n[3]) },
	"linalg/norm squared":    func(n []int64) int64 { return n[0]*n[0] + n[1]*n[1] + n[2]*n[2] },
	"linalg/shear power": func(n []int64) int64 {
		m := [4]int64{1, 0, 0, 1}
		for range n[4] {
			m = [4]int64{m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3]}
		}
		return m[1]
	},
	"linalg/kernel":              func(n []int64) int64 { return total(n[:len(n)-1]) - n[len(n)-1] },
	"linalg/symmetric":           func(n []int64) int64 { return binomial(total(n)+1, 2) },
	"linalg/determinant residue": func(n []int64) int64 { return det2(n[0], n[1], -n[2], n[3]) % n[4] },
	"linalg/triangular": func(n []int64) int64 {
		return n[0]*det2(n[4], n[5], n[7], n[8]) - n[1]*det2(n[3], n[5], n[6], n[8]) + n[2]*det2(n[3], n[4], n[6], n[7])
	},
	"linalg/rank bound": func(n []int64) int64 { return min(n[0], n[1]) },

	"logicword/times as many": func(n []int64) int64 { return n[0]*n[1] + n[2] },
	"logicword/false statements": func(n []int64) int64 {
		size := total(n)
		// With m false statements, statement m is the only true one; so m is consistent if size-m is 1.
		return first(1, func(m int64) bool { return size-m == 1 })
	},
	"logicword/weighings": func(n []int64) int64 {
		var tries func(coins int64) int64 // the worst outcome of a weighing leaves a third, rounded up
		tries = func(coins int64) int64 {
			if coins == 1 {
				return 0
			}
			return 1 + tries((coins+2)/3)
		}
		return tries(total(n))
	},
	"logicword/questions": func(n []int64) int64 {
		left, asked := total(n[1:]), int64(0)
		for ; left > 1; left = (left + 1) / 2 {
			asked++
		}
		return asked
	},
	"logicword/knockout": func(n []int64) int64 {
		games := int64(0)
		for left := total(n); left > 1; left -= left / 2 {
			games += left / 2
		}
		return games
	},
	"logicword/clock": func(n []int64) int64 { return (n[0] + n[1]*60 + n[2]) % (24 * 60) },
	"logicword/heads and legs": func(n []int64) int64 {
		return first(0, func(rabbits int64) bool { return 4*rabbits+2*(n[0]-rabbits) == n[1] })
	},
	"logicword/queue": func(n []int64) int64 { return count(n[0], total(n[1:]), func(int64) bool { return true }) },
	"logicword/survivor": func(n []int64) int64 {
		var ring []int64
		for i := int64(1); i <= total(n[1:len(n)-1]); i++ {
			ring = append(ring, i)
		}
		for at := 1; len(ring) > 1; at++ {
			at %= len(ring)
			ring = append(ring[:at], ring[at+1:]...)
		}
		return ring[0]
	},
	"logicword/day count":  func(n []int64) int64 { return n[0] + n[1]*n[2] },
	"logicword/shared out": func(n []int64) int64 { s := total(n[1:]); return s - n[0]*count(1, s, divides(n[0])) },

	"physics/momentum":          func(n []int64) int64 { return n[0] * n[1] },
	"physics/charge":            func(n []int64) int64 { return n[0] * n[1] },
	"physics/lift":              func(n []int64) int64 { return n[0] * n[2] * n[1] },
	"physics/kinetic":           func(n []int64) int64 { return n[0] * n[1] * n[1] / 2 },
	"physics/acceleration":      func(n []int64) int64 { return n[0] + n[1]*n[2] },
	"physics/series resistance": total,
	"physics/half-lives": func(n []int64) int64 {
		nuclei := n[0]
		for range n[1] {
			nuclei *= 2
		}
		return nuclei
	},
	"physics/oscillations": func(n []int64) int64 { return count(1, n[1], divides(n[0])) },
	"physics/pulses": func(n []int64) (reading int64) {
		for range n[1] * n[2] {
			if reading++; reading == n[0] {
				reading = 0
			}
		}
		return reading
	},

	"chemistry/water mass":     func(n []int64) int64 { return n[0] * (1 + 1 + 16) },
	"chemistry/hydrogen atoms": func(n []int64) int64 { return n[0] * (3 + 3 + 2*(n[1]-2)) }, // two ends, the rest in between
	"chemistry/combustion":     func(n []int64) int64 { return n[0] * (3*2 + 8/2) / 2 },
	"chemistry/dilution":       func(n []int64) int64 { return n[0]*n[1] + n[2] },
	"chemistry/flasks":         func(n []int64) int64 { return count(1, n[1], divides(n[0])) },
	"chemistry/rest":           func(n []int64) int64 { return n[1] - n[0]*count(1, n[1], divides(n[0])) },
	"chemistry/neutrons":       func(n []int64) int64 { return n[0] * (14 - n[1]) },
	"chemistry/excess":         func(n []int64) int64 { return n[1] - 6*n[0]/2 },
	"chemistry/ion charge":     func(n []int64) int64 { return n[0] + n[0] + n[2] },

	"genetics/nucleotides": func(n []int64) int64 { return 2 * total(n) },
	"genetics/codons":      func(n []int64) int64 { return (n[0] + n[1]) * n[2] },
	"genetics/adenine":     func(n []int64) int64 { return n[0] - n[1] },
	"genetics/mitosis": func(n []int64) int64 {
		cells := n[1]
		for range n[0] {
			cells += cells
		}
		return cells
	},
	"genetics/recessive": func(n []int64) int64 { return n[0] * n[1] * 3 / 4 },
	"genetics/somatic":   func(n []int64) int64 { return n[0] * (n[1] + n[1]) },
	"genetics/litters":   func(n []int64) int64 { return count(1, n[0], divides(n[1])) },
	"genetics/spare":     func(n []int64) int64 { return n[0] - n[1]*count(1, n[0], divides(n[1])) },
	"genetics/genotypes": func(n []int64) int64 { return n[0] + binomial(n[0], 2) },

	"logic/neither":  func(n []int64) int64 { return (n[0] - n[2]) + (n[1] - n[2]) + n[2] + n[3] },
	"logic/only one": func(n []int64) int64 { return (n[0] - n[2]) + (n[1] - n[2]) },
	"logic/implication": func(n []int64) int64 {
		return count(n[0], n[1]*n[2], func(x int64) bool { return !(x > n[3]) || x > n[4]*n[5] })
	},
	"logic/exclusive or": func(n []int64) int64 {
		return count(n[0], n[1]*n[2]+n[3], func(x int64) bool { return (x <= n[4]+n[5]) != (x > n[6]) })
	},
	"logic/contrapositive": func(n []int64) int64 { return count(n[0], n[1], divides(n[3])) },
	"logic/rotation":       func(n []int64) int64 { return n[0] - n[1]*count(1, n[0], divides(n[1])) },
	"logic/quantifier": func(n []int64) int64 {
		return first(1, func(votes int64) bool { return votes > (n[1]-1)*n[0] })
	},

	"finance/simple interest": func(n []int64) int64 { return n[0] * n[1] * n[2] * n[3] / 100 },
	"finance/markup":          func(n []int64) int64 { return n[0]*n[1] + n[0]*n[1]*n[2]/100 },
	"finance/discount":        func(n []int64) int64 { return n[0]*n[1] - n[0]*n[1]*n[2]/100 },
	"finance/shares":          func(n []int64) int64 { return count(1, n[1], divides(n[0])) },
	"finance/idle cash":       func(n []int64) int64 { return n[0] - n[1]*count(1, n[0], divides(n[1])) },
	"finance/profit":          func(n []int64) int64 { return n[0]*(n[2]+n[3]) - n[0]*n[1] },
	"finance/annuity":         func(n []int64) int64 { return n[0] + n[1]*n[2] },
	"finance/salary":          func(n []int64) int64 { return n[0] + n[1]*n[2] },

	"units/seconds":     func(n []int64) int64 { return n[0]*60 + n[1] },
	"units/inches":      func(n []int64) int64 { return n[0]*n[2] + n[1] },
	"units/grams":       func(n []int64) int64 { return n[0]*1000 + n[1] },
	"units/whole hours": func(n []int64) int64 { return count(1, total(n), divides(60)) },
	"units/odd inches":  func(n []int64) int64 { s := total(n[:len(n)-1]); return s - 36*count(1, s, divides(n[len(n)-1])) },
	"units/bits":        func(n []int64) int64 { return n[0] * n[1] * n[2] },
	"units/speed":       func(n []int64) int64 { return n[0] * n[1] * 1000 },
	"units/drums":       func(n []int64) int64 { return count(1, n[1], divides(n[0])) },

	"dates/weeks":      func(n []int64) int64 { return n[0]*7 + n[1] },
	"dates/full weeks": func(n []int64) int64 { return count(1, total(n), divides(7)) },
	"dates/day of year": func(n []int64) int64 {
		day := n[4]
		for range n[3] {
			if day++; day == n[0] {
				day = n[1]
			}
		}
		return day
	},
	"dates/leap years": func(n []int64) int64 { return count(1, n[0]*total(n[1:]), divides(4)) },
	"dates/hours":      func(n []int64) int64 { return n[0]*24 + n[1] },
	"dates/rota": func(n []int64) (shift int64) {
		for range n[2] * n[3] {
			if shift++; shift == n[1] {
				shift = n[0]
			}
		}
		return shift
	},
	"dates/months":   func(n []int64) int64 { return n[0]*12 + n[1] },
	"dates/quarters": func(n []int64) int64 { return count(1, n[1], divides(n[0])) },

	"codes/register": func(n []int64) (content int64) {
		for range n[0]*n[1] + n[2] {
			if content++; content == n[3] {
				content = 0
			}
		}
		return content
	},
	"codes/ones":       func(n []int64) int64 { return int64(strings.Count(strconv.FormatInt(n[0], 2), "1")) },
	"codes/shift left": func(n []int64) int64 { return binary(strconv.FormatInt(n[0], 2) + strings.Repeat("0", int(n[1]))) },
	"codes/shift right": func(n []int64) int64 {
		digits := strconv.FormatInt(n[1], 2)
		return binary("0" + digits[:max(0, len(digits)-int(n[0]))])
	},
	"codes/exclusive or": func(n []int64) (out int64) {
		for bit := int64(1); bit <= max(n[0], n[1]); bit *= 2 {
			if n[0]/bit%2 != n[1]/bit%2 {
				out += bit
			}
		}
		return out
	},
	"codes/reverse": func(n []int64) int64 {
		var reversed string
		for _, c := range strconv.FormatInt(n[0], 10) {
			reversed = string(c) + reversed
		}
		out, _ := strconv.ParseInt(reversed, 10, 64)
		return out
	},
	"codes/checksum": func(n []int64) (sum int64) {
		for _, c := range strconv.FormatInt(n[0], 10) { // Horner's scheme from the left
			sum = sum*n[2] + int64(c-'0')
		}
		return sum
	},
	"codes/bit length": func(n []int64) int64 { return n[0] + int64(len(strconv.FormatInt(n[1], 2))) },
	"codes/affine":     func(n []int64) int64 { return n[0]*n[1] + n[2] },
}

func binary(digits string) int64 {
	n, err := strconv.ParseInt(digits, 2, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func det2(a, b, c, d int64) int64 { return a*d - b*c }

func gcdOf(a, b int64) int64 {
	return new(big.Int).GCD(nil, nil, big.NewInt(a), big.NewInt(b)).Int64()
}

func binomial(n, k int64) int64 { return new(big.Int).Binomial(n, k).Int64() }

func primesOf(n int64) (ps []int64) {
	for p := int64(2); p <= n; p++ {
		if n%p == 0 && big.NewInt(p).ProbablyPrime(20) {
			ps = append(ps, p)
		}
	}
	return ps
}

// least returns the minimum of a convex function over the integers by walking downhill.
func least(f func(int64) int64) int64 {
	x := int64(0)
	for f(x+1) < f(x) {
		x++
	}
	return f(x)
}

func powerSum(n []int64) int64 { // over the roots r, s of x^2 - v x + q
	v, q := float64(n[0]), float64(n[1])
	r := (complex(v, 0) + sqrtOf(v*v-4*q)) / 2
	s := (complex(v, 0) - sqrtOf(v*v-4*q)) / 2
	return int64(math.Round(real(r*r + s*s)))
}

func sqrtOf(x float64) complex128 {
	if x < 0 {
		return complex(0, math.Sqrt(-x))
	}
	return complex(math.Sqrt(x), 0)
}

func reciprocalSum(v int64) int64 {
	x := (float64(v) + math.Sqrt(float64(v*v-4))) / 2
	return int64(math.Round(x*x + 1/(x*x)))
}

// drafts calls use with drafts of every size level and incoming values, printed or named, that a loop can handle.
func drafts(use func(d *draft, v int64)) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 240 {
		d := &draft{r: r, level: 1 + i%5, literal: i%3 == 0}
		v := 2 + r.Int64N([]int64{8, 60, 400, 5_000}[i%4])
		use(d, v)
	}
}

func TestEveryLinkHasTheValueThatItsWordsSay(t *testing.T) {
	for _, top := range append(mathTopics(), choiceTopics()...) {
		for _, l := range top.links {
			name := top.id + "/" + l.name
			t.Run(name, func(t *testing.T) {
				again := recount[name]
				if again == nil {
					t.Fatal("no independent computation of this link; add one to recount")
				}
				used := 0
				drafts(func(d *draft, v int64) {
					phrase, out := l.write(d, v)
					if v > l.upTo || phrase == "" || out < 2 || out > maxValue {
						return
					}
					used++
					if want := again(numbersOf(phrase, v)); out != want {
						t.Fatalf("v = %d: %s\nis %d, the generator says %d", v, phrase, want, out)
					}
				})
				if used < 20 {
					t.Errorf("the link suited only %d of 240 drafts", used)
				}
			})
		}
	}
}
