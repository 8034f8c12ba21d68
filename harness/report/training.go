// The figure of training curves.

package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// TrainingLayout says which measurements the training figure shows: lines named Curve with the keys method, stage (sft or
// grpo) and step, and with a further key expert those of one expert.
type TrainingLayout struct {
	Name      string
	Caption   string
	Methods   []Term
	First     string // of them, the value of the one that stands out; empty: none
	Strongest string // id of the expert whose share is shown
}

// trainingPanel is one panel: a quantity of a stage.
type trainingPanel struct {
	title, stage string
	Quantity
	expert bool // of the strongest expert
}

func trainingPanels() []trainingPanel {
	return []trainingPanel{
		{"(a) Stage I: loss", "sft", Quantity{units.Loss, "Loss (nats)", false}, false},
		{"(b) Stage I: entropy of the policy", "sft", Quantity{units.PolicyEntropy, "Entropy (nats)", true}, false},
		{"(c) Stage I: strongest expert", "sft", Quantity{units.Share, "To the strongest (%)", true}, true},
		{"(d) Stage II: reward", "grpo", Quantity{units.RewardUnit, "Reward", false}, false},
		{"(e) Stage II: entropy of the policy", "grpo", Quantity{units.PolicyEntropy, "Entropy (nats)", true}, false},
		{"(f) Stage II: idle groups", "grpo", Quantity{units.ZeroGroups, "Groups (%)", true}, false},
	}
}

// Training draws what the trainings of rows went through: means over training seeds with their range as bands.
func Training(l TrainingLayout, set *metrics.Set) (*Figure, error) {
	if len(l.Methods) == 0 {
		return nil, fmt.Errorf("figure %q: no row to show", l.Name)
	}
	r := collapseReader{set: set}
	panels := trainingPanels()
	lines := make([][]series, len(panels))
	records := [][]string{{"panel", "stage", "quantity", "row", "step", "value", "low", "high"}}
	for i, p := range panels {
		for k, m := range l.Methods {
			s := series{label: m.Label, color: category(k), dashes: dash(k), first: m.Value == l.First}
			at := []metrics.Key{{Name: "method", Value: m.Value}, {Name: "stage", Value: p.stage}, {Name: "expert"}, {Name: "seed"}}
			if p.expert {
				at[2].Value = l.Strongest
			}
			for _, line := range set.Where(at...) {
				if v, ok := line.Value(p.Unit); ok && line.Name == "Curve" {
					s.points = append(s.points, r.sample(line.Key("step"), v))
				}
			}
			slices.SortFunc(s.points, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
			for _, q := range s.points {
				records = append(records, []string{p.title[1:2], p.stage, p.Unit, m.Label, number(q.x), number(q.y), number(q.low), number(q.high)})
			}
			lines[i] = append(lines[i], s) // Stage I alone has no points in Stage II
		}
		if !slices.ContainsFunc(lines[i], func(s series) bool { return len(s.points) > 1 }) {
			r.errs = append(r.errs, fmt.Errorf("no curve of stage %s in %s", p.stage, p.Unit))
		}
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("figure %q: %w", l.Name, err)
	}
	legend, t := lineLegend(lines[0]), tiles(len(panels))
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: records,
		width: t.width(), height: t.height(legend),
		paint: func(c draw.Canvas) {
			c = legendOver(c, legend)
			for i, p := range panels {
				paintCurves(t.panel(c, i, p.title), p.Quantity, lines[i])
			}
		},
	}, nil
}

func paintCurves(c draw.Canvas, q Quantity, all []series) {
	var values, steps []float64
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
