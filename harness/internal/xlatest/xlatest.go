// Package xlatest gives tests what 'make xla-cpu' leaves below build/xla: a Python and an XLA that computes on the CPU.
// No test installs or compiles any of it; where it is not there, the test skips.
package xlatest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// variable is set by 'make test-xla' to the absolute path of build/xla.
const variable = "ENTROROUTER_XLA"

// Folder returns build/xla. The test is skipped where the variable is not set.
func Folder(t testing.TB) string {
	t.Helper()
	folder := os.Getenv(variable)
	if folder == "" {
		t.Skip("needs what make xla-cpu leaves in build/xla; make test-xla runs it")
	}
	return folder
}

// Python returns the Python that has the packages of tools/pjrt-cpu/requirements.txt and tools/python/requirements.txt.
func Python(t testing.TB) string {
	t.Helper()
	return left(t, filepath.Join("venv", "bin", "python"))
}

// Plugin returns the PJRT plugin that computes on the CPU.
func Plugin(t testing.TB) string {
	t.Helper()
	return left(t, "pjrt_c_api_cpu_plugin.so")
}

// Backend opens XLA on the CPU. It is closed when the test ends. Only tests built with -tags xla can ask for it.
func Backend(t testing.TB) policy.Backend {
	t.Helper()
	b, err := policy.OpenBackend("xla:" + Plugin(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

func left(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Folder(t), name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s names a folder that is not complete: %v; make xla-cpu makes it", variable, err)
	}
	return path
}
