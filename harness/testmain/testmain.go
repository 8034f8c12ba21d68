// Package testmain runs the tests of a package at less cost: garbage is collected seldom, and temporary folders are in memory, where the
// system has some. Tests write and remove many small files, and what the kernel does for that on a disk, its journal above all, is
// up to a quarter of what they cost; the garbage collector takes as much. Their code makes the same calls.
package testmain

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// Cheap is a testing.M that runs at less cost.
type Cheap struct{ M interface{ Run() int } }

// Run runs the tests and returns the exit code.
func (c Cheap) Run() int {
	collectSeldom()
	defer use(inMemory())()
	return c.M.Run()
}

// What tests have in use is little: ten times as much may lie about, up to a limit. GOGC and GOMEMLIMIT override both.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1000)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(1200 << 20)
	}
}

const prefix = "entrorouter-test-"

// use makes a folder below root that of temporary files, unless TMPDIR names another. leave removes the folder; a test binary that is killed
// leaves it to the next one, which removes it.
func use(root string) (leave func()) {
	if root == "" || os.Getenv("TMPDIR") != "" {
		return func() {}
	}
	removeStale(root)
	dir, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return func() {}
	}
	held := hold(dir)
	if held == nil {
		os.Remove(dir)
		return func() {}
	}
	os.Setenv("TMPDIR", dir)
	return func() {
		os.Unsetenv("TMPDIR")
		os.RemoveAll(dir)
		held.Close()
	}
}

// removeStale removes folders that nobody holds. One that has just been made may not be held yet.
func removeStale(root string) {
	old, _ := filepath.Glob(filepath.Join(root, prefix+"*"))
	for _, dir := range old {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if held := hold(dir); held != nil {
			os.RemoveAll(dir)
			held.Close()
		}
	}
}
