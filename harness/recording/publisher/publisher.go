// Package publisher makes the lines that package recording reads of the files in which recordings are published. It knows no
// network and no disk: a converter is a function of files, wherever they come from, and their order does not matter.
//
// Where things are: formats.go has the converters by name, lines.go writes lines, and each format has a file.
package publisher

import "errors"

// File is one file of a publisher.
type File struct {
	Path string // in the repository
	Read func() ([]byte, error)
}

// Golds is the path of a file that is no publisher's: the lines of a problem set, with the answers that a publisher leaves out.
const Golds = "golds.jsonl"

// ErrNoFiles says that among the files were none of a set.
var ErrNoFiles = errors.New("holds none of the files that this set is made of")
