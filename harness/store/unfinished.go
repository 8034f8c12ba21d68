// What outlives the drafts of entries that were never committed, below unfinished/, a folder an entry.

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const unfinishedDir = "unfinished"

// Unfinished returns the folder of what is left of entries that nobody is making now, how many they are, and their bytes. It does
// not know whether somebody will go on with them. Of one of which no file is left nothing is.
func (s *Store) Unfinished() (dir string, entries int, bytes int64, err error) {
	dir = filepath.Join(s.root, unfinishedDir)
	err = s.eachUnfinished(func(folder string) error {
		files := 0
		err := filepath.WalkDir(folder, func(_ string, f fs.DirEntry, err error) error {
			if err != nil || f.IsDir() {
				return err
			}
			files++
			info, err := f.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		})
		if files > 0 {
			entries++
		}
		return err
	})
	return dir, entries, bytes, err
}

// sweepUnfinished removes what is left of entries that were finished: by somebody who died before removing it.
func (s *Store) sweepUnfinished() error {
	return s.eachUnfinished(func(folder string) error {
		name := filepath.Base(folder)
		at := strings.LastIndexByte(name, '-')
		if _, err := os.Stat(filepath.Join(s.root, "stages", name[:max(at, 0)], name[at+1:])); err != nil {
			return nil
		}
		return os.RemoveAll(folder)
	})
}

// eachUnfinished calls do with the folders of entries that nobody is making.
func (s *Store) eachUnfinished(do func(folder string) error) error {
	found, err := os.ReadDir(filepath.Join(s.root, unfinishedDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	making := map[string]bool{}
	for k := range s.making {
		making[k.String()] = true
	}
	for _, f := range found {
		if making[f.Name()] {
			continue
		}
		if err := do(filepath.Join(s.root, unfinishedDir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
