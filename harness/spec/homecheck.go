// What is said of where a file is published must be like.

package spec

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

func checkHome(d *decoder, knob string, f File) {
	h := f.Home
	if strings.HasSuffix(f.Path, ".gz") {
		d.faultAt(knob, "what is fetched is not compressed; want a path without .gz, got %q", f.Path)
	}
	pattern := func(at, text string) {
		if _, err := regexp.Compile(text); err != nil {
			d.faultAt(at, "%q is not a pattern: %v", text, err)
		}
	}
	for i, p := range h.Parts {
		at := fmt.Sprintf("%s.parts[%d]", knob, i)
		switch {
		case p.Repo != "" && !repoName.MatchString(p.Repo):
			d.faultAt(at+".repo", "want owner/name, got %q", p.Repo)
		case p.Host == "github" && !commit.MatchString(p.Revision):
			d.faultAt(at+".revision", "want the 40 hexadecimal digits of a commit, got %q", p.Revision)
		case p.Revision != Unpinned && !commit.MatchString(p.Revision):
			d.faultAt(at+".revision", "want the 40 hexadecimal digits of a commit or %s, got %q", Unpinned, p.Revision)
		case p.SHA256 != Unpinned && !sha256Hex.MatchString(p.SHA256):
			d.faultAt(at+".sha256", "want 64 hexadecimal digits or %s, got %q", Unpinned, p.SHA256)
		case p.To > 0 && p.To < p.From:
			d.faultAt(at+".to", "want at least %d, got %d", p.From, p.To)
		}
		if _, err := path.Match(p.Path, ""); err != nil || !fs.ValidPath(p.Path) {
			d.faultAt(at+".path", "want a path in the repository, got %q", p.Path)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.Columns)) {
		c, at := h.Columns[key], child(knob+".columns", key)
		if (c.From == nil) == (c.All == nil) {
			d.faultAt(at, "want one of the keys from and all")
		}
		if c.All != nil && key != "options" {
			d.faultAt(at+".all", "only options are made of several columns")
		}
		pattern(at+".match", c.Match)
	}
	for _, key := range []string{"id", "problem", "answer"} {
		c := h.Columns["options"]
		if _, ok := h.Columns[key]; !ok && (key != "answer" || c.All == nil) {
			d.faultAt(knob+".columns", "%q is not set", key)
		}
	}
	for column, text := range h.Where {
		pattern(child(knob+".where", column), text)
	}
}
