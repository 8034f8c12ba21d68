// Files that are replaced whole or not at all.

package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile replaces the file at path by data: a reader, or a crash at any moment, sees the old file or the new
// one, never a part. Missing folders are made. A crash may leave a hidden .<name>.<n>.tmp beside it.
func WriteFile(path string, data []byte) error {
	return WriteTo(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteTo is WriteFile for output that is produced piece by piece; writes are buffered. If write fails the old file
// stays and nothing is left behind.
func WriteTo(path string, write func(io.Writer) error) error {
	return writeTo(nil, path, write)
}

func writeTo(at step, path string, write func(io.Writer) error) (err error) {
	defer func() { err = explainWrite(path, err) }()
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays a link
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	b := bufio.NewWriterSize(hooked{f, at}, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := at.do("sync", f.Name()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := at.do("rename", path); err != nil {
		return err
	}
	if err := rename(f.Name(), path); err != nil {
		return err
	}
	done = true
	return syncDir(dir)
}

// createBeside makes a new file in the folder of path. os.CreateTemp would ignore the user's umask.
func createBeside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", base, i))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// step is asked before every change to the disk and may refuse it. It is nil except in tests, which stop the
// program or fill the disk at a chosen change.
type step func(op, path string) error

func (s step) do(op, path string) error {
	if s == nil {
		return nil
	}
	return s(op, path)
}

// hooked is a file that asks at before each write.
type hooked struct {
	*os.File
	at step
}

func (h hooked) Write(p []byte) (int, error) {
	if err := h.at.do("write", h.Name()); err != nil {
		return 0, err
	}
	return h.File.Write(p)
}

// explainWrite says what to do about a write that failed for a reason that the user can mend.
func explainWrite(path string, err error) error {
	var advice string
	switch {
	case diskFull(err):
		advice = "the disk is full; free some space and run again, finished work is kept"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		advice = "not writable; change its permissions or choose another folder"
	default:
		return err
	}
	if p, ok := err.(*fs.PathError); ok {
		path, err = p.Path, p.Err
	}
	return fmt.Errorf("write %q: %s: %w", path, advice, err)
}
