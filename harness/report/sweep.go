package report

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
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

// Quantity is a unit of measurements and how an axis names it.
type Quantity struct {
	Unit  string
	Label string
	Zero  bool // a dashed line at 0
}

// SweepLine is the rows of one line.
type SweepLine struct {
	Label  string
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

// Sweep draws quantities against a number: lines and bands of the mean over training seeds with its interval over
// questions, dots of single seeds, and the paper's numbers where paper has them. paper may be nil.
func Sweep(l SweepLayout, set, paper *metrics.Set) (*Figure, error) {
	if len(l.Panels) == 0 || len(l.Lines) == 0 {
		return nil, fmt.Errorf("figure %q: no quantity or no line to show", l.Name)
	}
	fail := func(err error) (*Figure, error) { return nil, fmt.Errorf("figure %q: %w", l.Name, err) }
	var panels []sweepData
	var numbers []float64
	repeat := cmp.Or(l.Repeat, "seed")
	records := [][]string{{"quantity", "line", "x", repeat, "value", "low", "high"}}
	for _, q := range l.Panels {
		d := sweepData{Quantity: q, paper: series{label: "Paper", color: color.RGBA{0x22, 0x22, 0x22, 0xFF}, dashed: true}}
		for i, line := range l.Lines {
			s, dots := series{label: line.Label, color: category(i + 1)}, series{color: category(i + 1)}
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
				at := sample{point.X, v.Number, v.Number, v.Number}
				record := []string{q.Unit, line.Label, x, "", metrics.Format(v.Number, v.Decimals), "", ""}
				if v.Bounded {
					at.low, at.high = v.Low, v.High
					record[5], record[6] = metrics.Format(v.Low, v.Decimals), metrics.Format(v.High, v.Decimals)
				}
				s.points, records = append(s.points, at), append(records, record)
				for _, m := range set.Where(point.Keys...) {
					v, ok := m.Value(q.Unit)
					if seed := m.Key("seed"); seed != "" && ok {
						dots.points = append(dots.points, sample{x: point.X, y: v.Number})
						records = append(records, []string{q.Unit, line.Label, x, seed, metrics.Format(v.Number, v.Decimals), "", ""})
					}
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
		Name: l.Name, Caption: l.Caption, records: records,
		width: figureWidth, height: vg.Length(len(panels))*sweepPanel(len(panels)) + axisHeight() + legendHeight(legend, figureWidth) + 2*margin,
		paint: func(c draw.Canvas) { paintSweep(drawLegend(c, legend), axis, panels) },
	}, nil
}

// axisHeight is the room of the numbers and the name below a panel.
func axisHeight() vg.Length {
	return textStyle(smallSize).Height("0") + textStyle(textSize).Height("Mg") + 4
}

// sweepAxis is the horizontal axis; a logarithmic one is marked where there are points.
func sweepAxis(l SweepLayout, numbers []float64) scale {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	low, high := numbers[0], numbers[len(numbers)-1]
	if !l.Log {
		gap := max(0.04*(high-low), 1e-9)
		return scale{low: low - gap, high: high + gap, label: l.Axis}
	}
	s := scale{low: low / 1.15, high: high * 1.15, label: l.Axis, log: true}
	for _, v := range numbers {
		s.marks = append(s.marks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return s
}

// sweepLegend names the lines if there is more than one, and what dots, one a repeat, and dashes are if there are any.
func sweepLegend(panels []sweepData, repeat string) []entry {
	var legend []entry
	first := panels[0]
	for i, s := range first.lines {
		label := s.label
		if len(first.lines) == 1 && label == "" {
			label = "Mean over " + repeat + "s"
		}
		legend = append(legend, entry{label, func(c draw.Canvas, at vg.Rectangle) {
			middle := vg.Point{X: (at.Min.X + at.Max.X) / 2, Y: (at.Min.Y + at.Max.Y) / 2}
			c.StrokeLine2(s.line(), at.Min.X, middle.Y, at.Max.X, middle.Y)
			c.DrawGlyph(sweepGlyph(s, i), middle)
		}})
	}
	if slices.ContainsFunc(first.seeds, func(s series) bool { return len(s.points) > 0 }) {
		dot := seedGlyph(color.RGBA{0x22, 0x22, 0x22, 0xFF})
		legend = append(legend, entry{"One " + repeat, func(c draw.Canvas, at vg.Rectangle) {
			c.DrawGlyph(dot, vg.Point{X: (at.Min.X + at.Max.X) / 2, Y: (at.Min.Y + at.Max.Y) / 2})
		}})
	}
	for _, p := range panels {
		if len(p.paper.points) > 0 {
			return append(legend, lineLegend([]series{p.paper})...)
		}
	}
	return legend
}

func sweepGlyph(s series, i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: 2.2, Shape: glyph(i)}
}

// seedGlyph marks a single training seed.
func seedGlyph(c color.RGBA) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: 1.5, Shape: draw.RingGlyph{}}
}

func paintSweep(c draw.Canvas, axis scale, panels []sweepData) {
	ys := make([]scale, len(panels))
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
		if d.Zero {
			values = append(values, 0)
		}
		ys[i] = room(d.Label, values...)
		numbers = max(numbers, ys[i].width())
	}
	top := c.Max.Y
	for i, d := range panels {
		x, height := axis, sweepPanel(len(panels))
		if i == len(panels)-1 {
			height = top - c.Min.Y
		} else {
			x.label = ""
		}
		area := c
		area.Rectangle = vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: top - height}, Max: vg.Point{X: c.Max.X, Y: top}}
		top -= height
		p := newPanel(area, x, ys[i], numbers)
		if d.Zero {
			p.level(0)
		}
		for _, s := range d.lines {
			p.band(s)
		}
		if len(d.paper.points) > 0 {
			p.draw(d.paper)
		}
		for k, s := range d.lines {
			p.draw(s)
			p.aside = aside(k, len(d.lines))
			for _, q := range d.seeds[k].points {
				p.data.DrawGlyph(seedGlyph(s.color), p.at(q.x, q.y))
			}
			for _, q := range s.points {
				p.data.DrawGlyph(sweepGlyph(s, k), p.at(q.x, q.y))
			}
			p.aside = 0
		}
	}
}
