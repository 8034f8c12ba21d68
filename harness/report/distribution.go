// The figure of the routing distribution.

package report

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// DistributionLayout says which measurements the routing-distribution figure shows (section 5.2 of the paper).
// Shares are lines with the keys stratum and expert, in the unit Share; the mean cost of a stratum is its line
// without the key expert, in metrics.USDPerQuery.
type DistributionLayout struct {
	Name    string
	Caption string
	Keys    []metrics.Key // of the method shown
	Strata  []Term        // from left to right
	Experts []Term        // from the bottom up, cheapest first
	Paper   *metrics.Set  // shares that the paper prints, under the keys stratum and expert; nil: none
}

// stratum is one bar.
type stratum struct {
	label  string
	n      int
	shares []float64 // percent, one an expert
	cost   metrics.Value
	paper  []float64 // where by the paper's shares one expert's part ends and the next one's begins, as far as it prints them
}

// Distribution draws, for every stratum of difficulty, which share of its questions goes to which expert
// (stacked, left axis) and what a question costs on average there (dots, right axis; error bars where the
// measurement has an interval). Ticks are where the paper's shares end, as far as it prints them.
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
		bar := stratum{label: s.Label, n: m.N, cost: cost, paper: l.bounds(s)}
		for _, e := range l.Experts {
			_, share, err := value(set, units.Share, append(slices.Clone(at), metrics.Key{Name: "expert", Value: e.Value}))
			if err != nil {
				return nil, fmt.Errorf("figure %q, stratum %q, expert %q: %w", l.Name, s.Value, e.Value, err)
			}
			bar.shares = append(bar.shares, share.Number)
			records = append(records, append([]string{s.Label, strconv.Itoa(m.N), e.Label, metrics.Format(share.Number, share.Decimals)}, ends(cost)...))
		}
		bars = append(bars, bar)
	}
	legend := distributionLegend(l.Experts, bars)
	return &Figure{
		Name: l.Name, Caption: l.Caption, width: figureWidth, height: plotHeight + legendHeight(legend, figureWidth), records: records,
		paint: func(c draw.Canvas) { paintDistribution(drawLegend(c, legend), bars) },
	}, nil
}

// bounds are where the parts of experts end in a stratum by what the paper prints.
func (l DistributionLayout) bounds(s Term) (ends []float64) {
	if l.Paper == nil {
		return nil
	}
	n := len(l.Experts)
	shares, printed := make([]float64, n), make([]bool, n)
	for i, e := range l.Experts {
		if _, v, err := value(l.Paper, units.Share, metrics.Keys("stratum", s.Value, "expert", e.Value)); err == nil {
			shares[i], printed[i] = v.Number, true
		}
	}
	sum := func(of []float64) (total float64) {
		for _, v := range of {
			total += v
		}
		return total
	}
	for i := 1; i < n; i++ {
		switch {
		case !slices.Contains(printed[:i], false):
			ends = append(ends, sum(shares[:i]))
		case !slices.Contains(printed[i:], false):
			ends = append(ends, 100-sum(shares[i:]))
		}
	}
	return ends
}

func distributionLegend(experts []Term, bars []stratum) []entry {
	fills := ramp(len(experts))
	var legend []entry
	for i, e := range experts {
		name := e.Label
		if !slices.ContainsFunc(bars, func(b stratum) bool { return printed(b.shares[i]) }) {
			name += " (0%)" // it has no bar
		}
		legend = append(legend, entry{name, func(c draw.Canvas, at vg.Rectangle) { fillRectangle(c, at, fills[i]) }})
	}
	if slices.ContainsFunc(bars, func(b stratum) bool { return b.paper != nil }) {
		legend = append(legend, entry{"Borders in the paper", func(c draw.Canvas, at vg.Rectangle) { paperTick(c, centre(at)) }})
	}
	return append(legend, markEntry("Cost", costPoint()))
}

// printed says whether a share is more than 0 as labels round it.
func printed(share float64) bool { return Fixed(share, 0) != "0" }

// paperTick marks a height at which the paper has an end.
func paperTick(c draw.Canvas, at vg.Point) {
	c.StrokeLine2(haloLine(), at.X-tickHalf-0.8, at.Y, at.X+tickHalf+0.8, at.Y)
	c.StrokeLine2(draw.LineStyle{Color: ink(), Width: thickLine}, at.X-tickHalf, at.Y, at.X+tickHalf, at.Y)
}

const tickHalf = vg.Length(4)

func paintDistribution(c draw.Canvas, bars []stratum) {
	fills := ramp(len(bars[0].shares))
	most := 0.0
	for _, b := range bars {
		most = max(most, perThousand*b.cost.Number, perThousand*b.cost.High)
	}
	marks := ticks(most*1.05, 5)
	most = marks[len(marks)-1].at

	inner := draw.Crop(c, 0, -rightAxisWidth(marks), 0, 0)
	names := scale{low: -0.5, high: float64(len(bars)) - 0.5, plain: true}
	slot := (inner.Max.X-inner.Min.X-axisRoom)/vg.Length(len(bars)) - 4
	for i, b := range bars {
		names.marks = append(names.marks, tick{float64(i), barName(b, slot)})
	}
	data := newPanel(inner, names, scale{high: 100, label: "Share of questions (%)", marks: ticks(100, 5)}, 0).data
	x := func(v float64) vg.Length { return data.X((v + 0.5) / float64(len(bars))) }
	y := func(usd float64) vg.Length { return data.Y(min(max(perThousand*usd/most, 0), 1)) } // an interval may end below 0
	half := min((x(1)-x(0))*0.32, 32)
	gap := min(x(1)-x(0), 2*(data.Max.X-x(float64(len(bars)-1)))) - 2*half // between bars
	var points []vg.Point
	var taken []vg.Rectangle
	for i, b := range bars {
		at := vg.Point{X: x(float64(i)), Y: y(b.cost.Number)}
		bottom, top := at.Y, at.Y
		if b.cost.Bounded {
			bottom, top = min(bottom, y(b.cost.Low)), max(top, y(b.cost.High))
		}
		points = append(points, at)
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: at.X - 5, Y: bottom - 5}, Max: vg.Point{X: at.X + 5, Y: top + 5}})
		for _, end := range b.paper {
			for _, side := range []vg.Length{at.X - half, at.X + half} {
				taken = append(taken, vg.Rectangle{Min: vg.Point{X: side - tickHalf - 1, Y: data.Y(end/100) - 1.5}, Max: vg.Point{X: side + tickHalf + 1, Y: data.Y(end/100) + 1.5}})
			}
		}
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
			if !printed(share) {
				continue
			}
			text, free := Fixed(share, 0)+"%", func(box vg.Rectangle) bool { return slices.ContainsFunc(taken, overlapping(box)) }
			if label(data, r, text, onFill(fills[e]), free) {
				continue
			}
			mid := max(centre(r).Y, data.Min.Y+labelHalf+0.5) // a part that is too thin has its label between the bars
			w := textStyle(smallSize).Width(text) + 5
			for _, left := range []vg.Length{r.Max.X, r.Min.X - w} {
				beside := vg.Rectangle{Min: vg.Point{X: left, Y: mid - labelHalf}, Max: vg.Point{X: left + w, Y: mid + labelHalf + 0.1}}
				if w <= gap && beside.Min.X > data.Min.X && beside.Max.X < data.Max.X && label(data, beside, text, ink(), free) {
					taken = append(taken, beside)
					break
				}
			}
		}
	}
	for i, b := range bars {
		if b.cost.Bounded {
			low, high := points[i], points[i]
			low.Y, high.Y = y(b.cost.Low), y(b.cost.High)
			for _, style := range []draw.LineStyle{haloLine(), costLine()} {
				data.StrokeLine2(style, low.X, low.Y, high.X, high.Y)
				for _, end := range []vg.Point{low, high} {
					data.StrokeLine2(style, end.X-3, end.Y, end.X+3, end.Y)
				}
			}
		}
		halo := costPoint()
		halo.Radius++
		halo.Color = haloLine().Color
		data.DrawGlyph(halo, points[i])
		data.DrawGlyph(costPoint(), points[i])
		for _, end := range b.paper {
			for _, side := range []vg.Length{-half, half} {
				paperTick(data, vg.Point{X: points[i].X + side, Y: data.Y(end / 100)})
			}
		}
	}
	rightAxis(data, "Cost ($ per 1,000 questions)", marks, most, accent())
}

// axisRoom is what a vertical axis with a name and whole percents takes of a figure's width.
const axisRoom = vg.Length(34)

// barName is what stands below a bar that has a width for it: a number of questions that does not fit is left out.
func barName(b stratum, width vg.Length) string {
	style := textStyle(smallSize)
	name := shorten(style, b.label, width)
	for _, n := range []string{fmt.Sprintf("n = %d", b.n), strconv.Itoa(b.n)} {
		if style.Width(n) <= width {
			return name + "\n" + n
		}
	}
	return name + "\n "
}

// labelHalf is half of the room that digits take in height.
const labelHalf = 0.36*smallSize + 0.7

// label writes s, of digits, into r where nothing else is drawn: centred if it can, else to the left, to the right, or
// towards an end. It writes nothing if there is no room, and says whether it wrote.
func label(c draw.Canvas, r vg.Rectangle, s string, ink color.Color, taken func(vg.Rectangle) bool) bool {
	style := aligned(textStyle(smallSize), draw.XCenter, middle)
	style.Color = ink
	const clear = vg.Length(2)
	w, h := style.Width(s)/2+clear, labelHalf
	inside := centre(r)
	if r.Max.X-r.Min.X < 2*w || r.Max.Y-r.Min.Y < 2*h {
		return false
	}
	for _, y := range []vg.Length{inside.Y, r.Max.Y - h, r.Min.Y + h} {
		for _, x := range []vg.Length{inside.X, r.Min.X + w, r.Max.X - w} {
			box := vg.Rectangle{Min: vg.Point{X: x - w, Y: y - h}, Max: vg.Point{X: x + w, Y: y + h}}
			if !taken(box) {
				c.FillText(style, vg.Point{X: x, Y: y}, s)
				return true
			}
		}
	}
	return false
}
