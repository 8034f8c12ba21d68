package methods

// What a fit learned, in a file: its router comes back without training.

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

// ErrNotLearned is the error of a Loader whose fit left nothing to load, as fits did before their method was one. The
// router of such a fit is had by fitting again.
var ErrNotLearned = errors.New("the fit left nothing to load")

// learnedFile is the name of the file.
const learnedFile = "learned.json"

// learnedFrom is learned.json: what a method learned, and of which experts, cheapest first. Numbers are written so that
// they come back to the last bit.
type learnedFrom[L any] struct {
	Experts []string `json:"experts"`
	Learned L        `json:"learned"`
}

// keep writes what was learned to the folder of a fit, if it has one, and returns the router that is made of it. A router
// that is made of nothing else is the same when it is loaded.
func keep[L any](train routing.TrainSet, work routing.Work, learned L, router func(L) (routing.Router, error)) (routing.Router, error) {
	if work.Dir != "" {
		data, err := json.Marshal(learnedFrom[L]{expertIDs(train), learned})
		if err == nil {
			err = os.WriteFile(filepath.Join(work.Dir, learnedFile), append(data, '\n'), 0o666)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", learnedFile, err)
		}
	}
	return router(learned)
}

// restore returns the router of what keep wrote to a folder, and leaves in work.Dir what keep leaves there.
func restore[L any](train routing.TrainSet, from string, work routing.Work, router func(L) (routing.Router, error)) (routing.Router, error) {
	data, err := os.ReadFile(filepath.Join(from, learnedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no %s in %s: %w", learnedFile, from, ErrNotLearned)
	}
	if err != nil {
		return nil, err
	}
	var of learnedFrom[L]
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(from, learnedFile), err)
	}
	if want := expertIDs(train); !slices.Equal(of.Experts, want) {
		return nil, fmt.Errorf("%s in %s chooses among %s, the pool is %s", learnedFile, from, strings.Join(of.Experts, ", "), strings.Join(want, ", "))
	}
	if work.Dir != "" {
		if err := copyFile(filepath.Join(work.Dir, learnedFile), filepath.Join(from, learnedFile)); err != nil {
			return nil, err
		}
	}
	return router(of.Learned)
}
