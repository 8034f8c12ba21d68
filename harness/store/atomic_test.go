package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriteToReplacesAFileWholeOrNotAtAll(t *testing.T) {
	large := strings.Repeat("new", 100_000) // several buffers
	for fail := 0; ; fail++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "sub", "table.md")
		if err := WriteFile(path, []byte("old")); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := writeTo(func(op, path string) error {
			if n++; n == fail {
				return &fs.PathError{Op: op, Path: path, Err: syscall.ENOSPC}
			}
			return nil
		}, path, func(w io.Writer) error {
			_, err := io.WriteString(w, large)
			return err
		})
		got, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		left, _ := os.ReadDir(filepath.Dir(path))
		if len(left) != 1 {
			t.Errorf("change %d: folder holds %v", fail, left)
		}
		if fail > 0 && n >= fail {
			if string(got) != "old" || err == nil || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("change %d: file has %d bytes, error %v", fail, len(got), err)
			}
			continue
		}
		if string(got) != large || err != nil {
			t.Errorf("without a fault: file has %d bytes, error %v", len(got), err)
		}
		if fail > 0 {
			return
		}
	}
}

func TestWriteToKeepsTheOldFileWhenItsCallerFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.md")
	if err := WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("no data")
	err := WriteTo(path, func(w io.Writer) error {
		io.WriteString(w, "half")
		return boom
	})
	if got, _ := os.ReadFile(path); string(got) != "old" || !errors.Is(err, boom) {
		t.Errorf("file %q, error %v", got, err)
	}
}

func TestWriteFileWritesThroughALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o666), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "x" {
		t.Errorf("target holds %q", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
}

func TestAUsedUpQuotaIsAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.md")
	err := writeTo(func(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: syscall.EDQUOT} }, path, func(w io.Writer) error {
		_, err := io.WriteString(w, "table")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("error %v, want one that says that the disk is full, and why", err)
	}
}
