// Formulas in questions and answers: a subset of TeX becomes MathML. A formula that has anything else stays as it was written.

package page

import (
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a formula; one beyond them stays as it was written.
const (
	longestFormula = 2000 // bytes
	deepestFormula = 24   // groups in groups
)

// formulas is a text in which formulas are set. Each has its source, delimiters and all, as alternative text.
func formulas(text string) template.HTML {
	var b strings.Builder
	said := 0 // so much of the text is written
	for at := 0; ; {
		i := strings.IndexAny(text[at:], `$\`)
		if i < 0 {
			return template.HTML(b.String() + template.HTMLEscapeString(text[said:])) // elements of MathML, and escaped text
		}
		at += i
		opening, inside, size := delimited(text[at:])
		set, ok := mathML(inside)
		if !ok {
			at = min(at+max(len(opening), 1), len(text))
			continue
		}
		display := ""
		if opening == "$$" || opening == `\[` {
			display = ` display="block"`
		}
		source := text[at : at+size]
		fmt.Fprintf(&b, `%s<math%s alttext="%s">%s</math>`, template.HTMLEscapeString(text[said:at]), display, template.HTMLEscapeString(source), set)
		at += size
		said = at
	}
}

// delimited is what may be a formula at the beginning of a text, and its size with delimiters; empty: nothing is. As in Pandoc a dollar
// opens none before a space, and closes none after a space or before a digit, so that sums of money are none.
func delimited(text string) (opening, inside string, size int) {
	opening = text[:min(2, len(text))]
	closing := map[string]string{"$$": "$$", `\[`: `\]`, `\(`: `\)`}[opening]
	money := closing == "" && opening[0] == '$'
	if money {
		opening, closing = "$", "$"
	}
	rest := text[len(opening):]
	for i := 0; closing != "" && i < min(len(rest), longestFormula); i++ {
		switch inside := rest[:i]; {
		case !strings.HasPrefix(rest[i:], closing):
			if rest[i] == '\\' {
				i++
			}
		case money && (i == 0 || strings.Trim(inside, " \n\t") != inside || strings.IndexAny(rest[i+1:min(i+2, len(rest))], "0123456789") == 0):
			return opening, "", 0
		default:
			return opening, inside, len(opening) + i + len(closing)
		}
	}
	return opening, "", 0
}

// mathML sets a formula; false: it has something that is not known here.
func mathML(tex string) (set string, ok bool) {
	if strings.TrimSpace(tex) == "" || len(tex) > longestFormula || !utf8.ValidString(tex) {
		return "", false
	}
	f := &formula{}
	set = f.set(texCommand.ReplaceAllStringFunc(texFence.ReplaceAllString(tex, " "), func(c string) string {
		if slices.Contains(ignored, c) {
			return " "
		}
		return c
	}))
	return set, !f.failed
}

// formula is what is left of one to read.
type formula struct {
	rest   string
	depth  int
	failed bool // something is not known: what is returned means nothing
}

var (
	texCommand = regexp.MustCompile(`\\(?:[a-zA-Z]+|[^a-zA-Z])`)
	texFence   = regexp.MustCompile(`\\(?:left|right)\s*\.`) // a fence that is none
	texToken   = regexp.MustCompile(`^\\(?:[a-zA-Z]+|[^a-zA-Z])`)
	texNumber  = regexp.MustCompile(`^[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?`)
	texWords   = regexp.MustCompile(`^\s*\{([^{}\\$]*)\}`)
	texName    = regexp.MustCompile(`^\s*\{([a-z]+)\*?\}`)
	texColumns = regexp.MustCompile(`^\s*\{[lcr| ]*\}`)
	texDegree  = regexp.MustCompile(`^\s*\[([^\[\]{}]*)\]`)
	texPrimes  = regexp.MustCompile(`^'+`)
)

func (f *formula) fail() string {
	f.failed, f.rest = true, ""
	return ""
}

// take takes what matches at the beginning of the rest, and returns its last group.
func (f *formula) take(what *regexp.Regexp) (group string, ok bool) {
	m := what.FindStringSubmatch(f.rest)
	if m == nil {
		return "", false
	}
	f.rest = f.rest[len(m[0]):]
	return m[len(m)-1], true
}

// next takes a command with its backslash, or a character; empty at the end.
func (f *formula) next() (token string) {
	f.rest = strings.TrimLeft(f.rest, " \t\r\n")
	if token, ok := f.take(texToken); ok || f.rest == "" {
		return token
	}
	_, size := utf8.DecodeRuneInString(f.rest)
	token, f.rest = f.rest[:size], f.rest[size:]
	return token
}

// inside takes what stands before the token that closes a group, and the token.
func (f *formula) inside(closing string) string {
	from := f.rest
	for nested := 1; ; {
		switch token := f.next(); token {
		case "":
			return f.fail()
		case "{", `\begin`:
			nested++
		case "}", `\end`:
			switch nested--; {
			case nested == 0 && token == closing:
				return from[:len(from)-len(f.rest)-len(token)]
			case nested == 0:
				return f.fail()
			}
		}
	}
}

// set sets the whole of a text as one element.
func (f *formula) set(tex string) string { return element("mrow", f.all(tex, nil)) }

// all sets the whole of a text; separators become what they stand for.
func (f *formula) all(tex string, separators map[string]string) string {
	if f.depth++; f.depth > deepestFormula {
		return f.fail()
	}
	after := f.rest
	var b strings.Builder
	for f.rest = tex; strings.TrimSpace(f.rest) != ""; {
		before := f.rest
		if separator := separators[f.next()]; separator != "" {
			b.WriteString(separator)
			continue
		}
		f.rest = before
		b.WriteString(f.scripted())
	}
	if f.depth--; !f.failed {
		f.rest = after
	}
	return b.String()
}

// scripted sets what comes next with its index and power.
func (f *formula) scripted() string {
	rest := f.rest
	token := f.next()
	base, scripts := "<mrow></mrow>", map[string]string{}
	if token == "^" || token == "_" {
		f.rest = rest
	} else {
		base = f.atom(token, false)
	}
	if primes := texPrimes.FindString(f.rest); primes != "" {
		f.rest = f.rest[len(primes):]
		scripts["^"] = text("mo", strings.Repeat("′", len(primes)))
	}
	for {
		rest := f.rest
		at := f.next()
		if at != "_" && at != "^" {
			f.rest = rest
			break
		}
		if scripts[at] != "" {
			return f.fail()
		}
		scripts[at] = f.argument()
	}
	names := strings.Fields("msub msup msubsup")
	if slices.Contains(limits, token) {
		names = strings.Fields("munder mover munderover")
	}
	switch sub, sup := scripts["_"], scripts["^"]; {
	case sub != "" && sup != "":
		return element(names[2], base, sub, sup)
	case sub != "":
		return element(names[0], base, sub)
	case sup != "":
		return element(names[1], base, sup)
	}
	return base
}

// argument sets a group, or else a single character or command.
func (f *formula) argument() string { return f.atom(f.next(), true) }

// atom sets a token with its arguments; single: of a number one digit.
func (f *formula) atom(token string, single bool) string {
	name := strings.TrimPrefix(token, `\`)
	r, _ := utf8.DecodeRuneInString(token)
	switch {
	case f.failed || token == "":
		return f.fail()
	case token == "{":
		return f.set(f.inside("}"))
	case spaces[token] != "":
		return text("mtext", spaces[token])
	case token[0] != '\\':
		switch {
		case '0' <= r && r <= '9' && !single:
			f.rest = token + f.rest
			number := texNumber.FindString(f.rest)
			f.rest = f.rest[len(number):]
			return text("mn", number)
		case unicode.IsDigit(r):
			return text("mn", token)
		case unicode.IsLetter(r):
			return text("mi", token)
		case r == '-':
			return "<mo>−</mo>"
		case !strings.ContainsRune(`}$%#&^_'"`, r) && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
			return text("mo", token)
		}
		return f.fail()
	case signs[name] != "":
		return text("mo", signs[name])
	case letters[name] != "":
		return text("mi", letters[name])
	case slices.Contains(functions, name):
		return text("mi", name)
	case accents[name] != "":
		return `<mover accent="true">` + f.argument() + text("mo", accents[name]) + "</mover>"
	}
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac":
		return element("mfrac", f.argument(), f.argument())
	case "binom", "dbinom", "tbinom":
		return `<mrow><mo>(</mo><mfrac linethickness="0">` + f.argument() + f.argument() + "</mfrac><mo>)</mo></mrow>"
	case "sqrt":
		if degree, ok := f.take(texDegree); ok {
			of := f.set(degree)
			return element("mroot", f.argument(), of)
		}
		return element("msqrt", f.argument())
	case "boxed", "fbox":
		return `<mrow class="boxed">` + f.argument() + "</mrow>"
	case "pmod":
		return "<mrow><mo>(</mo><mi>mod</mi>" + text("mtext", "\u2009") + f.argument() + "<mo>)</mo></mrow>"
	case "text", "textbf", "textit", "textrm", "textnormal", "mbox", "mathrm", "operatorname":
		words, ok := f.take(texWords)
		if !ok {
			return f.fail()
		}
		return text("mtext", strings.ReplaceAll(words, " ", "\u00a0"))
	case "mathbb":
		if letter, _ := f.take(texWords); double[letter] != "" {
			return text("mi", double[letter])
		}
	case "mathbf", "bold", "boldsymbol", "mathop":
		return f.argument()
	case "begin":
		return f.table()
	}
	return f.fail()
}

// table sets an environment of rows and cells.
func (f *formula) table() string {
	kind, _ := f.take(texName)
	around, known := tables[kind]
	f.take(texColumns)
	body := f.inside(`\end`)
	if again, _ := f.take(texName); !known || again != kind {
		return f.fail()
	}
	cells := f.all(body, map[string]string{"&": "</mtd><mtd>", `\\`: "</mtd></mtr><mtr><mtd>"})
	return "<mrow>" + around[0] + "<mtable><mtr><mtd>" + cells + "</mtd></mtr></mtable>" + around[1] + "</mrow>"
}

func text(name, of string) string {
	return "<" + name + ">" + template.HTMLEscapeString(of) + "</" + name + ">"
}

func element(name string, of ...string) string {
	return "<" + name + ">" + strings.Join(of, "") + "</" + name + ">"
}

// pairs reads keys, each with its value behind it.
func pairs(of string) map[string]string {
	m, words := map[string]string{}, strings.Fields(of)
	for i := 0; i < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	return m
}

var (
	letters = pairs(`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν
		xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ
		Phi Φ Psi Ψ Omega Ω ell ℓ infty ∞ emptyset ∅ varnothing ∅ hbar ℏ Re ℜ Im ℑ aleph ℵ`)
	signs = pairs(`cdot ⋅ times × div ÷ pm ± mp ∓ le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > ll ≪ gg ≫ approx ≈ equiv ≡
		sim ∼ simeq ≃ cong ≅ propto ∝ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ to → rightarrow →
		Rightarrow ⇒ implies ⟹ leftarrow ← Leftarrow ⇐ leftrightarrow ↔ Leftrightarrow ⇔ iff ⟺ mapsto ↦ longrightarrow ⟶ ldots … dots …
		cdots ⋯ dotsb ⋯ dotsm ⋯ dotsc … vdots ⋮ ddots ⋱ circ ∘ bullet • star ⋆ ast ∗ oplus ⊕ otimes ⊗ forall ∀ exists ∃ neg ¬ land ∧ wedge ∧
		lor ∨ vee ∨ partial ∂ nabla ∇ angle ∠ triangle △ perp ⊥ parallel ∥ mid ∣ nmid ∤ sum ∑ prod ∏ int ∫ bigcup ⋃ bigcap ⋂ prime ′
		degree ° colon : square □ blacksquare ■ therefore ∴ because ∵ checkmark ✓ bmod mod mod mod % % $ $ # # & & _ _ { { } } | ‖
		langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ vert | lvert | rvert | Vert ‖ lbrace { rbrace }`)
	double    = pairs("C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ")
	accents   = pairs(`overline ‾ bar ‾ hat ^ widehat ^ vec → overrightarrow → tilde ~ widetilde ~ dot ˙ ddot ¨ overbrace ⏞`)
	functions = strings.Fields("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim limsup liminf max min sup inf gcd det dim ker deg arg Pr")
	limits    = strings.Fields(`\sum \prod \lim \limsup \liminf \max \min \sup \inf \bigcup \bigcap`)
	ignored   = strings.Fields(`\left \right \displaystyle \textstyle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \limits \nolimits \! \allowbreak`)
	spaces    = map[string]string{"~": "\u00a0", `\ `: "\u00a0", `\,`: "\u2009", `\:`: "\u2005", `\;`: "\u2004", `\quad`: "\u2003", `\qquad`: "\u2003\u2003"}
	tables    = map[string][2]string{ // with what stands around them
		"matrix": {}, "array": {}, "aligned": {}, "align": {}, "gathered": {}, "gather": {}, "split": {}, "cases": {"<mo>{</mo>"},
		"pmatrix": {"<mo>(</mo>", "<mo>)</mo>"}, "bmatrix": {"<mo>[</mo>", "<mo>]</mo>"}, "vmatrix": {"<mo>|</mo>", "<mo>|</mo>"},
	}
)
