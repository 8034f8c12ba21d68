// Topic algebra.

package problems

import "fmt"

func algebra() *topic {
	return &topic{
		id: "algebra",
		settings: []string{
			"This is an exercise on equations and polynomials.",
			"The chapter deals with quadratics, systems and inequalities.",
			"Treat the unknowns with the usual rules of algebra.",
			"A tutor writes some equations on the board.",
			"The worksheet is about roots and coefficients.",
			"All variables stand for real numbers unless the text says otherwise.",
			"It takes some skill with symbols to get through.",
			"Here is a question about functions and their values.",
		},
		links: []link{
			{"evaluate", 90_000, func(d *draft, v int64) (string, int64) {
				b, c := d.few(), d.size()
				return fmt.Sprintf(d.pick("$f(@)$, where $f(x) = x^2 + %d x + %d$", "the value at $x = @$ of the polynomial $x^2 + %d x + %d$"), b, c), v*v + b*v + c
			}},
			{"linear", maxValue, func(d *draft, v int64) (string, int64) {
				k := d.few()
				p := d.size()
				p += (k - (v+p)%k) % k
				return fmt.Sprintf(d.pick("the solution $x$ of the equation $%d x - %d = @$", "the real number $x$ for which $%d x - %d$ is equal to $@$"), k, p), (v + p) / k
			}},
			{"powersum", 90_000, func(d *draft, v int64) (string, int64) {
				q := d.sizeUpTo(max(3, v*v/4))
				return fmt.Sprintf(d.pick(`the sum of the squares of the two roots of $x^2 - @ \, x + %d = 0$`, `the value of $x^2 + y^2$ for the numbers $x, y$ with $x + y = @$ and $x y = %d$`), q), v*v - 2*q
			}},
			{"system", maxValue / 2, func(d *draft, v int64) (string, int64) {
				s := d.size()
				s += (s + v) % 2
				return fmt.Sprintf(d.pick("the value of $x$ in the solution of the system $x + y = %d$, $x - y = @$", "the first coordinate of the point where the lines $x + y = %d$ and $x - y = @$ meet"), s), (s + v) / 2
			}},
			{"squares", maxValue / 40, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf(d.pick("the value of $(@ + %[1]d)^2 - @^2$", "the amount by which $(@ + %[1]d)^2$ exceeds $@^2$"), k), 2*k*v + k*k
			}},
			{"reciprocal", 900_000, func(d *draft, v int64) (string, int64) {
				return d.pick(`the value of $x^2 + \frac{1}{x^2}$ for a real number $x$ with $x + \frac{1}{x} = @$`, `the number $z^2 + z^{-2}$, given that $z + z^{-1} = @$`), v*v - 2
			}},
			{"root", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick(`the largest integer $n$ with $n^2 \le %s$`, `the greatest integer that does not exceed $\sqrt{%s}$`), tex), isqrt(n)
			}},
			{"inequality", maxValue, func(d *draft, v int64) (string, int64) {
				k := d.few()
				p := d.size()
				if v < p+2*k {
					return "", 0
				}
				return fmt.Sprintf(d.pick(`the number of positive integers $n$ that satisfy $%d n + %d \le @$`, `the largest integer solution $n$ of the inequality $%d n + %d \le @$`), k, p), (v - p) / k
			}},
			{"vertex", maxValue / 2, func(d *draft, v int64) (string, int64) {
				k := d.few()
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick("the minimum of $x^2 - %d x + %s$ over all real $x$", "the least value that $x^2 - %d x + %s$ takes for real $x$"), 2*k, tex), n - k*k
			}},
			{"composition", maxValue / 4000, func(d *draft, v int64) (string, int64) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick("the value of $f(f(@))$ for $f(x) = %d x + %d$", "$f(f(@))$ if $f$ is the function $f(x) = %d x + %d$"), k, p), k*(k*v+p) + p
			}},
		},
		finals: []final{
			{"solutions", maxValue / 2, func(d *draft, v int64) (string, answer) {
				k := d.size()
				return fmt.Sprintf(d.pick("the set of all real solutions of $(x - @)^2 = %d^2$", "the set of all real $x$ with $|x - @| = %d$"), k), answer{gold: set(v-k, v+k)}
			}},
			{"larger root", 900_000, func(d *draft, v int64) (string, answer) {
				disc := d.few()
				disc = disc * disc * d.between(2, 30)
				if s := isqrt(disc); s*s == disc {
					disc += s * s // twice a square is not a square
				}
				outer, inner := splitSquare(disc)
				if v*v-disc <= 0 {
					return "", answer{}
				}
				return fmt.Sprintf(d.pick(`the larger root of $(x - @)^2 = %d$ in exact form`, `the greater of the two real solutions of $(x - @)^2 - %d = 0$, in simplest radical form`), disc),
					answer{gold: itoa(v) + " + " + times(outer, inner)}
			}},
			{"quadratic inequality", maxValue, func(d *draft, v int64) (string, answer) {
				p := d.size()
				if p == v {
					p++
				}
				lo, hi := min(v, p), max(v, p)
				if d.r.IntN(2) == 0 {
					return fmt.Sprintf(`the set of all real $x$ with $(x - @)(x - %d) < 0$, in interval notation`, p), answer{gold: fmt.Sprintf("(%d, %d)", lo, hi)}
				}
				return fmt.Sprintf(`the set of all real $x$ with $(x - @)(x - %d) \le 0$, in interval notation`, p), answer{gold: fmt.Sprintf("[%d, %d]", lo, hi)}
			}},
			{"absolute value", maxValue / 2, func(d *draft, v int64) (string, answer) {
				k := d.size()
				if d.r.IntN(2) == 0 {
					return fmt.Sprintf(`the solution set of $|x - @| \le %d$ as an interval`, k), answer{gold: fmt.Sprintf("[%d, %d]", v-k, v+k)}
				}
				return fmt.Sprintf("the solution set of $|x - @| < %d$ as an interval", k), answer{gold: fmt.Sprintf("(%d, %d)", v-k, v+k)}
			}},
			{"expand", maxValue / 20_000_000, func(d *draft, v int64) (string, answer) {
				k := d.size()
				return fmt.Sprintf(d.pick("the expanded form of $(x + @)(x - %d)$", "the polynomial $(x + @)(x - %d)$ written out in powers of $x$"), k), answer{gold: polynomial(1, v-k, -v*k)}
			}},
			{"pair", maxValue / 50, func(d *draft, v int64) (string, answer) {
				k, y := d.few(), d.size()
				x := v - k*y
				sign, size := "+", x-y
				if size < 0 {
					sign, size = "-", -size
				}
				if size == 0 {
					return "", answer{}
				}
				return fmt.Sprintf(d.pick("the ordered pair $(x, y)$ with $x + %d y = @$ and $x = y %s %d$", "the point $(x, y)$ that lies on both lines $x + %d y = @$ and $x = y %s %d$"), k, sign, size), answer{gold: tuple(x, y)}
			}},
			{"rational solution", maxValue, func(d *draft, v int64) (string, answer) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick("the exact solution of the equation $%d x + %d = @$", "the rational number $x$ with $%d x + %d = @$"), k, p), answer{gold: fraction(v-p, k)}
			}},
		},
	}
}
