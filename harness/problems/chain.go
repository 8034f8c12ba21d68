package problems

import (
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

// symbols returns n names for running values, none of which occurs in a phrase (phrases use x, y, z, n and f).
func (d *draft) symbols(n int, families ...string) []string {
	const letters = "abcgpqrsuvwh"
	out := make([]string, n)
	if at := d.r.IntN(5); n <= 4 && at < 3 && len(families) == 0 {
		for i := range out {
			out[i] = letters[4*at+i : 4*at+i+1]
		}
		return out
	}
	if len(families) == 0 {
		families = []string{"a", "b", "c", "q", "r", "s", "u", "v", "w", "N", "S", "T"}
	}
	base := d.pick(families...)
	for i := range out {
		if out[i] = base + "_" + strconv.Itoa(i+1); i >= 9 {
			out[i] = base + "_{" + strconv.Itoa(i+1) + "}"
		}
	}
	return out
}

// phrases fills the names of the running values in: phrase i refers to the value of step i-1.
func phrases(chain []step, names []string) []string {
	out := make([]string, len(chain))
	for i, s := range chain {
		in := itoa(s.in)
		if i > 0 {
			in = names[i-1]
		}
		out[i] = strings.ReplaceAll(s.phrase, "@", in)
	}
	return out
}

// layMath arranges story, scenery and chain to the text of a Math problem.
func (d *draft) layMath(story, setting string, chain []step) string {
	names := d.symbols(len(chain) - 1)
	ps := phrases(chain, names)
	var b strings.Builder
	b.Grow(120 * len(chain))
	d.opening(&b, story, setting)
	last := len(ps) - 1
	if last > 0 {
		form := d.r.IntN(4)
		if last == 1 {
			form = 2 + form%2 // nothing to list
		}
		switch form {
		case 0: // one long sentence
			b.WriteString(d.pick("Define whole numbers as follows: ", "Consider these quantities: ", "We use the following numbers: "))
			for i, p := range ps[:last] {
				if i > 0 {
					b.WriteString("; ")
				}
				b.WriteString("$" + names[i] + "$ is " + p)
			}
			b.WriteString(". ")
		case 1: // numbered lines
			b.WriteString(d.pick("Proceed in order.\n", "Carry out these steps.\n", "Follow the list.\n"))
			for i, p := range ps[:last] {
				b.WriteString("(" + strconv.Itoa(i+1) + ") Let $" + names[i] + "$ be " + p + ".\n")
			}
		case 2: // compute and name
			for i, p := range ps[:last] {
				if i == 0 {
					b.WriteString(d.pick("First compute ", "Begin with ", "To start, take "))
				} else {
					b.WriteString(d.pick("Then compute ", "Next, take ", "From this, work out ", "After that, find "))
				}
				b.WriteString(p + d.pick(", and call it $", "; name this number $", ", and denote it by $") + names[i] + "$. ")
			}
		default: // definitions
			for i, p := range ps[:last] {
				switch {
				case i == 0 && d.r.IntN(3) == 0:
					b.WriteString("Suppose that $" + names[i] + "$ is ")
				case i == 0:
					b.WriteString("Let $" + names[i] + d.pick("$ be ", "$ denote "))
				default:
					b.WriteString(d.pick("Let $", "Now let $", "Next, let $", "Further, let $", "Then let $") + names[i] + d.pick("$ be ", "$ denote "))
				}
				b.WriteString(p + ". ")
			}
		}
	}
	if d.r.IntN(5) == 0 {
		b.WriteString("What is " + ps[last] + "?")
	} else {
		b.WriteString(d.pick("Find ", "Compute ", "Determine ", "Calculate ", "Give ") + ps[last] + ".")
	}
	return b.String()
}

// opening writes story and scenery in either order, or the scenery alone first.
func (d *draft) opening(b *strings.Builder, story, setting string) {
	if d.r.IntN(2) == 0 {
		story, setting = setting, story
	}
	b.WriteString(story + " " + setting + d.pick(" ", " ", "\n\n"))
}

// layChoice arranges story, scenery, chain and options to the text of a Choice problem.
func (d *draft) layChoice(story, setting string, chain []step, options []string) string {
	names := d.symbols(len(chain)-1, "Q", "R", "V", `\alpha`, `\rho`, `\omega`, "K")
	ps := phrases(chain, names)
	var b strings.Builder
	b.Grow(140 * len(chain))
	d.opening(&b, story, setting)
	last := len(ps) - 1
	form := d.r.IntN(3)
	if last > 0 {
		b.WriteString([]string{
			"Each stage passes a plain number on to the following stage. ",
			"Every reading below is used as a plain number afterwards.\n",
			"Carry each outcome forward as a bare number. "}[form])
	}
	for i, p := range ps[:last] {
		n := strconv.Itoa(i + 1)
		switch form {
		case 0:
			b.WriteString("Stage " + n + " yields $" + names[i] + "$, " + p + ". ")
		case 1:
			b.WriteString("Reading " + n + ": $" + names[i] + "$ equals " + p + ".\n")
		default:
			b.WriteString(d.pick("Record as $", "Note down as $", "Store as $") + names[i] + "$ " + p + ". ")
		}
	}
	if d.r.IntN(2) == 0 {
		b.WriteString(d.pick("Which option states ", "Which of these is ") + ps[last] + "?\n")
	} else {
		b.WriteString(d.pick("Pick the option that shows ", "Select the letter next to ") + ps[last] + ".\n")
	}
	writeOptions(&b, options)
	return b.String()
}
