// Legends of figures, set in as many rows as they need.

package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one line of a legend.
type entry struct {
	label string
	mark  func(c draw.Canvas, at vg.Rectangle) // draws the sample into a rectangle
}

const (
	sampleWidth = vg.Length(12)
	sampleGap   = vg.Length(3) // between a sample and its label, and below a legend
	entryGap    = vg.Length(6)
	legendRow   = vg.Length(11)
)

// placedEntry is an entry with the row and the distance from the left edge at which it stands.
type placedEntry struct {
	entry
	row int
	x   vg.Length
}

// legendRows arranges a legend in a width: running on, or, from three rows on, in columns where that takes at most one row more. A label
// that is longer than a row is cut with an ellipsis.
func legendRows(entries []entry, width vg.Length) (placed []placedEntry, rows int) {
	style := textStyle(smallSize)
	needs := make([]vg.Length, len(entries))
	row, x := 0, vg.Length(0)
	for i, e := range entries {
		e.label = shorten(style, e.label, width-sampleWidth-sampleGap)
		needs[i] = sampleWidth + sampleGap + style.Width(e.label)
		if x > 0 && x+needs[i] > width {
			row, x = row+1, 0
		}
		placed = append(placed, placedEntry{e, row, x})
		x += needs[i] + entryGap
	}
	rows = row + 1
	for columns := len(entries); rows > 2 && columns > 1; columns-- {
		lefts := make([]vg.Length, columns+1)
		for k := range columns {
			widest := vg.Length(0)
			for i := k; i < len(entries); i += columns {
				widest = max(widest, needs[i])
			}
			lefts[k+1] = lefts[k] + widest + entryGap
		}
		if lefts[columns]-entryGap > width {
			continue
		}
		if n := (len(entries) + columns - 1) / columns; n <= rows+1 {
			for i := range placed {
				placed[i].row, placed[i].x = i/columns, lefts[i%columns]
			}
			rows = n
		}
		break
	}
	return placed, rows
}

// legendHeight is what a legend takes of the height of a figure of the given width.
func legendHeight(entries []entry, width vg.Length) vg.Length {
	_, rows := legendRows(entries, width-2*margin)
	return vg.Length(rows)*legendRow + sampleGap
}

// drawLegend sets entries in rows along the top of c and returns the canvas below.
func drawLegend(c draw.Canvas, entries []entry) draw.Canvas {
	style := aligned(textStyle(smallSize), draw.XLeft, middle)
	placed, rows := legendRows(entries, c.Max.X-c.Min.X)
	for _, e := range placed {
		x, y := c.Min.X+e.x, c.Max.Y-(vg.Length(e.row)+0.5)*legendRow
		e.mark(c, vg.Rectangle{Min: vg.Point{X: x, Y: y - 3}, Max: vg.Point{X: x + sampleWidth, Y: y + 3}})
		c.FillText(style, vg.Point{X: x + sampleWidth + sampleGap, Y: y}, e.label)
	}
	return draw.Crop(c, 0, 0, 0, -vg.Length(rows)*legendRow-sampleGap)
}

// markEntry is an entry whose sample is a marker.
func markEntry(label string, style draw.GlyphStyle) entry {
	return entry{label, func(c draw.Canvas, at vg.Rectangle) { c.DrawGlyph(style, centre(at)) }}
}

// lineEntry is an entry whose sample is a line.
func lineEntry(label string, style draw.LineStyle) entry {
	return entry{label, func(c draw.Canvas, at vg.Rectangle) {
		c.StrokeLine2(style, at.Min.X, centre(at).Y, at.Max.X, centre(at).Y)
	}}
}

// bothEntry is an entry whose sample is a line with a marker on it.
func bothEntry(label string, line draw.LineStyle, mark draw.GlyphStyle) entry {
	return entry{label, func(c draw.Canvas, at vg.Rectangle) {
		lineEntry(label, line).mark(c, at)
		c.DrawGlyph(mark, centre(at))
	}}
}
