// Where a data file is published, and how the rows found there become the lines that we read.

package spec

import (
	"maps"
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

// Recordings is the file recordings.yaml: sets of recorded answers that are published.
type Recordings map[string]Published

// of is the name of the set that a file is made of, by its path below the data folder, compressed or not; empty: none.
func (r Recordings) of(file string) string {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if slices.ContainsFunc(r[name].Files, func(f PublishedFile) bool { return f.Path == strings.TrimSuffix(file, ".gz") }) {
			return name
		}
	}
	return ""
}

// Published says where a recorded set is published and what is made of it.
type Published struct {
	Title   string          `yaml:"title" line:"true"`
	Licence string          `yaml:"licence"`
	From    []Origin        `yaml:"from"`                                                                                // in the order in which its files are read
	Format  string          `yaml:"format" oneof:"lineage mmlu-pro reasoning-gym routellm-gsm8k routellm-mmlu zeroeval"` // what its files are, see package publisher
	Golds   string          `yaml:"golds,omitempty"`                                                                     // a problem set with a home, which has the answers that its publisher leaves out
	Most    int             `yaml:"most" in:"[1,1e6]"`                                                                   // MB of all its downloads together; more is refused
	Files   []PublishedFile `yaml:"files"`
}

// Origin is a repository at GitHub, or some of its files.
type Origin struct {
	Repo     string   `yaml:"repo"`            // owner/name
	Revision string   `yaml:"revision"`        // commit
	Paths    []string `yaml:"paths,omitempty"` // of files in the repository, which are downloaded; a pattern with *, for any text within a name, is of those in its archive; default: all in its archive
}

// Archived says whether the archive of a repository is downloaded and not files by their paths.
func (o Origin) Archived() bool {
	return len(o.Paths) == 0 || slices.ContainsFunc(o.Paths, func(p string) bool { return strings.Contains(p, "*") })
}

func (o Origin) String() string { return o.Repo + " at " + o.Revision }

// PublishedFile is a file of lines that is made of a recorded set.
type PublishedFile struct {
	Path   string   `yaml:"path"`             // below the data folder; its name without extension is that of the converter
	SHA256 string   `yaml:"sha256"`           // of the lines, or unpinned
	Models []string `yaml:"models,omitempty"` // lines of these count in the checksum and in rows, as in a pool's File; default: all
	Rows   int      `yaml:"rows" in:"[1,1e9]"`
}
