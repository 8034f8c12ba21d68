// The figure of routers that ask several experts while they are trained.

package report

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// RoundsLayout says which measurements the figure shows: lines named Curve with the keys method, stage and step.
type RoundsLayout struct {
	Name    string
	Caption string
	Stage   string
	Columns []RoundsColumn
}

// RoundsColumn is a column of panels, one a quantity.
type RoundsColumn struct {
	Title string
	Lines []Term // methods; lines of one label look alike in all columns
}

// Rounds draws how often routers ask while they are trained, how sure they are and what comes of it: means over training seeds with
// their range as bands.
func Rounds(l RoundsLayout, set *metrics.Set) (*Figure, error) {
	quantities := []Quantity{
		{units.CallRate, "With a call (%)", true}, {units.PolicyEntropy, "Entropy (nats)", true},
		{units.RewardUnit, "Reward", false}, {metrics.Accuracy, "Accuracy (%)", true},
	}
	var labels []string
	for _, c := range l.Columns {
		for _, t := range c.Lines {
			if !slices.Contains(labels, t.Label) {
				labels = append(labels, t.Label)
			}
		}
	}
	if labels == nil {
		return nil, fmt.Errorf("figure %q: no row to show", l.Name)
	}
	look := func(label string) series {
		k := slices.Index(labels, label)
		return series{label: label, color: category(k), dashes: dash(k)}
	}
	r := collapseReader{set: set}
	records := [][]string{{"panel", "column", "row", "quantity", "step", "value", "low", "high"}}
	var panels [][]series
	title := func(i int) string {
		return fmt.Sprintf("(%c) %s", 'a'+i, l.Columns[i%len(l.Columns)].Title)
	}
	for _, q := range quantities {
		for _, c := range l.Columns {
			var lines []series
			for _, t := range c.Lines {
				s := look(t.Label)
				s.points = r.steps(q.Unit, metrics.Keys("method", t.Value, "stage", l.Stage, "expert", "", "seed", "")...)
				if len(s.points) < 2 {
					r.errs = append(r.errs, fmt.Errorf("no curve of %s in %s", t.Value, q.Unit))
				}
				for _, p := range s.points {
					records = append(records, []string{string(rune('a' + len(panels))), c.Title, t.Label, q.Unit, number(p.x), number(p.y), number(p.low), number(p.high)})
				}
				lines = append(lines, s)
			}
			panels = append(panels, lines)
		}
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("figure %q: %w", l.Name, err)
	}
	var looks []series
	for _, label := range labels {
		looks = append(looks, look(label))
	}
	legend, t := lineLegend(looks), inRows(len(quantities), len(l.Columns))
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: records,
		width: t.width(), height: t.height(legend),
		paint: func(c draw.Canvas) {
			c = legendOver(c, legend)
			for i, lines := range panels {
				paintCurves(t.panel(c, i, title(i)), quantities[i/len(l.Columns)], lines)
			}
		},
	}, nil
}
