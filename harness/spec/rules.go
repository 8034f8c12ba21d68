// What names, checksums and lists of a spec must be like.

package spec

import (
	"fmt"
	"regexp"
)

// plainName is a name that is also part of file names and measurement keys.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const nameRule = "use letters, digits, dots, dashes and underscores"

// distinct reports values that a list holds twice.
func distinct[T comparable](d *decoder, knob string, values []T) {
	seen := map[T]bool{}
	for i, v := range values {
		if seen[v] {
			d.faultAt(fmt.Sprintf("%s[%d]", knob, i), "%v is in the list twice", v)
		}
		seen[v] = true
	}
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)
