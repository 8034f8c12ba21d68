// Axes: what stands beside the data of a panel takes its room, and the data get the rest.

package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	tickLength = vg.Length(3)
	nameGap    = vg.Length(2) // between the name of an axis and its numbers
)

// tick is a place of an axis and what stands there; without a label it is half as long.
type tick struct {
	at    float64
	label string
}

// axis is one axis as it is drawn.
type axis struct {
	low, high  float64
	name       string // empty: none
	marks      []tick
	numbers    text.Style
	tickLength vg.Length // 0: none
}

// norm is how far a value lies between the ends of the axis.
func (a axis) norm(v float64) float64 { return (v - a.low) / (a.high - a.low) }

// size is that of the largest label.
func (a axis) size() (width, height vg.Length) {
	for _, m := range a.marks {
		if m.label != "" {
			box := a.numbers.Rectangle(m.label).Size()
			width, height = max(width, box.X), max(height, box.Y)
		}
	}
	return width, height
}

// axes are those of a panel.
type axes struct{ x, y axis }

// besideName is how far from the left edge of the panel the name of the vertical axis ends.
func (a axes) besideName() vg.Length {
	if a.y.name == "" {
		return 0
	}
	style := textStyle(textSize)
	return style.Height(a.y.name) + style.FontExtents().Descent + nameGap
}

// aboveName is how far from the lower edge of the panel the name of the horizontal axis ends.
func (a axes) aboveName() vg.Length {
	if a.x.name == "" {
		return 0
	}
	return textStyle(textSize).Height(a.x.name) + nameGap
}

// data is the part of c that the data get: so much that the last numbers do not stand out of c.
func (a axes) data(c draw.Canvas) draw.Canvas {
	left, _ := a.y.size()
	if left > 0 {
		left += textStyle(textSize).Width(" ")
	}
	_, below := a.x.size()
	c = draw.Crop(c, a.besideName()+left+a.y.tickLength+hairline/2, 0, a.aboveName()+below+a.x.tickLength+hairline/2, 0)
	width, height := c.Max.X-c.Min.X, c.Max.Y-c.Min.Y
	for _, m := range a.x.marks {
		if at := vg.Length(a.x.norm(m.at)); m.label != "" && at > 0 && at <= 1 {
			width = min(width, (c.Max.X-c.Min.X-a.x.numbers.Rectangle(m.label).Max.X)/at)
		}
	}
	extents := a.y.numbers.FontExtents()
	for _, m := range a.y.marks {
		if at := vg.Length(a.y.norm(m.at)); m.label != "" && at > 0 && at <= 1 {
			height = min(height, (c.Max.Y-c.Min.Y-a.y.numbers.Rectangle(m.label).Max.Y-(extents.Height-extents.Ascent))/at)
		}
	}
	c.Max = vg.Point{X: c.Min.X + width, Y: c.Min.Y + height}
	return c
}

// draw draws the axes into c and returns the part of it that the data get. Marks that lie beside it are left out.
func (a axes) draw(c draw.Canvas) draw.Canvas {
	data := a.data(c)
	line := draw.LineStyle{Color: ink(), Width: hairline}
	name := aligned(textStyle(textSize), draw.XCenter, draw.YBottom)
	descent := name.FontExtents().Descent

	if a.x.name != "" {
		c.FillText(name, vg.Point{X: data.Center().X, Y: c.Min.Y + descent}, a.x.name)
	}
	_, below := a.x.size()
	y := c.Min.Y + a.aboveName() + below
	for _, m := range a.x.marks {
		if x := data.X(a.x.norm(m.at)); m.label != "" && data.ContainsX(x) {
			c.FillText(a.x.numbers, vg.Point{X: x, Y: y + a.x.numbers.FontExtents().Descent}, m.label)
		}
	}
	for _, m := range a.x.marks {
		if x := data.X(a.x.norm(m.at)); a.x.tickLength > 0 && data.ContainsX(x) {
			c.StrokeLine2(line, x, y+m.shorter(a.x.tickLength), x, y+a.x.tickLength)
		}
	}
	c.StrokeLine2(line, data.Min.X, y+a.x.tickLength, data.Max.X, y+a.x.tickLength)

	if a.y.name != "" {
		up := name
		up.Rotation = math.Pi / 2
		c.FillText(up, vg.Point{X: c.Min.X + name.Height(a.y.name) - descent, Y: data.Center().Y}, a.y.name)
	}
	widest, _ := a.y.size()
	x := c.Min.X + a.besideName() + widest
	numbers, numbered := x, false
	for _, m := range a.y.marks {
		if y := data.Y(a.y.norm(m.at)); m.label != "" && data.ContainsY(y) {
			c.FillText(a.y.numbers, vg.Point{X: numbers, Y: y + a.y.numbers.FontExtents().Descent}, m.label)
			numbered = true
		}
	}
	if numbered {
		x += a.y.numbers.Width(" ")
	}
	for _, m := range a.y.marks {
		if y := data.Y(a.y.norm(m.at)); a.y.tickLength > 0 && data.ContainsY(y) {
			c.StrokeLine2(line, x+m.shorter(a.y.tickLength), y, x+a.y.tickLength, y)
		}
	}
	c.StrokeLine2(line, x+a.y.tickLength, data.Min.Y, x+a.y.tickLength, data.Max.Y)
	return data
}

// shorter is how much shorter a tick is than those of the length of its axis.
func (t tick) shorter(length vg.Length) vg.Length {
	if t.label == "" {
		return length / 2
	}
	return 0
}

// ticks returns marks at round numbers from 0 to at least most, about n of them.
func ticks(most float64, n int) []tick {
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
	var marks []tick
	for i := 0; ; i++ {
		v := float64(i) * step
		marks = append(marks, tick{v, Fixed(v, decimals(step))})
		if v >= most*(1-1e-9) {
			return marks
		}
	}
}

// decimals returns how many decimals a multiple of step needs.
func decimals(step float64) int { return max(0, int(-math.Floor(math.Log10(step)+1e-9))) }

// rightAxis draws a second vertical axis along the right edge of the data canvas: marks run from 0 at its
// bottom to most at its top.
func rightAxis(c draw.Canvas, label string, marks []tick, most float64, color color.Color) {
	line := draw.LineStyle{Color: color, Width: hairline}
	numbers := aligned(textStyle(smallSize), draw.XLeft, middle)
	numbers.Color = color
	x := c.Max.X
	c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
	for _, m := range marks {
		y := c.Min.Y + vg.Length(m.at/most)*(c.Max.Y-c.Min.Y)
		c.StrokeLine2(line, x, y, x+3, y)
		c.FillText(numbers, vg.Point{X: x + 5, Y: y}, m.label)
	}
	title := aligned(textStyle(textSize), draw.XCenter, draw.YBottom)
	title.Color = color
	title.Rotation = math.Pi / 2
	c.FillText(title, vg.Point{X: x + rightAxisWidth(marks), Y: (c.Min.Y + c.Max.Y) / 2}, shorten(title, label, c.Max.Y-c.Min.Y))
}

// rightAxisWidth returns the room that rightAxis takes beside the data canvas.
func rightAxisWidth(marks []tick) vg.Length {
	numbers := textStyle(smallSize)
	var widest vg.Length
	for _, m := range marks {
		widest = max(widest, numbers.Width(m.label))
	}
	return 5 + widest + 3 + textStyle(textSize).Height("Mg")
}
