package verify

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// evaluate returns the value of an answer at prec bits.
func evaluate(t testing.TB, answer string, prec uint, complex bool) complexValue {
	t.Helper()
	nodes, err := read(answer, &budget{left: maxSteps})
	if err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	x := numeric{real: real{prec: prec, steps: &budget{left: maxSteps}}, complex: complex}
	v, err := x.value(nodes[0])
	if err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	return v
}

func TestConstantsAreGoodToFiftyDigits(t *testing.T) {
	for answer, want := range map[string]string{
		`\pi`:                   "3.1415926535897932384626433832795028841971693993751",
		"e":                     "2.7182818284590452353602874713526624977572470937000",
		`\ln 2`:                 "0.69314718055994530941723212145817656807550013436026",
		`\sqrt 2`:               "1.4142135623730950488016887242096980785696718753769",
		`\sqrt[3]{2}`:           "1.2599210498948731647672106072782283505702514647015",
		`\sin 1`:                "0.84147098480789650665250232163029899962256306079837",
		`\cos 1`:                "0.54030230586813971740093660744297660373231042061792",
		`\arctan \frac13`:       "0.32175055439664219340140461435866131902075529555766",
		`\cosh 1`:               "1.5430806348152437784779056207570616826015291123659",
		`e^{\pi}`:               "23.140692632779269005729086367948547380266106242600",
		`\log_{10} 2`:           "0.30102999566398119521373889472449302676818988146211",
		`\sum_{k=1}^{9} 1/k`:    "2.8289682539682539682539682539682539682539682539683",
		`\left(-8\right)^{1/3}`: "-2.0000000000000000000000000000000000000000000000000",
	} {
		for _, prec := range []uint{192, 320, 896} {
			got := evaluate(t, answer, prec, false).re.Text('g', 50)
			w, _, err := big.ParseFloat(want, 10, 256, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			g, _, _ := big.ParseFloat(got, 10, 256, big.ToNearestEven)
			if d := new(big.Float).Sub(g, w); d.Sign() != 0 && d.MantExp(nil) > w.MantExp(nil)-155 {
				t.Errorf("%s at %d bits is %s, want %s", answer, prec, got, want)
			}
		}
	}
}

func TestElementaryFunctionsAgreeWithTheStandardLibrary(t *testing.T) {
	functions := map[string]func(float64) float64{
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "arctan": math.Atan, "arcsin": math.Asin, "arccos": math.Acos, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"ln": math.Log, "arsinh": math.Asinh, "arcosh": math.Acosh, "artanh": math.Atanh,
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-0.999, 0.999).Draw(t, "v")
		for name, f := range functions {
			x := numeric{real: real{prec: 192, steps: &budget{left: maxSteps}}}
			arg := v
			switch name {
			case "ln":
				arg = math.Abs(v) + 1e-3
			case "arcosh":
				arg = math.Abs(v) + 1
			}
			got, err := x.realFunction(name, []complexValue{{re: x.float().SetFloat64(arg)}})
			if name == "ln" {
				got, err = x.complexLog(complexValue{re: x.float().SetFloat64(arg)})
			}
			if err != nil {
				t.Fatalf("%s(%v): %v", name, arg, err)
			}
			g, _ := got.re.Float64()
			if want := f(arg); math.Abs(g-want) > 1e-13*(1+math.Abs(want)) {
				t.Fatalf("%s(%v) = %v, want %v", name, arg, g, want)
			}
		}
	})
}

func TestFunctionsUndoTheirInverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-50, 50).Draw(t, "v")
		x := numeric{real: real{prec: 320, steps: &budget{left: maxSteps}}}
		arg := x.float().SetFloat64(v)
		close := func(name string, got *big.Float, err error) {
			if err != nil {
				t.Fatalf("%s(%v): %v", name, v, err)
			}
			if d := x.float().Sub(got, arg); d.Sign() != 0 && d.MantExp(nil) > -240 {
				t.Fatalf("%s(%v) is off by 2^%d", name, v, d.MantExp(nil))
			}
		}
		e, err := x.exp(arg)
		if err != nil {
			t.Fatal(err)
		}
		l, err := x.log(e)
		close("ln exp", l, err)
		s, c, err := x.sincos(arg)
		if err != nil {
			t.Fatal(err)
		}
		one := x.sum(x.product(s, s), x.product(c, c))
		if d := one.Sub(one, x.float().SetInt64(1)); d.Sign() != 0 && d.MantExp(nil) > -250 {
			t.Fatalf("sin^2+cos^2 at %v is off by 2^%d", v, d.MantExp(nil))
		}
		if v != 0 {
			r, err := x.realRoot(x.float().Abs(arg), 7)
			if err != nil {
				t.Fatal(err)
			}
			p := x.power(r, 7)
			if v < 0 {
				p.Neg(p)
			}
			close("7th root", p, nil)
		}
	})
}

func TestCloseValuesAreToldApart(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`\sqrt2`, `\sqrt2+10^{-40}`, "different"},
		{`\sqrt2`, `\sqrt2+10^{-100}`, "different"},
		{`\sqrt2`, `\sqrt2+10^{-400}`, "different"},
		{`e^{\pi\sqrt{163}}`, `262537412640768744`, "different"},
		{`\pi`, `\pi+10^{-80}`, "different"},
		{`\sin x`, `\sin x+10^{-100}`, "different"},
		{`e^{1000}`, `e^{1000}+1`, "different"},
		{`e^{-1000}`, `e^{-1001}`, "different"},
		{`e^{-1000}`, `\frac{1}{e^{1000}}`, "equal"},
		{`2^{1000000}`, `4^{500000}`, "equal"},
		{`2^{1000000}`, `4^{500000}+1`, "different"},
		{`10^{10^{10}}`, `10^{10^{10}}+1`, "different"},
		{`10^{10^{10}}`, `(10^{10^{9}})^{10}`, "equal"},
		{`7^{7^{7^7}}`, `7^{7^{7^7}}`, "equal"},
		{`\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}`, `1`, "equal"},
		{`\sqrt{16-2\sqrt{29}+2\sqrt{55-10\sqrt{29}}}`, `\sqrt{22+2\sqrt5}-\sqrt{11+2\sqrt{29}}+\sqrt5`, "equal"},
		{`\sqrt{16-2\sqrt{29}+2\sqrt{55-10\sqrt{29}}}`, `\sqrt5+\sqrt{22+2\sqrt5}-\sqrt{11+2\sqrt{29}}+10^{-200}`, "different"},
		{`\sqrt5+\sqrt{22+2\sqrt5}`, `\sqrt{11+2\sqrt{29}}+\sqrt{16-2\sqrt{29}+2\sqrt{55-10\sqrt{29}}}`, "equal"}, // Shanks
		{`\cos\frac{\pi}{7}\cos\frac{2\pi}{7}\cos\frac{3\pi}{7}`, `\frac18`, "equal"},
		{`\arctan 1+\arctan 2+\arctan 3`, `\pi`, "equal"},
		{`4\arctan\frac15-\arctan\frac1{239}`, `\frac{\pi}{4}`, "equal"},
		{`\sin(\pi)`, `0`, "equal"},
		{`\sin(10^{-50})`, `0`, "different"},
		{`(1+i)^{8}`, `16`, "equal"},
		{`e^{2\pi i/3}`, `-\frac12+\frac{\sqrt3}{2}i`, "equal"},
		{`e^{2\pi i/3}`, `-\frac12-\frac{\sqrt3}{2}i`, "different"},
		{`i^i`, `e^{-\pi/2}`, "equal"},
	} {
		for _, v := range []Verdict{Equal(c.a, c.b), Equal(c.b, c.a)} {
			if v.Outcome.String() != c.want {
				t.Errorf("%s and %s: %s (%s, %s), want %s", c.a, c.b, v.Outcome, v.Reason, v.Rule, c.want)
			}
		}
	}
}

func TestSeparationBoundIsSound(t *testing.T) {
	// sqrt(a)+sqrt(b)-sqrt(c) for small integers is zero or not below the bound.
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) *node { return call("root", number(rapid.Int64Range(1, 60).Draw(t, name)), number(2)) }
		sum := apply(kindAdd, n("a"), n("b"), negate(n("c")))
		bits, ok := separation(sum, number(0))
		if !ok {
			t.Fatal("no bound")
		}
		x := numeric{real: real{prec: uint(bits) + 512, steps: &budget{left: maxSteps}}}
		v, err := x.value(sum)
		if err != nil {
			t.Fatal(err)
		}
		if m := v.magnitude(); m < -int(bits) && m > -int(bits)-400 {
			t.Fatalf("%s has magnitude 2^%d, below the bound 2^-%v", sum, m, bits)
		}
	})
}

func TestExplanationNamesEveryReason(t *testing.T) {
	for _, r := range Reasons() {
		if r[1] == "" || !strings.Contains((Verdict{Reason: r[0]}).Explain(), r[1]) {
			t.Errorf("reason %q has no meaning", r[0])
		}
	}
}
