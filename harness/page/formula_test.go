// What formulas become, and that nothing else can come of them whatever is written.

package page

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// By hand.
func TestFormulasAreSet(t *testing.T) {
	for tex, want := range map[string]string{
		`x^2`:                 `<msup><mi>x</mi><mn>2</mn></msup>`,
		`a_{ij}^k`:            `<msubsup><mi>a</mi><mrow><mi>i</mi><mi>j</mi></mrow><mi>k</mi></msubsup>`,
		`\frac12`:             `<mfrac><mn>1</mn><mn>2</mn></mfrac>`,
		`\dfrac{x+1}{\pi}`:    `<mfrac><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mrow><mi>π</mi></mrow></mfrac>`,
		`\sqrt[3]{x}-1`:       `<mroot><mrow><mi>x</mi></mrow><mrow><mn>3</mn></mrow></mroot><mo>−</mo><mn>1</mn>`,
		`1,000.5 < y`:         `<mn>1,000.5</mn><mo>&lt;</mo><mi>y</mi>`,
		`f''(x)`:              `<msup><mi>f</mi><mo>′′</mo></msup><mo>(</mo><mi>x</mi><mo>)</mo>`,
		`\sum\limits_{i=1}^n`: `<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>`,
		`\left(x\right.`:      `<mo>(</mo><mi>x</mi>`,
		`\text{ if }\boxed{7}\mathbb{R}\overline{AB}`: `<mtext>` + "\u00a0if\u00a0" + `</mtext><mrow class="boxed"><mrow><mn>7</mn></mrow></mrow><mi>ℝ</mi><mover accent="true"><mrow><mi>A</mi><mi>B</mi></mrow><mo>‾</mo></mover>`,
		`\begin{pmatrix}1&2\\3&4\end{pmatrix}`:        `<mrow><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo></mrow>`,
		`7\pmod{5}`:                                   `<mn>7</mn><mrow><mo>(</mo><mi>mod</mi><mtext>` + "\u2009" + `</mtext><mrow><mn>5</mn></mrow><mo>)</mo></mrow>`,
		`\binom n2`:                                   `<mrow><mo>(</mo><mfrac linethickness="0"><mi>n</mi><mn>2</mn></mfrac><mo>)</mo></mrow>`,
	} {
		if set, ok := mathML(tex); !ok || set != "<mrow>"+want+"</mrow>" {
			t.Errorf("%s is %v %s", tex, ok, set)
		}
	}
}

// What is not known, or does not end, stays as it was written.
func TestWhatIsNoFormulaStays(t *testing.T) {
	for _, text := range []string{
		`She sells 3 for $2 and 5 for $4 a day.`, `between $5-$10 each`, `costs $80,000, or $ 5 $ now`, `a $ b`, `$x`, `\(x`, `\[ \)`, `$$$$`,
		`$\href{javascript:alert(1)}{x}$`, `$\color{red}x$`, `\( \frac{1} \)`, `$x^2^3$`, `${x$`, `$x}$`, `$a & b$`, `$\begin{matrix} 1 \end{pmatrix}$`,
		`$\text{$5}$`, `$\text{\bf x}$`, `$` + strings.Repeat("{", 30) + strings.Repeat("}", 30) + `$`, `$` + strings.Repeat("x", 3000) + `$`, `$\`, `$\$`, "$\u202ex$", "$x\x00$",
	} {
		if got := string(formulas(text)); html.UnescapeString(got) != strings.ReplaceAll(text, "\x00", "\ufffd") || strings.Contains(got, "<") {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := formulas(`\foo{$x$} costs $3 or \(y\)`); !regexp.MustCompile(`^\\foo\{<math alttext="\$x\$">.*</math>\} costs \$3 or <math alttext="\\\(y\\\)">.*</math>$`).MatchString(string(got)) {
		t.Errorf("one formula keeps others from being set: %s", got)
	}
}

// mathElements are all elements of formulas, with their attributes and what these may be.
var mathElements = map[string][]string{
	"math": {`display="block"`, "alttext"}, "mrow": {`class="boxed"`}, "mo": nil, "mover": {`accent="true"`}, "mfrac": {`linethickness="0"`},
	"mi": nil, "mn": nil, "mtext": nil, "msqrt": nil, "mroot": nil, "msub": nil, "msup": nil, "msubsup": nil, "munder": nil, "munderover": nil,
	"mtable": nil, "mtr": nil, "mtd": nil,
}

// children are how many elements some elements have.
var children = map[string]int{"mover": 2, "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "msubsup": 3, "munderover": 3}

var wholeFormula = regexp.MustCompile(`(?s)<math[^>]* alttext="([^"]*)">.*?</math>`)

// Whatever is written: what comes of it is well-formed, has elements of formulas alone, each with as many parts as it must have, no
// attribute but those of the list, and everything that was written, in its order.
func FuzzFormulas(f *testing.F) {
	for _, text := range []string{
		`$\frac{1}{\sqrt[3]{x^2_1}}$ and \[\left\{\begin{array}{cc}a&\text{if }b\\c&d\end{array}\right.\]`, `\(\overline{z}=\boxed{\mathbb{Z}}\)`, `$$\sum_{k=0}^\infty f'(k)$$`,
		hostile, `$<b onclick="x">$`, `$\text{</math><script>}$`, `\(\operatorname{a"b}\)`, `$a$b$c$`, `\\(x\\)`, `$\_\%$ \$5 $\$5$`, "\xff$x$", `$\left<x\right>$`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := string(formulas(text))
		back := html.UnescapeString(wholeFormula.ReplaceAllString(set, "$1"))
		if back != strings.ReplaceAll(text, "\x00", "\ufffd") {
			t.Fatalf("%q became %q, which says %q", text, set, back)
		}
		d := xml.NewDecoder(strings.NewReader("<t>" + strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' || r == '\ufffe' || r == '\uffff' { // nothing of XML, and Harmless replaces it
				return ' '
			}
			return r
		}, strings.ToValidUTF8(set, "")) + "</t>"))
		var open []string
		var parts []int
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q became %q: %v", text, set, err)
			}
			switch x := token.(type) {
			case xml.StartElement:
				known, ok := mathElements[x.Name.Local]
				if len(open) > 0 && (!ok || (x.Name.Local == "math") != (len(open) == 1)) {
					t.Fatalf("%q became %q, with %s in %v", text, set, x.Name.Local, open)
				}
				for _, a := range x.Attr {
					if name := a.Name.Local; a.Name.Space != "" || name != "alttext" && !slices.Contains(known, name+`="`+a.Value+`"`) || name == "alttext" && !slices.Contains(known, name) {
						t.Fatalf("%q became %q, with %s", text, set, name)
					}
				}
				if len(parts) > 0 {
					parts[len(parts)-1]++
				}
				open, parts = append(open, x.Name.Local), append(parts, 0)
			case xml.EndElement:
				if n, ok := children[x.Name.Local]; ok && parts[len(parts)-1] != n {
					t.Fatalf("%q became %q, with %d parts of %s", text, set, parts[len(parts)-1], x.Name.Local)
				}
				open, parts = open[:len(open)-1], parts[:len(parts)-1]
			case xml.CharData:
				if leaf := open[len(open)-1]; !slices.Contains([]string{"t", "mi", "mn", "mo", "mtext"}, leaf) {
					t.Fatalf("%q became %q, with text in %s", text, set, leaf)
				}
			case xml.Comment, xml.ProcInst, xml.Directive:
				t.Fatalf("%q became %q", text, set)
			}
		}
	})
}
