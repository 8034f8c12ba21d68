// A file of claims is read, and its claims are tried on the paper's tables.

package paper

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// ReadList reads a file of claims. Errors start with file:line.
func ReadList(file string, data []byte) (*List, error) {
	l := &List{}
	if err := decode(file, data, l); err != nil {
		return nil, err
	}
	f := &faults{file: file}
	lines := linesOf(data, "claims")
	seen := map[string]int{}
	for i := range l.Claims {
		c := &l.Claims[i]
		c.line = lines[i]
		if first, ok := seen[c.ID]; ok {
			f.add(c.line, c.ID, "the id is taken by line %d", first)
		}
		seen[c.ID] = c.line
		c.check(f)
	}
	for i, line := range linesOf(data, "averages") {
		l.Averages[i].line = line
	}
	for i, line := range linesOf(data, "granularity") {
		l.Granularity[i].line = line
	}
	for i, line := range linesOf(data, "repeated") {
		l.Repeated[i].line = line
	}
	for i, line := range linesOf(data, "costs") {
		l.Costs[i].line = line
	}
	for i, line := range linesOf(data, "totals") {
		l.Totals[i].line = line
	}
	for _, b := range sortedKeys(l.Sizes) {
		if len(l.Sizes[b]) == 0 {
			f.add(0, "sizes", "%s has no size; leave it out", b)
		}
	}
	return l, f.err()
}

var decimal = regexp.MustCompile(`^-?\d+(\.\d+)?(e-?\d+)?$`)

func (c *Claim) check(f *faults) {
	verdicts := []string{Holds, Mismatch, WrongUnit, NotCheckable}
	switch {
	case c.ID == "":
		f.add(c.line, "claim", "no id")
		return
	case c.Source == "" || c.Says == "":
		f.add(c.line, c.ID, "source and says must both be set")
	case !slices.Contains(verdicts, c.Verdict):
		f.add(c.line, c.ID, "unknown verdict %q; known: %s", c.Verdict, strings.Join(verdicts, ", "))
	case c.Verdict != Holds && c.Reason == "":
		f.add(c.line, c.ID, "a verdict of %q needs a reason", c.Verdict)
	case c.Printed != "" && !decimal.MatchString(c.Printed):
		f.add(c.line, c.ID, "printed is %q; want a decimal number, in quotes, with the digits of the paper", c.Printed)
	case c.Allow < 0:
		f.add(c.line, c.ID, "allow is %v; it must be at least 0", c.Allow)
	}
	if c.Formula != "" {
		var err error
		if c.formula, err = Parse(c.Formula); err != nil {
			f.add(c.line, c.ID, "formula: %v", err)
		} else if c.formula.compares() && c.Printed != "" {
			f.add(c.line, c.ID, "the formula is a comparison, so there is nothing that printed %q could be", c.Printed)
		}
	}
	if c.Slip != "" {
		var err error
		if c.slip, err = Parse(c.Slip); err != nil {
			f.add(c.line, c.ID, "slip: %v", err)
		} else if c.slip.compares() || c.formula == nil || c.Printed == "" {
			f.add(c.line, c.ID, "slip is what a printed number that the formula does not give would be; printed, formula and a slip that is no comparison must be set")
		}
	}
	if c.Ours != nil {
		c.checkOurs(f)
	}
}

// Check recomputes every claim from the tables, and on measurements where the claim asks for it, and runs the checks of
// whole tables on each of them. measured and o may be nil. file names the list in findings.
func (l *List) Check(file string, t *Tables, measured *Measurements, o *Orderings) ([]Finding, error) {
	f := &faults{file: file}
	var findings []Finding
	if o != nil {
		l.checkAgainst(o, f)
	}
	l.checkSizes(t, f)
	for i := range l.Claims {
		c := &l.Claims[i]
		found, err := l.claim(c, t)
		if err != nil {
			f.add(c.line, c.ID, "formula: %v", err)
			continue
		}
		if measured != nil && o != nil && c.Ours != nil {
			found.OursReason, found.Margin = c.Ours.Reason, c.Ours.Margin
			if found.Seen = c.Ours.Seen; found.Seen {
				found.OursReason += " It was chosen after a table of verdicts had been seen."
			}
			for _, scale := range o.scalesOfClaims() {
				on, err := c.onScale(ours{measured, o, scale, t})
				if err != nil {
					f.add(c.line, c.ID, "%s: %v", scale.ID, err)
				}
				found.Ours = append(found.Ours, on)
			}
		}
		if found.Verdict != c.Verdict {
			found.Differs = fmt.Sprintf("%s now, recorded as %s", found.Verdict, c.Verdict)
		}
		found.File, found.Line = file, c.line
		findings = append(findings, found)
	}
	whole, err := l.wholeTables(file, t)
	if err != nil {
		f.text = append(f.text, err.Error())
	}
	findings = append(findings, whole...)
	return append(findings, l.across(t, f)...), f.err()
}

// checkAgainst looks for scales that no ordering knows, and for ids that one of them has: the digest names both by their
// ids.
func (l *List) checkAgainst(o *Orderings, f *faults) {
	taken := map[string]int{}
	for _, s := range o.Sections {
		for _, x := range s.Orderings {
			taken[x.ID] = x.line
		}
	}
	var known []string
	for _, s := range o.scalesOfClaims() {
		known = append(known, s.ID)
	}
	for _, c := range l.Claims {
		if line, ok := taken[c.ID]; ok {
			f.add(c.line, c.ID, "the id is that of an ordering, at line %d of its file; choose another", line)
		}
		if c.Ours == nil {
			continue
		}
		for _, id := range c.Ours.Scales {
			if !slices.Contains(known, id) {
				f.add(c.line, c.ID, "ours: unknown scale %q; known: %s", id, strings.Join(known, ", "))
			}
		}
	}
}

// checkSizes looks for benchmarks that no table has, and for first sizes that are not those of the tables.
func (l *List) checkSizes(t *Tables, f *faults) {
	for _, b := range sortedKeys(l.Sizes) {
		known, questions := map[string]bool{}, map[float64]bool{}
		for table, rows := range t.lines {
			for row, lines := range rows {
				for benchmark := range lines {
					known[benchmark] = true
				}
				if n, err := t.Questions(table, row, b); err == nil {
					questions[n] = true
				}
			}
		}
		delete(known, metrics.Average)
		first := l.Sizes[b][0]
		delete(questions, first)
		switch {
		case !known[b]:
			f.add(0, "sizes", "no table has a benchmark %q; known: %s", b, list(known))
		case len(questions) > 0:
			f.add(0, "sizes", "the first of %s is %v, and a table has %v questions; they have to be the same", b, first, sortedKeys(questions)[0])
		}
	}
}

// claim recomputes one claim. Of several sizes the first that lets it hold counts, else the printed ones.
func (l *List) claim(c *Claim, t *Tables) (Finding, error) {
	found := Finding{ID: c.ID, Source: c.Source, Says: c.Says, Reason: c.Reason, Verdict: NotCheckable}
	if c.Printed != "" {
		found.Printed = c.Printed + c.Unit
	}
	if c.formula == nil {
		return found, nil
	}
	tables, names := l.sizes(t)
	for i, t := range tables {
		try, err := c.try(t)
		if err != nil {
			return Finding{}, err
		}
		if i == 0 {
			found.Recomputed, found.Tolerance, found.Verdict = try.Recomputed, try.Tolerance, try.Verdict
		} else if try.Verdict == Holds && found.Verdict == Mismatch {
			found.Recomputed, found.Tolerance, found.Verdict = try.Recomputed, try.Tolerance, try.Verdict
			found.Reason = strings.TrimSpace(found.Reason + " With " + names[i] + ".")
		}
	}
	if found.Verdict == Mismatch && c.slip != nil {
		slip := *c
		slip.formula = c.slip
		try, err := slip.try(t)
		if err != nil {
			return Finding{}, fmt.Errorf("slip: %w", err)
		}
		if try.Verdict == Holds {
			found.Verdict = WrongUnit
		}
	}
	return found, nil
}

func (c *Claim) try(t *Tables) (found Finding, err error) {
	verdict := map[bool]string{true: Holds, false: Mismatch}
	if c.formula.compares() {
		decides, err := c.formula.compare(t)
		at := decides.at
		found.Recomputed = fmt.Sprintf("difference %s%s", short(at.number, 3), cmp.Or(c.Unit, decides.unit))
		found.Tolerance = tolerance(at.up, at.down, 0, twoDigits(max(at.up, at.down)))
		found.Verdict = verdict[decides.holds]
		return found, err
	}
	v, err := c.formula.evaluate(t)
	if err != nil {
		return found, err
	}
	if c.Printed == "" {
		found.Recomputed, found.Verdict = short(v.number, 4)+c.Unit, NotCheckable
		return found, nil
	}
	printed, half := asPrinted(c.Printed)
	within := func(number, up, down float64) bool {
		above := printed - number // how far the printed number lies above
		some := slack * (math.Abs(printed) + up + down)
		return above <= up+c.Allow+some && -above <= down+c.Allow+some
	}
	up, down := v.up+half, v.down+half
	holds := within(v.number, up, down)
	found.Verdict = verdict[holds]
	_, digits, _ := strings.Cut(c.Printed, ".")
	decimals := len(digits) + 2
	if strings.Contains(c.Printed, "e") {
		decimals = 8
	}
	for range 4 { // or as many as a reader needs to see the verdict
		if within(rounded(v.number, decimals), rounded(up, decimals), rounded(down, decimals)) == holds {
			break
		}
		decimals++
	}
	found.Recomputed = strconv.FormatFloat(v.number, 'f', decimals, 64) + c.Unit
	found.Tolerance = tolerance(up, down, c.Allow, decimals)
	return found, nil
}

// scalesOfClaims are the scales on which claims are judged: those with tables.
func (o *Orderings) scalesOfClaims() []Scale {
	return slices.DeleteFunc(slices.Clone(o.Scales), Scale.bySeeds)
}
