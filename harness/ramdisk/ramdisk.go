// Package ramdisk lets tests keep their temporary folders in memory: they write and remove many small files, and what the kernel does
// for that on a disk, its journal above all, is up to half of what the tests cost. Their code sees the same system calls.
package ramdisk

import (
	"os"
	"path/filepath"
	"time"
)

// Use makes a folder in memory that of temporary files, where the system has one with room and TMPDIR does not name another. leave
// removes the folder; a test binary that is killed leaves it to the next one, which removes it.
func Use() (leave func()) {
	if os.Getenv("TMPDIR") != "" {
		return func() {}
	}
	root := inMemory()
	if root == "" {
		return func() {}
	}
	return use(root)
}

const prefix = "entrorouter-test-"

func use(root string) (leave func()) {
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
