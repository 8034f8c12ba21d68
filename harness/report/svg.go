// What the SVG canvas of the plotting library lacks.

package report

import (
	"bytes"
	"fmt"

	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas says how wide each text is, so that it fills the place that it was given in whatever font a reader has.
type svgCanvas struct {
	*vgsvg.Canvas
	widths *[]vg.Length // of texts, in the order that they are written in
}

func newSVGCanvas(width, height vg.Length) svgCanvas {
	return svgCanvas{vgsvg.New(width, height), new([]vg.Length)}
}

// FillString draws a text.
func (c svgCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	*c.widths = append(*c.widths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// measured adds the widths to a drawing of the canvas.
func (c svgCanvas) measured(svg []byte) ([]byte, error) {
	const text = "<text "
	parts := bytes.Split(svg, []byte(text)) // of no text: < is escaped there
	if len(parts) != 1+len(*c.widths) {
		return nil, fmt.Errorf("%d texts were drawn and %d are written", len(*c.widths), len(parts)-1)
	}
	var b bytes.Buffer
	b.Write(parts[0])
	for i, width := range *c.widths {
		b.WriteString(text)
		if width > 0 {
			fmt.Fprintf(&b, `textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, width.Points())
		}
		b.Write(parts[1+i])
	}
	return b.Bytes(), nil
}
