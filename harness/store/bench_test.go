package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// sampleResponse writes about 700 bytes of reasoning as the simulated experts do: stock phrases, fresh numbers.
func sampleResponse(r *rand.Rand) string {
	phrases := []string{
		"First, rewrite the expression in terms of $x_{%d}$ and collect the terms of degree %d. ",
		"Substituting $n = %d$ gives $%d \\cdot k + 1$, which must be a square. ",
		"By the quadratic formula the roots are $\\frac{%d \\pm \\sqrt{%d}}{2}$. ",
		"We count the pairs with sum %d and subtract the %d that were counted twice. ",
		"Wait, the case $m = %d$ has to be treated apart, since $%d$ is prime. ",
		"Modulo %d this leaves a remainder of %d, so the period divides it. ",
		"The area is then $%d$ times that of the triangle with base %d. ",
		"Let me check this with the values %d and %d before going on. ",
		"Adding both equations yields $%d a + %d b = 0$. ",
	}
	var b strings.Builder
	b.WriteString("<think>\n")
	for b.Len() < 640 {
		fmt.Fprintf(&b, phrases[r.IntN(len(phrases))], r.IntN(900), r.IntN(90))
	}
	fmt.Fprintf(&b, "\n</think>\nThe final answer is $\\boxed{\\frac{%d}{%d}}$.", r.IntN(1000), 1+r.IntN(100))
	return b.String()
}

// sampleRows returns 5 rollouts of each of n problems from the given one on.
func sampleRows(r *rand.Rand, from, n int) []Row {
	rows := make([]Row, 0, 5*n)
	for p := from; p < from+n; p++ {
		text := fmt.Sprintf("Find the number of integers below %d whose square leaves a remainder of %d when it is divided by "+
			"%d. Give the answer as a fraction in lowest terms and say how it can be checked.", 7*p, p%13, 13+p%7)
		for run := range 5 {
			rows = append(rows, Row{Text: text, Run: run, Seed: r.Uint64(), Response: sampleResponse(r),
				Finish: routing.Stop, In: 100, Out: r.Int64N(30000)})
		}
	}
	return rows
}

func sampleVerdicts(ids []RolloutID) []Verdict {
	verdicts := make([]Verdict, len(ids))
	for i, id := range ids {
		verdicts[i] = Verdict{Rollout: id, Gold: uint64(id) * 0x9e3779b97f4a7c15, Bucket: routing.Correct, Reason: "equal",
			Extracted: fmt.Sprintf("%d/%d", i, i+3)}
	}
	return verdicts
}

// filled returns a file with 20,000 graded rollouts in one scope.
func filled(b *testing.B) (*Rollouts, Scope) {
	db, err := openRollouts(b.Context(), filepath.Join(b.TempDir(), "rollouts.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	r := rand.New(rand.NewPCG(1, 2))
	scope := Scope{Model: "m"}
	for p := 0; p < 4000; p += 200 {
		if err := db.PutVerdicts(b.Context(), "1", sampleVerdicts(put(b, db, scope, sampleRows(r, p, 200)...))); err != nil {
			b.Fatal(err)
		}
	}
	return db, scope
}

// BenchmarkLoad reads keys, usage and verdicts: what a resumed run does first.
func BenchmarkLoad(b *testing.B) {
	db, scope := filled(b)
	n := 0
	for b.Loop() {
		for _, err := range db.Load(b.Context(), scope, "1") {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkResponses reads every text: what grading again does.
func BenchmarkResponses(b *testing.B) {
	db, scope := filled(b)
	n := 0
	for b.Loop() {
		for _, err := range db.Responses(b.Context(), scope) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkMake finds and verifies an entry of 1 MB.
func BenchmarkMake(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := NewRecipe("targets", 1, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	build := func(_ context.Context, d *Draft) error { return d.WriteFile("data", make([]byte, 1<<20)) }
	for b.Loop() {
		if _, err := s.Make(b.Context(), r, build); err != nil {
			b.Fatal(err)
		}
	}
}
