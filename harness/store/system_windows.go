// Locks, folders and full disks on Windows.

package store

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// errHeld says that somebody else holds a lock.
var errHeld = errors.New("held")

// A lock of Windows keeps others from reading what it covers, so it covers a byte far behind the name of its holder.
const lockedByte = 1 << 30

// lockFile takes a lock on f without waiting: alone, or together with others who only look.
func lockFile(f *os.File, alone bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{Offset: lockedByte})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

// letGo gives up the lock on f, and removes the file unless another process has opened it since: an open file cannot be removed.
func letGo(f *os.File) error {
	err := f.Close()
	os.Remove(f.Name())
	return err
}

// openLock opens the file of a lock, or makes it.
func openLock(path string) (f *os.File, err error) {
	err = patiently(func() (err error) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		return err
	})
	return f, err
}

func rename(from, to string) error { return patiently(func() error { return os.Rename(from, to) }) }

// patiently waits for whoever has a file for a moment: a process that removes it, a program that looks for viruses in what is new.
func patiently(do func() error) (err error) {
	for pause := time.Millisecond; pause < 2*time.Second; pause *= 2 {
		if err = do(); !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(pause)
	}
	return err
}

// syncDir does nothing: folders cannot be synced.
func syncDir(string) error { return nil }

// diskFull says that there is no room left, or none of the user's share.
func diskFull(err error) bool {
	return slices.ContainsFunc([]error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, syscall.ENOSPC, syscall.EDQUOT},
		func(full error) bool { return errors.Is(err, full) })
}
