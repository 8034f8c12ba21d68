// A memory of what was fitted: rows and training seeds that need the same regression fit it once.

package predict

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Fits remembers regressions on texts by all that they follow from. It forgets nothing and learns no more when it is full, and what it
// returns is what fitting again would, so it decides no number. Safe for concurrent use; a nil *Fits remembers nothing.
type Fits struct {
	mu    sync.Mutex
	left  int // fits that there is still room for
	known map[[sha256.Size]byte]*fitted
}

// fitted is one that is known or being fitted. Readers must not change it.
type fitted struct {
	mu sync.Mutex
	of any
}

// NewFits returns an empty memory with room for so many fits.
func NewFits(room int) *Fits {
	return &Fits{left: room, known: map[[sha256.Size]byte]*fitted{}}
}

// Full says whether there is no room for another fit.
func (f *Fits) Full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left == 0
}

// Once returns what fit returns, from memory where it is there. Whoever wants what is being fitted waits for it.
func Once[T any](f *Fits, key [sha256.Size]byte, fit func() (T, error)) (of T, err error) {
	if f == nil {
		return fit()
	}
	f.mu.Lock()
	x, ok := f.known[key]
	if !ok && f.left > 0 {
		x, ok = &fitted{}, true
		f.known[key] = x
		f.left--
	}
	f.mu.Unlock()
	if !ok {
		return fit()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of != nil {
		return x.of.(T), nil
	}
	if of, err = fit(); err == nil {
		x.of = of
	}
	return of, err
}

// KeyOfFit is a digest of what is fitted: its kind, the features, penalties and whatever else it follows from, and of every example the
// text and the numbers that it learns from, whatever the order of the examples.
func KeyOfFit(kind string, of spec.Features, l2 []float64, examples []routing.Example, numbers func(e routing.Example) []float64) (key [sha256.Size]byte, err error) {
	settings, err := spec.Canonical(struct {
		Kind string        `yaml:"kind"`
		Of   spec.Features `yaml:"of"`
		L2   []float64     `yaml:"l2"`
	}{kind, of, l2})
	if err != nil {
		return key, err
	}
	h := sha256.New()
	h.Write(settings)
	examples = slices.Clone(examples)
	routing.InHashOrder(examples)
	for _, e := range examples {
		var line []byte
		for _, x := range []string{e.Problem.ID, e.Problem.Text} {
			line = append(binary.AppendUvarint(line, uint64(len(x))), x...)
		}
		for _, x := range numbers(e) {
			line = binary.LittleEndian.AppendUint64(line, math.Float64bits(x))
		}
		h.Write(line)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
