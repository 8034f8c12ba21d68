package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figures of several panels are as wide as a page of two columns.
const (
	panelWidth   = 2.15 * vg.Inch
	panelHeight  = 1.95 * vg.Inch
	panelGap     = vg.Length(10)
	panelTitle   = vg.Length(12)
	titleLetters = vg.Length(8)
	legendGap    = vg.Length(4) // below a legend over tiles, beside what every legend has
)

// tiledWidth is the width of a figure with this many panels in a row.
func tiledWidth(columns int) vg.Length {
	return vg.Length(columns)*panelWidth + vg.Length(columns-1)*panelGap + 2*margin
}

// tiledHeight is the height of a figure with this many rows of panels; legend is over all of them, or nil.
func tiledHeight(rows, columns int, legend []entry) vg.Length {
	height := vg.Length(0)
	if legend != nil {
		height = legendHeight(legend, tiledWidth(columns)) + legendGap
	}
	return height + vg.Length(rows)*panelHeight + vg.Length(rows-1)*panelGap + 2*margin
}

// legendOver sets a legend over tiles and returns the canvas below.
func legendOver(c draw.Canvas, entries []entry) draw.Canvas {
	return draw.Crop(drawLegend(c, entries), 0, 0, 0, -legendGap)
}

// tile writes the title of the panel in a column and a row, from the upper left, and returns the canvas below it.
func tile(c draw.Canvas, column, row int, title string) draw.Canvas {
	x := c.Min.X + vg.Length(column)*(panelWidth+panelGap)
	y := c.Max.Y - vg.Length(row)*(panelHeight+panelGap)
	p := c
	p.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: y - panelHeight}, Max: vg.Point{X: x + panelWidth, Y: y}}
	style := aligned(textStyle(titleLetters), draw.XLeft, draw.YTop)
	p.FillText(style, vg.Point{X: x, Y: y}, shorten(style, title, panelWidth))
	return draw.Crop(p, 0, 0, 0, -panelTitle)
}

// scale is one axis of a panel.
type scale struct {
	low, high float64
	label     string
	log       bool        // low is positive then
	marks     []plot.Tick // nil: round numbers; their values are on the axis as written, not their logarithms
}

// place returns where a value lies on the axis that is drawn.
func (s scale) place(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// ticked returns the marks of the axis where they are drawn.
func (s scale) ticked(n int) []plot.Tick {
	marks := slices.Clone(s.marks)
	if marks == nil {
		marks = between(s.low, s.high, n)
	}
	for i := range marks {
		marks[i].Value = s.place(marks[i].Value)
	}
	return marks
}

// room returns a scale around values with a margin.
func room(label string, values ...float64) scale {
	low, high := slices.Min(values), slices.Max(values)
	gap := max(0.06*(high-low), 1e-3*max(math.Abs(low), math.Abs(high)), 1e-9)
	return scale{low: low - gap, high: high + gap, label: label}
}

// panel is a plot area that has been drawn and takes data.
type panel struct {
	data  draw.Canvas
	x, y  scale
	p     *plot.Plot
	aside vg.Length // how far points are moved to the right
}

// newPanel draws axes into c. Numbers of the vertical axis get at least the given width, so that panels stand flush.
// Without a label, the horizontal axis has neither name nor numbers.
func newPanel(c draw.Canvas, x, y scale, numbers vg.Length) panel {
	p := themed()
	p.X.Label.Text, p.Y.Label.Text = x.label, y.label
	p.X.Min, p.X.Max = x.place(x.low), x.place(x.high)
	p.Y.Min, p.Y.Max = y.place(y.low), y.place(y.high)
	marks := x.ticked(5)
	if x.label == "" {
		for i := range marks {
			marks[i].Label = ""
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(marks)
	p.Y.Tick.Marker = plot.ConstantTicks(y.ticked(5))
	digit := textStyle(smallSize)
	inner := draw.Crop(c, max(0, numbers-y.width()), -1.5*digit.Width("0"), 0, -digit.Height("0")/2)
	p.Draw(inner)
	return panel{data: p.DataCanvas(inner), x: x, y: y, p: p}
}

// width is the room that the numbers of a vertical axis take.
func (s scale) width() (widest vg.Length) {
	for _, m := range s.ticked(5) {
		widest = max(widest, textStyle(smallSize).Width(m.Label))
	}
	return widest
}

// aside is how far the marks of the k-th of n lines are moved, so that they do not hide each other.
func aside(k, n int) vg.Length { return 2.8 * vg.Length(2*k-n+1) / vg.Length(max(n-1, 1)) }

func (p panel) at(x, y float64) vg.Point {
	return vg.Point{X: p.data.X(p.p.X.Norm(p.x.place(x))) + p.aside, Y: p.data.Y(p.p.Y.Norm(p.y.place(y)))}
}

// draw draws a line.
func (p panel) draw(s series) {
	var line []vg.Point
	for _, q := range s.points {
		line = append(line, p.at(q.x, q.y))
	}
	p.data.StrokeLines(s.line(), line)
}

// band fills what lies between the lower and the upper ends of a line's points.
func (p panel) band(s series) {
	var around []vg.Point
	for _, q := range s.points {
		around = append(around, p.at(q.x, q.high))
	}
	for _, q := range slices.Backward(s.points) {
		around = append(around, p.at(q.x, q.low))
	}
	p.data.FillPolygon(color.NRGBA{s.color.R, s.color.G, s.color.B, 0x38}, around)
}

// level draws a dashed horizontal line.
func (p panel) level(y float64) {
	p.data.StrokeLine2(hullLine(), p.data.Min.X, p.at(p.x.low, y).Y, p.data.Max.X, p.at(p.x.low, y).Y)
}

// between returns about n round marks inside [low, high].
func between(low, high float64, n int) []plot.Tick {
	step := ticks(high-low, n)[1].Value
	var marks []plot.Tick
	for i := int(math.Ceil(low/step - 1e-9)); float64(i)*step <= high*(1+math.Copysign(1e-9, high)); i++ {
		marks = append(marks, plot.Tick{Value: float64(i) * step, Label: fixed(float64(i)*step, decimals(step))})
	}
	return marks
}
