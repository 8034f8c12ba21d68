package features

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"
)

func TestTokenize(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"words are lower-cased", "Find The", []string{"find", "the"}},
		{"a LaTeX command is one token with its backslash", `\Frac{1}`, []string{`\frac`, "{", "#1", "}"}},
		{"a number keeps only its length", "7 42 1999", []string{"#1", "#2", "#4"}},
		{"a decimal is two numbers and a point", "3.14", []string{"#1", ".", "#2"}},
		{"letters and digits are apart", "x2y", []string{"x", "#1", "y"}},
		{"symbols are one token each", "a<=b", []string{"a", "<", "=", "b"}},
		{"a lone backslash is a token", `\ \,`, []string{`\`, `\`, ","}},
		{"letters outside ASCII are letters", "Größe π≤", []string{"größe", "π", "≤"}},
		{"where no blanks are between words a letter is a token", "求x的值。カナ ผล", []string{"求", "x", "的", "值", "。", "カ", "ナ", "ผ", "ล"}},
		{"Korean has blanks", "값을 구하라", []string{"값을", "구하라"}},
		{"bytes that are no UTF-8 do not stop it", "a\xffb", []string{"a", "\ufffd", "b"}},
		{"nothing but blanks gives nothing", " \n\t", []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tokenize(c.text); !slices.Equal(got, c.want) {
				t.Errorf("tokenize(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestSurfaceFeaturesOfASmallText(t *testing.T) {
	text := `Find $\frac{12}{3}$ and (x+y). Why? Why?`
	got := surface(text, tokenize(text))
	if len(got) != len(surfaceNames) {
		t.Fatalf("%d features, %d names", len(got), len(surfaceNames))
	}
	log := math.Log1p
	for name, want := range map[string]float64{
		"characters":         log(40),
		"tokens":             log(21), // find $ \frac { #2 } { #1 } $ and ( x + y ) . why ? why ?
		"sentences":          log(3),
		"lines":              0,
		"unique token ratio": 16.0 / 21,
		"mean word length":   15.0 / 6, // find and x y why why
		"capitals ratio":     3.0 / 19, // the letters of \frac count, too
		"numbers":            log(2),
		"longest number":     log(2),
		"mean number length": 1.5,
		"latex commands":     log(1),
		"\\frac":             log(1),
		"\\sqrt":             0,
		"dollar signs":       log(2),
		"bracket depth":      log(1),
		"[asy]":              0,
		"+":                  log(1),
		"{":                  log(2),
		"?":                  log(2),
	} {
		if i := slices.Index(surfaceNames, name); math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got[i], want)
		}
	}
}

func TestHashedNGramsAddUpOverRepeatsAndLengths(t *testing.T) {
	const buckets = 1 << 20 // no collisions
	count := func(tokens []string, n int) (nonZero, total int) {
		counts := make([]int32, buckets)
		hashNGrams(tokens, n, counts)
		for _, c := range counts {
			if c != 0 {
				nonZero++
				total += int(math.Abs(float64(c)))
			}
		}
		return nonZero, total
	}
	tokens := []string{"a", "b", "a", "b"}
	for _, c := range []struct{ n, nonZero, total int }{
		{1, 2, 4},  // a a, b b
		{2, 4, 7},  // and ab ab, ba
		{9, 7, 10}, // and aba, bab, abab
	} {
		if nonZero, total := count(tokens, c.n); nonZero != c.nonZero || total != c.total {
			t.Errorf("up to length %d: %d grams with total %d, want %d with %d", c.n, nonZero, total, c.nonZero, c.total)
		}
	}
}

func TestHashedNGramsKnowWhereATokenEnds(t *testing.T) {
	a, b := make([]int32, 64), make([]int32, 64)
	hashNGrams([]string{"ab", "c"}, 2, a)
	hashNGrams([]string{"a", "bc"}, 2, b)
	if slices.Equal(a, b) {
		t.Error("ab c and a bc have the same features")
	}
}

// TestFeaturesAreThoseOfTheirVersion fails when a text gives other features than it did when Version was set.
// Raise Version together with the digest here, or old checkpoints will be fed wrong inputs.
func TestFeaturesAreThoseOfTheirVersion(t *testing.T) {
	texts := []string{
		`Let $x$ be a positive integer with $x^2 \equiv 4 \pmod{15}$. Find the sum of all $x < 100$.`,
		"A train leaves at 9:45 and travels 120 km.\nHow long does it take at 80 km/h?",
		`Évaluer \(\int_0^1 \sqrt{1-t^2}\,dt\)!`,
		"已知 $x^2=4$，求所有x的和。",
	}
	p, err := NewCounts(t.Context(), 256, 2, texts, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Rows(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for _, r := range rows {
		for i, id := range r.IDs {
			fmt.Fprintf(h, "%d %.4f\n", id, r.Values[i])
		}
	}
	const version, want = 2, "c0531ed1337df2f5"
	if got := fmt.Sprintf("%x", h.Sum64()); Version != version || got != want {
		t.Errorf("feature version %d has digest %s; this test knows version %d with %s", Version, got, version, want)
	}
}

func FuzzCounts(f *testing.F) {
	p, err := NewCounts(context.Background(), 64, 3, []string{"one text", `and \frac{1}{2} more?`}, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "Find $x$.", `\frac{12}{3}`, "#", "#12", "\xff\xfe", "))))", "½ ² ٣"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := p.Rows(t.Context(), []string{text, text})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(rows[0].IDs, rows[1].IDs) || !slices.Equal(rows[0].Values, rows[1].Values) {
			t.Fatal("one text gave two rows")
		}
		if !slices.IsSorted(rows[0].IDs) || len(slices.Compact(slices.Clone(rows[0].IDs))) != len(rows[0].IDs) {
			t.Fatalf("ids are not distinct and sorted: %v", rows[0].IDs)
		}
		for i, v := range rows[0].Values {
			if id := int(rows[0].IDs[i]); id < 0 || id >= p.Width() {
				t.Fatalf("id %d outside %d inputs", id, p.Width())
			}
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("value %v", v)
			}
		}
	})
}
