// What a fit learned, in a file: its router comes back without training.

package predict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// ErrNotLearned says that a fit left nothing to load, or nothing that this program reads, as fits of
// older programs. The router of such a fit is had by fitting again.
var ErrNotLearned = errors.New("the fit left nothing to load")

// LearnedFile is the name of the file.
const LearnedFile = "learned.json"

// learnedFormat counts the changes of what any method keeps.
const learnedFormat = 3

// learnedFrom is learned.json: what a method learned, and of which experts, cheapest first. Numbers are written so that
// they come back to the last bit.
type learnedFrom[L any] struct {
	Format  int      `json:"format"` // learnedFormat
	Experts []string `json:"experts"`
	Learned L        `json:"learned"`
}

// Keep writes what was learned to the folder of a fit, if it has one, and returns the router that is made of it. A router
// that is made of nothing else is the same when it is loaded.
func Keep[L any](experts []routing.Expert, work routing.Work, learned L, router func(L) (routing.Router, error)) (routing.Router, error) {
	if work.Dir != "" {
		data, err := json.Marshal(learnedFrom[L]{learnedFormat, routing.IDs(experts), learned})
		if err == nil {
			err = os.WriteFile(filepath.Join(work.Dir, LearnedFile), append(data, '\n'), 0o666)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", LearnedFile, err)
		}
	}
	return router(learned)
}

// Restore returns the router of what Keep wrote to a folder, and leaves in work.Dir what Keep leaves there.
func Restore[L any](experts []routing.Expert, from string, work routing.Work, router func(L) (routing.Router, error)) (routing.Router, error) {
	data, err := os.ReadFile(filepath.Join(from, LearnedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no %s in %s: %w", LearnedFile, from, ErrNotLearned)
	}
	if err != nil {
		return nil, err
	}
	var of learnedFrom[L]
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(from, LearnedFile), err)
	}
	if of.Format != learnedFormat {
		return nil, fmt.Errorf("%s in %s has format %d, this program reads %d: %w", LearnedFile, from, of.Format, learnedFormat, ErrNotLearned)
	}
	if want := routing.IDs(experts); !slices.Equal(of.Experts, want) {
		return nil, fmt.Errorf("%s in %s chooses among %s, the pool is %s", LearnedFile, from, strings.Join(of.Experts, ", "), strings.Join(want, ", "))
	}
	if work.Dir != "" {
		if err := os.WriteFile(filepath.Join(work.Dir, LearnedFile), data, 0o666); err != nil {
			return nil, err
		}
	}
	return router(of.Learned)
}
