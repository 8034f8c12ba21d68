package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

func distributionLayout() DistributionLayout {
	return DistributionLayout{
		Name:    "routing-distribution",
		Caption: "Share of questions sent to each expert, by difficulty.",
		Keys:    []metrics.Key{{Name: "method", Value: "entrorouter"}},
		Strata:  []Term{{"easy", "Easy"}, {"medium", "Medium"}, {"hard", "Hard"}},
		Experts: []Term{{"qwen3-4b", "Qwen3-4B"}, {"qwen3-30b", "Qwen3-30B"}, {"qwen3-235b", "Qwen3-235B"}},
	}
}

const distributionText = `
BenchmarkShare/method=entrorouter/stratum=easy/expert=qwen3-4b 900 76.0 share-%
BenchmarkShare/method=entrorouter/stratum=easy/expert=qwen3-30b 900 21.0 share-%
BenchmarkShare/method=entrorouter/stratum=easy/expert=qwen3-235b 900 3.0 share-%
BenchmarkShare/method=entrorouter/stratum=easy 900 0.00181 usd/query 0.0017 usd-low/query 0.0019 usd-high/query
BenchmarkShare/method=entrorouter/stratum=medium/expert=qwen3-4b 300 45.0 share-%
BenchmarkShare/method=entrorouter/stratum=medium/expert=qwen3-30b 300 30.0 share-%
BenchmarkShare/method=entrorouter/stratum=medium/expert=qwen3-235b 300 25.0 share-%
BenchmarkShare/method=entrorouter/stratum=medium 300 0.00612 usd/query 0.0056 usd-low/query 0.0067 usd-high/query
BenchmarkShare/method=entrorouter/stratum=hard/expert=qwen3-4b 201 25.0 share-%
BenchmarkShare/method=entrorouter/stratum=hard/expert=qwen3-30b 201 9.0 share-%
BenchmarkShare/method=entrorouter/stratum=hard/expert=qwen3-235b 201 66.0 share-%
BenchmarkShare/method=entrorouter/stratum=hard 201 0.01153 usd/query 0.0108 usd-low/query 0.0123 usd-high/query
`

func distributionSet(t *testing.T) *metrics.Set {
	t.Helper()
	set, err := metrics.Read("shares.txt", strings.NewReader(distributionText))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func files(t *testing.T, f *Figure, formats ...Format) {
	t.Helper()
	rendered, err := f.Files(formats...)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range rendered {
		golden(t, file.Name, file.Data)
	}
	if dir := os.Getenv("PNG"); dir != "" { // to look at
		png, err := f.Files(PNG)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, png[0].Name), png[0].Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheRoutingDistribution(t *testing.T) {
	f, err := Distribution(distributionLayout(), distributionSet(t))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
}

func TestTheParetoPlane(t *testing.T) {
	mark := func(label, id string) Mark {
		return Mark{Label: label, Keys: []metrics.Key{{Name: "method", Value: id}}, Look: Look(len(label))}
	}
	l := ParetoLayout{
		Name: "pareto", Caption: "Accuracy against cost.", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "gain",
		Experts: []Mark{mark("Qwen3-4B", "qwen3-4b"), mark("Qwen3-30B", "qwen3-30b"), mark("Qwen3-235B", "qwen3-235b")},
		Methods: []Mark{mark("EntroRouter", "entrorouter"), mark("Random", "random"), mark("RouteLLM", "routellm"), mark("FORC", "forc")},
	}
	set := mainMeasurements(t, paperMain(t))
	for i := range set.Measurements { // intervals as wide as 1,401 questions make them
		for j, v := range set.Measurements[i].Values {
			if v.Unit == metrics.Accuracy {
				set.Measurements[i].Values[j] = v.Within(v.Number-0.85, v.Number+0.85)
			}
		}
	}
	for i, m := range set.Measurements { // a gain above another hull than the one drawn; the rest has none
		if m.Key("method") == "forc" && m.Key("benchmark") == metrics.Average {
			set.Measurements[i].Values = append(m.Values, metrics.Rounded(-7.25, "gain", 3))
		}
	}
	for knob, at := range []string{"87.1 accuracy-% 0.0066 usd/query", "87.1 accuracy-% 0.0066 usd/query", "86.2 accuracy-% 0.0051 usd/query", "88.9 accuracy-% 0.0092 usd/query"} {
		text := fmt.Sprintf("BenchmarkSweep/table=main/method=routellm/benchmark=avg/knob=%d 1 %s\n", knob, at)
		set.Measurements = append(set.Measurements, setOf(t, text).Measurements...)
	}
	f, err := Pareto(l, set)
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
}

// Where cost is a share of the strongest expert's, the curve of a router is what was measured at shares of it, with the gains of its
// own folds, but not below the cheapest expert, whom no coin costs less than. By hand: the hull is 60 + (x-30)/70*20.
func TestACurveIsReadAtShares(t *testing.T) {
	set := setOf(t, "BenchmarkRoute/method=a/benchmark=all 100 60 accuracy-% 30 cost-share-% 0 gain\nBenchmarkRoute/method=b/benchmark=all 100 80 accuracy-% 100 cost-share-% 0 gain\n"+
		"BenchmarkRoute/method=c/benchmark=all 100 75 accuracy-% 65 cost-share-% 5 gain 50 accuracy-at-25%-% 1 gain-at-25%-points 70 accuracy-at-50%-% 4.25 gain-at-50%-points 78 accuracy-at-75%-% 5.125 gain-at-75%-points\n")
	l := ParetoLayout{Name: "pareto", Benchmark: "all", Cost: Quantity{Unit: units.CostShare, Label: "Cost (%)"}, Gain: "gain", Methods: []Mark{{Label: "Ours", Keys: metrics.Keys("method", "c")}}}
	for _, id := range []string{"a", "b"} {
		l.Experts = append(l.Experts, Mark{Label: id, Keys: metrics.Keys("method", id)})
	}
	f, err := Pareto(l, set)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range f.records[3:] {
		got = append(got, strings.Join(r, ","))
	}
	if diff := cmp.Diff([]string{
		"Ours,router,65,,,75,,,5,,",
		"Ours,at a share of the cost,50,,,70,,,4.250,,", "Ours,at a share of the cost,75,,,78,,,5.125,,",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// The paper's own point is in the legend, in both panels and among the numbers, under its own kind.
func TestThePapersPointStandsInThePlane(t *testing.T) {
	set := setOf(t, "BenchmarkRoute/method=a/benchmark=avg 100 60 accuracy-% 0.001 usd/query 0 gain\nBenchmarkRoute/method=b/benchmark=avg 100 80 accuracy-% 0.003 usd/query 0 gain\n")
	l := ParetoLayout{Name: "pareto", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "gain"}
	for _, id := range []string{"a", "b"} {
		l.Experts = append(l.Experts, Mark{Label: id, Keys: metrics.Keys("method", id)})
	}
	for _, wide := range []bool{false, true} {
		for _, point := range []*Point{nil, {Label: "Theirs", Cost: 0.0021, Accuracy: 88.6, Gain: 1.1}} {
			l.Wide, l.Paper = wide, point
			f, err := Pareto(l, set)
			if err != nil {
				t.Fatal(err)
			}
			var svg bytes.Buffer
			if err := f.Write(&svg, SVG); err != nil {
				t.Fatal(err)
			}
			if rings := strings.Count(svg.String(), "A3.6,3.6") / 2; point == nil && rings != 0 || point != nil && rings != 3 {
				t.Errorf("wide %v, point %v: %d rings, want those of the legend and two panels", wide, point, rings)
			}
			last := strings.Join(f.records[len(f.records)-1], ",")
			if drawn := strings.Contains(svg.String(), ">Theirs<"); drawn != (point != nil) || drawn != (last == "Theirs,paper,0.002100,,,88.6,,,1.10,,") {
				t.Errorf("wide %v, point %v: %v, %s", wide, point, drawn, last)
			}
		}
	}
}

// A page is told the rows that one may choose with their numbers, the paper's is none of them, and what each has above a coin.
func TestAPageIsToldTheRowsOfThePlane(t *testing.T) {
	set := setOf(t, "BenchmarkRoute/method=a/benchmark=avg 100 60 accuracy-% 0.001 usd/query 0 gain\nBenchmarkRoute/method=b/benchmark=avg 100 80 accuracy-% 0.003 usd/query 0 gain\nBenchmarkRoute/method=c/benchmark=avg 100 75.125 accuracy-% 0.002 usd/query 5.5 gain 5.25 gain-low 5.75 gain-high\nBenchmarkContrast/row=c/versus=r 100 -1.5 lead-points -2 lead-points-low -1 lead-points-high\n")
	l := ParetoLayout{Name: "pareto", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "gain", Reference: "Ours", Paper: &Point{Label: "Theirs", Cost: 0.0021, Accuracy: 88.6, Gain: 1.1}}
	for _, id := range []string{"a", "b"} {
		l.Experts = append(l.Experts, Mark{Label: id, Keys: metrics.Keys("method", id)})
	}
	l.Methods = []Mark{{Label: `"c" & <d>`, Keys: metrics.Keys("method", "c"), Lead: metrics.Keys("row", "c", "versus", "r")}}
	f, err := Pareto(l, set)
	if err != nil {
		t.Fatal(err)
	}
	page := &HTML{}
	text, err := page.Figure(f)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.Styles(), ".drawing text{transform:scale(1,-1)}") || regexp.MustCompile(`<text[^>]*transform`).MatchString(string(text)) {
		t.Error("texts stand on their heads, or each says that it does not")
	}
	if !strings.Contains(page.Styles(), ":where(.drawing) path{transform:scale(.1);stroke-width:10}") { // weaker than a class
		t.Error("paths in tenths are drawn ten times as large, or those of a point, which say no width, are too thin")
	}
	for _, want := range []string{
		`data-row="a" data-cost=1 data-accuracy=60`, `data-row="b" data-cost=3 data-accuracy=80`, `data-row="&#34;c&#34; &amp; &lt;d&gt;" data-cost=2 data-accuracy=75.125`,
		`; hull gain 5.50`, `; above Ours at equal cost by -1.50 [-2.00, -1.00] points`, `<p class=worth hidden>`, `data-unit="$ per 1,000 questions"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page is not told %s", want)
		}
	}
	if n := strings.Count(string(text), "data-row"); n != 3 {
		t.Errorf("%d rows", n)
	}
}

// A row that another run has elsewhere is drawn there too, one at the same place and one that it does not have are not.
func TestThePlaneShowsWhereAnotherRunHasARow(t *testing.T) {
	const same = "BenchmarkRoute/method=a/benchmark=avg 100 60 accuracy-% 0.001 usd/query\n"
	set := setOf(t, same+"BenchmarkRoute/method=b/benchmark=avg 100 80 accuracy-% 0.003 usd/query\nBenchmarkRoute/method=c/benchmark=avg 100 70 accuracy-% 0.002 usd/query\n")
	l := ParetoLayout{Name: "pareto", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "gain"}
	for _, id := range []string{"a", "b", "c"} {
		l.Experts = append(l.Experts, Mark{Label: id, Keys: metrics.Keys("method", id)})
	}
	for before, want := range map[string]int{"": 0, same: 0, same + "BenchmarkRoute/method=b/benchmark=avg 100 90 accuracy-% 0.004 usd/query\n": 1} {
		if l.Before = nil; before != "" {
			l.Before = setOf(t, before)
		}
		f, err := Pareto(l, set)
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&HTML{}).Figure(f)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "in the other run accuracy 90.00, cost 4.00<"); n != want || strings.Count(string(text), "in the other run") != want {
			t.Errorf("%q: %d rows at their place, %d in all, want %d", before, n, strings.Count(string(text), "in the other run"), want)
		}
	}
}

func TestACaptionNamesRowsThatAPanelOfGainsLeavesOut(t *testing.T) {
	l := ParetoLayout{Name: "pareto", Caption: "Accuracy against cost.", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "hull-gain-points"}
	var text strings.Builder
	for _, row := range []struct {
		label                string
		accuracy, cost, gain float64
	}{{"Small", 60, 0.001, 0}, {"Large", 80, 0.003, 0}, {"Poor", 50, 0.002, -20}, {"Good", 71, 0.002, 1}, {"Free", 55, 0.0001, 49}} {
		m := Mark{Label: row.label, Keys: []metrics.Key{{Name: "method", Value: row.label}}}
		if l.Methods = append(l.Methods, m); row.label == "Large" {
			l.Experts, l.Methods = l.Methods, nil
		}
		fmt.Fprintf(&text, "BenchmarkRoute/method=%s/benchmark=avg 100 %g accuracy-%% %g usd/query %g hull-gain-points\n", row.label, row.accuracy, row.cost, row.gain)
	}
	f, err := Pareto(l, setOf(t, text.String()))
	if err != nil {
		t.Fatal(err)
	}
	want := "Accuracy against cost. Arrows point to rows further below the hull than is shown: Poor (-20.0)." +
		" No coin flip between fixed experts is as cheap as these rows, so they have no gain here: Free."
	if f.Caption != want {
		t.Errorf("caption %q, want %q", f.Caption, want)
	}
}

// Rows that all gain nothing, or rounding apart the same, are common: a router that always asks the strongest expert.
func TestAnAxisOfOneNumberHasNumbersThatCanBeRead(t *testing.T) {
	for _, values := range [][]float64{{0}, {0, 1e-15, -1e-14}, {80, 80 + 1e-13}, {1e-3}, {0, 0.002}, {-30, -30}} {
		s := room("", values...)
		marks := s.ticked(5)
		for _, m := range marks {
			if len(m.label) > 7 {
				t.Errorf("an axis of %v has the number %s", values, m.label)
			}
		}
		if len(marks) < 2 || s.low >= slices.Min(values) || s.high <= slices.Max(values) {
			t.Errorf("axis of %v: %v to %v, marks %v", values, s.low, s.high, marks)
		}
	}
	for _, at := range []float64{0, 8, -0.5} {
		if s := sweepAxis(SweepLayout{}, []float64{at}); len(s.ticked(5)) < 2 || len(s.ticked(5)[0].label) > 7 {
			t.Errorf("axis of %v: %v to %v, marks %v", at, s.low, s.high, s.ticked(5))
		}
	}
}

func TestPanelsOfOneAxisStandFlush(t *testing.T) {
	c := draw.New(vgsvg.New(200, 100))
	x, y := scale{low: 1, high: 1200, label: "Questions", log: true}, scale{high: 100, label: "%"}
	for _, v := range []float64{1, 1000} {
		x.marks = append(x.marks, tick{v, Fixed(v*1e4, 0)})
	}
	below := newPanel(c, x, y, 0).data
	x.bare = true
	above := newPanel(c, x, y, 0).data
	if above.Min.X != below.Min.X || above.Max.X != below.Max.X || below.Max.X > 195 {
		t.Errorf("from %v to %v above, from %v to %v below", above.Min.X, above.Max.X, below.Min.X, below.Max.X)
	}
}

func TestALongLabelOverlapsNothing(t *testing.T) {
	l := distributionLayout()
	l.Name = "routing-distribution-long"
	l.Experts[1].Label = "an-expert-with-a-very-long-name-in-two-hundred-and-thirty-five-billion-parameters"
	l.Strata[2].Label = "Hard (everything that no other expert solves)"
	f, err := Distribution(l, distributionSet(t))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
}

func TestADrawingIsXMLAndSaysWhatItIs(t *testing.T) {
	l := distributionLayout()
	l.Caption = "Shares & costs, with n < 100."
	f, err := Distribution(l, distributionSet(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, SVG); err != nil {
		t.Fatal(err)
	}
	var drawing struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Role    string   `xml:"role,attr"`
		Title   string   `xml:"title"`
		Words   string   `xml:"desc"`
	}
	if err := xml.Unmarshal(b.Bytes(), &drawing); err != nil {
		t.Fatal(err)
	}
	if drawing.Role != "img" || drawing.Title != f.Name || drawing.Words != f.Caption {
		t.Errorf("role %q, title %q, description %q", drawing.Role, drawing.Title, drawing.Words)
	}
}

func TestFiguresAreTheSameBytesTwice(t *testing.T) {
	for _, format := range []Format{SVG, PNG} {
		var previous []byte
		for range 2 {
			f, err := Distribution(distributionLayout(), distributionSet(t))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := f.Write(&b, format); err != nil {
				t.Fatal(err)
			}
			if previous != nil && !bytes.Equal(previous, b.Bytes()) {
				t.Errorf("%s differs from one rendering to the next", format)
			}
			previous = b.Bytes()
		}
	}
}

func TestNamesOfExpertsAtOnePlaceDoNotOverlap(t *testing.T) {
	c := draw.New(vgsvg.New(300, 200))
	var written []vg.Rectangle
	for i, name := range []string{"Qwen3-4B", "R1-Distill-Llama-8B", "GPT-OSS-20B", "Qwen3-30B", "Qwen3-235B"} {
		box, _, ok := nameExpert(c, vg.Point{X: 150 + vg.Length(i), Y: 100}, name, func(b vg.Rectangle, _ []vg.Point) bool {
			return slices.ContainsFunc(written, overlapping(b))
		})
		if !ok {
			t.Errorf("no room for %s", name)
		}
		if slices.ContainsFunc(written, overlapping(box)) {
			t.Errorf("%s is written over another name", name)
		}
		written = append(written, box)
	}
	if _, _, ok := nameExpert(c, vg.Point{X: 150, Y: 100}, "Qwen3-4B", func(vg.Rectangle, []vg.Point) bool { return true }); ok {
		t.Error("a name is written where there is no room")
	}
}
