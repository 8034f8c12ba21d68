// How the chain of a problem is laid out as a text.

package problems

import (
	"strconv"
	"strings"
)

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
	last := len(ps) - 1
	var b strings.Builder
	b.Grow(120 * len(chain))
	d.opening(&b, story, setting)
	switch form := d.r.IntN(4); {
	case last == 0:
	case form == 0 && last > 1:
		d.laySentence(&b, ps[:last], names)
	case form == 1 && last > 1:
		d.layList(&b, ps[:last], names)
	case form%2 == 0:
		d.layCommands(&b, ps[:last], names)
	default:
		d.layDefinitions(&b, ps[:last], names)
	}
	if d.r.IntN(5) == 0 {
		b.WriteString("What is " + ps[last] + "?")
	} else {
		b.WriteString(d.pick("Find ", "Compute ", "Determine ", "Calculate ", "Give ") + ps[last] + ".")
	}
	return b.String()
}

// laySentence defines the running values in one long sentence.
func (d *draft) laySentence(b *strings.Builder, ps, names []string) {
	b.WriteString(d.pick("Define whole numbers as follows: ", "Consider these quantities: ", "We use the following numbers: "))
	for i, p := range ps {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString("$" + names[i] + "$ is " + p)
	}
	b.WriteString(". ")
}

// layList defines the running values in numbered lines.
func (d *draft) layList(b *strings.Builder, ps, names []string) {
	b.WriteString(d.pick("Proceed in order.\n", "Carry out these steps.\n", "Follow the list.\n"))
	for i, p := range ps {
		b.WriteString("(" + strconv.Itoa(i+1) + ") Let $" + names[i] + "$ be " + p + ".\n")
	}
}

// layCommands tells the reader to compute and name the running values.
func (d *draft) layCommands(b *strings.Builder, ps, names []string) {
	for i, p := range ps {
		if i == 0 {
			b.WriteString(d.pick("First compute ", "Begin with ", "To start, take "))
		} else {
			b.WriteString(d.pick("Then compute ", "Next, take ", "From this, work out ", "After that, find "))
		}
		b.WriteString(p + d.pick(", and call it $", "; name this number $", ", and denote it by $") + names[i] + "$. ")
	}
}

// layDefinitions defines every running value in a sentence of its own.
func (d *draft) layDefinitions(b *strings.Builder, ps, names []string) {
	for i, p := range ps {
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

// opening writes story and scenery in either order.
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
