// The figure of pass rates: the true chance of success against its estimates.

package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// CalibrationLayout says which measurements the figure of pass rates shows.
type CalibrationLayout struct {
	Name     string
	Caption  string
	Rollouts int    // N behind the measured rates
	Experts  []Term // cheapest first
}

// calibrationData is what the three panels show.
type calibrationData struct {
	rates    [2][]series // measured and shrunk: one an expert, against the estimate
	expected series      // wrong m_best against the rollouts
	wrong    [2]float64  // by measured and shrunk rates
	rollouts float64
}

// Calibration draws the true success probability against its estimates from rollouts (a) and from rollouts and text (b),
// and how often the estimates name the wrong expert as the cheapest good one, against the number of rollouts (c).
func Calibration(l CalibrationLayout, set *metrics.Set) (*Figure, error) {
	r := collapseReader{set: set}
	d := calibrationData{rollouts: float64(l.Rollouts), expected: series{label: "Expected", color: category(6)}}
	records := [][]string{{"panel", "series", "against", "x", "quantity", "value", "low", "high", "problems"}}
	for i, estimate := range []string{units.MeasuredRate, units.ShrunkRate} {
		for k, e := range l.Experts {
			s := series{label: e.Label, color: category(k + 1), shape: k + 1}
			for _, m := range set.Where(metrics.Key{Name: "estimate", Value: estimate}, metrics.Key{Name: "expert", Value: e.Value}) {
				x, ok := m.Value(units.EstimatedRate)
				y, too := m.Value(units.TrueRate)
				if m.Name != units.RateBin || !ok || !too {
					continue
				}
				s.points = append(s.points, sample{x.Number, y.Number, y.Low, y.High})
				records = append(records, []string{string(rune('a' + i)), e.Label, units.EstimatedRate, number(x.Number), units.TrueRate, number(y.Number), number(y.Low), number(y.High), strconv.Itoa(m.N)})
			}
			if len(s.points) == 0 {
				r.errs = append(r.errs, fmt.Errorf("no %s of expert %q by %s rates", units.RateBin, e.Value, estimate))
			}
			slices.SortFunc(s.points, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
			d.rates[i] = append(d.rates[i], s)
		}
		d.wrong[i] = r.value(units.WrongBest, units.RateBest, "estimate", estimate).Number
		records = append(records, []string{"c", estimate, "rollouts", strconv.Itoa(l.Rollouts), units.WrongBest, number(d.wrong[i]), "", "", ""})
	}
	for _, m := range set.Measurements {
		if v, ok := m.Value(units.WrongBest); m.Name == units.RateBest && m.Key("samples") != "" && ok {
			x := r.number(m.Key("samples"))
			d.expected.points = append(d.expected.points, sample{x, v.Number, v.Number, v.Number})
			records = append(records, []string{"c", "expected", "rollouts", number(x), units.WrongBest, number(v.Number), "", "", ""})
		}
	}
	if len(d.expected.points) < 2 {
		r.errs = append(r.errs, errors.New("no expectation at two numbers of rollouts"))
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("figure %q: %w", l.Name, err)
	}
	caption := l.Caption
	if len(l.Experts) > 1 {
		caption += " Bars of experts are moved apart sideways; their markers are not."
	}
	slices.SortFunc(d.expected.points, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	legend, t := calibrationLegend(d.rates[0]), tiles(3)
	return &Figure{
		Name: l.Name, Caption: caption, records: records,
		width: t.width(), height: t.height(legend),
		paint: func(c draw.Canvas) { paintCalibration(legendOver(c, legend), t, &d) },
	}, nil
}

func calibrationLegend(experts []series) []entry {
	var legend []entry
	for _, s := range experts {
		legend = append(legend, bothEntry(s.label, s.line(), sweepGlyph(s)))
	}
	return append(legend,
		entry{"10th to 90th percentile of problems", func(c draw.Canvas, at vg.Rectangle) {
			c.StrokeLine2(draw.LineStyle{Color: ink(), Width: hairline}, centre(at).X, at.Min.Y, centre(at).X, at.Max.Y)
		}},
		lineEntry("Estimate = truth", hullLine()))
}

// barGap is how far bars of experts stand from each other.
const barGap = vg.Length(2.6)

func paintCalibration(c draw.Canvas, t tiling, d *calibrationData) {
	percent := func(label string) scale { return scale{low: -7, high: 107, label: label, marks: ticks(100, 5)} }
	for i, title := range []string{fmt.Sprintf("(a) Pass rate of %g rollouts", d.rollouts), "(b) Shrunk to a text regression"} {
		p := newPanel(t.panel(c, i, title), percent("Estimated rate (%)"), percent("True rate (%)"), 0)
		from, to := p.at(0, 0), p.at(100, 100)
		p.data.StrokeLine2(hullLine(), from.X, from.Y, to.X, to.Y)
		for k, s := range d.rates[i] {
			for _, q := range s.points {
				x := p.at(q.x, q.y).X + barGap*(vg.Length(k)-vg.Length(len(d.rates[i])-1)/2)
				p.data.StrokeLine2(draw.LineStyle{Color: s.color, Width: hairline}, x, p.at(q.x, q.low).Y, x, p.at(q.x, q.high).Y)
			}
		}
		for _, s := range d.rates[i] {
			p.draw(s)
			p.dots(s, sweepGlyph(s))
		}
	}
	area := t.panel(c, 2, "(c) Wrong expert taken for the best")
	marks := []draw.GlyphStyle{{Color: category(6), Radius: plainMark, Shape: glyph(0)}, {Color: category(0), Radius: plainMark, Shape: glyph(2)}}
	area = drawLegend(area, []entry{lineEntry(d.expected.label, d.expected.line()), markEntry("Measured", marks[0]), markEntry("Shrunk", marks[1])})
	most := max(d.wrong[0], d.wrong[1])
	x := scale{low: math.Inf(1), label: "Rollouts N", log: true}
	for _, q := range d.expected.points {
		most = max(most, q.y)
		x.low, x.high = min(x.low, q.x/1.15), max(x.high, q.x*1.15)
		x.marks = append(x.marks, tick{q.x, strconv.FormatFloat(q.x, 'g', -1, 64)})
	}
	x.low, x.high = min(x.low, d.rollouts/1.15), max(x.high, d.rollouts*1.15)
	p := newPanel(area, x, scale{low: 0, high: most * 1.08, label: "Problems (%)"}, 0)
	p.draw(d.expected)
	for i, mark := range marks {
		p.data.DrawGlyph(mark, p.at(d.rollouts, d.wrong[i]))
	}
}
