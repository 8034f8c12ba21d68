package decide

import (
	"testing"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"

	"pgregory.net/rapid"
)

func TestSeparationBoundIsSound(t *testing.T) {
	// sqrt(a)+sqrt(b)-sqrt(c) for small integers is zero or not below the bound.
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) *formula.Node {
			return formula.Call("root", formula.Number(rapid.Int64Range(1, 60).Draw(t, name)), formula.Number(2))
		}
		sum := formula.Apply(formula.KindAdd, n("a"), n("b"), formula.Negate(n("c")))
		bits, ok := separation(sum, formula.Number(0))
		if !ok {
			t.Fatal("no bound")
		}
		x := evaluate.Numeric{Real: evaluate.Real{Prec: uint(bits) + 512, Steps: &formula.Budget{Left: formula.MaxSteps}}}
		v, err := x.Value(sum)
		if err != nil {
			t.Fatal(err)
		}
		if m := v.Magnitude(); m < -int(bits) && m > -int(bits)-400 {
			t.Fatalf("%s has magnitude 2^%d, below the bound 2^-%v", sum, m, bits)
		}
	})
}
