// Reads an answer with its sums and products that go on.

package decide

// Reading, with the series that only comparing can make out.

import (
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Read parses an answer with its sums and products of terms that go on.
func Read(s string, steps *formula.Budget) ([]*formula.Node, error) {
	return formula.Parse(s, steps, pattern)
}
