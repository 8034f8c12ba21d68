package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Every text of a drawing says how wide it is in the font that it was laid out for, so that it is as wide in another.
func TestTextsAreAsWideInAnyFont(t *testing.T) {
	f := &Figure{Name: "f", width: 100, height: 50, paint: func(c draw.Canvas) {
		style := textStyle(10)
		c.FillText(style, vg.Point{X: 10, Y: 10}, "Il & <text >")
		c.FillText(style, vg.Point{X: 10, Y: 30}, "Random\nWide")
	}}
	var b bytes.Buffer
	if err := f.Write(&b, SVG); err != nil {
		t.Fatal(err)
	}
	type text struct {
		Width  string `xml:"textLength,attr"`
		Adjust string `xml:"lengthAdjust,attr"`
		Says   string `xml:",chardata"`
	}
	var drawing struct {
		Texts []text `xml:"g>text"`
	}
	if err := xml.Unmarshal(b.Bytes(), &drawing); err != nil {
		t.Fatal(err)
	}
	// Of 2,048 units an em: R 1479, a, n, d, o and e 1139, m 1706; W 1933, i 455.
	want := map[string]string{"Random": "37.80", "Wide": "22.78"}
	for _, x := range drawing.Texts {
		if w, ok := want[x.Says]; ok && x.Width != w || x.Width == "" || x.Adjust != "spacingAndGlyphs" {
			t.Errorf("%+v, want a width of %s", x, want[x.Says])
		}
		delete(want, x.Says)
	}
	if len(drawing.Texts) != 3 || len(want) > 0 {
		t.Errorf("texts %+v", drawing.Texts)
	}
	page, err := (&HTML{}).Figure(f)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), `textLength=`); n != 3 {
		t.Errorf("%d texts of a page say how wide they are:\n%s", n, page)
	}
}
