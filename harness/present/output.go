// What a kind of table or figure makes of a spec's output.

package present

import (
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// output is a kind of output. A new one is a file here that says what it shows, its caption in captions, how it is drawn in
// package report, and a line in outputs.
type output struct {
	kind      string
	protocols []string                          // of experiments that it is of; nil: of all
	reads     []string                          // keys of the spec's output that it reads, besides kind, file and number
	needs     func(r *Run, o spec.Output) error // what else the spec must have; it reads measurements only where there are some
	suffixes  func(x *spec.Experiment) []string // of the names of its files, besides none: spec.OutputKind
	swept     bool                              // it is drawn over a number of the rows, which the output names
	printed   bool                              // its tables are shown on the terminal
	wants     Wants
	trainings func(o spec.Output) []string // what an output wants of Wants.Trainings; nil: nothing
	tables    func(r *Run, o spec.Output, paper published) ([]*report.Table, error)
	figures   func(r *Run, o spec.Output, paper published) ([]*report.Figure, error)
	text      func(r *Run, o spec.Output) (string, error) // what Conclude prints
}

// Wants is what is there for an output only where it is asked for: measurements that not every experiment makes, and a row.
type Wants struct {
	Difficulty  bool     // of test problems, which takes a profile of them
	Calibration bool     // of pass rates of training problems, held against the truth
	Row         string   // id of a row that it is about
	Trainings   []string // ids of the rows whose trainings it shows; nil: it shows none
}

// Output is what came of one output of a spec.
type Output struct {
	File    string // name of a text, without extension
	Tables  []*report.Table
	Figures []*report.Figure
	Text    string
	printed bool // the tables are shown on the terminal
}

// one is a figure by itself.
func one(f *report.Figure, err error) ([]*report.Figure, error) {
	if f == nil || err != nil {
		return nil, err
	}
	return []*report.Figure{f}, nil
}
