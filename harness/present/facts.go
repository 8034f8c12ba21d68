// What captions and notes say of the rows of an experiment, worked out from its spec and measurements.

package present

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// matched are the rows that spend what another one spends.
type matched struct {
	To   string
	Rows []string
}

// Matched are the rows that others are matched to, in the order of the experiment.
func (w words) Matched() (all []matched) {
	for _, to := range w.Experiment.Methods {
		m := matched{To: to.RowLabel()}
		for _, row := range w.Experiment.Methods {
			if row.Match == to.RowID() {
				m.Rows = append(m.Rows, row.RowLabel())
			}
		}
		if m.Rows != nil {
			all = append(all, m)
		}
	}
	return all
}

// coverage is how much of what is behind the rows of the paper's sizes has no sure grade, in percent of a row's rollouts,
// of the row with most of it.
type coverage struct {
	Rollouts                     string // a number or from one to another
	Truncated, NoAnswer, Unknown string
}

// Coverage is nil where nothing was graded.
func (w words) Coverage() *coverage {
	least, most := math.Inf(1), 0.0
	worst := map[routing.Bucket]float64{}
	for _, m := range w.Experiment.Methods {
		for _, line := range w.run.Measurements.Where(metrics.Keys("arena", metrics.PaperArena, "method", m.RowID(), "benchmark", metrics.Average, "seed", "")...) {
			total := 0.0
			for _, b := range routing.Buckets {
				v, _ := line.Value(string(b))
				total += v.Number
			}
			if total == 0 {
				continue
			}
			total = math.Round(total) // counts are means over seeds
			least, most = min(least, total), max(most, total)
			for _, b := range routing.Buckets {
				v, _ := line.Value(string(b))
				worst[b] = max(worst[b], 100*v.Number/total)
			}
		}
	}
	if most == 0 {
		return nil
	}
	c := &coverage{fmt.Sprintf("%.0f", most), fmt.Sprintf("%.1f", worst[routing.Truncated]), fmt.Sprintf("%.1f", worst[routing.NoAnswer]), fmt.Sprintf("%.2f", worst[routing.Ungraded])}
	if least != most {
		c.Rollouts = fmt.Sprintf("%.0f to %.0f", least, most)
	}
	return c
}

// unanswered are the questions of the paper's sizes that are scored for nobody.
type unanswered struct {
	Lost, Questions int
	Of              []string // a model each, with how many it did not answer
}

// Unanswered is nil where every model answered every question.
func (w words) Unanswered() *unanswered {
	u := &unanswered{}
	by := map[string]float64{}
	for _, line := range w.run.Measurements.Where(metrics.Keys("arena", metrics.PaperArena)...) {
		v, ok := line.Value(units.LostQuestions)
		switch expert := line.Key("expert"); {
		case !ok:
		case expert == "":
			u.Lost += int(v.Number)
		default:
			by[expert] += v.Number
		}
	}
	if u.Lost == 0 {
		return nil
	}
	for _, b := range w.Experiment.Test {
		u.Questions += w.run.Spec.Benchmarks[b].Size
	}
	for _, m := range slices.Sorted(maps.Keys(by)) {
		u.Of = append(u.Of, fmt.Sprintf("%s %.0f", m, by[m]))
	}
	return u
}

// calibrated are the rows that measure how far predicted pass rates are off, each with the number.
type calibrated struct{ Fitted, Imported []string }

// Calibration tells pass rates that are fitted from those of a file.
func (w words) Calibration() (c calibrated) {
	for _, m := range w.Experiment.Methods {
		for _, line := range w.run.Measurements.Where(metrics.Keys("arena", metrics.PaperArena, "method", m.RowID(), "benchmark", metrics.Average, "seed", "")...) {
			v, ok := line.Value(methods.CalibrationError)
			if !ok {
				continue
			}
			part := fmt.Sprintf("%s %.1f points", m.RowLabel(), v.Number)
			if methods.RowTraits(m, w.Experiment).Imports {
				c.Imported = append(c.Imported, part)
			} else {
				c.Fitted = append(c.Fitted, part)
			}
		}
	}
	return c
}

// Limits are the rows whose knob is held back at their own operating point, each with what holds it.
func (w words) Limits() (rows []string) {
	for _, m := range w.Experiment.Methods {
		if limit := methods.RowTraits(m, w.Experiment).Limit; limit != "" {
			rows = append(rows, m.RowLabel()+" ("+limit+")")
		}
	}
	return rows
}

// Policies says whether a curve stands beside a row that decides by a trained distribution. Measurements of older programs have none.
func (w words) Policies() bool {
	return slices.ContainsFunc(w.Experiment.Methods, func(m spec.Method) bool {
		return methods.Policy(m.Name) && w.run.hasCurve(m)
	})
}

// allowed are the rows with one allowance.
type allowed struct {
	methods.Allowance
	Rows []string
}

// Allowed is what rows that learn from texts may read of them and choose, in the order of the experiment.
func (w words) Allowed() (all []allowed) {
	for _, m := range w.Experiment.Methods {
		a := methods.RowTraits(m, w.Experiment).Allowance
		if a == (methods.Allowance{}) {
			continue
		}
		i := slices.IndexFunc(all, func(x allowed) bool { return x.Allowance == a })
		if i < 0 {
			i, all = len(all), append(all, allowed{Allowance: a})
		}
		all[i].Rows = append(all[i].Rows, m.RowLabel())
	}
	return all
}

// Chosen says which kinds of rows have defaults that were chosen on recorded answers, a sentence each.
func (w words) Chosen() (sentences []string) {
	for _, kind := range methods.Kinds() {
		has := slices.ContainsFunc(w.Experiment.Methods, func(m spec.Method) bool { return m.Name == kind })
		if chosen := methods.Chosen(kind); has && chosen != "" {
			sentences = append(sentences, chosen)
		}
	}
	return sentences
}

// label is a kind of label that rows learn from.
type label struct {
	Kappa   string
	Nearest int      // models that lend their answers
	Repeats bool     // questions were asked more than once
	Rows    []string // that have it, if it is not that of most
}

// labels say which rows learn from what.
type labels struct {
	Own    label
	Others []label // by their first row
}

func (w inPool) Labels() labels {
	repeats := w.Repeats() != nil
	l := labels{Own: label{w.Experiment.Folds.Kappa, spec.NearestModels, repeats, nil}}
	for _, m := range w.Experiment.Methods {
		if m.Kappa == "" || m.Kappa == l.Own.Kappa || methods.Hindsight(m.Name) {
			continue
		}
		at := slices.IndexFunc(l.Others, func(o label) bool { return o.Kappa == m.Kappa })
		if at < 0 {
			at = len(l.Others)
			l.Others = append(l.Others, label{m.Kappa, spec.NearestModels, repeats, nil})
		}
		l.Others[at].Rows = append(l.Others[at].Rows, m.RowLabel())
	}
	return l
}

// repeats says how far the answers of a recorded pool agree where questions were asked more than once.
type repeats struct {
	Scored    string
	Questions int
	Disagree  []string // a model with the share of pairs
	Reliable  []string // a model with the reliability of one answer
}

// Repeats is nil for a recording that has one answer a question and model.
func (w inPool) Repeats() *repeats {
	r := &repeats{Scored: "the first answer"}
	if n := w.Pool.Recorded.Scored; n > 1 {
		r.Scored = fmt.Sprintf("the first %d answers", n)
	}
	w.recorded(units.Disagreement, func(expert string, v metrics.Value, line metrics.Measurement) {
		n, _ := line.Value(units.Repeated)
		r.Questions = max(r.Questions, int(n.Number))
		r.Disagree = append(r.Disagree, fmt.Sprintf("%.1f%% (%s)", v.Number, expert))
	})
	w.recorded(units.Reliability, func(expert string, v metrics.Value, _ metrics.Measurement) {
		r.Reliable = append(r.Reliable, fmt.Sprintf("%.2f (%s)", v.Number, expert))
	})
	if r.Questions == 0 {
		return nil
	}
	return r
}

// Cut says of every model how many of its answers a limit cut, where the recording says so.
func (w inPool) Cut() (shares []string) {
	w.recorded(units.Truncated, func(expert string, v metrics.Value, _ metrics.Measurement) {
		shares = append(shares, fmt.Sprintf("%.1f%% (%s)", v.Number, expert))
	})
	return shares
}

// recorded goes through the lines of the pool's experts that have a unit, cheapest first.
func (w inPool) recorded(unit string, each func(expert string, v metrics.Value, line metrics.Measurement)) {
	for _, e := range w.run.byPrice(w.Pool) {
		for _, line := range w.run.Measurements.Where(metrics.Keys("pool", w.Pool.Name, "expert", e.ID)...) {
			if v, ok := line.Value(unit); ok && line.Name == "Recorded" {
				each(e.ID, v, line)
			}
		}
	}
}

// exchange is the price at which worth counts dollars.
type exchange struct{ Points string }

// Exchange is nil if the strongest expert is no better than the cheapest.
func (w words) Exchange() *exchange {
	for _, m := range w.run.Measurements.Where(metrics.Keys("arena", w.run.arena())...) {
		if v, ok := m.Value(units.RegretPrice); ok {
			return &exchange{fmt.Sprintf("%.2f", v.Number)}
		}
	}
	return nil
}

// theorem is what came of comparing the effective trust region with the closed form.
type theorem struct {
	Combinations int
	Differ       string // in how many of them the two differ; empty: none
}

// Theorem is nil where nothing was compared.
func (w words) Theorem() *theorem {
	for _, m := range w.run.Measurements.Measurements {
		if v, ok := m.Value(units.Disagreements); ok {
			t := &theorem{Combinations: m.N}
			if v.Number > 0 {
				t.Differ = metrics.Format(v.Number, 0)
			}
			return t
		}
	}
	return nil
}
