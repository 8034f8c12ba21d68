// Reads what a policy of Router-R1's protocol writes.

package multiround

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Tags of Router-R1.
const (
	thinkTag       = "think"
	searchTag      = "search"
	informationTag = "information"
	answerTag      = "answer"
)

func open(tag string) string    { return "<" + tag + ">" }
func closing(tag string) string { return "</" + tag + ">" }

// cut ends a generation behind its first </search> or, without one, its first </answer>.
func cut(text string) string {
	for _, tag := range []string{searchTag, answerTag} {
		if i := strings.Index(text, closing(tag)); i >= 0 {
			return text[:i+len(closing(tag))]
		}
	}
	return text
}

// action is what a generation does: a search, an answer, or nothing.
type action struct {
	kind string // searchTag, answerTag or empty
	text string // between the tags
}

// parse returns the first search or answer that is opened and closed.
func parse(text string) action {
	best, at := action{}, len(text)
	for _, tag := range []string{searchTag, answerTag} {
		i := strings.Index(text, open(tag))
		if i < 0 || i >= at {
			continue
		}
		inner := text[i+len(open(tag)):]
		if j := strings.Index(inner, closing(tag)); j >= 0 {
			best, at = action{tag, inner[:j]}, i
		}
	}
	return best
}

// splitSearch takes a search apart, or says why it cannot be one. here: all behind the first colon is the question, of which the source sends
// what stands before a second colon. Either way a second one is a fault of the format.
func splitSearch(content string) (name, question string, reason Reason) {
	if copied(content) {
		return "", "", Placeholder
	}
	name, question, ok := strings.Cut(content, ":")
	if !ok {
		return "", "", NoColon
	}
	name, question = strings.TrimSpace(name), strings.TrimSpace(question)
	if question == "" {
		return "", "", NoQuestion
	}
	return name, question, ""
}

// copied says whether a search repeats the words of the instructions.
func copied(content string) bool {
	lower := strings.ToLower(content)
	return strings.Contains(lower, strings.ToLower(placeholderName)) || strings.Contains(lower, strings.ToLower(placeholderQuestion))
}

// block is a tagged part of a transcript.
type block struct {
	Tag  string // think, search, information or answer
	Text string // between the tags
}

// blocksOf takes a transcript apart. ok is false if tags do not pair up or blocks lie in one another; fault says which.
func blocksOf(transcript string) (blocks []block, fault Fault, ok bool) {
	inside, start := "", 0
	for i := 0; i < len(transcript); {
		tag, closes, n := tagAt(transcript[i:])
		switch {
		case n == 0:
			i++
			continue
		case !closes && inside != "":
			return nil, FaultNested, false
		case !closes:
			inside, start = tag, i+n
		case closes && tag != inside:
			return nil, FaultUnbalanced, false
		default:
			blocks = append(blocks, block{tag, transcript[start:i]})
			inside = ""
		}
		i += n
	}
	if inside != "" {
		return nil, FaultUnbalanced, false
	}
	return blocks, "", true
}

// tagAt returns the tag that a text begins with and its length, 0 if it begins with none.
func tagAt(text string) (tag string, closes bool, n int) {
	if text[0] != '<' {
		return "", false, 0
	}
	for _, tag := range []string{thinkTag, searchTag, informationTag, answerTag} {
		if strings.HasPrefix(text, open(tag)) {
			return tag, false, len(open(tag))
		}
		if strings.HasPrefix(text, closing(tag)) {
			return tag, true, len(closing(tag))
		}
	}
	return "", false, 0
}

// format returns the faults of a transcript, each once, in the order of the constants; none if it is well formed. models
// are the names on offer. The information blocks of the engine are part of the text: an expert whose response has tags
// in it spoils the format, as in the source.
func format(transcript string, models []string) []Fault {
	blocks, fault, ok := blocksOf(transcript)
	if !ok {
		return []Fault{fault}
	}
	if len(blocks) == 0 {
		return []Fault{FaultNoTags}
	}
	found := map[Fault]bool{}
	count := map[string]int{}
	for _, b := range blocks {
		count[b.Tag]++
		switch b.Tag {
		case thinkTag:
			if text := strings.TrimSpace(b.Text); text == "" || text == "..." {
				found[FaultEmptyThink] = true
			}
		case searchTag:
			for _, f := range searchFaults(b.Text, models) {
				found[f] = true
			}
		}
	}
	text := strings.TrimSpace(transcript)
	found[FaultNoThink] = count[thinkTag] == 0
	found[FaultAnswers] = count[answerTag] != 1
	found[FaultInformation] = count[searchTag] != count[informationTag]
	found[FaultStart] = !strings.HasPrefix(text, open(thinkTag))
	found[FaultEnd] = !strings.HasSuffix(text, closing(answerTag))
	var faults []Fault
	for _, f := range []Fault{FaultNoThink, FaultEmptyThink, FaultAnswers, FaultInformation, FaultStart, FaultEnd, FaultColon, FaultNoQuestion, FaultPlaceholder, FaultNameInQuestion, FaultUnknownModel} {
		if found[f] {
			faults = append(faults, f)
		}
	}
	return faults
}

func searchFaults(content string, models []string) (faults []Fault) {
	if copied(content) {
		faults = append(faults, FaultPlaceholder)
	}
	if strings.Count(content, ":") != 1 {
		faults = append(faults, FaultColon)
	}
	name, question, _ := strings.Cut(content, ":")
	name, question = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(question))
	if question == "" {
		faults = append(faults, FaultNoQuestion)
	}
	if name != "" && strings.Contains(question, name) {
		faults = append(faults, FaultNameInQuestion)
	}
	if !slices.ContainsFunc(models, func(m string) bool { return strings.ToLower(m) == name }) {
		faults = append(faults, FaultUnknownModel)
	}
	return faults
}

// formatReward is Router-R1's: -1 for a transcript with faults, 0 for one without. (The source's three levels of
// punishment are all -1.)
func formatReward(faults []Fault) float64 {
	if len(faults) > 0 {
		return -1
	}
	return 0
}

// bytesPerToken is a rough measure of English and mathematics.
const bytesPerToken = 4

func countTokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// firstTokens cuts a text to its first n tokens.
func firstTokens(text string, n int) string {
	end := n * bytesPerToken
	if len(text) <= end {
		return text
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// lastTokens cuts a text to its last n tokens.
func lastTokens(text string, n int) string {
	start := len(text) - n*bytesPerToken
	if start <= 0 {
		return text
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return text[start:]
}

// The words that stand for a name and a question in the prompt. A search that has them copied the instructions.
const (
	placeholderName     = "EXPERT-NAME"
	placeholderQuestion = "YOUR-QUESTION"
)
