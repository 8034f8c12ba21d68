// The wording of simulated responses.

package sim

// The text of simulated responses.

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Simulated experts write real text, so that extraction, grading and storage do the work that they would do on a live
// model: some reasoning around the problem's numbers, then the answer in one of the ways in which models give it.
// The shares below are modelling choices; no accuracy depends on them.
const (
	thinkShare    = 0.30 // responses with their thinking in <think>...</think>, as from a server without a reasoning parser
	noAnswerShare = 0.04 // of wrong responses: they end without an answer
	respellShare  = 0.50 // of answers: written in another spelling of the same value
	textLimit     = 950  // bytes, for answers of up to 300 bytes
)

var openers = [...]string{
	"We work through the conditions one at a time.",
	"Let us set up the problem and keep track of each quantity.",
	"First restate what is given, then follow the steps in order.",
	"The key is to translate the statement into a computation.",
	"We name the unknown and reduce the question step by step.",
}

// steps hold two numbers of the problem each, and some what comes out of them.
var steps = [...]string{
	"Adding # and # gives =.",
	"The product of # and # is *.",
	"Starting from #, the next condition involves #.",
	"Combine # with # as the statement says.",
	"Substituting # into the relation leaves a term with #.",
	"Here # plays the role of the first quantity and # that of the second.",
	"Check the case # separately; the case # is similar.",
	"Reducing with # removes the dependence on #.",
	"So the running value is updated from # using #.",
}

var wordSteps = [...]string{
	"This simplifies once the common factor is removed.",
	"The remaining terms cancel in pairs.",
	"By symmetry only one of the cases needs to be examined.",
	"The constraint rules out the other branch.",
	"Substituting back gives a consistent result.",
	"The same argument applies to the next step.",
	"A quick estimate confirms the order of magnitude.",
}

var summaries = [...]string{
	"Putting the steps together:",
	"The conditions fix the value.",
	"Following the steps above settles the question.",
}

var givingUp = [...]string{
	"The remaining case could not be settled, so no definite value can be given.",
	"The two approaches disagree and the discrepancy was not found. No conclusion.",
	"This leads back to the original equation, so the computation stays unfinished.",
}

// Distractor returns a plausible wrong answer to a problem with the given gold answer and, if it is multiple choice,
// options. It must be safe for concurrent use and draw from r alone. An empty result means that there is none.
type Distractor func(gold string, options []string, r *rand.Rand) string

// solve writes a response that ends by itself. A right one gives a gold answer, a wrong one a distractor or nothing.
func solve(p routing.Problem, correct bool, wrong Distractor, r *rand.Rand) string {
	answer := p.Gold[0]
	if !correct {
		answer = ""
		if r.Float64() >= noAnswerShare {
			answer = wrong(p.Gold[0], p.Options, r)
		}
	}
	var final string
	if answer == "" || !correct && answer == p.Gold[0] {
		final = givingUp[r.IntN(len(givingUp))]
	} else if len(p.Options) > 0 {
		final = stateChoice(answer, p.Options, r)
	} else {
		final = state(answer, r)
	}

	var b strings.Builder
	b.Grow(textLimit)
	think := r.Float64() < thinkShare
	if think {
		b.WriteString("<think>\n")
	}
	budget := textLimit - len(final) - 120
	// Numbers stay out of a response without an answer: a grader that falls back on the last number would take one.
	reason(&b, p, answer != "", budget*(2+r.IntN(9))/10, r)
	if think {
		b.WriteString("\n</think>\n\n")
		b.WriteString(summaries[r.IntN(len(summaries))])
	}
	b.WriteString("\n\n")
	b.WriteString(final)
	return b.String()
}

// interrupt writes a response that the token limit cut: reasoning that stops in the middle of a sentence.
func interrupt(p routing.Problem, r *rand.Rand) string {
	var b strings.Builder
	b.Grow(textLimit)
	if r.Float64() < thinkShare {
		b.WriteString("<think>\n")
	}
	start := b.Len()
	reason(&b, p, true, textLimit-150, r)
	text := b.String()
	cut := len(text) - 5 - r.IntN(60)
	return strings.TrimRight(text[:max(cut, start+20)], " .\n")
}

// reason writes about size bytes, with the numbers of the problem or in words alone. It never writes the gold
// answer, so that no grader can find one that was not given.
func reason(b *strings.Builder, p routing.Problem, numbers bool, size int, r *rand.Rand) {
	var found [8]string
	n := 0
	if numbers {
		n = integers(p, found[:])
	}
	end := b.Len() + size
	b.WriteString(openers[r.IntN(len(openers))])
	for b.Len() < end {
		if r.IntN(12) == 0 {
			b.WriteString("\n\n")
		} else {
			b.WriteByte(' ')
		}
		if n < 2 || r.IntN(3) == 0 || !compute(b, p, found[:n], r) {
			b.WriteString(wordSteps[r.IntN(len(wordSteps))])
		}
	}
}

// compute writes a step with two of the numbers, unless its result would be the gold answer.
func compute(b *strings.Builder, p routing.Problem, numbers []string, r *rand.Rand) bool {
	first := r.IntN(len(numbers))
	second := (first + 1 + r.IntN(len(numbers)-1)) % len(numbers)
	step := steps[r.IntN(len(steps))]
	x, _ := strconv.ParseInt(numbers[first], 10, 64)
	y, _ := strconv.ParseInt(numbers[second], 10, 64)
	sum, product := strconv.FormatInt(x+y, 10), strconv.FormatInt(x*y, 10)
	if gold := strings.TrimPrefix(p.Gold[0], "-"); sum == gold || product == gold {
		return false
	}
	next := [...]string{numbers[first], numbers[second]}
	at := 0
	for i := range len(step) {
		switch step[i] {
		case '#':
			b.WriteString(next[at])
			at++
		case '=':
			b.WriteString(sum)
		case '*':
			b.WriteString(product)
		default:
			b.WriteByte(step[i])
		}
	}
	return true
}

// integers collects the first different numbers of a problem's text, its answer aside, and returns how many there are.
func integers(p routing.Problem, into []string) int {
	n := 0
	for i := 0; i < len(p.Text) && n < len(into); {
		if p.Text[i] < '0' || p.Text[i] > '9' {
			i++
			continue
		}
		j := i
		for j < len(p.Text) && p.Text[j] >= '0' && p.Text[j] <= '9' {
			j++
		}
		number := p.Text[i:j]
		if j-i <= 9 && number != strings.TrimPrefix(p.Gold[0], "-") && !slices.Contains(into[:n], number) {
			into[n] = number
			n++
		}
		i = j
	}
	return n
}

// The ways to give an answer, or the letter of an option. @ stands for it.
var (
	statements = [...]string{
		`The final answer is $\boxed{@}$.`, `\[\boxed{@}\]`, "**Final Answer**\n\n\\boxed{@}", `The final answer is $@$. I hope it is correct.`,
		`Therefore, the answer is $@$.`, `**Answer:** $@$`, `Hence the result is \boxed{@}, which agrees with the estimate above.`,
		`Thus we obtain \( \boxed{ @ } \).`, `So the answer is \boxed{@}.`,
	}
	choices = [...]string{
		`The final answer is $\boxed{\text{@}}$.`, `The correct answer is (@).`, `**Answer: @**`, `\boxed{\textbf{(@)}}`, `The answer is (@)`,
		`Therefore the answer is @.`, `So the answer is \boxed{@}.`,
	}
)

// state gives an answer as models do: boxed, declared, or bold, with or without something after it.
func state(answer string, r *rand.Rand) string {
	if r.Float64() < respellShare {
		answer = respell(answer, r)
	}
	return said(statements[:], r.IntN(10), answer)
}

// stateChoice gives the letter of an option, or now and then the option with its letter.
func stateChoice(letter string, options []string, r *rand.Rand) string {
	way := r.IntN(8)
	text := said(choices[:], way, letter)
	if i := int(letter[0]) - 'A'; way == 4 && len(letter) == 1 && i >= 0 && i < len(options) {
		text += " " + options[i]
	}
	return text
}

// said gives an answer in one of some ways, by its number, which is that of the last one from there on.
func said(ways []string, way int, answer string) string {
	return strings.Replace(ways[min(way, len(ways)-1)], "@", answer, 1)
}

// respell writes an answer differently without changing its value. What it does not recognise it leaves alone.
func respell(answer string, r *rand.Rand) string {
	if n, err := strconv.ParseInt(answer, 10, 64); err == nil {
		return respellInteger(answer, n, r)
	}
	sign, rest := "", answer
	if strings.HasPrefix(rest, "-") {
		sign, rest = "-", rest[1:]
	}
	if num, den, ok := parseFraction(rest); ok {
		return respellFraction(sign, num, den, r)
	}
	if outer, inner, ok := parseRadical(rest); ok {
		return respellRadical(sign, outer, inner, r)
	}
	if body, ok := between(answer, `\{`, `\}`); ok {
		return respellSet(body, r)
	}
	switch r.IntN(3) {
	case 0:
		return strings.ReplaceAll(answer, `\frac{`, `\dfrac{`)
	case 1:
		return strings.ReplaceAll(answer, ", ", `,\,`)
	default:
		return `\displaystyle ` + answer
	}
}

func respellInteger(answer string, n int64, r *rand.Rand) string {
	switch {
	case n >= 10_000 && r.IntN(2) == 0:
		var b strings.Builder
		comma := [...]string{",", "{,}", `\,`}[r.IntN(3)]
		for i, c := range answer {
			if i > 0 && (len(answer)-i)%3 == 0 {
				b.WriteString(comma)
			}
			b.WriteRune(c)
		}
		return b.String()
	case r.IntN(3) == 0:
		return answer + ".0"
	default:
		return " " + answer + " "
	}
}

func respellFraction(sign string, num, den int64, r *rand.Rand) string {
	a, b := strconv.FormatInt(num, 10), strconv.FormatInt(den, 10)
	if d, ok := terminating(num, den); ok && r.IntN(3) == 0 {
		return sign + d
	}
	switch r.IntN(5) {
	case 0:
		return sign + a + "/" + b
	case 1:
		if len(a) == 1 && len(b) == 1 {
			return sign + `\frac` + a + b
		}
		return sign + `\tfrac{` + a + "}{" + b + "}"
	case 2:
		k := int64(2 + r.IntN(3)) // not in lowest terms
		if num > 1<<50 || den > 1<<50 {
			k = 1
		}
		return sign + `\frac{` + strconv.FormatInt(k*num, 10) + "}{" + strconv.FormatInt(k*den, 10) + "}"
	case 3:
		return `\frac{` + sign + a + "}{" + b + "}"
	default:
		return sign + `\dfrac{` + a + "}{" + b + "}"
	}
}

// terminating writes num/den, both positive, as a decimal if that ends within six digits.
func terminating(num, den int64) (string, bool) {
	const million = 1_000_000
	if den == 0 || million%den != 0 || num > 1<<40 {
		return "", false
	}
	whole, frac := num/den, num%den*(million/den)
	digits := strconv.FormatInt(million+frac, 10)[1:]
	return strconv.FormatInt(whole, 10) + "." + strings.TrimRight(digits, "0"), frac != 0
}

func respellRadical(sign string, outer, inner int64, r *rand.Rand) string {
	a, b := strconv.FormatInt(outer, 10), strconv.FormatInt(inner, 10)
	if outer == 1 {
		if len(b) == 1 {
			return sign + `\sqrt` + b
		}
		return sign + `\sqrt{` + b + "}"
	}
	switch {
	case outer < 1000 && inner < 1_000_000 && r.IntN(3) == 0:
		return sign + `\sqrt{` + strconv.FormatInt(outer*outer*inner, 10) + "}"
	case r.IntN(2) == 0:
		return sign + a + ` \cdot \sqrt{` + b + "}"
	default:
		return sign + a + `\,\sqrt{` + b + "}"
	}
}

// respellSet changes the order of the members.
func respellSet(body string, r *rand.Rand) string {
	members := strings.Split(body, ", ")
	for _, m := range members {
		if strings.ContainsAny(m, `()[]{}`) { // a comma inside a member would be taken for a separator
			return `\{ ` + body + ` \}`
		}
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return `\{` + strings.Join(members, ", ") + `\}`
}

// parseFraction reads \frac{a}{b}, \dfrac{a}{b} or a/b with positive integers.
func parseFraction(s string) (num, den int64, ok bool) {
	a, b, ok := strings.Cut(s, "/")
	if !ok {
		body, isFrac := between(s, `\frac{`, `}`)
		if !isFrac {
			body, isFrac = between(s, `\dfrac{`, `}`)
		}
		if a, b, ok = strings.Cut(body, "}{"); !isFrac || !ok {
			return 0, 0, false
		}
	}
	num, ok1 := positive(a)
	den, ok2 := positive(b)
	return num, den, ok1 && ok2
}

// parseRadical reads k\sqrt{n} with positive integers; k may be left out.
func parseRadical(s string) (outer, inner int64, ok bool) {
	k, rest, found := strings.Cut(s, `\sqrt{`)
	if !found || !strings.HasSuffix(rest, "}") {
		return 0, 0, false
	}
	outer = 1
	if k != "" {
		if outer, ok = positive(k); !ok {
			return 0, 0, false
		}
	}
	inner, ok = positive(rest[:len(rest)-1])
	return outer, inner, ok
}

func positive(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return int64(n), err == nil && n > 0
}

// between returns what stands between a prefix and a suffix.
func between(s, prefix, suffix string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, prefix); ok {
		return strings.CutSuffix(rest, suffix)
	}
	return "", false
}
