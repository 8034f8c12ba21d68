// The files of a log.

package imports

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// File is a file of a log. Data gives its bytes, decompressed and without a byte order mark.
type File struct {
	Name string
	Data func() ([]byte, error)
}

// mostBytes of a file, decompressed: more is no log that fits in memory beside what is made of it.
const mostBytes = 1 << 30

// Open returns a file of the disk, which is decompressed where its name ends in .gz.
func Open(path string) File {
	return File{path, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder; name its files", path)
		}
		if !strings.HasSuffix(path, ".gz") {
			return whole(path, f)
		}
		z, err := gzip.NewReader(f)
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: the file is empty", path)
		case errors.Is(err, gzip.ErrHeader):
			return nil, fmt.Errorf("%s: not compressed, though its name says so", path)
		case err != nil:
			return nil, unpacked(path, err)
		}
		return whole(path, z)
	}}
}

// unpacked says why a file cannot be read to its end.
func unpacked(path string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: its compressed text ends too early; was it cut short?", path)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		return fmt.Errorf("%s: its compressed text is damaged; copy the file anew", path)
	}
	return fmt.Errorf("%s: cannot be read: %w", path, err)
}

func whole(path string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case err != nil:
		return nil, unpacked(path, err)
	case len(data) > mostBytes:
		return nil, fmt.Errorf("%s: more than %d bytes; divide it", path, mostBytes)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, fmt.Errorf("%s: the file is empty", path)
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return nil, fmt.Errorf("%s: it is compressed by gzip; let its name end in .gz", path)
	case len(data) > 1 && (data[0] == 0 || data[1] == 0 || bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))):
		return nil, fmt.Errorf("%s: it is UTF-16; convert it to UTF-8", path)
	}
	return data, nil
}

// those names files, of which there may be many.
func those(files []File) string {
	if n := len(files) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", files[0].Name, n)
	}
	return files[0].Name
}

// stem is a path without what its ending says of its format.
func stem(path string) string {
	path = strings.TrimSuffix(path, ".gz")
	for _, ending := range []string{".csv", ".jsonl", ".json"} {
		if short, ok := strings.CutSuffix(path, ending); ok {
			return short
		}
	}
	return path
}

// checkLines refuses what is no text, and lines that end in carriage returns alone, which would be read as one line.
func checkLines(name string, data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return fmt.Errorf("%s: it is a zip archive, as a workbook is; export it as text, and import that", name)
	case bytes.HasPrefix(data, []byte("PAR1")):
		return fmt.Errorf("%s: it is Parquet; write it as lines of JSON, and import these", name)
	}
	data = bytes.TrimSpace(data)
	if at := bytes.IndexAny(data, "\r\n"); at >= 0 && bytes.TrimLeft(data[at:], "\r")[0] != '\n' {
		return fmt.Errorf("%s: its lines end in carriage returns alone; end them in line feeds", name)
	}
	return nil
}

// eachLine calls use for each line that is not blank and says in its errors where that is.
func eachLine(name string, data []byte, use func(at string, line []byte) error) error {
	if err := checkLines(name, data); err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		at := fmt.Sprintf("%s:%d", name, n)
		if err := placed(at, use(at, line)); err != nil {
			return err
		}
	}
	return nil
}

// placed has an error say where it is, unless it does.
func placed(at string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), at) {
		return err
	}
	return fmt.Errorf("%s: %w", at, err)
}
