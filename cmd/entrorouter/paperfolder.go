// A paper as data: the built-in one, or that of a folder.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/results"
)

// paperFolder is a paper as data: tables and, if it has them, claims and orderings.
type paperFolder struct {
	tables                  *paper.Tables
	list                    *paper.List      // empty if the folder has no claims.yaml
	orderings               *paper.Orderings // nil if it has no orderings.yaml
	listFile, orderingsFile string           // as a reader can open them
}

// readPaper reads the built-in paper, or that of a folder.
func readPaper(folder string) (p paperFolder, err error) {
	var fsys fs.FS = results.FS
	dir, above := "paper", "results" // what errors call a file: above/dir/file
	if folder != "" {
		if info, err := os.Stat(folder); err != nil {
			return p, fmt.Errorf("--paper: %w; name a folder with the tables of a paper (*.txt)", err)
		} else if !info.IsDir() {
			return p, fmt.Errorf("--paper: %s is no folder; name the one that the tables of a paper (*.txt) are in", folder)
		}
		fsys, dir, above = os.DirFS(folder), ".", folder
	}
	shown := filepath.Join(above, dir)
	p.list, p.listFile, p.orderingsFile = &paper.List{}, shown, filepath.Join(shown, "orderings.yaml")
	if p.tables, err = paper.ReadTables(fsys, dir); err != nil {
		return p, fmt.Errorf("%s/%w", strings.TrimRight(above, "/"), err)
	}
	data, err := fs.ReadFile(fsys, path.Join(dir, "claims.yaml"))
	switch {
	case err == nil:
		p.listFile = filepath.Join(shown, "claims.yaml")
		if p.list, err = paper.ReadList(p.listFile, data); err != nil {
			return p, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return p, fmt.Errorf("%s: %w", shown, err)
	}
	data, err = fs.ReadFile(fsys, path.Join(dir, "orderings.yaml"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return p, fmt.Errorf("%s: %w", shown, err)
	}
	p.orderings, err = paper.ReadOrderings(p.orderingsFile, data)
	return p, err
}
