// Package lines reads files of a data folder line by line, each checked against what is known of it.
package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// longest is the most bytes of a line.
const longest = 16 << 20

// Read checks the checksum of a file and calls read for each line that is not blank. It returns where the file lies; its
// errors name the line. As of every file of a data folder the checksum is that of the lines, however they are compressed,
// unless the path itself ends in .gz.
func Read(ctx context.Context, folder string, file spec.File, read func(line []byte) error) (path string, err error) {
	path = filepath.Join(folder, filepath.FromSlash(file.Path))
	stored := strings.HasSuffix(path, ".gz")
	f, err := os.Open(path)
	if !stored && errors.Is(err, fs.ErrNotExist) {
		if packed, other := os.Open(path + ".gz"); other == nil {
			path, f, err = path+".gz", packed, nil
		}
	}
	if err != nil {
		return path, fmt.Errorf("%w: point --data at the folder that holds %s (source: %s); 'entrorouter fetch --list' has what it can get", err, file.Path, file.Source)
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err == nil && strings.HasSuffix(path, ".gz") && !stored {
		sum.Reset()
		_, err = f.Seek(0, io.SeekStart)
		var text io.Reader
		if err == nil {
			text, err = gzip.NewReader(bufio.NewReader(f))
		}
		if err == nil {
			_, err = io.Copy(sum, text)
		}
	}
	if err != nil {
		return path, fmt.Errorf("%s: cannot be read: %w; get the file from %s again", path, err, file.Source)
	}
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case file.SHA256 == "":
		return path, fmt.Errorf("%s: the pool file has no sha256 for it, so nothing would notice a change of the data; write there: sha256: %s", path, got)
	case !strings.EqualFold(got, file.SHA256):
		return path, fmt.Errorf("%s: sha256 is %s, the pool file says %q: get the file from %s again, or correct the pool file if the data are meant to differ", path, got, file.SHA256, file.Source)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return path, err
	}
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			return path, fmt.Errorf("%s: not compressed, though its name says so: %w", path, err)
		}
		defer z.Close()
		text = z
	}
	all := bufio.NewScanner(text)
	all.Buffer(make([]byte, 64<<10), longest)
	n := 0
	for all.Scan() {
		n++
		if n%1024 == 0 && ctx.Err() != nil {
			return path, ctx.Err()
		}
		line := all.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // a byte order mark, as some editors leave it
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := read(line); err != nil && all.Err() != nil {
			n-- // the line is what was there before the file broke off
			break
		} else if err != nil {
			return path, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	switch err := all.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return path, fmt.Errorf("%s:%d: longer than %d MiB; a line is one query or one outcome, so write a line feed after each", path, n+1, longest>>20)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum):
		return path, fmt.Errorf("%s:%d: the compressed data are cut short or damaged here (%w); get the file again from %s, or compress it again and write its sha256 to the pool file", path, n+1, err, file.Source)
	case err != nil:
		return path, fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	return path, nil
}
