// The hosts: which files a part of a home has, at which revision, and where each is.

package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/internal/retryafter"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Where the hosts are.
const (
	HuggingFace = "https://huggingface.co"
	GitHub      = "https://raw.githubusercontent.com"
	Archives    = "https://codeload.github.com"
)

// maxListing bounds what a host says of a repository, in bytes.
const maxListing = 64 << 20

// listing is what Hugging Face says of a data set at a revision.
type listing struct {
	Commit string `json:"sha"`
	Files  []struct {
		Name string `json:"rfilename"`
		Size int64  `json:"size"`
		Blob string `json:"blobId"`
		LFS  *struct {
			SHA256 string `json:"sha256"`
			Size   int64  `json:"size"`
		} `json:"lfs"`
	} `json:"siblings"`
}

// sources lists the files of a home in the order of its lines. What was recorded of a file decides where the home does not.
func (f *Fetcher) sources(ctx context.Context, home *spec.Home, came []problems.Came) ([]source, error) {
	var all []source
	for _, p := range home.Parts {
		first := len(all)
		if p.Host == "github" {
			all = append(all, source{url: join(f.GitHub, p.Repo, p.Revision, p.Path), repo: p.Repo, revision: p.Revision, path: p.Path, part: p})
		} else {
			revision := p.Revision
			if i := slices.IndexFunc(came, func(c problems.Came) bool { return c.Repo == p.Repo }); revision == spec.Unpinned && i >= 0 {
				revision = came[i].Revision
			}
			l, err := f.list(ctx, home, p.Repo, revision)
			if err != nil {
				return nil, err
			}
			for _, file := range l.Files {
				if ok, err := path.Match(p.Path, file.Name); err != nil || !ok {
					continue
				}
				s := source{url: join(f.HuggingFace, "datasets", p.Repo, "resolve", l.Commit, file.Name), repo: p.Repo, revision: l.Commit, path: file.Name, part: p, size: file.Size, blob: file.Blob}
				if file.LFS != nil {
					s.size, s.sha256, s.blob = file.LFS.Size, file.LFS.SHA256, ""
				}
				all = append(all, s)
			}
			slices.SortFunc(all[first:], func(a, b source) int { return cmp.Compare(a.path, b.path) })
			if len(all) == first {
				return nil, fmt.Errorf("%s has no file %s at revision %s", p.Repo, p.Path, l.Commit)
			}
		}
		for i := range all[first:] {
			s := &all[first+i]
			want := p.SHA256
			if j := slices.IndexFunc(came, func(c problems.Came) bool { return c.Repo == s.repo && c.Path == s.path }); want == spec.Unpinned && j >= 0 {
				want = came[j].SHA256
			}
			if want == spec.Unpinned {
				continue
			}
			if s.sha256 != "" && s.sha256 != want {
				return nil, fmt.Errorf("%s: its publisher says sha256 %s at revision %s, but %s is what it must be", s, s.sha256, s.revision, want)
			}
			s.sha256 = want
		}
	}
	return all, nil
}

// join makes an address of path segments, each escaped.
func join(base string, segments ...string) string {
	u := strings.TrimSuffix(base, "/")
	for _, s := range strings.Split(strings.Join(segments, "/"), "/") {
		u += "/" + url.PathEscape(s)
	}
	return u
}

// list asks Hugging Face for the files of a data set.
func (f *Fetcher) list(ctx context.Context, home *spec.Home, repo, revision string) (listing, error) {
	if revision == spec.Unpinned {
		revision = "main"
	}
	at := join(f.HuggingFace, "api", "datasets", repo, "revision", revision) + "?blobs=true"
	var l listing
	err := f.retry(ctx, func(ctx context.Context) error {
		patience := cmp.Or(f.Silence, silence)
		ctx, cancel := context.WithTimeoutCause(ctx, patience, silent(at, patience))
		defer cancel()
		r, err := f.get(ctx, at, home, nil)
		if err != nil && context.Cause(ctx) != nil {
			return &transient{err: context.Cause(ctx)}
		}
		if err != nil {
			return err
		}
		defer r.Body.Close()
		data, err := io.ReadAll(io.LimitReader(r.Body, maxListing+1))
		if err != nil {
			return &transient{err: err}
		}
		if len(data) > maxListing {
			return fmt.Errorf("%s: its list of files has more than %d MB", at, maxListing>>20)
		}
		l = listing{}
		if err := json.Unmarshal(data, &l); err != nil {
			return fmt.Errorf("%s: is no list of files: %w", at, err)
		}
		return nil
	})
	if err == nil && (!isCommit(l.Commit) || isCommit(revision) && l.Commit != revision) {
		err = fmt.Errorf("%s: names the revision %q", at, l.Commit)
	}
	return l, err
}

func isCommit(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// get asks for an address. Answers other than 200 and 206 are errors; those that may pass are transient. The token goes to
// Hugging Face and to no other host, not along redirects either.
func (f *Fetcher) get(ctx context.Context, at string, home *spec.Home, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	for key, values := range header {
		req.Header[key] = values
	}
	req.Header.Set("Accept-Encoding", "identity") // what is counted, resumed and hashed is the file
	req.Header.Set("User-Agent", "entrorouter")
	if f.Token != "" && strings.HasPrefix(at, strings.TrimSuffix(f.HuggingFace, "/")+"/") {
		req.Header.Set("Authorization", "Bearer "+f.Token)
	}
	r, err := f.client().Do(req)
	if err != nil {
		return nil, &transient{err: err}
	}
	switch {
	case r.StatusCode == http.StatusOK || r.StatusCode == http.StatusPartialContent:
		if t := r.Header.Get("Content-Type"); strings.HasPrefix(t, "text/html") {
			r.Body.Close()
			return nil, fmt.Errorf("%s: answered with a page for readers (%s) and not with data; is a proxy or a login in between?", at, t)
		}
		return r, nil
	case r.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		r.Body.Close()
		return nil, errRange
	}
	r.Body.Close()
	err = fmt.Errorf("%s: %s", at, r.Status)
	switch {
	case r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= 500:
		return nil, &transient{err: err, after: retryafter.Wait(r.Header)}
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %s", err, cmp.Or(home.Access, "the publisher does not let it go without an account"))
	case r.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%w: it is no longer there under this name; a mirror may have it (--home), or an own copy in the data folder", err)
	}
	return nil, err
}

// client follows redirects, but never from https to http, and takes the token along to no other host.
func (f *Fetcher) client() *http.Client {
	client := http.Client{}
	if f.Client != nil {
		client = *f.Client
	}
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		from := via[0].URL
		if len(via) > 10 {
			return fmt.Errorf("more than 10 redirects")
		}
		if from.Scheme == "https" && req.URL.Scheme != "https" {
			return fmt.Errorf("redirected from https to %s", req.URL.Scheme)
		}
		if req.URL.Host != from.Host || req.URL.Scheme != from.Scheme {
			req.Header.Del("Authorization")
		}
		return nil
	}
	return &client
}
