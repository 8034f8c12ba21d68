// Marks that would hide one another are parted.

package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// mark is where the marker of a row belongs, and its radius.
type mark struct {
	at     vg.Point
	radius vg.Length
}

// near says whether two markers are closer than a part of the distance at which they touch.
func (m mark) near(other mark, part float64) bool {
	return math.Hypot(float64(m.at.X-other.at.X), float64(m.at.Y-other.at.Y)) < part*float64(m.radius+other.radius)
}

// hides says whether a marker cannot be told from another at a glance.
func (m mark) hides(other mark) bool { return m.near(other, 0.8) }

// parted returns where markers are drawn inside an area, those that come first before others: where they belong, or, if that would
// hide another marker, at a free place nearby, best one to which a straight way leads past other markers. The first n stay anyway.
func parted(area vg.Rectangle, marks []mark, n int) []vg.Point {
	drawn := slices.Clone(marks)
	for i := n; i < len(drawn); i++ {
		if slices.ContainsFunc(drawn[:i], drawn[i].hides) {
			drawn[i].at = beside(area, marks, drawn[:i], i)
		}
	}
	var at []vg.Point
	for _, m := range drawn {
		at = append(at, m.at)
	}
	return at
}

// beside is the place of the i-th marker beside those that are placed. It lies aslant, so that no bar of an interval leads there.
func beside(area vg.Rectangle, marks, placed []mark, i int) vg.Point {
	home := marks[i]
	most := float64(area.Max.X - area.Min.X + area.Max.Y - area.Min.Y)
	others := slices.Concat(placed, marks[i+1:]) // of which later ones may stay where they belong
	for _, past := range []bool{true, false} {
		for distance := 13.0; distance < most; distance++ {
			for _, degrees := range []float64{135, 45, 315, 225, 120, 60, 300, 240, 150, 30, 330, 210} {
				sin, cos := math.Sincos(math.Pi / 180 * degrees)
				m := mark{vg.Point{X: home.at.X + vg.Length(distance*cos), Y: home.at.Y + vg.Length(distance*sin)}, home.radius}
				if m.at.X-m.radius < area.Min.X+2 || m.at.X+m.radius > area.Max.X || m.at.Y-m.radius < area.Min.Y+2 || m.at.Y+m.radius > area.Max.Y {
					continue
				}
				taken := func(other mark) bool {
					r := other.radius
					box := vg.Rectangle{Min: vg.Point{X: other.at.X - r, Y: other.at.Y - r}, Max: vg.Point{X: other.at.X + r, Y: other.at.Y + r}}
					return m.near(other, 1.2) || past && !home.near(other, 1) && crosses([]vg.Point{home.at, m.at}, box)
				}
				if !slices.ContainsFunc(others, taken) {
					return m.at
				}
			}
		}
	}
	return home.at
}
