// Files beside a spec over the built-in ones.

package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Layer returns a file system in which the files of the folder dir stand over those of under: a file that dir has
// replaces the one of the same name as a whole.
func Layer(dir string, under fs.FS) (fs.FS, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("folder of specs: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("folder of specs: %q is not a folder", dir)
	}
	return layer{dir: dir, over: os.DirFS(dir), under: under}, nil
}

// Find turns the name of a spec, as typed, into what Load takes. A path to a YAML file (it ends in .yaml or has a
// separator) is read with the files of its folder laid over builtin; anything else is a name in builtin. A folder, and a file of another
// kind, is an error that says what to name.
func Find(arg string, builtin fs.FS) (fsys fs.FS, name string, err error) {
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	_, unknown := fs.Stat(builtin, arg+".yaml")
	if info, err := os.Stat(arg); err == nil && unknown != nil && !strings.HasSuffix(arg, ".yaml") && !there(arg+".yaml") {
		own := filepath.Join(arg, filepath.Base(arg)+".yaml") // as init calls it
		switch {
		case !info.IsDir():
			return nil, "", fmt.Errorf("%s does not end in .yaml; name the YAML file of a spec, or a built-in experiment", arg)
		case there(own):
			return nil, "", fmt.Errorf("%s is a folder; name the spec in it, %s", arg, own)
		}
		return nil, "", fmt.Errorf("%s is a folder; name a YAML file in it, or a built-in experiment", arg)
	}
	if !strings.HasSuffix(arg, ".yaml") && !strings.ContainsAny(arg, `/`+string(filepath.Separator)) {
		return builtin, arg, nil
	}
	file := strings.TrimSuffix(arg, ".yaml") + ".yaml"
	if _, err := os.Stat(file); err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, "", fmt.Errorf("spec %s: %w; name a YAML file or a built-in experiment", file, err)
	}
	fsys, err = Layer(filepath.Dir(file), builtin)
	return fsys, filepath.Base(file), err
}

type layer struct {
	dir         string
	over, under fs.FS
}

func (l layer) Open(name string) (fs.File, error) {
	f, err := l.over.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l.under.Open(name)
	}
	return f, err
}

// ReadDir lists the files of both folders, each name once.
func (l layer) ReadDir(name string) ([]fs.DirEntry, error) {
	over, err := fs.ReadDir(l.over, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	under, err2 := fs.ReadDir(l.under, name)
	if err != nil && err2 != nil {
		return nil, err
	}
	all := slices.Concat(over, under) // stable order: the upper entry comes first and stays
	slices.SortStableFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(all, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}

// where returns the name under which a user can open a file: its path, or its bare name if it is built in.
func (l layer) where(name string) string {
	if _, err := fs.Stat(l.over, name); err == nil {
		return filepath.Join(l.dir, filepath.FromSlash(name))
	}
	return where(l.under, name)
}

func where(fsys fs.FS, name string) string {
	if l, ok := fsys.(layer); ok {
		return l.where(name)
	}
	return name
}
