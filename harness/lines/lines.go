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
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// longest is the most bytes of a line.
const longest = 16 << 20

// from says where a file can be had, behind "get it"; empty if nobody said so.
func from(f spec.File) string {
	if f.Source == "" {
		return ""
	}
	return " from " + f.Source
}

// open opens a file of a data folder, compressed (NAME.gz) where it is not there plain, and says where it lies.
func open(folder, name string) (f *os.File, path string, err error) {
	path = filepath.Join(folder, filepath.FromSlash(name))
	f, err = os.Open(path)
	if !strings.HasSuffix(path, ".gz") && errors.Is(err, fs.ErrNotExist) {
		if packed, other := os.Open(path + ".gz"); other == nil {
			return packed, path + ".gz", nil
		}
	}
	return f, path, err
}

// sumOf is the checksum of a file that open found under a name, or of its lines of some models.
func sumOf(f *os.File, path, name string, models []string) (string, error) {
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") && (models != nil || !strings.HasSuffix(name, ".gz")) {
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			return "", err
		}
		text = z
	}
	sum := sha256.New()
	if models == nil {
		_, err := io.Copy(sum, text)
		return hex.EncodeToString(sum.Sum(nil)), err
	}
	all := scanner(text)
	for all.Scan() {
		if Of(all.Bytes(), models) {
			sum.Write(append(all.Bytes(), '\n'))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), all.Err()
}

// Of says whether a line is of one of some models, by its key model; no models are all.
func Of(line []byte, models []string) bool {
	return models == nil || slices.Contains(models, gjson.GetBytes(line, "model").String())
}

func scanner(text io.Reader) *bufio.Scanner {
	all := bufio.NewScanner(text)
	all.Buffer(make([]byte, 64<<10), longest)
	return all
}

// Sum returns where a file of a data folder lies and its SHA-256: that of the lines, however they are compressed, or of the file
// as it is stored where the name itself ends in .gz. Of a file with models it is that of their lines. A file that is not there is
// fs.ErrNotExist.
func Sum(folder, name string, models ...string) (path, sum string, err error) {
	f, path, err := open(folder, name)
	if err != nil {
		return path, "", err
	}
	defer f.Close()
	if sum, err = sumOf(f, path, name, models); err != nil {
		return path, "", fmt.Errorf("%s: cannot be read: %w", path, err)
	}
	return path, sum, nil
}

// Read checks the checksum of a file, which is that of Sum, and calls read for each line that is not blank and of its models. It returns where the
// file lies; its errors name the line.
func Read(ctx context.Context, folder string, file spec.File, read func(line []byte) error) (path string, err error) {
	f, path, err := open(folder, file.Path)
	if err != nil {
		from := "--list' has what it can get"
		if file.Set != "" {
			from = file.Set + "' gets it"
		}
		return path, fmt.Errorf("%w: point --data at the folder that holds %s (source: %s); 'entrorouter fetch %s", err, file.Path, file.Source, from)
	}
	defer f.Close()
	got, err := sumOf(f, path, file.Path, file.Models)
	switch {
	case err != nil:
		return path, fmt.Errorf("%s: cannot be read: %w; get the file%s again", path, err, from(file))
	case file.SHA256 == "":
		return path, fmt.Errorf("%s: no sha256 is given for it, so nothing would notice a change of the data; write beside its path: sha256: %s", path, got)
	case file.SHA256 == spec.Unpinned:
		return path, fmt.Errorf("%s: nothing is recorded of it, so nothing would notice a change of the data; 'entrorouter fetch %s' records it as it is", path, file.Set)
	case !strings.EqualFold(got, file.SHA256):
		return path, fmt.Errorf("%s: sha256 is %s and was to be %q: get the file%s again, or correct its sha256 if the data are meant to differ (logs of your own: 'entrorouter init FOLDER --update')", path, got, file.SHA256, from(file))
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
	all := scanner(text)
	n := 0
	for all.Scan() {
		n++
		if n%1024 == 1 && ctx.Err() != nil {
			return path, ctx.Err()
		}
		line := all.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // a byte order mark, as some editors leave it
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || !Of(line, file.Models) {
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
		return path, fmt.Errorf("%s:%d: longer than %d MiB; a line is one JSON object, so write a line feed after each", path, n+1, longest>>20)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum):
		return path, fmt.Errorf("%s:%d: the compressed data are cut short or damaged here (%w); get the file again%s, or compress it again and correct its sha256", path, n+1, err, from(file))
	case err != nil:
		return path, fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	return path, nil
}
