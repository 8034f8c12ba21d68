package problems

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestUnpinnedFilesAreWhatTheFolderRecorded(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const text = `{"id": "1", "problem": "p", "answer": "2"}` + "\n"
	all := spec.Benchmarks{
		"b":     {Split: "test", Size: 1, File: &spec.File{Path: "b.jsonl", SHA256: spec.Unpinned, Source: "us", Home: &spec.Home{}}},
		"other": {Split: "test", Size: 1, File: &spec.File{Path: "other.jsonl", SHA256: strings.Repeat("0", 64)}},
		"made":  {Generated: &spec.Generated{}},
	}
	put("b.jsonl", text)
	load := func() error {
		pinned, err := Pinned(dir, all)
		if err != nil {
			return err
		}
		if pinned["other"].File.SHA256 != all["other"].File.SHA256 || all["b"].File.SHA256 != spec.Unpinned {
			t.Errorf("%+v of %+v", pinned, all)
		}
		_, err = JSONL{Dir: dir, Benchmarks: pinned}.Load(t.Context(), "b")
		return err
	}
	if err := load(); err == nil || !strings.Contains(err.Error(), "b.jsonl: nothing is recorded of it, so nothing would notice a change of the data; 'entrorouter fetch b' records it as it is") {
		t.Errorf("without a record: %v", err)
	}
	_, sum, err := lines.Sum(dir, "b.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	put(FetchedFile, "b.jsonl: {set: b, sha256: "+sum+", rows: 1, date: 2026-01-02}\nother.jsonl: {set: other, sha256: "+sum+", rows: 1, date: 2026-01-02}\n")
	if err := load(); err != nil {
		t.Error(err)
	}
	put("b.jsonl", text+"\n")
	if err := load(); err == nil || !strings.Contains(err.Error(), "sha256 is ") {
		t.Errorf("changed since: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "b.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := load(); err == nil || !strings.Contains(err.Error(), "b.jsonl: no such file or directory: point --data at the folder that holds b.jsonl (source: ") {
		t.Errorf("gone: %v", err)
	}
	put("b.jsonl.gz", string(compress(t, text))) // the checksum is that of the lines
	if err := load(); err != nil {
		t.Error(err)
	}
	put(FetchedFile, "- b\n")
	if err := load(); err == nil || !strings.Contains(err.Error(), "fetched.yaml: cannot be read") {
		t.Errorf("a damaged record: %v", err)
	}
}
