// Checks across tables of the paper: rows that several of them print, what costs say about tokens, and control totals.

package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// misfit is a cell that does not fit, by the name that a list records it under.
type misfit struct{ name, says string }

// across runs the checks that the list asks for besides those of every table.
func (l *List) across(t *Tables, f *faults) (findings []Finding) {
	add := func(line int, kind, of, source, says string, check func(*Tables) (int, []misfit, error), recorded []string, reason string) {
		n, misfits, err := check(t)
		if err != nil {
			f.add(line, kind, "%v", err)
			return
		}
		var wrong, said []string
		for _, m := range misfits {
			wrong, said = append(wrong, m.name), append(said, m.says)
		}
		found := tableFinding(of, source, says, n, wrong, said, recorded, reason)
		found.File, found.Line = f.file, line
		findings = append(findings, found)
	}
	for _, r := range l.Repeated {
		add(r.line, "repeated", "repeated row "+append(r.Rows, "")[0], strings.Join(r.Rows, ", "), "the tables that print this row agree in every printed digit", r.check, r.Mismatch, r.Reason)
	}
	for _, c := range l.Costs {
		add(c.line, "costs", "costs of "+c.Table, "table "+c.Table, "the costs are those of plausible answers", c.check, c.Mismatch, c.Reason)
	}
	for _, x := range l.Totals {
		add(x.line, "totals", "transcription of "+x.Table, "table "+x.Table, "every row and column adds up to what it did in the paper", x.check, nil, "")
	}
	return findings
}

// place is how findings write a cell: file: row benchmark unit.
func (t *Tables) place(table, row, benchmark, unit string) string {
	return fmt.Sprintf("%s: %s %s %s", path.Base(t.files[[3]string{table, row, benchmark}]), row, benchmark, unit)
}

func (r Repeated) check(t *Tables) (n int, misfits []misfit, err error) {
	if len(r.Rows) < 2 {
		return 0, nil, fmt.Errorf("rows has %d entries; want the table:row of each of at least two", len(r.Rows))
	}
	type cell struct {
		table, row string
		metrics.Value
	}
	cells := map[[2]string][]cell{} // by benchmark and unit
	first := ""                     // benchmarks of the first row, which its average is over
	for i, name := range r.Rows {
		table, row := named(name, "")
		lines, err := t.row(table, row)
		if err != nil {
			return 0, nil, err
		}
		if i == 0 {
			first = list(lines)
		}
		for b, m := range lines {
			if b == metrics.Average && list(lines) != first {
				continue
			}
			for _, v := range m.Values {
				at := [2]string{b, v.Unit}
				cells[at] = append(cells[at], cell{table, row, v})
			}
		}
	}
	at := slices.SortedFunc(maps.Keys(cells), func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	for _, at := range at {
		left := cells[at]
		if len(left) < 2 {
			continue
		}
		n += len(left)
		for { // the one that most others contradict, the last of several, is named and left out
			worst, against := 0, []string(nil)
			for i, a := range left {
				var says []string
				for j, b := range left {
					if i != j && math.Abs(a.Number-b.Number) > half(a.Value)+half(b.Value)-slack {
						says = append(says, fmt.Sprintf("%s has %s", path.Base(t.files[[3]string{b.table, b.row, at[0]}]), metrics.Format(b.Number, b.Decimals)))
					}
				}
				if len(says) > 0 && len(says) >= len(against) {
					worst, against = i, says
				}
			}
			if against == nil {
				break
			}
			a := left[worst]
			misfits = append(misfits, misfit{a.table + ":" + a.row + " " + at[0] + " " + at[1],
				fmt.Sprintf("%s is %s, %s", t.place(a.table, a.row, at[0], at[1]), metrics.Format(a.Number, a.Decimals), strings.Join(against, ", "))})
			left = slices.Delete(slices.Clone(left), worst, worst+1)
		}
	}
	return n, misfits, nil
}

// spreadOfTokens is the standard deviation of an expert's tokens over the questions of a benchmark, in units of their mean:
// that of exponential lengths, more than reasoning models have on one benchmark.
const spreadOfTokens = 1

func (c Costs) check(t *Tables) (n int, misfits []misfit, err error) {
	switch {
	case len(c.Experts) < 2:
		return 0, nil, fmt.Errorf("experts has %d entries; want at least two", len(c.Experts))
	case c.Apart < 1:
		return 0, nil, fmt.Errorf("apart is %v; want how many times as many tokens one expert may write as another, at least 1", c.Apart)
	}
	rows, err := t.Rows(c.Table)
	if err != nil {
		return 0, nil, err
	}
	benchmarks := map[string]bool{}
	for _, row := range rows {
		of, err := t.Benchmarks(c.Table, row)
		if err != nil {
			return 0, nil, err
		}
		for _, b := range of {
			benchmarks[b] = true
		}
	}
	for _, b := range sortedKeys(benchmarks) {
		tried, some, err := c.benchmark(t, b)
		if err != nil {
			return 0, nil, err
		}
		n, misfits = n+tried, append(misfits, some...)
	}
	return n, misfits, nil
}

// spent is the cost of a row on a benchmark.
type spent struct {
	table, row string
	metrics.Value
	tokens, least, most float64 // of an expert: a question, and what rounding leaves of it
}

func (c Costs) benchmark(t *Tables, benchmark string) (n int, misfits []misfit, err error) {
	cost := func(name string) (s spent, err error) {
		s.table, s.row = named(name, c.Table)
		s.Value, err = t.Cell(s.table, s.row, benchmark, metrics.USD)
		return s, err
	}
	bad := func(s spent, format string, args ...any) {
		misfits = append(misfits, misfit{s.table + ":" + s.row + " " + benchmark,
			fmt.Sprintf("%s is %s: ", t.place(s.table, s.row, benchmark, metrics.USD), metrics.Format(s.Number, s.Decimals)) + fmt.Sprintf(format, args...)})
	}
	var experts []spent
	for _, name := range sortedKeys(c.Experts) {
		e := c.Experts[name]
		if e.Price <= 0 || e.Limit <= 0 {
			return 0, nil, fmt.Errorf("expert %s: price is %v and limit %v; both must be above 0", name, e.Price, e.Limit)
		}
		s, err := cost(name)
		if err != nil {
			return 0, nil, err
		}
		questions, err := t.Questions(s.table, s.row, benchmark)
		if err != nil {
			return 0, nil, err
		}
		each := 1e6 / e.Price / questions
		s.tokens, s.least, s.most = s.Number*each, (s.Number-half(s.Value))*each, (s.Number+half(s.Value))*each
		n++
		switch {
		case s.Number <= 0:
			bad(s, "an expert's answers cost something")
		case s.least > e.Limit:
			bad(s, "%.0f tokens per question at %v dollars per million, and an answer has at most %.0f", s.tokens, e.Price, e.Limit)
		default:
			experts = append(experts, s)
		}
	}
	slices.SortFunc(experts, func(a, b spent) int { return cmp.Compare(a.tokens, b.tokens) })
	if last := len(experts) - 1; last > 0 && experts[last].least > c.Apart*experts[0].most {
		odd, other := experts[last], experts[0]
		middle := experts[len(experts)/2].tokens
		if middle/other.tokens > odd.tokens/middle { // the one farther from the others is named
			odd, other = other, odd
		}
		bad(odd, "%.0f tokens per question, and %s has %.0f, more than %v times apart", odd.tokens, t.place(other.table, other.row, benchmark, metrics.USD), other.tokens, c.Apart)
	}
	if len(experts) < len(c.Experts) {
		return n, misfits, nil // what the others are held against is wrong itself
	}
	low, high := math.Inf(1), 0.0
	mean, square, rounding := 0.0, 0.0, 0.0
	for _, e := range experts {
		low, high = min(low, e.Number-half(e.Value)), max(high, e.Number+half(e.Value))
		k := float64(len(experts))
		mean, square, rounding = mean+e.Number/k, square+e.Number*e.Number/k, rounding+half(e.Value)/k
	}
	if c.Random != "" {
		s, err := cost(c.Random)
		if err != nil {
			return 0, nil, err
		}
		m, err := t.line(s.table, s.row, benchmark)
		if err != nil {
			return 0, nil, err
		}
		n++
		se := math.Sqrt((square - mean*mean) * (1 + spreadOfTokens*spreadOfTokens) / float64(m.N))
		if by := 2*se + rounding + half(s.Value); math.Abs(s.Number-mean) > by {
			bad(s, "a uniform choice among the experts costs %s, give or take %s in %d draws", short(mean, 4), short(by, 2), m.N)
		}
	}
	for _, name := range c.Between {
		if lines, err := t.row(named(name, c.Table)); err != nil {
			return 0, nil, err
		} else if _, ok := lines[benchmark]; !ok {
			continue
		}
		s, err := cost(name)
		if err != nil {
			return 0, nil, err
		}
		n++
		if s.Number+half(s.Value) < low || s.Number-half(s.Value) > high {
			bad(s, "who asks one expert each time spends between %s and %s", short(low, 4), short(high, 4))
		}
	}
	return n, misfits, nil
}

// kindsOfCell are what control totals add up, in the order of their numbers.
var kindsOfCell = [2]struct {
	name  string
	units []string
}{{"accuracies", []string{metrics.Accuracy}}, {"costs", []string{metrics.USD, metrics.USDPerQuery}}}

func (x Totals) check(t *Tables) (n int, misfits []misfit, err error) {
	rows, err := t.Rows(x.Table)
	if err != nil {
		return 0, nil, err
	}
	const exact = 1e-7 // sums of decimals of at most four digits
	for kind, of := range kindsOfCell {
		byRow, byColumn := map[string]float64{}, map[string]float64{}
		for _, row := range rows {
			byRow[row] = 0
			for b, m := range t.lines[x.Table][row] {
				byColumn[b] += 0
				for _, unit := range of.units {
					if v, ok := m.Value(unit); ok {
						byRow[row] += v.Number
						byColumn[b] += v.Number
					}
				}
			}
		}
		// off is by how much each sum is above its total; a row or column that only one side has is off by all of it.
		off := func(sums map[string]float64, totals map[string][2]float64) map[string]float64 {
			all := map[string]float64{}
			for name, sum := range sums {
				all[name] = sum - totals[name][kind]
			}
			for name, total := range totals {
				if _, ok := sums[name]; !ok {
					all[name] = -total[kind]
				}
			}
			n += len(all)
			maps.DeleteFunc(all, func(_ string, by float64) bool { return math.Abs(by) < exact })
			return all
		}
		rowsOff, columnsOff := off(byRow, x.Rows), off(byColumn, x.Columns)
		for _, row := range sortedKeys(rowsOff) {
			for _, b := range sortedKeys(columnsOff) {
				by := rowsOff[row]
				m, ok := t.lines[x.Table][row][b]
				if !ok || math.Abs(by-columnsOff[b]) > exact {
					continue
				}
				for _, unit := range of.units {
					if v, ok := m.Value(unit); ok {
						misfits = append(misfits, misfit{row + " " + b + " " + unit, fmt.Sprintf("%s is %s, the control totals of its row and column want %s",
							t.place(x.Table, row, b, unit), metrics.Format(v.Number, v.Decimals), metrics.Format(rounded(v.Number-by, 7), v.Decimals))})
					}
				}
				delete(rowsOff, row)
				delete(columnsOff, b)
				break
			}
		}
		for _, left := range []struct {
			what        string
			off, sums   map[string]float64
			totals      map[string][2]float64
			fileOfTable string
		}{{"row", rowsOff, byRow, x.Rows, t.fileOf(x.Table)}, {"column", columnsOff, byColumn, x.Columns, t.fileOf(x.Table)}} {
			for _, name := range sortedKeys(left.off) {
				misfits = append(misfits, misfit{left.what + " " + name + " " + of.name, fmt.Sprintf("%s: the %s of %s %s add up to %s, the control total is %s",
					left.fileOfTable, of.name, left.what, name, short(left.sums[name], 8), short(left.totals[name][kind], 8))})
			}
		}
	}
	return n, misfits, nil
}
