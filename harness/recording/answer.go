// Questions, and what was answered to them.

package recording

// Query is one query of a recording.
type Query struct {
	ID           string
	Benchmark    string
	Problem      string
	Gold         string
	Options      []string // multiple choice; nil otherwise
	PromptTokens int64    // of the problem and the instructions around it; -1: only its answers say
}

// Answer is one graded completion.
type Answer struct {
	Correct  bool
	NoAnswer bool   // nothing that could be an answer was found; such a completion is not correct
	In, Out  int64  // billed tokens
	Finish   string // why it ended, as the file says; empty: it does not
}

// Cut says whether a limit of tokens cut a completion.
func (a Answer) Cut() bool { return a.Finish == "length" }

// PassRate is the share of right answers among some, at least one.
func PassRate(runs []Answer) float64 {
	right := 0
	for _, r := range runs {
		if r.Correct {
			right++
		}
	}
	return float64(right) / float64(len(runs))
}
