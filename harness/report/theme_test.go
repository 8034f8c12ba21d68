package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"testing"
)

// visions are ways to see linear red, green and blue: matrices of Machado, Oliveira and Fernandes (2009), table 1, full
// severity, and print without colour.
var visions = map[string][3][3]float64{
	"full":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"grey":         {{0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}},
}

// lab returns lightness and the two colour axes of CIELAB (white of D65) of a colour as somebody sees it.
func lab(c color.RGBA, vision [3][3]float64) (out [3]float64) {
	var linear, seen [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		x := float64(v) / 255
		if linear[i] = x / 12.92; x > 0.04045 {
			linear[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	for i := range 3 {
		for j := range 3 {
			seen[i] += vision[i][j] * linear[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	f := func(r, g, b, white float64) float64 {
		if t := (r*seen[0] + g*seen[1] + b*seen[2]) / white; t > 0.008856 {
			return math.Cbrt(t)
		} else {
			return 7.787*t + 16.0/116
		}
	}
	x, y, z := f(0.4124, 0.3576, 0.1805, 0.9505), f(0.2126, 0.7152, 0.0722, 1), f(0.0193, 0.1192, 0.9505, 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// distance is that of two colours in CIELAB (1976); about 2 is just noticed side by side.
func distance(a, b color.RGBA, vision [3][3]float64) float64 {
	p, q := lab(a, vision), lab(b, vision)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// What thin lines and small markers need to be told apart by colour alone, and by lightness alone.
const (
	leastDistance  = 15
	leastLightness = 10
)

func TestBlackIsAsFarFromWhiteAsLabSays(t *testing.T) {
	for name, v := range visions {
		if d := distance(color.RGBA{A: 255}, color.RGBA{255, 255, 255, 255}, v); math.Abs(d-100) > 0.1 {
			t.Errorf("%s: %.2f, not 100", name, d)
		}
	}
	if d := distance(color.RGBA{R: 255, A: 255}, color.RGBA{G: 255, A: 255}, visions["full"]); math.Abs(d-170.6) > 0.5 {
		t.Errorf("red and green: %.1f, not 170.6", d)
	}
}

func TestColoursAreToldApartByTheColourBlind(t *testing.T) {
	for i := range colours {
		for j := range i {
			for _, name := range []string{"full", "protanopia", "deuteranopia"} {
				if d := distance(category(i), category(j), visions[name]); d < leastDistance {
					t.Errorf("colours %d and %d under %s: %.1f", j, i, name, d)
				}
			}
		}
	}
}

func TestARampIsToldApartByEveryoneAndInGreyPrint(t *testing.T) {
	for n := 2; n <= 6; n++ {
		fills := ramp(n)
		for i := range fills[1:] {
			for name, v := range visions {
				if d := distance(fills[i], fills[i+1], v); d < 9 {
					t.Errorf("%d fills, %d and %d under %s: %.1f", n, i, i+1, name, d)
				}
			}
			if lab(fills[i], visions["grey"])[0] <= lab(fills[i+1], visions["grey"])[0] {
				t.Errorf("%d fills: %d is no lighter than %d", n, i, i+1)
			}
		}
	}
}

func TestSeriesAreToldApartWithoutColour(t *testing.T) {
	for i := range colours {
		for j := range i {
			if slices.Equal(dash(i), dash(j)) {
				t.Errorf("lines %d and %d have one pattern", j, i)
			}
		}
	}
	drawn := map[string]int{}
	for i := range shapes {
		s := fmt.Sprintf("%#v", glyph(i))
		if j, twice := drawn[s]; twice {
			t.Errorf("markers %d and %d are the same", j, i)
		}
		drawn[s] = i
	}
	seen := map[[2]int]Look{}
	for i := range Look(Looks) {
		c, s := i.indices()
		if j, twice := seen[[2]int{c, s}]; twice {
			t.Errorf("looks %d and %d are the same", j, i)
		}
		seen[[2]int{c, s}] = i
	}
	for i := range Look(Looks) {
		for j := range i {
			c, s := i.indices()
			d, u := j.indices()
			if far := distance(category(c), category(d), visions["grey"]); s == u && far < leastLightness {
				t.Errorf("looks %d and %d share a marker and are %.1f apart in grey", j, i, far)
			}
		}
	}
}
