// Folders that a command is to write to: what is in their way is said before anything is carried out.

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// checkFolder refuses a folder that a flag names where a file is in its place, or in that of a folder above it.
func checkFolder(folder, flag string) error {
	for at := filepath.Clean(folder); ; at = filepath.Dir(at) {
		switch info, err := os.Stat(at); {
		case err == nil && !info.IsDir():
			return usageError{fmt.Errorf("%s is a file; name a folder with --%s", at, flag)}
		case err == nil, at == filepath.Dir(at):
			return nil
		}
	}
}
