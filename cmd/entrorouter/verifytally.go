// What verdicts come to, and how far they agree with others.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/entrorouter/entrorouter/verify"
)

// tally counts rows.
type tally struct {
	outcomes [3]int         // graded rows by outcome
	reasons  map[string]int // graded rows by reason
	bad      int            // rows that could not be graded
	pairs    [3][3]int      // rows by our outcome and another grader's
	alone    int            // rows that the other grader has no verdict on
	others   int            // verdicts that the other grader has
}

func (t *tally) add(v verify.Verdict) {
	if t.reasons == nil {
		t.reasons = map[string]int{}
	}
	t.reasons[v.Reason]++
	t.outcomes[v.Outcome]++
}

func (t *tally) merge(o tally) {
	if t.reasons == nil {
		t.reasons = map[string]int{}
	}
	for reason, n := range o.reasons {
		t.reasons[reason] += n
	}
	for i, n := range o.outcomes {
		t.outcomes[i] += n
	}
	t.bad += o.bad
	t.alone += o.alone
	for i, row := range o.pairs {
		for k, n := range row {
			t.pairs[i][k] += n
		}
	}
}

func (t *tally) answers() int { return t.outcomes[0] + t.outcomes[1] + t.outcomes[2] }

// report prints accuracy, unknowns and the verdicts by reason.
func (t *tally) report(out io.Writer) error {
	n, right, unknown := t.answers(), t.outcomes[verify.OutcomeEqual], t.outcomes[verify.OutcomeUnknown]
	percent := func(k int) string { return fmt.Sprintf("%.2f %%", 100*float64(k)/float64(n)) }
	var b strings.Builder
	switch {
	case n == 0:
		b.WriteString("no answers")
	case unknown == 0:
		fmt.Fprintf(&b, "accuracy %s of %s, none unknown", percent(right), counted(n, "1 answer", "%d answers"))
	default:
		fmt.Fprintf(&b, "accuracy %s of %s, %d unknown; %s if all of these are right", percent(right), counted(n, "1 answer", "%d answers"), unknown, percent(right+unknown))
	}
	if t.bad > 0 {
		fmt.Fprintf(&b, "; not graded: %s", counted(t.bad, "1 bad row", "%d bad rows"))
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, reason := range verify.Reasons() {
		if k := t.reasons[reason[0]]; k > 0 {
			fmt.Fprintf(w, "  %s\t%d\t%s\t%s\n", reason[0], k, percent(k), reason[1])
		}
	}
	w.Flush()
	t.agreement(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// agreement prints how the verdicts agree with another grader's, if there are any.
func (t *tally) agreement(b *strings.Builder) {
	both, same := 0, 0
	for i, row := range t.pairs {
		for k, n := range row {
			if both += n; i == k {
				same += n
			}
		}
	}
	if t.others == 0 && t.alone == 0 {
		return
	}
	e, d, u := verify.OutcomeEqual, verify.OutcomeDifferent, verify.OutcomeUnknown
	fmt.Fprintf(b, "the other grader agrees on %d of %d rows; equal here only %d, equal there only %d, unknown here only %d", same, both, t.pairs[e][d]+t.pairs[e][u], t.pairs[d][e]+t.pairs[u][e], t.pairs[u][e]+t.pairs[u][d])
	if t.alone > 0 {
		b.WriteString("; it has no verdict on " + counted(t.alone, "1 row", "%d rows"))
	}
	if n := t.others - both; n > 0 {
		b.WriteString(counted(n, "; 1 verdict of it is on no row that was graded", "; %d verdicts of it are on no row that was graded"))
	}
	b.WriteString("\n")
}

// MarshalJSON writes the report; without answers the accuracy is null.
func (t *tally) MarshalJSON() ([]byte, error) {
	s := struct {
		Answers   int            `json:"answers"`
		Equal     int            `json:"equal"`
		Different int            `json:"different"`
		Unknown   int            `json:"unknown"`
		Bad       int            `json:"bad_rows"`
		Accuracy  *float64       `json:"accuracy"`
		Reasons   map[string]int `json:"reasons"`
		Verifier  string         `json:"verifier"`
		Pairs     map[string]int `json:"ours_theirs,omitempty"`
	}{t.answers(), t.outcomes[verify.OutcomeEqual], t.outcomes[verify.OutcomeDifferent], t.outcomes[verify.OutcomeUnknown], t.bad, nil, t.reasons, verify.Version, nil}
	for i, row := range t.pairs {
		for k, n := range row {
			if n > 0 {
				if s.Pairs == nil {
					s.Pairs = map[string]int{}
				}
				s.Pairs[verify.Outcome(i).String()+" "+verify.Outcome(k).String()] = n
			}
		}
	}
	if s.Answers > 0 {
		accuracy := float64(s.Equal) / float64(s.Answers)
		s.Accuracy = &accuracy
	}
	return json.Marshal(s)
}
