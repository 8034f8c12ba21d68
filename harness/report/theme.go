// Colours, lines and markers of all figures.

package report

import (
	"image/color"
	"math"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figures are drawn in the measures of a page of two columns (ACL style), so that type is printed at the size given here:
// at the width of a column, or of the page where there are panels side by side.
const (
	figureWidth = 7.7 * vg.Centimeter
	fullWidth   = 16 * vg.Centimeter
	plotHeight  = 2.1 * vg.Inch // of a figure without its legend
	textSize    = vg.Length(8)
	smallSize   = vg.Length(7)
	margin      = vg.Length(4)
	hairline    = vg.Length(0.6)
	thickLine   = vg.Length(1.4)
	plainMark   = vg.Length(2.6) // radius of the marker of a row
	firstMark   = vg.Length(3.6) // of the first look
)

// middle centres capitals and digits on a point; draw.YCenter centres the box of the font, which is lower.
const middle = text.YAlignment(-0.41)

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

// Numbers of colours and markers.
const (
	colours = 7
	shapes  = 16
)

// category returns the i-th colour for series without an order: the Okabe-Ito palette without its yellow, which is too
// light for a line, and with violet for its orange, which is too near to the first colour.
func category(i int) color.RGBA {
	palette := [colours]color.RGBA{
		{0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x72, 0xB2, 0xFF}, {0x00, 0x9E, 0x73, 0xFF}, {0xCC, 0x79, 0xA7, 0xFF},
		{0x6A, 0x1B, 0xC8, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF}, {0x22, 0x22, 0x22, 0xFF},
	}
	return palette[i%colours]
}

// dash returns the i-th pattern of a line, so that lines are told apart without colour as well.
func dash(i int) []vg.Length {
	patterns := [][]vg.Length{nil, {5, 2}, {1.2, 1.4}, {5, 1.5, 1.2, 1.5}, {9, 2}, {2.6, 1.3}, {5, 1.5, 1.2, 1.5, 1.2, 1.5}}
	return patterns[i%len(patterns)]
}

// Look is how a series is marked, the same in every figure: 0 is the first colour and the first marker, which nothing else
// gets, with a larger marker and a thicker line; the others take turns.
type Look int

// Looks is how many there are before one is repeated.
const Looks = 1 + (colours-1)*(shapes-1)/3 // 3 divides both

// Drawn is the look of its colour and marker: those beyond Looks begin anew, but for the first.
func (l Look) Drawn() Look {
	if l < Looks {
		return l
	}
	return 1 + (l-1)%(Looks-1)
}

// indices returns those of the colour and of the marker.
func (l Look) indices() (colour, shape int) {
	if l == 0 {
		return 0, 0
	}
	return 1 + (int(l)-1)%(colours-1), 1 + (int(l)-1)%(shapes-1)
}

// glyph returns the i-th of sixteen markers, which are told apart without colour.
func glyph(i int) draw.GlyphDrawer {
	drawers := [shapes]draw.GlyphDrawer{
		draw.CircleGlyph{}, polygon{4, 1, false}, polygon{3, 2, true}, polygon{4, 0, false}, polygon{4, 1, true}, polygon{3, 0, false},
		polygon{4, 0, true}, draw.CrossGlyph{}, polygon{3, 2, false}, polygon{3, 0, true}, draw.PlusGlyph{}, polygon{3, 1, false},
		polygon{3, 3, true}, star{}, polygon{3, 3, false}, polygon{3, 1, true},
	}
	return drawers[i%shapes]
}

// polygon is a marker with corners, the first of them at turn eighths of a circle from below.
type polygon struct {
	corners, turn int
	filled        bool
}

// DrawGlyph draws the marker with the area of a circle.
func (g polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	n := float64(g.corners)
	r := float64(style.Radius) * math.Sqrt(math.Pi/(n/2*math.Sin(2*math.Pi/n)))
	turn := math.Pi * float64(g.turn) / 4
	if g.corners == 3 {
		turn *= 2 // a triangle stands on a corner or on a side
	}
	var path vg.Path
	for i := range g.corners {
		sin, cos := math.Sincos(turn - math.Pi/2 + 2*math.Pi*float64(i)/n)
		v := vg.Point{X: at.X + vg.Length(r*cos), Y: at.Y + vg.Length(r*sin)}
		if i == 0 {
			path.Move(v)
		} else {
			path.Line(v)
		}
	}
	path.Close()
	if g.filled {
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 0.9})
	c.Stroke(path)
}

// star is a marker of three crossing lines.
type star struct{}

// DrawGlyph draws the marker.
func (star) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	for i := range 3 {
		sin, cos := math.Sincos(math.Pi * float64(i) / 3)
		arm := vg.Point{X: style.Radius * vg.Length(sin), Y: style.Radius * vg.Length(cos)}
		c.StrokeLine2(draw.LineStyle{Color: style.Color, Width: 0.9}, at.X-arm.X, at.Y-arm.Y, at.X+arm.X, at.Y+arm.Y)
	}
}

// onFill returns a text colour that is readable on a fill.
func onFill(c color.RGBA) color.Color {
	luminance := 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B)
	if luminance < 140 {
		return color.White
	}
	return ink()
}

// typeface is the one of all figures.
var typeface = font.Font{Typeface: "Liberation", Variant: "Sans"}

// letters lays out text in it.
var letters = sync.OnceValue(func() text.Handler {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err) // a font that is compiled in
	}
	return text.Plain{Fonts: font.NewCache(font.Collection{{Font: typeface, Face: face}})}
})

func textStyle(size vg.Length) text.Style {
	return text.Style{Color: ink(), Font: font.From(typeface, size), Handler: letters()}
}

// aligned returns s anchored at the given point of its box.
func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
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

func costLine() draw.LineStyle { return draw.LineStyle{Color: accent(), Width: thickLine} }

// haloLine sets a line apart from what lies below it.
func haloLine() draw.LineStyle {
	return draw.LineStyle{Color: color.White, Width: thickLine + 1.6}
}

func costPoint() draw.GlyphStyle {
	return draw.GlyphStyle{Color: accent(), Radius: 2.6, Shape: draw.CircleGlyph{}}
}

func expertGlyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink(), Radius: 2.8, Shape: draw.RingGlyph{}}
}

func hullLine() draw.LineStyle {
	return draw.LineStyle{Color: color.Gray{0x88}, Width: 1, Dashes: []vg.Length{4, 2}}
}

// paperGlyph marks the paper's numbers.
func paperGlyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: category(6), Radius: 2.2, Shape: draw.CrossGlyph{}}
}

// seedGlyph marks a single training seed.
func seedGlyph(c color.RGBA) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: 1.5, Shape: draw.RingGlyph{}}
}
