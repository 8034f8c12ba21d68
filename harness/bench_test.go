package harness

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
)

// A whole run of smoke.yaml into an empty store, and again with everything stored.
func BenchmarkSmoke(b *testing.B) {
	r := toy.Load(b, filepath.Join("..", "experiments", "smoke.yaml"))
	dir := b.TempDir()
	n := 0
	b.Run("empty store", func(b *testing.B) {
		for b.Loop() {
			n++
			runIn(b, r, filepath.Join(dir, fmt.Sprint(n)))
		}
	})
	b.Run("all stored", func(b *testing.B) {
		for b.Loop() {
			runIn(b, r, filepath.Join(dir, "1"))
		}
	})
}
