package fetch

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/fetch/fetchtest"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Of the real files that lie beside the project, the rows are put back into their publishers' columns and published here: what
// is fetched has the bytes that benchmarks.yaml pins. That the publishers' columns are these is not shown by it.
func TestRealFilesComeOutAsTheyArePinned(t *testing.T) {
	const data = "../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no data folder: %v", err)
	}
	type line struct {
		ID      string
		Problem string
		Answer  string
		Level   string
		Subject string
		Options []string
		Type    string `json:"answer_type"`
		Several bool   `json:"is_multiple_answer"`
		Unit    *string
		Error   *string
	}
	w := newWorld(t)
	w.Benchmarks = builtIn(t)
	read := func(set string) (all []line) {
		if _, err := lines.Read(t.Context(), data, *w.Benchmarks[set].File, func(text []byte) error {
			var l line
			err := json.Unmarshal(text, &l)
			all = append(all, l)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	number := regexp.MustCompile(`\d+$`)
	amc := regexp.MustCompile(`^amc-(\d{4})AMC(12.)-(\d+)$`)
	for set, row := range map[string]func(line) any{
		"math500": func(l line) any {
			return map[string]any{"unique_id": "test/" + strings.TrimPrefix(l.ID, "math500/") + ".json", "problem": l.Problem, "answer": l.Answer, "level": json.Number(l.Level), "subject": l.Subject}
		},
		"amc": func(l line) any {
			return map[string]any{"url": amc.ReplaceAllString(l.ID, "https://wiki.example/${1}_AMC_${2}_Problems/Problem_$3"), "problem": l.Problem + "\n", "answer": json.Number(l.Answer + ".0")}
		},
		"olympiadbench": func(l line) any {
			return map[string]any{"id": json.Number(number.FindString(l.ID)), "question": l.Problem, "final_answer": []string{l.Answer}, "subfield": l.Subject, "answer_type": l.Type, "is_multiple_answer": l.Several, "unit": l.Unit, "error": l.Error}
		},
	} {
		var rows []string
		for _, l := range read(set) {
			rows = append(rows, encode(row(l)))
		}
		text := strings.Join(rows, "\n")
		if w.Benchmarks[set].File.Home.Format == "json" {
			text = "[" + strings.Join(rows, ",") + "]"
		}
		p := w.Benchmarks[set].File.Home.Parts[0]
		put(t, filepath.Join(w.hub.Root, p.Repo, p.Revision, p.Path), text)
	}

	if err := fetchtest.PublishGSM8K(w.hub.Root, data, w.Benchmarks["gsm8k"].File.Home.Parts[0]); err != nil {
		t.Fatal(err)
	}

	// Two rows of the training problems of MATH had no answer and left their numbers behind.
	var rows []string
	for _, l := range read("math-train") {
		for number.FindString(l.ID) != encode(len(rows)) {
			rows = append(rows, `{"problem": "none", "answer": null}`)
		}
		rows = append(rows, encode(map[string]any{"problem": l.Problem, "answer": l.Answer, "difficulty": json.Number(l.Level), "subject": l.Subject}))
	}
	p := w.Benchmarks["math-train"].File.Home.Parts[0]
	put(t, filepath.Join(w.hub.Root, p.Repo, p.Revision, p.Path), "["+strings.Join(rows, ",")+"]")

	publish := func(repo string, rows any) {
		put(t, filepath.Join(w.hub.Root, "datasets", repo, "data/train-00000-of-00001.parquet"), string(published{rows: rows}.bytes(t)))
	}
	integer := func(text string) int64 {
		var n int64
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var both contest
	for i, l := range read("aime25") {
		both = append(both, contest{{Index: int64(i + 1), Problem: l.Problem, Answer: integer(l.Answer)}}...)
	}
	publish("MathArena/aime_2025", both)
	both = nil
	for i, l := range read("aime24") {
		both = append(both, contest{{Index: int64(i%15 + 1), Problem: l.Problem, Answer: integer(l.Answer)}}...)
	}
	publish("MathArena/aime_2024_I", both[:15])
	publish("MathArena/aime_2024_II", both[15:])
	var hmmt exact
	for i, l := range read("hmmt-feb25") {
		hmmt = append(hmmt, exact{{Index: int64(i + 1), Problem: l.Problem, Answer: l.Answer}}...)
	}
	publish("MathArena/hmmt_feb_2025", hmmt)
	var mmlu choices
	for _, l := range read("mmlu-pro") {
		mmlu = append(mmlu, choices{{QuestionID: integer(number.FindString(l.ID)), Question: l.Problem, Options: l.Options, Answer: l.Answer, Category: l.Subject}}...)
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, mmlu, parquet.Compression(&parquet.Snappy)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.hub.Root, "datasets/TIGER-Lab/MMLU-Pro/data/test-00000-of-00001.parquet"), b.String())

	for _, set := range []string{"math500", "amc", "olympiadbench", "math-train", "aime24", "aime25", "hmmt-feb25", "mmlu-pro", "gsm8k"} {
		if got, err := w.Fetch(t.Context(), set); err != nil || got.SHA256 != w.Benchmarks[set].File.SHA256 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	// And those that lie there are used as they are, compressed ones too.
	w.Dir = data
	for _, set := range []string{"math500", "math-train"} {
		if got, err := w.Fetch(t.Context(), set); err != nil || got.How != Here {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// Every recorded set that is published: its known lines are put back into files as their publishers have them and published here, and
// what is fetched has the bytes that recordings.yaml pins.
func TestRecordedSetsComeOutAsTheyArePinned(t *testing.T) {
	const data = "../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no data folder whose recordings could be put back: %v", err)
	}
	if testing.Short() {
		t.Skip("hundreds of megabytes of answers: minutes under the race detector")
	}
	recordings, err := spec.LoadRecordings(experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range recordings {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Archives, w.Recordings, w.Benchmarks = w.url, recordings, builtIn(t)
			if err := fetchtest.Publish(w.hub.Root, data, p); err != nil {
				t.Fatal(err)
			}
			if p.Golds != "" {
				if err := fetchtest.PublishGSM8K(w.hub.Root, data, w.Benchmarks[p.Golds].File.Home.Parts[0]); err != nil {
					t.Fatal(err)
				}
			}
			got, err := w.FetchRecording(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range got {
				if r.How != Fetched || r.SHA256 != p.Files[i].SHA256 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}
