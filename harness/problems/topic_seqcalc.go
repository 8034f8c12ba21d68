// Topic sequences and calculus.

package problems

import "fmt"

func seqcalc() *topic {
	return &topic{
		id: "seqcalc",
		settings: []string{
			"This exercise is on sequences, series and calculus.",
			"Derivatives, integrals and limits are taken over the real numbers.",
			"The lecture was about recurrences and rates of change.",
			"A student revises for the analysis exam.",
			"Sequences start with the index that the text names.",
			"The function in question is differentiable everywhere it matters.",
			"Convergence is the theme of this section.",
			"Someone differentiates and integrates for fun.",
		},
		links: []link{
			{"arithmetic term", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n := d.between(5, 40)
				p := d.size()
				return fmt.Sprintf(d.pick("term number $%d$ of the arithmetic sequence with first term $@$ and common difference $%d$", "term $%d$ of the sequence that starts with $@$ as its first term and grows by $%d$ from each term to the next"), n, p), v + (n-1)*p
			}},
			{"arithmetic sum", maxValue / 50, func(d *draft, v int64) (string, int64) {
				n := d.between(4, 20)
				p := d.size()
				return fmt.Sprintf(d.pick("the sum of the first $%d$ terms of the arithmetic sequence with first term $@$ and common difference $%d$", "the value of the arithmetic series of $%d$ terms that begins with $@$ and has common difference $%d$"), n, p), n*v + n*(n-1)/2*p
			}},
			{"derivative", 500_000, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf(d.pick("$f'(@)$ for $f(x) = x^3 + %d x$", "the slope at $x = @$ of the tangent to the graph of $x^3 + %d x$"), p), 3*v*v + p
			}},
			{"integral", 90_000, func(d *draft, v int64) (string, int64) {
				p := d.sizeUpTo(999_999)
				return fmt.Sprintf(d.pick(`$\int_0^{@} (2x + %d) \, dx$`, `the integral from zero to $@$ of the function $2x + %d$`), p), v*v + p*v
			}},
			{"recurrence", maxValue / 20, func(d *draft, v int64) (string, int64) {
				n, k := d.between(3, 9), d.few()
				p := d.size()
				m := d.size() + 20
				out := v
				for range n {
					out = (k*out + p) % m
				}
				return fmt.Sprintf(d.pick(`$x_{%d}$ for the sequence with $x_0 = @$ in which $x_{n+1}$ is the remainder of $%d \cdot x_n + %d$ on division by $%d$`, `the term $x_{%d}$ of the sequence given by $x_0 = @$ and $x_{n+1} = (%d \cdot x_n + %d) \bmod %d$`), n, k, p, m), out
			}},
			{"fibonacci", maxValue / 200, func(d *draft, v int64) (string, int64) {
				n := d.between(3, 9)
				p := d.size()
				a, b := v, p
				for range n {
					a, b = b, a+b
				}
				return fmt.Sprintf(d.pick("$x_{%d}$, where $x_0 = @$, $x_1 = %d$ and every later term is the sum of the two terms before it", `the number $x_{%d}$ of the sequence $x_0 = @$, $x_1 = %d$, $x_{n+2} = x_{n+1} + x_n$`), n, p), a
			}},
			{"maximum", maxValue / 2, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf(d.pick("the maximum value of $@ + %d x - x^2$ over all real $x$", "the greatest value of the function $f(x) = @ + %d x - x^2$ on the real line"), 2*k), v + k*k
			}},
			{"limit", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick(`$\lim_{x \to 0} \frac{\sin(%d \cdot @ \cdot x)}{x} + %d$`, `the limit for $x \to 0$ of the function $\frac{\sin(%d \cdot @ \cdot x)}{x} + %d$`), k, p), k*v + p
			}},
			{"terms", maxValue, func(d *draft, v int64) (string, int64) {
				p := d.size()
				k := d.few()
				if v < p+2*k {
					return "", 0
				}
				return fmt.Sprintf(d.pick(`the number of terms of the arithmetic sequence $%d, %d, \ldots$ that do not exceed $@$`, `the number of terms of the arithmetic sequence with first two terms $%d$ and $%d$ that are at most $@$`), p, p+k), (v-p)/k + 1
			}},
			{"geometric", maxValue / 4096, func(d *draft, v int64) (string, int64) {
				n, k := d.between(3, 6), d.between(2, 4)
				out := v
				for range n - 1 {
					out *= k
				}
				return fmt.Sprintf(d.pick("term number $%d$ of the geometric sequence with first term $@$ and common ratio $%d$", "the term with number $%d$ of a geometric progression whose first term is $@$ and whose ratio is $%d$"), n, k), out
			}},
			{"index", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick(`the smallest $n$ with $1 + 2 + \cdots + n > %s$`, `the least positive integer $n$ for which $1 + 2 + \cdots + n$ exceeds $%s$`), tex), (isqrt(8*n+1)-1)/2 + 1
			}},
		},
		finals: []final{
			{"series", maxValue / 100, func(d *draft, v int64) (string, answer) {
				q := d.between(3, 19)
				p := d.between(1, q-1)
				return fmt.Sprintf(d.pick(`$\sum_{n=0}^{\infty} @ \cdot \left(\frac{%d}{%d}\right)^n$ as an integer or a reduced fraction`, `the sum of the infinite geometric series with first term $@$ and ratio $\frac{%d}{%d}$`), p, q), answer{gold: fraction(v*q, q-p)}
			}},
			{"derivative of", maxValue / 4, func(d *draft, v int64) (string, answer) {
				p := d.few()
				q := d.size()
				return fmt.Sprintf(d.pick(`the derivative of $f(x) = %d x^3 + @ \, x^2 - %d x$ as a polynomial in $x$`, `$f'(x)$ for the function $f(x) = %d x^3 + @ \, x^2 - %d x$`), p, q), answer{gold: polynomial(3*p, 2*v, -q)}
			}},
			{"decreasing", maxValue, func(d *draft, v int64) (string, answer) {
				p := d.size()
				if p == v {
					p++
				}
				return fmt.Sprintf("the largest open interval on which a function $f$ with derivative $f'(x) = (x - @)(x - %d)$ is decreasing", p), answer{gold: fmt.Sprintf("(%d, %d)", min(v, p), max(v, p))}
			}},
			{"convergence", maxValue / 2, func(d *draft, v int64) (string, answer) {
				k := d.sizeUpTo(9_999)
				if d.r.IntN(2) == 0 {
					return fmt.Sprintf(`the interval of all real $x$ for which $\sum_{n=1}^{\infty} \frac{(x - @)^n}{n \cdot %d^n}$ converges`, k), answer{gold: fmt.Sprintf("[%d, %d)", v-k, v+k)}
				}
				return fmt.Sprintf(`the interval of all real $x$ for which $\sum_{n=1}^{\infty} \frac{(x - @)^n}{n^2 \cdot %d^n}$ converges`, k), answer{gold: fmt.Sprintf("[%d, %d]", v-k, v+k)}
			}},
			{"nested root", maxValue / 5, func(d *draft, v int64) (string, answer) {
				outer, inner := splitSquare(4*v + 1)
				gold := `\frac{1 + ` + times(outer, inner) + "}{2}"
				if inner == 1 {
					gold = itoa((1 + outer) / 2)
				}
				return d.pick(`the limit of the sequence with $x_0 = 1$ and $x_{n+1} = \sqrt{@ + x_n}$`, `the exact value of $\sqrt{@ + \sqrt{@ + \sqrt{@ + \cdots}}}$`), answer{gold: gold}
			}},
			{"area", 9_000, func(d *draft, v int64) (string, answer) {
				n := v * v * v
				return d.pick(`the area of the region enclosed by the parabola $y = x (@ - x)$ and the $x$-axis`, `$\int_0^{@} x (@ - x) \, dx$ as an integer or a reduced fraction`), answer{gold: fraction(n, 6)}
			}},
		},
	}
}
