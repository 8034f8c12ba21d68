// Which sets are here.

package fetch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Status says what is known of a set without asking anybody.
type Status struct {
	Set     string
	Title   string
	Split   string
	Rows    int
	Licence string
	Pinned  string // revision and file, file, recorded, or unpinned
	Present bool
}

// Status lists what is known of every set. Whether it is present is looked up where there is a data folder.
func (f *Fetcher) Status() ([]Status, error) {
	fetched := problems.Fetched{}
	if f.Dir != "" {
		var err error
		if fetched, err = problems.ReadFetched(f.Dir); err != nil {
			return nil, err
		}
	}
	var all []Status
	for _, name := range f.Sets() {
		b := f.Benchmarks[name]
		s := Status{Set: name, Title: b.Title, Split: b.Split, Rows: b.Size, Licence: b.File.Licence, Pinned: "unpinned"}
		_, recorded := fetched[b.File.Path]
		revisions := !slices.ContainsFunc(b.File.Home.Parts, func(p spec.Part) bool { return p.Revision == spec.Unpinned })
		switch {
		case b.File.SHA256 != spec.Unpinned && revisions:
			s.Pinned = "revision, lines"
		case b.File.SHA256 != spec.Unpinned:
			s.Pinned = "lines"
		case recorded:
			s.Pinned = "recorded"
		}
		if f.Dir != "" {
			path := filepath.Join(f.Dir, filepath.FromSlash(b.File.Path))
			for _, p := range []string{path, path + ".gz"} {
				if _, err := os.Stat(p); err == nil {
					s.Present = true
				}
			}
		}
		all = append(all, s)
	}
	return append(all, f.recorded()...), nil
}

// recorded says what is known of every recorded set without asking anybody.
func (f *Fetcher) recorded() (all []Status) {
	for _, name := range slices.Sorted(maps.Keys(f.Recordings)) {
		p := f.Recordings[name]
		s := Status{Set: name, Title: p.Title, Split: "recorded", Licence: p.Licence, Pinned: "revision, lines", Present: f.Dir != ""}
		for _, file := range p.Files {
			s.Rows += file.Rows
			if file.SHA256 == spec.Unpinned {
				s.Pinned = "revision"
			}
			if _, _, err := lines.Sum(f.Dir, file.Path, file.Models...); err != nil {
				s.Present = false
			}
		}
		all = append(all, s)
	}
	return all
}
