package report

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Every figure is drawn at the width of one column of a two-column page, so that type is printed at the size
// given here.
const (
	figureWidth = 3.1 * vg.Inch
	plotHeight  = 2.1 * vg.Inch // of a figure without its legend
	textSize    = vg.Length(8)
	smallSize   = vg.Length(7)
	margin      = vg.Length(4)
	hairline    = vg.Length(0.6)
	thickLine   = vg.Length(1.4)
)

// ink is the colour of text and axes.
func ink() color.Color { return color.Gray{0x22} }

// ramp returns n fills from light to dark, so that an ordered series (experts by price) keeps its order in grey
// print and for every kind of colour vision.
func ramp(n int) []color.RGBA {
	stops := []color.RGBA{{0xF7, 0xE3, 0x9C, 0xFF}, {0x7F, 0xC4, 0xC9, 0xFF}, {0x2B, 0x6C, 0xA8, 0xFF}, {0x1B, 0x23, 0x50, 0xFF}}
	if n <= 3 {
		stops = stops[:3]
	}
	fills := make([]color.RGBA, n)
	for i := range fills {
		at := 0.0
		if n > 1 {
			at = float64(i) / float64(n-1) * float64(len(stops)-1)
		}
		low := min(int(at), len(stops)-2)
		fills[i] = mix(stops[low], stops[low+1], at-float64(low))
	}
	return fills
}

func mix(a, b color.RGBA, t float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 0xFF}
}

// accent is the colour of a line drawn over fills: vermillion of the Okabe-Ito palette.
func accent() color.RGBA { return color.RGBA{0xD5, 0x5E, 0x00, 0xFF} }

// category returns the i-th colour of the Okabe-Ito palette, for series without an order.
func category(i int) color.RGBA {
	palette := []color.RGBA{
		{0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x72, 0xB2, 0xFF}, {0x00, 0x9E, 0x73, 0xFF}, {0xCC, 0x79, 0xA7, 0xFF},
		{0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF}, {0x22, 0x22, 0x22, 0xFF},
	}
	return palette[i%len(palette)]
}

// glyph returns the i-th marker; with category it tells 35 series apart, also without colour.
func glyph(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}}
	return shapes[i%len(shapes)]
}

// onFill returns a text colour that is readable on a fill.
func onFill(c color.RGBA) color.Color {
	luminance := 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B)
	if luminance < 140 {
		return color.White
	}
	return ink()
}

func textStyle(size vg.Length) text.Style {
	return text.Style{
		Color:   ink(),
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

// aligned returns s anchored at the given point of its box.
func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// themed returns an empty plot in the common style.
func themed() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the whole figure is filled once
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		anchor := axis.Tick.Label
		axis.Tick.Label = aligned(textStyle(smallSize), anchor.XAlign, anchor.YAlign)
		anchor = axis.Label.TextStyle
		axis.Label.TextStyle = aligned(textStyle(textSize), anchor.XAlign, anchor.YAlign)
		axis.Label.Padding = 2
		axis.LineStyle.Width, axis.LineStyle.Color = hairline, ink()
		axis.Tick.LineStyle.Width, axis.Tick.LineStyle.Color = hairline, ink()
		axis.Tick.Length = 3
		axis.Padding = 0
	}
	return p
}

// ticks returns marks at round numbers from 0 to at least most, about n of them.
func ticks(most float64, n int) []plot.Tick {
	if !(most > 0) || math.IsInf(most, 1) {
		most = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most/float64(n))))
	for _, round := range []float64{1, 2, 5, 10} {
		if most/(step*round) <= float64(n) {
			step *= round
			break
		}
	}
	var marks []plot.Tick
	for i := 0; ; i++ {
		v := float64(i) * step
		marks = append(marks, plot.Tick{Value: v, Label: fixed(v, decimals(step))})
		if v >= most*(1-1e-9) {
			return marks
		}
	}
}

// decimals returns how many decimals a multiple of step needs.
func decimals(step float64) int { return max(0, int(-math.Floor(math.Log10(step)+1e-9))) }

// entry is one line of a legend.
type entry struct {
	label string
	mark  func(c draw.Canvas, at vg.Rectangle) // draws the sample into a rectangle
}

const (
	sampleWidth = vg.Length(12)
	sampleGap   = vg.Length(3) // between a sample and its label, and below a legend
	entryGap    = vg.Length(9)
)

// legendRows breaks a legend into rows no wider than width; a longer label is cut with an ellipsis.
func legendRows(entries []entry, width vg.Length) [][]entry {
	style := textStyle(smallSize)
	var rows [][]entry
	used := width
	for _, e := range entries {
		e.label = shorten(style, e.label, width-sampleWidth-sampleGap)
		need := sampleWidth + sampleGap + style.Width(e.label)
		if used+entryGap+need > width {
			rows = append(rows, nil)
			used = -entryGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += entryGap + need
	}
	return rows
}

// legendHeight is what a legend takes of the height of a figure of the given width.
func legendHeight(entries []entry, width vg.Length) vg.Length {
	return vg.Length(len(legendRows(entries, width-2*margin)))*legendRow() + sampleGap
}

func legendRow() vg.Length { return textStyle(smallSize).Height("Mg") + 3 }

// drawLegend sets entries in rows along the top of c and returns the canvas below.
func drawLegend(c draw.Canvas, entries []entry) draw.Canvas {
	style := aligned(textStyle(smallSize), draw.XLeft, draw.YCenter)
	rows := legendRows(entries, c.Max.X-c.Min.X)
	for i, row := range rows {
		x, y := c.Min.X, c.Max.Y-(vg.Length(i)+0.5)*legendRow()
		for _, e := range row {
			e.mark(c, vg.Rectangle{Min: vg.Point{X: x, Y: y - 3}, Max: vg.Point{X: x + sampleWidth, Y: y + 3}})
			c.FillText(style, vg.Point{X: x + sampleWidth + sampleGap, Y: y}, e.label)
			x += sampleWidth + sampleGap + style.Width(e.label) + entryGap
		}
	}
	return draw.Crop(c, 0, 0, 0, -vg.Length(len(rows))*legendRow()-sampleGap)
}

// shorten cuts s to a width with an ellipsis.
func shorten(style text.Style, s string, width vg.Length) string {
	if style.Width(s) <= width {
		return s
	}
	letters := []rune(s)
	for len(letters) > 1 {
		letters = letters[:len(letters)-1]
		if short := strings.TrimRight(string(letters), " ") + "…"; style.Width(short) <= width {
			return short
		}
	}
	return "…"
}

// fillRectangle fills r on c.
func fillRectangle(c draw.Canvas, r vg.Rectangle, fill color.Color) {
	c.SetColor(fill)
	c.Fill(r.Path())
}

// rightAxis draws a second vertical axis along the right edge of the data canvas: marks run from 0 at its
// bottom to most at its top.
func rightAxis(c draw.Canvas, label string, marks []plot.Tick, most float64, color color.Color) {
	line := draw.LineStyle{Color: color, Width: hairline}
	numbers := aligned(textStyle(smallSize), draw.XLeft, draw.YCenter)
	numbers.Color = color
	x := c.Max.X
	c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
	var widest vg.Length
	for _, m := range marks {
		y := c.Min.Y + vg.Length(m.Value/most)*(c.Max.Y-c.Min.Y)
		c.StrokeLine2(line, x, y, x+3, y)
		c.FillText(numbers, vg.Point{X: x + 5, Y: y + 0.5}, m.Label)
		widest = max(widest, numbers.Width(m.Label))
	}
	title := aligned(textStyle(textSize), draw.XCenter, draw.YBottom)
	title.Color = color
	title.Rotation = math.Pi / 2
	c.FillText(title, vg.Point{X: x + rightAxisWidth(marks), Y: (c.Min.Y + c.Max.Y) / 2}, label)
}

// rightAxisWidth returns the room that rightAxis takes beside the data canvas.
func rightAxisWidth(marks []plot.Tick) vg.Length {
	numbers := textStyle(smallSize)
	var widest vg.Length
	for _, m := range marks {
		widest = max(widest, numbers.Width(m.Label))
	}
	return 5 + widest + 3 + textStyle(textSize).Height("Mg")
}
