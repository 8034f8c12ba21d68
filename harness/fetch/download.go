// One published file comes to the disk: resumed where it was cut short, tried again where it may help, checked.

package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// download brings a file to a path, which is whole or not there, and returns its SHA-256. It may have at most that many
// bytes. What has come of it lies beside it, so that another call goes on.
func (f *Fetcher) download(ctx context.Context, home *spec.Home, s source, to string, most int64) (sum string, err error) {
	if s.size > most {
		return "", tooMuch(s, home)
	}
	part := to + ".part"
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		if err := f.retry(ctx, func(ctx context.Context) error { return f.more(ctx, home, s, part, most) }); err != nil {
			return "", err
		}
	} else if err == nil { // came before
		part = to
	} else {
		return "", err
	}
	sum, err = s.check(part)
	switch {
	case err != nil:
		return "", errors.Join(err, os.Remove(part))
	case part == to:
		return sum, nil
	}
	return sum, errors.Join(os.Rename(part, to), removeAny(part+".etag"))
}

func tooMuch(s source, home *spec.Home) error {
	return fmt.Errorf("%s: the downloads of this set are larger than the %d MB that its entry allows", s, home.Most)
}

func removeAny(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// more asks for what is missing of a file and appends it to the part that is here.
func (f *Fetcher) more(ctx context.Context, home *spec.Home, s source, part string, most int64) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := cmp.Or(f.Silence, silence)
	idle := time.AfterFunc(patience, func() { cancel(silent(s.url, patience)) })
	defer idle.Stop()

	var have int64
	header := http.Header{}
	if info, err := os.Stat(part); err == nil {
		tag, err := os.ReadFile(part + ".etag")
		if have = info.Size(); err == nil && have > 0 {
			header.Set("Range", fmt.Sprintf("bytes=%d-", have))
			header.Set("If-Range", string(tag))
		}
	}
	r, err := f.get(ctx, s.url, home, header)
	if errors.Is(err, errRange) {
		return errors.Join(&transient{err: err}, removeAny(part))
	}
	if err != nil && context.Cause(ctx) != nil {
		err = &transient{err: context.Cause(ctx)}
	}
	if err != nil {
		return err
	}
	defer r.Body.Close()
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if r.StatusCode == http.StatusOK {
		have, flags = 0, flags|os.O_TRUNC
		// A weak tag says nothing of bytes: without a strong one the file comes from its start again.
		if tag := r.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
			err = os.WriteFile(part+".etag", []byte(tag), 0o666)
		} else {
			err = removeAny(part + ".etag")
		}
		if err != nil {
			return err
		}
	} else if !strings.HasPrefix(r.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
		return errors.Join(&transient{err: fmt.Errorf("%s: sent %q, wanted from byte %d on", s.url, r.Header.Get("Content-Range"), have)}, removeAny(part))
	}
	if r.ContentLength > most-have {
		return tooMuch(s, home)
	}
	file, err := os.OpenFile(part, flags, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	total := s.size
	if total == 0 && r.ContentLength >= 0 {
		total = have + r.ContentLength
	}
	in := &counted{from: r.Body, left: most - have + 1, seen: func(n int64) {
		idle.Reset(patience)
		f.Progress(s.path, have+n, total)
	}}
	_, err = io.Copy(file, in)
	switch {
	case in.err != nil:
		if cause := context.Cause(ctx); cause != nil {
			in.err = cause
		}
		return &transient{err: fmt.Errorf("%s: cut short: %w", s.url, in.err), moved: in.n > 0}
	case err != nil:
		return fmt.Errorf("%w; what has come is kept, the same command goes on from there", err)
	case in.left <= 0:
		return errors.Join(tooMuch(s, home), removeAny(part))
	}
	return file.Sync()
}

// counted reads a bounded number of bytes and keeps the error of what it reads from, apart from that of the disk.
type counted struct {
	from    io.Reader
	n, left int64
	err     error
	seen    func(n int64)
}

func (c *counted) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.EOF
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	c.n, c.left = c.n+int64(n), c.left-int64(n)
	if n > 0 {
		c.seen(c.n)
	}
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		c.err = err
	}
	return n, err
}
