// The files of decisions, and of the answers that decisions carry.

package book

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/table"
)

// decisionsFile and answersFile are what a fit decided in an arena, and the answers that decisions carry.
func decisionsFile(arena string) string { return path.Join("decisions", arena+".csv") }
func answersFile(arena string) string   { return path.Join("answers", arena+".jsonl") }

// noCalls stands for a decision that lists no calls: no more was asked than the expert that was chosen.
const noCalls = "-"

// decisionColumns are those of a decision among experts: problem, run, the expert (index into the pool, -1 for a closed
// form, -2 for the router itself), the tokens that the router read and wrote, the distribution over experts, the experts
// called, and the probability that they spoiled the router's own answer.
func decisionColumns(experts int) []table.Column[routing.Decision] {
	type decision = routing.Decision
	columns := []table.Column[decision]{
		table.Text("problem", func(d *decision) *string { return &d.Problem }),
		table.Int("run", func(d *decision) *int { return &d.Run }),
		table.Int("expert", func(d *decision) *int { return &d.Expert }),
		table.Int("in", func(d *decision) *int64 { return &d.Usage.In }),
		table.Int("out", func(d *decision) *int64 { return &d.Usage.Out }),
	}
	for m := range experts {
		columns = append(columns, table.Float(fmt.Sprintf("prob:%d", m), 6, func(d *decision) *float64 {
			if d.Prob == nil {
				d.Prob = make([]float64, experts)
			}
			return &d.Prob[m]
		}))
	}
	return append(columns,
		table.Column[decision]{Name: "calls", Text: func(d *decision) string {
			if d.Calls == nil {
				return noCalls
			}
			var called []string
			for _, c := range d.Calls {
				called = append(called, strconv.Itoa(c.Expert))
			}
			return strings.Join(called, " ")
		}, Set: func(d *decision, text string) error {
			if text == noCalls {
				return nil
			}
			d.Calls = []routing.Call{}
			for _, field := range strings.Fields(text) {
				m, err := strconv.Atoi(field)
				if err != nil || m < 0 || m >= experts {
					return fmt.Errorf("call of %q, which is no expert of the pool", field)
				}
				d.Calls = append(d.Calls, routing.Call{Expert: m})
			}
			return nil
		}},
		table.Float("spoiled", 6, func(d *decision) *float64 { return &d.Spoiled }))
}

// WriteDecisions writes what was decided in an arena, a line a query, and the answers that decisions carry.
func WriteDecisions(d *store.Draft, arena string, experts int, decisions []routing.Decision) error {
	if err := writeTable(d, decisionsFile(arena), decisionColumns(experts), decisions); err != nil {
		return err
	}
	return writeAnswers(d, arena, decisions)
}

// ReadDecisions reads what WriteDecisions wrote for the given queries, and grades the answers in it.
func ReadDecisions(entry store.Entry, arena string, queries []routing.Query, experts int) ([]routing.Decision, error) {
	out, err := readQueries(entry, decisionsFile(arena), "decision", decisionColumns(experts), queries, func(x *routing.Decision, q routing.Query) bool {
		ok := x.Problem == q.Problem.ID && x.Run == q.Run && x.Expert < experts && x.Expert >= routing.Self
		x.Problem = q.Problem.ID
		return ok
	})
	if err != nil {
		return nil, err
	}
	return out, readAnswers(entry, arena, queries, out)
}

// answerLine is a line of answers: a decision that carries its own answer. Grades are not stored, so that a better
// verifier grades again.
type answerLine struct {
	Query  int            `json:"query"` // line of the decisions, from 0
	Answer string         `json:"answer"`
	Bare   bool           `json:"bare,omitempty"`
	Finish routing.Finish `json:"finish,omitempty"`
	Calls  []cost.Usage   `json:"calls"` // of the calls that the decision lists, in order
}

// writeAnswers writes a line a decision that carries an answer; no file if none does.
func writeAnswers(d *store.Draft, arena string, decisions []routing.Decision) error {
	if !slices.ContainsFunc(decisions, func(x routing.Decision) bool { return x.Answer != nil }) {
		return nil
	}
	return create(d, answersFile(arena), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for i, x := range decisions {
			if x.Answer == nil {
				continue
			}
			line := answerLine{Query: i, Answer: x.Answer.Text, Bare: x.Answer.Bare, Finish: x.Answer.Finish, Calls: []cost.Usage{}}
			for _, c := range x.Calls {
				line.Calls = append(line.Calls, c.Usage)
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// readAnswers adds the answers to the decisions that have one, and grades them.
func readAnswers(entry store.Entry, arena string, queries []routing.Query, decisions []routing.Decision) error {
	if !entry.Has(answersFile(arena)) {
		return nil
	}
	f, err := entry.Open(answersFile(arena))
	if err != nil {
		return err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	for n := 1; ; n++ {
		var line answerLine
		err := dec.Decode(&line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", f.Name(), n, err)
		}
		if line.Query < 0 || line.Query >= len(decisions) || len(line.Calls) != len(decisions[line.Query].Calls) {
			return fmt.Errorf("%s:%d: not the answer of decision %d of arena %s; remove the folder of this step and run again", f.Name(), n, line.Query+1, arena)
		}
		d := &decisions[line.Query]
		d.Answer = &routing.Answer{Text: line.Answer, Bare: line.Bare, Finish: line.Finish}
		d.Answer.Bucket = queries[line.Query].Problem.Grade(*d.Answer)
		for k, u := range line.Calls {
			d.Calls[k].Usage = u
		}
	}
}
