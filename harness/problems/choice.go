// Problems with options: the gold among plausible wrong values.

package problems

import (
	"slices"
	"strings"
)

// maxOptions is the largest number of options of a Choice problem.
const maxOptions = 10

// options puts the gold among n-1 of the wrong values, at a uniform place, and returns the letter of that place.
func (d *draft) options(ans answer, n int) (options []string, letter string, ok bool) {
	if len(ans.wrong) < n-1 {
		return nil, "", false
	}
	options = slices.Clone(ans.wrong)
	d.r.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
	at := d.r.IntN(n)
	return slices.Insert(options[:n-1], at, ans.gold), letterOf(at), true
}

func letterOf(i int) string { return string(rune('A' + i)) }

// writeOptions appends one line an option.
func writeOptions(b *strings.Builder, options []string) {
	for i, o := range options {
		if strings.Contains(o, `\`) && !strings.Contains(o, "$") {
			o = "$" + o + "$"
		}
		b.WriteString("\n" + letterOf(i) + ") " + o)
	}
}

// number offers a whole number and slips: the given values, which are those of a left out or reversed step, then
// neighbours, doubles and swapped digits.
func (d *draft) number(gold int64, slips ...int64) answer {
	k := d.between(2, 9)
	slips = append(slips, gold+1, gold-1, gold+k, gold-k, 2*gold, gold/2, gold+10, gold-10, 10*gold, gold+11*k, swapDigits(gold), gold+100, gold+3*k, gold+4, gold+40, gold+13)
	ans := answer{gold: itoa(gold)}
	for _, s := range slips {
		if s >= 0 {
			ans.add(itoa(s))
		}
	}
	return ans
}

// add adds a wrong value unless it is there already or right.
func (a *answer) add(value string) {
	if value != a.gold && !slices.Contains(a.wrong, value) {
		a.wrong = append(a.wrong, value)
	}
}

// swapDigits exchanges the last two digits.
func swapDigits(n int64) int64 { return n/100*100 + n%10*10 + n/10%10 }

// share offers a probability or quotient and slips: the complement and neighbours of either part.
func (d *draft) share(num, den int64) answer {
	ans := answer{gold: fraction(num, den)}
	add := func(n, m int64) {
		if m > 0 && n >= 0 && (n <= m || num >= den) { // a slip in a probability gives a probability
			ans.add(fraction(n, m))
		}
	}
	add(den-num, den)
	add(den, num)
	for k := int64(1); k <= 4; k++ {
		add(num+k, den)
		add(num-k, den)
		add(num, den+k)
		add(num, den-k)
		add(num+k, den+k)
	}
	add(2*num, den)
	add(num, 2*den)
	return ans
}

// word offers a name and the others of its kind.
func word(kind []string, at int64) answer {
	ans := answer{gold: kind[at]}
	for i, w := range kind {
		if int64(i) != at {
			ans.wrong = append(ans.wrong, w)
		}
	}
	return ans
}
