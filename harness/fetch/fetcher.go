// What gets sets, and what it says of each.

package fetch

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// Fetcher fetches sets into a data folder. All fields before Token are needed.
type Fetcher struct {
	Dir         string
	Benchmarks  spec.Benchmarks
	Recordings  spec.Recordings
	Archives    string                                // address of archives of GitHub repositories
	HuggingFace string                                // address, without a last slash
	GitHub      string                                // address of raw files
	Now         func() time.Time                      // for the date in records
	Progress    func(what string, bytes, total int64) // total 0: not known
	Token       string                                // of Hugging Face, for files that need an account; may be empty
	Client      *http.Client                          // nil: the default
	Wait        time.Duration                         // before a second try; 0: a second
	Silence     time.Duration                         // without a byte, after which a connection is given up; 0: 90 seconds
}

// Sets lists the sets that are published, sorted.
func (f *Fetcher) Sets() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.Benchmarks)), func(name string) bool {
		b := f.Benchmarks[name]
		return b.File == nil || b.File.Home == nil
	})
}

// ErrUnknown says that there is no set of a name, or none that is published.
var ErrUnknown = errors.New("unknown set")

// How a set came to be in the data folder.
type How string

const (
	Here     How = "present"  // it was there, as it must be
	Recorded How = "recorded" // it was there, and what it is was recorded
	Fetched  How = "fetched"
)

// Result is a set that is in the data folder now.
type Result struct {
	Set, Path string
	Rows      int
	SHA256    string
	How       How
}
