// The figure of collapse: what training does to the calls of a multi-round policy.

package report

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// CollapseLayout says which measurements the collapse figure shows (figure 1 and appendix A of the paper).
//
// Curve lines have the keys assimilation and step; Sweep lines lambda, assimilation and, for one kind of problem,
// bucket; Threshold lines lambda and bucket; Control lines control.
type CollapseLayout struct {
	Name         string
	Caption      string
	Curves       []Term   // assimilations, from low to high
	Assimilation []string // of the sweep, rising
	Lambda       []string // of the sweep, rising
	At           string   // the lambda at which panel b cuts
	Buckets      []Term   // kinds of problem, easy ones first
	Controls     []Term   // from the top down
	ControlsAt   string   // the assimilation of controls that do not change it
}

// cell is one setting of the phase diagram.
type cell struct{ a, lambda, rate float64 }

// collapseData is what the six panels show.
type collapseData struct {
	calls, entropy, outcome []series // against steps
	cut                     []series // against the assimilation
	marks                   []series // thresholds at the cut, one point each: any number of calls
	cells                   []cell
	edges                   []series // thresholds against lambda
	controls                []sample
	names                   []string // of controls
	controlsAt              string
}

// Collapse draws six panels: calls while training (a), calls after it against the assimilation (b) and against
// assimilation and price (c), entropy while training (d), controls (e), accuracy and reward while training (f).
func Collapse(l CollapseLayout, set *metrics.Set) (*Figure, error) {
	if len(l.Curves) == 0 || len(l.Assimilation) < 2 || len(l.Lambda) < 2 || len(l.Buckets) == 0 {
		return nil, fmt.Errorf("figure %q: no curve, no bucket or no grid to show", l.Name)
	}
	r := collapseReader{set: set}
	d := r.read(l)
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("figure %q: %w", l.Name, err)
	}
	t := tiles(6)
	t.heights[1] = max(t.heights[1], panelTitle+axisHeight()+vg.Length(len(d.controls))*controlRow)
	return &Figure{
		Name: l.Name, Caption: l.Caption, records: d.records(),
		width: t.width(), height: t.height(nil),
		paint: func(c draw.Canvas) { paintCollapse(c, t, d) },
	}, nil
}

// controlRow is the least height of a control's row.
const controlRow = vg.Length(8.4)

// collapseReader takes numbers out of measurements and gathers what is missing.
type collapseReader struct {
	set  *metrics.Set
	errs []error
}

func (r *collapseReader) read(l CollapseLayout) *collapseData {
	d := &collapseData{controlsAt: l.ControlsAt}
	fills := ramp(len(l.Curves) + 1)[1:] // the lightest is too light for a line
	for i, t := range l.Curves {
		at := metrics.Key{Name: "assimilation", Value: t.Value}
		d.calls = append(d.calls, r.curve(at, units.CallRate, t.Label, fills[i]))
		d.entropy = append(d.entropy, r.curve(at, units.PolicyEntropy, t.Label, fills[i]))
	}
	lowest := metrics.Key{Name: "assimilation", Value: l.Curves[0].Value}
	accuracy := r.curve(lowest, metrics.Accuracy, "Accuracy", category(1))
	reward := r.curve(lowest, units.RewardUnit, "100 × reward", accent())
	reward.dashes = dash(1)
	for i := range reward.points {
		p := &reward.points[i]
		p.y, p.low, p.high = 100*p.y, 100*p.low, 100*p.high
	}
	d.outcome = []series{accuracy, reward}
	for i, b := range l.Buckets {
		cut := series{label: b.Label, color: category(i), dashes: dash(i)}
		edge := cut
		for _, a := range l.Assimilation {
			v := r.value(units.CallRate, "Sweep", "lambda", l.At, "assimilation", a, "bucket", b.Value)
			cut.points = append(cut.points, r.sample(a, v))
		}
		for _, lambda := range l.Lambda {
			v, ok := r.find(units.ThresholdAny, "Threshold", "lambda", lambda, "bucket", b.Value)
			if !ok {
				continue // asking never pays
			}
			x := r.number(lambda)
			edge.points = append(edge.points, sample{x: x, y: v.Number})
			if lambda == l.At {
				d.marks = append(d.marks, series{label: b.Label, color: category(i), points: []sample{{x: v.Number}}})
			}
		}
		d.cut, d.edges = append(d.cut, cut), append(d.edges, edge)
	}
	for _, lambda := range l.Lambda {
		for _, a := range l.Assimilation {
			v := r.value(units.CallRate, "Sweep", "lambda", lambda, "assimilation", a, "bucket", "", "expert", "")
			d.cells = append(d.cells, cell{r.number(a), r.number(lambda), v.Number})
		}
	}
	for _, t := range l.Controls {
		v := r.value(units.CallRate, "Control", "control", t.Value, "bucket", "", "expert", "")
		d.controls = append(d.controls, r.sample("0", v))
		d.names = append(d.names, t.Label)
	}
	return d
}

// curve reads a quantity of one run at every step.
func (r *collapseReader) curve(at metrics.Key, unit, label string, color color.RGBA) series {
	s := series{label: label, color: color, points: r.steps(unit, at, metrics.Key{Name: "bucket"}, metrics.Key{Name: "expert"}, metrics.Key{Name: "seed"})}
	if len(s.points) < 2 {
		r.errs = append(r.errs, fmt.Errorf("no curve in %s at %s=%s", unit, at.Name, at.Value))
	}
	return s
}

// steps are the points of a curve, in the order of its steps.
func (r *collapseReader) steps(unit string, at ...metrics.Key) (points []sample) {
	for _, m := range r.set.Where(at...) {
		if v, ok := m.Value(unit); ok && m.Name == "Curve" {
			points = append(points, r.sample(m.Key("step"), v))
		}
	}
	slices.SortFunc(points, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	return points
}

func (r *collapseReader) sample(x string, v metrics.Value) sample {
	return sampleOf(r.number(x), v)
}

func (r *collapseReader) number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%q is not a number", text))
	}
	return x
}

// find returns the value of one line, given the name of the line and its keys as name, value, name, value...
func (r *collapseReader) find(unit, name string, pairs ...string) (metrics.Value, bool) {
	for _, m := range r.set.Where(metrics.Keys(pairs...)...) {
		if v, ok := m.Value(unit); ok && m.Name == name {
			return v, true
		}
	}
	return metrics.Value{}, false
}

// value is find where a missing line is a fault.
func (r *collapseReader) value(unit, name string, pairs ...string) metrics.Value {
	v, ok := r.find(unit, name, pairs...)
	if !ok {
		r.errs = append(r.errs, fmt.Errorf("no %s in %s at %v", name, unit, pairs))
	}
	return v
}

// records are the numbers of all panels in long form.
func (d *collapseData) records() [][]string {
	const assimilation, lambda = "assimilation", "lambda"
	out := [][]string{{"panel", "series", "against", "x", "and", "y", "quantity", "value", "low", "high"}}
	lines := func(panel, against, quantity string, all []series) {
		for _, s := range all {
			for _, p := range s.points {
				out = append(out, []string{panel, s.label, against, number(p.x), "", "", quantity, number(p.y), number(p.low), number(p.high)})
			}
		}
	}
	lines("a", "step", units.CallRate, d.calls)
	lines("b", assimilation, units.CallRate, d.cut)
	for _, s := range d.marks {
		out = append(out, []string{"b", s.label + ", threshold", assimilation, number(s.points[0].x), "", "", "", "", "", ""})
	}
	for _, c := range d.cells {
		out = append(out, []string{"c", "all", assimilation, number(c.a), lambda, number(c.lambda), units.CallRate, number(c.rate), "", ""})
	}
	for _, s := range d.edges {
		for _, p := range s.points {
			out = append(out, []string{"c", s.label + ", threshold", assimilation, number(p.y), lambda, number(p.x), "", "", "", ""})
		}
	}
	lines("d", "step", units.PolicyEntropy, d.entropy)
	for i, p := range d.controls {
		out = append(out, []string{"e", d.names[i], "", "", "", "", units.CallRate, number(p.y), number(p.low), number(p.high)})
	}
	lines("f", "step", metrics.Accuracy, d.outcome[:1])
	lines("f", "step", "100 "+units.RewardUnit, d.outcome[1:])
	return out
}

func paintCollapse(c draw.Canvas, t tiling, d *collapseData) {
	panel := func(i int, title string) draw.Canvas { return t.panel(c, i, title) }
	paintLines(panel(0, "(a) Calls, by assimilation a"), d.calls, nil, "Step of training", "With a call (%)", 0, 100)
	paintLines(panel(1, "(b) Calls after training, by problem"), d.cut, d.marks, "Assimilation a", "With a call (%)", 0, 100)
	paintPhase(panel(2, "(c) Calls after training, all problems"), d)
	most := 0.0
	for _, s := range d.entropy {
		for _, p := range s.points {
			most = max(most, p.high)
		}
	}
	paintLines(panel(3, "(d) Entropy, by assimilation a"), d.entropy, nil, "Step of training", "Entropy (nats)", 0, cmp.Or(most*1.02, 1))
	paintControls(panel(4, "(e) Changes, at a = "+d.controlsAt+" if not said"), d)
	low := 0.0
	for _, p := range d.outcome[1].points {
		low = min(low, p.low)
	}
	paintLines(panel(5, "(f) Outcome at a = "+d.calls[0].label), d.outcome, nil, "Step of training", "Percent; 100 × reward", low, 100)
}

// faint is the colour of a band.
func faint(c color.RGBA) color.RGBA { return mix(color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}, c, 0.25) }

func lineLegend(all []series) []entry {
	var legend []entry
	for _, s := range all {
		legend = append(legend, lineEntry(s.label, s.line()))
	}
	return legend
}

// paintLines draws lines with their bands; marks are dashed verticals.
func paintLines(c draw.Canvas, all, marks []series, x, y string, low, high float64) {
	most := 0.0
	for _, s := range all {
		for _, q := range s.points {
			most = max(most, q.x)
		}
	}
	p := newPanel(drawLegend(c, lineLegend(all)), scale{high: most, label: x}, scale{low: low, high: high, label: y}, 0)
	for _, s := range all {
		p.data.FillPolygon(faint(s.color), p.around(s))
	}
	for _, s := range marks {
		bottom, top := p.at(s.points[0].x, low), p.at(s.points[0].x, high)
		p.data.StrokeLine2(draw.LineStyle{Color: s.color, Width: hairline, Dashes: dash(2)}, bottom.X, bottom.Y, top.X, top.Y)
	}
	for _, s := range all {
		p.draw(s)
	}
}

// shade is the colour of a call rate in percent.
func shade(rate float64) color.RGBA {
	return mix(color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}, color.RGBA{0x1B, 0x23, 0x50, 0xFF}, 0.85*rate/100)
}

// shadeLegend shows three call rates; before is written before the first.
func shadeLegend(before string) []entry {
	var legend []entry
	for _, rate := range []float64{0, 50, 100} {
		legend = append(legend, entry{before + Fixed(rate, 0) + "%", func(c draw.Canvas, at vg.Rectangle) {
			fillRectangle(c, at, shade(rate))
			c.StrokeLines(draw.LineStyle{Color: ink(), Width: hairline / 2}, []vg.Point{at.Min, {X: at.Max.X, Y: at.Min.Y}, at.Max, {X: at.Min.X, Y: at.Max.Y}, at.Min})
		}})
		before = ""
	}
	return legend
}

// paintPhase draws the call rate over assimilation and price with every bucket's threshold.
func paintPhase(c draw.Canvas, d *collapseData) {
	p := paintCells(drawLegend(c, shadeLegend("")), d.cells)
	for _, s := range d.edges {
		paintEdge(p, s)
	}
}

// paintCells draws the call rate over assimilation and price.
func paintCells(c draw.Canvas, cells []cell) panel {
	var as, lambdas []float64
	for _, x := range cells {
		as, lambdas = append(as, x.a), append(lambdas, x.lambda)
	}
	slices.Sort(as)
	slices.Sort(lambdas)
	as, lambdas = slices.Compact(as), slices.Compact(lambdas)
	left, right := edgesOf(as)
	bottom, top := edgesOf(lambdas)
	p := newPanel(c,
		scale{low: left[0], high: right[len(right)-1], label: "Assimilation a", marks: ticks(as[len(as)-1], 5)},
		scale{low: bottom[0], high: top[len(top)-1], label: "Price of cost λ", marks: ticks(lambdas[len(lambdas)-1], 6)}, 0)
	for _, x := range cells {
		i, j := slices.Index(as, x.a), slices.Index(lambdas, x.lambda)
		r := vg.Rectangle{Min: p.at(left[i], bottom[j]), Max: p.at(right[i], top[j])}
		r.Max.X, r.Max.Y = min(r.Max.X+0.3, p.data.Max.X), min(r.Max.Y+0.3, p.data.Max.Y) // neighbours, drawn later, leave no seam
		fillRectangle(p.data, r, shade(x.rate))
	}
	return p
}

// paintEdge draws a threshold: its points are a at lambda.
func paintEdge(p panel, s series) {
	var line []vg.Point
	for _, q := range s.points {
		line = append(line, p.at(q.y, q.x))
	}
	halo := haloLine()
	halo.Width = 2.4
	p.data.StrokeLines(halo, line)
	p.data.StrokeLines(s.line(), line)
}

// edgesOf returns where the cells around rising values begin and end: half-way to the neighbours.
func edgesOf(values []float64) (low, high []float64) {
	n := len(values)
	for i := range values {
		before, after := values[min(i+1, n-1)]-values[min(i+1, n-1)-1], 0.0
		if i > 0 {
			before = values[i] - values[i-1]
		}
		after = before
		if i < n-1 {
			after = values[i+1] - values[i]
		}
		low, high = append(low, values[i]-before/2), append(high, values[i]+after/2)
	}
	return low, high
}

// paintControls draws one call rate a line, with its range.
func paintControls(c draw.Canvas, d *collapseData) {
	rows := rowScale(d.names, panelWidth*0.57)
	p := newPanel(c, scale{low: -6, high: 106, label: "With a call (%)", marks: ticks(100, 2)}, rows, 0)
	for i, q := range d.controls {
		at := func(rate float64) vg.Point { return p.at(rate, rows.marks[i].at) }
		low, high := at(q.low), at(q.high)
		p.data.StrokeLine2(draw.LineStyle{Color: color.Gray{0xCC}, Width: hairline / 2}, at(0).X, low.Y, at(100).X, low.Y)
		p.data.StrokeLine2(draw.LineStyle{Color: accent(), Width: thickLine}, low.X, low.Y, high.X, high.Y)
		p.data.DrawGlyph(costPoint(), at(q.y))
	}
}
