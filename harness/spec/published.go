// The file that says where recordings are published.

package spec

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// recordingsFile is the file of the published recordings.
const recordingsFile = "recordings.yaml"

// LoadRecordings reads recordings.yaml of a file system and checks it. A folder without one has none.
func LoadRecordings(fsys fs.FS) (Recordings, error) {
	l := newLoader(fsys, recordingsFile)
	all := Recordings{}
	if data, ok := l.read(recordingsFile); ok {
		l.spec.document(data, &all)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p, at := all[name], child("", name)
		switch {
		case !plainName.MatchString(name):
			l.spec.faultAt(at, "%q is not a name; %s", name, nameRule)
		case len(p.From) == 0 && p.Format != "":
			l.spec.faultAt(at+".from", "want at least one repository")
		}
		for i, o := range p.From {
			knob := fmt.Sprintf("%s.from[%d]", at, i)
			switch {
			case o.Repo != "" && !repoName.MatchString(o.Repo):
				l.spec.faultAt(knob+".repo", "want owner/name, got %q", o.Repo)
			case o.Revision != "" && !commit.MatchString(o.Revision):
				l.spec.faultAt(knob+".revision", "want the 40 hexadecimal digits of a commit, got %q", o.Revision)
			}
			for _, file := range o.Paths {
				if _, err := path.Match(file, ""); err != nil || !fs.ValidPath(file) {
					l.spec.faultAt(knob+".paths", "want paths in the repository, got %q", file)
				}
			}
		}
		for i, f := range p.Files {
			knob := fmt.Sprintf("%s.files[%d]", at, i)
			if f.SHA256 != Unpinned && f.SHA256 != "" && !sha256Hex.MatchString(f.SHA256) {
				l.spec.faultAt(knob+".sha256", "want 64 hexadecimal digits or %s, got %q", Unpinned, f.SHA256)
			}
			if f.Path != "" && (!fs.ValidPath(f.Path) || path.Ext(f.Path) != ".jsonl") {
				l.spec.faultAt(knob+".path", "want a path below the data folder that ends in .jsonl, got %q", f.Path)
			}
		}
	}
	return all, l.faults.err()
}

// published are the recordings that can be fetched. A file of them with a fault is for 'entrorouter fetch' to report.
func (l *loader) published() Recordings {
	if l.sets == nil {
		l.sets, _ = LoadRecordings(l.fsys)
	}
	return l.sets
}
