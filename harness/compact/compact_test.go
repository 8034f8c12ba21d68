package compact

import (
	"slices"
	"strings"
	"testing"

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
			if _, err := New(t.Context(), c.cfg, c.experts, c.texts, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	p, err := New(b.Context(), spec.Policy{Kind: "compact", Buckets: 256, NGrams: 2, Hidden: 32}, experts, texts, nil)
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
		p, err := New(t.Context(), spec.Policy{Buckets: c.buckets, NGrams: 1, Hidden: c.hidden}, experts, texts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Sizes(); !slices.Equal(got, c.want) {
			t.Errorf("%d buckets of %d units: %v rows, want %v", c.buckets, c.hidden, got, c.want)
		}
	}
}
