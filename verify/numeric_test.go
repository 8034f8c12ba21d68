package verify

import (
	"strings"
	"testing"
)

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

func TestExplanationNamesEveryReason(t *testing.T) {
	for _, r := range Reasons() {
		if r[1] == "" || !strings.Contains((Verdict{Reason: r[0]}).Explain(), r[1]) {
			t.Errorf("reason %q has no meaning", r[0])
		}
	}
}
