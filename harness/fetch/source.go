// A published file.

package fetch

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// check compares a file with what is known of it and returns its SHA-256.
func (s source) check(path string) (sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if s.size > 0 && info.Size() != s.size {
		return "", fmt.Errorf("%s: %d bytes came, its publisher says %d; run the same command again", s, info.Size(), s.size)
	}
	all, git := sha256.New(), sha1.New()
	fmt.Fprintf(git, "blob %d\x00", info.Size())
	if _, err := io.Copy(io.MultiWriter(all, git), file); err != nil {
		return "", err
	}
	text := func(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
	switch sum = text(all); {
	case s.sha256 != "" && sum != s.sha256:
		return "", fmt.Errorf("%s: what came has sha256 %s, but %s is what it must be", s, sum, s.sha256)
	case s.blob != "" && s.sha256 == "" && text(git) != s.blob:
		return "", fmt.Errorf("%s: what came is not what its publisher lists (git object %s, listed %s)", s, text(git), s.blob)
	}
	return sum, nil
}

// keep names the file of a source below a folder.
func keep(dir string, s source) string {
	return filepath.Join(dir, strings.NewReplacer("/", "_", "\\", "_").Replace(s.repo+"/"+s.path))
}

// source is one published file.
type source struct {
	url, repo, revision, path string
	part                      spec.Part
	size                      int64  // bytes; 0: not known before it comes
	sha256                    string // "": not known
	blob                      string // SHA-1 as git computes it; "": not known
}

func (s source) String() string { return s.repo + "/" + s.path }
