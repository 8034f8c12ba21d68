// The lock of a folder: one process writes to it.

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrLocked says that another process writes to a folder.
var ErrLocked = errors.New("another run is writing there")

// Holder is a process that writes to a folder.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Boot    string    `json:"boot,omitempty"` // of its machine
	Started time.Time `json:"started"`
}

// String says which process, for people.
func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that has not said which"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Started.Local().Format("2006-01-02 15:04:05"))
}

// elsewhere says whether the process is on another machine, which does not share memory with this one.
func (h Holder) elsewhere() bool { return h.Boot != "" && boot() != "" && h.Boot != boot() }

// boot names the time since this machine started, which no other machine has. Empty: the system does not say.
func boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// lock is the lock of a folder. The system gives it up when the process ends, however it ends, so that neither a killed
// holder nor a copied file keeps anybody out.
type lock struct{ f *os.File }

func lockPath(root string) string { return filepath.Join(root, "lock") }

// A look at the lock takes a moment, in which it is not to be had.
const (
	lockTries = 5
	lockPause = 10 * time.Millisecond
)

// lockFolder takes the lock of a folder. The error is ErrLocked, and names the holder, if another process has it.
func lockFolder(root string) (l *lock, err error) {
	for range lockTries {
		if l, err = tryLock(lockPath(root)); !errors.Is(err, ErrLocked) {
			return l, err
		}
		time.Sleep(lockPause)
	}
	return nil, err
}

// tryLock takes the lock at path or returns ErrLocked with the holder.
func tryLock(path string) (*lock, error) {
	for {
		f, err := openLock(path)
		if err != nil {
			return nil, explainWrite(path, err)
		}
		if err := lockFile(f, true); err != nil {
			defer f.Close()
			if errors.Is(err, errHeld) {
				return nil, fmt.Errorf("%w: %s; wait for it or name another folder, 'entrorouter status' says how far it is", ErrLocked, holderIn(f))
			}
			return nil, fmt.Errorf("lock %q: %w", path, err)
		}
		// The last holder removes the file before it lets go, so this may be a lock on a file that is gone.
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
			f.Close()
			continue
		}
		host, _ := os.Hostname()
		who, err := json.Marshal(Holder{os.Getpid(), host, boot(), time.Now().Truncate(time.Second)})
		if err == nil {
			err = errors.Join(f.Truncate(0), func() error { _, err := f.WriteAt(append(who, '\n'), 0); return err }())
		}
		if err != nil { // a full disk: whoever writes there hears of it soon
			f.Truncate(0)
		}
		return &lock{f}, nil
	}
}

// holderIn reads who wrote a lock file.
func holderIn(f *os.File) (h Holder) {
	b := make([]byte, 1024)
	n, _ := f.ReadAt(b, 0)
	if json.Unmarshal(b[:n], &h) != nil {
		return Holder{}
	}
	return h
}

// HolderOf returns which process writes to a folder; ok is false if none does.
func HolderOf(root string) (h Holder, ok bool, err error) {
	f, err := os.Open(lockPath(root))
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	} else if err != nil {
		return Holder{}, false, err
	}
	defer f.Close()
	switch err := lockFile(f, false); {
	case errors.Is(err, errHeld):
		return holderIn(f), true, nil
	case err != nil:
		return Holder{}, false, fmt.Errorf("lock %q: %w", f.Name(), err)
	}
	return Holder{}, false, nil
}

// unlock lets go of the folder and leaves no file.
func (l *lock) unlock() error { return letGo(l.f) }
