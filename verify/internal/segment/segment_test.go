package segment

import (
	"strings"
	"testing"
)

func known(w string) (symbol, unit bool) {
	return strings.Contains(" sin cos tan log ln sqrt pi ", " "+w+" "), strings.Contains(" cm km mph ", " "+w+" ")
}

// formulas lists the formulas of a text.
func formulas(text string) string {
	var out []string
	for s := range Split(text, known) {
		if s.Formula() {
			out = append(out, s.Text)
		}
	}
	return strings.Join(out, " # ")
}

func TestFormulasAreWhatStandsBetweenDelimiters(t *testing.T) {
	for text, want := range map[string]string{
		`Therefore $x = \frac { 3 } { 2 }$.`:                     `x = \frac { 3 } { 2 }`,
		`Thus \( \frac{ 3 }{ 4 } \)`:                             ` \frac{ 3 }{ 4 } `,
		"so\n\\[ \n 9 \n \\]":                                    " \n 9 \n ",
		`The largest $n$ is 34.`:                                 `n # 34`,
		`It is \begin{pmatrix} 1 & 2 \\[2pt] 3 & 4\end{pmatrix}`: `\begin{pmatrix} 1 & 2 \\[2pt] 3 & 4\end{pmatrix}`,
		`It costs $5 and then $6.`:                               `$5 # $6`,
		`It costs $5 + $3 = $8.`:                                 `$5 + $3 = $8`,
		`$5$ and $6$`:                                            `5 # 6`,
		`$ x=5 $`:                                                ` x=5 `,
		`x is 2 while y is 3.`:                                   `x # 2 # y # 3`,
		`We get 3 × 10`:                                          `3 × 10`,
		`We get 10^ 5`:                                           `10^ 5`,
		`So odds are 3 : 2`:                                      `3 : 2`,
		`the number is 3,7`:                                      `3,7`,
		`Thus \frac{ 3 }{ 4 } is it`:                             `\frac{ 3 }{ 4 }`,
		`a 7-day week has 24 * 7 = 168 hours`:                    `24 * 7 = 168`,
		`A two-digit number (see above) is a = 5`:                `a = 5`,
		`the point (1, 2) and f(x) = 2x + 1.`:                    `(1, 2) # f(x) = 2x + 1`,
		`1, 2, and 3`:                                            `1, 2 # 3`,
		`x = sin 30 + log(2)`:                                    `x = sin 30 + log(2)`,
		`-5`:                                                     `-5`,
		`the answer is - 5`:                                      `- 5`,
		`$\text{total} = 5$`:                                     `\text{total} = 5`,
		"```python\nx = 3\n```":                                  ``,
		`10% of 50`:                                              `10% # 50`,
	} {
		if got := formulas(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzSegmentsAreTheText(f *testing.F) {
	for _, s := range []string{`a $x$ b`, `\[ 3 \] \( 4`, "`x` ``` y", `$5 and $6`, `\begin{a} \end{a} \`, `3 : 2 (a, b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for g := range Split(s, known) {
			if g.From != at || g.To <= g.From || !strings.Contains(s[g.From:g.To], g.Text) {
				t.Fatalf("%q: segment %+v after %d", s, g, at)
			}
			at = g.To
		}
		if at != len(s) {
			t.Fatalf("%q: the segments end at %d", s, at)
		}
	})
}

// TestHostileTextIsDividedInTime: what one sign opens and nothing closes is looked for once, so that twice the text is twice
// the work. Bytes that are looked at are counted, not time.
func TestHostileTextIsDividedInTime(t *testing.T) {
	work := func(text string) int {
		p := splitter{text: text, words: known, yield: func(Segment) bool { return true }}
		p.run()
		return p.looked
	}
	for _, unit := range []string{"(", "|", "(|", "$", "$ ", "$$", `\(`, `\[`, `\begin{a}`, `\begin{ab} x $`, `\frac{`, "{", "`", "1 ", "1,", "x=", `\left(`, "(1)", "((1 a", "[$", "- ", "1 - ", `\\`, "a$b c d ", "|a ", "a ** b ", "> a\n", "* ", "a | b "} {
		half := strings.Repeat(unit, 16<<10/len(unit))
		once, twice := work(half), work(half+half)
		if once > 0 && float64(twice) > 2.2*float64(once) {
			t.Errorf("%q repeated: %d bytes are looked at in %d bytes of text, %d in twice as many", unit, once, len(half), twice)
		}
		if perByte := twice / (2 * len(half)); perByte > 2100 { // a bracket is looked for in 2,000 bytes
			t.Errorf("%q repeated: every byte is looked at %d times", unit, perByte)
		}
	}
}
