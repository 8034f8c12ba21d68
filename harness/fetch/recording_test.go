package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	gymPath      = "gym-1234567/reasoninggym-paper-experiments/zero-shot/easy/m_20250416_010203/algebra/sums.json"
	gymText      = `{"results": [{"question": "1+1?", "expected_answer": "2", "completions": [{"score": 1.0, "full_model_response": "two"}]}]}`
	gymQuestions = `{"id": "0194e27aa140", "level": "easy", "category": "algebra", "dataset": "sums", "question": "1+1?", "answer": "2"}` + "\n"
	gymOutcomes  = `{"query_id": "0194e27aa140", "model": "m", "scores": [1.0], "chars": [3], "dups": 1}` + "\n"
)

// archived packs files as GitHub does: the repository is a folder.
func archived(t *testing.T, files map[string]string) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for path, text := range files {
		if err := errors.Join(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(text))}), func() error { _, err := w.Write([]byte(text)); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// withGym has one recorded set, whose outcomes nobody has pinned.
func withGym(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	put(t, filepath.Join(w.hub.Root, "us/gym/tar.gz/"+commitID), archived(t, map[string]string{gymPath: gymText, "gym-1234567/README.md": "read me"}))
	w.Archives = w.url
	w.Recordings = spec.Recordings{"gym": {Title: "Gym", Licence: "MIT", From: []spec.Origin{{Repo: "us/gym", Revision: commitID}}, Format: "reasoning-gym", Most: 1, Files: []spec.PublishedFile{
		{Path: "outcomes/reasoning_gym_questions.jsonl", SHA256: sumOf(gymQuestions), Rows: 1},
		{Path: "outcomes/reasoning_gym_outcomes.jsonl", SHA256: spec.Unpinned, Rows: 1},
	}}}
	return w
}

func TestARecordedSetIsFetchedConvertedAndRecorded(t *testing.T) {
	w := withGym(t)
	got, err := w.FetchRecording(t.Context(), "gym")
	if err != nil || len(got) != 2 || got[0].How != Fetched || got[1].SHA256 != sumOf(gymOutcomes) {
		t.Fatalf("%+v, %v", got, err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(w.Dir, "outcomes", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if q, o := read("reasoning_gym_questions.jsonl"), read("reasoning_gym_outcomes.jsonl"); q != gymQuestions || o != gymOutcomes {
		t.Errorf("questions %q, outcomes %q", q, o)
	}
	record, err := problems.ReadFetched(w.Dir)
	if r := record["outcomes/reasoning_gym_outcomes.jsonl"]; err != nil || r.SHA256 != sumOf(gymOutcomes) || r.Set != "gym" || len(r.From) != 1 || r.From[0].Revision != commitID {
		t.Errorf("%+v, %v", record, err)
	}
	if left, _ := filepath.Glob(filepath.Join(w.Dir, scratch, "gym", "*")); left != nil {
		t.Errorf("the download is still there: %v", left)
	}
	asked := len(w.hub.Asked())
	if got, err = w.FetchRecording(t.Context(), "gym"); err != nil || got[0].How != Here || got[1].How != Here || len(w.hub.Asked()) != asked {
		t.Errorf("again: %+v, %v, asked %v", got, err, w.hub.Asked()[asked:])
	}

	// One of the two is gone, and what is published now is another: what was recorded holds, and what is here is not touched.
	if err := os.Remove(filepath.Join(w.Dir, "outcomes/reasoning_gym_outcomes.jsonl")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.hub.Root, "us/gym/tar.gz/"+commitID), archived(t, map[string]string{gymPath: strings.Replace(gymText, "two", "three", 1)}))
	if _, err = w.FetchRecording(t.Context(), "gym"); err == nil || !strings.Contains(err.Error(), "what is published makes 1 lines with sha256 ") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "outcomes/reasoning_gym_outcomes.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Error("other lines were written:", err)
	}
}

// A publisher's file lacks the right answers: the problem set that has them is fetched with it, and is there already the next time.
func TestASetThatLacksItsGoldsIsFetchedWithThem(t *testing.T) {
	w := withGym(t)
	sheet := "prompt,mixtral-8x7b-instruct-v0.1,gpt-4-1106-preview,mixtral-8x7b-instruct-v0.1_response,gpt-4-1106-preview_response\n1+1?,False,True,3,2\n"
	put(t, filepath.Join(w.hub.Root, "us/route/tar.gz/"+commitID), archived(t, map[string]string{"route-1/routellm/evals/gsm8k/gsm8k_responses.csv": sheet}))
	w.Benchmarks = builtIn(t)
	of := w.Benchmarks["gsm8k"]
	file := *of.File
	file.SHA256 = sumOf(`{"id": "gsm8k-0", "benchmark": "gsm8k", "problem": "1+1?", "answer": "2"}` + "\n")
	of.File, of.Size = &file, 1
	w.Benchmarks["gsm8k"] = of
	home := file.Home.Parts[0]
	put(t, filepath.Join(w.hub.Root, home.Repo, home.Revision, home.Path), `{"question": "1+1?", "answer": "Two.\n#### 2"}`)
	w.Recordings["route"] = spec.Published{From: []spec.Origin{{Repo: "us/route", Revision: commitID}}, Format: "routellm-gsm8k", Golds: "gsm8k", Most: 1, Files: []spec.PublishedFile{{Path: "outcomes/routellm_gsm8k.jsonl", SHA256: spec.Unpinned, Rows: 2}}}
	got, err := w.FetchRecording(t.Context(), "route")
	if err != nil || len(got) != 1 || got[0].How != Fetched {
		t.Fatalf("%+v, %v", got, err)
	}
	text, err := os.ReadFile(got[0].Path)
	if err != nil || strings.Count(string(text), `"gold":"2"`) != 2 {
		t.Errorf("%s, %v", text, err)
	}
	if golds, err := w.Fetch(t.Context(), "gsm8k"); err != nil || golds.How != Here {
		t.Errorf("%+v, %v", golds, err)
	}
	os.Remove(got[0].Path)
	p := w.Recordings["route"]
	p.Golds = "nowhere"
	w.Recordings["route"] = p
	if _, err := w.FetchRecording(t.Context(), "route"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `route: golds: unknown set "nowhere"`) {
		t.Error(err)
	}
}

// Where paths are given no archive is asked for, and what came of a set that is refused lies there for the next time, as do its lines.
func TestFilesOfARecordedSetAreDownloadedOneByOne(t *testing.T) {
	w := withGym(t)
	p := w.Recordings["gym"]
	p.From = []spec.Origin{{Repo: "us/gym", Revision: commitID, Paths: []string{gymPath[len("gym-1234567/"):]}}, {Repo: "us/more", Revision: commitID, Paths: []string{"a/b c.json"}}}
	p.Files[0].SHA256 = sumOf("")
	w.Recordings["gym"] = p
	put(t, filepath.Join(w.hub.Root, "us/gym", commitID, gymPath[len("gym-1234567/"):]), gymText)
	put(t, filepath.Join(w.hub.Root, "us/more", commitID, "a/b c.json"), "not read")
	_, err := w.FetchRecording(t.Context(), "gym")
	if err == nil || !strings.Contains(err.Error(), "please report this line") {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(w.Dir, scratch, "gym", "reasoning_gym_questions.jsonl")); err != nil || string(text) != gymQuestions {
		t.Errorf("%q, %v", text, err)
	}
	p.Files[0].SHA256 = sumOf(gymQuestions)
	if got, err := w.FetchRecording(t.Context(), "gym"); err != nil || got[0].How != Fetched {
		t.Errorf("%+v, %v", got, err)
	}
	if asked := w.hub.Asked(); len(asked) != 2 || asked[0] != "/us/gym/"+commitID+"/"+gymPath[len("gym-1234567/"):] || asked[1] != "/us/more/"+commitID+"/a/b c.json" {
		t.Errorf("asked for %q", asked)
	}
	record, err := problems.ReadFetched(w.Dir)
	if r := record["outcomes/reasoning_gym_outcomes.jsonl"]; err != nil || len(r.From) != 2 || r.From[1] != (problems.Came{Repo: "us/more", Revision: commitID, Path: "a/b c.json", SHA256: sumOf("not read")}) {
		t.Errorf("%+v, %v", record, err)
	}
	os.RemoveAll(filepath.Join(w.Dir, "outcomes"))
	p.Most = 1
	put(t, filepath.Join(w.hub.Root, "us/more", commitID, "a/b c.json"), strings.Repeat(" ", 1<<20-10))
	if _, err := w.FetchRecording(t.Context(), "gym"); err == nil || !strings.Contains(err.Error(), "us/more/a/b c.json: the downloads of this set are larger than the 1 MB that its entry allows") {
		t.Error(err)
	}
}

func TestAFileOfOnesOwnAtThePathOfAnUnpinnedOneIsRecorded(t *testing.T) {
	w := withGym(t)
	put(t, filepath.Join(w.Dir, "outcomes/reasoning_gym_outcomes.jsonl"), "mine\n")
	got, err := w.FetchRecording(t.Context(), "gym")
	if err != nil || got[0].How != Fetched || got[1].How != Recorded {
		t.Fatalf("%+v, %v", got, err)
	}
	put(t, filepath.Join(w.Dir, "outcomes/reasoning_gym_outcomes.jsonl"), "another\n")
	if _, err := w.FetchRecording(t.Context(), "gym"); err == nil || !strings.Contains(err.Error(), "fetched.yaml says "+sumOf("mine\n")) {
		t.Error(err)
	}
}

func TestARecordedSetThatDoesNotFitIsRefusedAndNothingIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *world)
		want   string
	}{
		"no such file":      {func(t *testing.T, w *world) { os.RemoveAll(filepath.Join(w.hub.Root, "us/gym")) }, "404 Not Found"},
		"no archive":        {func(t *testing.T, w *world) { put(t, filepath.Join(w.hub.Root, "us/gym/tar.gz/"+commitID), "text") }, "us/gym at " + commitID + ": us_gym_" + commitID + ".tar.gz: is no compressed archive"},
		"a damaged archive": {func(t *testing.T, w *world) { cut(t, filepath.Join(w.hub.Root, "us/gym/tar.gz/"+commitID)) }, "its archive is damaged"},
		"none of its files": {func(t *testing.T, w *world) {
			put(t, filepath.Join(w.hub.Root, "us/gym/tar.gz/"+commitID), archived(t, map[string]string{"a": "b"}))
		}, "us/gym at " + commitID + ": holds none of the files that this set is made of"},
		"another number":      {func(t *testing.T, w *world) { w.Recordings["gym"].Files[1].Rows = 2 }, "makes 1 lines with sha256 " + sumOf(gymOutcomes) + ", but there must be 2; nothing is in its place"},
		"other lines":         {func(t *testing.T, w *world) { w.Recordings["gym"].Files[0].SHA256 = sumOf("") }, "but there must be 1 with " + sumOf("") + "; nothing is in its place, and they lie in "},
		"a file of no format": {func(t *testing.T, w *world) { w.Recordings["gym"].Files[0].Path = "outcomes/other.jsonl" }, "format reasoning-gym makes no file of this name; it makes reasoning_gym_outcomes, reasoning_gym_questions"},
		"another file there": {func(t *testing.T, w *world) {
			put(t, filepath.Join(w.Dir, "outcomes/reasoning_gym_questions.jsonl"), "mine\n")
		}, "but recordings.yaml says " + sumOf(gymQuestions) + "; move it away to fetch it again"},
	} {
		t.Run(name, func(t *testing.T) {
			w := withGym(t)
			c.change(t, w)
			if _, err := w.FetchRecording(t.Context(), "gym"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
			if found, _ := filepath.Glob(filepath.Join(w.Dir, "outcomes", "*")); len(found) > 0 && name != "another file there" {
				t.Errorf("written: %v", found)
			}
		})
	}
	if _, err := withGym(t).FetchRecording(t.Context(), "none"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// cut leaves the first half of a file.
func cut(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, string(text[:len(text)/2]))
}

func TestRecordedSetsAreListed(t *testing.T) {
	all, err := withGym(t).Status()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(s Status) bool { return s.Set == "gym" })
	if at < 0 || all[at] != (Status{Set: "gym", Title: "Gym", Split: "recorded", Rows: 2, Licence: "MIT", Pinned: "revision"}) {
		t.Errorf("%+v", all)
	}
}

// A small archive may hold more than fits in memory.
func TestAFileOfAnArchiveHasAnEnd(t *testing.T) {
	at := filepath.Join(t.TempDir(), "a.tar.gz")
	f, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if err := errors.Join(tar.NewWriter(z).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "at/big.json", Mode: 0o644, Size: 8 << 30}), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for file, err := range unpacked(t.Context(), spec.Origin{}, at) {
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.Read()
		refused(t, err, "big.json: has 8192 MB unpacked, more than the 1024 that are read")
		return
	}
	t.Error("the file is left out")
}
