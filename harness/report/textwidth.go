// How wide a text is in Times.

package report

import "strings"

// Widths of the signs of Times from the space to the tilde, in thousandths of the type size.
var times = [...]int{
	250, 333, 408, 500, 500, 833, 778, 333, 333, 333, 500, 564, 250, 333, 250, 278, // space to /
	500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, // 0 to ?
	921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722, // @ to O
	556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, // P to _
	333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, // ` to o
	500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541, //      p to ~
}

// Widths of signs outside that range: those of mathematics, and any other.
const (
	mathSign  = 778
	otherSign = 600
)

// textWidth is how wide s is in Times of a size, in the unit of the size.
func textWidth(s string, size float64) float64 {
	total := 0
	for _, r := range s {
		switch i := int(r - ' '); {
		case i >= 0 && i < len(times):
			total += times[i]
		case strings.ContainsRune("±×−≤≥", r):
			total += mathSign
		default:
			total += otherSign
		}
	}
	return float64(total) * size / 1000
}

// boldness is how much wider bold Times is, at most.
const boldness = 1.1
