package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func TestMarkersStayWhereTheyBelongOrAreMovedToAFreePlace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		area := vg.Rectangle{Max: vg.Point{X: 160, Y: 70}}
		marks := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) mark {
			length := func(name string, most vg.Length) vg.Length {
				return vg.Length(rapid.IntRange(10, int(most)-10).Draw(rt, name))
			}
			return mark{vg.Point{X: length("x", area.Max.X), Y: length("y", area.Max.Y)}, vg.Length(rapid.SampledFrom([]float64{2.6, 2.8, 3.6}).Draw(rt, "radius"))}
		}), 1, 26).Draw(rt, "marks")
		stay := rapid.IntRange(0, len(marks)).Draw(rt, "stay")
		at := parted(area, marks, stay)
		for i := range marks {
			m := mark{at[i], marks[i].radius}
			if m.at.X < m.radius || m.at.Y < m.radius || m.at.X > area.Max.X-m.radius || m.at.Y > area.Max.Y-m.radius {
				rt.Fatalf("marker %d leaves the area: %.1f", i, m.at)
			}
			needed := false
			for k := range i {
				other := mark{at[k], marks[k].radius}
				if i >= stay && m.hides(other) {
					rt.Fatalf("markers %d and %d at %.1f and %.1f hide one another", k, i, other.at, m.at)
				}
				needed = needed || marks[i].hides(other)
			}
			if m.at != marks[i].at && (!needed || i < stay) {
				rt.Fatalf("marker %d was moved from %.1f to %.1f without need", i, marks[i].at, m.at)
			}
		}
	})
}

// Two rows at one place must both be seen, and the one that is moved must be led to where it belongs.
func TestRowsAtOnePlaceAreParted(t *testing.T) {
	l := ParetoLayout{Name: "f", Benchmark: metrics.Average, Cost: CostOfAThousand(), Gain: "hull-gain-points"}
	var text strings.Builder
	for i, label := range []string{"Cheap", "Dear", "First", "Second", "Third"} {
		m := Mark{Label: label, Keys: []metrics.Key{{Name: "method", Value: label}}, Look: Look(max(0, i-2))}
		fmt.Fprintf(&text, "BenchmarkRoute/method=%s/benchmark=avg 1 %d accuracy-%% %g usd/query 0 hull-gain-points\n", label, 60+20*min(i, 1), 0.001+0.01*float64(min(i, 1)))
		if i < 2 {
			l.Experts = append(l.Experts, m)
		} else {
			l.Methods = append(l.Methods, m)
		}
	}
	for _, l.Wide = range []bool{false, true} {
		f, err := Pareto(l, setOf(t, text.String()))
		if err != nil {
			t.Fatal(err)
		}
		paper := newPaper(f.width, f.height)
		f.paint(draw.Crop(draw.New(paper), margin, -margin, margin, -margin))
		spots := f.spots()
		if len(spots) != 10 {
			t.Fatalf("%d spots, want those of 5 rows in 2 panels", len(spots))
		}
		near := func(a, b vg.Point) bool { return math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)) < 0.01 }
		for panel := range 2 {
			dear := spots[5*panel+1].at
			for i, s := range spots[5*panel+2 : 5*panel+5] {
				if !slices.ContainsFunc(paper.strokes, func(p stroke) bool { return near(p.from, dear) && near(p.to, s.at) }) || near(dear, s.at) {
					t.Errorf("panel %d: row %d is drawn at %.1f, not led to %.1f", panel, i, s.at, dear)
				}
			}
		}
	}
}

// hidden says which markers of a plane hide one another; those of fixed experts have names.
func hidden(f *Figure) (out []string) {
	expert := func(s spot) bool {
		return slices.ContainsFunc(f.records, func(record []string) bool {
			return record[1] == "fixed expert" && strings.HasPrefix(s.says, record[0]+": ")
		})
	}
	spots := f.spots()
	for i, a := range spots {
		for _, b := range spots[:i] {
			if expert(a) && expert(b) {
				continue
			}
			if math.Hypot(float64(a.at.X-b.at.X), float64(a.at.Y-b.at.Y)) < float64(1.6*plainMark) {
				out = append(out, fmt.Sprintf("%s and %s are both at %.1f", b.says, a.says, a.at))
			}
		}
	}
	return out
}

func TestTheFirstLookStandsOut(t *testing.T) {
	for i := 1; i < colours; i++ {
		for _, name := range []string{"full", "protanopia", "deuteranopia"} {
			if d := distance(category(0), category(i), visions[name]); d < 2*leastDistance {
				t.Errorf("the first colour and colour %d under %s: %.1f", i, name, d)
			}
		}
	}
	first, other := placed{}, placed{Mark: Mark{Look: 1}}
	if knobLine(first).Width < 2*knobLine(other).Width {
		t.Error("its line is hardly thicker")
	}
	if a, b := (series{first: true}), (series{}); a.line().Width < 1.5*b.line().Width || sweepGlyph(a).Radius < 1.3*sweepGlyph(b).Radius {
		t.Error("its line or its marker in a sweep is hardly thicker")
	}
}
