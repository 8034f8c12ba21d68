// A finished run as a page has it.

package page

import (
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/present"
)

// Experiment is one finished run.
type Experiment struct {
	Run         *present.Run
	Outputs     []present.Output
	File        string        // of its measurements
	Commands    []string      // that make it, in the order of their use
	Questions   []QuestionSet // nil: there is no store of the run
	NoQuestions string        // why there are none, a sentence; may be empty

	Against *compare.NumbersReport // its measurements beside those of the page's other run; nil: that has none
	Compare string                 // the command that lists every number of it
}
