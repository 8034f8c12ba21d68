// What is wrong with a spec, and errors that are a user's.

package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUsage says that a spec, or the options it is run with, ask for something that cannot be.
var ErrUsage = errors.New("cannot be done")

// Fault is one thing wrong with a file.
type Fault struct {
	File string // as a reader can open it
	Line int    // from 1; 0: the file as a whole
	Path string // the knob, e.g. methods[3].params.k; empty: the top of the file
	Text string // what is wrong, with the offending value and what is accepted
}

// String prints "file:line: path: text".
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// Faults is everything wrong with a spec and the files it names, by file and line.
type Faults []Fault

// Error prints one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// err sorts and returns the faults, or nil if there are none.
func (fs Faults) err() error {
	if len(fs) == 0 {
		return nil
	}
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(fs)
}

// asFaults returns the faults inside err, or err as a fault of its own at f.
func asFaults(err error, f Fault) (found Faults, typed bool) {
	if errors.As(err, &found) {
		return found, true
	}
	f.Text = err.Error()
	return Faults{f}, false
}

// unknown says that got is not one of known.
func unknown(what, got string, known []string) string {
	return fmt.Sprintf("unknown %s %q%s", what, got, Options(got, known))
}

// Options ends a sentence about a wrong name with the one that may have been meant and all known ones.
func Options(got string, known []string) string {
	near := Nearest(got, known)
	switch {
	case len(known) == 0:
		return "; none is known here"
	case near == "":
		return "; known: " + strings.Join(known, ", ")
	case len(known) == 1:
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("; did you mean %q? known: %s", near, strings.Join(known, ", "))
}

// Nearest returns the known name that a wrong one was probably meant to be: that with the smallest edit distance to got, if that
// is at most a third of got's length, or 1 in a short name; empty otherwise.
func Nearest(got string, known []string) string {
	const longest = 100 // no name is longer; comparing is quadratic
	best, limit := "", min(max(1, len(got)/3), len(got)-1)
	for _, k := range known {
		if len(got) > longest {
			break
		}
		if d := distance(strings.ToLower(got), strings.ToLower(k)); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}

// Near returns the n known names nearest to got: those that hold it, then by edit distance, ties by name.
func Near(got string, known []string, n int) []string {
	far := map[string]int{}
	for _, k := range known {
		if !strings.Contains(strings.ToLower(k), strings.ToLower(got)) {
			far[k] = distance(strings.ToLower(got), strings.ToLower(k))
		}
	}
	sorted := slices.Clone(known)
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(cmp.Compare(far[a], far[b]), strings.Compare(a, b)) })
	return sorted[:min(n, len(sorted))]
}

// distance is the edit distance (insert, delete, replace, swap of neighbours) between two strings, in bytes.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
