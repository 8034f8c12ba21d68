// The figure of training seeds.

package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// SeedsLayout says which rows stand in the figure of seed variance: their lines, and with a further key seed those of
// single training seeds.
type SeedsLayout struct {
	Name    string
	Caption string
	Panels  []Quantity
	Rows    []Mark // from the top down
}

const (
	seedsRow    = vg.Length(17)
	seedsLabels = 1.35 * vg.Inch
)

// seedsCell is a row in a panel.
type seedsCell struct {
	mean  metrics.Value
	seeds []float64
}

// Seeds draws every training seed of every row as a dot, above the bar of the interval of their mean, over questions and
// trainings.
func Seeds(l SeedsLayout, set *metrics.Set) (*Figure, error) {
	if len(l.Panels) == 0 || len(l.Rows) == 0 {
		return nil, fmt.Errorf("figure %q: no quantity or no row to show", l.Name)
	}
	records := [][]string{{"quantity", "row", "seed", "value", "low", "high"}}
	cells := make([][]seedsCell, len(l.Panels))
	for i, q := range l.Panels {
		for _, row := range l.Rows {
			_, mean, err := value(set, q.Unit, append(slices.Clone(row.Keys), metrics.Key{Name: "seed"}))
			if err != nil {
				return nil, fmt.Errorf("figure %q, %q: %w", l.Name, row.Label, err)
			}
			cell := seedsCell{mean: mean}
			records = append(records, append([]string{q.Unit, row.Label, ""}, ends(mean)...))
			for seed, v := range seedsOf(set, q.Unit, row.Keys) {
				cell.seeds = append(cell.seeds, v.Number)
				records = append(records, []string{q.Unit, row.Label, seed, metrics.Format(v.Number, v.Decimals), "", ""})
			}
			cells[i] = append(cells[i], cell)
		}
	}
	legend := seedsLegend(slices.ContainsFunc(slices.Concat(cells...), func(c seedsCell) bool { return c.seeds != nil }))
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: records, width: fullWidth,
		height: vg.Length(len(l.Rows))*seedsRow + axisHeight() + 8 + legendHeight(legend, fullWidth) + 2*margin,
		paint:  func(c draw.Canvas) { paintSeeds(drawLegend(c, legend), l, cells) },
	}, nil
}

// intervalBar is the colour of an interval.
func intervalBar() color.Color { return color.RGBA{0xB8, 0xD4, 0xE8, 0xFF} }

// seedsLegend names what is drawn, with rings of single seeds or without.
func seedsLegend(rings bool) []entry {
	line := "One training seed"
	if rings {
		line = "Mean over seeds"
	}
	legend := []entry{
		{"Interval of the mean", func(c draw.Canvas, at vg.Rectangle) { fillRectangle(c, at, intervalBar()) }},
		{line, func(c draw.Canvas, at vg.Rectangle) {
			c.StrokeLine2(draw.LineStyle{Color: ink(), Width: thickLine}, centre(at).X, at.Min.Y-1, centre(at).X, at.Max.Y+1)
		}},
	}
	if rings {
		legend = append(legend, markEntry("One training seed", seedGlyph(accent())))
	}
	return legend
}

func paintSeeds(c draw.Canvas, l SeedsLayout, cells [][]seedsCell) {
	const gap = vg.Length(8)
	var names []string
	for _, row := range l.Rows {
		names = append(names, row.Label)
	}
	rows := rowScale(names, seedsLabels)
	labels := rows.width()
	areas, _ := columnsOf(c, len(l.Panels), labels, gap)
	for i, q := range l.Panels {
		var values []float64
		for _, cell := range cells[i] {
			values = append(append(values, cell.mean.Number), cell.seeds...)
			if cell.mean.Bounded {
				values = append(values, cell.mean.Low, cell.mean.High)
			}
		}
		x, zero := q.scale(values)
		rows.bare = i > 0
		p := newPanel(areas[i], x, rows, 0)
		if zero {
			at := p.at(0, 0).X
			p.data.StrokeLine2(hullLine(), at, p.data.Min.Y, at, p.data.Max.Y)
		}
		for k, cell := range cells[i] {
			at := func(v float64) vg.Point { return p.at(v, rows.marks[k].at) }
			mean := at(cell.mean.Number)
			if cell.mean.Bounded {
				low, high := at(cell.mean.Low), at(cell.mean.High)
				fillRectangle(p.data, vg.Rectangle{Min: vg.Point{X: low.X, Y: mean.Y - 4}, Max: vg.Point{X: high.X, Y: mean.Y + 4}}, intervalBar())
			}
			p.data.StrokeLine2(draw.LineStyle{Color: ink(), Width: thickLine}, mean.X, mean.Y-5, mean.X, mean.Y+5)
			for _, v := range cell.seeds {
				p.data.DrawGlyph(seedGlyph(accent()), at(v))
			}
		}
	}
}
