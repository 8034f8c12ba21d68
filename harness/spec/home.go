// Where a data file is published, and how the rows found there become the lines that we read.

package spec

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Unpinned stands for a revision or a checksum that nobody has downloaded yet. 'entrorouter fetch' records what it finds
// in the data folder, and from then on that is what it must be.
const Unpinned = "unpinned"

// Home says where a data file is published and how its rows become lines.
type Home struct {
	Access   string            `yaml:"access,omitempty"` // what to do before the publisher lets the file go, as a sentence
	Parts    []Part            `yaml:"parts"`            // in the order of the lines
	Format   string            `yaml:"format" oneof:"jsonl json csv parquet"`
	Most     int               `yaml:"most" in:"[1,1e6]"`  // MB of all downloads together; more is refused
	Label    string            `yaml:"label,omitempty"`    // what every line has as its benchmark; default: the name of the set
	Columns  map[string]Column `yaml:"columns"`            // key of a line -> the columns that it is made of
	Where    map[string]string `yaml:"where,omitempty"`    // column -> pattern; rows that do not match are left out
	Distinct bool              `yaml:"distinct,omitempty"` // of rows with one problem the first counts
	Answered bool              `yaml:"answered,omitempty"` // rows without an answer are left out; default: an error
	First    bool              `yaml:"first,omitempty"`    // the first rows up to the size of the set; files after them are not downloaded
	Verbatim bool              `yaml:"verbatim,omitempty"` // white space around texts is kept
}

// Part is one file of a home, or the files that a pattern names, in the order of their names.
type Part struct {
	Host     string `yaml:"host" oneof:"github huggingface"`
	Repo     string `yaml:"repo"`     // owner/name; of Hugging Face a data set
	Revision string `yaml:"revision"` // commit, or unpinned: that of the main branch when it is first fetched
	Path     string `yaml:"path"`     // in the repository; of Hugging Face with * for any text within a name
	SHA256   string `yaml:"sha256"`   // of the one file, or unpinned
	Name     string `yaml:"name,omitempty"`
	From     int    `yaml:"from,omitempty" in:"[1,1e9]"` // first row that counts; default: 1
	To       int    `yaml:"to,omitempty" in:"[1,1e9]"`   // last row that counts; default: all
}

// Column says how a value of a line is made of a row. From names columns of which the first that the row has counts; "#0"
// and "#1" are the number of the row in its part, counted from 0 or 1. All names columns that together are a list, the
// options of a question: the first is the answer then, and they are put in an order that depends on the question alone.
type Column struct {
	From  []string `yaml:"from,omitempty"`
	All   []string `yaml:"all,omitempty"`
	Match string   `yaml:"match,omitempty"` // a pattern that the text must match, and
	As    string   `yaml:"as,omitempty"`    // what is made of it: $1 is its first group, {part} the name of the part
}

var (
	repoName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$`)
	commit   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

func checkHome(d *decoder, knob string, f File) {
	h := f.Home
	if strings.HasSuffix(f.Path, ".gz") {
		d.faultAt(knob, "what is fetched is not compressed; want a path without .gz, got %q", f.Path)
	}
	pattern := func(at, text string) {
		if _, err := regexp.Compile(text); err != nil {
			d.faultAt(at, "%q is not a pattern: %v", text, err)
		}
	}
	for i, p := range h.Parts {
		at := fmt.Sprintf("%s.parts[%d]", knob, i)
		switch {
		case p.Repo != "" && !repoName.MatchString(p.Repo):
			d.faultAt(at+".repo", "want owner/name, got %q", p.Repo)
		case p.Host == "github" && !commit.MatchString(p.Revision):
			d.faultAt(at+".revision", "want the 40 hexadecimal digits of a commit, got %q", p.Revision)
		case p.Revision != Unpinned && !commit.MatchString(p.Revision):
			d.faultAt(at+".revision", "want the 40 hexadecimal digits of a commit or %s, got %q", Unpinned, p.Revision)
		case p.SHA256 != Unpinned && !sha256Hex.MatchString(p.SHA256):
			d.faultAt(at+".sha256", "want 64 hexadecimal digits or %s, got %q", Unpinned, p.SHA256)
		case p.To > 0 && p.To < p.From:
			d.faultAt(at+".to", "want at least %d, got %d", p.From, p.To)
		}
		if _, err := path.Match(p.Path, ""); err != nil || !fs.ValidPath(p.Path) {
			d.faultAt(at+".path", "want a path in the repository, got %q", p.Path)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.Columns)) {
		c, at := h.Columns[key], child(knob+".columns", key)
		if (c.From == nil) == (c.All == nil) {
			d.faultAt(at, "want one of the keys from and all")
		}
		if c.All != nil && key != "options" {
			d.faultAt(at+".all", "only options are made of several columns")
		}
		pattern(at+".match", c.Match)
	}
	for _, key := range []string{"id", "problem", "answer"} {
		c := h.Columns["options"]
		if _, ok := h.Columns[key]; !ok && (key != "answer" || c.All == nil) {
			d.faultAt(knob+".columns", "%q is not set", key)
		}
	}
	for column, text := range h.Where {
		pattern(child(knob+".where", column), text)
	}
}

// Recordings is the file recordings.yaml: sets of recorded answers that are published.
type Recordings map[string]Published

// Published says where a recorded set is published and what is made of it.
type Published struct {
	Title   string          `yaml:"title" line:"true"`
	Licence string          `yaml:"licence"`
	From    []Origin        `yaml:"from"`                                                               // in the order in which its files are read
	Format  string          `yaml:"format" oneof:"mmlu-pro reasoning-gym routellm-gsm8k routellm-mmlu"` // what its files are, see package publisher
	Golds   string          `yaml:"golds,omitempty"`                                                    // a problem set with a home, which has the answers that its publisher leaves out
	Most    int             `yaml:"most" in:"[1,1e6]"`                                                  // MB of all its downloads together; more is refused
	Files   []PublishedFile `yaml:"files"`
}

// Origin is a repository at GitHub, or some of its files.
type Origin struct {
	Repo     string   `yaml:"repo"`            // owner/name
	Revision string   `yaml:"revision"`        // commit
	Paths    []string `yaml:"paths,omitempty"` // of files in the repository; default: all that it has, as one archive
}

func (o Origin) String() string { return o.Repo + " at " + o.Revision }

// PublishedFile is a file of lines that is made of a recorded set.
type PublishedFile struct {
	Path   string `yaml:"path"`   // below the data folder; its name without extension is that of the converter
	SHA256 string `yaml:"sha256"` // of the lines, or unpinned
	Rows   int    `yaml:"rows" in:"[1,1e9]"`
}

// recordingsFile is the file of the published recordings.
const recordingsFile = "recordings.yaml"

// LoadRecordings reads recordings.yaml of a file system and checks it. A folder without one has none.
func LoadRecordings(fsys fs.FS) (Recordings, error) {
	l := &loader{fsys: fsys, out: &Resolved{Files: map[string][]byte{}}, spec: newDecoder(where(fsys, recordingsFile))}
	l.faults = l.spec.faults
	all := Recordings{}
	if data, ok := l.read(recordingsFile); ok {
		l.spec.document(data, &all, true)
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
				if !fs.ValidPath(file) {
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

// LoadBenchmarks reads benchmarks.yaml of a file system, checked as Load checks it, without an experiment.
func LoadBenchmarks(fsys fs.FS) (Benchmarks, error) {
	l := &loader{fsys: fsys, out: &Resolved{Files: map[string][]byte{}}, spec: newDecoder(where(fsys, benchmarksFile))}
	l.faults = l.spec.faults
	all, _ := l.readBenchmarks()
	return all, l.faults.err()
}
