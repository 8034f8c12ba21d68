package verify

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile returns inputs made to hang, crash or exhaust a grader: response, against which gold, and whether the pair
// may be equal.
func hostile() []struct{ name, gold, response string } {
	type pair = struct{ name, gold, response string }
	box := func(s string) string { return `\boxed{` + s + `}` }
	rep := strings.Repeat
	var matrix, list, sum strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&matrix, "%d", i)
		if i%50 == 49 {
			matrix.WriteString(`\\`)
		} else {
			matrix.WriteString("&")
		}
		fmt.Fprintf(&list, "%d, ", i)
		fmt.Fprintf(&sum, "+\\sqrt{%d}", i+2)
	}
	continued := "x"
	for range 100 {
		continued = `1+\frac{1}{` + continued + `}`
	}
	radicals := "2"
	for range 100 {
		radicals = `\sqrt{2+` + radicals + `}`
	}
	return []pair{
		{"tower of tens", "5", box("10^{10^{10}}")},
		{"tower of four", "5", box("9^{9^{9^9}}")},
		{"two towers", box("10^{10^{10}}"), box("10^{10^{10}}+1")},
		{"plain tower", "5", "9^9^9^9"},
		{"huge exponent", "5", box("2^{99999999999}")},
		{"huge exponents", "3^{99999999999}", box("2^{99999999999}")},
		{"iterated factorial", "5", box("(((9!)!)!)")},
		{"factorial of ten million", "5", box("10000000!")},
		{"two factorials", "10000000!", box("10000000!+1")},
		{"central binomial", "5", box(`\binom{1000000000}{500000000}`)},
		{"long sum", "5", box(`\sum_{k=1}^{1000000000} k`)},
		{"nested sums", "5", box(`\sum_{k=1}^{1000}\sum_{j=1}^{1000}\sum_{m=1}^{1000} kjm`)},
		{"nested sums of roots", "5", box(`\sum_{k=1}^{1000}\sum_{j=1}^{1000} \sqrt{k+j}`)},
		{"exponential tower", "5", box("\\sin(e^{e^{e^{e^3}}})")},
		{"logarithm of a tower", "5", box(`\log_2\log_2 2^{2^{2^{2^{2^2}}}}`)},
		{"expansion", "(x+y+z+w)^{40}", box("(w+z+y+x)^{40}+1")},
		{"power of a power", "x", box("((((x^{99})^{99})^{99})^{99})^{99}")},
		{"trigonometric powers", `\sin^{20}x\cos^{20}x`, box(`(\sin x\cos x)^{20}`)},
		{"many variables", "a", box(strings.Join(strings.Split("abcdfghjklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", ""), "+"))},
		{"parentheses", "5", box(rep("(", 2000) + "5" + rep(")", 2000))},
		{"open parentheses", "5", box(rep("(", 20000))},
		{"braces", "5", box(rep("{", 5000) + "5" + rep("}", 5000))},
		{"open braces", "5", rep(`\boxed{`, 20000)},
		{"minus signs", "5", box(rep("-", 30000) + "5")},
		{"fractions", "5", box(rep(`\frac`, 10000))},
		{"short fractions", "5", box(rep(`\frac12`, 6000))},
		{"divisions", "5", box("1" + rep("/2", 20000))},
		{"exponents", "5", box("2" + rep("^2", 20000))},
		{"continued fraction", "5", box(continued)},
		{"nested radicals", "2", box(radicals)},
		{"sides", "5", box("5" + rep(" by 5", 5000))},
		{"numbers between others", "5", box(rep("(between 1 and ", 3000) + "5" + rep(")", 3000))},
		{"brackets behind numbers", "5", box(rep("2 (", 60) + "x" + rep(")", 60))},
		{"huge product in brackets", "5", box("2 (" + rep("1e99999*", 3000) + "1)")},
		{"heads of sets", "5", box(rep(`\{`, 30) + "x" + rep(`| \}`, 30))},
		{"remainders", "5", box("5" + rep(" R 5", 5000))},
		{"digits", "5", box(rep("9", 200000))},
		{"digits below the cap", "5", box(rep("9", 60000))},
		{"product of digits", "5", box(rep("9", 10000) + rep(`\cdot`+rep("9", 10000), 4))},
		{"decimal exponent", "5", box("1e99999")},
		{"long decimal", "5", box("0." + rep("9", 60000))},
		{"list", "5", box(list.String())},
		{"two lists", list.String(), box("1, " + list.String())},
		{"two shuffled lists", list.String(), box(strings.Replace(list.String(), "0, ", "", 1) + " 0")},
		{"sets", `\{` + list.String() + `1\}`, box(`\{1,` + list.String() + `1\}`)},
		{"matrix", "5", box(`\begin{pmatrix}` + matrix.String() + `\end{pmatrix}`)},
		{"determinant", "5", box(`\begin{vmatrix}` + matrix.String() + `\end{vmatrix}`)},
		{"sum of roots", "5", box(sum.String())},
		{"sums of roots", sum.String(), box(sum.String() + "+10^{-40}")},
		{"boxes", "5", rep(`\boxed{1}`, 30000)},
		{"nested boxes", "5", rep(`\boxed{`, 3000) + "1" + rep("}", 3000)},
		{"dollars", "5", rep("$", 100000)},
		{"dollars in a box", "5", box(rep("$", 30000))},
		{"stars in a box", "5", box(rep("*", 15000) + "5" + rep("*", 15000))},
		{"boxes in a gold", rep(`\boxed{`, 4000) + "5" + rep("}", 4000), box("6")},
		{"spaced digits", "5", rep("1 000 ", 30000)},
		{"prose", "5", rep("some words without any answer ", 10000)},
		{"newlines", "5", rep("\n", 300000)},
		{"answers", "5", rep("answer ", 50000)},
		{"answer is", "5", rep("the answer is ", 50000)},
		{"think tags", "5", rep("<think>", 50000)},
		{"texts", "5", box(rep(`\text{`, 10000) + "5" + rep("}", 10000))},
		{"open texts", "5", box(rep(`\text{`, 10000))},
		{"phantoms", "5", box(rep(`\phantom{`, 7000))},
		{"subscripts", "5", box("x" + rep("_x", 30000))},
		{"primes", "5", box("x" + rep("'", 60000))},
		{"absolute values", "5", box(rep("|", 30000))},
		{"intervals", "5", box(rep(`(1,2)\cup`, 3000) + "(1,2)")},
		{"different intervals", "(1,2)", box(intervals(400))},
		{"plus-minus", "5", box(rep(`\pm 1 `, 5000))},
		{"greek", "5", box(rep(`\alpha\beta`, 3000))},
		{"environments", "5", box(rep(`\begin{cases}`, 3000))},
		{"zero division", "5", box("1/0")},
		{"zero by zero", "5", box("0/0")},
		{"infinite product", "5", box(`\infty-\infty`)},
		{"control characters", "5", box("\x00\x01\u202e5\u200b\ufeff")},
		{"invalid UTF-8", "5", box("\xff\xfe5\x80")},
		{"python", "5", box(`1+1 __import__("os").system("true")`)},
		{"random bytes", "5", box("\\\\\\{}{}$$^^__&&##%%~~``''\"\"")},
		{"quotes", "5", box(rep(`5"`, 20000))},
		{"chain", "5", box("5" + rep("=5", 20000))},
		{"equations", "x=1", box(rep("x=1,", 4000) + "x=1")},
		{"square roots of products", `\sqrt{x}`, box(rep(`\sqrt{x}`, 3001))},
		{"mixed radicals", `\sqrt2+\sqrt3`, box(rep(`\sqrt[64]{2}+`, 200) + "1")},
		{"gamma of a large argument", "5", box(`\cos(10^{1000})`)},
		{"small number", "5", box("10^{-100000}")},
		{"two small numbers", "e^{-100000}", box("e^{-100001}")},
	}
}

func intervals(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(`\cup`)
		}
		fmt.Fprintf(&b, "(%d,%d)", 2*i, 2*i+1)
	}
	return b.String()
}

func TestHostileInputsEndWithinTheirBudget(t *testing.T) {
	for _, h := range hostile() {
		v := Grade(h.gold, h.response)
		if v.Outcome == OutcomeEqual && !strings.Contains("nested radicals trigonometric powers control characters chain equations sets braces texts invalid UTF-8 two shuffled lists stars in a box", h.name) {
			t.Errorf("%s: graded equal by %s", h.name, v.Rule)
		}
		if w := Grade(h.gold, h.response); w != v {
			t.Errorf("%s: a second look says %s instead of %s", h.name, w.Outcome, v.Outcome)
		}
	}
}

// hostileTerm returns a random formula that nests what is dear to compute.
func hostileTerm(r *rand.Rand, depth int) string {
	if depth == 0 {
		leaves := []string{"x", "n", `\pi`, "e", "i", "9", "99999999", "0.123456789123456789", "10^{100}", `\sqrt{2}`, `\frac{355}{113}`, "1e-300", `\phi`, "123456789^{99}"}
		return leaves[r.IntN(len(leaves))]
	}
	a := func() string { return hostileTerm(r, depth-1) }
	forms := []string{"(A)^{A}", `\sqrt{A}`, `\sqrt[61]{A}`, `\sin(A)`, `\log_{A}(A)`, `\arctan(A)`, "e^{A}", `\lfloor A\rfloor`, `\sum_{k=1}^{17000}(A+k)`, `\prod_{k=1}^{2500}(A)`, `\binom{A}{A}`, "(A)!",
		`\gcd(A,A)`, `\gcd(A)`, `\gcd(A,A,A)`, `(A) \bmod (A)`, `\frac{A}{A}`, "(A)+(A)", "(A)-(A)", "(A)(A)", `\tanh(A)`, `\ln(A)`, "|A|", `\max(A,A)`, `\arcsin(A)`, `\begin{vmatrix}A&A\\A&A\end{vmatrix}`, `\pm A`}
	var b strings.Builder
	for _, c := range forms[r.IntN(len(forms))] {
		if c == 'A' {
			b.WriteString(a())
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// hostilePair returns a random pair of long answers of hostile terms that are nearly the same.
func hostilePair(seed uint64) (gold, answer string) {
	r := rand.New(rand.NewPCG(11, seed))
	separators := []string{", ", "=", "<", `\cup`, "+", ` \text{ or } x=`}
	separator := separators[r.IntN(len(separators))]
	terms := make([]string, 1+r.IntN(40))
	for i := range terms {
		terms[i] = hostileTerm(r, 1+r.IntN(5))
		if separator == `\cup` {
			terms[i] = "(" + terms[i] + "," + hostileTerm(r, 1) + ")"
		}
	}
	gold = strings.Join(terms, separator)
	return gold, strings.Replace(gold, "9", "8", 1)
}

// allocated is all that a verdict allocates, in bytes, which is more than it holds at any time.
func allocated(gold, response string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Grade(gold, response)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// eachHostile calls f with every hostile input and with generated ones.
func eachHostile(f func(name, gold, response string)) {
	for _, h := range hostile() {
		f(h.name, h.gold, h.response)
	}
	for seed := range uint64(150) {
		gold, answer := hostilePair(seed)
		f(fmt.Sprint("generated pair ", seed), gold, `\boxed{`+answer+"}")
	}
}

func TestHostileInputsTakeLittleMemory(t *testing.T) {
	const most = 48 << 20
	eachHostile(func(name, gold, response string) {
		if used := allocated(gold, response); used > most {
			t.Errorf("%s: %d MB", name, used>>20)
		}
	})
}

// BenchmarkHostileMemory reports the most that a verdict on a hostile input allocates: a bound on its peak.
func BenchmarkHostileMemory(b *testing.B) {
	var most uint64
	for b.Loop() {
		eachHostile(func(_, gold, response string) { most = max(most, allocated(gold, response)) })
	}
	b.ReportMetric(float64(most)/1e6, "most-MB")
}

func TestGeneratedHostilePairsGetTheSameVerdictTwice(t *testing.T) {
	for seed := range uint64(60) {
		gold, answer := hostilePair(seed)
		v := Equal(gold, answer)
		if w := Equal(gold, answer); v != w {
			t.Errorf("pair %d: %s and then %s", seed, v.Outcome, w.Outcome)
		}
	}
}

// BenchmarkHostilePairs grades generated pairs and reports the slowest.
func BenchmarkHostilePairs(b *testing.B) {
	slowest, seed := time.Duration(0), uint64(0)
	for b.Loop() {
		gold, answer := hostilePair(seed)
		start := time.Now()
		Equal(gold, answer)
		slowest = max(slowest, time.Since(start))
		seed++
	}
	b.ReportMetric(float64(slowest.Microseconds()), "slowest-us")
}

// BenchmarkHostile reports the time of the worst hostile input.
func BenchmarkHostile(b *testing.B) {
	for _, h := range hostile() {
		b.Run(strings.ReplaceAll(h.name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Grade(h.gold, h.response)
			}
		})
	}
}
