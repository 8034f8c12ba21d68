package verify

import (
	"errors"
	"fmt"
	"strings"
)

// Version is part of the key under which verdicts are stored: it changes whenever any verdict may change.
const Version = "11"

// Outcome is the decision about one pair of answers.
type Outcome uint8

const (
	OutcomeUnknown   Outcome = iota // not decidable within the documented bounds; never silently "wrong"
	OutcomeEqual                    // the response gives the ground truth
	OutcomeDifferent                // the response gives something else
)

// String returns "unknown", "equal" or "different".
func (o Outcome) String() string {
	switch o {
	case OutcomeEqual:
		return "equal"
	case OutcomeDifferent:
		return "different"
	}
	return "unknown"
}

// MarshalText writes the outcome as its name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (o *Outcome) UnmarshalText(text []byte) error {
	for _, known := range []Outcome{OutcomeUnknown, OutcomeEqual, OutcomeDifferent} {
		if string(text) == known.String() {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q; known: equal, different, unknown", text)
}

// Reason codes: why a verdict is what it is, for counting.
const (
	ReasonEqual        = "equal"            // equal
	ReasonDifferent    = "different"        // different: two answers that are not the same
	ReasonNoAnswer     = "no-answer"        // different: nothing in the response could be an answer, or the box is empty
	ReasonUnfinished   = "unfinished"       // different: a thinking response that never came to its answer
	ReasonRefused      = reasonRefused      // different: the response says that there is no answer, or that it is unknown
	ReasonRestated     = reasonRestated     // different: the unevaluated expression of the question
	ReasonContradicted = reasonContradicted // different: a chain such as 1=2=42
	ReasonUnread       = "unread"           // unknown: an answer that the grammar does not cover
	ReasonUndecided    = "undecided"        // unknown: read, but neither equal nor different could be shown
	ReasonLimit        = "limit"            // unknown: beyond the documented sizes and steps
	ReasonGold         = "unreadable-gold"  // unknown: a ground truth that the grammar does not cover
	ReasonEmptyGold    = "no-gold"          // unknown: no ground truth was given
)

// Tolerance accepts |response - gold| <= Abs or <= Rel*|gold|; the zero value is exact.
type Tolerance struct {
	Abs float64 `json:"abs,omitempty"`
	Rel float64 `json:"rel,omitempty"`
}

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

// Option adjusts how Grade and Equal decide.
type Option func(*Key)

// OrGold adds acceptable ground truths.
func OrGold(golds ...string) Option { return func(k *Key) { k.Gold = append(k.Gold, golds...) } }

// WithOptions makes it multiple choice among options, in order.
func WithOptions(options ...string) Option { return func(k *Key) { k.Options = options } }

// WithTolerance accepts answers near the ground truth.
func WithTolerance(t ...Tolerance) Option { return func(k *Key) { k.Tolerance = t } }

// WithQuestion tells the text of the problem.
func WithQuestion(text string) Option { return func(k *Key) { k.Question = text } }

// WithPolicy replaces the default policy.
func WithPolicy(p Policy) Option { return func(k *Key) { k.Policy = p } }

// Grade grades a response against a single ground truth.
func Grade(gold, response string, options ...Option) Verdict {
	k := Key{Gold: []string{gold}}
	for _, o := range options {
		o(&k)
	}
	return k.Grade(response)
}

// Equal compares two bare answers, of which a is the ground truth, without looking for an answer in b.
func Equal(a, b string, options ...Option) Verdict {
	k := Key{Gold: []string{a}}
	for _, o := range options {
		o(&k)
	}
	return k.Equal(b)
}

// Grade grades a response. It is deterministic, bounded by counted steps and safe for concurrent use.
func (k Key) Grade(response string) Verdict {
	if len(k.Options) > 0 {
		return k.choose(response)
	}
	found := extract(response)
	if found.words != "" && k.wantsWords() {
		said := k.decide(found.words, nil)
		if found.text == "" || said.Outcome == OutcomeEqual {
			return said
		}
		if v := k.decide(found.text, found.in); v.Outcome == OutcomeEqual {
			return v
		}
		return said
	}
	if found.text == "" {
		return Verdict{Outcome: OutcomeDifferent, Reason: found.reason, Rule: found.rule, Gold: anyOf(k.Gold)}
	}
	if found.flaw != "" {
		return Verdict{Outcome: OutcomeDifferent, Reason: ReasonDifferent, Rule: found.flaw.Error(), Extracted: found.text, Gold: anyOf(k.Gold), Answer: found.text}
	}
	v := k.decide(found.text, found.in)
	if v.Outcome == OutcomeDifferent && found.other != "" {
		if w := k.decide(found.other, found.in); w.Outcome == OutcomeEqual {
			return w
		}
	}
	return v
}

// wantsWords reports whether a ground truth consists of words, so that a response without any formula may be the answer.
func (k Key) wantsWords() bool {
	for _, g := range k.Gold {
		if s := tidy(fold(trim(g))); normalWords(s) != "" || s == `\emptyset` || s == `\varnothing` || s == `\{\}` {
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
	answer = trim(restored(answer))
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
		v := k.one(gold, answer, &budget{left: maxSteps}, false, in)
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
func (k Key) one(gold, answer string, steps *budget, said bool, in *context) Verdict {
	gold = trim(restored(gold))
	if gold == "" {
		return Verdict{Reason: ReasonEmptyGold, Extracted: answer}
	}
	if v, ok := integers(gold, answer); ok {
		if len(k.Tolerance) == 0 || v.Outcome == OutcomeEqual {
			return v
		}
	}
	golds, goldErr := read(gold, steps)
	if text := worked(gold, golds, goldErr); text != "" {
		if sameText(gold, answer) {
			return Verdict{Outcome: OutcomeEqual, Reason: ReasonEqual, Extracted: answer, Gold: gold, Answer: answer, Rule: "same text"}
		}
		gold = text
		golds, goldErr = read(gold, steps)
	}
	answers, answerErr := read(answer, steps)
	if goldErr == nil && golds[0].kind == kindText && polarity[golds[0].name] {
		if word, conflicting := polar(answer); word != "" {
			v := Verdict{Outcome: OutcomeDifferent, Reason: ReasonDifferent, Extracted: answer, Gold: golds[0].String(), Answer: word, Rule: "yes or no"}
			switch {
			case conflicting:
				v.Rule, v.Answer = contrasted.Error(), answer
			case word == golds[0].name:
				v.Outcome, v.Reason = OutcomeEqual, ReasonEqual
			}
			return v
		}
	}
	if !said && goldErr == nil && golds[0].kind != kindText && (answerErr == errSyntax || answerErr == nil && answers[0].kind == kindText) {
		if v, done := k.prose(golds, gold, answer, steps); done {
			return v
		}
	}
	if in != nil && answerErr == errSyntax {
		if n, err := read(chained(answer), steps); err == nil && n[0].kind != kindText {
			answers, answerErr = n, nil
		}
	}
	if in != nil && answerErr == nil {
		if n := in.value(answers[0], answer, k.Question, steps); n != nil {
			answers = append(answers, n)
		}
	}
	if letters := unitReading(answer); letters != nil && answerErr == nil {
		answers = append(answers, letters)
	}
	if s := unlabelled(answer); s != "" && goldErr == nil && golds[0].kind != kindSymbol && golds[0].kind != kindText {
		if n, err := read(s, steps); err == nil {
			answers, answerErr = append(answers, n...), nil
		}
	}
	if s := decimalComma(answer); s != "" && goldErr == nil && (scalarLike(golds[0]) || golds[0].kind == kindQuantity) {
		if n, err := read(s, steps); err == nil {
			answers, answerErr = append(answers, n...), nil
		}
	}
	if goldErr == nil && golds[0].kind == kindSymbol && len(golds[0].name) == 1 && golds[0].name[0] <= 'J' {
		if i := letterAt(answer, 10); i >= 0 && (strings.Contains(answer, letterOf(i)) || strings.Contains(gold, "("+golds[0].name+")")) { // (B) 14 for the choice B
			answers, answerErr = append([]*node{symbol(letterOf(i))}, answers...), nil
		}
	}
	v := Verdict{Extracted: answer, Gold: gold, Answer: answer}
	if goldErr == nil {
		v.Gold = golds[0].String()
	}
	if answerErr == nil {
		v.Answer = answers[0].String()
	}
	var q qualification
	switch {
	case goldErr == errTooLarge || answerErr == errTooLarge:
		v.Reason = ReasonLimit
	case goldErr != nil:
		v.Reason = ReasonGold
	case errors.As(answerErr, &q):
		v.Outcome, v.Reason, v.Rule = OutcomeDifferent, ReasonDifferent, q.Error()
	case answerErr != nil:
		v.Reason = ReasonUnread
	}
	if v.Reason != "" {
		if sameText(gold, answer) {
			v.Outcome, v.Reason, v.Rule = OutcomeEqual, ReasonEqual, "same text"
		}
		return v
	}
	if k.restated(gold, answer, answers[0]) {
		v.Outcome, v.Reason, v.Rule = OutcomeDifferent, ReasonRestated, "restatement of the question"
		return v
	}
	c := comparer{steps: steps, policy: k.Policy, percentAsked: asksPercent(k.Question)}
	var r result
	for i, g := range golds {
		for j, a := range answers {
			if i > 0 && g.kind == kindList && a.kind != kindList || j > 0 && a.kind == kindList && g.kind != kindList {
				continue // 1,234 is a list against a list only
			}
			c.tol, c.evidence = nil, evidence{}
			s := c.withTolerance(g, a, k.Tolerance)
			if i == 0 && j == 0 || s.outcome == OutcomeEqual {
				r = s
				v.Proof, v.Error = c.evidence.proof, c.evidence.error
			}
			if s.outcome == OutcomeEqual {
				v.Gold, v.Answer = g.String(), a.String()
				break
			}
		}
		if r.outcome == OutcomeEqual {
			break
		}
	}
	if r.outcome == OutcomeDifferent && r.reason == "" && steps.spent() { // what was not told apart may have decided
		r = unknown("")
	}
	v.Outcome, v.Rule = r.outcome, r.rule
	if v.Outcome == OutcomeDifferent && r.reason == "" && upright(gold) == upright(answer) {
		v.Outcome, v.Rule = OutcomeEqual, "same text"
	}
	switch {
	case r.reason != "":
		v.Reason = r.reason
	case r.outcome == OutcomeEqual:
		v.Reason = ReasonEqual
	case r.outcome == OutcomeDifferent:
		v.Reason = ReasonDifferent
	case steps.spent():
		v.Reason = ReasonLimit
	default:
		v.Reason = ReasonUndecided
	}
	return v
}

// sameText reports whether two answers differ in layout only.
func sameText(a, b string) bool {
	p := plain(tidy(a))
	return p == plain(tidy(b)) && (p != "" || a == b)
}

// worked returns the answer of a ground truth that is a solution or a sentence about it, as a response's is found; empty if
// the ground truth is an answer by itself.
func worked(gold string, golds []*node, err error) string {
	if len(gold) < maxBareResponse && err == nil && (golds[0].kind != kindText || !strings.ContainsAny(gold, "$0123456789")) {
		return ""
	}
	if lastBox(gold) >= 0 {
		return extract(gold).text
	}
	if !sentenceOfWords(gold) {
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
	if n, err := read(text, &budget{left: maxSteps}); err == nil && n[0].kind == kindRelation {
		if v := p.context(at).value(n[0], text, "", &budget{left: maxSteps}); v != nil {
			return text[strings.LastIndexByte(text, '=')+1:]
		}
	}
	return text
}

// prose grades an answer that is a sentence against a gold that is not: by the answer that the sentence gives. Formulas
// that could not be read are no sentences, and no number inside them counts.
func (k Key) prose(golds []*node, gold, answer string, steps *budget) (Verdict, bool) {
	v := Verdict{Outcome: OutcomeDifferent, Extracted: answer, Gold: golds[0].String(), Answer: answer}
	if !sentenceOfWords(answer) && !wavers(answer) {
		return v, false
	}
	switch {
	case refuses(answer):
		v.Reason, v.Rule = ReasonRefused, "a refusal"
		return v, true
	case hedges(answer):
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
	if _, err := read(given, steps); err != nil {
		return v, false
	}
	return k.one(gold, given, steps, true, in), true
}

// integers decides about two plain integers without parsing or allocating: most answers of most benchmarks.
func integers(gold, answer string) (Verdict, bool) {
	g, ok := integer(gold)
	if !ok {
		return Verdict{}, false
	}
	a, ok := integer(answer)
	if !ok {
		return Verdict{}, false
	}
	v := Verdict{Outcome: OutcomeDifferent, Reason: ReasonDifferent, Extracted: answer, Gold: gold, Answer: answer, Rule: ruleExact, Proof: ProofExact}
	if g == a {
		v.Outcome, v.Reason = OutcomeEqual, ReasonEqual
	}
	return v, true
}

func integer(s string) (int64, bool) {
	negative := strings.HasPrefix(s, "-")
	if negative {
		s = s[1:]
	}
	if s == "" || len(s) > 18 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
