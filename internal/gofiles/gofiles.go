// Package gofiles reads the Go files of a module: of what cmd/loc counts, and of tests that hold a law over all of them.
package gofiles

import (
	"io/fs"
	"path"
	"strings"
)

// Each visits every Go file of a module, tests among them, by its path from the module's root and its text. Folders that
// the go command passes over are passed over: testdata, names that begin with a dot or an underscore, and modules of
// their own, as make build-xla and make bench-reproduce leave them below build/.
func Each(module fs.FS, visit func(name string, source []byte) error) error {
	return fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".":
			_, err := fs.Stat(module, path.Join(name, "go.mod"))
			if base := d.Name(); err == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		return visit(name, source)
	})
}
