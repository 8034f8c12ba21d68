// What becomes of a claim.

package paper

import (
	"fmt"
	"slices"
	"strings"
)

// Verdicts on claims.
const (
	Holds        = "holds"
	Mismatch     = "mismatch"
	WrongUnit    = "wrong unit" // the number follows from the tables in another unit than the printed one
	NotCheckable = "not checkable"
)

// Finding is what became of a claim or a check.
type Finding struct {
	ID, Source, Says string
	Printed          string
	Recomputed       string // empty: nothing could be computed
	Tolerance        string
	Ours             []OnScale // of claims that mean something on our measurements: a scale each
	OursReason       string    // why a difference decides nothing there, or what the margin is
	Margin           float64   // of a printed number: how far ours may be off
	Seen             bool      // the margin was chosen after a table of verdicts had been seen
	Verdict          string
	Reason           string
	Differs          string // how the verdict differs from the recorded one; empty: it does not
	Table            bool   // a check of a whole table
	Measured         bool   // of our measurements
	File             string
	Line             int
}

// At is where a finding comes from: file:line, or the file alone.
func (f Finding) At() string { return atLine(f.File, f.Line) }

// OnScale is a claim on one scale.
type OnScale struct {
	Scale   Scale
	Verdict string    // as of orderings; empty: it means nothing here, or there is no number to be judged by
	Shows   string    // of Untestable and Assumed: what the number would say; otherwise empty
	Why     string    // as of orderings
	Value   *Contrast // nil: nothing was measured
	Unit    string
	Against string // of a comparison with several rows: the one that decided
}

func tableFinding(id, source, says string, n int, wrong, said, recorded []string, reason string) Finding {
	f := Finding{Table: true, ID: id, Source: source, Says: says, Printed: fmt.Sprintf("%d cells", n), Recomputed: fmt.Sprintf("%d of %d", n-len(wrong), n), Verdict: Holds, Reason: reason}
	if len(wrong) > 0 {
		f.Verdict = Mismatch
		f.Reason = strings.TrimSpace(strings.Join(said, "; ") + ". " + reason)
	}
	missing := slices.DeleteFunc(slices.Clone(recorded), func(s string) bool { return slices.Contains(wrong, s) })
	var extra []string
	for i, name := range wrong {
		if !slices.Contains(recorded, name) {
			extra = append(extra, said[i])
		}
	}
	var differs []string
	if len(extra) > 0 {
		differs = append(differs, "mismatch that is not recorded: "+strings.Join(extra, "; "))
	}
	if len(missing) > 0 {
		differs = append(differs, "holds now, recorded as mismatch: "+strings.Join(missing, ", "))
	}
	f.Differs = strings.Join(differs, "; ")
	return f
}
