//go:build unix

// Locks, folders and full disks on Unix.

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errHeld says that somebody else holds a lock.
var errHeld = errors.New("held")

// lockFile takes an advisory lock on f without waiting: alone, or together with others who only look.
func lockFile(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
			return fmt.Errorf("its file system keeps no locks; name a folder on another one: %w", err)
		default:
			return err
		}
	}
}

// letGo removes the file and gives up the lock on it, in this order.
func letGo(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }

// openLock opens the file of a lock, or makes it.
func openLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666) }

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes the names in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// diskFull says that there is no room left, or none of the user's share.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
