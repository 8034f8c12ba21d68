// The figure of a knob that is swept.

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// SweepLayout says which measurements a sweep shows: quantities, one panel each, against a number that rows change.
type SweepLayout struct {
	Name    string
	Caption string
	Axis    string // what the number is, with its unit
	Log     bool   // logarithmic axis: every number is positive
	Panels  []Quantity
	Lines   []SweepLine
	Repeat  string // what the key seed tells apart, e.g. partition; empty: seed
}

// SweepLine is the rows of one line.
type SweepLine struct {
	Label  string
	Look   Look // a second line of one colour in a figure gets another
	Points []SweepPoint
}

// SweepPoint is a row at its number. Its lines with the further key seed are single training seeds, or what Repeat says.
type SweepPoint struct {
	X    float64
	Keys []metrics.Key
	// Paper are the keys of the paper's row; nil: the paper has none.
	Paper []metrics.Key
}

// sweepPanel is the height of each of n panels without the name of their common axis.
func sweepPanel(n int) vg.Length { return max(1.12, 1.8-0.2*vg.Length(n)) * vg.Inch }

// sweepData is what one panel shows.
type sweepData struct {
	Quantity
	lines []series
	seeds []series // single seeds of each line
	paper series
}

// rings says whether the panel has single seeds.
func (d sweepData) rings() bool {
	return slices.ContainsFunc(d.seeds, func(s series) bool { return len(s.points) > 0 })
}

// Sweep draws quantities against a number: lines and bands of the mean over training seeds with its interval, rings of single seeds, and the paper's numbers where paper has them. paper may be nil. The caption says which
// panels have rings, and that points of several lines are moved apart.
func Sweep(l SweepLayout, set, paper *metrics.Set) (*Figure, error) {
	if len(l.Panels) == 0 || len(l.Lines) == 0 {
		return nil, fmt.Errorf("figure %q: no quantity or no line to show", l.Name)
	}
	fail := func(err error) (*Figure, error) { return nil, fmt.Errorf("figure %q: %w", l.Name, err) }
	var panels []sweepData
	var numbers []float64
	repeat := cmp.Or(l.Repeat, "seed")
	records := [][]string{{"quantity", "line", l.Axis, repeat, "value", "low", "high"}}
	styles := sweepStyles(l.Lines)
	for _, q := range l.Panels {
		d := sweepData{Quantity: q, paper: series{label: "Paper", color: category(6), dashes: dash(1)}}
		for i, line := range l.Lines {
			s, dots := series{label: line.Label, color: category(styles[i].colour), shape: styles[i].shape, dashes: dash(i), first: line.Look == 0}, series{color: category(styles[i].colour)}
			byNumber := slices.SortedStableFunc(slices.Values(line.Points), func(a, b SweepPoint) int { return cmp.Compare(a.X, b.X) })
			for _, point := range byNumber {
				if l.Log && point.X <= 0 {
					return fail(fmt.Errorf("line %q: %v has no place on a logarithmic axis", line.Label, point.X))
				}
				numbers = append(numbers, point.X)
				x := strconv.FormatFloat(point.X, 'g', -1, 64)
				_, v, err := value(set, q.Unit, append(slices.Clone(point.Keys), metrics.Key{Name: "seed"}))
				if err != nil {
					return fail(fmt.Errorf("line %q at %s: %w", line.Label, x, err))
				}
				s.points, records = append(s.points, sampleOf(point.X, v)), append(records, append([]string{q.Unit, line.Label, x, ""}, ends(v)...))
				for seed, v := range seedsOf(set, q.Unit, point.Keys) {
					dots.points = append(dots.points, sample{x: point.X, y: v.Number})
					records = append(records, []string{q.Unit, line.Label, x, seed, metrics.Format(v.Number, v.Decimals), "", ""})
				}
				if point.Paper == nil || paper == nil {
					continue
				}
				if _, v, err := value(paper, q.Unit, point.Paper); err == nil {
					d.paper.points = append(d.paper.points, sample{point.X, v.Number, v.Number, v.Number})
					records = append(records, []string{q.Unit, d.paper.label, x, "", metrics.Format(v.Number, v.Decimals), "", ""})
				}
			}
			d.lines, d.seeds = append(d.lines, s), append(d.seeds, dots)
		}
		panels = append(panels, d)
	}
	legend := sweepLegend(panels, repeat)
	axis := sweepAxis(l, numbers)
	return &Figure{
		Name: l.Name, Caption: l.Caption + sweepRemark(panels, repeat), records: records,
		width: figureWidth, height: vg.Length(len(panels))*sweepPanel(len(panels)) + axisHeight() + legendHeight(legend, figureWidth) + 2*margin,
		paint: func(c draw.Canvas) { paintSweep(drawLegend(c, legend), axis, panels) },
	}, nil
}

// sweepRemark is what a caption says of rings and of lines beside each other.
func sweepRemark(panels []sweepData, repeat string) (remark string) {
	var ringed []string
	for _, d := range panels {
		if d.rings() {
			ringed = append(ringed, d.Label)
		}
	}
	switch n := len(ringed); {
	case n == 0:
	case n == len(panels):
		remark += fmt.Sprintf(" Rings are single %ss.", repeat)
	case n == 1:
		remark += fmt.Sprintf(" Rings, only in the panel %s, are single %ss.", ringed[0], repeat)
	default:
		remark += fmt.Sprintf(" Rings, only in the panels %s, are single %ss.", strings.Join(ringed, " and "), repeat)
	}
	if len(panels[0].lines) > 1 {
		remark += " Points at one number are moved apart sideways, so that they do not hide each other."
	}
	return remark
}

// sweepStyle is the colour and the marker of a line.
type sweepStyle struct{ colour, shape int }

// sweepStyles gives every line the style of its look, or the next colour and marker that no line before has.
func sweepStyles(lines []SweepLine) (styles []sweepStyle) {
	var usedColours [colours]bool
	var usedShapes [shapes]bool
	for _, line := range lines {
		colour, shape := line.Look.indices()
		for n := 0; usedColours[colour] && n < colours; n++ {
			colour = (colour + 1) % colours
		}
		for n := 0; usedShapes[shape] && n < shapes; n++ {
			shape = (shape + 1) % shapes
		}
		usedColours[colour], usedShapes[shape] = true, true
		styles = append(styles, sweepStyle{colour, shape})
	}
	return styles
}

// sweepAxis is the horizontal axis; a logarithmic one is marked where there are points.
func sweepAxis(l SweepLayout, numbers []float64) scale {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	low, high := numbers[0], numbers[len(numbers)-1]
	if !l.Log {
		gap := 0.04 * (high - low)
		if gap == 0 {
			gap = cmp.Or(0.05*math.Abs(low), 1)
		}
		return scale{low: low - gap, high: high + gap, label: l.Axis}
	}
	s := scale{low: low / 1.15, high: high * 1.15, label: l.Axis, log: true}
	for _, v := range numbers {
		s.marks = append(s.marks, tick{v, strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return s
}

// sweepLegend names the lines, a nameless one by what it is of, and what dots, one a repeat, and dashes are if there are any.
func sweepLegend(panels []sweepData, repeat string) []entry {
	var legend []entry
	first, rings := panels[0], slices.ContainsFunc(panels, sweepData.rings)
	for _, s := range first.lines {
		label := s.label
		if len(first.lines) == 1 && label == "" {
			label = "One " + repeat
			if rings {
				label = "Mean over " + repeat + "s"
			}
		}
		legend = append(legend, bothEntry(label, s.line(), sweepGlyph(s)))
	}
	if rings {
		legend = append(legend, markEntry("One "+repeat, seedGlyph(category(6))))
	}
	for _, p := range panels {
		if len(p.paper.points) > 0 {
			return append(legend, bothEntry(p.paper.label, p.paper.line(), paperGlyph()))
		}
	}
	return legend
}

func sweepGlyph(s series) draw.GlyphStyle {
	if s.first {
		return draw.GlyphStyle{Color: s.color, Radius: 3, Shape: glyph(s.shape)}
	}
	return draw.GlyphStyle{Color: s.color, Radius: 2.2, Shape: glyph(s.shape)}
}

func paintSweep(c draw.Canvas, axis scale, panels []sweepData) {
	ys, zero := make([]scale, len(panels)), make([]bool, len(panels))
	lines := 0 // of the names of axes
	var numbers vg.Length
	for i, d := range panels {
		var values []float64
		for _, s := range slices.Concat(d.lines, []series{d.paper}) {
			for _, q := range s.points {
				values = append(values, q.y, q.low, q.high)
			}
		}
		for _, s := range d.seeds {
			for _, q := range s.points {
				values = append(values, q.y)
			}
		}
		ys[i], zero[i] = d.scale(values)
		numbers, lines = max(numbers, ys[i].width()), max(lines, strings.Count(ys[i].label, "\n"))
	}
	for i := range ys { // panels stand flush
		ys[i].label = strings.Repeat("\n", lines-strings.Count(ys[i].label, "\n")) + ys[i].label
	}
	top := c.Max.Y
	for i, d := range panels {
		x, height := axis, sweepPanel(len(panels))
		if i == len(panels)-1 {
			height = top - c.Min.Y
		} else {
			x.bare = true
		}
		area := c
		area.Rectangle = vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: top - height}, Max: vg.Point{X: c.Max.X, Y: top}}
		top -= height
		p := newPanel(area, x, ys[i], numbers)
		if zero[i] {
			p.level(0)
		}
		for k, s := range d.lines {
			p.aside = aside(k, len(d.lines))
			p.band(s)
		}
		p.aside = 0
		if len(d.paper.points) > 0 {
			p.draw(d.paper)
			p.dots(d.paper, paperGlyph())
		}
		for _, first := range []bool{false, true} { // which lies on top
			for k, s := range d.lines {
				if s.first == first {
					p.aside = aside(k, len(d.lines))
					p.draw(s)
					p.dots(d.seeds[k], seedGlyph(s.color))
					p.dots(s, sweepGlyph(s))
				}
			}
		}
	}
}
