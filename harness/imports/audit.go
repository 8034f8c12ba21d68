// The audit: what of a log would spoil a comparison of routers, a sentence each. A check speaks where chance does not explain
// what it sees: clean logs of any size have no finding.

package imports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/starting"
)

// Finding is one thing that is wrong with a log, or may be.
type Finding struct {
	Check string // which check found it
	Text  string // a sentence
}

// Report is what the audit says, for people: its findings, and what was left out of the log.
func Report(findings []Finding, left []string) string {
	var b strings.Builder
	for _, l := range left {
		fmt.Fprintf(&b, "left out: %s.\n", l)
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "audit: %s: %s.\n", f.Check, f.Text)
	}
	if len(findings) == 0 {
		b.WriteString("audit: nothing found.\n")
	}
	return b.String()
}

const (
	fewest   = 20  // questions that a statement about selection needs
	certain  = 5.0 // standard deviations beyond which it is no chance, whatever the number of models
	longText = 80  // characters from which two answers do not agree by chance
	longOut  = 64  // output tokens from which they are rarely as many
)

// Audit looks for what would spoil a comparison.
func (l *Log) Audit(prices map[string]starting.Price) []Finding {
	a := audit{Log: l}
	a.pricesUnknown(prices)
	a.guessed()
	a.partial()
	a.conversations()
	for m := range l.Models {
		a.tokens(m)
		a.cut(m)
		a.empty(m)
		a.wrong(m)
		a.bestFirst(m)
		a.twice(m)
		a.instructed(m)
	}
	a.labels()
	a.ungraded()
	a.prompts()
	a.goldsInPrompts()
	a.few()
	a.answered()
	a.resettled()
	a.selected()
	a.oracle()
	a.copies()
	return a.found
}

type audit struct {
	*Log
	found []Finding
}

func (a *audit) find(check, format string, args ...any) {
	a.found = append(a.found, Finding{check, fmt.Sprintf(format, args...)})
}

// all calls use for every answer of a model.
func (a *audit) all(m int, use func(q int, x Answer)) {
	for q, of := range a.Answers {
		for _, x := range of[m] {
			use(q, x)
		}
	}
}

// right counts the answers of a model, and those that are right.
func (a *audit) right(m int) (n, right int) {
	a.all(m, func(_ int, x Answer) {
		n++
		right += bit(x.Correct)
	})
	return n, right
}

func (a *audit) pricesUnknown(prices map[string]starting.Price) {
	var unknown, free []string
	for _, c := range a.Models {
		switch p, ok := prices[c.Model]; {
		case !ok && !slices.Contains(unknown, c.Model):
			unknown = append(unknown, c.Model)
		case ok && p.Out == 0 && !slices.Contains(free, c.Model):
			free = append(free, c.Model)
		}
	}
	if len(unknown) > 0 {
		a.find("unknown prices", "no price of %s; give --price NAME=IN,OUT in dollars per million tokens, or fill the price list in", strings.Join(unknown, ", "))
	}
	if len(free) > 0 {
		a.find("unknown prices", "output tokens of %s cost nothing, which a router learns to always choose", strings.Join(free, ", "))
	}
}

func (a *audit) guessed() {
	which := a.estimated()
	switch {
	case which == "":
	case a.Estimated["output"] == 0:
		a.find("estimated tokens", "the log lacks %s, and characters of the questions stand in their place, which do not count what was sent with them", which)
	default:
		a.find("estimated tokens", "the log lacks %s, and characters stand in their place, which do not count thinking that is hidden", which)
	}
}

func (a *audit) partial() {
	if a.Partial > 0 {
		a.find("partial scores", "%d of %d answers have a score between 0 and 1, which counts as wrong; --correct-from says from which score on an answer is right", a.Partial, a.Count(false).Answers)
	}
}

func (a *audit) conversations() {
	if a.After > 0 {
		a.find("conversations", "%d of %d answers are to the last question of a conversation, which alone is read: two conversations that end alike count as one question", a.After, a.Count(false).Answers)
	}
}

// tokens looks for columns that count nothing.
func (a *audit) tokens(m int) {
	var zero, unread, n, least, most int
	values := map[int64]int{}
	texts := map[uint64]bool{}
	least = math.MaxInt
	a.all(m, func(_ int, x Answer) {
		n++
		values[x.Out]++
		unread += bit(x.In == 0)
		if x.Out == 0 && x.Chars != 0 {
			zero++
		}
		if x.Chars >= 0 {
			least, most, texts[x.Text] = min(least, x.Chars), max(most, x.Chars), true
		}
	})
	if unread > 0 {
		a.find("zero tokens", "%d of %s of %s have no input tokens, and no question has none", unread, counted(n, "answer"), a.Models[m])
	}
	if zero > 0 {
		a.find("zero tokens", "%d of %s of %s have no output tokens and are not known to be empty", zero, counted(n, "answer"), a.Models[m])
	}
	if len(values) == 1 && zero == 0 && n >= 10 {
		all := slices.Collect(maps.Keys(values))[0]
		// Short answers may well have as many tokens each, but not more than they have characters.
		if varied := len(texts) == 0 || most >= 2*max(least, 10); varied || all >= int64(2*max(most, 10)) {
			a.find("constant tokens", "all %d answers of %s have %d output tokens, which nobody counted", n, a.Models[m], all)
		}
	}
}

// cut looks for answers that a limit of tokens ended, whether the log says so or not.
func (a *audit) cut(m int) {
	n, cut := 0, 0
	lengths := map[int64]int{}
	longest := int64(0)
	a.all(m, func(_ int, x Answer) {
		n++
		if x.Finish == "length" {
			cut++
			return
		}
		lengths[x.Out]++
		longest = max(longest, x.Out)
	})
	if cut > 0 {
		a.find("truncation", "%d of %s of %s were cut by a limit of tokens, and count as wrong", cut, counted(n, "answer"), a.Models[m])
	}
	if at, usual := lengths[longest], n/max(len(lengths), 1); longest >= 64 && len(lengths) > 1 && at >= max(5, n/100) && at > 3+5*usual {
		a.find("truncation", "%d of %s of %s have exactly %d output tokens, the most of all: a limit that the log does not own to", at, counted(n, "answer"), a.Models[m], longest)
	}
}

func (a *audit) empty(m int) {
	n, empty := 0, 0
	a.all(m, func(_ int, x Answer) {
		n++
		empty += bit(x.Chars == 0 && x.Finish != "length") // what a limit cut has a finding of its own
	})
	if empty >= 3 && 20*empty >= n {
		a.find("empty answers", "%d of %s of %s are empty: failures of a server or calls of tools, perhaps, and not answers of the model", empty, counted(n, "answer"), a.Models[m])
	}
}

func (a *audit) wrong(m int) {
	if n, right := a.right(m); right == 0 && n >= 30 {
		a.find("never right", "not one of %d answers of %s is right: its answers may be in a form that is not read", n, a.Models[m])
	}
}

// bestFirst looks for first answers that were chosen among several: the first is scored.
func (a *audit) bestFirst(m int) {
	mixed, first, expected, variance := 0, 0, 0.0, 0.0
	for _, of := range a.Answers {
		right := 0
		for _, x := range of[m] {
			right += bit(x.Correct)
		}
		if n := len(of[m]); right > 0 && right < n {
			p := float64(right) / float64(n)
			mixed, first = mixed+1, first+bit(of[m][0].Correct)
			expected, variance = expected+p, variance+p*(1-p)
		}
	}
	if mixed >= fewest && float64(first)-expected > certain*math.Sqrt(variance) {
		a.find("best first", "of %d questions that %s answers both rightly and wrongly, its first answer is right on %d, and chance has %.0f: the best of several was put first, and the first is scored", mixed, a.Models[m], first, expected)
	}
}

// twice looks for answers that are earlier ones again, which say nothing of how often a model changes its mind. That half of the long
// ones are is no chance, nor that all of many short ones are, unless their texts are not there.
func (a *audit) twice(m int) {
	type said struct {
		text    uint64
		in, out int64
		finish  string
		correct bool
	}
	limit := int64(0) // where many may end
	a.all(m, func(_ int, x Answer) { limit = max(limit, x.Out) })
	further, same, texts, long, sameLong, pair := 0, 0, 0, 0, 0, ""
	for _, of := range a.Answers {
		known := map[said]string{} // -> where it is first
		for i, x := range of[m] {
			now := said{x.Text, x.In, x.Out, x.Finish, x.Correct}
			before, again := known[now]
			if !again {
				known[now] = x.At
			}
			text, tokens := x.Chars >= 0, x.Out >= longOut
			if i == 0 || !text && (!tokens || x.Out == limit) {
				continue
			}
			further++
			same += bit(again)
			texts += bit(text)
			if tokens || x.Chars >= longText {
				long++
				sameLong += bit(again)
			}
			if again && pair == "" {
				pair = before + " and " + x.At
			}
		}
	}
	if sameLong >= fewest/2 && 2*sameLong >= long || same == further && texts >= fewest {
		what := "text"
		if texts == 0 {
			what = "verdict"
		}
		a.find("duplicated answers", "%d of %s of %s have %s and tokens of an earlier one to the same question, such as those at %s: the log has them twice, or they were drawn at a temperature near 0, and that they agree says nothing of noise",
			same, counted(further, "further answer"), a.Models[m], what, pair)
	}
}

// instructed looks for answers that count as of one model and were asked for otherwise.
func (a *audit) instructed(m int) {
	under := map[uint64]bool{}
	a.all(m, func(_ int, x Answer) { under[x.System] = true })
	if len(under) > 1 {
		a.find("different instructions", "%s was asked with %d different system messages, which are not told apart: of several answers to a question the first is scored, whichever it had; import those under one of them", a.Models[m], len(under))
	}
}

// labels compares what was published with what the verifier says.
func (a *audit) labels() {
	for m, model := range a.Models {
		n, generous, strict := 0, 0, 0
		a.all(m, func(_ int, x Answer) {
			if x.Published == nil || !x.Graded {
				return
			}
			n++
			generous += bit(*x.Published && !x.Verified)
			strict += bit(!*x.Published && x.Verified)
		})
		if off := generous + strict; off >= 3 && 50*off > n {
			a.find("labels", "the verifier differs from the log on %d of %s of %s: %d are right in the log alone, %d by the verifier alone", off, counted(n, "answer"), model, generous, strict)
		}
	}
}

// ungraded counts answers that nobody could grade: more than a few are golds in a form that is not read.
func (a *audit) ungraded() {
	n, first, gold := 0, "", ""
	for q, of := range a.Answers {
		for _, runs := range of {
			for _, x := range runs {
				if x.Published == nil && x.Unknown {
					if n++; n == 1 {
						first, gold = x.At, a.Questions[q].Golds[0]
					}
				}
			}
		}
	}
	if all := a.Count(false).Answers; 50*n > all {
		hint := ""
		if a.columns {
			hint = "; name a column of labels with --key correct=COLUMN, or write golds in a form that is read, such as letters or texts of options"
		}
		a.find("no verdict", "%d of %s have neither a verdict of the verifier nor one of the log, and count as wrong, such as that at %s, whose gold is %q%s", n, counted(all, "answer"), first, gold, hint)
	}
}

// plain is a question without what does not change it.
func plain(q Question) string {
	return strings.Join(strings.Fields(strings.ToLower(q.Problem+" "+strings.Join(q.Options, " "))), " ")
}

// prompts looks for questions that are there several times: in one benchmark, in several, in train and test, with other golds.
func (a *audit) prompts() {
	same := map[string][]int{}
	for q, of := range a.Questions {
		same[plain(of)] = append(same[plain(of)], q)
	}
	var twice, across, differ, splits, crossing []string
	for _, q := range a.Questions {
		if q.crosses {
			crossing = append(crossing, q.ID)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(same)) {
		at := same[text]
		if len(at) == 1 {
			continue
		}
		first, has := a.Questions[at[0]], map[string]bool{}
		for _, q := range at[1:] {
			other := a.Questions[q]
			name := first.ID + " and " + other.ID
			if !slices.Equal(first.Golds, other.Golds) {
				has["differ"] = true
				differ = append(differ, name)
			}
			switch {
			case first.Split != other.Split:
				splits = append(splits, name)
			case first.Benchmark != other.Benchmark:
				across = append(across, name)
			default:
				twice = append(twice, name)
			}
		}
	}
	say := func(check string, pairs []string, what string) {
		if len(pairs) > 0 {
			a.find(check, "%s of questions %s, such as %s", counted(len(pairs), "pair"), what, pairs[0])
		}
	}
	say("duplicated prompts", twice, "of one benchmark have the same text but for capitals and spaces")
	if len(crossing) > 0 {
		a.find("train/test overlap", "%s with answers in two splits, such as %s", counted(len(crossing), "question"), crossing[0])
	}
	say("train/test overlap", splits, "with the same text are in two splits")
	say("train/test overlap", across, "with the same text are in two benchmarks")
	say("contradicting golds", differ, "have the same text and different golds")
}

// announced is a text that says an answer.
var announced = regexp.MustCompile(`(?i)(?:\b(?:answers?|solutions?|gold|target|correct|label)\b\W{0,3}(?:is|are|was|would be|=|:)|####|\\boxed\{)[\s"'$*({\[:]*`)

// goldsInPrompts looks for prompts that say their answer. A prompt with examples says answers too: those of other questions, as
// often as their own.
func (a *audit) goldsInPrompts() {
	said := make([][]string, len(a.Questions)) // what stands behind the announcements of a prompt
	golds := make([]string, len(a.Questions))
	var with []int
	for q, of := range a.Questions {
		if len(of.Golds) == 0 {
			continue
		}
		golds[q] = strings.ToLower(of.Golds[0])
		for _, at := range announced.FindAllStringIndex(of.Problem, -1) {
			said[q] = append(said[q], strings.ToLower(of.Problem[at[1]:min(len(of.Problem), at[1]+200)]))
		}
		with = append(with, q)
	}
	says := func(q int, gold string) bool {
		return gold != "" && slices.ContainsFunc(said[q], func(text string) bool {
			rest, ok := strings.CutPrefix(text, gold)
			return ok && !(rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] >= 'a' && rest[0] <= 'z' || rest[0] == '/' ||
				len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && rest[1] >= '0' && rest[1] <= '9'))
		})
	}
	own, chance := 0, 0.0
	example := ""
	for i, q := range with {
		if len(said[q]) == 0 {
			continue
		}
		if says(q, golds[q]) {
			own++
			example = cmp.Or(example, a.Questions[q].ID)
		}
		others, hits := 0, 0
		for k := 1; k <= 50 && k < len(with); k++ {
			others++
			hits += bit(says(q, golds[with[(i+k)%len(with)]]))
		}
		if others > 0 {
			chance += float64(hits) / float64(others)
		}
	}
	if own > 0 && float64(own) > chance+certain*math.Sqrt(chance)+1 || own > 0 && chance == 0 {
		a.find("golds in prompts", "the text of %s says its own answer, such as that of %s", counted(own, "question"), example)
	}
}

// few looks for logs that no comparison comes of.
func (a *audit) few() {
	if n := len(a.Questions); n < metrics.FewestQuestions {
		a.find("few questions", "the log has %s, too few to say whether a router pays: some hundreds are needed", counted(n, "question"))
	}
}

// answered looks for models that were asked other questions than the others.
func (a *audit) answered() {
	if len(a.Models) == 1 {
		hint := ""
		if a.columns {
			hint = "; if a column says which model answered, name it with --key model=COLUMN"
		}
		a.find("one model", "the log has answers of %s alone: there is nothing to route to%s", a.Models[0], hint)
		return
	}
	n, everybody := make([]int, len(a.Models)), 0
	several := 0
	for _, of := range a.Answers {
		by := 0
		for m, runs := range of {
			if len(runs) > 0 {
				n[m]++
				by++
			}
		}
		everybody += bit(by == len(a.Models))
		several += bit(by > 1)
	}
	switch {
	case several == 0:
		a.find("selection", "no question has answers of two models: this is what a router chose, and what it did not choose nobody knows")
	case everybody < len(a.Questions):
		most, least := slices.Index(n, slices.Max(n)), slices.Index(n, slices.Min(n))
		each := fmt.Sprintf("from %s with %d to %s with %d", a.Models[most], n[most], a.Models[least], n[least])
		if n[most] == n[least] {
			each = fmt.Sprintf("and each model has answers to %d", n[most])
		}
		a.find("different questions", "%d of %s have answers of all %d models, %s", everybody, counted(len(a.Questions), "question"), len(a.Models), each)
	}
}

// resettled looks for models of which one setting answered some questions and another one the others.
func (a *audit) resettled() {
	for m, x := range a.Models {
		for o, y := range a.Models[:m] {
			if x.Model == y.Model && !slices.ContainsFunc(a.Answers, func(of [][]Answer) bool { return len(of[m]) > 0 && len(of[o]) > 0 }) {
				a.find("different settings", "%s and %s are one model, count as two and share no question; import the logs of each setting alone", y, x)
			}
		}
	}
}

// selected looks for models that were asked, or whose answers were kept, by how others did: within benchmarks, those that one
// model was asked are compared with those it was not (a test of Mantel and Haenszel).
func (a *audit) selected() {
	for m, model := range a.Models {
		worst, by, kept, lost := 0.0, -1, [2]int{}, [2]int{}
		enough := certain
		if n, right := a.right(m); n >= fewest && 100*right >= 99*n { // that all it has is right is evidence already
			enough = 3
		}
		for o := range a.Models {
			if o == m {
				continue
			}
			type cells struct{ asked, right, both, n float64 }
			benchmarks := map[string]*cells{}
			var of [2][2]int // asked or not, of the other model: questions and right ones
			for q, answers := range a.Answers {
				if len(answers[o]) == 0 {
					continue
				}
				c := benchmarks[a.Questions[q].Benchmark]
				if c == nil {
					c = &cells{}
					benchmarks[a.Questions[q].Benchmark] = c
				}
				asked, right := bit(len(answers[m]) > 0), bit(answers[o][0].Correct)
				c.n++
				c.asked += float64(asked)
				c.right += float64(right)
				c.both += float64(asked * right)
				of[asked][0]++
				of[asked][1] += right
			}
			excess, variance := 0.0, 0.0
			for _, name := range slices.Sorted(maps.Keys(benchmarks)) {
				if c := benchmarks[name]; c.n > 1 {
					excess += c.both - c.asked*c.right/c.n
					variance += c.asked * (c.n - c.asked) * c.right * (c.n - c.right) / (c.n * c.n * (c.n - 1))
				}
			}
			if of[0][0] < 10 || of[1][0] < 10 || variance == 0 {
				continue
			}
			if z := excess / math.Sqrt(variance); math.Abs(z) > math.Abs(worst) {
				worst, by, lost, kept = z, o, of[0], of[1]
			}
		}
		if math.Abs(worst) > enough {
			a.find("selection", "whether %s has an answer depends on how %s did, which is right on %d of %d questions where it has one and on %d of %d where not: the log of a router or an oracle, not of everybody",
				model, a.Models[by], kept[1], kept[0], lost[1], lost[0])
		}
	}
}

// oracle looks for a model whose answers are right exactly where some other one's are.
func (a *audit) oracle() {
	for m, model := range a.Models {
		mixed, nobody, off := 0, 0, 0
		differs := make([]int, len(a.Models))
		for _, of := range a.Answers {
			if len(of[m]) == 0 {
				continue
			}
			right, others := 0, 0
			for o, runs := range of {
				if o != m && len(runs) > 0 {
					others++
					right += bit(runs[0].Correct)
					differs[o] += bit(runs[0].Correct != of[m][0].Correct)
				}
			}
			if others < 2 {
				continue
			}
			mixed += bit(right > 0 && right < others)
			nobody += bit(right == 0)
			off += bit(of[m][0].Correct != (right > 0))
		}
		differs[m] = math.MaxInt
		if mixed >= fewest && nobody >= fewest && 200*off <= mixed+nobody && slices.Min(differs) >= 10 {
			a.find("answers of others", "%s is right exactly where another model is, on %d questions that these disagree about and none of %d that they all fail: its answers are chosen from theirs", model, mixed, nobody)
		}
	}
}

// copies looks for answers and for columns of tokens that are another model's.
func (a *audit) copies() {
	for m := range a.Models {
		for o := range m {
			long, same, both, tokens, unlike, unlikeTokens := 0, 0, 0, 0, 0, 0
			values, texts := map[int64]bool{}, map[uint64]bool{} // tokens; texts of both
			var verdicts, agree [2]int                           // where both are wrong, and where both are right
			for _, of := range a.Answers {
				if len(of[m]) == 0 || len(of[o]) == 0 {
					continue
				}
				x, y := of[m][0], of[o][0]
				both++
				tokens += bit(x.Out == y.Out)
				if x.Chars < 0 || x.Chars != y.Chars { // texts that are as long may well have as many tokens
					unlike++
					values[x.Out] = true
					unlikeTokens += bit(x.Out == y.Out)
				}
				if min(x.Chars, y.Chars) < longText {
					continue
				}
				long++
				if x.Text == y.Text {
					same++
					texts[x.Text] = true
				}
				if x.Correct == y.Correct {
					verdicts[bit(x.Correct)]++
					agree[bit(x.Correct)] += bit(x.Text == y.Text)
				}
			}
			switch x, y := a.Models[o], a.Models[m]; {
			case len(texts) >= fewest/2 && 10*same >= long && !given(agree, verdicts):
				a.find("copied answers", "%d of %d long answers of %s and %s are the same letter by letter", same, long, x, y)
			case both >= fewest && unlike >= fewest/2 && 10*unlikeTokens >= 9*unlike && len(values) >= min(both/4, 30) && len(values) >= 5:
				a.find("copied tokens", "%s and %s have the same number of output tokens on %d of %d questions", x, y, tokens, both)
			}
		}
	}
}

// given says whether the form of answers explains that two models agree on them, as on objects of JSON or queries of a database: most of
// those that both have right, and less than half as many, for how many there are, of those that both have wrong.
func given(agree, of [2]int) bool {
	const wrong, right = 0, 1
	return of[wrong] >= 3 && 2*agree[right] >= of[right] && 2*agree[wrong]*of[right] < agree[right]*of[wrong]
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
