package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
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

// Seeds draws every training seed of every row as a dot, above the bar of the interval over questions: what is luck in
// training beside what is luck in the questions.
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
			record := []string{q.Unit, row.Label, "", metrics.Format(mean.Number, mean.Decimals), "", ""}
			if mean.Bounded {
				record[4], record[5] = metrics.Format(mean.Low, mean.Decimals), metrics.Format(mean.High, mean.Decimals)
			}
			records = append(records, record)
			for _, m := range set.Where(row.Keys...) {
				if v, ok := m.Value(q.Unit); ok && m.Key("seed") != "" {
					cell.seeds = append(cell.seeds, v.Number)
					records = append(records, []string{q.Unit, row.Label, m.Key("seed"), metrics.Format(v.Number, v.Decimals), "", ""})
				}
			}
			cells[i] = append(cells[i], cell)
		}
	}
	legend := seedsLegend()
	width := tiledWidth(3)
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: records, width: width,
		height: vg.Length(len(l.Rows))*seedsRow + axisHeight() + 8 + legendHeight(legend, width) + 2*margin,
		paint:  func(c draw.Canvas) { paintSeeds(drawLegend(c, legend), l, cells) },
	}, nil
}

// questionBar is the bar of an interval over questions.
func questionBar() color.Color { return color.RGBA{0xB8, 0xD4, 0xE8, 0xFF} }

func seedsLegend() []entry {
	middle := func(r vg.Rectangle) vg.Point { return vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2} }
	return []entry{
		{"Interval over questions", func(c draw.Canvas, at vg.Rectangle) { fillRectangle(c, at, questionBar()) }},
		{"Mean over seeds", func(c draw.Canvas, at vg.Rectangle) {
			c.StrokeLine2(draw.LineStyle{Color: ink(), Width: thickLine}, middle(at).X, at.Min.Y-1, middle(at).X, at.Max.Y+1)
		}},
		{"One training seed", func(c draw.Canvas, at vg.Rectangle) { c.DrawGlyph(seedGlyph(accent()), middle(at)) }},
	}
}

func paintSeeds(c draw.Canvas, l SeedsLayout, cells [][]seedsCell) {
	label := aligned(textStyle(textSize), draw.XLeft, draw.YCenter)
	width := (c.Max.X - c.Min.X - seedsLabels) / vg.Length(len(l.Panels))
	for i, q := range l.Panels {
		var values []float64
		for _, cell := range cells[i] {
			values = append(append(values, cell.mean.Number), cell.seeds...)
			if cell.mean.Bounded {
				values = append(values, cell.mean.Low, cell.mean.High)
			}
		}
		if q.Zero {
			values = append(values, 0)
		}
		p := themed()
		x := room(q.Label, values...)
		p.X.Label.Text, p.X.Min, p.X.Max = q.Label, x.low, x.high
		p.X.Tick.Marker = plot.ConstantTicks(x.ticked(4))
		p.Y.Min, p.Y.Max = -0.6, float64(len(l.Rows))-0.4
		p.Y.Tick.Length, p.Y.Tick.Marker = 0, plot.ConstantTicks{}
		left := c.Min.X + seedsLabels + vg.Length(i)*width
		area := c
		area.Rectangle = vg.Rectangle{Min: vg.Point{X: left, Y: c.Min.Y}, Max: vg.Point{X: left + width - 8, Y: c.Max.Y}}
		p.Draw(area)
		data := p.DataCanvas(area)
		at := func(v float64) vg.Length { return data.X(p.X.Norm(v)) }
		if q.Zero {
			data.StrokeLine2(hullLine(), at(0), data.Min.Y, at(0), data.Max.Y)
		}
		for k, cell := range cells[i] {
			y := data.Y(p.Y.Norm(float64(len(l.Rows) - 1 - k)))
			if i == 0 {
				c.FillText(label, vg.Point{X: c.Min.X, Y: y}, shorten(label, l.Rows[k].Label, seedsLabels-6))
			}
			if cell.mean.Bounded {
				fillRectangle(data, vg.Rectangle{Min: vg.Point{X: at(cell.mean.Low), Y: y - 4}, Max: vg.Point{X: at(cell.mean.High), Y: y + 4}}, questionBar())
			}
			data.StrokeLine2(draw.LineStyle{Color: ink(), Width: thickLine}, at(cell.mean.Number), y-5, at(cell.mean.Number), y+5)
			for _, v := range cell.seeds {
				data.DrawGlyph(seedGlyph(accent()), vg.Point{X: at(v), Y: y})
			}
		}
	}
}
