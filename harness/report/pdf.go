// What the PDF canvas of the plotting library lacks.

package report

import (
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	fixedpoint "golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas mends two things of the canvas that it is made of: texts with letters beyond ASCII came out as other letters,
// since its fonts have one byte a letter, and colours that let others through came out too dark.
type pdfCanvas struct{ *vgpdf.Canvas }

// FillString draws a text; one with letters beyond ASCII by its outlines, which no reader can select.
func (c pdfCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	for _, r := range text {
		if r > '~' {
			if path, err := outline(face, at, text); err == nil {
				c.Fill(path)
				return
			}
		}
	}
	c.Canvas.FillString(face, at, text)
}

// outline returns the outlines of a text that begins at a point of its base line.
func outline(face plotfont.Face, at vg.Point, text string) (vg.Path, error) {
	var buffer sfnt.Buffer
	// At this size, coordinates of the font are whole numbers.
	em := fixedpoint.I(int(face.Face.UnitsPerEm()))
	unit := face.Font.Size / vg.Length(em)
	var path vg.Path
	var previous sfnt.GlyphIndex
	for i, r := range text {
		glyph, err := face.Face.GlyphIndex(&buffer, r)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			if kern, err := face.Face.Kern(&buffer, previous, glyph, em, font.HintingNone); err == nil {
				at.X += vg.Length(kern) * unit
			}
		}
		segments, err := face.Face.LoadGlyph(&buffer, glyph, em, nil)
		if err != nil {
			return nil, err
		}
		point := func(p fixedpoint.Point26_6) vg.Point { // fonts of this package count downwards
			return vg.Point{X: at.X + vg.Length(p.X)*unit, Y: at.Y - vg.Length(p.Y)*unit}
		}
		for k, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					path.Close()
				}
				path.Move(point(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(point(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(point(s.Args[0]), point(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
			}
		}
		if len(segments) > 0 {
			path.Close()
		}
		advance, err := face.Face.GlyphAdvance(&buffer, glyph, em, font.HintingNone)
		if err != nil {
			return nil, err
		}
		at.X += vg.Length(advance) * unit
		previous = glyph
	}
	return path, nil
}

// SetColor sets the colour of what follows.
func (c pdfCanvas) SetColor(of color.Color) {
	if n, ok := of.(color.NRGBA); ok {
		of = straight(n)
	}
	c.Canvas.SetColor(of)
}

// straight is a colour whose parts are not multiplied by its opacity, as PDF has them.
type straight color.NRGBA

func (s straight) RGBA() (r, g, b, a uint32) {
	return uint32(s.R) * 0x101, uint32(s.G) * 0x101, uint32(s.B) * 0x101, uint32(s.A) * 0x101
}
