// Package publisher makes the lines that package recording reads of the files in which recordings are published. It knows no
// network and no disk: a converter is a function of files, wherever they come from, and their order does not matter.
//
// Where things are: formats.go has the converters by name, lines.go writes lines, and each format has a file; stated.go and arithmetic.go
// have how the answers of ZeroEval are read.
package publisher

import (
	"errors"
	"iter"
	"regexp"
)

// File is one file of a publisher.
type File struct {
	Path string // in the repository
	Read func() ([]byte, error)
}

// found is a file whose path matches a pattern.
type found struct {
	path   string
	of     *regexp.Regexp
	groups []string // of the path, the whole match first
	raw    []byte
}

// matching reads the files whose paths match one of several patterns, and counts for the first of these. The others are not read.
func matching(files iter.Seq2[File, error], patterns ...*regexp.Regexp) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		for f, err := range files {
			if err != nil {
				yield(found{}, err)
				return
			}
			for _, p := range patterns {
				groups := p.FindStringSubmatch(f.Path)
				if groups == nil {
					continue
				}
				raw, err := f.Read()
				if !yield(found{f.Path, p, groups, raw}, err) || err != nil {
					return
				}
				break
			}
		}
	}
}

// Golds is the path of a file that is no publisher's: the lines of a problem set, with the answers that a publisher leaves out.
const Golds = "golds.jsonl"

// ErrNoFiles says that among the files were none of a set.
var ErrNoFiles = errors.New("holds none of the files that this set is made of")
