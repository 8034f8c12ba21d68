// A problem in the making: links that lead from value to value, and a final that asks.

package problems

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// maxValue bounds every running value of a chain, so that golds stay below thirteen digits.
const maxValue = 999_999_999_999

// topic is one subject: what can be asked in it.
type topic struct {
	id       string
	settings []string // sentences of scenery; another topic may borrow them
	links    []link
	finals   []final
}

// link is one step of a chain: it turns the running whole number v (2 <= v <= upTo) into the next.
//
// write returns a noun phrase in which "@", always in math mode and never beside a digit, stands for v, and the exact
// value of the phrase. It returns an empty phrase if v does not suit. All phrasings of a link show their numbers in
// the same order, so that a test can read them back and compute the value again.
type link struct {
	name  string
	upTo  int64
	write func(d *draft, v int64) (phrase string, out int64)
}

// quotient is a link to how often a number goes into the running value, remainder to what it leaves. The phrase has %d for the number.
func quotient(name, phrase string) link {
	return link{name, maxValue, func(d *draft, v int64) (string, int64) {
		k := d.sizeUpTo(max(3, v/2))
		return fmt.Sprintf(phrase, k), v / k
	}}
}

func remainder(name, phrase string) link {
	return link{name, maxValue, func(d *draft, v int64) (string, int64) {
		k := d.sizeUpTo(max(3, v-1))
		return fmt.Sprintf(phrase, k), v % k
	}}
}

// mixed is a link to a measure in small units, so many of which are one of the large units that the running value counts: those of
// both. The phrase has %d for the small ones.
func mixed(name string, upTo, units int64, phrase string) link {
	return link{name, upTo, func(d *draft, v int64) (string, int64) {
		p := d.between(2, units-1)
		return fmt.Sprintf(phrase, p), units*v + p
	}}
}

// final is the last step of a chain: a question about the running value.
type final struct {
	name  string
	upTo  int64
	write func(d *draft, v int64) (phrase string, ans answer)
}

// answer is the gold of a final and, for Choice topics, values it can be mistaken for.
type answer struct {
	gold  string
	wrong []string // distinct from gold and from each other; at least maxOptions-1 on Choice topics
}

// step is a link or final as it was used.
type step struct {
	name    string
	phrase  string // with "@" for the incoming value
	in, out int64  // out is 0 for the final
}

// draft is a problem in the making.
type draft struct {
	r       *rand.Rand
	level   int  // size level, 1 to maxLevel
	literal bool // the incoming value is printed as a number, not as a name
}

// chain composes steps-1 links and a final. The first step starts from a number of the draft's size level; a step is
// drawn among those that suit the running value, never the same link twice in a row.
func (d *draft) chain(t *topic, steps int) (chain []step, ans answer, ok bool) {
	chain = make([]step, 0, steps)
	v, last := d.size(), -1
	d.literal = true
	for len(chain) < steps-1 {
		next, found := d.link(t, v, last)
		if next.phrase == "" {
			return nil, answer{}, false
		}
		chain = append(chain, next)
		v, last, d.literal = next.out, found, false
	}
	for _, i := range d.r.Perm(len(t.finals)) {
		f := &t.finals[i]
		if v > f.upTo {
			continue
		}
		phrase, ans := f.write(d, v)
		if phrase == "" {
			continue
		}
		return append(chain, step{name: f.name, phrase: phrase, in: v}), ans, true
	}
	return nil, answer{}, false
}

// link draws a link for v other than the last one; the phrase is empty if none was found in a few rounds.
func (d *draft) link(t *topic, v int64, last int) (s step, at int) {
	for range 4 {
		for _, i := range d.r.Perm(len(t.links)) {
			l := &t.links[i]
			if i == last || v > l.upTo {
				continue
			}
			phrase, out := l.write(d, v)
			if phrase != "" && out >= 2 && out <= maxValue {
				return step{name: l.name, phrase: phrase, in: v, out: out}, i
			}
		}
	}
	return step{}, 0
}

// size returns a number of the draft's size level: from one digit at level 1 to seven at level 8.
func (d *draft) size() int64 { return d.sizeUpTo(maxValue) }

// sizeUpTo returns a number of the draft's size level, or the largest size that hi allows. hi must be at least 3.
func (d *draft) sizeUpTo(hi int64) int64 {
	from := [...]int64{1: 3, 10, 40, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000}
	lo, top := from[d.level], from[d.level+1]-1
	if top > hi {
		lo, top = min(lo, max(3, hi/2)), hi
	}
	return d.between(lo, top)
}

// few returns a small number that grows slowly with the size level: multipliers, counts, exponents.
func (d *draft) few() int64 { return d.between(2, int64(3+d.level)) }

// between returns a uniform number in [lo, hi].
func (d *draft) between(lo, hi int64) int64 { return lo + d.r.Int64N(hi-lo+1) }

func (d *draft) pick(choices ...string) string { return choices[d.r.IntN(len(choices))] }

// grow returns v and its name, enlarged by a visible number of the size level unless v is itself printed or the sum
// would exceed hi.
func (d *draft) grow(v, hi int64) (n int64, tex string) {
	if d.literal || v+3 > hi {
		return v, "@"
	}
	p := d.sizeUpTo(hi - v)
	return v + p, "@ + " + itoa(p)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// paren puts a sum in parentheses so that it can be a factor or a base.
func paren(tex string) string {
	if strings.Contains(tex, " ") {
		return "(" + tex + ")"
	}
	return tex
}
