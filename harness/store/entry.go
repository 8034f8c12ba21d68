// A finished entry: its files, and what is wrong with it.

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// ErrMissing says that nothing is stored under a recipe.
	ErrMissing = errors.New("not in the store")
	// ErrCorrupt says that what is stored is not what was written. Make moves it aside and makes it again.
	ErrCorrupt = errors.New("corrupt entry")
	// ErrForm says that a recipe has a form that this version does not read.
	ErrForm = errors.New("not a recipe of this version")
)

const (
	recipeFile   = "recipe.json"
	envFile      = "env.json"
	manifestFile = "manifest.json"
)

// CorruptError lists what is wrong with an entry.
type CorruptError struct {
	Key    Key
	Dir    string
	Faults []string // one a file
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: %v in %q: %s", e.Key, ErrCorrupt, e.Dir, strings.Join(e.Faults, "; "))
}

// Is makes errors.Is(err, ErrCorrupt) hold.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Entry is the stored output of one stage. It is read-only.
type Entry struct {
	Key    Key
	Dir    string
	Files  []File // the stage's own files, sorted by name
	Digest string // SHA-256 of the manifest, in hex: entries with equal digests hold the same bytes
}

// File is one line of a manifest.
type File struct {
	Name   string `json:"name"` // slash-separated path below the entry
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Path returns where a file of the entry lies.
func (e Entry) Path(name string) string { return filepath.Join(e.Dir, filepath.FromSlash(name)) }

// Open opens a file of the entry.
func (e Entry) Open(name string) (*os.File, error) {
	if !e.Has(name) {
		var known []string
		for _, f := range e.Files {
			known = append(known, f.Name)
		}
		return nil, fmt.Errorf("%s has no file %q; it has: %s", e.Key, name, strings.Join(known, ", "))
	}
	return os.Open(e.Path(name))
}

// Has says whether the entry has a file.
func (e Entry) Has(name string) bool {
	return slices.ContainsFunc(e.Files, func(f File) bool { return f.Name == name })
}

// ReadFile returns the content of a file of the entry.
func (e Entry) ReadFile(name string) ([]byte, error) {
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Env reads what was written beside an entry about its making into v.
func (e Entry) Env(v any) error {
	data, err := os.ReadFile(e.Path(envFile))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// manifest lists the files of an entry, recipe.json among them.
type manifest struct {
	Key   Key    `json:"key"`
	Files []File `json:"files"`
}

// entry describes the folder that the manifest, encoded as data, belongs to.
func (m manifest) entry(dir string, data []byte) Entry {
	sum := sha256.Sum256(data)
	own := slices.DeleteFunc(slices.Clone(m.Files), func(f File) bool { return f.Name == recipeFile })
	return Entry{Key: m.Key, Dir: dir, Files: own, Digest: hex.EncodeToString(sum[:])}
}

// readEntry reads and verifies the folder of a key; faults is nil if all is well.
func readEntry(dir string, k Key) (e Entry, faults []string) {
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return e, []string{faultOf(manifestFile, err)}
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return e, []string{faultOf(manifestFile, err)}
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			faults = append(faults, fmt.Sprintf("%s lists %q, which is outside the entry", manifestFile, f.Name))
			continue
		}
		got, err := describe(dir, f.Name)
		switch {
		case err != nil:
			faults = append(faults, faultOf(f.Name, err))
		case got.Size != f.Size:
			faults = append(faults, fmt.Sprintf("%s has %d bytes instead of %d", f.Name, got.Size, f.Size))
		case got.SHA256 != f.SHA256:
			faults = append(faults, fmt.Sprintf("%s has another SHA-256 than the manifest says", f.Name))
		}
	}
	// The manifest itself is covered by the recipe, which it must list and which must hash to the key, and by the
	// files, which must hash to what it says.
	stored := slices.IndexFunc(m.Files, func(f File) bool { return f.Name == recipeFile })
	if want := hex.EncodeToString(k.Sum[:]); m.Key != k || stored < 0 || m.Files[stored].SHA256 != want {
		faults = append(faults, "it was made from another recipe")
	}
	return m.entry(dir, data), faults
}

func faultOf(name string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return name + " is missing"
	}
	return fmt.Sprintf("%s: %v", name, err)
}

// describe reads a file below dir and returns its manifest line.
func describe(dir, name string) (File, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return File{}, err
	}
	return File{Name: name, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
