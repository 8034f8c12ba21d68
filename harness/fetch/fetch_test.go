package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/fetch/fetchtest"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as the command does
	goleak.VerifyTestMain(m)
}

const commitID = "0123456789abcdef0123456789abcdef01234567"

// world is a publisher of two small sets and a data folder.
type world struct {
	*Fetcher
	hub *fetchtest.Hub
	url string
}

// Two rows of a file of lines at GitHub, and three of two Parquet files at Hugging Face.
const (
	published1 = `{"q": "1+1", "a": 2, "n": "x"}` + "\n" + `{"q": "2+2", "a": 4, "n": "y"}` + "\n"
	lines1     = `{"id": "x", "benchmark": "sums", "problem": "1+1", "answer": "2"}` + "\n" + `{"id": "y", "benchmark": "sums", "problem": "2+2", "answer": "4"}` + "\n"
	lines2     = `{"id": "hard-1", "benchmark": "hard", "problem": "p", "answer": "1"}` + "\n" + `{"id": "hard-2", "benchmark": "hard", "problem": "q", "answer": "2"}` + "\n" + `{"id": "hard-3", "benchmark": "hard", "problem": "r", "answer": "3"}` + "\n"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func newWorld(t testing.TB, change ...func(spec.Benchmarks)) *world {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "us/sums", commitID, "sums.jsonl"), published1)
	put(t, filepath.Join(root, "datasets/us/hard/data/b.parquet"), string(published{rows: exact{{3, "r", "3"}}}.bytes(t)))
	put(t, filepath.Join(root, "datasets/us/hard/data/a.parquet"), string(published{rows: exact{{1, "p", "1"}, {2, "q", "2"}}}.bytes(t)))
	put(t, filepath.Join(root, "datasets/us/hard/README.md"), "licence")
	all := spec.Benchmarks{
		"sums": {Title: "Sums", Split: "test", Size: 2, Runs: 1, File: &spec.File{Path: "benchmarks/sums.jsonl", SHA256: sumOf(lines1), Source: "us/sums", Licence: "MIT", Home: &spec.Home{
			Parts:  []spec.Part{{Host: "github", Repo: "us/sums", Revision: commitID, Path: "sums.jsonl", SHA256: spec.Unpinned}},
			Format: "jsonl", Most: 1, Columns: map[string]spec.Column{"id": {From: []string{"n"}}, "problem": {From: []string{"q"}}, "answer": {From: []string{"a"}}}}}},
		"hard": {Title: "Hard", Split: "test", Size: 3, Runs: 1, File: &spec.File{Path: "benchmarks/hard.jsonl", SHA256: spec.Unpinned, Source: "us/hard", Licence: "MIT", Home: &spec.Home{
			Access: "ask us first",
			Parts:  []spec.Part{{Host: "huggingface", Repo: "us/hard", Revision: spec.Unpinned, Path: "data/*.parquet", SHA256: spec.Unpinned}},
			Format: "parquet", Most: 1, Columns: map[string]spec.Column{"id": {From: []string{"#1"}, Match: `^\d+$`, As: "hard-$0"}, "problem": {From: []string{"problem"}}, "answer": {From: []string{"answer"}}}}}},
		"made": {Generated: &spec.Generated{}},
		"file": {File: &spec.File{Path: "file.jsonl"}},
	}
	for _, c := range change {
		c(all)
	}
	hub := &fetchtest.Hub{Root: root}
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	client := server.Client()
	t.Cleanup(client.CloseIdleConnections)
	return &world{hub: hub, url: server.URL, Fetcher: &Fetcher{
		Dir: filepath.Join(t.TempDir(), "data"), Benchmarks: all, HuggingFace: server.URL, GitHub: server.URL, Client: client, Wait: time.Nanosecond,
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC) }, Progress: func(string, int64, int64) {},
	}}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// has fails unless the data folder has exactly these files.
func (w *world) has(t *testing.T, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".lock" {
			return err
		}
		name, err := filepath.Rel(w.Dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		got[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, ok := want[problems.FetchedFile]; !ok {
		delete(got, problems.FetchedFile)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v, want one line with %s", err, want)
	}
}

func TestSetsAreFetchedConvertedAndRecorded(t *testing.T) {
	w := newWorld(t)
	for set, want := range map[string]string{"sums": lines1, "hard": lines2} {
		got, err := w.Fetch(t.Context(), set)
		path := filepath.Join(w.Dir, "benchmarks", set+".jsonl")
		if diff := cmp.Diff(Result{Set: set, Path: path, Rows: w.Benchmarks[set].Size, SHA256: sumOf(want), How: Fetched}, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	w.has(t, map[string]string{"benchmarks/sums.jsonl": lines1, "benchmarks/hard.jsonl": lines2})
	records, err := problems.ReadFetched(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	hard := records["benchmarks/hard.jsonl"]
	if hard.Date != "2026-01-02" || hard.Rows != 3 || hard.Set != "hard" || len(hard.From) != 2 || hard.From[0].Path != "data/a.parquet" || !isCommit(hard.From[0].Revision) {
		t.Errorf("record is %+v", hard)
	}
	if sums := records["benchmarks/sums.jsonl"]; len(sums.From) != 1 || sums.From[0] != (problems.Came{Repo: "us/sums", Revision: commitID, Path: "sums.jsonl", SHA256: sumOf(published1)}) {
		t.Errorf("record is %+v", sums)
	}

	// They are there now: nobody is asked, and runs read them.
	asked := len(w.hub.Asked())
	for _, set := range []string{"sums", "hard"} {
		if got, err := w.Fetch(t.Context(), set); err != nil || got.How != Here {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if len(w.hub.Asked()) != asked {
		t.Errorf("asked %q", w.hub.Asked()[asked:])
	}
	all, err := problems.Pinned(w.Dir, w.Benchmarks)
	if err != nil {
		t.Fatal(err)
	}
	if ps, err := (problems.JSONL{Dir: w.Dir, Benchmarks: all}).Load(t.Context(), "hard"); err != nil || len(ps) != 3 {
		t.Errorf("%d problems, %v", len(ps), err)
	}
	if w.Benchmarks["hard"].File.SHA256 != spec.Unpinned {
		t.Error("Pinned changed what it was given")
	}
}

func TestTheDataFolderIsUsedFirst(t *testing.T) {
	t.Run("pinned", func(t *testing.T) {
		w := newWorld(t)
		put(t, filepath.Join(w.Dir, "benchmarks/sums.jsonl"), lines1)
		if got, err := w.Fetch(t.Context(), "sums"); err != nil || got.How != Here {
			t.Errorf("%+v, %v", got, err)
		}
		w.has(t, map[string]string{"benchmarks/sums.jsonl": lines1})
	})
	t.Run("unpinned is recorded as it is", func(t *testing.T) {
		w := newWorld(t)
		const own = `{"id": "1", "problem": "p", "answer": "1"}` + "\n" + `{"id": "2", "problem": "q", "answer": "1"}` + "\n" + `{"id": "3", "problem": "r", "answer": "1"}` + "\n"
		put(t, filepath.Join(w.Dir, "benchmarks/hard.jsonl"), own)
		for _, how := range []How{Recorded, Here} {
			if got, err := w.Fetch(t.Context(), "hard"); err != nil || got.How != how || got.SHA256 != sumOf(own) {
				t.Errorf("%+v, %v", got, err)
			}
		}
		w.has(t, map[string]string{"benchmarks/hard.jsonl": own, problems.FetchedFile: "# What files of this folder were when they first came here. 'entrorouter fetch' writes this and holds them to it.\n" +
			"benchmarks/hard.jsonl:\n  set: hard\n  sha256: " + sumOf(own) + "\n  rows: 3\n  date: \"2026-01-02\"\n"})
		put(t, filepath.Join(w.Dir, "benchmarks/hard.jsonl"), own+" ")
		_, err := w.Fetch(t.Context(), "hard")
		refused(t, err, `^hard: .*hard\.jsonl has sha256 \w{64}, but .*fetched\.yaml says `+sumOf(own)+`; move it away`)
	})
	for name, c := range map[string]struct{ file, text, want string }{
		"other bytes":      {"sums.jsonl", lines1 + "\n", `^sums: .*sums\.jsonl has sha256 .*, but benchmarks\.yaml says .*; move it away to fetch it again`},
		"no compression":   {"sums.jsonl.gz", lines1, `^sums: .*sums\.jsonl\.gz: cannot be read: gzip: invalid header`},
		"too few rows":     {"hard.jsonl", lines1, `^hard: .*hard\.jsonl: benchmark "hard" asks for 3 problems, and it has fewer, 2`},
		"no problem lines": {"hard.jsonl", "<html>", `^hard: .*hard\.jsonl:1: not a problem in JSON`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			put(t, filepath.Join(w.Dir, "benchmarks", c.file), c.text)
			_, err := w.Fetch(t.Context(), strings.Split(c.file, ".")[0])
			refused(t, err, c.want)
			w.has(t, map[string]string{"benchmarks/" + c.file: c.text})
			if asked := w.hub.Asked(); asked != nil {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func TestWhatDoesNotMatchIsRefused(t *testing.T) {
	part := func(all spec.Benchmarks, set string) *spec.Part { return &all[set].File.Home.Parts[0] }
	for _, c := range []struct {
		name, set string
		change    func(spec.Benchmarks)
		publish   string // replaces the file of sums
		want      string
	}{
		{"rows", "hard", func(all spec.Benchmarks) { b := all["hard"]; b.Size = 4; all["hard"] = b }, "", `^hard: its home has 3 rows, but benchmarks\.yaml says 4$`},
		{"a pinned download", "sums", func(all spec.Benchmarks) { part(all, "sums").SHA256 = sumOf("other") }, "", `us/sums/sums\.jsonl: what came has sha256 ` + sumOf(published1) + `, but ` + sumOf("other") + ` is what it must be`},
		{"what the publisher says", "hard", func(all spec.Benchmarks) { p := part(all, "hard"); p.SHA256, p.Path = sumOf("other"), "data/a*" }, "", `us/hard/data/a\.parquet: its publisher says sha256 \w{64} at revision \w{40}, but ` + sumOf("other")},
		{"no such file", "sums", func(all spec.Benchmarks) { part(all, "sums").Path = "gone.jsonl" }, "", `gone\.jsonl: 404 Not Found: it is no longer there under this name; a mirror may have it \(--home\)`},
		{"no such pattern", "hard", func(all spec.Benchmarks) { part(all, "hard").Path = "gone/*" }, "", `us/hard has no file gone/\* at revision \w{40}`},
		{"no such data set", "hard", func(all spec.Benchmarks) { part(all, "hard").Repo = "us/gone" }, "", `api/datasets/us/gone/revision/main\?blobs=true: 404 Not Found`},
		{"too large", "sums", nil, strings.Repeat(" ", 1<<20+1), `us/sums/sums\.jsonl: the downloads of this set are larger than the 1 MB`},
		{"the same id twice", "hard", func(all spec.Benchmarks) {
			all["hard"].File.Home.Columns["id"] = spec.Column{From: []string{"problem"}, Match: "", As: ""}
			all["hard"].File.Home.Columns["id"] = spec.Column{From: []string{"problem"}, Match: ".", As: "same"}
		}, "", `lines\.jsonl:2: id "hard-same" is there twice`},
		{"no rows of a set", "sums", nil, "<!doctype html>", `us/sums/sums\.jsonl: line 1 is no JSON object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.change != nil {
				c.change(w.Benchmarks)
			}
			if c.publish != "" {
				put(t, filepath.Join(w.hub.Root, "us/sums", commitID, "sums.jsonl"), c.publish)
			}
			_, err := w.Fetch(t.Context(), c.set)
			refused(t, err, c.want)
			if _, err := os.Stat(filepath.Join(w.Dir, "benchmarks")); err == nil {
				t.Error("something was put in the place of benchmarks")
			}
			if _, err := os.Stat(filepath.Join(w.Dir, problems.FetchedFile)); err == nil {
				t.Error("something was recorded")
			}
		})
	}
}

// Rows that are whole and readable but make other lines than those pinned are refused, and not lost.
func TestOtherLinesThanThosePinnedAreKeptBeside(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.hub.Root, "us/sums", commitID, "sums.jsonl"), strings.Replace(published1, "2+2", "3+1", 1))
	_, err := w.Fetch(t.Context(), "sums")
	other := strings.Replace(lines1, "2+2", "3+1", 1)
	refused(t, err, `^sums: the 2 rows that are published make lines with sha256 `+sumOf(other)+`, but benchmarks\.yaml says `+sumOf(lines1)+`; they lie in .*sums\.fetched\.jsonl: to use them`)
	w.has(t, map[string]string{"benchmarks/sums.fetched.jsonl": other})
}

func TestWhatWasRecordedHolds(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.Dir, "benchmarks/hard.jsonl")
	if _, err := w.Fetch(t.Context(), "hard"); err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(w.Dir, problems.FetchedFile))
	if err != nil {
		t.Fatal(err)
	}
	// The main branch goes on, the recorded revision does not: the same file comes again, and the first date stays.
	w.Now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Fetch(t.Context(), "hard"); err != nil {
		t.Fatal(err)
	}
	w.has(t, map[string]string{"benchmarks/hard.jsonl": lines2, problems.FetchedFile: string(record)})
	asked := w.hub.Asked()
	if !slices.ContainsFunc(asked, func(s string) bool {
		return regexp.MustCompile(`^/api/datasets/us/hard/revision/[0-9a-f]{40}$`).MatchString(s)
	}) {
		t.Errorf("the recorded revision was not asked for: %q", asked)
	}
	// Other bytes under the recorded revision are refused before they are downloaded.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.hub.Root, "datasets/us/hard/data/b.parquet"), string(published{rows: exact{{3, "r", "4"}}}.bytes(t)))
	_, err = w.Fetch(t.Context(), "hard")
	refused(t, err, `^hard: us/hard/data/b\.parquet: its publisher says sha256 \w{64} at revision \w{40}, but \w{64} is what it must be`)
	w.has(t, map[string]string{problems.FetchedFile: string(record)})
}

func TestSetsThatThereAreNot(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"nothing", "made", "file"} {
		_, err := w.Fetch(t.Context(), name)
		refused(t, err, `^unknown set "`+name+`"; known: hard, sums$`)
		if !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	}
}

// Of a home that wants the first rows, files after them stay where they are.
func TestOnlyWhatTheFirstRowsNeedIsDownloaded(t *testing.T) {
	w := newWorld(t, func(all spec.Benchmarks) {
		b := all["hard"]
		b.Size, b.File.Home.First = 1, true
		all["hard"] = b
	})
	if got, err := w.Fetch(t.Context(), "hard"); err != nil || got.Rows != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	w.has(t, map[string]string{"benchmarks/hard.jsonl": lines2[:strings.Index(lines2, "\n")+1]})
	for _, asked := range w.hub.Asked() {
		if strings.Contains(asked, "b.parquet") {
			t.Errorf("asked %s", asked)
		}
	}
}

func TestAnswersThatAreNoData(t *testing.T) {
	status := func(code int, header ...string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			return true
		}
	}
	for _, c := range []struct {
		name, set string
		answer    func(http.ResponseWriter, *http.Request) bool
		want      string
		tries     int
	}{
		{"without an account", "hard", status(401), `^hard: .*: 401 Unauthorized: ask us first$`, 1},
		{"terms not accepted", "hard", status(403), `^hard: .*: 403 Forbidden: ask us first$`, 1},
		{"forbidden without a reason", "sums", status(403), `403 Forbidden: the publisher does not let it go without an account$`, 1},
		{"a page", "sums", status(200, "Content-Type", "text/html; charset=utf-8"), `answered with a page for readers \(text/html; charset=utf-8\) and not with data; is a proxy or a login in between\?`, 1},
		{"a page for a list", "hard", status(200, "Content-Type", "text/html"), `answered with a page for readers`, 1},
		{"no list", "hard", func(w http.ResponseWriter, r *http.Request) bool { fmt.Fprint(w, "{"); return true }, `is no list of files`, 1},
		{"a list without a revision", "hard", func(w http.ResponseWriter, r *http.Request) bool { fmt.Fprint(w, `{"sha": "../.."}`); return true }, `names the revision "\.\./\.\."`, 1},
		{"down", "sums", status(503), `: 503 Service Unavailable \(6 tries\); what has come is kept, the same command goes on from there$`, 6},
		{"busy for a day", "hard", status(429, "Retry-After", "86400"), `: 429 Too Many Requests: it asks to come back in 24h0m0s$`, 1},
		{"gone", "sums", status(410), `: 410 Gone$`, 1},
		{"in circles", "sums", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}, `more than 10 redirects`, 6 * 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.hub.Answer = c.answer
			_, err := w.Fetch(t.Context(), c.set)
			refused(t, err, c.want)
			if n := len(w.hub.Asked()); n != c.tries {
				t.Errorf("asked %d times, want %d", n, c.tries)
			}
			w.has(t, map[string]string{})
		})
	}
}

func TestTransientFaultsAreTriedAgain(t *testing.T) {
	w := newWorld(t)
	var n atomic.Int32
	w.hub.Answer = func(out http.ResponseWriter, r *http.Request) bool {
		switch n.Add(1) {
		case 1:
			out.WriteHeader(http.StatusBadGateway)
		case 2:
			out.Header().Set("Retry-After", "0")
			out.WriteHeader(http.StatusTooManyRequests)
		case 3:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			return false
		}
		return true
	}
	if _, err := w.Fetch(t.Context(), "sums"); err != nil {
		t.Fatal(err)
	}
	w.has(t, map[string]string{"benchmarks/sums.jsonl": lines1})
}

// A download that is cut anywhere, any number of times, ends in the bytes that are published, and asks for none of them twice.
func TestCutDownloadsGoOn(t *testing.T) {
	whole := published1 + strings.Repeat("\n", 5000)
	w := newWorld(t)
	put(t, filepath.Join(w.hub.Root, "us/sums", commitID, "sums.jsonl"), whole)
	home := w.Benchmarks["sums"].File.Home
	s := source{url: join(w.GitHub, "us/sums", commitID, "sums.jsonl"), repo: "us/sums", path: "sums.jsonl"}
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		cuts := rapid.SliceOfN(rapid.IntRange(1, 3000), 0, 4).Draw(rt, "bytes before each cut")
		sent := 0
		var one sync.Mutex
		w.hub.Answer = func(out http.ResponseWriter, r *http.Request) bool {
			one.Lock()
			defer one.Unlock()
			start := 0
			if text, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
				start, _ = strconv.Atoi(strings.TrimSuffix(text, "-"))
			}
			if start != sent {
				rt.Errorf("asked from byte %d, %d were sent", start, sent)
			}
			if len(cuts) == 0 || sent+cuts[0] >= len(whole) {
				return false
			}
			out.Header().Set("ETag", `"`+sumOf(whole)[:16]+`"`)
			out.Header().Set("Content-Length", strconv.Itoa(len(whole)-start))
			if start > 0 {
				out.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(whole)-1, len(whole)))
				out.WriteHeader(http.StatusPartialContent)
			}
			out.Write([]byte(whole[start : start+cuts[0]]))
			sent, cuts = start+cuts[0], cuts[1:]
			out.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		n++
		path := filepath.Join(dir, strconv.Itoa(n))
		sum, err := w.download(t.Context(), home, s, path, 1<<20)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != whole || sum != sumOf(whole) {
			rt.Errorf("%d bytes with sha256 %s, %v", len(got), sum, err)
		}
	})
}

// A part of a file that has changed since is not gone on with.
func TestAPartOfAnotherFileIsLeft(t *testing.T) {
	for name, c := range map[string]struct{ part, tag string }{
		"changed since":        {"part of what it was", `"older"`},
		"longer than the file": {published1 + published1, ""},
		"without its tag":      {published1[:5], "-"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			part := filepath.Join(w.Dir, scratch, "sums", "us_sums_sums.jsonl.part")
			put(t, part, c.part)
			if c.tag != "-" {
				if c.tag == "" {
					c.tag = `"` + sumOf(published1)[:16] + `"`
				}
				put(t, part+".etag", c.tag)
			}
			if _, err := w.Fetch(t.Context(), "sums"); err != nil {
				t.Fatal(err)
			}
			w.has(t, map[string]string{"benchmarks/sums.jsonl": lines1})
		})
	}
}

// A file of which a part was damaged on the disk is noticed by what its publisher lists of it, and fetched anew.
func TestADamagedPartIsNoticed(t *testing.T) {
	w := newWorld(t)
	data, err := os.ReadFile(filepath.Join(w.hub.Root, "datasets/us/hard/data/a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(w.Dir, scratch, "hard", "us_hard_data_a.parquet.part")
	put(t, part, string(bytes.Repeat([]byte{0}, 10)))
	put(t, part+".etag", `"`+sumOf(string(data))[:16]+`"`)
	_, err = w.Fetch(t.Context(), "hard")
	refused(t, err, `data/a\.parquet: what came has sha256 \w{64}, but \w{64} is what it must be`)
	if _, err := w.Fetch(t.Context(), "hard"); err != nil {
		t.Fatal(err)
	}
	w.has(t, map[string]string{"benchmarks/hard.jsonl": lines2})
}

// Files that are not large are listed with the hash that git has of them.
func TestSmallFilesAreHeldToTheHashOfGit(t *testing.T) {
	w := newWorld(t, func(all spec.Benchmarks) {
		home := all["sums"].File.Home
		home.Parts[0] = spec.Part{Host: "huggingface", Repo: "us/sums", Revision: spec.Unpinned, Path: "sums.jsonl", SHA256: spec.Unpinned}
	})
	put(t, filepath.Join(w.hub.Root, "datasets/us/sums/sums.jsonl"), published1)
	w.hub.Answer = func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/datasets/") {
			return false
		}
		out.Write([]byte(strings.Replace(published1, "1+1", "1+2", 1)))
		return true
	}
	_, err := w.Fetch(t.Context(), "sums")
	refused(t, err, `us/sums/sums\.jsonl: what came is not what its publisher lists \(git object \w{40}, listed \w{40}\)`)
	w.hub.Answer = nil
	if _, err := w.Fetch(t.Context(), "sums"); err != nil {
		t.Fatal(err)
	}
}

// The token goes to Hugging Face, and not to where it redirects, nor to GitHub.
func TestTheTokenGoesToHuggingFaceAlone(t *testing.T) {
	w := newWorld(t)
	store := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the storage was sent %q", got)
		}
		http.ServeFile(out, r, filepath.Join(w.hub.Root, r.URL.Path))
	}))
	defer store.Close()
	github := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("GitHub was sent %q", got)
		}
		w.hub.ServeHTTP(out, r)
	}))
	defer github.Close()
	w.GitHub, w.Token = github.URL, "secret"
	w.hub.Answer = func(out http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.Host, strings.TrimPrefix(github.URL, "http://")) {
			return false
		}
		if r.Header.Get("Authorization") != "Bearer secret" {
			out.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if file, ok := strings.CutPrefix(r.URL.Path, "/datasets/us/hard/resolve/"); ok {
			http.Redirect(out, r, store.URL+"/datasets/us/hard/"+file[41:], http.StatusFound)
			return true
		}
		return false
	}
	for _, set := range []string{"hard", "sums"} {
		if _, err := w.Fetch(t.Context(), set); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsAskedInTheClearOfWhoWasAskedInCode(t *testing.T) {
	w := newWorld(t)
	secure := httptest.NewTLSServer(http.RedirectHandler(w.url, http.StatusFound))
	defer secure.Close()
	w.GitHub, w.Client = secure.URL, secure.Client()
	_, err := w.Fetch(t.Context(), "sums")
	refused(t, err, `redirected from https to http`)
}

func TestOneProcessFetchesASet(t *testing.T) {
	w := newWorld(t)
	asked, let := make(chan bool), make(chan bool)
	w.hub.Answer = func(out http.ResponseWriter, r *http.Request) bool {
		asked <- true
		<-let
		return false
	}
	first := make(chan error)
	go func() {
		_, err := w.Fetch(context.Background(), "sums")
		first <- err
	}()
	<-asked
	_, err := w.Fetch(t.Context(), "sums")
	refused(t, err, `^sums: another process is fetching it; wait until that has ended$`)
	close(let)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestAnInterruptedFetchGoesOn(t *testing.T) {
	w := newWorld(t)
	w.hub.Stall = 10
	ctx, stop := context.WithCancel(t.Context())
	w.Progress = func(string, int64, int64) { stop() }
	if _, err := w.Fetch(ctx, "sums"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.has(t, map[string]string{".fetch/sums/us_sums_sums.jsonl.part": published1[:10], ".fetch/sums/us_sums_sums.jsonl.part.etag": `"` + sumOf(published1)[:16] + `"`})
	w.Progress = func(string, int64, int64) {}
	if _, err := w.Fetch(t.Context(), "sums"); err != nil {
		t.Fatal(err)
	}
	w.has(t, map[string]string{"benchmarks/sums.jsonl": lines1})
	if asked := w.hub.Asked(); !strings.HasSuffix(asked[len(asked)-1], "bytes=10-") {
		t.Errorf("asked %q", asked)
	}
}

// A connection on which nothing comes any more is given up, and the download goes on over another.
func TestASilentConnectionIsGivenUp(t *testing.T) {
	w := newWorld(t)
	w.hub.Stall, w.Silence = 10, 50*time.Millisecond
	if _, err := w.Fetch(t.Context(), "sums"); err != nil {
		t.Fatal(err)
	}
	if asked := w.hub.Asked(); !strings.HasSuffix(asked[len(asked)-1], "bytes=10-") {
		t.Errorf("asked %q", asked)
	}
	for _, set := range []string{"sums", "hard"} {
		w := newWorld(t)
		w.Silence = time.Millisecond
		w.hub.Answer = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
		_, err := w.Fetch(t.Context(), set)
		refused(t, err, `: nothing came for 1ms \(6 tries\); what has come is kept`)
	}
}

func TestFoldersThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	put(t, w.Dir, "a file")
	_, err := w.Fetch(t.Context(), "sums")
	refused(t, err, `^sums: .* is no folder$`)

	w = newWorld(t)
	put(t, filepath.Join(w.Dir, problems.FetchedFile), "benchmarks/hard.jsonl: {sha: 1}\n")
	_, err = w.Fetch(t.Context(), "hard")
	if err == nil || !strings.Contains(err.Error(), "fetched.yaml: cannot be read") {
		t.Error(err)
	}
}

func TestStatusAsksNobody(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.Dir, "benchmarks/sums.jsonl"), lines1)
	got, err := w.Status()
	want := []Status{
		{Set: "hard", Title: "Hard", Split: "test", Rows: 3, Licence: "MIT", Pinned: "unpinned"},
		{Set: "sums", Title: "Sums", Split: "test", Rows: 2, Licence: "MIT", Pinned: "revision, lines", Present: true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if asked := w.hub.Asked(); asked != nil {
		t.Errorf("asked %q", asked)
	}
	if _, err := w.Fetch(t.Context(), "hard"); err != nil {
		t.Fatal(err)
	}
	if got, err = w.Status(); err != nil || got[0].Pinned != "recorded" || !got[0].Present {
		t.Errorf("%+v, %v", got, err)
	}
}
