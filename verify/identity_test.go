package verify

import (
	"testing"
)

// both checks a pair in both orders.
func both(t *testing.T, a, b string, want Outcome) {
	t.Helper()
	for _, p := range [2][2]string{{a, b}, {b, a}} {
		if v := Equal(p[0], p[1]); v.Outcome != want {
			t.Errorf("gold %s, answer %s: %s (%s, %s), want %s; read as %s and %s", p[0], p[1], v.Outcome, v.Reason, v.Rule, want, v.Gold, v.Answer)
		}
	}
}

// Expressions that agree at small points, on one side of a breakpoint, or to many digits, and are not the same.
func TestWhatAgreesSomewhereIsNotEqual(t *testing.T) {
	for _, p := range [][2]string{
		{`|x+10|`, `x+10`},
		{`|x+10^9|`, `x+10^9`},
		{`\sqrt{(x+100)^2}`, `x+100`},
		{`|n-100|`, `100-n`},
		{`\max(x,-20)`, `x`},
		{`\max(x,y,-1000)`, `\max(x,y)`},
		{`\min(x,10^6)`, `x`},
		{`\max(0,x-10^{12})`, `0`},
		{`\max(0,x-10^{30})`, `0`},
		{`\max(0,1-10^{20}|x-\frac13|)`, `0`},
		{`\max(0,1-|x-1000|)`, `0`},
		{`\operatorname{sgn}(x+50)`, `1`},
		{`\frac{|x-70|}{x-70}`, `\frac{x-70}{|x-70|}+1-1+\lfloor x/10^7\rfloor`},
		{`\lfloor n/100\rfloor`, `0`},
		{`\lceil n/1000\rceil`, `1`},
		{`\lfloor\frac{n}{10^6}\rfloor`, `0`},
		{`\gcd(n,37)`, `1`},
		{`\gcd(n,1009)`, `1`},
		{`\gcd(n,m)`, `1`},
		{`\operatorname{lcm}(n,41)`, `41n`},
		{`\binom{n}{50}`, `0`},
		{`\binom{n}{15}`, `0`},
		{`\binom{60}{n}`, `\binom{60}{60-n}+\lfloor n/61\rfloor`},
		{`n \bmod 100`, `n`},
		{`n \bmod 10`, `n`},
		{`n \bmod 1000003`, `n`},
		{`\lfloor\log_2 n\rfloor+1`, `\lfloor\ln n\rfloor+2`},
		{`\ln(x^2)`, `2\ln x`},
		{`\sqrt{x^2-1}`, `\sqrt{x-1}\sqrt{x+1}`},
		{`\sqrt{x-1000}+\sqrt{1000-x}`, `0`},
		{`\tanh(1000)`, `1`},
		{`\pi+e^{-10^5}`, `\pi`},
		{`\pi+10^{-500}`, `\pi`},
		{`\sin(\pi/2-10^{-300})`, `1`},
		{`\tanh x+e^{-900}`, `\tanh x`},
		{`x+10^{-20}\sin x`, `x`},
		{`e^{-x^2}`, `0`},
		{`\frac{x}{x+10^{-40}}`, `1`},
		{`\arctan x+\arctan\frac1x`, `\frac{\pi}{2}`},
		{`\arcsin(\sin x)`, `x`},
		{`\sqrt{x^2}`, `x`},
		{`\sqrt[4]{x^4}`, `x`},
		{`(-1)^{n}`, `1`},
		{`(-1)^{n(n-1)/2}`, `(-1)^{n}`},
		{`n^2 \bmod 8`, `1`},
		{`\gcd(n)`, `n+1`},
		{`\gcd(n,m,37)`, `1`},
		{`\gcd(n,m,m)`, `1`},
		{`\gcd(n+1,m,\gcd(5,m))`, `\gcd(n+1,m)`},
		{`\lfloor\frac{\max(37,n)}{30}\rfloor`, `\lfloor\frac{n+37-\min(36,n)}{30}\rfloor`},
		{`\operatorname{lcm}(\max(6,n),\max(30,n),17)`, `\operatorname{lcm}(n,\max(30,n),17)`},
		{`\operatorname{lcm}(n,\lceil\frac n9\rceil,9)`, `\operatorname{lcm}(n,\lfloor\frac{n+9}{10}\rfloor,9)`},
		{`\lfloor\frac n{97}\rfloor-\lfloor\frac{n-1}{97}\rfloor`, `0`},
		{`e^{\lfloor x\rfloor}`, `e^x`},
		{`\lfloor x\rfloor^3`, `x\lfloor x\rfloor^2`},
		{`\frac1{\lfloor|x|\rfloor}`, `\frac1{|x|}`},
		{`\operatorname{lcm}(2n)`, `n`},
		{`\lfloor x\rfloor+\lfloor -x\rfloor`, `-1`},
		{`\lfloor 2x\rfloor`, `2\lfloor x\rfloor`},
		{`\sin(2x)`, `2\sin x`},
		{`2^{n}`, `n^2+n+2`},
	} {
		both(t, p[0], p[1], OutcomeDifferent)
	}
}

// Identities over all scales, and with what proof.
func TestIdentitiesAreProved(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		proof Proof
	}{
		{`(x+1)^{10}`, `(1+x)^{10}`, ProofModular},
		{`\frac{x^2-1}{x-1}`, `x+1`, ProofModular},
		{`|x+10|`, `|-10-x|`, ProofPiecewise},
		{`\sqrt{(x+100)^2}`, `|x+100|`, ProofPiecewise},
		{`\max(x,y)`, `\frac{x+y+|x-y|}{2}`, ProofPiecewise},
		{`\max(x,y)+\min(x,y)`, `x+y`, ProofPiecewise},
		{`|xy|`, `|x||y|`, ProofPiecewise},
		{`|x|^2`, `x^2`, ProofPiecewise},
		{`\sin^2 x+\cos^2 x`, `1`, ProofModular},
		{`\sin 2x`, `2\sin x\cos x`, ProofModular},
		{`\sin(x+\frac{\pi}{3})`, `\frac12\sin x+\frac{\sqrt3}{2}\cos x`, ProofModular},
		{`\cos(\frac{\pi}{2}-x)`, `\sin x`, ProofModular},
		{`\frac{1-\tan^2 x}{1+\tan^2 x}`, `\cos 2x`, ProofModular},
		{`\cosh^2 x-\sinh^2 x`, `1`, ProofModular},
		{`e^{x+y}`, `e^xe^y`, ProofModular},
		{`2^{n+1}-2^n`, `2^n`, ProofModular},
		{`4^n`, `2^{2n}`, ProofModular},
		{`6^n`, `2^n3^n`, ProofModular},
		{`\frac{1}{\sqrt x}`, `\frac{\sqrt x}{x}`, ProofModular},
		{`\sqrt{12x}`, `2\sqrt{3x}`, ProofModular},
		{`\frac{\sqrt3}{3}x`, `\frac{x}{\sqrt3}`, ProofModular},
		{`\ln(8)x`, `3x\ln 2`, ProofModular},
		{`\log_2 8^x`, `3x`, ProofModular},
		{`\frac{n!}{(n-2)!}`, `n(n-1)`, ProofModular},
		{`\binom{n}{2}`, `\frac{n(n-1)}{2}`, ProofModular},
		{`(n+1)!`, `(n+1)n!`, ProofModular},
		{`\lfloor x+3\rfloor`, `\lfloor x\rfloor+3`, ProofModular},
		{`\lceil x\rceil`, `-\lfloor -x\rfloor`, ProofModular},
		{`\sqrt8`, `2\sqrt2`, ProofModular},
		{`\cos\frac{\pi}{7}\cos\frac{2\pi}{7}\cos\frac{3\pi}{7}`, `\frac18`, ProofModular},
		{`e^{-1000}`, `\frac1{e^{1000}}`, ProofModular},
		{`(1+i)^8`, `16`, ProofModular},
		{`e^{2\pi i/3}`, `-\frac12+\frac{\sqrt3}2i`, ProofModular},
		{`\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}`, `1`, ProofAlgebraic},
		{`\arctan 1+\arctan 2+\arctan 3`, `\pi`, ProofProbable},
		{`\gcd(n,n+1)`, `1`, ProofProbable},
		{`n \bmod 2`, `\frac{1-(-1)^n}{2}`, ProofProbable},
		{`3+4`, `7`, ProofExact},
		{`\sqrt{16}`, `4`, ProofExact},
		{`x+y`, `x+y`, ProofExact},
		{`\{1,\sqrt8\}`, `\{2\sqrt2,1\}`, ProofModular},
		{`(1,|x|)`, `(1,\sqrt{x^2})`, ProofPiecewise},
	} {
		both(t, c.a, c.b, OutcomeEqual)
		if v := Equal(c.a, c.b); v.Outcome == OutcomeEqual && v.Proof != c.proof {
			t.Errorf("%s and %s: proof %s (%s), want %s", c.a, c.b, v.Proof, v.Rule, c.proof)
		}
		strict := Equal(c.a, c.b, WithPolicy(Policy{Proved: true}))
		if want := map[bool]Outcome{true: OutcomeUnknown, false: OutcomeEqual}[c.proof == ProofProbable]; strict.Outcome != want {
			t.Errorf("%s and %s, proved: %s (%s), want %s", c.a, c.b, strict.Outcome, strict.Rule, want)
		}
	}
}

// Relations say something else than a value, and what holds for everything says nothing.
func TestTautologiesAndRelations(t *testing.T) {
	for _, p := range [][2]string{
		{`5`, `5=5`},
		{`x=5`, `5=5`},
		{`5`, `|x|=5`},
		{`5`, `xy=5`},
		{`5`, `x^2=5`},
		{`0`, `a+3z=0`},
		{`5`, `x+y=5+x`},
		{`0`, `x-x=0`},
		{`0`, `0=0`},
		{`x=0`, `x=x`},
		{`x=2`, `2x=2x`},
		{`5`, `x\equiv 5\pmod 7`},
	} {
		if v := Equal(p[0], p[1]); v.Outcome != OutcomeDifferent {
			t.Errorf("gold %s, answer %s: %s (%s, %s), want different", p[0], p[1], v.Outcome, v.Reason, v.Rule)
		}
	}
	for _, p := range [][2]string{
		{`5`, `x=5`},
		{`5`, `5=x`},
		{`5`, `2+3=5`},
		{`5`, `x=2+3=5`},
		{`x=5`, `2x=10`},
		{`17`, `m+n=17`},
		{`5`, `|AB|=5`},
		{`5`, `|\vec{a}|=5`},
	} {
		if v := Equal(p[0], p[1]); v.Outcome != OutcomeEqual {
			t.Errorf("gold %s, answer %s: %s (%s, %s), want equal", p[0], p[1], v.Outcome, v.Reason, v.Rule)
		}
	}
}
