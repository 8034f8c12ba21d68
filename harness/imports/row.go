// An answer as a format reads it, before questions and settings are sorted out.

package imports

import (
	"fmt"
	"math"
)

// Row is one completion as a log has it.
type Row struct {
	At        string // file and place, for messages
	Question  string // its id; empty: questions are told apart by their text
	Benchmark string
	Split     string // train, test or whatever the log calls it; empty: it does not say
	Problem   string // empty: Options.Problems has it
	Golds     []string
	Options   []string // multiple choice
	Model     string
	Settings  map[string]string
	System    string  // the instructions that the question was sent with
	After     bool    // more than one question of the user was sent, and this is the last
	Response  *string // nil: the log has none
	Correct   *bool   // as published; nil: not graded
	Partial   bool    // what was published is a part of what is right, and nobody said from which part on
	Opaque    bool    // the gold is no answer, such as a unit test: what was published stands
	In, Out   int64   // billed tokens; unsaid: the log does not say
	USD       float64 // what was billed; NaN: the log does not say
	Finish    string  // length: a limit cut it
	name      string  // of the request, which may be that of the question: Problems knows
}

// unsaid is no number of tokens that a log has.
const unsaid = math.MinInt64

// settings are those that answers depend on and that requests and logs name alike.
type settings struct {
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	Effort      string   `json:"reasoning_effort"`
}

func (s settings) all() map[string]string {
	all := map[string]string{}
	if s.Temperature != nil {
		all["temperature"] = fmt.Sprint(*s.Temperature)
	}
	if s.TopP != nil {
		all["top_p"] = fmt.Sprint(*s.TopP)
	}
	if s.Effort != "" {
		all["reasoning_effort"] = s.Effort
	}
	return all
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
