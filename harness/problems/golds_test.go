package problems

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// want is the answer to a final, computed from the numbers its phrase shows. Exactly one way of stating it is used.
type want struct {
	values []float64               // a number, or the members of a set or tuple
	form   string                  // delimiters around the values: "", "{}" or "()"
	holds  func(x float64) bool    // an interval: the condition that its members satisfy
	curve  func(x float64) float64 // a polynomial: its values
	text   string                  // anything else, literally
}

func is(values ...float64) want                { return want{values: values} }
func pair(values ...float64) want              { return want{values: values, form: "()"} }
func setOf(values ...float64) want             { return want{values: values, form: "{}"} }
func interval(holds func(x float64) bool) want { return want{holds: holds} }

// solutions returns the integers of [lo, hi] with a property.
func solutions(lo, hi int64, has func(int64) bool) (xs []float64) {
	for x := lo; x <= hi; x++ {
		if has(x) {
			xs = append(xs, float64(x))
		}
	}
	return xs
}

// chance returns the share of the elements of [0, size) with a property.
func chance(size int64, has func(int64) bool) float64 {
	return float64(count(0, size-1, has)) / float64(size)
}

func power64(b, e int64) int64 { return int64(math.Round(math.Pow(float64(b), float64(e)))) }

// answers computes a final from its phrase and the numbers in it.
var answers = map[string]func(phrase string, n []int64, f []float64) want{
	"arith/average":     func(_ string, n []int64, f []float64) want { return is((f[0] + f[1] + f[2]) / 3) },
	"arith/reciprocals": func(_ string, n []int64, f []float64) want { return is(f[0]/f[1] + f[2]/f[3]) },
	"arith/expression":  func(_ string, n []int64, f []float64) want { return is(f[0]*f[2] + f[1]*f[2] - f[3]) },
	"arith/decimal":     func(_ string, n []int64, f []float64) want { return is(f[0] / f[1]) },
	"arith/cost":        func(_ string, n []int64, f []float64) want { return is(f[0]*(f[1]+f[2]/100) + f[len(f)-1]) },
	"arith/share":       func(_ string, n []int64, f []float64) want { return is(1 - (f[1]+f[2])/(f[0]+f[1]+f[2])) },

	"algebra/solutions": func(_ string, n []int64, f []float64) want {
		return setOf(solutions(n[0]-n[1]-2, n[0]+n[1]+2, func(x int64) bool { return (x-n[0])*(x-n[0]) == n[1]*n[1] })...)
	},
	"algebra/larger root": func(_ string, n []int64, f []float64) want {
		// The root of x^2 - 2 v x + v^2 - D by the quadratic formula.
		return is((2*f[0] + math.Sqrt(4*f[0]*f[0]-4*(f[0]*f[0]-f[1]))) / 2)
	},
	"algebra/quadratic inequality": func(phrase string, n []int64, f []float64) want {
		closed := strings.Contains(phrase, `\le`)
		return interval(func(x float64) bool { y := (x - f[0]) * (x - f[1]); return y < 0 || closed && y == 0 })
	},
	"algebra/absolute value": func(phrase string, n []int64, f []float64) want {
		closed := strings.Contains(phrase, `\le`)
		return interval(func(x float64) bool { y := math.Abs(x - f[0]); return y < f[1] || closed && y == f[1] })
	},
	"algebra/expand": func(_ string, n []int64, f []float64) want {
		return want{curve: func(x float64) float64 { return (x + f[0]) * (x - f[1]) }}
	},
	"algebra/pair": func(phrase string, n []int64, f []float64) want {
		shift := f[2]
		if strings.Contains(phrase, "y -") {
			shift = -shift
		}
		// Cramer's rule for x + k y = v, x - y = shift.
		k, v := f[0], f[1]
		return pair((v*-1-k*shift)/(-1-k), (shift-v)/(-1-k))
	},
	"algebra/rational solution": func(_ string, n []int64, f []float64) want { return is((f[2] - f[1]) / f[0]) },

	"numtheory/prime divisors": func(_ string, n []int64, f []float64) want {
		var ps []float64
		for _, p := range primesOf(total(n)) {
			ps = append(ps, float64(p))
		}
		return setOf(ps...)
	},
	"numtheory/division": func(phrase string, n []int64, f []float64) want {
		dividend, divisor := total(n[:len(n)-1]), n[len(n)-1]
		return pair(float64(count(1, dividend, divides(divisor))), float64(dividend-divisor*count(1, dividend, divides(divisor))))
	},
	"numtheory/square roots": func(_ string, n []int64, f []float64) want {
		v, m := n[len(n)-2], n[len(n)-1]
		return setOf(solutions(0, m-1, func(x int64) bool { return (x*x-v*v)%m == 0 })...)
	},
	"numtheory/last residue": func(_ string, n []int64, f []float64) want { return is(float64(slowPower(n[0], n[1], n[2]))) },
	"numtheory/coprime share": func(_ string, n []int64, f []float64) want {
		s := total(n[1 : 1+(len(n)-1)/2])
		return is(float64(count(1, s, func(x int64) bool { return gcdOf(x, s) == 1 })) / float64(s))
	},
	"numtheory/congruences": func(_ string, n []int64, f []float64) want {
		n = n[len(n)-4:]
		return is(float64(first(0, func(x int64) bool { return (x-n[0])%n[1] == 0 && (x-n[2])%n[3] == 0 })))
	},

	"counting/two red": func(_ string, n []int64, f []float64) want {
		return is(f[0] / (f[0] + f[1]) * (f[0] - 1) / (f[0] + f[1] - 1))
	},
	"counting/expected red": func(_ string, n []int64, f []float64) want {
		return is(f[2] * (1 - f[1]/(f[0]+f[1]))) // linearity: every draw is red with the same probability
	},
	"counting/selections": func(_ string, n []int64, f []float64) want { return is(float64(binomial(n[0], 2)) * f[1]) },
	"counting/at least once": func(_ string, n []int64, f []float64) want {
		sides := n[1]%n[2] + n[0]
		return is(chance(power64(sides, n[3]), func(rolls int64) bool {
			for range n[3] {
				if rolls%sides == 0 {
					return true
				}
				rolls /= sides
			}
			return false
		}))
	},
	"counting/multiples and others": func(phrase string, n []int64, f []float64) want {
		v, a := n[len(n)-2], n[len(n)-1]
		in := count(1, v, divides(a))
		return pair(float64(in), float64(v-in))
	},

	"geometry/diagonal": func(_ string, n []int64, f []float64) want { return is(math.Hypot(f[len(f)-2], f[len(f)-1])) },
	"geometry/equilateral": func(_ string, n []int64, f []float64) want {
		side := f[0] * f[1]
		return is(side * side * math.Sin(math.Pi/3) / 2)
	},
	"geometry/circle": func(_ string, n []int64, f []float64) want { r := float64(total(n)); return is(math.Pi * r * r) },
	"geometry/cone":   func(_ string, n []int64, f []float64) want { return is(math.Pi * f[0] * f[0] * f[1] / 3) },
	"geometry/centroid": func(_ string, n []int64, f []float64) want {
		return pair((f[0]+f[2]+f[4])/3, (f[1]+f[3]+f[5])/3)
	},
	"geometry/reflection": func(_ string, n []int64, f []float64) want {
		// Drop the perpendicular onto x - y + k = 0 and go as far again.
		distance := (f[0] - f[1] + f[2]) / 2
		return pair(f[0]-2*distance, f[1]+2*distance)
	},
	"geometry/third side": func(_ string, n []int64, f []float64) want {
		return interval(func(c float64) bool { return c < f[0]+f[1] && f[0] < f[1]+c && f[1] < f[0]+c })
	},
	"geometry/altitude": func(_ string, n []int64, f []float64) want {
		area, hypotenuse := f[0]*f[1]/2, math.Hypot(f[0], f[1])
		return is(math.Pow(2*area/hypotenuse, 2))
	},

	"seqcalc/series": func(_ string, n []int64, f []float64) want {
		f = f[len(f)-3:]
		v, p, q := f[0], f[1], f[2]
		sum, term := 0.0, v
		for range 3000 {
			sum += term
			term *= p / q
		}
		return is(sum)
	},
	"seqcalc/derivative of": func(_ string, n []int64, f []float64) want {
		g := func(x float64) float64 { return f[0]*x*x*x + f[1]*x*x - f[2]*x }
		return want{curve: func(x float64) float64 { // exact for cubics
			const h = 0.5
			central := func(h float64) float64 { return (g(x+h) - g(x-h)) / (2 * h) }
			return (4*central(h) - central(2*h)) / 3
		}}
	},
	"seqcalc/decreasing": func(_ string, n []int64, f []float64) want {
		return interval(func(x float64) bool { return (x-f[0])*(x-f[1]) < 0 })
	},
	"seqcalc/convergence": func(phrase string, n []int64, f []float64) want {
		squares := strings.Contains(phrase, "n^2")
		return interval(func(x float64) bool {
			ratio := (x - f[0]) / f[1]
			return math.Abs(ratio) < 1 || ratio == -1 || ratio == 1 && squares
		})
	},
	"seqcalc/nested root": func(_ string, n []int64, f []float64) want {
		x := 1.0
		for range 200 {
			x = math.Sqrt(f[len(f)-1] + x)
		}
		return is(x)
	},
	"seqcalc/area": func(_ string, n []int64, f []float64) want {
		g := func(x float64) float64 { return x * (f[0] - x) }
		return is(f[0] / 6 * (g(0) + 4*g(f[0]/2) + g(f[0]))) // Simpson's rule is exact for parabolas
	},

	"linalg/product vector": func(_ string, n []int64, f []float64) want {
		return pair(f[0]*f[4]+f[1]*f[5], f[2]*f[4]+f[3]*f[5])
	},
	"linalg/eigenvalues": func(_ string, n []int64, f []float64) want {
		return setOf(solutions(n[0]-n[1]-2, n[0]+n[1]+2, func(x int64) bool { return det2(n[0]-x, n[1], n[2], n[3]-x) == 0 })...)
	},
	"linalg/largest eigenvalue": func(_ string, n []int64, f []float64) want {
		trace, det := f[0]+f[3], f[0]*f[3]-f[1]*f[2]
		return is((trace + math.Sqrt(trace*trace-4*det)) / 2)
	},
	"linalg/norm": func(_ string, n []int64, f []float64) want { return is(math.Hypot(math.Hypot(f[0], f[1]), f[2])) },
	"linalg/inverse entry": func(_ string, n []int64, f []float64) want {
		// The first column (x, y) of the inverse solves a x + b y = 1, c x + d y = 0.
		a, b, c, d := f[0], f[1], -f[2], f[3]
		return is(1 / (a + b*(-c/d)))
	},
	"linalg/characteristic polynomial": func(_ string, n []int64, f []float64) want {
		return want{curve: func(x float64) float64 { return (x-f[0])*(x-f[3]) - f[1]*-f[2] }}
	},
	"linalg/projection": func(phrase string, n []int64, f []float64) want {
		v, a, b := f[0], f[2], f[3]
		if strings.HasPrefix(phrase, "the coefficient") {
			a, b, v = f[0], f[1], f[2]
		}
		angle := math.Atan2(1, v) - math.Atan2(b, a)
		return is(math.Hypot(v, 1) * math.Cos(angle) / math.Hypot(a, b))
	},

	"logicword/together": func(_ string, n []int64, f []float64) want { return is(1 / (1/f[0] + 1/f[1])) },
	"logicword/hens and rabbits": func(_ string, n []int64, f []float64) want {
		rabbits := first(0, func(r int64) bool { return 4*r+2*(n[0]-r) == n[1] })
		return pair(float64(n[0]-rabbits), float64(rabbits))
	},
	"logicword/possible numbers": func(phrase string, n []int64, f []float64) want {
		groups := []int64{n[2], n[3], n[4]}
		if strings.Contains(phrase, "someone") {
			groups = []int64{n[3], n[2], n[4]}
		}
		return setOf(solutions(1, n[1], func(x int64) bool { return (x-groups[0])%groups[1] == 0 && x%groups[2] == 1 })...)
	},
	"logicword/bricks": func(_ string, n []int64, f []float64) want {
		// k x + p = v + p + x
		return is((f[2] + f[3] - f[1]) / (f[0] - f[4]))
	},
	"logicword/total": func(_ string, n []int64, f []float64) want { return is(f[0]*f[1] + f[2]) },

	"physics/work":     func(_ string, n []int64, f []float64) want { return is(f[0] * f[1]) },
	"physics/heat":     func(_ string, n []int64, f []float64) want { return is(f[2] * f[2] * f[1] * f[0]) },
	"physics/current":  func(_ string, n []int64, f []float64) want { return is(f[1] / f[0]) },
	"physics/parallel": func(_ string, n []int64, f []float64) want { return is(1 / (1/f[0] + 1/f[1])) },

	"chemistry/carbon dioxide": func(_ string, n []int64, f []float64) want { return is(f[0] * f[1] * f[2]) },
	"chemistry/concentration":  func(_ string, n []int64, f []float64) want { return is(f[0] / f[1]) },
	"chemistry/mixture":        func(_ string, n []int64, f []float64) want { return is(1 - f[1]/(f[0]+f[1])) },
	"chemistry/oxygen atoms":   func(_ string, n []int64, f []float64) want { return is(3*f[0] + 2*f[1]) },

	"genetics/unaffected": func(_ string, n []int64, f []float64) want {
		children := n[1]%n[2] + n[0]
		return is(chance(power64(4, children), func(alleles int64) bool { // two of two alleles for every child
			for range children {
				if alleles%4 == 3 {
					return true
				}
				alleles /= 4
			}
			return false
		}))
	},
	"genetics/frequency": func(_ string, n []int64, f []float64) want { return is(math.Pow(f[0]/f[1], 2)) },
	"genetics/carriers":  func(_ string, n []int64, f []float64) want { return is(f[0]*f[1]/2 + f[2]) },
	"genetics/cytosine":  func(_ string, n []int64, f []float64) want { return is(f[0] + f[0] + f[1] + f[1]) },

	"logic/round table": func(phrase string, n []int64, f []float64) want {
		names := strings.Split(phrase[strings.LastIndex(phrase, ": ")+2:], ", ")
		start, _, _ := strings.Cut(phrase[strings.Index(phrase, "seat after ")+len("seat after "):], "'s")
		at := slices.Index(names, start)
		for range n[0] {
			at = (at + 1) % len(names)
		}
		return want{text: names[at]}
	},
	"logic/false rows": func(_ string, n []int64, f []float64) want {
		return is(float64(count(n[0], n[1]*n[2], func(x int64) bool { return !(x > n[3]) || x == n[4]*n[5] })))
	},
	"logic/at most one": func(_ string, n []int64, f []float64) want { return is(f[0] + f[1] + f[2]) },

	"finance/compound": func(_ string, n []int64, f []float64) want {
		balance := f[0] * f[1]
		for range 2 {
			balance += balance * f[2] / 100
		}
		return is(balance)
	},
	"finance/average price": func(_ string, n []int64, f []float64) want {
		return is((f[0]*f[1] + f[2]*f[3]) / (f[0] + f[2]))
	},
	"finance/heirs": func(_ string, n []int64, f []float64) want { return is(f[1] / f[0]) },
	"finance/net":   func(_ string, n []int64, f []float64) want { return is(f[0] * f[1] * (1 - f[2]/100)) },

	"units/metres a second": func(_ string, n []int64, f []float64) want { return is(f[0] * 1000 / 3600) },
	"units/area":            func(_ string, n []int64, f []float64) want { return is(f[0]*f[2]*f[2] + f[1]) },
	"units/volume":          func(_ string, n []int64, f []float64) want { return is(f[0]*1000 + f[1]) },
	"units/minutes":         func(_ string, n []int64, f []float64) want { return is((f[0]*24+f[1])*60 + f[2]) },

	"dates/date": func(phrase string, n []int64, f []float64) want {
		start, _, _ := strings.Cut(phrase[strings.Index(phrase, "after ")+len("after "):], ",")
		day, err := time.Parse("2 January 2006", start+" 2023")
		if err != nil {
			panic(err)
		}
		days := n[0] % 365
		for ; days > 0; days-- {
			if day = day.AddDate(0, 0, 1); day.Format("2 January") == "29 February" {
				day = day.AddDate(0, 0, 1)
			}
		}
		return want{text: day.Format("2 January")}
	},
	"dates/day total": func(_ string, n []int64, f []float64) want { return is(f[0]*f[1] + 7*f[2]) },
	"dates/meeting": func(_ string, n []int64, f []float64) want {
		return is(float64(first(1, func(day int64) bool { return day%n[0] == 0 && day%n[1] == 0 })))
	},

	"codes/caesar": func(phrase string, n []int64, f []float64) want {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		plain := strings.Fields(phrase)[3]
		return want{text: strings.Map(func(c rune) rune {
			return rune(alphabet[(strings.IndexRune(alphabet, c)+int(n[0]))%len(alphabet)])
		}, plain)}
	},
	"codes/hexadecimal": func(_ string, n []int64, f []float64) want {
		return want{text: strings.ToUpper(strconv.FormatInt(total(n), 16))}
	},
	"codes/parity": func(_ string, n []int64, f []float64) want {
		digits := []byte(fmt.Sprintf("%08b", n[0]+n[1]))
		copy(digits[len(digits)-4:], "0000")
		return is(float64(binary(string(digits))))
	},
}

func TestEveryGoldIsTheAnswerToItsQuestion(t *testing.T) {
	for _, top := range append(mathTopics(), choiceTopics()...) {
		for _, fin := range top.finals {
			name := top.id + "/" + fin.name
			t.Run(name, func(t *testing.T) {
				again := answers[name]
				if again == nil {
					t.Fatal("no independent computation of this final; add one to answers")
				}
				used := 0
				drafts(func(d *draft, v int64) {
					phrase, ans := fin.write(d, v)
					if v > fin.upTo || phrase == "" {
						return
					}
					used++
					n := numbersOf(phrase, v)
					f := make([]float64, len(n))
					for i := range n {
						f[i] = float64(n[i])
					}
					if err := again(phrase, n, f).check(ans.gold); err != nil {
						t.Fatalf("v = %d: %s\ngold %s: %v", v, phrase, ans.gold, err)
					}
					if err := inLowestTerms(ans.gold); err != nil {
						t.Fatalf("v = %d: %s\ngold %s: %v", v, phrase, ans.gold, err)
					}
				})
				if used < 20 {
					t.Errorf("the final suited only %d of 240 drafts", used)
				}
			})
		}
	}
}

// check compares a gold with the wanted answer.
func (w want) check(gold string) error {
	switch {
	case w.text != "":
		if gold != w.text {
			return fmt.Errorf("want %s", w.text)
		}
		return nil
	case w.curve != nil:
		for _, x := range []float64{-3, 0.5, 2, 11} {
			if got, y := evaluate(gold, x), w.curve(x); !near(got, y) {
				return fmt.Errorf("at x = %v it is %v, want %v", x, got, y)
			}
		}
		return nil
	case w.holds != nil:
		ends := strings.Split(gold[1:len(gold)-1], ", ")
		lo, hi := evaluate(ends[0], 0), evaluate(ends[1], 0)
		for _, at := range []struct {
			x    float64
			want bool
		}{{lo - 0.5, false}, {lo, gold[0] == '['}, {(lo + hi) / 2, true}, {lo + 1e-3, true}, {hi - 1e-3, true}, {hi, gold[len(gold)-1] == ']'}, {hi + 0.5, false}} {
			if w.holds(at.x) != at.want {
				return fmt.Errorf("membership of %v is wrong", at.x)
			}
		}
		return nil
	}
	parts := []string{gold}
	switch w.form {
	case "{}":
		parts = strings.Split(strings.TrimSuffix(strings.TrimPrefix(gold, `\{`), `\}`), ", ")
	case "()":
		parts = strings.Split(gold[1:len(gold)-1], ", ")
	}
	if len(parts) != len(w.values) {
		return fmt.Errorf("want %v", w.values)
	}
	for i, part := range parts {
		if !near(evaluate(part, math.NaN()), w.values[i]) {
			return fmt.Errorf("part %d is %v, want %v", i, evaluate(part, math.NaN()), w.values[i])
		}
	}
	return nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// inLowestTerms fails on a fraction that can be reduced and on a root with a square factor.
func inLowestTerms(gold string) error {
	for rest := gold; ; {
		i := strings.Index(rest, `\frac{`)
		if i < 0 {
			break
		}
		rest = rest[i+len(`\frac{`):]
		var a, b int64
		if k, _ := fmt.Sscanf(rest, "%d}{%d}", &a, &b); k == 2 && gcdOf(a, b) != 1 {
			return fmt.Errorf("%d/%d can be reduced", a, b)
		}
	}
	for rest := gold; ; {
		i := strings.Index(rest, `\sqrt{`)
		if i < 0 {
			return nil
		}
		rest = rest[i+len(`\sqrt{`):]
		var n int64
		fmt.Sscanf(rest, "%d}", &n)
		for s := int64(2); s*s <= n && s < 4000; s++ {
			if n%(s*s) == 0 {
				return fmt.Errorf("the root of %d can be simplified", n)
			}
		}
	}
}

// evaluate computes a gold at x in floating point: sums of products of numbers, x, \pi, \sqrt{} and \frac{}{}.
func evaluate(tex string, x float64) float64 {
	p := &evaluator{rest: tex, x: x}
	v := p.sum()
	if p.rest != "" {
		panic(fmt.Sprintf("cannot evaluate %q from %q on", tex, p.rest))
	}
	return v
}

type evaluator struct {
	rest string
	x    float64
}

func (p *evaluator) skip(prefix string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *evaluator) sum() float64 {
	sign := 1.0
	if p.skip("-") {
		sign = -1
	}
	v := sign * p.product()
	for {
		switch {
		case p.skip("+"):
			v += p.product()
		case p.skip("-"):
			v -= p.product()
		default:
			return v
		}
	}
}

func (p *evaluator) product() float64 {
	v := 1.0
	for {
		switch {
		case p.skip(`\pi`):
			v *= math.Pi
		case p.skip("x^{"):
			v *= math.Pow(p.x, p.group())
		case p.skip("x"):
			v *= p.x
		case p.skip(`\sqrt{`):
			v *= math.Sqrt(p.group())
		case p.skip(`\frac{`):
			num := p.group()
			p.skip("{")
			v *= num / p.group()
		default:
			end := strings.IndexFunc(p.rest, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
			if end < 0 {
				end = len(p.rest)
			}
			if end == 0 {
				return v
			}
			n, err := strconv.ParseFloat(p.rest[:end], 64)
			if err != nil {
				panic(err)
			}
			p.rest = p.rest[end:]
			v *= n
		}
	}
}

// group evaluates up to the closing brace of a group whose opening brace has been read.
func (p *evaluator) group() float64 {
	v := p.sum()
	p.skip("}")
	return v
}
