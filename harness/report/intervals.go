// The figure of one number of several methods on several pools, with intervals.

package report

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// IntervalsLayout says what stands in a figure of intervals around 0: a panel a column, all on one axis, and a line a row.
type IntervalsLayout struct {
	Name    string
	Caption string
	Axis    string // what the numbers are
	Columns []string
	Rows    []IntervalsRow // from the top down
}

// IntervalsRow is a line through all panels.
type IntervalsRow struct {
	Label  string
	Values []*metrics.Value // [columns]; nil: there is none
}

const (
	intervalsRow    = vg.Length(13)
	intervalsLabels = 1.4 * vg.Inch
	intervalsGap    = vg.Length(7)
	intervalsTitle  = 2 // lines of a panel's title at most
)

// sides are the marks of numbers whose intervals lie above 0, around it and below it, told apart without colour as well.
func sides() map[int]draw.GlyphStyle {
	return map[int]draw.GlyphStyle{
		1:  {Color: category(1), Radius: 2.2, Shape: draw.CircleGlyph{}},
		0:  {Color: color.Gray{0x66}, Radius: 2, Shape: draw.RingGlyph{}},
		-1: {Color: category(0), Radius: 2.2, Shape: polygon{4, 1, true}},
	}
}

// Intervals draws every number as a mark on its interval, above, below or around 0; numbers are in one unit, which the axis names. A row with
// another number of values than there are columns is an error, and so is a figure without a number.
func Intervals(l IntervalsLayout) (*Figure, error) {
	records := [][]string{{"row", "column", "value", "low", "high"}}
	var reach []float64
	for _, row := range l.Rows {
		if len(row.Values) != len(l.Columns) {
			return nil, fmt.Errorf("figure %q, %q: %d numbers for %d columns", l.Name, row.Label, len(row.Values), len(l.Columns))
		}
		for k, v := range row.Values {
			if v == nil {
				continue
			}
			s := sampleOf(0, *v)
			reach = append(reach, s.y, s.low, s.high)
			records = append(records, append([]string{row.Label, l.Columns[k]}, ends(*v)...))
		}
	}
	if reach == nil {
		return nil, fmt.Errorf("figure %q: no number to show", l.Name)
	}
	x := room("", append(reach, 0)...)
	legend := []entry{markEntry("The interval is above 0", sides()[1]), markEntry("It has 0 inside", sides()[0]), markEntry("It is below 0", sides()[-1])}
	title := vg.Length(intervalsTitle) * textStyle(smallSize).Height("Mg")
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: records, width: fullWidth,
		height: legendHeight(legend, fullWidth) + title + vg.Length(len(l.Rows))*intervalsRow + axisHeight() + 8 + 2*margin,
		paint:  func(c draw.Canvas) { paintIntervals(drawLegend(c, legend), l, x, title) },
	}, nil
}

func paintIntervals(c draw.Canvas, l IntervalsLayout, x scale, title vg.Length) {
	var names []string
	for _, row := range l.Rows {
		names = append(names, row.Label)
	}
	rows := rowScale(names, intervalsLabels)
	below := textStyle(textSize).Height("Mg") + nameGap
	panels := draw.Crop(c, 0, 0, below, -title)
	labels := rows.width() + textStyle(textSize).Width(" ")
	areas, width := columnsOf(panels, len(l.Columns), labels, intervalsGap)
	for k, name := range l.Columns {
		rows.bare = k > 0
		p := newPanel(areas[k], x, rows, 0)
		style := aligned(textStyle(smallSize), draw.XLeft, draw.YTop)
		for i, line := range titleLines(name, width) {
			c.FillText(style, vg.Point{X: areas[k].Max.X - width, Y: c.Max.Y - vg.Length(i)*style.Height("Mg")}, line)
		}
		for i := range l.Rows {
			if at := p.at(0, rows.marks[i].at); i%2 == 0 {
				fillRectangle(p.data, vg.Rectangle{Min: vg.Point{X: p.data.Min.X + hairline, Y: at.Y - intervalsRow/2}, Max: vg.Point{X: p.data.Max.X, Y: at.Y + intervalsRow/2}}, color.Gray{0xF4})
			}
		}
		zero := p.at(0, 0).X
		p.data.StrokeLine2(hullLine(), zero, p.data.Min.Y, zero, p.data.Max.Y)
		for i, row := range l.Rows {
			v := row.Values[k]
			if v == nil {
				continue
			}
			s, look := sampleOf(0, *v), sides()[v.Side()]
			low, high := p.at(s.low, rows.marks[i].at), p.at(s.high, rows.marks[i].at)
			p.data.StrokeLine2(draw.LineStyle{Color: look.Color, Width: 1.2}, low.X, low.Y, high.X, high.Y)
			p.data.DrawGlyph(look, p.at(s.y, rows.marks[i].at))
		}
	}
	style := aligned(textStyle(textSize), draw.XCenter, draw.YBottom)
	c.FillText(style, vg.Point{X: c.Min.X + labels + (c.Max.X-c.Min.X-labels)/2, Y: c.Min.Y + style.FontExtents().Descent}, shorten(style, l.Axis, c.Max.X-c.Min.X-labels))
}

// titleLines breaks the title of a panel at spaces; what finds no room in the last line is cut.
func titleLines(title string, width vg.Length) []string {
	style := textStyle(smallSize)
	lines := broken(title, func(line string) bool { return style.Width(line) <= width })
	if len(lines) > intervalsTitle {
		lines = append(lines[:intervalsTitle-1], strings.Join(lines[intervalsTitle-1:], " "))
	}
	for i, line := range slices.Clone(lines) {
		lines[i] = shorten(style, line, width)
	}
	return lines
}
