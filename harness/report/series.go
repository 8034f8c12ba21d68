// Series of numbers with intervals, as panels draw them.

package report

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// series is one line.
type series struct {
	label  string
	color  color.RGBA
	dashes []vg.Length
	shape  int  // of markers
	first  bool // of the first look: it stands out
	hidden bool // it lies on another and is not drawn
	points []sample
}

// sample is a point of a line with the range over seeds.
type sample struct {
	x            float64
	y, low, high float64
}

// sampleOf is a measured point; one without an interval ends where it is.
func sampleOf(x float64, v metrics.Value) sample {
	if v.Bounded {
		return sample{x, v.Number, v.Low, v.High}
	}
	return sample{x, v.Number, v.Number, v.Number}
}

func (s series) line() draw.LineStyle {
	if s.first {
		return draw.LineStyle{Color: s.color, Width: 2, Dashes: s.dashes}
	}
	return draw.LineStyle{Color: s.color, Width: 1.2, Dashes: s.dashes}
}

// number writes a number with all its digits.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
