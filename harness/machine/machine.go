// Package machine says what room the computer has left, where the system tells.
package machine

import (
	"path/filepath"
	"time"
)

// Room is what a run may take. Zero: not known, or as much as it likes.
type Room struct {
	Memory int64         // bytes, of this process's group too where it has a limit
	Disk   int64         // bytes, of the file system of a folder
	Time   time.Duration // of training
}

// patience is longer than anybody waits for a run.
const patience = 100 * 24 * time.Hour

// Left is the room that the computer has now, for files in a folder or, if that is not there yet, in the one that it would be
// made in.
func Left(folder string) Room { return Room{Memory: memory(), Disk: disk(folder), Time: patience} }

// disk is what is free for a folder, or for the nearest one above it that is there.
func disk(folder string) int64 {
	at, err := filepath.Abs(folder)
	if err != nil {
		return 0
	}
	for {
		left, err := free(at)
		switch above := filepath.Dir(at); {
		case err == nil:
			return left
		case at == above:
			return 0
		default:
			at = above
		}
	}
}
