// What a backend computes on, and under which name go-xla knows it.

package gpucheck

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CUDA says whether go-xla makes the code of a CUDA card for a plugin. It goes by the name alone: products of bfloat16
// get another precision there, and attention may be a call of cuDNN.
func CUDA(plugin string) bool {
	name := strings.ToUpper(plugin)
	return strings.Contains(name, "CUDA") || strings.Contains(name, "NVIDIA")
}

// Renamed returns a path of the plugin under which go-xla makes the other code: that of a CUDA card for a plugin that is
// none, and the reverse. The caller calls remove when the plugin is no longer loaded.
func Renamed(plugin string) (path string, remove func(), err error) {
	library, options, _ := strings.Cut(plugin, ",")
	if !filepath.IsAbs(library) {
		return "", nil, fmt.Errorf("plugin %s: only the absolute path of a library can be given another name", library)
	}
	dir, err := os.MkdirTemp("", "plugin")
	if err != nil {
		return "", nil, err
	}
	name := "xla_cuda_plugin.so"
	if CUDA(library) {
		name = "xla_other_plugin.so"
	}
	path = filepath.Join(dir, name)
	if err := os.Symlink(library, path); err != nil {
		return "", nil, err
	}
	if options != "" {
		path += "," + options
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

// Card is an NVIDIA card.
type Card struct {
	Name   string
	Driver string
	Memory string // in use by all processes, of all there is, e.g. "13900 MiB of 143771 MiB"
}

// FirstCard asks nvidia-smi; false where there is no card. A backend that does not allocate in advance keeps what it
// has had in use, so Memory is the peak of a process that has the card for itself.
func FirstCard(ctx context.Context) (Card, bool) {
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--id=0", "--query-gpu=name,driver_version,memory.used,memory.total", "--format=csv,noheader").Output()
	fields := strings.Split(strings.TrimSpace(string(out)), ", ")
	if err != nil || len(fields) != 4 {
		return Card{}, false
	}
	return Card{Name: fields[0], Driver: fields[1], Memory: fields[2] + " of " + fields[3]}, true
}

// HostMemory returns the peak of this process's memory as the kernel tells it, e.g. "812344 kB"; empty where it does not.
func HostMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(status)) {
		if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(peak)
		}
	}
	return ""
}
