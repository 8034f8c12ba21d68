package report

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// ParetoLayout says which methods stand in the plane of cost and accuracy.
type ParetoLayout struct {
	Name      string
	Caption   string
	Benchmark string // metrics.Average, or one benchmark whose lines carry the cost
	Cost      Quantity
	Gain      string // unit of the points above the hull, for the CSV; a row without it has none there
	Experts   []Mark // fixed experts: their hull is drawn
	Methods   []Mark // everything else
}

// CostOfAThousand is dollars a question, drawn as dollars per 1,000 questions.
func CostOfAThousand() Quantity {
	return Quantity{Unit: metrics.USDPerQuery, Label: "Cost ($ per 1,000 questions)"}
}

// SweepName is the name of lines that hold one setting of a router's knob: its key knob tells them apart.
const SweepName = "Sweep"

// Mark is one point.
type Mark struct {
	Label string
	Keys  []metrics.Key
}

// placed is a mark with its numbers.
type placed struct {
	Mark
	accuracy, cost metrics.Value
	gain           string          // as measured; empty: it was not
	curve          []metrics.Point // every setting of its knob, cheapest first; nil: none was measured
}

// Pareto draws accuracy against cost with intervals, the hull of the fixed experts, which is what a coin flip between two
// of them reaches, and, of routers whose knob was swept, the curve of all its settings. The CSV beside it has the hull gain
// of every row as it was measured, which may be above another hull than the one drawn, and of settings that above this one.
func Pareto(l ParetoLayout, set *metrics.Set) (*Figure, error) {
	var points []metrics.Point
	factor := 1.0
	if l.Cost.Unit == metrics.USDPerQuery {
		factor = perThousand
	}
	place := func(marks []Mark) ([]placed, error) {
		var out []placed
		for _, m := range marks {
			keys := append(slices.Clone(m.Keys), metrics.Key{Name: "benchmark", Value: l.Benchmark}, metrics.Key{Name: "seed"})
			own := append(slices.Clone(keys), metrics.Key{Name: "knob"})
			line, accuracy, err := value(set, metrics.Accuracy, own)
			if err != nil {
				return nil, fmt.Errorf("figure %q, %q: %w", l.Name, m.Label, err)
			}
			_, cost, err := value(set, l.Cost.Unit, own)
			if err != nil {
				return nil, fmt.Errorf("figure %q, %q: %w", l.Name, m.Label, err)
			}
			p := placed{Mark: m, accuracy: accuracy, cost: cost, curve: knobCurve(set, l.Cost.Unit, m.Keys)}
			if v, ok := line.Value(l.Gain); ok {
				p.gain = fixed(v.Number, 2)
			}
			out = append(out, p)
		}
		return out, nil
	}
	experts, err := place(l.Experts)
	if err != nil {
		return nil, err
	}
	methods, err := place(l.Methods)
	if err != nil {
		return nil, err
	}
	if len(experts) == 0 {
		return nil, fmt.Errorf("figure %q: no fixed expert, so there is no hull", l.Name)
	}
	for _, e := range experts {
		points = append(points, metrics.Point{Cost: e.cost.Number, Quality: e.accuracy.Number})
	}
	hull := metrics.UpperHull(points)
	records := [][]string{{"label", "kind", l.Cost.Unit, "low", "high", "accuracy-%", "low", "high", "hull gain"}}
	for i, group := range [][]placed{experts, methods} {
		for _, p := range group {
			record := []string{p.Label, map[bool]string{true: "fixed expert", false: "router"}[i == 0]}
			for _, v := range []metrics.Value{p.cost, p.accuracy} {
				record = append(record, metrics.Format(v.Number, v.Decimals), "", "")
				if v.Bounded {
					record[len(record)-2], record[len(record)-1] = metrics.Format(v.Low, v.Decimals), metrics.Format(v.High, v.Decimals)
				}
			}
			records = append(records, append(record, p.gain))
			for _, q := range p.curve {
				records = append(records, []string{p.Label, "setting of its knob", number(q.Cost), "", "", number(q.Quality), "", "", fixed(hull.Gain(q), 2)})
			}
		}
	}
	legend := paretoLegend(methods)
	return &Figure{
		Name: l.Name, Caption: l.Caption, width: figureWidth, height: plotHeight + legendHeight(legend, figureWidth), records: records,
		paint: func(c draw.Canvas) { paintPareto(drawLegend(c, legend), l.Cost.Label, factor, experts, methods, hull) },
	}, nil
}

// knobCurve returns what a router reaches at every setting of its knob, over all benchmarks, by cost.
func knobCurve(set *metrics.Set, cost string, keys []metrics.Key) []metrics.Point {
	var curve []metrics.Point
	for _, m := range set.Where(keys...) {
		x, ok := m.Value(cost)
		y, too := m.Value(metrics.Accuracy)
		if m.Name == SweepName && ok && too {
			curve = append(curve, metrics.Point{Cost: x.Number, Quality: y.Number})
		}
	}
	slices.SortFunc(curve, func(a, b metrics.Point) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Quality, b.Quality))
	})
	return curve
}

func expertGlyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink(), Radius: 2.8, Shape: draw.RingGlyph{}}
}

func methodGlyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: category(i), Radius: 2.6, Shape: glyph(i)}
}

func hullLine() draw.LineStyle {
	return draw.LineStyle{Color: color.Gray{0x88}, Width: 1, Dashes: []vg.Length{4, 2}}
}

func paretoLegend(methods []placed) []entry {
	middle := func(r vg.Rectangle) vg.Point { return vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2} }
	legend := []entry{{"Hull of fixed experts", func(c draw.Canvas, at vg.Rectangle) {
		c.StrokeLine2(hullLine(), at.Min.X, middle(at).Y, at.Max.X, middle(at).Y)
		c.DrawGlyph(expertGlyph(), middle(at))
	}}}
	for i, m := range methods {
		legend = append(legend, entry{m.Label, func(c draw.Canvas, at vg.Rectangle) { c.DrawGlyph(methodGlyph(i), middle(at)) }})
	}
	return legend
}

func paintPareto(c draw.Canvas, costLabel string, factor float64, experts, methods []placed, hull metrics.Hull) {
	low, high, most := 100.0, 0.0, 0.0
	for _, p := range slices.Concat(experts, methods) {
		low, high = min(low, p.accuracy.Number), max(high, p.accuracy.Number)
		most = max(most, factor*p.cost.Number)
		if p.accuracy.Bounded {
			low, high = min(low, p.accuracy.Low), max(high, p.accuracy.High)
		}
		if p.cost.Bounded {
			most = max(most, factor*p.cost.High)
		}
	}
	p := themed()
	p.X.Label.Text = costLabel
	p.Y.Label.Text = "Accuracy (%)"
	p.X.Min, p.X.Max = -0.03*most, 1.08*most
	p.X.Tick.Marker = plot.ConstantTicks(ticks(most, 6))
	room := max(0.06*(high-low), 0.5)
	p.Y.Min, p.Y.Max = low-room, high+2*room // names stand above the hull
	p.Y.Tick.Marker = plot.ConstantTicks(between(p.Y.Min, p.Y.Max, 5))
	inner := draw.Crop(c, 0, 0, 0, -textStyle(smallSize).Height("0")/2)
	p.Draw(inner)

	data := p.DataCanvas(inner)
	at := func(cost, accuracy float64) vg.Point {
		return vg.Point{X: data.X(p.X.Norm(factor * cost)), Y: data.Y(p.Y.Norm(accuracy))}
	}
	var line []vg.Point
	for _, v := range hull {
		line = append(line, at(v.Cost, v.Quality))
	}
	data.StrokeLines(hullLine(), line)
	lines := [][]vg.Point{line}
	for i, m := range methods {
		var curve []vg.Point
		for _, q := range m.curve {
			curve = append(curve, at(q.Cost, q.Quality))
		}
		if len(curve) > 1 {
			data.StrokeLines(draw.LineStyle{Color: category(i), Width: hairline}, data.ClipLinesXY(curve)...)
			lines = append(lines, curve)
		}
	}
	for group, marks := range [][]placed{experts, methods} {
		for i, m := range marks {
			s := expertGlyph()
			if group == 1 {
				s = methodGlyph(i)
			}
			bar := draw.LineStyle{Color: s.Color, Width: hairline}
			point := at(m.cost.Number, m.accuracy.Number)
			if m.accuracy.Bounded {
				data.StrokeLine2(bar, point.X, at(0, m.accuracy.Low).Y, point.X, at(0, m.accuracy.High).Y)
			}
			if m.cost.Bounded {
				data.StrokeLine2(bar, at(m.cost.Low, 0).X, point.Y, at(m.cost.High, 0).X, point.Y)
			}
			data.DrawGlyph(s, point)
		}
	}
	var names []vg.Rectangle // that are written already
	taken := func(box vg.Rectangle) bool {
		for _, m := range slices.Concat(experts, methods) {
			point := at(m.cost.Number, m.accuracy.Number)
			bar := vg.Rectangle{Min: vg.Point{X: point.X - 3, Y: point.Y - 3}, Max: vg.Point{X: point.X + 3, Y: point.Y + 3}}
			if m.accuracy.Bounded {
				bar.Min.Y, bar.Max.Y = min(bar.Min.Y, at(0, m.accuracy.Low).Y), max(bar.Max.Y, at(0, m.accuracy.High).Y)
			}
			wide := vg.Rectangle{Min: vg.Point{X: point.X, Y: point.Y - 2}, Max: vg.Point{X: point.X, Y: point.Y + 2}}
			if m.cost.Bounded {
				wide.Min.X, wide.Max.X = at(m.cost.Low, 0).X-2, at(m.cost.High, 0).X+2
			}
			if overlapping(box)(bar) || overlapping(box)(wide) {
				return true
			}
		}
		return slices.ContainsFunc(lines, func(line []vg.Point) bool { return crosses(line, box) }) ||
			slices.ContainsFunc(names, overlapping(box)) || box.Max.X > data.Max.X || box.Min.X < data.Min.X || box.Max.Y > data.Max.Y || box.Min.Y < data.Min.Y
	}
	for _, e := range experts {
		if box, ok := nameExpert(data, at(e.cost.Number, e.accuracy.Number), e.Label, taken); ok {
			names = append(names, box)
		}
	}
}

// nameExpert writes an expert's name beside its point, below the hull where nothing better is, and returns where; a name
// that finds no room nearby is led to its point by a line.
func nameExpert(c draw.Canvas, at vg.Point, name string, taken func(vg.Rectangle) bool) (box vg.Rectangle, ok bool) {
	style := aligned(textStyle(smallSize), draw.XCenter, draw.YCenter)
	w, h := style.Width(name)/2, style.Height(name)/2
	for _, distance := range []vg.Length{5, 10, 15, 20, 25, 30, 40} {
		for _, side := range []vg.Point{{X: 1, Y: 0}, {X: 1, Y: -1}, {X: 0, Y: -1}, {X: -1, Y: -1}, {X: -1, Y: 0}, {X: -1, Y: 1}, {X: 0, Y: 1}, {X: 1, Y: 1}} {
			// The farther away, the more a name stands over or under its point.
			middle := vg.Point{X: at.X + side.X*(w+5), Y: at.Y + side.Y*(h+distance)}
			box := vg.Rectangle{Min: vg.Point{X: middle.X - w, Y: middle.Y - h}, Max: vg.Point{X: middle.X + w, Y: middle.Y + h}}
			if taken(box) {
				continue
			}
			if distance > 5 {
				end := vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}
				c.StrokeLine2(draw.LineStyle{Color: color.Gray{0x99}, Width: hairline / 2}, at.X, at.Y, end.X, end.Y)
			}
			c.FillText(style, middle, name)
			return box, true
		}
	}
	return vg.Rectangle{}, false
}
