package compact

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var experts = []string{"small", "middle", "large"}

var texts = []string{
	"Find the sum of all positive integers $n$ with $n^2 < 50$.",
	"How many ways are there to seat 5 people at a round table?",
	`Evaluate $\int_0^1 x^2 \, dx$ and simplify $\frac{12}{18}$.`,
	"A circle has radius 3. What is its area?",
}

func TestPolicyFaultsAreNamed(t *testing.T) {
	good := spec.Policy{Kind: "compact", Buckets: 32, NGrams: 2, Hidden: 5}
	change := func(f func(*spec.Policy)) spec.Policy { p := good; f(&p); return p }
	for _, c := range []struct {
		name    string
		cfg     spec.Policy
		experts []string
		texts   []string
		want    string
	}{
		{"no buckets", change(func(p *spec.Policy) { p.Buckets = 0 }), experts, texts, "buckets is 0"},
		{"no n-grams", change(func(p *spec.Policy) { p.NGrams = 0 }), experts, texts, "ngrams is 0"},
		{"no layer", change(func(p *spec.Policy) { p.Hidden = -1 }), experts, texts, "hidden is -1"},
		{"one expert", good, experts[:1], texts, "1 experts; a router needs at least 2"},
		{"no texts", good, experts, nil, "pass the training texts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(t.Context(), c.cfg, c.experts, c.texts, features.Reading{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

// What older programs kept has no set, and is read as before.
func TestACheckpointSaysWhatIsRead(t *testing.T) {
	cfg := spec.Policy{Kind: "compact", Buckets: 32, NGrams: 2, Hidden: 5}
	of := spec.Features{Read: []string{"words", "characters"}, Words: spec.Words{Buckets: 64, NGrams: 1}, Characters: spec.Characters{Buckets: 128, Shortest: 2, Longest: 3}}
	for _, c := range []struct {
		reading features.Reading
		width   int
		keys    string
	}{
		{features.Reading{}, 38 + 32, "buckets experts features hidden mean ngrams sd surface"},
		{features.Reading{Of: of}, 64 + 128, "experts features hidden set"},
	} {
		p, err := New(t.Context(), cfg, experts, texts, c.reading)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(p.Config())
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(raw, &keys); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(keys)), " "); got != c.keys {
			t.Errorf("the checkpoint has %s, want %s", got, c.keys)
		}
		back, err := Read(raw, c.reading)
		if err != nil {
			t.Fatal(err)
		}
		want, err1 := p.Encode(t.Context(), texts)
		got, err2 := back.Encode(t.Context(), texts)
		if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%v, %v: %s", err1, err2, diff)
		}
		if dims := back.Weights()[0].Dims[0]; dims != c.width {
			t.Errorf("%d inputs, want %d", dims, c.width)
		}
	}
	if _, err := Read(fmt.Appendf(nil, `{"features": %d, "experts": ["a", "b"], "hidden": 5}`, features.Version), features.Reading{}); err == nil || !strings.Contains(err.Error(), "does not say what is read") {
		t.Errorf("nothing read: %v", err)
	}
}

// Parts of length 1 reach the network at the length of counts.
func TestASetIsScaledToTheLengthOfCounts(t *testing.T) {
	p, err := New(t.Context(), spec.Policy{Hidden: 5}, experts, texts, features.Reading{Of: spec.Features{Read: []string{"words"}, Words: spec.Words{Buckets: 64, NGrams: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // and once only
		rows, err := p.Encode(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		var square float64
		for _, v := range rows[0].Values {
			square += float64(v) * float64(v)
		}
		if math.Abs(math.Sqrt(square)-6) > 1e-5 {
			t.Errorf("a row of length %v, want 6", math.Sqrt(square))
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	p, err := New(b.Context(), spec.Policy{Kind: "compact", Buckets: 256, NGrams: 2, Hidden: 32}, experts, texts, features.Reading{})
	if err != nil {
		b.Fatal(err)
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = strings.Join(texts, " ") // 208 characters
	}
	for b.Loop() {
		if _, err := p.Encode(b.Context(), many); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRowsAtOnceAreFewerInALargerNetwork(t *testing.T) {
	for _, c := range []struct {
		buckets, hidden int
		want            []int
	}{
		{256, 32, []int{16, 128, 1024}},
		{4096, 128, []int{16, 128, 1024}},
		{4096, 1024, []int{16, 128}},
		{4194304, 4096, []int{16}},
	} {
		p, err := New(t.Context(), spec.Policy{Buckets: c.buckets, NGrams: 1, Hidden: c.hidden}, experts, texts, features.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Sizes(); !slices.Equal(got, c.want) {
			t.Errorf("%d buckets of %d units: %v rows, want %v", c.buckets, c.hidden, got, c.want)
		}
	}
}
