package report

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	fixedpoint "golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// sheetOfPaper is a canvas that remembers where ink comes: boxes of texts by the outlines of their letters, stroked pieces and
// filled marks.
type sheetOfPaper struct {
	width, height vg.Length
	state         paperState
	saved         []paperState
	texts         []written
	strokes       []stroke
	marks         []vg.Rectangle
}

type paperState struct {
	x, y, up vg.Point // where the origin and the ends of the unit vectors lie
	thick    vg.Length
}

type written struct {
	text string
	box  vg.Rectangle
}

type stroke struct {
	from, to vg.Point
}

func newPaper(width, height vg.Length) *sheetOfPaper {
	return &sheetOfPaper{width: width, height: height, state: paperState{y: vg.Point{X: 1}, up: vg.Point{Y: 1}}}
}

func (p *sheetOfPaper) Size() (vg.Length, vg.Length)       { return p.width, p.height }
func (p *sheetOfPaper) SetLineWidth(w vg.Length)           { p.state.thick = w }
func (p *sheetOfPaper) SetLineDash([]vg.Length, vg.Length) {}
func (p *sheetOfPaper) SetColor(color.Color)               {}
func (p *sheetOfPaper) Push()                              { p.saved = append(p.saved, p.state) }
func (p *sheetOfPaper) DrawImage(vg.Rectangle, image.Image) {
}

func (p *sheetOfPaper) Pop() {
	p.state, p.saved = p.saved[len(p.saved)-1], p.saved[:len(p.saved)-1]
}

func (p *sheetOfPaper) place(v vg.Point) vg.Point {
	return p.state.x.Add(p.state.y.Scale(v.X)).Add(p.state.up.Scale(v.Y))
}

func (p *sheetOfPaper) Translate(by vg.Point) { p.state.x = p.place(by) }

func (p *sheetOfPaper) Scale(x, y float64) {
	p.state.y, p.state.up = p.state.y.Scale(vg.Length(x)), p.state.up.Scale(vg.Length(y))
}

func (p *sheetOfPaper) Rotate(by float64) {
	sin, cos := math.Sincos(by)
	x, y := p.state.y, p.state.up
	p.state.y = x.Scale(vg.Length(cos)).Add(y.Scale(vg.Length(sin)))
	p.state.up = y.Scale(vg.Length(cos)).Add(x.Scale(vg.Length(-sin)))
}

func (p *sheetOfPaper) around(corners ...vg.Point) vg.Rectangle {
	box := vg.Rectangle{Min: vg.Point{X: vg.Length(math.Inf(1)), Y: vg.Length(math.Inf(1))}, Max: vg.Point{X: vg.Length(math.Inf(-1)), Y: vg.Length(math.Inf(-1))}}
	for _, v := range corners {
		v = p.place(v)
		box.Min.X, box.Min.Y = min(box.Min.X, v.X), min(box.Min.Y, v.Y)
		box.Max.X, box.Max.Y = max(box.Max.X, v.X), max(box.Max.Y, v.Y)
	}
	return box
}

// corners returns the ends of the pieces of a path; an arc is a square around it.
func corners(path vg.Path) (out [][]vg.Point) {
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			out = append(out, []vg.Point{c.Pos})
		case vg.ArcComp:
			r := c.Radius
			out = append(out, []vg.Point{{X: c.Pos.X - r, Y: c.Pos.Y - r}, {X: c.Pos.X + r, Y: c.Pos.Y - r}, {X: c.Pos.X + r, Y: c.Pos.Y + r}, {X: c.Pos.X - r, Y: c.Pos.Y + r}, {X: c.Pos.X - r, Y: c.Pos.Y - r}})
		case vg.CloseComp:
			if n := len(out) - 1; n >= 0 {
				out[n] = append(out[n], out[n][0])
			}
		default:
			n := len(out) - 1
			out[n] = append(out[n], c.Pos)
		}
	}
	return out
}

func (p *sheetOfPaper) Stroke(path vg.Path) {
	if p.state.thick <= 0 {
		return
	}
	for _, line := range corners(path) {
		for i := range line[1:] {
			p.strokes = append(p.strokes, stroke{p.place(line[i]), p.place(line[i+1])})
		}
	}
}

// Fill remembers what is as small as a mark: bars and bands lie below the text on purpose.
func (p *sheetOfPaper) Fill(path vg.Path) {
	var all []vg.Point
	for _, line := range corners(path) {
		all = append(all, line...)
	}
	if box := p.around(all...); box.Max.X-box.Min.X < 8 && box.Max.Y-box.Min.Y < 8 {
		p.marks = append(p.marks, box)
	}
}

func (p *sheetOfPaper) FillString(face plotfont.Face, at vg.Point, text string) {
	var buffer sfnt.Buffer
	em := fixedpoint.I(int(face.Face.UnitsPerEm()))
	unit := face.Font.Size / vg.Length(em)
	var ink []vg.Point
	x := at.X
	var previous sfnt.GlyphIndex
	for i, r := range text {
		glyph, err := face.Face.GlyphIndex(&buffer, r)
		if err != nil {
			panic(err)
		}
		if kern, err := face.Face.Kern(&buffer, previous, glyph, em, font.HintingNone); i > 0 && err == nil {
			x += vg.Length(kern) * unit
		}
		previous = glyph
		b, advance, err := face.Face.GlyphBounds(&buffer, glyph, em, font.HintingNone)
		if err != nil {
			panic(err)
		}
		if b.Max.X > b.Min.X {
			ink = append(ink, vg.Point{X: x + vg.Length(b.Min.X)*unit, Y: at.Y - vg.Length(b.Max.Y)*unit},
				vg.Point{X: x + vg.Length(b.Max.X)*unit, Y: at.Y - vg.Length(b.Min.Y)*unit})
		}
		x += vg.Length(advance) * unit
	}
	if ink != nil {
		lo, hi := ink[0], ink[0]
		for _, v := range ink {
			lo.X, lo.Y, hi.X, hi.Y = min(lo.X, v.X), min(lo.Y, v.Y), max(hi.X, v.X), max(hi.Y, v.Y)
		}
		p.texts = append(p.texts, written{text, p.around(lo, hi)})
	}
}

// enters says whether a piece comes into a box.
func (s stroke) enters(box vg.Rectangle) bool {
	from, to := 0.0, 1.0
	for _, side := range [][2]vg.Length{
		{s.from.X - s.to.X, s.from.X - box.Min.X}, {s.to.X - s.from.X, box.Max.X - s.from.X},
		{s.from.Y - s.to.Y, s.from.Y - box.Min.Y}, {s.to.Y - s.from.Y, box.Max.Y - s.from.Y},
	} {
		p, q := float64(side[0]), float64(side[1])
		switch {
		case p == 0 && q <= 0:
			return false
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		}
	}
	return from < to
}

// A name between two markers must not be taken for the other's: "Qwen3-4B" stood beside the marker of Random.
func TestANameBesideAnotherMarkerIsLedToItsOwn(t *testing.T) {
	led, alone := 0, 0
	for cost := 0.004; cost < 0.01; cost += 0.0001 {
		l := ParetoLayout{Name: "f", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "hull-gain-points"}
		var text strings.Builder
		for _, row := range []struct {
			label          string
			accuracy, cost float64
		}{{"Qwen3-4B", 64.55, 0.00064}, {"R1-Distill-Llama-8B", 34.31, 0.00066}, {"Qwen3-30B", 74.33, 0.0088}, {"Qwen3-235B", 83.12, 0.0185}, {"Random", 60.22, cost}} {
			l.Experts = append(l.Experts, Mark{Label: row.label, Keys: []metrics.Key{{Name: "method", Value: row.label}}})
			fmt.Fprintf(&text, "BenchmarkRoute/method=%s/benchmark=avg 1 %g accuracy-%% %g usd/query 0 hull-gain-points\n", row.label, row.accuracy, row.cost)
		}
		l.Experts, l.Methods = l.Experts[:4], l.Experts[4:]
		f, err := Pareto(l, setOf(t, text.String()))
		if err != nil {
			t.Fatal(err)
		}
		paper := newPaper(f.width, f.height)
		f.paint(draw.Crop(draw.New(paper), margin, -margin, margin, -margin))
		grown := func(box vg.Rectangle, by vg.Length) vg.Rectangle {
			return vg.Rectangle{Min: vg.Point{X: box.Min.X - by, Y: box.Min.Y - by}, Max: vg.Point{X: box.Max.X + by, Y: box.Max.Y + by}}
		}
		name := paper.texts[slices.IndexFunc(paper.texts, func(w written) bool { return w.text == "Qwen3-4B" })].box
		random := paper.marks[1] // after that of the legend
		switch near := overlapping(grown(name, 6))(random); {
		case slices.ContainsFunc(paper.strokes, func(s stroke) bool { return s.enters(grown(name, 4)) }):
			led++
		case near:
			t.Errorf("at $%.4f the name is at %.1f, the marker of another at %.1f", cost, name, random)
		default:
			alone++
		}
	}
	if led == 0 || alone == 0 {
		t.Errorf("led %d times, alone %d times", led, alone)
	}
}

// faults lists what a reader would stumble over.
func faults(f *Figure) (out []string) {
	paper := newPaper(f.width, f.height)
	f.paint(draw.Crop(draw.New(paper), margin, -margin, margin, -margin))
	fault := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i, a := range paper.texts {
		if a.box.Min.X < 0 || a.box.Min.Y < 0 || a.box.Max.X > f.width || a.box.Max.Y > f.height {
			fault("%q leaves the figure: %.1f of %.1f x %.1f", a.text, a.box, f.width, f.height)
		}
		for _, b := range paper.texts[:i] {
			if overlapping(a.box)(b.box) {
				fault("%q and %q overlap: %.1f %.1f", a.text, b.text, a.box, b.box)
			}
		}
		for _, s := range paper.strokes {
			if s.enters(a.box) {
				fault("a line from %.1f to %.1f runs through %q at %.1f", s.from, s.to, a.text, a.box)
			}
		}
		for _, m := range paper.marks {
			if overlapping(a.box)(m) {
				fault("a mark at %.1f lies on %q at %.1f", m, a.text, a.box)
			}
		}
	}
	return out
}

// labels draws different labels, from a letter to longer than any figure is wide.
func labels(rt *rapid.T, what string, least, most int) []string {
	text := rapid.Custom(func(rt *rapid.T) string {
		letters := rapid.SampledFrom([]string{"etaoinsrhl ", "WMQgjy@-", "il.,'", "Aag (λβéß%$) 0123-"}).Draw(rt, "letters")
		length := rapid.SampledFrom([]int{1, 2, 4, 8, 12, 16, 24, 32, 50, 90}).Draw(rt, "length")
		return rapid.StringOfN(rapid.SampledFrom([]rune(letters)), length, length, -1).Draw(rt, "text")
	}).Filter(func(s string) bool { return strings.TrimSpace(s) == s })
	return rapid.SliceOfNDistinct(text, least, most, rapid.ID).Draw(rt, what)
}

func terms(labels []string) (out []Term) {
	for i, l := range labels {
		out = append(out, Term{fmt.Sprint("v", i), l})
	}
	return out
}

func words(terms []Term) (out []string) {
	for _, t := range terms {
		out = append(out, t.Label)
	}
	return out
}

// bounded writes a number in a unit with an interval.
func bounded(b *strings.Builder, v, half float64, unit string) {
	low, high := metrics.Ends(unit)
	fmt.Fprintf(b, " %g %s %g %s %g %s", v, unit, v-half, low, v+half, high)
}

// read is setOf for properties.
func read(rt *rapid.T, text string) *metrics.Set {
	set, err := metrics.Read("test.txt", strings.NewReader(text))
	if err != nil {
		rt.Fatal(err)
	}
	return set
}

func percent(rt *rapid.T, what string) float64 {
	return float64(rapid.IntRange(0, 10_000).Draw(rt, what)) / 100
}

// dollars are those of a question.
func dollars(rt *rapid.T) float64 { return float64(rapid.IntRange(0, 20_000).Draw(rt, "cost")) / 1e6 }

func anyDistribution(rt *rapid.T) (*Figure, []string, error) {
	l := DistributionLayout{Name: "f", Experts: terms(labels(rt, "experts", 1, 6)), Strata: terms(labels(rt, "strata", 1, 5))}
	var b, paper strings.Builder
	for _, s := range l.Strata {
		left := 100.0
		for i, e := range l.Experts {
			share := left
			if i < len(l.Experts)-1 {
				share = left * rapid.Float64Range(0, 1).Draw(rt, "share")
			}
			left -= share
			if rapid.Bool().Draw(rt, "paper") {
				fmt.Fprintf(&paper, "BenchmarkShare/stratum=%s/expert=%s 1 %g share-%%\n", s.Value, e.Value, 100/float64(len(l.Experts)))
			}
			fmt.Fprintf(&b, "BenchmarkShare/stratum=%s/expert=%s 900 %g share-%%\n", s.Value, e.Value, share)
		}
		cost := dollars(rt)
		fmt.Fprintf(&b, "BenchmarkShare/stratum=%s %d", s.Value, rapid.IntRange(1, 10_000_000).Draw(rt, "n"))
		bounded(&b, cost, cost*rapid.Float64Range(0, 1.9).Draw(rt, "half"), metrics.USDPerQuery)
		b.WriteString("\n")
	}
	l.Paper = read(rt, paper.String())
	f, err := Distribution(l, read(rt, b.String()))
	return f, append(words(l.Experts), words(l.Strata)...), err
}

func anyPareto(rt *rapid.T) (*Figure, []string, error) {
	l := ParetoLayout{Name: "f", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "hull-gain-points", Wide: rapid.Bool().Draw(rt, "side by side")}
	if rapid.Bool().Draw(rt, "paper") {
		l.Paper = &Point{Label: "The paper", Cost: dollars(rt), Accuracy: percent(rt, "paper's accuracy"), Gain: rapid.Float64Range(-30, 5).Draw(rt, "paper's gain")}
	}
	var b strings.Builder
	row := func(i int, label string) Mark {
		cost := dollars(rt)
		fmt.Fprintf(&b, "BenchmarkRoute/method=m%d/benchmark=avg 100", i)
		bounded(&b, percent(rt, "accuracy"), rapid.Float64Range(0, 10).Draw(rt, "half"), metrics.Accuracy)
		bounded(&b, cost, cost*rapid.Float64Range(0, 0.5).Draw(rt, "wide"), metrics.USDPerQuery)
		bounded(&b, rapid.Float64Range(-30, 5).Draw(rt, "gain"), 1, l.Gain)
		b.WriteString("\n")
		for knob := range rapid.IntRange(0, 3).Draw(rt, "settings") {
			fmt.Fprintf(&b, "BenchmarkSweep/method=m%d/knob=%d 100 %g accuracy-%% %g usd/query\n", i, knob, percent(rt, "accuracy"), dollars(rt))
		}
		return Mark{Label: label, Keys: []metrics.Key{{Name: "method", Value: fmt.Sprint("m", i)}}}
	}
	all := labels(rt, "rows", 2, 26)
	experts := rapid.IntRange(1, min(6, len(all)-1)).Draw(rt, "experts")
	for i, label := range all {
		if i < experts {
			l.Experts = append(l.Experts, row(i, label))
		} else {
			l.Methods = append(l.Methods, row(i, label))
		}
	}
	if l.Paper != nil {
		all = append(all, l.Paper.Label)
	}
	if rapid.Bool().Draw(rt, "another run") {
		var before strings.Builder
		for i := range all {
			fmt.Fprintf(&before, "BenchmarkRoute/method=m%d/benchmark=avg 100 %g accuracy-%% %g usd/query\n", i, percent(rt, "accuracy before"), dollars(rt))
		}
		l.Before = read(rt, before.String())
	}
	f, err := Pareto(l, read(rt, b.String()))
	return f, all, err
}

func anySweep(rt *rapid.T) (*Figure, []string, error) {
	names := labels(rt, "axes", 2, 4)
	l := SweepLayout{Name: "f", Axis: names[0], Log: rapid.Bool().Draw(rt, "log")}
	for i, name := range names[1:] {
		l.Panels = append(l.Panels, Quantity{fmt.Sprint("unit", i), name, rapid.Bool().Draw(rt, "zero")})
	}
	size := math.Pow(10, float64(rapid.IntRange(-5, 5).Draw(rt, "size")))
	var b, paper strings.Builder
	lines := labels(rt, "lines", 1, 6)
	for k, label := range lines {
		line := SweepLine{Label: label}
		for i := range rapid.IntRange(1, 12).Draw(rt, "points") {
			keys := []metrics.Key{{Name: "method", Value: fmt.Sprintf("m%d-%d", k, i)}}
			point := SweepPoint{X: size * rapid.SampledFrom([]float64{1, 2, 3, 7, 10, 40, 99, 100, 350, 1000, 1999}).Draw(rt, "x"), Keys: keys}
			fmt.Fprintf(&b, "BenchmarkRoute/method=m%d-%d 100", k, i)
			for _, q := range l.Panels {
				v := size * rapid.Float64Range(-100, 100).Draw(rt, "value")
				bounded(&b, v, size*rapid.Float64Range(0, 5).Draw(rt, "half"), q.Unit)
			}
			fmt.Fprintf(&b, "\nBenchmarkRoute/method=m%d-%d/seed=1 100 3 unit0\n", k, i)
			if rapid.Bool().Draw(rt, "paper") {
				point.Paper = keys
				fmt.Fprintf(&paper, "BenchmarkRoute/method=m%d-%d 100 3 unit0\n", k, i)
			}
			line.Points = append(line.Points, point)
		}
		l.Lines = append(l.Lines, line)
	}
	f, err := Sweep(l, read(rt, b.String()), read(rt, paper.String()))
	return f, append(lines, l.Axis), err
}

func anySeeds(rt *rapid.T) (*Figure, []string, error) {
	l := SeedsLayout{Name: "f"}
	for i, name := range labels(rt, "axes", 1, 4) {
		l.Panels = append(l.Panels, Quantity{fmt.Sprint("unit", i), name, rapid.Bool().Draw(rt, "zero")})
	}
	size := math.Pow(10, float64(rapid.IntRange(-5, 5).Draw(rt, "size")))
	var b strings.Builder
	rows := labels(rt, "rows", 1, 14)
	for i, label := range rows {
		for _, seed := range []string{"", "/seed=1", "/seed=2"} {
			fmt.Fprintf(&b, "BenchmarkRoute/method=m%d%s 100", i, seed)
			for _, q := range l.Panels {
				bounded(&b, size*rapid.Float64Range(-100, 100).Draw(rt, "value"), size, q.Unit)
			}
			b.WriteString("\n")
		}
		l.Rows = append(l.Rows, Mark{Label: label, Keys: []metrics.Key{{Name: "method", Value: fmt.Sprint("m", i)}}})
	}
	f, err := Seeds(l, read(rt, b.String()))
	return f, rows, err
}

func anyIntervals(rt *rapid.T) (*Figure, []string, error) {
	l := IntervalsLayout{Name: "f", Axis: labels(rt, "axis", 1, 1)[0], Columns: labels(rt, "columns", 1, 8)}
	size := math.Pow(10, float64(rapid.IntRange(-5, 5).Draw(rt, "size")))
	rows := labels(rt, "rows", 1, 14)
	for _, label := range rows {
		row := IntervalsRow{Label: label}
		for range l.Columns {
			x, half := size*rapid.Float64Range(-100, 100).Draw(rt, "value"), size*rapid.Float64Range(0, 50).Draw(rt, "half")
			v := metrics.Rounded(x, "unit", 6)
			if rapid.Bool().Draw(rt, "bounded") {
				v = v.Within(x-half, x+half)
			}
			row.Values = append(row.Values, &v)
		}
		l.Rows = append(l.Rows, row)
	}
	f, err := Intervals(l)
	return f, append(rows, l.Columns...), err
}

func anyTraining(rt *rapid.T) (*Figure, []string, error) {
	l := TrainingLayout{Name: "f", Methods: terms(labels(rt, "rows", 1, 9)), Expert: Term{"v0", "strongest"}, Experts: rapid.IntRange(1, 9).Draw(rt, "experts")}
	size := math.Pow(10, float64(rapid.IntRange(-5, 5).Draw(rt, "size")))
	var b strings.Builder
	for _, m := range l.Methods {
		for _, stage := range []string{"sft", "grpo"} {
			stride := rapid.IntRange(1, 100_000).Draw(rt, "stride")
			for i := range 3 {
				at := fmt.Sprintf("BenchmarkCurve/method=%s/stage=%s/step=%d", m.Value, stage, i*stride)
				v := func() float64 { return size * rapid.Float64Range(-2, 2).Draw(rt, "value") }
				fmt.Fprintf(&b, "%s 3 %g loss %g reward %g entropy-nats %g zero-groups-%%\n", at, math.Abs(v()), v(), math.Abs(v()), percent(rt, "idle"))
				fmt.Fprintf(&b, "%s/expert=v0 3 %g share-%%\n", at, percent(rt, "share"))
			}
		}
	}
	f, err := Training(l, read(rt, b.String()))
	return f, words(l.Methods), err
}

func anyRounds(rt *rapid.T) (*Figure, []string, error) {
	l := RoundsLayout{Name: "f", Stage: "rounds"}
	lines := terms(labels(rt, "rows", 1, 7))
	titles := labels(rt, "columns", 1, mostColumns)
	var b strings.Builder
	for k, title := range titles {
		c := RoundsColumn{Title: title}
		stride := rapid.IntRange(1, 100_000).Draw(rt, "stride")
		for _, m := range lines {
			id := fmt.Sprintf("%s-%d", m.Value, k)
			c.Lines = append(c.Lines, Term{Value: id, Label: m.Label})
			for i := range 3 {
				fmt.Fprintf(&b, "BenchmarkCurve/method=%s/stage=rounds/step=%d 3 %g call-rate-%% %g entropy-nats %g reward %g accuracy-%%\n", id, i*stride,
					percent(rt, "calls"), rapid.Float64Range(0, 3).Draw(rt, "entropy"), rapid.Float64Range(-5, 5).Draw(rt, "reward"), percent(rt, "accuracy"))
			}
		}
		l.Columns = append(l.Columns, c)
	}
	f, err := Rounds(l, read(rt, b.String()))
	return f, append(words(lines), titles...), err
}

func anyCalibration(rt *rapid.T) (*Figure, []string, error) {
	l := CalibrationLayout{Name: "f", Rollouts: rapid.IntRange(1, 5000).Draw(rt, "rollouts"), Experts: terms(labels(rt, "experts", 1, 7))}
	var b strings.Builder
	for _, estimate := range []string{units.MeasuredRate, units.ShrunkRate} {
		for _, e := range l.Experts {
			for bin := range rapid.IntRange(1, 6).Draw(rt, "bins") {
				fmt.Fprintf(&b, "BenchmarkCalibration/estimate=%s/expert=%s/bin=%02d 100 %g estimate-%% %g true-%% 0 true-low-%% 100 true-high-%%\n", estimate, e.Value, bin, percent(rt, "estimate"), percent(rt, "true"))
			}
		}
		fmt.Fprintf(&b, "BenchmarkBest/estimate=%s 306 %g wrong-best-%%\n", estimate, percent(rt, "wrong"))
	}
	for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]int{1, 2, 3, 5, 8, 10, 50, 100, 500, 999, 1000, 5000}), 2, 12, rapid.ID).Draw(rt, "samples") {
		fmt.Fprintf(&b, "BenchmarkBest/samples=%d 306 %g wrong-best-%%\n", n, percent(rt, "wrong"))
	}
	f, err := Calibration(l, read(rt, b.String()))
	return f, words(l.Experts), err
}

// grid draws rising numbers.
func grid(rt *rapid.T, what string) []string {
	size := math.Pow(10, float64(rapid.IntRange(-3, 3).Draw(rt, "size")))
	n := rapid.IntRange(2, 12).Draw(rt, what)
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(size*float64(i)))
	}
	return out
}

func anyCollapse(rt *rapid.T) (*Figure, []string, error) {
	l := CollapseLayout{Name: "f", Curves: terms(labels(rt, "curves", 1, 6)), Buckets: terms(labels(rt, "buckets", 1, 4)), Assimilation: grid(rt, "assimilations"),
		Lambda: grid(rt, "prices"), Controls: terms(labels(rt, "controls", 1, 20)), ControlsAt: "0"}
	l.At = l.Lambda[1]
	var b strings.Builder
	for _, c := range l.Curves {
		stride := rapid.IntRange(1, 100_000).Draw(rt, "stride")
		for i := range 3 {
			fmt.Fprintf(&b, "BenchmarkCurve/assimilation=%s/step=%d 3 %g call-rate-%% %g entropy-nats %g accuracy-%% %g reward\n", c.Value, i*stride,
				percent(rt, "rate"), percent(rt, "entropy")/30, percent(rt, "accuracy"), percent(rt, "reward")/50-1)
		}
	}
	for _, lambda := range l.Lambda {
		for _, bucket := range l.Buckets {
			fmt.Fprintf(&b, "BenchmarkThreshold/lambda=%s/bucket=%s 1 %s threshold-any-calls\n", lambda, bucket.Value, rapid.SampledFrom(l.Assimilation).Draw(rt, "edge"))
		}
		for _, a := range l.Assimilation {
			fmt.Fprintf(&b, "BenchmarkSweep/lambda=%s/assimilation=%s 5 %g call-rate-%%\n", lambda, a, percent(rt, "rate"))
			for _, bucket := range l.Buckets {
				fmt.Fprintf(&b, "BenchmarkSweep/lambda=%s/assimilation=%s/bucket=%s 5 %g call-rate-%%\n", lambda, a, bucket.Value, percent(rt, "rate"))
			}
		}
	}
	for _, c := range l.Controls {
		fmt.Fprintf(&b, "BenchmarkControl/control=%s 5", c.Value)
		bounded(&b, percent(rt, "rate"), 0, units.CallRate)
		b.WriteString("\n")
	}
	f, err := Collapse(l, read(rt, b.String()))
	return f, slices.Concat(words(l.Curves), words(l.Buckets), words(l.Controls)), err
}

func anyPhase(rt *rapid.T) (*Figure, []string, error) {
	l := PhaseLayout{Name: "f", Assimilation: grid(rt, "assimilations"), Lambda: grid(rt, "prices"), Buckets: terms(labels(rt, "buckets", 1, 4)), Experts: 2}
	var b strings.Builder
	for _, lambda := range l.Lambda {
		for _, bucket := range l.Buckets {
			fmt.Fprintf(&b, "BenchmarkThreshold/lambda=%s/bucket=%s 1 %s threshold-any-calls\n", lambda, bucket.Value, rapid.SampledFrom(l.Assimilation).Draw(rt, "edge"))
			for _, a := range l.Assimilation {
				fmt.Fprintf(&b, "BenchmarkSweep/lambda=%s/assimilation=%s/bucket=%s 5 %g call-rate-%% %d experts-without-region\n", lambda, a, bucket.Value, percent(rt, "rate"), rapid.IntRange(0, 2).Draw(rt, "empty"))
			}
		}
	}
	f, err := Phase(l, read(rt, b.String()))
	return f, words(l.Buckets), err
}

func TestNothingIsWrittenOverAnythingWhateverTheLabels(t *testing.T) {
	for _, kind := range []struct {
		name string
		any  func(*rapid.T) (*Figure, []string, error) // a figure and the labels that its CSV spells out
	}{
		{"distribution", anyDistribution}, {"pareto", anyPareto}, {"sweep", anySweep}, {"seeds", anySeeds}, {"intervals", anyIntervals},
		{"training", anyTraining}, {"rounds", anyRounds}, {"calibration", anyCalibration}, {"collapse", anyCollapse}, {"phase", anyPhase},
	} {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				f, spelled, err := kind.any(rt)
				if err != nil {
					rt.Fatal(err)
				}
				for _, label := range spelled {
					if !slices.ContainsFunc(f.records, func(record []string) bool { return slices.Contains(record, label) }) {
						rt.Fatalf("%q is not in the CSV", label)
					}
				}
				found := faults(f)
				if f.spots != nil {
					found = append(found, hidden(f)...)
				}
				if found != nil {
					rt.Fatal(strings.Join(found[:min(len(found), 5)], "\n"))
				}
			})
		})
	}
}

// Policies that never have any entropy have an axis of it all the same.
func TestACollapseWithoutEntropyIsDrawn(t *testing.T) {
	l := CollapseLayout{Name: "f", Curves: terms([]string{"0"}), Buckets: terms([]string{"hard"}), Assimilation: []string{"0", "1"}, Lambda: []string{"0", "1"}, Controls: terms([]string{"none"}), ControlsAt: "0", At: "1"}
	var b strings.Builder
	for step := range 3 {
		fmt.Fprintf(&b, "BenchmarkCurve/assimilation=v0/step=%d 3 0 call-rate-%% 0 entropy-nats 0 accuracy-%% -1 reward\n", step)
	}
	for _, lambda := range l.Lambda {
		fmt.Fprintf(&b, "BenchmarkThreshold/lambda=%s/bucket=v0 1 0 threshold-any-calls\n", lambda)
		for _, a := range l.Assimilation {
			fmt.Fprintf(&b, "BenchmarkSweep/lambda=%s/assimilation=%s 5 0 call-rate-%%\nBenchmarkSweep/lambda=%s/assimilation=%s/bucket=v0 5 0 call-rate-%%\n", lambda, a, lambda, a)
		}
	}
	b.WriteString("BenchmarkControl/control=v0 5 0 call-rate-% 0 call-rate-low-% 0 call-rate-high-%\n")
	set, err := metrics.Read("zero", strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Collapse(l, set)
	if err != nil {
		t.Fatal(err)
	}
	if found := faults(f); found != nil {
		t.Error(strings.Join(found, "\n"))
	}
}
