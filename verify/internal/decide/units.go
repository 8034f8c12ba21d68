// Quantities with units, compared.

package decide

// Quantities, ratios, times of day and congruences.

import (
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// quantities compares answers of which at least one carries a unit or noun.
func (c *Comparer) quantities(a, b *formula.Node) Result {
	if a.Kind == formula.KindRelation && residue(b) || b.Kind == formula.KindRelation && residue(a) { // 2 mod 5 for x = 2 mod 5
		r, _ := c.relations(a, b)
		return r
	}
	va, ua := formula.Split(a)
	vb, ub := formula.Split(b)
	if ua == "degree" && b.Kind == formula.KindQuantity && ub == "" || ub == "degree" && a.Kind == formula.KindQuantity && ua == "" {
		return c.compare(inRadians(va, ua), inRadians(vb, ub))
	}
	if modulus, ok := strings.CutPrefix(ua, "mod "); ok && strings.HasPrefix(ub, "mod ") {
		if ua != ub {
			return different("another modulus")
		}
		return c.congruent(va, vb, modulus)
	}
	if c.Policy.AnyUnit {
		return c.compare(va, vb)
	}
	ua, ub = sterling(ua, ub), sterling(ub, ua)
	ma, okA := formula.MeasureOf(ua)
	mb, okB := formula.MeasureOf(ub)
	if pa, pb := powerOf(ua), powerOf(ub); !(okA && okB) && pa != "" && pb != "" && pa != pb {
		return different("conflicting units")
	}
	if ua != "" && ub != "" && okA && okB {
		if ma.Dimension != mb.Dimension {
			return different("conflicting units")
		}
		if ma.Scale.Cmp(mb.Scale) != 0 {
			if c.Policy.KeepUnits {
				return different("conflicting units")
			}
			return c.compare(formula.Apply(formula.KindMultiply, va, formula.Rational(ma.Scale)), formula.Apply(formula.KindMultiply, vb, formula.Rational(mb.Scale)))
		}
		return c.compare(va, vb)
	}
	if va.Kind == formula.KindTime || vb.Kind == formula.KindTime { // 5 minutes are no time of day
		return different("time of day")
	}
	if c.Policy.StrictUnits && (ua == "") != (ub == "") {
		return different("a unit on one side only")
	}
	r := c.compare(va, vb)
	if word, _, _ := strings.Cut(ua+ub, " "); (ua == "" || ub == "") && formula.Multiple(word) != 0 { // 5 dozens are 60, and 5 if dozens are asked for
		if r.Outcome == OutcomeEqual && strings.Contains(c.Question, strings.TrimSuffix(word, "s")) {
			return r
		}
		k := formula.Number(formula.Multiple(word))
		if ua == "" {
			return c.compare(va, formula.Apply(formula.KindMultiply, vb, k))
		}
		return c.compare(formula.Apply(formula.KindMultiply, va, k), vb)
	}
	if r.Outcome != OutcomeEqual && (ua == "degree") != (ub == "degree") && (ua == "" || ub == "") {
		bare := va
		if ua == "degree" {
			bare = vb
		}
		if bare.Has(func(n *formula.Node) bool {
			return n.Kind == formula.KindConstant && n.Name == "pi" || n.Kind == formula.KindCall && strings.HasPrefix(n.Name, "arc")
		}) {
			if s := c.compare(inRadians(va, ua), inRadians(vb, ub)); s.Outcome == OutcomeEqual {
				return equal("degrees and radians")
			}
		}
	}
	return r
}

// sterling reads pounds as money where the other side is.
func sterling(unit, other string) string {
	if w := strings.ToLower(unit); (w == "pounds" || w == "pound") && (other == "sterling" || strings.EqualFold(other, "pence")) {
		return "sterling"
	}
	return unit
}

// inRadians returns an angle of so many degrees, or what has no unit, in radians.
func inRadians(n *formula.Node, unit string) *formula.Node {
	if unit == "degree" {
		return formula.Divide(formula.Apply(formula.KindMultiply, n, formula.Constant("pi")), formula.Number(180))
	}
	return n
}

// powerOf returns the power that a unit is taken to as a whole, 2 for square feet and units^2; empty for no unit and for
// quotients.
func powerOf(unit string) string {
	w := strings.ToLower(unit)
	switch {
	case w == "":
		return ""
	case strings.HasPrefix(w, "square ") || strings.HasPrefix(w, "sq "):
		return "2"
	case strings.HasPrefix(w, "cubic ") || strings.HasPrefix(w, "cu "):
		return "3"
	case strings.Contains(w, "/") || strings.Contains(w, " per "):
		return ""
	}
	if i := strings.LastIndex(w, " ^"); i >= 0 {
		return w[i+2:]
	}
	return "1"
}

// congruent compares residues of one modulus.
func (c *Comparer) congruent(a, b *formula.Node, modulus string) Result {
	m, err := Read(modulus, c.Steps)
	if err != nil {
		return Unknown("congruence")
	}
	if r := c.compare(a, b); r.Outcome == OutcomeEqual {
		return r
	}
	gap, err := (evaluate.Exact{Steps: c.Steps}).Value(formula.Call("mod", formula.Subtract(a, b), m[0]))
	switch {
	case err != nil:
		return Unknown("congruence")
	case gap.Sign() == 0:
		return equal("congruence")
	}
	return different("congruence")
}

// ratios compares ratios up to a common factor, and times of day.
func (c *Comparer) ratios(a, b *formula.Node) Result {
	if a.Kind == formula.KindTime && b.Kind == formula.KindTime {
		return c.scalars(formula.Rational(a.Rat), formula.Rational(b.Rat))
	}
	if a.Kind == formula.KindTime || b.Kind == formula.KindTime {
		t, o := a, b
		if b.Kind == formula.KindTime {
			t, o = b, a
		}
		if !t.Rat.IsInt() {
			return different("time of day")
		}
		minutes := t.Rat.Num().Int64()
		hour := (minutes/60+11)%12 + 1
		if o.Kind == formula.KindRatio && len(o.Args) == 2 {
			h, okH := o.Args[0].Integer()
			m, okM := o.Args[1].Integer()
			if okH && okM && int64(m) == minutes%60 && (int64(h) == hour || int64(h) == minutes/60) {
				return equal("time of day")
			}
		}
		if v, ok := o.Integer(); ok && minutes%60 == 0 && int64(v) == hour && !c.Policy.StrictUnits {
			return equal("time of day")
		}
		return different("time of day")
	}
	parts := func(n *formula.Node) []*formula.Node {
		if n.Kind == formula.KindRatio {
			return n.Args
		}
		if n.Kind == formula.KindDivide {
			return n.Args
		}
		return []*formula.Node{n, formula.Number(1)}
	}
	if !formula.ScalarLike(a) && a.Kind != formula.KindRatio || !formula.ScalarLike(b) && b.Kind != formula.KindRatio {
		return different("answers of different kinds")
	}
	x, y := parts(a), parts(b)
	if len(x) != len(y) {
		return different("ratios of different length")
	}
	for i := range x {
		if za, zb := formula.Identical(x[i], formula.Number(0)), formula.Identical(y[i], formula.Number(0)); za || zb {
			return c.ordered(x, y) // 5:00 is no ratio
		}
	}
	for i := 1; i < len(x); i++ {
		r := c.scalars(formula.Apply(formula.KindMultiply, x[0], y[i]), formula.Apply(formula.KindMultiply, x[i], y[0]))
		if r.Outcome != OutcomeEqual {
			return r
		}
	}
	if clock(a) && clock(b) && !formula.Identical(x[0], y[0]) { // 3:45 is 1:15 as a ratio alone
		return Unknown("ratio")
	}
	return equal("ratio")
}

// clock reports whether a ratio may be a time of day: hours and two digits of minutes.
func clock(n *formula.Node) bool {
	if n.Kind != formula.KindRatio || len(n.Args) != 2 {
		return false
	}
	h, okH := n.Args[0].Integer()
	m, okM := n.Args[1].Integer()
	return okH && okM && h <= 24 && m >= 10 && m < 60
}
