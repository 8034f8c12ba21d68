package features

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// every reads all parts.
func every() spec.Features {
	return spec.Features{
		Read: []string{"vectors", "words", "structure", "characters"}, Words: spec.Words{Buckets: 64, NGrams: 2},
		Characters: spec.Characters{Buckets: 32, Shortest: 1, Longest: 3}, Vectors: spec.Vectors{File: "v.jsonl"},
	}
}

func vectorsOf(texts ...string) *Vectors {
	v := &Vectors{name: "v.jsonl", size: 2, byText: map[string][]float32{}}
	for i, x := range texts {
		v.byText[x] = []float32{3, float32(i)}
	}
	return v
}

func length(values []float32) float64 {
	var square float64
	for _, v := range values {
		square += float64(v) * float64(v)
	}
	return math.Sqrt(square)
}

// between returns the part of a row with ids from first to last-1, ids from 0.
func between(row policy.Row, first, last int) (part policy.Row) {
	for k, id := range row.IDs {
		if int(id) >= first && int(id) < last {
			part.IDs, part.Values = append(part.IDs, id-int32(first)), append(part.Values, row.Values[k])
		}
	}
	return part
}

// A row of all parts is the rows of the parts side by side, in one order however the spec has them.
func TestARowIsItsPartsSideBySide(t *testing.T) {
	texts := []string{"Find $x^2 = 49$.", "How many ways are there?", ""}
	whole, err := New(t.Context(), Reading{Of: every(), Vectors: vectorsOf(texts...)}, texts)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := whole.Rows(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, part := range []string{"structure", "words", "characters", "vectors"} {
		of := every()
		of.Read = []string{part}
		if part != "vectors" {
			of.Vectors = spec.Vectors{}
		}
		alone, err := New(t.Context(), Reading{Of: of, Vectors: vectorsOf(texts...)}, texts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := alone.Rows(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			got := between(row, first, first+alone.Width())
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("%s of %q: %s", part, texts[i], diff)
			}
			if l := length(got.Values); part != "structure" && len(got.Values) > 0 && math.Abs(l-1) > 1e-6 {
				t.Errorf("%s of %q have length %v", part, texts[i], l)
			}
		}
		first += alone.Width()
	}
	if whole.Width() != first {
		t.Errorf("%d features, the parts have %d", whole.Width(), first)
	}
	directions, err := whole.Directions(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range directions {
		if l := length(row.Values); math.Abs(l-1) > 1e-6 {
			t.Errorf("the direction of %q has length %v", texts[i], l)
		}
	}
}

// By hand: counts 1 and 3 have values log 2 and log 4, so 1 and 2 over the root of 5. Structure is standardised and scaled.
func TestRowsByHand(t *testing.T) {
	texts := []string{"a a a b", "b"}
	s, err := New(t.Context(), Reading{Of: spec.Features{Read: []string{"words", "structure"}, Words: spec.Words{Buckets: 1 << 20, NGrams: 1}}}, texts)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Rows(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	words := between(rows[0], len(surfaceNames), s.Width()).Values
	for i, v := range words {
		words[i] = float32(math.Abs(float64(v)))
	}
	slices.Sort(words)
	if len(words) != 2 || math.Abs(float64(words[0])-1/math.Sqrt(5)) > 1e-6 || math.Abs(float64(words[1])-2/math.Sqrt(5)) > 1e-6 {
		t.Errorf("words %v", words)
	}
	for _, v := range between(rows[0], 0, len(surfaceNames)).Values { // of two texts, each is one deviation from the mean
		if math.Abs(math.Abs(float64(v))-0.15) > 1e-6 {
			t.Errorf("structure %v, want 0.15", v)
		}
	}
}

// Values are the logarithms to the last bit, looked up or computed.
func TestCountsAreDamped(t *testing.T) {
	for _, c := range []int32{0, 1, -1, 2, 62, 63, -63, 64, -64, 65, 1000, math.MaxInt32, math.MinInt32} {
		want := float32(math.Copysign(math.Log1p(math.Abs(float64(c))), float64(c)))
		if got := appendCounts(policy.Row{}, 3, []bucketCount{{7, c}}); got.IDs[0] != 10 || got.Values[0] != want {
			t.Errorf("a count of %d is %v at %d, want %v at 10", c, got.Values[0], got.IDs[0], want)
		}
	}
}

// Rows of 1,000 texts of some 100 words that were read before.
func BenchmarkRowsOfKnownTexts(b *testing.B) {
	var texts []string
	for i := range 1000 {
		var text strings.Builder
		for k := range 100 {
			fmt.Fprintf(&text, "word%d ", (i+k*k)%500)
		}
		texts = append(texts, text.String())
	}
	s, err := New(b.Context(), Reading{Of: spec.Features{Read: []string{"words", "structure"}, Words: spec.Words{Buckets: 4096, NGrams: 2}}, Memory: NewTexts(64 << 20)}, texts)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Rows(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}

// A character n-gram knows neither which digit it has, nor the case, nor how wide a blank is.
func TestCharactersByHand(t *testing.T) {
	of := spec.Characters{Buckets: 1 << 20, Shortest: 2, Longest: 3}
	if diff := cmp.Diff(characters("Ab\n\n 12", of), characters("aB 98", of), cmp.AllowUnexported(bucketCount{})); diff != "" {
		t.Error(diff)
	}
	if got := characters("äbc", of); len(got) != 3 { // äb, bc, äbc
		t.Errorf("%d n-grams of three characters, want 3", len(got))
	}
	if got := characters("a", of); len(got) != 0 {
		t.Errorf("one character has n-grams of two: %v", got)
	}
}

func TestIdsOfAnyTextAreDistinctAndBelowTheWidth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		s, err := New(t.Context(), Reading{Of: every(), Vectors: vectorsOf("one text", text)}, []string{"one text"})
		if err != nil {
			rt.Fatal(err)
		}
		rows, err := s.Rows(t.Context(), []string{text})
		if err != nil {
			rt.Fatal(err)
		}
		ids := rows[0].IDs
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) || int(ids[len(ids)-1]) >= s.Width() {
			rt.Errorf("ids %v of width %d", ids, s.Width())
		}
	})
}

func TestASetComesBackFromJSON(t *testing.T) {
	texts := []string{"Find $x^2 = 49$.", "How many ways are there?"}
	s, err := New(t.Context(), Reading{Of: every(), Vectors: vectorsOf(texts...)}, texts)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Set
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back, err = back.With(Reading{Vectors: vectorsOf(texts...)}); err != nil {
		t.Fatal(err)
	}
	want, err1 := s.Rows(t.Context(), texts)
	got, err2 := back.Rows(t.Context(), texts)
	if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
		t.Errorf("%v, %v: %s", err1, err2, diff)
	}
	if other, err := back.With(Reading{Vectors: &Vectors{byText: map[string][]float32{texts[0]: {1, 2, 3}}}}); err != nil {
		t.Error(err)
	} else if _, err := other.Rows(t.Context(), texts[:1]); err == nil || !strings.Contains(err.Error(), `vectors of 2 numbers, and that of "Find $x^2 = 49$." has 3`) {
		t.Errorf("vectors of another size: %v", err)
	}
	if _, err := back.With(Reading{}); err == nil || !strings.Contains(err.Error(), "vectors of 2 numbers, and none are given") {
		t.Errorf("no vectors: %v", err)
	}
	if _, err := (Set{}).With(Reading{}); err == nil || !strings.Contains(err.Error(), "version 0") {
		t.Errorf("another version: %v", err)
	}
}
