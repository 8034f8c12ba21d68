// Topic riddles: word problems with liars, coins and clocks.

package problems

import (
	"fmt"
	"math/bits"
)

func logicword() *topic {
	return &topic{
		id: "logicword",
		settings: []string{
			"This is a brain-teaser told in words.",
			"A traveller meets people who set riddles.",
			"Read carefully and reason step by step.",
			"The puzzle appeared in an old almanac.",
			"Nothing but clear thinking is required.",
			"Knights, liars, clocks and coins appear in such riddles.",
			"Grandmother likes to set puzzles after dinner.",
			"The riddle has exactly one solution.",
		},
		links: []link{
			{"times as many", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick("the number of marbles of a girl who has $%d$ times as many as her brother's $@$ and $%d$ more",
					"the number of coins of a miser who owns $%d$ times the $@$ coins of his friend plus $%d$ coins besides"), k, p), k*v + p
			}},
			{"false statements", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick("the number of false statements in a list of $%s$ statements of which, for every $n$, the $n$-th says that exactly $n$ statements of the list are false",
					"the number of liars among $%s$ islanders, each of whom always lies or always tells the truth, if for every $n$ the $n$-th islander says that exactly $n$ of them are liars"), tex), n - 1
			}},
			{"weighings", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				out, reach := int64(0), int64(1)
				for reach < n {
					out, reach = out+1, 3*reach
				}
				return fmt.Sprintf(d.pick("the smallest number of weighings on a two-pan balance, without weights, that always suffices to find the one heavier coin among $%s$ coins that look alike",
					"the least number of weighings on a balance scale that is guaranteed to reveal which of $%s$ otherwise identical balls is the single heavier one"), tex), out
			}},
			{"questions", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick("the smallest number of yes-or-no questions that always suffices to find a secret integer from $1$ to $%s$",
					"the least number of questions, answered truthfully with yes or no, that is sure to single out one number in the list from $1$ to $%s$"), tex), int64(bits.Len64(uint64(n - 1)))
			}},
			{"knockout", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick("the number of games played until a knockout tournament with $%s$ players and no draws has a winner",
					"the number of breaks needed to split a bar of $%s$ squares of chocolate into single squares, one piece being broken at a time"), tex), n - 1
			}},
			{"clock", maxValue / 2, func(d *draft, v int64) (string, int64) {
				h, m := d.between(1, 9), d.between(10, 59)
				return fmt.Sprintf(d.pick("the number of minutes since the last midnight at the moment that comes $@$ minutes after %d:%d in the morning",
					"the reading, in minutes after midnight, of a 24-hour clock $@$ minutes after it showed %d:%d in the morning"), h, m), (60*h + m + v) % 1440
			}},
			{"heads and legs", maxValue / 4, func(d *draft, v int64) (string, int64) {
				r := d.sizeUpTo(max(3, v-1))
				if r > v {
					return "", 0
				}
				return fmt.Sprintf(d.pick("the number of rabbits in a yard of hens and rabbits with $@$ heads and $%d$ legs altogether",
					"the number of four-wheeled cars in a garage that holds $@$ vehicles, all of them cars or motorcycles, with $%d$ wheels in total"), 2*v+2*r), r
			}},
			{"queue", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				p := d.sizeUpTo(max(3, n-1))
				return fmt.Sprintf(d.pick("the position, counted from the back, of the person who is number $%d$ from the front in a queue of $%[2]s$ people",
					"the place from the right of the book that stands in place $%d$ from the left on a shelf of $%[2]s$ books"), p, tex), n - p + 1
			}},
			{"survivor", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick("the number of the last person left when people numbered from $1$ to $%s$ stand in a circle and, starting with number $2$, every second one still standing leaves",
					"the label of the card that remains when cards labelled from $1$ to $%s$ lie in a ring and one removes card $2$, then every second card among those still there, round and round"), tex), 2*(n-1<<(bits.Len64(uint64(n))-1)) + 1
			}},
			{"day count", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p := d.size()
				k := d.few()
				return fmt.Sprintf(d.pick("the number of pages that a reader who has read $@$ pages has read after another $%d$ days at $%d$ pages a day",
					"the height in steps of a climber who starts on step $@$ of a tower and climbs for $%d$ minutes at $%d$ steps a minute"), k, p), v + k*p
			}},
			{"shared out", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				k := d.sizeUpTo(max(3, n/2))
				return fmt.Sprintf(d.pick("the number of coins left in the chest after $%d$ pirates have shared $%s$ coins equally, as far as possible, among themselves",
					"the number of nuts that stay in the bag when $%d$ squirrels divide $%s$ nuts evenly and each gets as many as possible"), k, tex), n % k
			}},
		},
		finals: []final{
			{"together", 99_999, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(99_999)
				return fmt.Sprintf(d.pick("the number of hours, in lowest terms, that two pumps need together to fill a pool which the first alone fills in $@$ hours and the second alone in $%d$ hours",
					"the number of days, in lowest terms, in which two painters together finish a fence that one of them would paint alone in $@$ days and the other in $%d$ days"), p), answer{gold: fraction(v*p, v+p)}
			}},
			{"hens and rabbits", maxValue / 4, func(d *draft, v int64) (string, answer) {
				r := d.sizeUpTo(max(3, v-1))
				if r > v {
					return "", answer{}
				}
				return fmt.Sprintf(d.pick("the ordered pair (number of hens, number of rabbits) for a yard of hens and rabbits with $@$ heads and $%d$ legs altogether",
					"the ordered pair (number of bicycles, number of cars) for a street with $@$ parked vehicles, all bicycles with two wheels or cars with four, and $%d$ wheels in total"), 2*v+2*r), answer{gold: tuple(v-r, r)}
			}},
			{"possible numbers", maxValue, func(d *draft, v int64) (string, answer) {
				a := d.between(3, 9)
				b := a + 1
				top := a * b * d.between(2, 4)
				var xs []int64
				for x := int64(1); x <= top; x++ {
					if x%a == v%a && x%b == 1 {
						xs = append(xs, x)
					}
				}
				return fmt.Sprintf(d.pick("the set of all possible numbers of sheep, from $1$ to $%d$, in a flock that leaves the same remainder as $@$ when counted off in groups of $%d$, and leaves exactly one sheep over in groups of $%d$",
					"the set of all integers from $1$ to $%d$ that someone may have in mind who says: divided by $%d$ my number leaves the same remainder as $@$, and divided by $%d$ it leaves remainder one"), top, a, b), answer{gold: set(xs...)}
			}},
			{"bricks", maxValue / 20, func(d *draft, v int64) (string, answer) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick("the weight in grams, in lowest terms, of one brick if $%[1]d$ equal bricks and a weight of $%[2]d$ grams balance $@ + %[2]d$ grams and $1$ brick of the same kind",
					"the mass in grams, in lowest terms, of an apple if $%[1]d$ equal apples and $%[2]d$ grams on one pan balance $@ + %[2]d$ grams and $1$ such apple on the other"), k, p), answer{gold: fraction(v, k-1)}
			}},
			{"total", maxValue / 20, func(d *draft, v int64) (string, answer) {
				k, p := d.few(), d.size()
				return fmt.Sprintf(d.pick("the number of stairs of a tower that has $%d$ floors of $@$ stairs each and a spire of $%d$ stairs",
					"the number of beads in $%d$ necklaces of $@$ beads each and one bracelet of $%d$ beads"), k, p), answer{gold: itoa(k*v + p)}
			}},
		},
	}
}
