// Panels side by side, their axes and what is drawn in them.

package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	mostColumns = 3
	panelWidth  = (fullWidth - 2*margin - (mostColumns-1)*panelGap) / mostColumns
	panelHeight = 1.9 * vg.Inch
	panelGap    = vg.Length(10)
	panelTitle  = vg.Length(12)
	legendGap   = vg.Length(4) // below a legend over tiles, beside what every legend has
)

// tiling is how panels stand side by side, in rows of given heights.
type tiling struct {
	columns int
	heights []vg.Length
}

// tiles arranges n panels of the usual height.
func tiles(n int) tiling {
	columns := min(n, mostColumns)
	return inRows((n+columns-1)/columns, columns)
}

// inRows returns tiles in rows and columns, of which a page has mostColumns.
func inRows(rows, columns int) tiling {
	return tiling{columns, slices.Repeat([]vg.Length{panelHeight}, rows)}
}

func (t tiling) width() vg.Length {
	return vg.Length(t.columns)*panelWidth + vg.Length(t.columns-1)*panelGap + 2*margin
}

// height is that of the figure; legend is over all panels, or nil.
func (t tiling) height(legend []entry) vg.Length {
	sum := vg.Length(len(t.heights)-1)*panelGap + 2*margin
	for _, h := range t.heights {
		sum += h
	}
	if legend != nil {
		sum += legendHeight(legend, t.width()) + legendGap
	}
	return sum
}

// legendOver sets a legend over tiles and returns the canvas below.
func legendOver(c draw.Canvas, entries []entry) draw.Canvas {
	return draw.Crop(drawLegend(c, entries), 0, 0, 0, -legendGap)
}

// panel writes the title of the i-th panel of c, from the upper left, and returns the canvas below it.
func (t tiling) panel(c draw.Canvas, i int, title string) draw.Canvas {
	x := c.Min.X + vg.Length(i%t.columns)*(panelWidth+panelGap)
	y := c.Max.Y
	for _, h := range t.heights[:i/t.columns] {
		y -= h + panelGap
	}
	c.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: y - t.heights[i/t.columns]}, Max: vg.Point{X: x + panelWidth, Y: y}}
	style := aligned(textStyle(textSize), draw.XLeft, draw.YTop)
	c.FillText(style, vg.Point{X: x, Y: y}, shorten(style, title, panelWidth))
	return draw.Crop(c, 0, 0, 0, -panelTitle)
}

// scale is one axis of a panel.
type scale struct {
	low, high float64
	label     string
	log       bool   // low is positive then
	bare      bool   // neither numbers nor a name
	plain     bool   // marks are names, without ticks
	marks     []tick // nil: round numbers; their values are on the axis as written, not their logarithms
}

// place returns where a value lies on the axis that is drawn.
func (s scale) place(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// ticked returns the marks of the axis where they are drawn.
func (s scale) ticked(n int) []tick {
	marks := slices.Clone(s.marks)
	if marks == nil {
		marks = between(s.low, s.high, n)
	}
	for i := range marks {
		marks[i].at = s.place(marks[i].at)
	}
	return marks
}

// room returns a scale around values with a margin.
func room(label string, values ...float64) scale {
	low, high := slices.Min(values), slices.Max(values)
	gap := max(0.06*(high-low), 1e-3*max(math.Abs(low), math.Abs(high)))
	if high-low < 1e-9 { // one number, rounding apart
		gap = max(gap, 0.01)
	}
	return scale{low: low - gap, high: high + gap, label: label}
}

// panel is a plot area that has been drawn and takes data.
type panel struct {
	data  draw.Canvas
	x, y  scale
	axes  axes
	aside vg.Length // how far points are moved to the right
}

// newPanel draws axes into c. Numbers of the vertical axis get at least the given width, so that panels stand flush.
// Numbers of the horizontal axis that find no room are left out, and names that are too long are cut.
func newPanel(c draw.Canvas, x, y scale, numbers vg.Length) panel {
	a := axes{
		x: axis{low: x.place(x.low), high: x.place(x.high), marks: x.ticked(5), tickLength: tickLength, numbers: aligned(textStyle(smallSize), draw.XCenter, draw.YTop)},
		y: axis{low: y.place(y.low), high: y.place(y.high), marks: y.ticked(5), tickLength: tickLength, numbers: aligned(textStyle(smallSize), draw.XRight, -0.6)}, // drawn a descent higher: the middle of digits
	}
	if x.plain {
		a.x.tickLength, a.x.numbers.YAlign = 0, a.x.numbers.YAlign-0.22 // no ticks, and still away from the axis
		c = draw.Crop(c, 0, 0, 3, 0)
	}
	if y.plain {
		a.y.tickLength = 0
	}
	if y.bare {
		for i := range a.y.marks {
			a.y.marks[i].label = ""
		}
	} else {
		a.y.name = y.label
	}
	inner := draw.Crop(c, max(0, numbers-y.width()), 0, 0, -textStyle(smallSize).Height("0")/2)
	data := a.data(inner)
	free := c.Min.X
	for i, m := range a.x.marks {
		at, half := data.X(a.x.norm(m.at)), a.x.numbers.Width(m.label)/2
		if at-half < free {
			a.x.marks[i].label = ""
			continue
		}
		free = at + half + 3
	}
	data = a.data(inner) // which leaves room for the last number
	if x.bare {
		for i := range a.x.marks {
			a.x.marks[i].label = ""
		}
		inner.Max.X = data.Max.X // and stands flush with a panel below that has numbers
	} else {
		mid := (data.Min.X + data.Max.X) / 2
		a.x.name = shorten(textStyle(textSize), x.label, 2*min(c.Max.X-mid, mid-c.Min.X))
	}
	data = a.data(inner)
	a.y.name = shorten(textStyle(textSize), a.y.name, data.Max.Y-data.Min.Y)
	return panel{data: a.draw(inner), x: x, y: y, axes: a}
}

// width is the room that the numbers of a vertical axis take.
func (s scale) width() (widest vg.Length) {
	if s.bare {
		return 0
	}
	for _, m := range s.ticked(5) {
		widest = max(widest, textStyle(smallSize).Width(m.label))
	}
	return widest
}

// aside is how far the k-th of n lines is moved, so that they do not hide each other.
func aside(k, n int) vg.Length { return 2.8 * vg.Length(2*k-n+1) / vg.Length(max(n-1, 1)) }

func (p panel) at(x, y float64) vg.Point {
	return vg.Point{X: p.data.X(p.axes.x.norm(p.x.place(x))) + p.aside, Y: p.data.Y(p.axes.y.norm(p.y.place(y)))}
}

// draw draws a line.
func (p panel) draw(s series) {
	var line []vg.Point
	for _, q := range s.points {
		line = append(line, p.at(q.x, q.y))
	}
	p.data.StrokeLines(s.line(), line)
}

// stroke draws lines as far as they are inside the panel, and returns what is drawn.
func (p panel) stroke(style draw.LineStyle, lines ...[]vg.Point) [][]vg.Point {
	inside := p.data.ClipLinesXY(lines...)
	p.data.StrokeLines(style, inside...)
	return inside
}

// dots draws a marker at every point of a line.
func (p panel) dots(s series, mark draw.GlyphStyle) {
	for _, q := range s.points {
		p.data.DrawGlyph(mark, p.at(q.x, q.y))
	}
}

// around is the outline of what lies between the lower and the upper ends of a line's points.
func (p panel) around(s series) (outline []vg.Point) {
	for _, q := range s.points {
		outline = append(outline, p.at(q.x, q.high))
	}
	for _, q := range slices.Backward(s.points) {
		outline = append(outline, p.at(q.x, q.low))
	}
	return outline
}

// band fills what lies around a line and lets through what is below.
func (p panel) band(s series) {
	p.data.FillPolygon(color.NRGBA{s.color.R, s.color.G, s.color.B, 0x38}, p.around(s))
}

// level draws a dashed horizontal line.
func (p panel) level(y float64) {
	p.data.StrokeLine2(hullLine(), p.data.Min.X, p.at(p.x.low, y).Y, p.data.Max.X, p.at(p.x.low, y).Y)
}

// between returns about n round marks inside [low, high].
func between(low, high float64, n int) []tick {
	step := ticks(high-low, n)[1].at
	var marks []tick
	for i := int(math.Ceil(low/step - 1e-9)); float64(i)*step <= high*(1+math.Copysign(1e-9, high)); i++ {
		at := float64(i) * step
		marks = append(marks, tick{min(max(at, low), high), Fixed(at, decimals(step))})
	}
	return marks
}

// rowScale is a vertical axis of names from the top down, cut to a width.
func rowScale(names []string, width vg.Length) scale {
	s := scale{low: -0.6, high: float64(len(names)) - 0.4, plain: true}
	for i, name := range names {
		s.marks = append(s.marks, tick{float64(len(names) - 1 - i), shorten(textStyle(smallSize), name, width)})
	}
	return s
}

// columnsOf divides c into n canvases for panels with room for as much data each, the first with the names of rows left of it besides.
func columnsOf(c draw.Canvas, n int, names, gap vg.Length) (areas []draw.Canvas, width vg.Length) {
	width = (c.Max.X - c.Min.X - names - vg.Length(n-1)*gap) / vg.Length(n)
	left := c.Min.X
	for i := range n {
		area := c
		area.Min.X, area.Max.X = left, left+width
		if i == 0 {
			area.Max.X += names
		}
		left = area.Max.X + gap
		areas = append(areas, area)
	}
	return areas, width
}

// axisHeight is the room of the numbers and the name below a panel.
func axisHeight() vg.Length {
	return textStyle(smallSize).Height("0") + textStyle(textSize).Height("Mg") + 4
}
