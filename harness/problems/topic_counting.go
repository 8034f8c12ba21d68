// Topic counting.

package problems

import "fmt"

func counting() *topic {
	return &topic{
		id: "counting",
		settings: []string{
			"This is a problem in combinatorics and probability.",
			"In how many ways can things be arranged, chosen or shared out?",
			"All choices are equally likely wherever chance plays a part.",
			"The class discusses permutations and combinations.",
			"A committee has to be formed from the members of a club.",
			"The lesson covers counting principles.",
			"Balls, urns and seating plans are the subject today.",
			"Somebody wonders how large the number of possibilities is.",
		},
		links: []link{
			{"teams", 1_000_000, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, 1_400_000)
				k := int64(2)
				if n <= 15_000 && d.r.IntN(2) == 0 {
					k = 3
				}
				return fmt.Sprintf(d.pick("the number of ways to choose a team of $%d$ from $%s$ players", "the number of $%d$-element subsets of a set with $%s$ elements"), k, tex), choose(n, k)
			}},
			{"offices", 900_000, func(d *draft, v int64) (string, int64) {
				return d.pick("the number of ways to fill the posts of chair and treasurer with two different members of a club of $@$ members",
					"the number of ordered pairs of different objects that can be drawn from $@$ distinguishable objects"), v * (v - 1)
			}},
			{"diagonals", 1_000_000, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, 1_400_000)
				return fmt.Sprintf(d.pick("the number of diagonals of a convex polygon with $%s$ sides", "the number of pairs of non-adjacent corners of a convex polygon with $%s$ corners"), tex), n * (n - 3) / 2
			}},
			{"words", 9_000, func(d *draft, v int64) (string, int64) {
				return d.pick("the number of words of length $3$ over an alphabet of $@$ letters in which no two neighbouring letters are equal",
					"the number of ways to paint $3$ houses in a row with $@$ colours so that neighbours differ"), v * (v - 1) * (v - 1)
			}},
			{"bars", 1_000_000, func(d *draft, v int64) (string, int64) {
				return d.pick("the number of triples $(x, y, z)$ of non-negative integers with $x + y + z = @$",
					"the number of ways to distribute $@$ identical sweets among three children, where a child may get none"), choose(v+2, 2)
			}},
			{"paths", 100_000, func(d *draft, v int64) (string, int64) {
				k := d.between(2, 4)
				return fmt.Sprintf(d.pick("the number of lattice paths from $(0, 0)$ to $(@, %d)$ that use only unit steps to the right and up",
					"the number of shortest walks along the grid lines from $(0, 0)$ to $(@, %d)$"), k), choose(v+k, k)
			}},
			{"multiples", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				a := d.few()
				b := a + d.few()
				return fmt.Sprintf(d.pick("the number of integers from $1$ to $%s$ that are divisible by $%d$ or by $%d$ (or by both)",
					"the number of integers between $1$ and $%s$, ends included, that are multiples of at least one of $%d$ and $%d$"), tex, a, b), n/a + n/b - n/(a/gcd(a, b)*b)
			}},
			{"drawers", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf(d.pick("the smallest number of socks that must be drawn in the dark to be sure of $%d$ of one colour, if there are plenty of socks in each of $@$ colours",
					"the least number of people among whom at least $%d$ surely share a birthday, on a planet whose year has $@$ days"), k), (k-1)*v + 1
			}},
			{"lockers", maxValue, func(d *draft, v int64) (string, int64) {
				k := d.sizeUpTo(max(3, v/2))
				return fmt.Sprintf(d.pick("the largest number $n$ such that some locker surely holds at least $n$ bags, if there are $%d$ lockers and $@$ bags are put into them in any way",
					"the largest number $n$ for which it is certain that one of $%d$ pigeonholes gets at least $n$ of $@$ letters"), k), (v + k - 1) / k
			}},
			{"handshakes", 900_000, func(d *draft, v int64) (string, int64) {
				p := d.few()
				if v < 3*p {
					return "", 0
				}
				return fmt.Sprintf(d.pick("the number of handshakes at a party of $@$ guests at which every two guests shake hands once, except that $%d$ quarrelling guests shake no hands among themselves",
					"the number of games in a tournament of $@$ players where every two meet once, save that the $%d$ players of the host do not play each other"), p), choose(v, 2) - choose(p, 2)
			}},
			{"residue", maxValue, func(d *draft, v int64) (string, int64) {
				m := d.size() + 4
				return fmt.Sprintf(d.pick("the remainder when the number of subsets of a set with $@$ elements is divided by $%d$", "the remainder that the number of binary strings of length $@$ leaves on division by $%d$"), m), powMod(2, v, m)
			}},
		},
		finals: []final{
			{"two red", 500_000, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(500_000)
				n := v + p
				return fmt.Sprintf(d.pick("the probability, in lowest terms, that two balls drawn at random without replacement from an urn with $@$ red and $%d$ blue balls are both red",
					"the chance, as a reduced fraction, that a random pair of pupils from a class with $@$ girls and $%d$ boys consists of two girls"), p), answer{gold: fraction(v*(v-1), n*(n-1))}
			}},
			{"expected red", maxValue / 100_000, func(d *draft, v int64) (string, answer) {
				p, k := d.size(), d.between(2, 9)
				if k >= v {
					return "", answer{}
				}
				return fmt.Sprintf(d.pick("the expected number of red balls, in lowest terms, when an urn holds $@$ red and $%d$ white balls and $%d$ are drawn at random without replacement",
					"the mean number of winning tickets, in lowest terms, in a box of $@$ winning and $%d$ losing tickets from which $%d$ are taken blindly"), p, k), answer{gold: fraction(k*v, v+p)}
			}},
			{"selections", 300_000, func(d *draft, v int64) (string, answer) {
				pairs := choose(v, 2)
				p := d.sizeUpTo(max(3, maxValue/pairs))
				return fmt.Sprintf(d.pick("the number of ways to pick two of $@$ singers and one of $%d$ pianists",
					"the number of ways to send two of $@$ runners and one of $%d$ jumpers to a competition"), p), answer{gold: itoa(pairs * p)}
			}},
			{"at least once", maxValue, func(d *draft, v int64) (string, answer) {
				m, k := d.between(4, 12), d.between(2, 4)
				// The number of sides depends on v so that the chain matters.
				sides := v%m + 4
				num, den := int64(1), int64(1)
				for range k {
					num, den = num*(sides-1), den*sides
				}
				return fmt.Sprintf(d.pick("the probability, in lowest terms, that a fair die with $y + 4$ faces, where $y$ is the remainder of $@$ on division by $%d$, shows its highest face at least once in $%d$ rolls",
					"the chance, in lowest terms, that a wheel of fortune with $y + 4$ equal sectors, where $y$ is the remainder of $@$ on division by $%d$, stops at its one winning sector at least once in $%d$ spins"), m, k), answer{gold: fraction(den-num, den)}
			}},
			{"multiples and others", maxValue, func(d *draft, v int64) (string, answer) {
				a := d.few()
				return fmt.Sprintf(d.pick("the ordered pair $(x, y)$ in which $x$ counts the integers from $1$ to $@$ that are multiples of $%[1]d$, and $y$ counts the remaining ones",
					"the ordered pair $(x, y)$ of the numbers $x$ and $y$ of integers from $1$ to $@$ that are, and that are not, divisible by $%[1]d$"), a), answer{gold: tuple(v/a, v-v/a)}
			}},
		},
	}
}
