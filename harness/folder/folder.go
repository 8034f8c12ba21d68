// Package folder makes folders that are whole or not there.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// Vacant says whether a folder may be made: it must be empty or not there yet, and none that the process is in.
func Vacant(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%w: %s is a file; name a folder that is empty or not there yet", spec.ErrUsage, dir)
	} else if here, wrong := os.Stat("."); err == nil && wrong == nil && os.SameFile(info, here) {
		return fmt.Errorf("%w: %s is the folder that you are in, which would be replaced; name another", spec.ErrUsage, dir)
	}
	held, err := os.ReadDir(dir)
	if err == nil && len(held) > 0 {
		return fmt.Errorf("%w: %s holds %s already; name a folder that is empty or not there yet", spec.ErrUsage, dir, held[0].Name())
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Make makes a folder, which must be Vacant: fill writes into a hidden one beside it, which takes its place. If that fails, or the
// process is killed, dir is as it was.
func Make(dir string, fill func(temporary string) error) (err error) {
	if err := Vacant(dir); err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(filepath.Clean(dir)), "."+filepath.Base(dir)+".part")
	if err := os.RemoveAll(temporary); err != nil { // of a process that was killed
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	if err := os.MkdirAll(temporary, 0o777); err != nil {
		return err
	}
	if err := fill(temporary); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // empty: a folder is renamed over one on some systems only
		return err
	}
	return os.Rename(temporary, dir)
}
