// Checks of whole tables of the paper: averages, and percentages that whole numbers of answers can give.

package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// wholeTables checks the averages and the granularity of every table. What the list says of a table is which cells are
// known not to fit, and with which other counts percentages are tried.
func (l *List) wholeTables(file string, t *Tables) ([]Finding, error) {
	f := &faults{file: file}
	var findings []Finding
	add := func(found Finding, table string, line int) {
		found.File, found.Line = file, line
		if found.Differs != "" {
			found.Differs = t.fileOf(table) + ": " + found.Differs
		}
		findings = append(findings, found)
	}
	averages := map[string]Averages{}
	for _, a := range l.Averages {
		if _, err := t.Rows(a.Table); err != nil {
			f.add(a.line, "averages", "%v", err)
		} else if first, ok := averages[a.Table]; ok {
			f.add(a.line, "averages", "table %s is at line %d already; put all of it there", a.Table, first.line)
		}
		averages[a.Table] = a
	}
	plain := map[string]Granularity{}
	var others []Granularity
	for _, g := range l.Granularity {
		if _, err := t.Rows(g.Table); err != nil {
			f.add(g.line, "granularity", "%v", err)
		}
		if g.Count < 0 {
			f.add(g.line, "granularity", "count is %d; want questions times runs", g.Count)
		}
		if g.Benchmark != "" || g.Count != 0 {
			others = append(others, g)
			continue
		}
		if first, ok := plain[g.Table]; ok {
			f.add(g.line, "granularity", "table %s is at line %d already; put all of it there", g.Table, first.line)
		}
		plain[g.Table] = g
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	for _, table := range sortedKeys(t.lines) {
		a := averages[table]
		a.Table = table
		found, err := l.averages(a, t)
		if err != nil {
			f.add(a.line, "averages", "%v", err)
		} else if found != nil {
			add(*found, table, a.line)
		}
	}
	for _, table := range sortedKeys(t.lines) {
		g := plain[table]
		g.Table = table
		tries := []Granularity{g}
		for _, other := range others {
			if other.Table == table {
				tries = append(tries, other)
			}
		}
		for _, g := range tries {
			found, err := g.check(t)
			if err != nil {
				f.add(g.line, "granularity", "%v", err)
			} else if found != nil {
				add(*found, table, g.line)
			}
		}
	}
	return findings, f.err()
}

// averages recomputes the printed averages of a table; nil if it prints none. An average is not tried where its row
// lacks what it is made of. Averages over questions are looked for first; where a table has others, they may be over benchmarks, each
// of which counts as much, if that holds for all rows of a table and not for one by chance.
func (l *List) averages(a Averages, t *Tables) (*Finding, error) {
	rows, err := t.Rows(a.Table)
	if err != nil {
		return nil, err
	}
	tables, _ := l.sizes(t)
	type tried struct {
		name, says string
		of         int // its kind
		fits       bool
	}
	var all []tried
	var untried []string
	kinds := []struct{ name, plural, function, unit, cell string }{
		{"accuracy", "accuracies", "mean", metrics.Accuracy, metrics.Accuracy}, {"cost", "costs", "query", metrics.USDPerQuery, metrics.USD},
	}
	equally := make([]bool, len(kinds)) // all averages of the kind count each benchmark as much
	for k := range equally {
		equally[k] = true
	}
	for _, row := range rows {
		for k, kind := range kinds {
			printed, ok := t.lines[a.Table][row][metrics.Average].Value(kind.unit)
			if !ok {
				continue
			}
			if lacks, err := t.lacks(a.Table, row, kind.cell); err != nil {
				return nil, err
			} else if lacks != "" {
				untried = append(untried, row+" "+kind.name+", "+lacks)
				continue
			}
			var first value
			fits := false
			for i, sized := range tables {
				v, err := around(reference{kind.function, []string{a.Table, row}, 1}, sized)
				if err != nil {
					return nil, err
				}
				if i == 0 {
					first = v
				}
				fits = fits || v.covers(printed)
			}
			all = append(all, tried{row + " " + kind.name, fmt.Sprintf("%s %s: printed %s, the cells give %s", row, kind.name, metrics.Format(printed.Number, printed.Decimals), short(first.number, 4)), k, fits})
			if equally[k] {
				v, err := t.equally(a.Table, row, kind.cell)
				if err != nil {
					return nil, err
				}
				equally[k] = v.covers(printed)
			}
		}
	}
	var wrong, said, notes []string
	for k, kind := range kinds {
		mine := slices.DeleteFunc(slices.Clone(all), func(x tried) bool { return x.of != k })
		differ := slices.ContainsFunc(mine, func(x tried) bool { return !x.fits })
		if equally[k] = equally[k] && differ && len(mine) > 1; equally[k] {
			notes = append(notes, "Averages of "+kind.plural+" count each benchmark as much.")
		}
	}
	for _, x := range all {
		if !x.fits && !equally[x.of] {
			wrong, said = append(wrong, x.name), append(said, x.says)
		}
	}
	if len(all)+len(untried)+len(a.Mismatch) == 0 {
		return nil, nil // no averages are printed
	}
	if len(untried) > 0 {
		notes = append(notes, "Not tried: "+strings.Join(untried, "; ")+".")
	}
	a.Reason = strings.TrimSpace(strings.Join(append(notes, a.Reason), " "))
	found := tableFinding("averages of "+a.Table, "table "+a.Table, "every printed average follows from its row", len(all), wrong, said, a.Mismatch, a.Reason)
	if len(all) == 0 && found.Verdict == Holds {
		found.Verdict = NotCheckable
	}
	return &found, nil
}

// covers says whether a printed number can be the value, both of which are rounded.
func (v value) covers(printed metrics.Value) bool {
	by, above := half(printed), printed.Number-v.number
	return above <= v.up+by+slack && -above <= v.down+by+slack
}

// equally is the average of a row over its benchmarks, each of which counts as much; of dollars, those of a question.
func (t *Tables) equally(table, row, unit string) (value, error) {
	benchmarks, err := t.Benchmarks(table, row)
	if err != nil {
		return value{}, err
	}
	var sum node = number(0)
	for _, b := range benchmarks {
		function, questions := "accuracy", 1.0
		if unit == metrics.USD {
			function = "usd"
			if questions, err = t.Questions(table, row, b); err != nil {
				return value{}, err
			}
		}
		sum = binary{'+', sum, binary{'/', reference{function, []string{table, row, b}, 1}, number(questions * float64(len(benchmarks)))}}
	}
	return around(sum, t)
}

// lacks says what an average of a row cannot be made without; empty: it has all.
func (t *Tables) lacks(table, row, unit string) (string, error) {
	benchmarks, err := t.Benchmarks(table, row)
	if err != nil {
		return "", err
	}
	all := 0.0
	for _, b := range benchmarks {
		if _, err := t.Cell(table, row, b, unit); err != nil {
			return "no " + unit + " on " + b, nil
		}
		n, err := t.Questions(table, row, b)
		if err != nil {
			return "no questions on " + b, nil
		}
		all += n
	}
	if all == 0 {
		return "no questions", nil
	}
	return "", nil
}

// check tries the printed percentages of a table; nil if it prints none.
func (g Granularity) check(t *Tables) (*Finding, error) {
	rows, err := t.Rows(g.Table)
	if err != nil {
		return nil, err
	}
	var wrong, said []string
	n := 0
	known := map[string]bool{}
	for _, row := range rows {
		benchmarks, err := t.Benchmarks(g.Table, row)
		if err != nil {
			return nil, err
		}
		for _, b := range benchmarks {
			m, err := t.line(g.Table, row, b)
			if err != nil {
				return nil, err
			}
			v, ok := m.Value(metrics.Accuracy)
			if !ok {
				continue
			}
			known[b] = true
			if g.Benchmark != "" && g.Benchmark != b {
				continue
			}
			count := m.N
			if g.Count > 0 {
				count = g.Count
			}
			n++
			if !attainable(v, count) {
				wrong = append(wrong, row+" "+b)
				said = append(said, fmt.Sprintf("%s on %s: %s%% of %d", row, b, metrics.Format(v.Number, v.Decimals), count))
			}
		}
	}
	if n == 0 && g.Benchmark != "" {
		return nil, fmt.Errorf("table %s has no percentage on %q; known: %s", g.Table, g.Benchmark, list(known))
	}
	if n+len(g.Mismatch) == 0 {
		return nil, nil
	}
	id, says := "granularity of "+g.Table, "every percentage is a whole number of right answers"
	if g.Benchmark != "" {
		id += ", " + g.Benchmark
	}
	if g.Count > 0 {
		id += fmt.Sprintf(" with %d", g.Count)
		says += fmt.Sprintf(" out of %d", g.Count)
	}
	found := tableFinding(id, "table "+g.Table, says, n, wrong, said, g.Mismatch, g.Reason)
	return &found, nil
}

// attainable says whether a percentage can be printed of k out of n, for whole k.
func attainable(printed metrics.Value, n int) bool {
	k := min(max(0, math.Round(printed.Number/100*float64(n))), float64(n))
	return math.Abs(100*k/float64(n)-printed.Number) <= half(printed)+slack
}

// sizes returns the tables with every alternative of sizes, one benchmark at a time, the printed ones first.
func (l *List) sizes(t *Tables) (all []*Tables, names []string) {
	all, names = []*Tables{t}, []string{""}
	for _, b := range sortedKeys(l.Sizes) {
		for _, n := range l.Sizes[b][1:] {
			all = append(all, &Tables{t.lines, t.files, map[string]float64{b: n}})
			names = append(names, fmt.Sprintf("%s of %v questions", b, n))
		}
	}
	return all, names
}
