package report

import (
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

// A text's outlines are where the text would be: between its base line and its height, as wide as it is.
func TestOutlinesAreAsLargeAsTheirText(t *testing.T) {
	face := font.NewCache(liberation.Collection()).Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, 20)
	for _, text := range []string{"H", "λ", "100 × HH", "βH", ""} {
		path, err := outline(face, vg.Point{X: 10, Y: 50}, text)
		if err != nil {
			t.Fatal(err)
		}
		low, high := vg.Point{X: 1e9, Y: 1e9}, vg.Point{X: -1e9, Y: -1e9}
		open := 0
		for _, p := range path {
			switch p.Type {
			case vg.MoveComp:
				open++
			case vg.CloseComp:
				open--
				continue
			}
			low = vg.Point{X: min(low.X, p.Pos.X), Y: min(low.Y, p.Pos.Y)}
			high = vg.Point{X: max(high.X, p.Pos.X), Y: max(high.Y, p.Pos.Y)}
		}
		if open != 0 {
			t.Errorf("%q: %d outlines are not closed", text, open)
		}
		if text == "" {
			if len(path) > 0 {
				t.Error("nothing has outlines")
			}
			continue
		}
		if width := (high.X - low.X) / face.Width(text); low.X < 10 || width < 0.75 || width > 1 {
			t.Errorf("%q: from %v to %v, the text is %v wide", text, low.X, high.X, face.Width(text))
		}
		// The capital H is 0.729 of the size tall; a beta reaches 0.2 below the line.
		if low.Y < 50-0.25*20 || math.Abs(float64(high.Y-50)/20-0.729) > 0.05 {
			t.Errorf("%q: from %v to %v over a line at 50", text, low.Y, high.Y)
		}
	}
}

func TestPDFColoursAreNotDarkened(t *testing.T) {
	r, g, b, a := straight(color.NRGBA{0x20, 0x40, 0x80, 0x38}).RGBA()
	if r>>8 != 0x20 || g>>8 != 0x40 || b>>8 != 0x80 || a>>8 != 0x38 {
		t.Errorf("%x %x %x %x", r, g, b, a)
	}
}
