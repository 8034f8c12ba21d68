//go:build xla

// The XLA backend.

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
)

const xlaNote = ""

// cudaChecks is where go-xla reads whether to look for NVIDIA's libraries beside the plugin and to warn where they are
// not. A plugin that pip installed finds them by itself, elsewhere.
const cudaChecks = "GOPJRT_CUDA_CHECKS"

// openXLA turns TF32 off unless the options say otherwise: it keeps 10 bits of a float32, so losses could not be
// compared with another backend's.
func openXLA(name, plugin string) (compute.Backend, error) {
	xla.EnableAutoInstall(false)
	if !strings.Contains(plugin, "tf32") {
		plugin += ",tf32=false"
	}
	library, _, _ := strings.Cut(plugin, ",")
	if !filepath.IsAbs(library) && !slices.ContainsFunc(xla.GetAvailablePlugins(), func(known string) bool {
		return known == library || strings.HasPrefix(known, library+"_v")
	}) {
		return nil, fmt.Errorf("open backend %q: there is no PJRT plugin %s; install one (for CUDA by %s) and give the absolute path of the library (jax_plugins/xla_cuda13/xla_cuda_plugin.so), or its folder in PJRT_PLUGIN_LIBRARY_PATH, where it must be called pjrt_c_api_%s_plugin.so", name, library, cudaPlugin, library)
	}
	if filepath.IsAbs(library) && os.Getenv(cudaChecks) == "" {
		os.Setenv(cudaChecks, "0")
	}
	backend, err := xla.New(plugin)
	if err != nil {
		return nil, fmt.Errorf("open backend %q: %w", name, err)
	}
	return backend, nil
}
