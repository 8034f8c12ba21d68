// Topics with options of everyday life: logic, finance, units, dates and codes.

package problems

import (
	"fmt"
	"strings"
)

// seats are the people of the logic topic.
var seats = strings.Fields("Abel Beata Cyrus Delia Ezra Flora Gideon Hester Icarus Junia Kasper Lavinia")

func logic() *topic {
	return &topic{
		id: "logic",
		settings: []string{
			"Premises are given, and only what follows from them counts.",
			"A court clerk untangles statements and conditions.",
			"Each connective has its classical truth table.",
			"Members of the debating society weigh arguments.",
			"The conclusion must hold in every admissible case.",
			"Propositions are either true or false.",
		},
		links: []link{
			{"neither", maxValue / 4, func(d *draft, v int64) (string, int64) {
				a, b := d.size(), d.size()
				c := d.between(1, min(a, b))
				return fmt.Sprintf("the number of delegates if $%d$ speak Dutch, $%d$ speak Thai, $%d$ of these speak both, and $@$ speak neither", a, b, c), a + b - c + v
			}},
			{"only one", maxValue / 4, func(d *draft, v int64) (string, int64) {
				p, q := d.size(), d.size()
				return fmt.Sprintf("the number of jurors who hold exactly one of two opinions, if $%d$ hold the first, $%d$ hold the second and $@$ hold both", v+p, v+q), p + q
			}},
			{"implication", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				n := k * v
				m := d.between(2, k)
				return fmt.Sprintf("the number of integers $x$ from $1$ to $%d \\cdot @$ for which the statement \"if $x > @$ then $x > %d \\cdot @$\" is true", k, m), n - (m-1)*v
			}},
			{"exclusive or", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf("the number of integers $x$ with $1 \\le x \\le 2 \\cdot @ + %[1]d$ for which exactly one of the statements $x \\le @ + %[1]d$ and $x > @$ is true", p), 2 * v
			}},
			quotient("contrapositive", "the number of integers from $1$ to $@$ that refute the claim \"no positive integer up to $@$ is a multiple of $%d$\""),
			remainder("rotation", "the number of envoys without a table when $@$ envoys sit down at full tables of exactly $%d$ until no further table can be filled"),
			{"quantifier", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf("the smallest size of an assembly in which, whatever the votes for $@$ candidates, some candidate must get at least $%d$ votes, everybody voting once", k), (k-1)*v + 1
			}},
		},
		finals: []final{
			{"round table", maxValue, func(d *draft, v int64) (string, answer) {
				n := int64(maxOptions)
				start := d.between(0, n-1)
				return fmt.Sprintf("the person reached by counting $@$ seats clockwise, starting on the seat after %s's, round a table at which sit, clockwise: %s", seats[start], strings.Join(seats[:n], ", ")), word(seats[:n], (start+v)%n)
			}},
			{"false rows", maxValue / 20, func(d *draft, v int64) (string, answer) {
				k := d.few()
				return fmt.Sprintf("the number of integers from $1$ to $%d \\cdot @$ for which \"not greater than $@$, or equal to $%d \\cdot @$\" holds", k, k), d.number(v+1, v, (k-1)*v, k*v)
			}},
			{"at most one", maxValue / 4, func(d *draft, v int64) (string, answer) {
				p, q := d.size(), d.size()
				return fmt.Sprintf("the number of witnesses who saw at most one of two events, if $%d$ saw only the first, $%d$ saw only the second, and $@$ saw neither", p, q), d.number(p+q+v, p+q, v+p, v+q)
			}},
		},
	}
}

func finance() *topic {
	return &topic{
		id: "finance",
		settings: []string{
			"An auditor goes through contracts and invoices.",
			"Interest is credited at the end of each year.",
			"Bonds, loans and dividends fill the ledger.",
			"Taxes and fees are as stated, and there are no others.",
			"The treasurer plans next year's budget.",
			"A broker explains the portfolio to a client.",
		},
		links: []link{
			{"simple interest", maxValue / 100, func(d *draft, v int64) (string, int64) {
				r, t := d.between(2, 9), d.between(2, 9)
				return fmt.Sprintf("the simple interest (dollars) earned on $100 \\cdot @$ dollars at $%d\\%%$ a year over $%d$ years", r, t), r * t * v
			}},
			{"markup", maxValue / 200, func(d *draft, v int64) (string, int64) {
				r := d.between(5, 95)
				return fmt.Sprintf("the retail price (cents) of goods bought at $100 \\cdot @$ cents and marked up by $%d\\%%$", r), (100 + r) * v
			}},
			{"discount", maxValue / 200, func(d *draft, v int64) (string, int64) {
				r := d.between(5, 60)
				return fmt.Sprintf("the sum (cents) payable on an invoice of $100 \\cdot @$ cents less a discount of $%d\\%%$", r), (100 - r) * v
			}},
			quotient("shares", "the number of whole shares at $%d$ dollars each that a client with $@$ dollars can afford"),
			remainder("idle cash", "the cash (dollars) left idle after $@$ dollars went as far as possible into certificates of $%d$ dollars each"),
			{"profit", maxValue / 10_000_000, func(d *draft, v int64) (string, int64) {
				k, p := d.size(), d.size()
				return fmt.Sprintf("the profit (dollars) on $%d$ shares bought at $%d$ dollars and sold at $%d + @$ dollars each", k, p, p), k * v
			}},
			{"annuity", maxValue / 50, func(d *draft, v int64) (string, int64) {
				n, p := d.between(3, 24), d.size()
				return fmt.Sprintf("the total (dollars) paid under a lease with a deposit of $%d$ dollars and $%d$ monthly instalments of $@$ dollars", p, n), p + n*v
			}},
			{"salary", maxValue / 4, func(d *draft, v int64) (string, int64) {
				p, q := d.size(), d.few()
				return fmt.Sprintf("the balance (dollars) of an account opened with $@$ dollars after $%d$ monthly deposits of $%d$ dollars", q, p), v + p*q
			}},
		},
		finals: []final{
			{"compound", maxValue / 20_000, func(d *draft, v int64) (string, answer) {
				r := d.between(2, 30)
				return fmt.Sprintf("the final balance (cents) of a deposit of $10000 \\cdot @$ cents after two years at $%d\\%%$ compound interest a year", r), d.number((100+r)*(100+r)*v, (10000+200*r)*v, (100+r)*100*v)
			}},
			{"average price", maxValue / 100, func(d *draft, v int64) (string, answer) {
				p, a, b := d.size(), d.between(2, 9), d.between(2, 9)
				return fmt.Sprintf("the mean price a share (dollars), as an exact number, of $%d$ shares at $@$ dollars together with $%d$ shares at $%d$ dollars", a, b, p), d.share(a*v+b*p, a+b)
			}},
			{"heirs", maxValue, func(d *draft, v int64) (string, answer) {
				k := d.few()
				return fmt.Sprintf("the sum (dollars), as an exact number, that each of $%d$ heirs receives when a legacy of $@$ dollars is split evenly", k), d.share(v, k)
			}},
			{"net", maxValue / 200, func(d *draft, v int64) (string, answer) {
				r := d.between(5, 45)
				return fmt.Sprintf("the net income (dollars) from gross earnings of $100 \\cdot @$ dollars taxed at a flat $%d\\%%$", r), d.number((100-r)*v, (100+r)*v, r*v)
			}},
		},
	}
}

func units() *topic {
	return &topic{
		id: "units",
		settings: []string{
			"Instruments from several countries use different scales.",
			"A conversion chart hangs beside the workbench.",
			"The metrologist rewrites every figure in another measure.",
			"One foot has $12$ inches and one yard has $3$ feet.",
			"Prefixes such as kilo and milli have their metric meaning.",
			"Old and new measures are mixed in this inventory.",
		},
		links: []link{
			mixed("seconds", maxValue/120, 60, "the number of seconds in $@$ minutes and $%d$ seconds"),
			mixed("inches", maxValue/20, 12, "the length in inches of a plank of $@$ feet and $%d$ inches, at $12$ inches a foot"),
			mixed("grams", maxValue/2000, 1000, "the mass in grams of a parcel of $@$ kilograms and $%d$ grams"),
			{"whole hours", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf("the number of complete hours contained in $%s$ minutes", tex), n / 60
			}},
			{"odd inches", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf("the number of inches left over when $%s$ inches are expressed in yards of $36$ inches and inches, with as many yards as possible", tex), n % 36
			}},
			{"bits", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf("the number of bits in $%d$ files of $@$ bytes each, at $8$ bits a byte", k), 8 * k * v
			}},
			{"speed", maxValue / 4000, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf("the distance in metres that a train covers in $%d$ minutes at a steady speed of $@$ kilometres a minute", k), 1000 * k * v
			}},
			quotient("drums", "the number of full drums of $%d$ litres in a cargo of $@$ litres"),
		},
		finals: []final{
			{"metres a second", maxValue, func(d *draft, v int64) (string, answer) {
				return "the speed in metres a second, as an exact number, of a train that covers $@$ kilometres in every hour", d.share(v*5, 18)
			}},
			{"area", maxValue / 200, func(d *draft, v int64) (string, answer) {
				p := d.between(2, 99)
				return fmt.Sprintf("the number of square inches in $@$ square feet and $%d$ square inches, at $12$ inches a foot", p), d.number(144*v+p, 12*v+p, 144*v, 12*v+12*p)
			}},
			{"volume", maxValue / 2000, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf("the number of cubic centimetres in $@$ litres and $%d$ millilitres", p), d.number(1000*v+p, 100*v+p, v+1000*p, 10*v+p)
			}},
			{"minutes", maxValue / 2000, func(d *draft, v int64) (string, answer) {
				p, q := d.between(2, 23), d.between(2, 59)
				return fmt.Sprintf("the number of minutes in $@$ days, $%d$ hours and $%d$ minutes", p, q), d.number(1440*v+60*p+q, 1440*v+60*p, 24*v+p, 60*v+60*p+q)
			}},
		},
	}
}

var months = [...]struct {
	name string
	days int64
}{{"January", 31}, {"February", 28}, {"March", 31}, {"April", 30}, {"May", 31}, {"June", 30}, {"July", 31}, {"August", 31},
	{"September", 30}, {"October", 31}, {"November", 30}, {"December", 31}}

// dateOf writes a day of a year of 365 days; day 0 is 1 January.
func dateOf(day int64) string {
	day %= 365
	month := 0
	for ; day >= months[month].days; month++ {
		day -= months[month].days
	}
	return itoa(day+1) + " " + months[month].name
}

func dates() *topic {
	return &topic{
		id: "dates",
		settings: []string{
			"An archivist reconciles calendars and diaries.",
			"The schedule spans many weeks and years.",
			"Dates are written with the day before the month.",
			"The planner marks deadlines on a wall calendar.",
			"Anniversaries and fiscal weeks have to be worked out.",
			"The almanac lists Sundays and full moons.",
		},
		links: []link{
			mixed("weeks", maxValue/20, 7, "the number of days in $@$ weeks and $%d$ days"),
			{"full weeks", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf("the number of full weeks in a span of $%s$ days", tex), n / 7
			}},
			{"day of year", maxValue / 2, func(d *draft, v int64) (string, int64) {
				p := d.between(2, 300)
				return fmt.Sprintf("the running number, within a repeating calendar of years of exactly $365$ days numbered from $0$ to $364$, of the day $@$ days after day $%d$", p), (p + v) % 365
			}},
			{"leap years", maxValue / 4, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue/20)
				return fmt.Sprintf("the number of leap years in $4 \\cdot %s$ consecutive years, if every fourth year is a leap year without exception", paren(tex)), n
			}},
			mixed("hours", maxValue/50, 24, "the number of hours in $@$ days and $%d$ hours"),
			{"rota", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k, p := d.few(), d.size()+4
				return fmt.Sprintf("the shift on duty, counted from $0$, in a rota of $%d$ shifts after $%d \\cdot @$ changes, if shift $0$ is on duty at first", p, k), k * v % p
			}},
			mixed("months", maxValue/20, 12, "the age in months of a firm founded $@$ years and $%d$ months ago"),
			quotient("quarters", "the number of completed sprints of $%d$ days after $@$ days of a project"),
		},
		finals: []final{
			{"date", maxValue, func(d *draft, v int64) (string, answer) {
				start := d.between(0, 364)
				gold := (start + v) % 365
				ans := answer{gold: dateOf(gold)}
				for _, slip := range []int64{1, 364, 2, 363, 7, 358, 30, 335, 31, 334, 10, 355} {
					ans.wrong = append(ans.wrong, dateOf(gold+slip))
				}
				return fmt.Sprintf("the date $@$ days after %s, in a calendar in which every year has $365$ days and there is no 29 February", dateOf(start)), ans
			}},
			{"day total", maxValue / 800, func(d *draft, v int64) (string, answer) {
				p := d.between(2, 40)
				return fmt.Sprintf("the number of days in $@$ years of $365$ days and $%d$ weeks", p), d.number(365*v+7*p, 365*v+p, 366*v+7*p, 360*v+7*p)
			}},
			{"meeting", 900_000, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(900_000)
				g := gcd(v, p)
				return fmt.Sprintf("the number of days until two inspections that fall due today, one every $@$ days and the other every $%d$ days, coincide again for the first time", p), d.number(v/g*p, v*p, v+p, v/g*p*2, abs(v-p))
			}},
		},
	}
}

func codes() *topic {
	return &topic{
		id: "codes",
		settings: []string{
			"A cryptographer works with alphabets, bits and checksums.",
			"Letters are numbered from $0$ for A to $25$ for Z.",
			"The transmission uses parity bits and registers.",
			"Packets are labelled in binary and hexadecimal.",
			"An old cipher machine has been found in the cellar.",
			"Programmers decode a message from a punched tape.",
		},
		links: []link{
			{"register", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k, p, m := d.few(), d.size(), d.size()+10
				return fmt.Sprintf("the content of a register after $%d \\cdot @ + %d$ increments from zero, if it falls back to zero whenever it would reach $%d$", k, p, m), (k*v + p) % m
			}},
			{"ones", maxValue, func(d *draft, v int64) (string, int64) {
				return "the number of ones in the binary representation of $@$", digitSum(v, 2)
			}},
			{"shift left", maxValue / 300, func(d *draft, v int64) (string, int64) {
				k := d.between(2, 8)
				return fmt.Sprintf("the integer obtained by shifting the binary word for $@$ to the left by $%d$ places and filling up with zeros", k), v << k
			}},
			{"shift right", maxValue, func(d *draft, v int64) (string, int64) {
				k := d.between(1, 5)
				return fmt.Sprintf("the integer obtained by dropping the last $%d$ binary digits of $@$", k), v >> k
			}},
			{"exclusive or", maxValue / 2, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf("the bitwise exclusive or of $@$ and $%d$, as a decimal number", p), v ^ p
			}},
			{"reverse", maxValue, func(d *draft, v int64) (string, int64) {
				out := int64(0)
				for n := v; n > 0; n /= 10 {
					out = 10*out + n%10
				}
				return "the number read off when the decimal digits of $@$ are written in reverse order (leading zeros dropped)", out
			}},
			{"checksum", maxValue, func(d *draft, v int64) (string, int64) {
				k := d.few()
				sum, w := int64(0), int64(1)
				for n := v; n > 0; n /= 10 {
					sum, w = sum+w*(n%10), w*k
					if sum > maxValue {
						return "", 0
					}
				}
				return fmt.Sprintf("the checksum of $@$ in which the last decimal digit has weight $1$ and each digit further left has $%d$ times the weight of its right neighbour", k), sum
			}},
			{"bit length", maxValue, func(d *draft, v int64) (string, int64) {
				p := d.size()
				n := int64(0)
				for x := v; x > 0; x >>= 1 {
					n++
				}
				return fmt.Sprintf("$%d$ plus the number of binary digits of $@$", p), p + n
			}},
			{"affine", maxValue / 10_000_000, func(d *draft, v int64) (string, int64) {
				k, p := d.size(), d.few()
				return fmt.Sprintf("the key produced from $@$ by the rule \"multiply by $%d$, then add $%d$\"", k, p), k*v + p
			}},
		},
		finals: []final{
			{"caesar", maxValue, func(d *draft, v int64) (string, answer) {
				plain := d.pick("LOCK", "WOLF", "BIRD", "MINT", "QUAY", "JUMP", "VEIL", "FROG", "HYMN", "KITE")
				shift := v % 26
				ans := answer{gold: caesar(plain, shift)}
				ans.add(caesar(plain, 26-shift))
				for _, slip := range []int64{1, 25, 2, 24, 3, 23, 13, 5, 21, 7} {
					ans.add(caesar(plain, shift+slip))
				}
				return fmt.Sprintf("the ciphertext of %s when every letter is moved forward by $@$ places in the cyclic alphabet from A to Z", plain), ans
			}},
			{"hexadecimal", maxValue, func(d *draft, v int64) (string, answer) {
				n, tex := d.grow(v, maxValue)
				if n < 0x200 { // a single digit could be taken for the letter of an option
					return "", answer{}
				}
				ans := answer{gold: fmt.Sprintf("%X", n)}
				for _, slip := range []int64{1, -1, 16, -16, 15, -15, 10, 6, 160, 256, 17} {
					ans.add(fmt.Sprintf("%X", n+slip))
				}
				return fmt.Sprintf("the hexadecimal form of $%s$, without prefix", tex), ans
			}},
			{"parity", maxValue, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf("the value of $@ + %d$ with its lowest four binary digits set to zero", p), d.number((v+p)/16*16, v+p, (v+p)/8*8+8, (v+p)/16*16+16, (v+p)/32*32)
			}},
		},
	}
}

// caesar moves every letter of an upper-case word forward by shift places.
func caesar(plain string, shift int64) string {
	out := []byte(plain)
	for i, c := range out {
		out[i] = 'A' + byte((int64(c-'A')+shift)%26)
	}
	return string(out)
}
