// Topic number theory.

package problems

import "fmt"

// factorable bounds the numbers whose factorisation a problem may need.
const factorable = 20_000_000

func numtheory() *topic {
	return &topic{
		id: "numtheory",
		settings: []string{
			"This problem is about primes, divisors and remainders.",
			"Every number in sight is an integer.",
			"The topic of the week is modular arithmetic.",
			"A circle of enthusiasts studies divisibility.",
			"Recall what Euclid and Fermat taught about whole numbers.",
			"The exercise belongs to a course on the theory of numbers.",
			"Residues and prime factors are all that is needed.",
			"Somebody left a puzzle about integers on the board.",
		},
		links: []link{
			{"power residue", maxValue, func(d *draft, v int64) (string, int64) {
				b, m := d.between(2, 19), d.size()+4
				return fmt.Sprintf(d.pick("the remainder when $%d^{@}$ is divided by $%d$", "the smallest non-negative integer that is congruent to $%d^{@}$ modulo $%d$"), b, m), powMod(b, v, m)
			}},
			{"residue", 900_000, func(d *draft, v int64) (string, int64) {
				p, m := d.size(), d.size()+4
				return fmt.Sprintf(d.pick("the remainder of $@^2 + %d$ on division by $%d$", "the least non-negative residue of $@^2 + %d$ modulo $%d$"), p, m), (v*v + p) % m
			}},
			{"gcd", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				p := d.few() * d.size()
				return fmt.Sprintf(d.pick(`the greatest common divisor of $%d \cdot @$ and $%d$`, `$\gcd(%d \cdot @, %d)$`), k, p), gcd(k*v, p)
			}},
			{"lcm", maxValue / 100_000_000, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf(d.pick("the least common multiple of $@$ and $%d$", `$\operatorname{lcm}(@, %d)$`), p), v / gcd(v, p) * p
			}},
			{"divisor count", factorable / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, factorable)
				out := int64(1)
				for _, f := range factor(n) {
					out *= f.e + 1
				}
				return fmt.Sprintf(d.pick("the number of positive divisors of $%s$", "the number of positive integers that divide $%s$"), tex), out
			}},
			{"divisor sum", factorable / 2, func(d *draft, v int64) (string, int64) {
				out := int64(1)
				for _, f := range factor(v) {
					s := int64(1)
					for range f.e {
						s = s*f.p + 1
					}
					out *= s
				}
				return d.pick("the sum of all positive divisors of $@$", "the sum of the positive integers that divide $@$ (with $@$ itself included)"), out
			}},
			{"totient", factorable / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, factorable)
				out := n
				for _, f := range factor(n) {
					out -= out / f.p
				}
				return fmt.Sprintf(d.pick(`$\varphi(%s)$, where $\varphi$ is Euler's totient function`, "the number of positive integers that do not exceed $%s$ and have no prime factor in common with it"), tex), out
			}},
			{"largest prime", factorable / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, factorable)
				f := factor(n)
				return fmt.Sprintf(d.pick("the largest prime factor of $%s$", "the greatest prime that divides $%s$"), tex), f[len(f)-1].p
			}},
			{"next prime", factorable / 2, func(d *draft, v int64) (string, int64) {
				return d.pick("the smallest prime greater than $@$", "the first prime number after $@$"), nextPrime(v)
			}},
			{"base digits", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				k := d.between(2, 9)
				return fmt.Sprintf(d.pick("the sum of the base-$%d$ digits of $%s$", "the sum of the digits in the base-$%d$ representation of $%s$"), k, tex), digitSum(n, k)
			}},
			{"inverse", maxValue, func(d *draft, v int64) (string, int64) {
				p := nextPrime(d.sizeUpTo(500_000))
				if v%p == 0 {
					return "", 0
				}
				r := d.between(1, min(p-1, 30))
				return fmt.Sprintf(d.pick(`the smallest positive integer $x$ with $@ \cdot x \equiv %d \pmod{%d}$`, `the least positive integer $x$ such that $@ \cdot x \equiv %d \pmod{%d}$`), r, p),
					r * powMod(v, p-2, p) % p
			}},
			{"factorial zeros", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				p := []int64{2, 3, 5, 7}[d.r.IntN(4)]
				return fmt.Sprintf(d.pick("the exponent of $%d$ in the prime factorisation of $(%s)!$", "the largest integer $n$ for which $%d^n$ divides $(%s)!$"), p, tex), (n - digitSum(n, p)) / (p - 1)
			}},
		},
		finals: []final{
			{"prime divisors", factorable / 2, func(d *draft, v int64) (string, answer) {
				n, tex := d.grow(v, factorable)
				var ps []int64
				for _, f := range factor(n) {
					ps = append(ps, f.p)
				}
				return fmt.Sprintf(d.pick("the set of all prime divisors of $%s$", "the set of the distinct primes that divide $%s$"), tex), answer{gold: set(ps...)}
			}},
			{"division", maxValue, func(d *draft, v int64) (string, answer) {
				n, tex := d.grow(v, maxValue)
				k := d.sizeUpTo(max(3, n/2))
				return fmt.Sprintf(d.pick("the ordered pair $(x, y)$ of quotient $x$ and remainder $y$ in the division of $%s$ by $%d$", "the ordered pair $(x, y)$ for which dividing $%s$ by $%d$ gives the whole number $x$ and leaves the remainder $y$"), tex, k), answer{gold: tuple(n/k, n%k)}
			}},
			{"square roots", maxValue, func(d *draft, v int64) (string, answer) {
				m := d.between(11, 60)
				var xs []int64
				for x := range m {
					if x*x%m == (v%m)*(v%m)%m {
						xs = append(xs, x)
					}
				}
				return fmt.Sprintf(d.pick(`the set of all integers $x$ with $0 \le x < %[1]d$ and $x^2 \equiv @^2 \pmod{%[1]d}$`, `the set of residues $x$ from $0$ up to but not including $%[1]d$ that satisfy $x^2 \equiv @^2 \pmod{%[1]d}$`), m), answer{gold: set(xs...)}
			}},
			{"last residue", maxValue, func(d *draft, v int64) (string, answer) {
				b, m := d.between(2, 19), d.size()+4
				return fmt.Sprintf(d.pick("the remainder when $%d^{@}$ is divided by $%d$", "the smallest non-negative integer congruent to $%d^{@}$ modulo $%d$"), b, m), answer{gold: itoa(powMod(b, v, m))}
			}},
			{"coprime share", factorable / 2, func(d *draft, v int64) (string, answer) {
				n, tex := d.grow(v, factorable)
				num := n
				for _, f := range factor(n) {
					num -= num / f.p
				}
				return fmt.Sprintf(`the probability, as a reduced fraction, that an integer chosen uniformly from $1$ to $%[1]s$ is coprime to $%[1]s$`, tex), answer{gold: fraction(num, n)}
			}},
			{"congruences", maxValue, func(d *draft, v int64) (string, answer) {
				p := nextPrime(d.sizeUpTo(9_999) + 8)
				q := []int64{3, 5, 7}[d.r.IntN(3)]
				r := d.between(0, q-1)
				x := v % p
				for x%q != r {
					x += p
				}
				return fmt.Sprintf(d.pick(`the smallest non-negative integer $x$ with $x \equiv @ \pmod{%d}$ and $x \equiv %d \pmod{%d}$`, `the least integer $x \ge 0$ that satisfies $x \equiv @ \pmod{%d}$ and $x \equiv %d \pmod{%d}$`), p, r, q), answer{gold: itoa(x)}
			}},
		},
	}
}
