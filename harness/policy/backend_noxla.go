//go:build !xla

// Builds without XLA say how to get it.

package policy

import (
	"fmt"

	"github.com/gomlx/compute"
)

const xlaNote = " (xla needs a program built with -tags xla)"

func openXLA(name, _ string) (compute.Backend, error) {
	return nil, fmt.Errorf("open backend %q: this program is built without XLA; build it with -tags xla (make build-xla) and install a PJRT plugin, for CUDA by %s", name, cudaPlugin)
}
