package report

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Share is the unit of routing shares: percent of a stratum's questions that go to one expert.
const Share = "share-%"

// DistributionLayout says which measurements the routing-distribution figure shows (section 5.2 of the paper).
// Shares are lines with the keys stratum and expert, in the unit Share; the mean cost of a stratum is its line
// without the key expert, in metrics.USDPerQuery.
type DistributionLayout struct {
	Name    string
	Caption string
	Keys    []metrics.Key // of the method shown
	Strata  []Term        // from left to right
	Experts []Term        // from the bottom up, cheapest first
}

// Term is a value of a key and how it is printed.
type Term struct {
	Value, Label string
}

// stratum is one bar.
type stratum struct {
	label  string
	n      int
	shares []float64 // percent, one an expert
	cost   metrics.Value
}

// Distribution draws, for every stratum of difficulty, which share of its questions goes to which expert
// (stacked, left axis) and what a question costs on average there (line, right axis; error bars where the
// measurement has an interval).
func Distribution(l DistributionLayout, set *metrics.Set) (*Figure, error) {
	if len(l.Strata) == 0 || len(l.Experts) == 0 {
		return nil, fmt.Errorf("figure %q: no stratum or no expert to show", l.Name)
	}
	var bars []stratum
	records := [][]string{{"stratum", "questions", "expert", "share-%", "usd/query", "usd-low/query", "usd-high/query"}}
	for _, s := range l.Strata {
		at := append(slices.Clone(l.Keys), metrics.Key{Name: "stratum", Value: s.Value}, metrics.Key{Name: "seed"})
		m, cost, err := value(set, metrics.USDPerQuery, append(slices.Clone(at), metrics.Key{Name: "expert"}))
		if err != nil {
			return nil, fmt.Errorf("figure %q, stratum %q: %w", l.Name, s.Value, err)
		}
		bar := stratum{label: s.Label, n: m.N, cost: cost}
		for _, e := range l.Experts {
			_, share, err := value(set, Share, append(slices.Clone(at), metrics.Key{Name: "expert", Value: e.Value}))
			if err != nil {
				return nil, fmt.Errorf("figure %q, stratum %q, expert %q: %w", l.Name, s.Value, e.Value, err)
			}
			bar.shares = append(bar.shares, share.Number)
			record := []string{s.Label, strconv.Itoa(m.N), e.Label, metrics.Format(share.Number, share.Decimals), metrics.Format(cost.Number, cost.Decimals), "", ""}
			if cost.Bounded {
				record[5], record[6] = metrics.Format(cost.Low, cost.Decimals), metrics.Format(cost.High, cost.Decimals)
			}
			records = append(records, record)
		}
		bars = append(bars, bar)
	}
	legend := distributionLegend(l.Experts)
	return &Figure{
		Name: l.Name, Caption: l.Caption, width: figureWidth, height: plotHeight + legendHeight(legend, figureWidth), records: records,
		paint: func(c draw.Canvas) { paintDistribution(drawLegend(c, legend), bars) },
	}, nil
}

// value returns the number of one measurement; not having it is an error.
func value(set *metrics.Set, unit string, keys []metrics.Key) (metrics.Measurement, metrics.Value, error) {
	m, ok, err := set.Find(keys...)
	if err != nil {
		return m, metrics.Value{}, err
	}
	v, has := m.Value(unit)
	if !ok || !has {
		return m, v, fmt.Errorf("no measurement in %s", unit)
	}
	return m, v, nil
}

// perThousand scales dollars a question to dollars a thousand questions, numbers a reader can say.
const perThousand = 1000

func distributionLegend(experts []Term) []entry {
	fills := ramp(len(experts))
	var legend []entry
	for i, e := range experts {
		legend = append(legend, entry{e.Label, func(c draw.Canvas, at vg.Rectangle) { fillRectangle(c, at, fills[i]) }})
	}
	return append(legend, entry{"Cost", func(c draw.Canvas, at vg.Rectangle) {
		middle := (at.Min.Y + at.Max.Y) / 2
		c.StrokeLine2(costLine(), at.Min.X, middle, at.Max.X, middle)
		c.DrawGlyph(costPoint(), vg.Point{X: (at.Min.X + at.Max.X) / 2, Y: middle})
	}})
}

func paintDistribution(c draw.Canvas, bars []stratum) {
	fills := ramp(len(bars[0].shares))
	most := 0.0
	for _, b := range bars {
		most = max(most, perThousand*b.cost.Number, perThousand*b.cost.High)
	}
	marks := ticks(most*1.05, 5)
	most = marks[len(marks)-1].Value

	p := themed()
	p.Y.Label.Text = "Share of questions (%)"
	p.Y.Min, p.Y.Max = 0, 100
	p.Y.Tick.Marker = plot.ConstantTicks(ticks(100, 5))
	p.X.Min, p.X.Max = -0.5, float64(len(bars))-0.5
	p.X.Tick.Length = 0
	inner := draw.Crop(c, 0, -rightAxisWidth(marks), 0, -textStyle(smallSize).Height("0")/2)
	under := p.X.Tick.Label
	slot := (inner.Max.X - inner.Min.X - 30) / vg.Length(len(bars))
	names := make([]plot.Tick, len(bars))
	for i, b := range bars {
		names[i] = plot.Tick{Value: float64(i), Label: shorten(under, b.label, slot-4) + "\n" + shorten(under, fmt.Sprintf("n = %d", b.n), slot-4)}
	}
	p.X.Tick.Marker = plot.ConstantTicks(names)
	p.Draw(inner)

	data := p.DataCanvas(inner)
	x := func(v float64) vg.Length { return data.X((v + 0.5) / float64(len(bars))) }
	y := func(usd float64) vg.Length { return data.Y(perThousand * usd / most) }
	half := min((x(1)-x(0))*0.36, 32)
	var line []vg.Point
	var points []vg.Rectangle // taken by the points and their error bars
	for i, b := range bars {
		at := vg.Point{X: x(float64(i)), Y: y(b.cost.Number)}
		bottom, top := at.Y, at.Y
		if b.cost.Bounded {
			bottom, top = min(bottom, y(b.cost.Low)), max(top, y(b.cost.High))
		}
		line = append(line, at)
		points = append(points, vg.Rectangle{Min: vg.Point{X: at.X - 5, Y: bottom - 5}, Max: vg.Point{X: at.X + 5, Y: top + 5}})
	}
	for i, b := range bars {
		sum := 0.0
		for e, share := range b.shares {
			r := vg.Rectangle{
				Min: vg.Point{X: x(float64(i)) - half, Y: data.Y(sum / 100)},
				Max: vg.Point{X: x(float64(i)) + half, Y: data.Y((sum + share) / 100)},
			}
			sum += share
			fillRectangle(data, r, fills[e])
			label(data, r, fixed(share, 0)+"%", onFill(fills[e]), func(box vg.Rectangle) bool {
				return crosses(line, box) || slices.ContainsFunc(points, overlapping(box))
			})
		}
	}
	data.StrokeLines(haloLine(), line)
	data.StrokeLines(costLine(), line)
	for i, b := range bars {
		if b.cost.Bounded {
			bottom, top := y(b.cost.Low), y(b.cost.High)
			data.StrokeLine2(costLine(), line[i].X, bottom, line[i].X, top)
			data.StrokeLine2(costLine(), line[i].X-3, bottom, line[i].X+3, bottom)
			data.StrokeLine2(costLine(), line[i].X-3, top, line[i].X+3, top)
		}
		halo := costPoint()
		halo.Radius++
		halo.Color = haloLine().Color
		data.DrawGlyph(halo, line[i])
		data.DrawGlyph(costPoint(), line[i])
	}
	rightAxis(data, "Cost ($ per 1,000 questions)", marks, most, accent())
}

// label writes s into r where nothing else is drawn: centred if it can, else to the left, to the right, or
// towards an end. It writes nothing if there is no room.
func label(c draw.Canvas, r vg.Rectangle, s string, ink color.Color, taken func(vg.Rectangle) bool) {
	style := aligned(textStyle(smallSize), draw.XCenter, draw.YCenter)
	style.Color = ink
	const clear = vg.Length(2)
	w, h := style.Width(s)/2+clear, style.Height(s)/2+clear/2
	middle := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
	if r.Max.X-r.Min.X < 2*w || r.Max.Y-r.Min.Y < 2*h {
		return
	}
	for _, y := range []vg.Length{middle.Y, r.Max.Y - h, r.Min.Y + h} {
		for _, x := range []vg.Length{middle.X, r.Min.X + w, r.Max.X - w} {
			box := vg.Rectangle{Min: vg.Point{X: x - w, Y: y - h}, Max: vg.Point{X: x + w, Y: y + h}}
			if !taken(box) {
				c.FillText(style, vg.Point{X: x, Y: y}, s)
				return
			}
		}
	}
}

func overlapping(a vg.Rectangle) func(vg.Rectangle) bool {
	return func(b vg.Rectangle) bool {
		return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
	}
}

// crosses says whether a line comes into a box.
func crosses(line []vg.Point, box vg.Rectangle) bool {
	for i, p := range line {
		if i == 0 || line[i-1].X == p.X {
			continue
		}
		// Heights of this piece of the line over the box.
		a := line[i-1]
		from, to := max(a.X, box.Min.X), min(p.X, box.Max.X)
		if from > to {
			continue
		}
		slope := (p.Y - a.Y) / (p.X - a.X)
		y1, y2 := a.Y+slope*(from-a.X), a.Y+slope*(to-a.X)
		if max(y1, y2)+thickLine > box.Min.Y && min(y1, y2)-thickLine < box.Max.Y {
			return true
		}
	}
	return false
}

func costLine() draw.LineStyle { return draw.LineStyle{Color: accent(), Width: thickLine} }

// haloLine sets a line apart from what lies below it.
func haloLine() draw.LineStyle {
	return draw.LineStyle{Color: color.White, Width: thickLine + 1.6}
}

func costPoint() draw.GlyphStyle {
	return draw.GlyphStyle{Color: accent(), Radius: 2.6, Shape: draw.CircleGlyph{}}
}
