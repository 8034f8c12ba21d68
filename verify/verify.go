// Grades responses: keys, verdicts and options.

package verify

import (
	"errors"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/decide"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Version is part of the key under which verdicts are stored: it changes whenever any verdict may change.
const Version = "21"

// Reason codes: why a verdict is what it is, for counting.
const (
	ReasonEqual        = "equal"                   // equal
	ReasonDifferent    = "different"               // different: two answers that are not the same
	ReasonNoAnswer     = "no-answer"               // different: nothing in the response could be an answer, or the box is empty
	ReasonUnfinished   = "unfinished"              // different: a thinking response that never came to its answer
	ReasonRefused      = decide.ReasonRefused      // different: the response says that there is no answer, or that it is unknown
	ReasonRestated     = decide.ReasonRestated     // different: the unevaluated expression of the question
	ReasonContradicted = decide.ReasonContradicted // different: a chain such as 1=2=42
	ReasonUnread       = "unread"                  // unknown: an answer that the grammar does not cover
	ReasonUndecided    = "undecided"               // unknown: read, but neither equal nor different could be shown
	ReasonLimit        = "limit"                   // unknown: beyond the documented sizes and steps
	ReasonGold         = "unreadable-gold"         // unknown: a ground truth that the grammar does not cover
	ReasonEmptyGold    = "no-gold"                 // unknown: no ground truth was given
)

// Key is what a response is graded against.
type Key struct {
	Gold      []string    // acceptable ground truths, any of which will do
	Options   []string    // multiple choice: the options in order, A first; nil otherwise
	Tolerance []Tolerance // nil: exact; one: for every answer; several: one an answer, in the gold's order
	Question  string      // the problem's text, if known: decides about percent signs and restatements
	Policy    Policy      // the zero value is the default policy
}

// Verdict says what was decided and why.
type Verdict struct {
	Outcome   Outcome `json:"verdict"`
	Reason    string  `json:"reason"`        // reason code, one of the constants of this package
	Extracted string  `json:"extracted"`     // the answer found in the response; empty if there was none
	Gold      string  `json:"gold_form"`     // normal form of the ground truth
	Answer    string  `json:"response_form"` // normal form of the extracted answer
	Rule      string  `json:"rule"`          // the rule that decided

	Proof Proof   `json:"proof,omitzero"` // how the numbers and expressions were compared, at its weakest
	Error float64 `json:"error,omitzero"` // bound on the probability that chance made the comparison wrong
}

// Grade grades a response. It is deterministic, bounded by counted steps and safe for concurrent use.
func (k Key) Grade(response string) Verdict {
	if len(k.Options) > 0 {
		return k.choose(response)
	}
	found := extract(response)
	if found.prose != "" && k.wantsWords() {
		if words := spokenAnswer(found.prose); words != "" {
			said := k.decide(words, nil)
			if found.text == "" || said.Outcome == OutcomeEqual {
				return said
			}
			if v := k.decide(found.text, found.in); v.Outcome == OutcomeEqual {
				return v
			}
			return said
		}
	}
	if found.text == "" {
		return Verdict{Outcome: OutcomeDifferent, Reason: found.reason, Rule: found.rule, Gold: anyOf(k.Gold)}
	}
	if found.flaw != "" {
		return Verdict{Outcome: OutcomeDifferent, Reason: ReasonDifferent, Rule: found.flaw.Error(), Extracted: found.text, Gold: anyOf(k.Gold), Answer: found.text}
	}
	v := k.decide(found.text, found.in)
	if v.Outcome != OutcomeEqual && found.other != "" && readable(found.other) {
		if w := k.decide(found.other, found.in); w.Outcome == OutcomeEqual {
			return w
		}
	}
	if v.Outcome == OutcomeDifferent && found.rest != "" {
		if k.Gold = slices.DeleteFunc(slices.Clone(k.Gold), readable); len(k.Gold) > 0 {
			if w := k.decide(formula.Trim(announcedSentence(found.rest)), nil); w.Outcome == OutcomeEqual {
				return w
			}
		}
	}
	return v
}

// announcedSentence returns the sentence that follows an announcement: "June 20", of which 20 is only a part.
func announcedSentence(rest string) string {
	s := firstLine(strings.TrimLeft(rest, " \t\n\r*_:"))
	if end := sentenceEnd(s); end > 0 {
		s = s[:end]
	}
	return unbolded(strings.TrimRight(s, " *_."))
}

// wantsWords reports whether a ground truth consists of words, so that a response without any formula may be the answer.
func (k Key) wantsWords() bool {
	for _, g := range k.Gold {
		if s := formula.Tidy(formula.Fold(formula.Trim(g))); formula.NormalWords(s) != "" || s == `\emptyset` || s == `\varnothing` || s == `\infty` || s == `\{\}` {
			return true
		}
	}
	return false
}

// Equal grades a bare answer.
func (k Key) Equal(answer string) Verdict {
	if len(k.Options) > 0 {
		return k.choose(answer)
	}
	answer = formula.Trim(formula.Restored(answer))
	if !holdsAnswer(answer) {
		return Verdict{Outcome: OutcomeDifferent, Reason: ReasonNoAnswer, Gold: anyOf(k.Gold)}
	}
	return k.decide(answer, nil)
}

func anyOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// decide compares an extracted answer with each gold; the best outcome counts. in is the text around it, nil for a bare
// answer.
func (k Key) decide(answer string, in *context) Verdict {
	if len(k.Gold) == 0 {
		return Verdict{Reason: ReasonEmptyGold, Extracted: answer}
	}
	var best Verdict
	for i, gold := range k.Gold {
		v := k.one(gold, answer, &formula.Budget{Left: formula.MaxSteps}, false, in)
		if i == 0 || v.Outcome == OutcomeEqual || v.Outcome == OutcomeUnknown && best.Outcome == OutcomeDifferent {
			best = v
		}
		if v.Outcome == OutcomeEqual {
			break
		}
	}
	return best
}

// one compares an extracted answer with one gold; said tells that the answer was taken from a sentence already.
func (k Key) one(gold, answer string, steps *formula.Budget, said bool, in *context) Verdict {
	gold = formula.Trim(formula.Restored(gold))
	if gold == "" {
		return Verdict{Reason: ReasonEmptyGold, Extracted: answer}
	}
	if v, ok := integers(gold, answer); ok {
		if len(k.Tolerance) == 0 || v.Outcome == OutcomeEqual {
			return v
		}
	}
	g := read(gold, steps)
	if text := worked(gold, g.ways, g.err); text != "" {
		if sameText(gold, answer) {
			return Verdict{Outcome: OutcomeEqual, Reason: ReasonEqual, Extracted: answer, Gold: gold, Answer: answer, Rule: "same text"}
		}
		g = read(text, steps)
	}
	a := g
	if answer != g.text {
		a = read(answer, steps)
	}
	if v, ok := yesOrNo(g, answer); ok {
		return v
	}
	if !said && g.formula() && (a.err == formula.ErrSyntax || a.err == nil && !a.formula()) {
		if v, done := k.prose(g, answer, steps); done {
			return v
		}
	}
	a = k.readIn(a, g, in, steps)
	if letters := k.unitOfGold(g.text); letters != nil {
		g = g.or(letters)
	}
	v := Verdict{Extracted: answer, Gold: g.String(), Answer: a.String()}
	var q formula.Qualification
	switch {
	case g.err == formula.ErrTooLarge || a.err == formula.ErrTooLarge:
		v.Reason = ReasonLimit
	case g.err != nil:
		v.Reason = ReasonGold
	case errors.As(a.err, &q):
		v.Outcome, v.Reason, v.Rule = OutcomeDifferent, ReasonDifferent, q.Error()
	case a.err != nil:
		v.Reason = ReasonUnread
	case k.restated(g.text, answer, a.ways[0]):
		v.Outcome, v.Reason, v.Rule = OutcomeDifferent, ReasonRestated, "restatement of the question"
		return v
	default:
		return k.anyWay(v, g, a, steps)
	}
	if sameText(g.text, answer) {
		v.Outcome, v.Reason, v.Rule = OutcomeEqual, ReasonEqual, "same text"
	}
	return v
}

// reading is what a ground truth or an answer may mean: all ways to read it, the plain one first, or why it cannot be read.
type reading struct {
	text string
	ways []*formula.Node
	err  error
}

func read(text string, steps *formula.Budget) reading {
	ways, err := decide.Read(text, steps)
	return reading{text, ways, err}
}

// String is the normal form, or the text if it cannot be read.
func (r reading) String() string {
	if r.err != nil {
		return r.text
	}
	return r.ways[0].String()
}

// formula reports whether what was read is no text.
func (r reading) formula() bool { return r.err == nil && r.ways[0].Kind != formula.KindText }

// or adds ways to read it to what can be read.
func (r reading) or(ways ...*formula.Node) reading {
	if r.err == nil {
		r.ways = append(r.ways[:len(r.ways):len(r.ways)], ways...)
	}
	return r
}

// readIn adds to an answer the ways to read it that the text around it and the ground truth allow.
func (k Key) readIn(a, gold reading, in *context, steps *formula.Budget) reading {
	text := a.text
	if in != nil && a.err == formula.ErrSyntax {
		if c := read(chained(text), steps); c.formula() {
			a.ways, a.err = c.ways, nil
		}
	}
	if in != nil && a.err == nil {
		if n := in.value(a.ways[0], text, k.Question, steps); n != nil && !(gold.err == nil && renames(gold.ways[0], a.ways[0])) {
			a = a.or(n)
		}
	}
	scalar := gold.err == nil && formula.ScalarLike(gold.ways[0])
	if letters := formula.UnitReading(text, scalar && len(formula.Variables(gold.ways[0])) == 0); letters != nil {
		a = a.or(letters)
	}
	if gold.err != nil {
		return a
	}
	g := gold.ways[0]
	instead := func(text string) {
		if n, err := decide.Read(text, steps); err == nil {
			a.err = nil
			a = a.or(n...)
		}
	}
	if s := formula.Unlabelled(text); s != "" && g.Kind != formula.KindSymbol && g.Kind != formula.KindText {
		instead(s)
	}
	if s := formula.DecimalComma(text); s != "" && (scalar || g.Kind == formula.KindQuantity) {
		instead(s)
	}
	if g.Kind == formula.KindSymbol && len(g.Name) == 1 && g.Name[0] <= 'J' {
		if i := letterAt(text, 10); i >= 0 && (strings.Contains(text, letterOf(i)) || strings.Contains(gold.text, "("+g.Name+")")) { // (B) 14 for the choice B
			a.ways, a.err = append([]*formula.Node{formula.Symbol(letterOf(i))}, a.ways...), nil
		}
	}
	return a
}

// yesOrNo grades an answer that says yes or no, if the ground truth is one of them.
func yesOrNo(gold reading, answer string) (Verdict, bool) {
	if gold.err != nil || gold.formula() || !decide.Polarity[gold.ways[0].Name] {
		return Verdict{}, false
	}
	word, conflicting := polar(answer)
	if word == "" {
		return Verdict{}, false
	}
	v := Verdict{Outcome: OutcomeDifferent, Reason: ReasonDifferent, Extracted: answer, Gold: gold.String(), Answer: word, Rule: "yes or no"}
	switch {
	case conflicting:
		v.Rule, v.Answer = formula.Contrasted.Error(), answer
	case word == gold.ways[0].Name:
		v.Outcome, v.Reason = OutcomeEqual, ReasonEqual
	}
	return v, true
}

// anyWay decides whether a ground truth and an answer, both read, are equal in any of the ways to read them; v has what is
// said of them otherwise.
func (k Key) anyWay(v Verdict, gold, answer reading, steps *formula.Budget) Verdict {
	c := decide.Comparer{Steps: steps, Policy: k.Policy, PercentAsked: asksPercent(k.Question), Question: k.Question}
	var r decide.Result
ways:
	for i, g := range gold.ways {
		for j, a := range answer.ways {
			if i > 0 && g.Kind == formula.KindList && a.Kind != formula.KindList || j > 0 && a.Kind == formula.KindList && g.Kind != formula.KindList {
				continue // 1,234 is a list against a list only
			}
			c.Tol, c.Evidence = nil, decide.Evidence{}
			s := c.WithTolerance(g, a, k.Tolerance)
			if i == 0 && j == 0 || s.Outcome == OutcomeEqual {
				r, v.Proof, v.Error = s, c.Evidence.Proof, c.Evidence.Error
			}
			if s.Outcome == OutcomeEqual {
				v.Gold, v.Answer = g.String(), a.String()
				break ways
			}
		}
	}
	if r.Outcome == OutcomeDifferent && r.Reason == "" && steps.Spent() { // what was not told apart may have decided
		r = decide.Unknown("")
	}
	v.Outcome, v.Rule = r.Outcome, r.Rule
	if v.Outcome == OutcomeDifferent && r.Reason == "" && formula.Upright(gold.text) == formula.Upright(answer.text) {
		v.Outcome, v.Rule = OutcomeEqual, "same text"
	}
	switch {
	case r.Reason != "":
		v.Reason = r.Reason
	case v.Outcome == OutcomeEqual:
		v.Reason = ReasonEqual
	case v.Outcome == OutcomeDifferent:
		v.Reason = ReasonDifferent
	case steps.Spent():
		v.Reason = ReasonLimit
	default:
		v.Reason = ReasonUndecided
	}
	return v
}

// unitOfGold reads a ground truth such as "5 m", "1/2 m" and "9.8 m/s^2" as a number with a unit of one letter: nil if no gap sets
// the letter off, or if the question has a variable of that name. Ohms and millionths need no gap.
func (k Key) unitOfGold(gold string) *formula.Node {
	for _, ohm := range []string{`\Omega`, "Ω", "Ω"} {
		for at := 0; strings.HasSuffix(gold, ohm); {
			i := strings.Index(k.Question[at:], ohm)
			if i < 0 {
				return formula.UnitReading(gold, false)
			}
			before := strings.TrimRight(k.Question[:at+i], ` \,;~{}kM`)
			if before == "" || !formula.Digit(before[len(before)-1]) {
				return nil
			}
			at += i + len(ohm)
		}
	}
	if strings.ContainsAny(gold, "μµ") {
		return formula.UnitReading(gold, false)
	}
	rest := gold[formula.AmountEnd(gold):]
	unit := strings.TrimLeft(rest, `\ ,;~`)
	if unit == rest || unit == "" || !formula.Letter(unit[0]) {
		return nil
	}
	for i := range len(k.Question) {
		if k.Question[i] == unit[0] && !(i > 0 && formula.Letter(k.Question[i-1])) && !(i+1 < len(k.Question) && formula.Letter(k.Question[i+1])) {
			return nil
		}
	}
	return formula.UnitReading(gold, false)
}

// renames reports whether an answer gives its value another name than the ground truth does, y=3 for x=3, or may give its
// parameters other names.
func renames(gold, answer *formula.Node) bool {
	name := func(n *formula.Node) string {
		switch {
		case n.Kind == formula.KindDefine:
			return n.Name
		case n.Kind == formula.KindRelation && n.Ops[0] == "=" && n.Args[0].Kind == formula.KindSymbol:
			return n.Args[0].Name
		}
		return ""
	}
	g, a := name(gold), name(answer)
	return gold.Kind == answer.Kind && g != "" && a != "" && (gold.Kind == formula.KindDefine || !strings.EqualFold(g, a))
}

// sameText reports whether two answers differ in layout only.
func sameText(a, b string) bool {
	p := formula.Plain(formula.Tidy(a))
	return p == formula.Plain(formula.Tidy(b)) && (p != "" || a == b)
}

// worked returns the answer of a ground truth that is a solution or a sentence about it, as a response's is found; empty if
// the ground truth is an answer by itself.
func worked(gold string, golds []*formula.Node, err error) string {
	if len(gold) < formula.MaxBareResponse && err == nil && (golds[0].Kind != formula.KindText || !strings.ContainsAny(gold, "$0123456789")) {
		return ""
	}
	if lastBox(gold) >= 0 {
		return extract(gold).text
	}
	plain := strings.TrimSpace(formula.UnwrapText(gold))
	if t := unfilled(plain); t != plain && readable(t) { // exactly 5
		return t
	}
	if !formula.SentenceOfWords(gold) {
		return ""
	}
	if text, _ := declared(gold); text != "" && text != gold {
		return text
	}
	p := parted(gold)
	text, at := p.gold()
	if text == "" {
		return ""
	}
	if n, err := decide.Read(text, &formula.Budget{Left: formula.MaxSteps}); err == nil && n[0].Kind == formula.KindRelation {
		if v := p.context(at).value(n[0], text, "", &formula.Budget{Left: formula.MaxSteps}); v != nil {
			return text[strings.LastIndexByte(text, '=')+1:]
		}
	}
	return text
}

// prose grades an answer that is a sentence against a gold that is not: by the answer that the sentence gives. Formulas
// that could not be read are no sentences, and no number inside them counts.
func (k Key) prose(gold reading, answer string, steps *formula.Budget) (Verdict, bool) {
	v := Verdict{Outcome: OutcomeDifferent, Extracted: answer, Gold: gold.String(), Answer: answer}
	plain := strings.TrimSpace(formula.UnwrapText(answer))
	if t := unfilled(plain); t != plain && readable(t) { // exactly 5
		return k.one(gold.text, t, steps, true, nil), true
	}
	if !formula.SentenceOfWords(answer) && !formula.Wavers(answer) {
		return v, false
	}
	switch {
	case formula.Refuses(answer):
		v.Reason, v.Rule = ReasonRefused, "a refusal"
		return v, true
	case formula.Hedges(answer):
		v.Reason, v.Rule = ReasonDifferent, "a hedge"
		return v, true
	}
	given, _ := declared(answer)
	in := &context{before: answer, named: true}
	if given == "" || given == answer {
		p := parted(answer)
		var at statement
		given, at = p.final()
		in = p.context(at)
		if sentenceEnd(answer) == 0 && !strings.ContainsAny(answer, "=\n") {
			given = stated(answer)
		}
	}
	if given == "" || dangles(given) {
		v.Reason, v.Rule = ReasonNoAnswer, "a sentence without a value"
		return v, true
	}
	if given == answer {
		return v, false
	}
	if q := taken(answer, given); q != "" {
		v.Reason, v.Rule = ReasonDifferent, q.Error()
		return v, true
	}
	if _, err := decide.Read(given, steps); err != nil {
		return v, false
	}
	return k.one(gold.text, given, steps, true, in), true
}

// integers decides about two plain integers without parsing or allocating: most answers of most benchmarks.
func integers(gold, answer string) (Verdict, bool) {
	g, ok := formula.Integer(gold)
	if !ok {
		return Verdict{}, false
	}
	a, ok := formula.Integer(answer)
	if !ok {
		return Verdict{}, false
	}
	v := Verdict{Outcome: OutcomeDifferent, Reason: ReasonDifferent, Extracted: answer, Gold: gold, Answer: answer, Rule: decide.RuleExact, Proof: ProofExact}
	if g == a {
		v.Outcome, v.Reason = OutcomeEqual, ReasonEqual
	}
	return v, true
}
