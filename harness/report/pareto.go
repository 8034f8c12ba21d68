// The figure of accuracy against cost.

package report

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
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
	Reference string // label of the row that leads are over
	Paper     *Point // what the paper prints of its own router; nil: nothing
	Wide      bool   // the panels stand side by side, over the width of the page

	Before *metrics.Set // of another run: where it has a row, and the way from there; nil: nothing
}

// Point is a mark that was not measured here.
type Point struct {
	Label          string
	Cost, Accuracy float64 // in the units of the figure
	Gain           float64 // above its own hull
	Look           Look    // of the row that it stands beside: it has its colour
}

// CostOfAThousand is dollars per question, drawn as dollars per 1,000 questions.
func CostOfAThousand() Quantity {
	return Quantity{Unit: metrics.USDPerQuery, Label: "Cost ($ per 1,000 questions)"}
}

// placed is a mark with its numbers.
type placed struct {
	Mark
	accuracy, cost, gain metrics.Value
	measured             bool            // gain
	lead                 string          // over the reference, in words; empty: it was not measured
	style                draw.GlyphStyle // of a router
	before               *metrics.Point  // where another run has it, if elsewhere
	curve                []reading       // of its knob, cheapest first; nil: none was measured
	kind                 string          // what the readings are
}

// reading is what a router reaches on its curve, and how far that is above the hull.
type reading struct{ cost, accuracy, gain float64 }

// Pareto draws accuracy against cost with intervals, the hull of the fixed experts, which is what a coin flip between two
// of them reaches, and, of routers whose knob was swept, the curve of all its settings, else what was measured of it at shares of
// the strongest expert's cost. Below it stands the same above the hull, where rows that spend alike are told apart: gains of rows
// and at shares as they were measured, which may be above another hull than the one drawn, those of settings above this one. The caption names rows that are far below what is shown.
func Pareto(l ParetoLayout, set *metrics.Set) (*Figure, error) {
	d := paretoData{label: l.Cost.Label, factor: 1}
	if l.Cost.Unit == metrics.USDPerQuery {
		d.factor = perThousand
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
			p := placed{Mark: m, accuracy: accuracy, cost: cost}
			p.curve, p.kind = d.curveOf(m, line, l, set)
			p.gain, p.measured = line.Value(l.Gain)
			p.lead = l.lead(m, line, set)
			p.before = l.before(own, metrics.Point{Cost: cost.Number, Quality: accuracy.Number})
			out = append(out, p)
		}
		return out, nil
	}
	var err error
	if d.experts, err = place(l.Experts); err != nil {
		return nil, err
	}
	if len(d.experts) == 0 {
		return nil, fmt.Errorf("figure %q: no fixed expert, so there is no hull", l.Name)
	}
	var points []metrics.Point
	for _, e := range d.experts {
		points = append(points, metrics.Point{Cost: e.cost.Number, Quality: e.accuracy.Number})
	}
	d.hull = metrics.UpperHull(points)
	if d.methods, err = place(l.Methods); err != nil {
		return nil, err
	}
	taken := map[[2]int]bool{}
	for i := range d.methods {
		m := &d.methods[i]
		colour, shape := m.Look.indices()
		for range shapes {
			if !taken[[2]int{colour, shape}] {
				break
			}
			shape = (shape + 1) % shapes
		}
		taken[[2]int{colour, shape}] = true
		m.style = draw.GlyphStyle{Color: category(colour), Radius: plainMark, Shape: glyph(shape)}
		if m.Look == 0 {
			m.style.Radius = firstMark
		}
	}
	if p := l.Paper; p != nil {
		colour, _ := p.Look.indices()
		d.paper = []placed{{
			Mark: Mark{Label: p.Label}, style: draw.GlyphStyle{Color: category(colour), Radius: firstMark, Shape: draw.RingGlyph{}}, measured: true,
			accuracy: metrics.Rounded(p.Accuracy, metrics.Accuracy, 1), cost: metrics.Rounded(p.Cost, l.Cost.Unit, 6), gain: metrics.Rounded(p.Gain, l.Gain, 2),
		}}
	}
	caption := l.Caption + d.bound()
	legend := paretoLegend(slices.Concat(d.methods, d.paper))
	width, height, paint := figureWidth, plotHeight+gainHeight, d.paint
	if l.Wide {
		width, height, paint = fullWidth, plotHeight, d.paintWide
	}
	return &Figure{
		Name: l.Name, Caption: caption, width: width, height: height + legendHeight(legend, width), records: d.records(l),
		paint: func(c draw.Canvas) {
			d.spots = nil
			paint(drawLegend(c, legend))
		},
		spots: func() []spot { return d.spots },
		money: strings.TrimSuffix(strings.TrimPrefix(l.Cost.Label, "Cost ("), ")"),
	}, nil
}

// lead says how far a row lies above the reference at equal cost, for a reader who rests on its mark.
func (l ParetoLayout) lead(m Mark, own metrics.Measurement, set *metrics.Set) string {
	at := []metrics.Measurement{own}
	if m.Lead != nil {
		at = set.Where(m.Lead...)
	}
	if len(at) != 1 || l.Reference == "" {
		return ""
	}
	v, ok := at[0].Value(units.Lead)
	if !ok {
		return ""
	}
	return "; above " + l.Reference + " at equal cost by " + bounds(v, inPoints) + " points"
}

// before is where another run has a row; nil: it does not have it, or has it at the same place.
func (l ParetoLayout) before(keys []metrics.Key, now metrics.Point) *metrics.Point {
	if l.Before == nil {
		return nil
	}
	_, accuracy, err := value(l.Before, metrics.Accuracy, keys)
	if err != nil {
		return nil
	}
	_, cost, err := value(l.Before, l.Cost.Unit, keys)
	if p := (metrics.Point{Cost: cost.Number, Quality: accuracy.Number}); err == nil && p != now {
		return &p
	}
	return nil
}

// paretoData is what a plane shows.
type paretoData struct {
	label            string
	factor           float64 // from dollars to what the axis says
	experts, methods []placed
	paper            []placed // one, or none
	hull             metrics.Hull
	low, high        float64 // of gains that are shown
	floor            float64 // gains below it are shown by an arrow
	spots            []spot  // of the marks, as they were drawn last
}

// spot notes where the mark of a row was drawn, and its numbers there: cost, and what the panel shows.
func (d *paretoData) spot(p placed, at vg.Point, what string, v metrics.Value) {
	says := fmt.Sprintf("%s: %s %s, %s %s", p.Label, what, bounds(v, inPoints), d.label, bounds(p.cost, func(x float64) string { return Significant(d.factor * x) })) + p.lead
	if b := p.before; b != nil {
		says += fmt.Sprintf("; in the other run accuracy %s, cost %s", inPoints(b.Quality), Significant(d.factor*b.Cost))
	}
	d.spots = append(d.spots, spot{at: at, says: says})
}

// inPoints writes an accuracy in percent, or a difference of two, as tables do.
func inPoints(x float64) string { return Fixed(x, 2) }

// bounds is a number with its interval.
func bounds(v metrics.Value, write func(float64) string) string {
	text := write(v.Number)
	if v.Bounded {
		text += " [" + write(v.Low) + ", " + write(v.High) + "]"
	}
	return text
}

// comparable says whether a row has a coin to be compared with: one that costs no less than the cheapest expert.
func (d *paretoData) comparable(p placed) bool {
	return p.measured && p.cost.Number >= d.hull[0].Cost*(1-1e-9)
}

// bound sets the range of gains that is shown, and says which rows are below it or have none.
func (d *paretoData) bound() (remark string) {
	values := []float64{0}
	for _, m := range slices.Concat(d.experts, d.methods) {
		if !d.comparable(m) {
			continue
		}
		values = append(values, m.gain.Number)
		if m.gain.Bounded {
			values = append(values, m.gain.Low, m.gain.High)
		}
	}
	for _, m := range d.methods {
		for _, q := range m.curve {
			if q.cost >= d.hull[0].Cost {
				values = append(values, q.gain)
			}
		}
	}
	deepest := -2 * max(slices.Max(values), 0.5)
	for _, m := range d.paper {
		if d.comparable(m) {
			values = append(values, m.gain.Number)
		}
	}
	low, high := max(slices.Min(values), deepest), slices.Max(values)
	s := room("", low, high)
	d.low, d.high, d.floor = s.low, s.high, low
	var below, cheap []string
	for _, m := range slices.Concat(d.experts, d.methods) {
		switch {
		case !m.measured:
		case !d.comparable(m):
			cheap = append(cheap, m.Label)
		case m.gain.Number < low:
			below = append(below, fmt.Sprintf("%s (%s)", m.Label, Fixed(m.gain.Number, 1)))
		}
	}
	if below != nil {
		remark += " Arrows point to rows further below the hull than is shown: " + Listed(below) + "."
	}
	if cheap != nil {
		remark += " No coin flip between fixed experts is as cheap as these rows, so they have no gain here: " + Listed(cheap) + "."
	}
	return remark
}

// records are the numbers of both panels.
func (d *paretoData) records(l ParetoLayout) [][]string {
	records := [][]string{{"label", "kind"}}
	for _, unit := range []string{l.Cost.Unit, metrics.Accuracy, l.Gain} {
		low, high := metrics.Ends(unit)
		records[0] = append(records[0], unit, low, high)
	}
	for i, group := range [][]placed{d.experts, d.methods, d.paper} {
		for _, p := range group {
			gain := []string{"", "", ""}
			if p.measured {
				gain = ends(p.gain)
			}
			records = append(records, slices.Concat([]string{p.Label, []string{"fixed expert", "router", "paper"}[i]}, ends(p.cost), ends(p.accuracy), gain))
			for _, q := range p.curve {
				records = append(records, []string{p.Label, p.kind, number(q.cost), "", "", number(q.accuracy), "", "", Fixed(q.gain, 3), "", ""})
			}
		}
	}
	return records
}

// curveOf returns the readings of a router's curve and what they are: of a knob that was swept all settings over all benchmarks, of
// which those that reach the same are one, else the shares of the strongest expert's cost at which it was read, from the cheapest
// expert's cost on.
func (d *paretoData) curveOf(m Mark, line metrics.Measurement, l ParetoLayout, set *metrics.Set) (curve []reading, kind string) {
	for _, at := range set.Where(m.Keys...) {
		x, ok := at.Value(l.Cost.Unit)
		y, too := at.Value(metrics.Accuracy)
		if at.Name == units.SweepName && ok && too {
			curve = append(curve, reading{x.Number, y.Number, d.hull.Gain(metrics.Point{Cost: x.Number, Quality: y.Number})})
		}
	}
	slices.SortFunc(curve, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.accuracy, b.accuracy))
	})
	if curve != nil {
		return slices.Compact(curve), "setting of its knob"
	}
	if l.Cost.Unit != units.CostShare || d.hull == nil {
		return nil, ""
	}
	for _, percent := range units.Budgets() {
		gain, ok := line.Value(fmt.Sprintf(units.GainAt, percent))
		accuracy, too := line.Value(fmt.Sprintf(units.QualityAt, percent))
		if ok && too && float64(percent) >= d.hull[0].Cost {
			curve = append(curve, reading{float64(percent), accuracy.Number, gain.Number})
		}
	}
	return curve, atShare
}

// atShare is the kind of readings at shares of the strongest expert's cost.
const atShare = "at a share of the cost"

// knobLine is the line through the readings of a router's curve.
func knobLine(m placed) draw.LineStyle {
	if m.Look == 0 {
		return draw.LineStyle{Color: m.style.Color, Width: thickLine}
	}
	return draw.LineStyle{Color: m.style.Color, Width: hairline}
}

func paretoLegend(methods []placed) []entry {
	legend := []entry{bothEntry("Hull of fixed experts", hullLine(), expertGlyph())}
	for _, m := range methods {
		if len(m.curve) > 1 {
			legend = append(legend, bothEntry(m.Label, knobLine(m), m.style))
		} else {
			legend = append(legend, markEntry(m.Label, m.style))
		}
	}
	return legend
}

// gainHeight is the height of the panel of gains.
const gainHeight = 1.45 * vg.Inch

// all returns what is drawn, those first that keep their places where markers are parted: of routers, those of the first look.
func (d *paretoData) all() []placed {
	marks := slices.Clone(d.experts)
	for i := range marks {
		marks[i].style = expertGlyph()
	}
	methods := slices.Clone(d.methods)
	slices.SortStableFunc(methods, func(a, b placed) int { return cmp.Compare(min(a.Look, 1), min(b.Look, 1)) })
	return slices.Concat(marks, methods, d.paper)
}

// scales are those of costs, accuracies and gains.
func (d *paretoData) scales() (costs, accuracies, gains scale) {
	low, high, most := 100.0, 0.0, 0.0
	for _, p := range slices.Concat(d.experts, d.methods, d.paper) {
		low, high = min(low, p.accuracy.Number), max(high, p.accuracy.Number)
		most = max(most, d.factor*p.cost.Number)
		if p.accuracy.Bounded {
			low, high = min(low, p.accuracy.Low), max(high, p.accuracy.High)
		}
		if p.cost.Bounded {
			most = max(most, d.factor*p.cost.High)
		}
		if b := p.before; b != nil {
			low, high, most = min(low, b.Quality), max(high, b.Quality), max(most, d.factor*b.Cost)
		}
	}
	most = cmp.Or(most, 1)
	costs = scale{low: -0.03 * most, high: 1.08 * most, label: d.label, marks: ticks(most, 6)}
	gap := max(0.06*(high-low), 0.5)
	accuracies = scale{low: low - 1.6*gap, high: high + 2.2*gap, label: "Accuracy (%)"} // names stand over and under the hull
	gains = scale{low: d.low, high: d.high, label: "Hull gain (points)"}
	return costs, accuracies, gains
}

// paintWide draws the panels side by side.
func (d *paretoData) paintWide(c draw.Canvas) {
	costs, accuracies, gains := d.scales()
	left, right := c, c
	left.Max.X = (c.Min.X+c.Max.X)/2 - margin
	right.Min.X = left.Max.X + 2*margin
	d.paintPlane(newPanel(left, costs, accuracies, 0))
	d.paintGains(newPanel(right, costs, gains, 0))
}

// paint draws them one below the other.
func (d *paretoData) paint(c draw.Canvas) {
	costs, accuracies, gains := d.scales()
	numbers := max(accuracies.width(), gains.width())

	above, below := c, c
	above.Min.Y = c.Min.Y + gainHeight
	below.Max.Y = above.Min.Y - 4
	bare := costs
	bare.bare = true
	d.paintPlane(newPanel(above, bare, accuracies, numbers))
	d.paintGains(newPanel(below, costs, gains, numbers))
}

func (d *paretoData) paintPlane(p panel) {
	at := func(cost, accuracy float64) vg.Point { return p.at(d.factor*cost, accuracy) }
	var line []vg.Point
	for _, v := range d.hull {
		line = append(line, at(v.Cost, v.Quality))
	}
	lines := [][]vg.Point{line}
	for _, m := range d.methods {
		var curve []vg.Point
		for _, q := range m.curve {
			curve = append(curve, at(q.cost, q.accuracy))
		}
		lines = append(lines, trace(p, m, curve)...)
	}
	p.data.StrokeLines(hullLine(), line)
	all := d.all()
	var points []vg.Point
	for _, m := range all {
		point := at(m.cost.Number, m.accuracy.Number)
		points = append(points, point)
		bar := draw.LineStyle{Color: m.style.Color, Width: hairline}
		if m.accuracy.Bounded {
			lines = append(lines, p.stroke(bar, []vg.Point{at(m.cost.Number, m.accuracy.Low), at(m.cost.Number, m.accuracy.High)})...)
		}
		if m.cost.Bounded {
			lines = append(lines, p.stroke(bar, []vg.Point{at(m.cost.Low, m.accuracy.Number), at(m.cost.High, m.accuracy.Number)})...)
		}
		if b := m.before; b != nil {
			was := at(b.Cost, b.Quality)
			lines = append(lines, p.stroke(draw.LineStyle{Color: m.style.Color, Width: hairline, Dashes: []vg.Length{1, 1.5}}, []vg.Point{was, point})...)
			p.data.DrawGlyph(draw.GlyphStyle{Color: m.style.Color, Radius: 1.4, Shape: draw.RingGlyph{}}, was)
		}
	}
	drawn, leaders := p.marks(all, points, len(d.experts))
	lines = append(lines, leaders...)
	var taken []vg.Rectangle
	for i, m := range all {
		d.spot(m, drawn[i], "Accuracy (%)", m.accuracy)
		here := &d.spots[len(d.spots)-1]
		if d.comparable(m) {
			here.says += "; hull gain " + bounds(m.gain, inPoints)
		}
		if m.Keys != nil { // it was measured here
			here.row = &rival{m.Label, d.factor * m.cost.Number, m.accuracy.Number, points[i]}
		}
		r := m.style.Radius + 1.4
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: drawn[i].X - r, Y: drawn[i].Y - r}, Max: vg.Point{X: drawn[i].X + r, Y: drawn[i].Y + r}})
	}
	marks := slices.Clone(taken)
	for i, e := range d.experts {
		box, leader, ok := nameExpert(p.data, drawn[i], e.Label, func(box vg.Rectangle, leader []vg.Point) bool {
			if leader == nil && !nearest(box, i, marks) {
				return true
			}
			if box.Min.X < p.data.Min.X+2 || box.Max.X > p.data.Max.X || box.Min.Y < p.data.Min.Y+2 || box.Max.Y > p.data.Max.Y || slices.ContainsFunc(taken, overlapping(box)) {
				return true
			}
			return slices.ContainsFunc(lines, func(line []vg.Point) bool { return crosses(line, box) }) ||
				slices.ContainsFunc(taken[len(marks):], func(name vg.Rectangle) bool { return crosses(leader, name) })
		})
		if ok {
			taken, lines = append(taken, box), append(lines, leader)
		}
	}
}

// trace draws a router's curve and returns its lines. Shares of the cost are dots on it, since between them it is not known.
func trace(p panel, m placed, curve []vg.Point) [][]vg.Point {
	for _, at := range curve {
		if m.kind == atShare && p.data.Contains(at) {
			p.data.DrawGlyph(draw.GlyphStyle{Color: m.style.Color, Radius: 1.4, Shape: draw.CircleGlyph{}}, at)
		}
	}
	return p.stroke(knobLine(m), curve)
}

// paintGains draws what lies between the plane and its hull.
func (d *paretoData) paintGains(p panel) {
	at := func(cost, gain float64) vg.Point { return p.at(d.factor*cost, gain) }
	for _, m := range d.methods {
		var curve []vg.Point
		for _, q := range m.curve {
			if q.cost >= d.hull[0].Cost {
				curve = append(curve, at(q.cost, q.gain))
			}
		}
		trace(p, m, curve)
	}
	p.level(0)
	var shown []placed
	var points []vg.Point
	experts := 0 // shown
	for i, m := range d.all() {
		if !d.comparable(m) {
			continue
		}
		bar := draw.LineStyle{Color: m.style.Color, Width: hairline}
		point := at(m.cost.Number, m.gain.Number)
		if m.gain.Number < d.floor {
			foot := p.data.Min.Y + 2
			point.Y = foot + 8
			p.data.StrokeLine2(bar, point.X, point.Y, point.X, foot)
			p.data.StrokeLines(bar, []vg.Point{{X: point.X - 1.5, Y: foot + 2}, {X: point.X, Y: foot}, {X: point.X + 1.5, Y: foot + 2}})
		} else if m.gain.Bounded {
			p.stroke(bar, []vg.Point{at(m.cost.Number, m.gain.Low), at(m.cost.Number, m.gain.High)})
		}
		shown, points = append(shown, m), append(points, point)
		if i < len(d.experts) {
			experts++
		}
	}
	drawn, _ := p.marks(shown, points, experts)
	for i, m := range shown {
		d.spot(m, drawn[i], "Hull gain (points)", m.gain)
	}
}

// marks draws the markers of rows that belong at given points, and returns where they are and the lines that lead to those that had
// to be moved, from a dot. The first n stay: names tell them apart.
func (p panel) marks(rows []placed, belong []vg.Point, n int) (drawn []vg.Point, leaders [][]vg.Point) {
	var marks []mark
	for i, m := range rows {
		marks = append(marks, mark{belong[i], m.style.Radius})
	}
	drawn = parted(p.data.Rectangle, marks, n)
	for i, m := range rows {
		if drawn[i] != belong[i] {
			leader := []vg.Point{belong[i], drawn[i]}
			p.data.StrokeLines(draw.LineStyle{Color: m.style.Color, Width: hairline}, leader)
			leaders = append(leaders, leader)
		}
	}
	for i, m := range slices.Backward(rows) {
		p.data.DrawGlyph(m.style, drawn[i])
	}
	for i, m := range rows {
		if drawn[i] != belong[i] {
			p.data.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: 1.6, Shape: draw.CircleGlyph{}}, belong[i])
			p.data.DrawGlyph(draw.GlyphStyle{Color: m.style.Color, Radius: 1, Shape: draw.CircleGlyph{}}, belong[i])
		}
	}
	return drawn, leaders
}

// nameExpert writes an expert's name beside its point, below the hull where nothing better is, and returns where; a name
// that finds no room nearby is led to its point by a line. A name that finds none at all is left to the CSV.
func nameExpert(c draw.Canvas, at vg.Point, name string, taken func(box vg.Rectangle, leader []vg.Point) bool) (box vg.Rectangle, leader []vg.Point, ok bool) {
	style := aligned(textStyle(smallSize), draw.XCenter, middle)
	name = shorten(style, name, 0.45*(c.Max.X-c.Min.X))
	w, h := style.Width(name)/2+1, style.Height(name)/2+0.5
	for _, distance := range []vg.Length{5, 10, 15, 20, 25, 30, 40} {
		for _, side := range []vg.Point{{X: 1, Y: 0}, {X: 1, Y: -1}, {X: 0, Y: -1}, {X: -1, Y: -1}, {X: -1, Y: 0}, {X: -1, Y: 1}, {X: 0, Y: 1}, {X: 1, Y: 1}} {
			centre := vg.Point{X: at.X + side.X*(w+5), Y: at.Y + side.Y*(h+distance)}
			if side.Y == 0 {
				centre.X = at.X + side.X*(w+distance)
			}
			box := vg.Rectangle{Min: vg.Point{X: centre.X - w, Y: centre.Y - h}, Max: vg.Point{X: centre.X + w, Y: centre.Y + h}}
			var leader []vg.Point
			if distance > 5 && (side.Y != 0 || distance > 10) {
				leader = []vg.Point{at, {X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}}
			}
			if taken(box, leader) {
				continue
			}
			c.StrokeLines(draw.LineStyle{Color: color.Gray{0x99}, Width: hairline / 2}, leader)
			c.FillText(style, centre, name)
			return box, leader, true
		}
	}
	return vg.Rectangle{}, nil, false
}
