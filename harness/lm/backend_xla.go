//go:build xla

package lm

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
)

const xlaNote = ""

// openXLA turns TF32 off unless the options say otherwise: it keeps 10 bits of a float32, so losses could not be
// compared with another backend's.
func openXLA(name, plugin string) (compute.Backend, error) {
	xla.EnableAutoInstall(false)
	if !strings.Contains(plugin, "tf32") {
		plugin += ",tf32=false"
	}
	backend, err := xla.New(plugin)
	if err != nil {
		return nil, fmt.Errorf("open backend %q: %w", name, err)
	}
	return backend, nil
}
