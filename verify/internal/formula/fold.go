// Unicode writing brought to ASCII LaTeX.

package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded maps the Unicode characters of mathematical writing to the LaTeX or ASCII that the lexer reads.
// Characters that are absent are brought to their compatibility form; what is still not ASCII stays a letter.
var folded = map[rune]string{
	'−': "-", '‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '﹣': "-", '⁃': "-",
	'×': `\times `, '·': `\cdot `, '⋅': `\cdot `, '∙': `\cdot `, '•': `\cdot `, '∗': "*", '÷': "/", '∕': "/", '⁄': "/",
	'±': `\pm `, '∓': `\mp `, '≤': `\le `, '⩽': `\le `, '≦': `\le `, '≥': `\ge `, '⩾': `\ge `, '≧': `\ge `, '≠': `\ne `,
	'≈': `\approx `, '≃': `\approx `, '≅': `\approx `, '≡': `\equiv `, '∞': `\infty `, '∪': `\cup `, '∩': `\cap `,
	'∖': `\setminus `, '∈': `\in `, '∉': `\notin `, '∅': `\emptyset `, 'ø': `\emptyset `, 'Ø': `\emptyset `,
	'ℝ': `\mathbb{R}`, 'ℤ': `\mathbb{Z}`, 'ℚ': `\mathbb{Q}`, 'ℕ': `\mathbb{N}`, 'ℂ': `\mathbb{C}`,
	'°': `^{\circ}`, 'º': `^{\circ}`, '˚': `^{\circ}`, '′': "'", '″': "''", '’': "'", '‘': "'", '“': `"`, '”': `"`, '„': `"`, '«': `"`, '»': `"`,
	'⌊': `\lfloor `, '⌋': `\rfloor `, '⌈': `\lceil `, '⌉': `\rceil `, '⟨': `\langle `, '⟩': `\rangle `,
	'√': `\surd `, '∛': `\surd[3]`, '∜': `\surd[4]`, '∑': `\sum `, '∏': `\prod `, '∫': `\int `, '∂': `\partial `, '∇': `\nabla `,
	'∴': ` `, '∠': `\angle `, '△': `\triangle `, '→': `\to `, '⇒': `\implies `, '⟹': `\implies `, '⇔': `\iff `, '⟺': `\iff `, '↔': `\iff `,
	'…': `\ldots `, '⋯': `\ldots `, '‰': `\permil `, '¬': `\neg `, '∧': `\wedge `, '∨': `\vee `, '∣': "|", '∥': `\parallel `, '⊂': `\subset `,
	'、': ",", '。': ".", '，': ",", '；': ";", '：': ":", '！': "!", '？': "?", '（': "(", '）': ")", '【': "[", '】': "]", '｛': "{", '｝': "}",
	'€': `\euro `, '¢': `\cent `, '£': `\pounds `, '¥': `\yen `, '₹': `\rupee `,
	'½': `\frac{1}{2}`, '⅓': `\frac{1}{3}`, '⅔': `\frac{2}{3}`, '¼': `\frac{1}{4}`, '¾': `\frac{3}{4}`, '⅕': `\frac{1}{5}`, '⅖': `\frac{2}{5}`,
	'⅗': `\frac{3}{5}`, '⅘': `\frac{4}{5}`, '⅙': `\frac{1}{6}`, '⅚': `\frac{5}{6}`, '⅐': `\frac{1}{7}`, '⅛': `\frac{1}{8}`, '⅜': `\frac{3}{8}`,
	'⅝': `\frac{5}{8}`, '⅞': `\frac{7}{8}`, '⅑': `\frac{1}{9}`, '⅒': `\frac{1}{10}`, '↉': `0`,
	'α': `\alpha `, 'β': `\beta `, 'γ': `\gamma `, 'δ': `\delta `, 'ε': `\epsilon `, 'ϵ': `\epsilon `, 'ζ': `\zeta `, 'η': `\eta `, 'θ': `\theta `, 'ϑ': `\theta `,
	'ι': `\iota `, 'κ': `\kappa `, 'λ': `\lambda `, 'μ': `\mu `, 'µ': `\mu `, 'ν': `\nu `, 'ξ': `\xi `, 'π': `\pi `, 'ρ': `\rho `, 'σ': `\sigma `,
	'τ': `\tau `, 'υ': `\upsilon `, 'φ': `\varphi `, 'ϕ': `\phi `, 'χ': `\chi `, 'ψ': `\psi `, 'ω': `\omega `,
	'Γ': `\Gamma `, 'Δ': `\Delta `, 'Θ': `\Theta `, 'Λ': `\Lambda `, 'Ξ': `\Xi `, 'Π': `\Pi `, 'Σ': `\Sigma `, 'Φ': `\Phi `, 'Ψ': `\Psi `, 'Ω': `\Omega `,
	// Cyrillic letters that look like Latin ones, as keyboards produce them in formulas.
	'х': "x", 'у': "y", 'а': "a", 'с': "c", 'е': "e", 'о': "o", 'р': "p", 'Х': "X", 'А': "A", 'В': "B", 'С': "C", 'Е': "E",
}

var superscript = map[rune]byte{'⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9', '⁺': '+', '⁻': '-', '⁼': '=', '⁽': '(', '⁾': ')', 'ⁿ': 'n', 'ⁱ': 'i', 'ˣ': 'x', 'ᵏ': 'k', 'ᵐ': 'm'}

var subscript = map[rune]byte{'₀': '0', '₁': '1', '₂': '2', '₃': '3', '₄': '4', '₅': '5', '₆': '6', '₇': '7', '₈': '8', '₉': '9', '₊': '+', '₋': '-', 'ₙ': 'n', 'ₖ': 'k', 'ₓ': 'x', 'ₐ': 'a', 'ᵢ': 'i', 'ⱼ': 'j', 'ₘ': 'm'}

// Fold brings an answer to ASCII LaTeX: Unicode signs, digits of every script, super- and subscripts, invisible
// and bidirectional characters. ASCII input, the usual case, is returned as it is.
func Fold(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	if strings.Contains(s, "\u0305") || strings.Contains(s, "\u0304") {
		s = overlined(s)
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	rest := s
	for len(rest) > 0 {
		r, size := utf8.DecodeRuneInString(rest)
		if script, open := superscript, "^{"; script[r] != 0 || subscript[r] != 0 {
			if script[r] == 0 {
				script, open = subscript, "_{"
			}
			b.WriteString(open)
			for script[r] != 0 {
				b.WriteByte(script[r])
				rest = rest[size:]
				r, size = utf8.DecodeRuneInString(rest)
			}
			b.WriteByte('}')
			continue
		}
		rest = rest[size:]
		foldRune(&b, r)
	}
	return b.String()
}

// overlined turns digits with combining lines above them into \overline.
func overlined(s string) string {
	var b strings.Builder
	open := false
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		marked := i+1 < len(runes) && (runes[i+1] == '\u0305' || runes[i+1] == '\u0304') && unicode.IsDigit(runes[i])
		if marked && !open {
			b.WriteString(`\overline{`)
		}
		if open && !marked {
			b.WriteByte('}')
		}
		open = marked
		if runes[i] != '\u0305' && runes[i] != '\u0304' {
			b.WriteRune(runes[i])
		}
		if marked {
			i++
		}
	}
	if open {
		b.WriteByte('}')
	}
	return b.String()
}

func foldRune(b *strings.Builder, r rune) {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		b.WriteByte(' ')
	case r == '\b': // of \boxed or \beta, where something unescaped it
		b.WriteString(`\b`)
	case r == '\f':
		b.WriteString(`\f`)
	case r < ' ' || r == 0x7f || r == utf8.RuneError || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
		// Controls, zero-width and bidirectional characters carry no meaning; they are dropped.
	case r < utf8.RuneSelf:
		b.WriteByte(byte(r))
	case r == '\u2009' || r == '\u202f' || r == '\u200a' || r == '\u2006':
		b.WriteString(`\,`) // a thin space groups digits
	case unicode.IsSpace(r):
		b.WriteByte(' ')
	case unicode.IsDigit(r):
		b.WriteByte(digitOf(r))
	default:
		if s, ok := folded[r]; ok {
			b.WriteString(s)
			return
		}
		if r >= 0xff01 && r <= 0xff5e {
			b.WriteByte(byte(r - 0xfee0))
			return
		}
		if compat := norm.NFKC.String(string(r)); compat != string(r) {
			for _, c := range compat {
				if c < utf8.RuneSelf {
					b.WriteByte(byte(c))
				} else if s, ok := folded[c]; ok {
					b.WriteString(s)
				} else {
					b.WriteRune(c)
				}
			}
			return
		}
		b.WriteRune(r)
	}
}

// digitOf returns the ASCII digit of a decimal digit of any script. Such digits come in runs of ten.
func digitOf(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10)
		}
	}
	return '0'
}
