// The figure of training curves.

package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// TrainingLayout says which measurements the training figure shows: lines named Curve with the keys method, stage (sft or
// grpo) and step, and with a further key expert those of one expert.
type TrainingLayout struct {
	Name    string
	Caption string
	Keys    []metrics.Key // that the lines of all rows have
	Methods []Term
	First   string // of them, the value of the one that stands out; empty: none
	Expert  Term   // whose share is shown: its id, and what it is called among the others
	Experts int    // between whom the policy chooses
}

// trainingPanel is one panel: a quantity of a stage.
type trainingPanel struct {
	title, stage string
	Quantity
	expert bool // of one expert
}

// trainingPanels are the panels; expert is what the one is called whose share is shown.
func trainingPanels(expert string) []trainingPanel {
	return []trainingPanel{
		{"(a) Stage I: loss", "sft", Quantity{units.Loss, "Loss (nats)", false}, false},
		{"(b) Stage I: entropy of the policy", "sft", Quantity{units.PolicyEntropy, "Entropy (nats)", true}, false},
		{"(c) Stage I: " + expert + " expert", "sft", Quantity{units.Share, "To the " + expert + " (%)", true}, true},
		{"(d) Stage II: reward", "grpo", Quantity{units.RewardUnit, "Reward", false}, false},
		{"(e) Stage II: entropy of the policy", "grpo", Quantity{units.PolicyEntropy, "Entropy (nats)", true}, false},
		{"(f) Stage II: idle groups", "grpo", Quantity{units.ZeroGroups, "Groups (%)", true}, false},
	}
}

// Training draws what the trainings of rows went through: means over trainings with their range as bands. A stage that none of
// the rows has takes no panels.
func Training(l TrainingLayout, set *metrics.Set) (*Figure, error) {
	if len(l.Methods) == 0 {
		return nil, fmt.Errorf("figure %q: no row to show", l.Name)
	}
	r := collapseReader{set: set}
	var panels []trainingPanel
	var lines [][]series
	records := [][]string{{"panel", "stage", "quantity", "row", "step", "value", "low", "high"}}
	for _, p := range trainingPanels(l.Expert.Label) {
		var of []series
		for k, m := range l.Methods {
			s := series{label: m.Label, color: category(k), dashes: dash(k), first: m.Value == l.First}
			expert := ""
			if p.expert {
				expert = l.Expert.Value
			}
			at := append(metrics.Keys("method", m.Value, "stage", p.stage, "expert", expert, "seed", "", "fold", ""), l.Keys...)
			s.points = r.steps(p.Unit, at...)
			for _, q := range s.points {
				records = append(records, []string{p.title[1:2], p.stage, p.Unit, m.Label, number(q.x), number(q.y), number(q.low), number(q.high)})
			}
			of = append(of, s) // Stage I alone has no points in Stage II
		}
		switch drawn := slices.ContainsFunc(of, func(s series) bool { return len(s.points) > 1 }); {
		case !drawn && (p.Unit == units.ZeroGroups || !l.trains(p.stage, set)): // the exact gradient draws no groups
			continue
		case !drawn:
			r.errs = append(r.errs, fmt.Errorf("no curve of stage %s in %s", p.stage, p.Unit))
		}
		panels, lines = append(panels, p), append(lines, of)
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("figure %q: %w", l.Name, err)
	}
	if len(panels) == 0 {
		return nil, fmt.Errorf("figure %q: no row has a curve of its training", l.Name)
	}
	remark := sameLines(panels, lines)
	uniform := math.Log(float64(l.Experts))
	legend, t := append(lineLegend(lines[0]), lineEntry("Entropy of a uniform choice", hullLine())), tiles(len(panels))
	for i := range lines {
		lines[i] = slices.DeleteFunc(lines[i], func(s series) bool { return s.hidden })
	}
	return &Figure{
		Name: l.Name, Caption: l.Caption + remark, records: records,
		width: t.width(), height: t.height(legend),
		paint: func(c draw.Canvas) {
			c = legendOver(c, legend)
			for i, p := range panels {
				var levels []float64
				if p.Unit == units.PolicyEntropy {
					levels = append(levels, uniform)
				}
				paintCurves(t.panel(c, i, p.title), p.Quantity, lines[i], levels...)
			}
		},
	}, nil
}

// trains says whether a row has any line of a stage.
func (l TrainingLayout) trains(stage string, set *metrics.Set) bool {
	return slices.ContainsFunc(l.Methods, func(m Term) bool {
		return len(set.Where(append(metrics.Keys("method", m.Value, "stage", stage), l.Keys...)...)) > 0
	})
}

// sameLines hides lines that lie on one before them, and says which.
func sameLines(panels []trainingPanel, lines [][]series) (remark string) {
	var sentences []string
	where := map[string][]string{} // panels of a sentence
	for i, all := range lines {
		same := map[int][]string{} // labels by the line that they lie on
		for k := range all {
			on := slices.IndexFunc(all[:k], func(s series) bool { return len(s.points) > 0 && slices.Equal(s.points, all[k].points) })
			if all[k].hidden = on >= 0; on >= 0 {
				same[on] = append(same[on], all[k].label)
			}
		}
		for _, on := range slices.Sorted(maps.Keys(same)) {
			s := fmt.Sprintf("the line of %s is that of these rows too: %s", all[on].label, Listed(same[on]))
			if where[s] == nil {
				sentences = append(sentences, s)
			}
			where[s] = append(where[s], panels[i].title[:3])
		}
	}
	for _, s := range sentences {
		remark += fmt.Sprintf(" In %s %s.", Listed(where[s]), s)
	}
	return remark
}

// paintCurves draws lines against steps, with dashed lines at levels.
func paintCurves(c draw.Canvas, q Quantity, all []series, levels ...float64) {
	values := slices.Clone(levels)
	var steps []float64
	for _, s := range all {
		for _, p := range s.points {
			values, steps = append(values, p.y, p.low, p.high), append(steps, p.x)
		}
	}
	if q.Zero {
		values = append(values, 0)
	}
	y := room(q.Label, values...)
	if q.Zero && slices.Min(values) == 0 {
		y.low = 0
	}
	p := newPanel(c, scale{low: 0, high: slices.Max(steps), label: "Step"}, y, 0)
	for _, v := range levels {
		p.level(v)
	}
	for _, s := range all {
		if len(s.points) > 0 {
			p.band(s)
		}
	}
	for _, first := range []bool{false, true} { // which lies on top
		for _, s := range all {
			if len(s.points) > 0 && s.first == first {
				p.draw(s)
			}
		}
	}
}
