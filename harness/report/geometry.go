// What lies over what in a drawing.

package report

import (
	"math"

	"gonum.org/v1/plot/vg"
)

func overlapping(a vg.Rectangle) func(vg.Rectangle) bool {
	return func(b vg.Rectangle) bool {
		return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
	}
}

// crosses says whether a line comes into a box.
func crosses(line []vg.Point, box vg.Rectangle) bool {
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		from, to := vg.Length(0), vg.Length(1) // the part of this piece that is left of each side's cut
		for _, side := range [][2]vg.Length{
			{a.X - b.X, a.X - box.Min.X + thickLine}, {b.X - a.X, box.Max.X + thickLine - a.X},
			{a.Y - b.Y, a.Y - box.Min.Y + thickLine}, {b.Y - a.Y, box.Max.Y + thickLine - a.Y},
		} {
			switch {
			case side[0] < 0:
				from = max(from, side[1]/side[0])
			case side[0] > 0:
				to = min(to, side[1]/side[0])
			case side[1] <= 0:
				to = -1
			}
		}
		if from < to {
			return true
		}
	}
	return false
}

// centre is the middle of a sample.
func centre(r vg.Rectangle) vg.Point {
	return vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
}

// nearest says whether a name at a box is read as that of the i-th mark: no other is as near.
func nearest(box vg.Rectangle, i int, marks []vg.Rectangle) bool {
	const clearly = vg.Length(3)
	apart := func(m vg.Rectangle) vg.Length {
		x, y := max(m.Min.X-box.Max.X, box.Min.X-m.Max.X, 0), max(m.Min.Y-box.Max.Y, box.Min.Y-m.Max.Y, 0)
		return vg.Length(math.Hypot(float64(x), float64(y)))
	}
	for k, m := range marks {
		if k != i && apart(m) < apart(marks[i])+clearly {
			return false
		}
	}
	return true
}
