// Topic arithmetic.

package problems

import "fmt"

func arith() *topic {
	return &topic{
		id: "arith",
		settings: []string{
			"This is a problem of everyday arithmetic.",
			"A shopkeeper checks the books with pencil and paper.",
			"The question comes from a page on sums, products and percentages.",
			"Someone has to keep the accounts of a small store.",
			"It is a matter of careful adding and multiplying.",
			"A delivery has arrived and everything must be counted.",
			"The cashier wants to get the totals right.",
			"Here is a short exercise in mental arithmetic.",
		},
		links: []link{
			{"crates", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				p := d.sizeUpTo(max(3, k*v/2))
				return fmt.Sprintf(d.pick("the number of apples left when $%d$ crates of $@$ apples each lose $%d$ apples in total",
					"the number of free chairs in $%d$ rows of $@$ chairs each once $%d$ people have sat down",
					"the number of tickets still unsold if $%d$ booklets of $@$ tickets each were printed and $%d$ tickets are gone"), k, p), k*v - p
			}},
			{"cartons", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				if n < 12 {
					return "", 0
				}
				k := d.sizeUpTo(max(3, n/4))
				return fmt.Sprintf(d.pick("the number of cartons of $%d$ eggs that can be filled completely from $%s$ eggs",
					"the largest number of $%d$-dollar vouchers that $%s$ dollars can buy"), k, tex), n / k
			}},
			{"buses", maxValue, func(d *draft, v int64) (string, int64) {
				k := d.sizeUpTo(max(3, v/2))
				return fmt.Sprintf(d.pick("the smallest number of buses with $%d$ seats each that can carry $@$ passengers in one trip",
					"the smallest number of shelves, each for at most $%d$ books, that hold $@$ books"), k), (v + k - 1) / k
			}},
			{"leftover", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				k := d.sizeUpTo(max(3, n-1))
				return fmt.Sprintf(d.pick("the number of eggs left over when as many cartons of $%d$ eggs as possible are filled from $%s$ eggs",
					"the number of coins that remain after as many full stacks of $%d$ coins as possible are made from $%s$ coins"), k, tex), n % k
			}},
			{"percent", maxValue / 39, func(d *draft, v int64) (string, int64) {
				r := 5 * d.between(1, 39)
				return fmt.Sprintf(d.pick(`$%d\%%$ of $20 \cdot @$`, `the amount that is $%d\%%$ of $20 \cdot @$`), r), r / 5 * v
			}},
			{"digits", maxValue / 40, func(d *draft, v int64) (string, int64) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick(`the sum of the decimal digits of $%d \cdot @ + %d$`, `the digit sum, in base ten, of $%d \cdot @ + %d$`), k, p), digitSum(k*v+p, 10)
			}},
			{"gap", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick(`the positive difference between $%d \cdot @$ and $%d$`, `the distance on the number line between $%d \cdot @$ and $%d$`), k, p), abs(k*v - p)
			}},
			{"round", maxValue / 2, func(d *draft, v int64) (string, int64) {
				k := d.sizeUpTo(max(3, v/3)) | 1 // odd, so that no number lies halfway
				return fmt.Sprintf(d.pick("the multiple of $%d$ that is nearest to $@$", "the result of rounding, to the nearest multiple of $%d$, the number $@$"), k), (v + k/2) / k * k
			}},
			{"tank", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p, k := d.size(), d.few()
				q := d.sizeUpTo(max(3, (v+p*k)/2))
				return fmt.Sprintf(d.pick("the number of litres in a tank that holds $@$ litres, gains $%d$ litres an hour for $%d$ hours and then loses $%d$ litres",
					"the number of stamps in an album that has $@$ stamps, receives $%d$ stamps in each of $%d$ weeks and then loses $%d$ stamps"), p, k, q), v + p*k - q
			}},
		},
		finals: []final{
			{"average", maxValue, func(d *draft, v int64) (string, answer) {
				p, q := d.size(), d.size()
				return fmt.Sprintf(d.pick("the mean of $@$, $%d$ and $%d$ in simplest form", "the average of the three numbers $@$, $%d$ and $%d$, as an integer or a reduced fraction"), p, q),
					answer{gold: fraction(v+p+q, 3)}
			}},
			{"reciprocals", 99_999, func(d *draft, v int64) (string, answer) {
				q := d.sizeUpTo(9_999)
				return fmt.Sprintf(d.pick(`the value of $\frac{1}{@} + \frac{1}{%d}$ as a reduced fraction`, `$\frac{1}{@} + \frac{1}{%d}$ in lowest terms`), q), answer{gold: fraction(v+q, v*q)}
			}},
			{"expression", maxValue / 20_000_000, func(d *draft, v int64) (string, answer) {
				p, k, q := d.size(), d.few(), d.size()
				return fmt.Sprintf(d.pick(`the value of $(@ + %d) \cdot %d - %d$`, `the result of $(@ + %d) \cdot %d - %d$`), p, k, q), answer{gold: itoa((v+p)*k - q)}
			}},
			{"decimal", maxValue, func(d *draft, v int64) (string, answer) {
				k := []int64{4, 5, 8, 16, 20, 25, 40, 50, 80, 125}[d.r.IntN(10)]
				return fmt.Sprintf(d.pick(`the exact value of $@ \div %[1]d$ written as a decimal`, `$\frac{@}{%[1]d}$ in decimal form`), k), answer{gold: decimal(v, k)}
			}},
			{"cost", maxValue / 1000, func(d *draft, v int64) (string, answer) {
				cents, paid := d.between(11, 99), d.size()
				return fmt.Sprintf(d.pick(`the total cost in dollars of $@$ pencils at $0.%d$ dollars each and one lamp at $%d$ dollars, as an exact decimal`,
					`the total price in dollars of $@$ stickers at $0.%d$ dollars each plus a delivery charge of $%d$ dollars, as an exact decimal`), cents, paid), answer{gold: decimal(v*cents+100*paid, 100)}
			}},
			{"share", maxValue, func(d *draft, v int64) (string, answer) {
				p, q := d.size(), d.size()
				return fmt.Sprintf(d.pick("the fraction of all marbles that are red, in lowest terms, if a jar holds $@$ red, $%d$ green and $%d$ blue marbles",
					"the part of the whole, in lowest terms, that belongs to the first partner when three partners put in $@$, $%d$ and $%d$ dollars"), p, q), answer{gold: fraction(v, v+p+q)}
			}},
		},
	}
}
