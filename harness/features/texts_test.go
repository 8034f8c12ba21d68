package features

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/policy"
)

func TestRowsAreTheSameWithAnyMemory(t *testing.T) {
	var texts []string
	for i := range 60 {
		texts = append(texts, fmt.Sprintf(`Find $x_%d$ if \frac{x}{%d} = %d. Why? %c`, i%50, i%50, 7*(i%50), 'a'+rune(i%25)))
	}
	texts = append(texts, "")
	readers := func(m *Texts) []Counts {
		var all []Counts
		for _, size := range []struct{ buckets, ngrams int }{{64, 1}, {64, 2}, {4096, 2}, {1024, 2}, {96, 2}, {64, 2}} {
			p, err := NewCounts(t.Context(), size.buckets, size.ngrams, texts[:20], m)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		return all
	}
	rows := func(p Counts) []policy.Row {
		r, err := p.Rows(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	anew := readers(nil)
	for _, bytes := range []int{0, 1000, 20000, 1 << 30} {
		memory := NewTexts(bytes)
		for round := range 2 {
			for i, p := range readers(memory) {
				if diff := cmp.Diff(rows(anew[i]), rows(p)); diff != "" {
					t.Fatalf("%d bytes, reader %d, round %d: %s", bytes, i, round, diff)
				}
			}
		}
		for text, c := range memory.known {
			if bytes == 1<<30 && len(c.grams) != 3 { // the finest of each length, and what those have not
				t.Errorf("%q is known in %d ways, want 3", text, len(c.grams))
			}
		}
		if memory.Full() != (bytes < 1<<30) {
			t.Errorf("%d bytes: full is %v", bytes, memory.Full())
		}
		if inside := memory.room.Take(0); !inside || bytes == 1<<30 && len(memory.known) != 51 || bytes == 1000 && len(memory.known) > 2 {
			t.Errorf("%d bytes: %d texts known, inside the bound: %v", bytes, len(memory.known), inside)
		}
	}
}

func TestAMemoryIsSharedByGoroutines(t *testing.T) {
	memory := NewTexts(1 << 20)
	var g sync.WaitGroup
	for w := range 4 {
		g.Go(func() {
			for i := range 200 {
				memory.read(fmt.Sprint("text ", i%50), 32, 1+w%2, nil)
			}
		})
	}
	g.Wait()
	for text, c := range memory.known {
		if len(c.grams) != 2 {
			t.Errorf("%q is known in %d ways, want 2", text, len(c.grams))
		}
	}
}
