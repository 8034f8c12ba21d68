// What a reader who opens a verdict is told, scale by scale.

package paper

import (
	"slices"
)

// Experiment is the one whose measurements decide on the scale at an index; empty: the sentence is not stated there.
func (r Row) Experiment(at int) string {
	j := r.Judged[at]
	rows, ok := r.Ordering.on(j.Scale.Kind, r.Section.Table)
	if !ok || j.Verdict == NotStated {
		return ""
	}
	if rows.Experiment == "" {
		rows.Experiment, _ = j.Scale.experiment(r.Section.Table)
	}
	return rows.Experiment
}

// Sides are the rows that the ordering compares on the scale at an index, as the experiment calls them, and the benchmark; rows that are
// no methods are left out.
func (o *Orderings) Sides(r Row, at int) (rows []string, benchmark string) {
	scale := r.Judged[at].Scale
	sides, ok := r.Ordering.on(scale.Kind, r.Section.Table)
	if !ok {
		return nil, ""
	}
	sides.Experiment = r.Experiment(at)
	a, b := o.sides(r.Ordering, sides, scale)
	for _, side := range []Place{a, b} {
		if side["method"] != "" {
			rows = append(rows, side["method"])
		}
	}
	return rows, a["benchmark"]
}

// Rows are those that a claim reads of an experiment on a scale, as the experiment calls them.
func (c *Claim) Rows(o *Orderings, s Scale, experiment string) (rows []string) {
	for _, name := range c.rows() {
		rows = append(rows, o.row(s, experiment, name))
	}
	return rows
}

// Experiments are those whose measurements a claim is evaluated on, of a scale.
func (c *Claim) Experiments(s Scale) (all []string) {
	if c.Ours == nil || c.Ours.formula == nil {
		return nil
	}
	for _, r := range references(c.Ours.formula.node) {
		if name, ok := s.experiment(r.words[0]); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// rows are those that the formula of a claim reads on our measurements, or else in the paper's tables.
func (c *Claim) rows() (rows []string) {
	f := c.formula
	if c.Ours != nil && c.Ours.formula != nil {
		f = c.Ours.formula
	}
	if f == nil {
		return nil
	}
	for _, r := range references(f.node) {
		of := r.words[1:2]
		if slices.Contains([]string{"retention", "saving", "gain"}, r.function) {
			of = r.words[1:]
		}
		for _, row := range of {
			if !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}
