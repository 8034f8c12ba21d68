// Topic geometry.

package problems

import "fmt"

func geometry() *topic {
	return &topic{
		id: "geometry",
		settings: []string{
			"This problem is about lengths, areas and angles.",
			"All figures lie in the Euclidean plane unless a solid is named.",
			"A ruler and a compass lie on the desk.",
			"The chapter treats triangles, circles and polygons.",
			"Coordinates refer to the usual Cartesian axes.",
			"It helps to draw a figure first.",
			"Pythagoras would have enjoyed this question.",
			"The surveyor measures a piece of land.",
		},
		links: []link{
			{"rectangle", maxValue / 10_000_000, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf(d.pick("the area of a rectangle with side lengths $@$ and $%d$", "the area of a parallelogram with base $@$ and corresponding height $%d$"), p), v * p
			}},
			{"perimeter", maxValue / 4, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf(d.pick("the perimeter of a rectangle with side lengths $@$ and $%d$", "the perimeter of a kite that has two sides of length $@$ and two sides of length $%d$"), p), 2 * (v + p)
			}},
			{"hypotenuse", 700_000, func(d *draft, v int64) (string, int64) {
				p := d.sizeUpTo(700_000)
				return fmt.Sprintf(d.pick("the square of the length of the hypotenuse of a right triangle with legs $@$ and $%d$", "the area of the square erected on the diagonal of a rectangle with sides $@$ and $%d$"), p), v*v + p*p
			}},
			{"shoelace", maxValue / 30_000_000, func(d *draft, v int64) (string, int64) {
				b, x, y := d.few(), d.few(), d.size()
				return fmt.Sprintf(d.pick("twice the area of the triangle with vertices $(0, 0)$, $(@, %d)$ and $(%d, %d)$", "the area of the parallelogram spanned from the point $(0, 0)$ by the vectors $(@, %d)$ and $(%d, %d)$"), b, x, y), abs(v*y - b*x)
			}},
			{"angle sum", maxValue / 200, func(d *draft, v int64) (string, int64) {
				return d.pick("the sum, in degrees, of the interior angles of a convex polygon with $@$ sides", "the number of degrees in the sum of all interior angles of a simple polygon with $@$ corners"), 180 * (v - 2)
			}},
			{"grid", maxValue / 20_000_000, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf(d.pick("the number of points with integer coordinates inside or on the rectangle with opposite corners $(0, 0)$ and $(@, %d)$", "the number of pairs of integers that are the coordinates of a point in the closed rectangle spanned by $(0, 0)$ and $(@, %d)$"), p), (v + 1) * (p + 1)
			}},
			{"segment", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				p := k * d.size()
				return fmt.Sprintf(d.pick(`the number of lattice points on the segment from $(0, 0)$ to $(%d \cdot @, %d)$, both ends included`, `the number of points with two integer coordinates on the straight segment that joins $(0, 0)$ and $(%d \cdot @, %d)$, ends included`), k, p), gcd(k*v, p) + 1
			}},
			{"similar", maxValue / 200, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf(d.pick("the area of the image of a triangle under a dilation by the factor $%d$, if the triangle has area $@$", "the area of a polygon whose sides are $%d$ times as long as those of a similar polygon of area $@$"), k), k * k * v
			}},
			{"square side", maxValue, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				return fmt.Sprintf(d.pick("the largest integer side length of a square whose area is at most $%s$", "the greatest integer $n$ such that a square of side $n$ has area not exceeding $%s$"), tex), isqrt(n)
			}},
			{"regions", 1_000_000, func(d *draft, v int64) (string, int64) {
				return d.pick("the number of regions into which $@$ straight lines in general position divide the plane", "the largest number of parts into which $@$ straight cuts can divide a disc"), v*(v+1)/2 + 1
			}},
			{"triangle count", maxValue, func(d *draft, v int64) (string, int64) {
				p := d.size()
				// The third side lies strictly between |v-p| and v+p.
				return fmt.Sprintf(d.pick("the number of integers that can be the length of the third side of a triangle with sides $@$ and $%d$", "the number of possible integer lengths of one side of a triangle whose other sides measure $@$ and $%d$"), p), 2*min(v, p) - 1
			}},
		},
		finals: []final{
			{"diagonal", 900_000, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(900_000)
				return fmt.Sprintf(d.pick("the length of the diagonal of a rectangle with sides $@$ and $%d$, in simplest radical form", "the exact distance from $(0, 0)$ to $(@, %d)$, with the radical simplified"), p), answer{gold: radical(1, v*v+p*p)}
			}},
			{"equilateral", 80_000, func(d *draft, v int64) (string, answer) {
				k := d.few()
				n := k * v
				gold := `\frac{` + times(n*n, 3) + "}{4}"
				if n%2 == 0 {
					gold = times(n*n/4, 3)
				}
				return fmt.Sprintf(d.pick(`the exact area of an equilateral triangle with side length $%d \cdot @$`, `the exact area of a triangle all of whose sides have length $%d \cdot @$`), k), answer{gold: gold}
			}},
			{"circle", 900_000, func(d *draft, v int64) (string, answer) {
				n, tex := d.grow(v, 1_000_000)
				return fmt.Sprintf(d.pick(`the area of a circle of radius $%s$ in terms of $\pi$`, `the exact area of a disc with radius $%s$`), tex), answer{gold: itoa(n*n) + `\pi`}
			}},
			{"cone", 9_000, func(d *draft, v int64) (string, answer) {
				h := d.sizeUpTo(9_999)
				n := v * v * h
				gold := itoa(n/3) + `\pi`
				if n%3 != 0 {
					gold = `\frac{` + itoa(n) + `\pi}{3}`
				}
				return fmt.Sprintf(d.pick(`the volume of a right circular cone of base radius $@$ and height $%d$ in terms of $\pi$`, `the exact volume of a cone with circular base of radius $@$ and height $%d$`), h), answer{gold: gold}
			}},
			{"centroid", maxValue, func(d *draft, v int64) (string, answer) {
				a, b, c := d.size(), d.size(), d.few()
				return fmt.Sprintf(d.pick("the centroid of the triangle with vertices $(@, 0)$, $(%d, %d)$ and $(0, %d)$", "the point where the medians of the triangle with vertices $(@, 0)$, $(%d, %d)$ and $(0, %d)$ meet"), a, b, c),
					answer{gold: "(" + fraction(v+a, 3) + ", " + fraction(b+c, 3) + ")"}
			}},
			{"reflection", maxValue, func(d *draft, v int64) (string, answer) {
				p, k := d.size(), d.few()
				return fmt.Sprintf(d.pick("the mirror image of the point $(@, %d)$ in the line $y = x + %d$", "the point obtained by reflecting $(@, %d)$ across the line $y = x + %d$"), p, k), answer{gold: tuple(p-k, v+k)}
			}},
			{"third side", maxValue / 2, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf(d.pick("the open interval of all possible lengths of the third side of a non-degenerate triangle with sides $@$ and $%d$", "the set of possible lengths, as an interval, of one side of a non-degenerate triangle whose other sides measure $@$ and $%d$"), p),
					answer{gold: fmt.Sprintf("(%d, %d)", abs(v-p), v+p)}
			}},
			{"altitude", 999, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(999)
				return fmt.Sprintf(d.pick("the altitude to the hypotenuse, squared and in lowest terms, of a right triangle with legs $@$ and $%d$", "the square of the distance, in lowest terms, from the right angle to the hypotenuse in a right triangle with legs $@$ and $%d$"), p),
					answer{gold: fraction(v*v*p*p, v*v+p*p)}
			}},
		},
	}
}
