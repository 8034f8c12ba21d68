// The backends that networks compute on, opened by name.

package policy

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/klauspost/cpuid/v2"
)

// Backend is where networks compute. Packages that only hand one on name it here and need not know GoMLX.
type Backend = compute.Backend

// Platform is what a backend computes on, where it can be one of several: cpu, cuda or what else XLA's plugin calls its
// first device; empty for a backend that has one, and for none.
func Platform(backend Backend) string {
	if backend == nil || backend.Name() != "xla" {
		return ""
	}
	device, _, _ := strings.Cut(backend.DeviceDescription(0), " ")
	if strings.HasPrefix(device, "TFRT_CPU") {
		return "cpu"
	}
	platform, _, _ := strings.Cut(device, ":") // cuda:0
	return platform
}

// Processor is what XLA computes on, where that is the machine's own: its name, family and model, what instructions it has and how many
// cores the program may use, as in "AMD EPYC (family 25, model 17, x86-64-v4, cores: 2)". On another one, or on more of its cores, XLA adds in
// another order. It is empty for other backends and platforms, and where the machine does not tell.
func Processor(backend Backend) string {
	c := cpuid.CPU
	if Platform(backend) != "cpu" || c.BrandName == "" {
		return ""
	}
	var is []string
	if c.Family != 0 {
		is = append(is, fmt.Sprintf("family %d, model %d", c.Family, c.Model))
	}
	if level := c.X64Level(); level > 0 {
		is = append(is, fmt.Sprintf("x86-64-v%d", level))
	}
	return fmt.Sprintf("%s (%s)", c.BrandName, strings.Join(append(is, fmt.Sprintf("cores: %d", runtime.NumCPU())), ", "))
}

// OpenBackend opens a backend by name:
//
//	go                  pure Go, always available
//	xla                 XLA through the PJRT plugin for CUDA; only in programs built with -tags xla
//	xla:<plugin>        the same through another plugin, a name ("cpu") or the absolute path of the library; options
//	                    may follow after commas
//
// Nothing is read from the environment's GOMLX variables and nothing is ever downloaded. The caller ends the
// backend with Finalize, after every model on it is closed.
func OpenBackend(name string) (backend Backend, err error) {
	// GoMLX reports some faults of backends as panics.
	defer func() {
		if fault := recover(); fault != nil {
			backend, err = nil, fmt.Errorf("open backend %q: %v", name, fault)
		}
	}()
	kind, plugin, _ := strings.Cut(name, ":")
	if name == "xla" {
		plugin = "cuda"
	}
	switch {
	case name == "go":
		// The default scheduler runs operations in parallel and can deadlock on few cores, when every worker waits
		// for another one. Matrix products use all cores under the sequential one, too.
		return gobackend.New("ops_sequential")
	case kind == "xla" && plugin != "":
		return openXLA(name, plugin)
	default:
		return nil, fmt.Errorf("unknown backend %q; known: go, xla, xla:<plugin>%s", name, xlaNote)
	}
}
