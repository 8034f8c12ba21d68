package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// identityMatrix writes the unit matrix of so many rows.
func identityMatrix(n int) string {
	var b strings.Builder
	b.WriteString(`\det\begin{pmatrix}`)
	for i := range n {
		for j := range n {
			if j > 0 {
				b.WriteByte('&')
			}
			if i == j {
				b.WriteByte('1')
			} else {
				b.WriteByte('0')
			}
		}
		b.WriteString(`\\`)
	}
	b.WriteString(`\end{pmatrix}`)
	return b.String()
}

func integersFrom(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// Every limit, met by a pair that is the same: the verdict is unknown and never different.
func TestBeyondALimitTheVerdictIsUnknown(t *testing.T) {
	rep := strings.Repeat
	for _, c := range []struct{ limit, a, b string }{
		{"maxAnswer", "5", "5+0" + rep(" ", formula.MaxAnswer) + "+0"},
		{"maxTokens", "1", rep("1*", 8192) + "1"},
		{"maxDepth", "5", rep("(", 201) + "5" + rep(")", 201)},
		{"maxBits of a numeral", "2", rep("1", formula.MaxBits) + "-" + rep("1", formula.MaxBits-1) + "0+1"},
		{"maxBits of a power", `3^{10^6}+\sqrt2`, `\sqrt2+9^{500000}+0\cdot\lfloor\pi\rfloor`},
		{"maxBits of a factorial", `\lfloor\frac{10001!}{10001}\rfloor\bmod 10^{30}+1`, `(10000!+0)\bmod 10^{30}+1+\lfloor\frac{1}{10001}\rfloor`},
		{"maxBits of a quotient", `\lfloor 10^{30000}/3\rfloor`, `\frac{10^{30000}-1}{3}`},
		{"maxTerms of a sum", `\sum_{k=1}^{50000} k`, `1250025000`},
		{"maxTerms of a list", `\{1,2,\ldots,100000\}`, `\{1,2,3,\ldots,100000\}`},
		{"maxElements", `\{` + integersFrom(formula.MaxElements+1) + `\}`, `\{0,1,2,\ldots,4096\}`},
		{"maxSteps", `\sum_{k=1}^{15000}\sum_{j=1}^{15000} kj`, `12656250000000000+\sum_{k=1}^{15000}\sum_{j=1}^{15000} (kj-kj)+1687612500000000+56257500000000`},
		{"maxSigns", `\pm1\pm2\pm4\pm8\pm16`, `\pm16\pm8\pm4\pm2\pm1+0`},
		{"maxElimination", identityMatrix(65), "1"},
		{"precision", `\pi+e^{-10^5}\sin 1`, `\pi+e^{-100000}\cos(\frac{\pi}{2}-1)+\frac{\ln 2}{\log_3 2}-\ln 3`},
		{"degree of an identity", `((((x^{999})^{999})^{999})^{999})^{999}`, `((((x\cdot x^{998})^{999})^{999})^{999})^{999}`},
		{"size of an interval's end", `[1,3^{10^6}]`, `1\le x\le 9^{500000}`},
		{"period", "0." + rep("1", formula.MaxAnswer/2+1) + `\overline{1}`, `\frac19`},
	} {
		for _, p := range [2][2]string{{c.a, c.b}, {c.b, c.a}} {
			if v := Equal(p[0], p[1]); v.Outcome == OutcomeDifferent {
				t.Errorf("%s: %.60s and %.60s: different (%s, %s)", c.limit, p[0], p[1], v.Reason, v.Rule)
			} else if v.Outcome == OutcomeEqual {
				t.Logf("%s: %.60s and %.60s are within reach: %s", c.limit, p[0], p[1], v.Rule)
			}
		}
	}
}

// What looks too large and is not.
func TestWithinReachOfTheLimits(t *testing.T) {
	rep := strings.Repeat
	for _, c := range [][3]string{
		{identityMatrix(20), "1", "2"},
		{identityMatrix(40), "1", "0"},
		{`2^{100000} \bmod 3`, "1", "2"},
		{`7^{10^{18}} \bmod 10`, "1", "7"},
		{`3^{3^{3^3}} \bmod 100`, "87", "27"},
		{`(2^{100000}+5) \bmod 1000003`, `6+(2^{100000} \bmod 1000003)-1`, `2^{100000} \bmod 1000003`},
		{`123456789^{987654} \bmod (10^{30}+57)`, `123456789^{987654}\bmod (10^{30}+57)+0`, `123456789^{987655} \bmod (10^{30}+57)`},
		{`\gcd(2^{100000},6^{50000})`, `2^{50000}`, `2^{50001}`},
		{`\gcd(12^{40000},18^{10000})`, `2^{10000}\cdot 3^{20000}`, `6^{10000}`},
		{`\operatorname{lcm}(2^{30000},4^{10000})`, `2^{30000}`, `4^{10000}`},
		{`0.\overline{` + rep("142857", 400) + `}`, `\frac17`, `\frac27`},
		{`0.` + rep("3", 5000), `0.` + rep("3", 5000) + "0", `\frac13`},
		{`\pi+e^{-10^5}`, `e^{-10^5}+\pi`, `\pi`},
		{`10^{10^{10}}`, `(10^{10^{9}})^{10}`, `10^{10^{10}}+1`},
		{`\{1,2,\ldots,3000\}`, `\{1,2,3,\ldots,3000\}`, `\{1,2,3,\ldots,3001\}`},
	} {
		both(t, c[0], c[1], OutcomeEqual)
		both(t, c[0], c[2], OutcomeDifferent)
	}
}
