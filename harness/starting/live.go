// Files for servers that are to be asked.

package starting

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// fewest is how many questions servers are tried on at least: of the half that is learned from a fifth is held out.
const fewest = 10

// LiveFiles returns the files of an experiment on servers: models and their base URLs, which all have a price, and the questions
// of a file of problems.JSONL. Of these the first half, in the order of a hash of the text, is learned from and the other is scored:
// more questions move few of those there are from one to the other. Prices that the folder has already keep their date, so that the
// same call on another day gives the same files. Errors are spec.ErrUsage where an argument is at fault.
func LiveFiles(ctx context.Context, folder, name, questions string, models []Expert, prices map[string]Price, how Live, now time.Time) ([]File, error) {
	if len(models) < 2 {
		return nil, fmt.Errorf("%w: routing takes two models or more; name each with --model NAME=URL", spec.ErrUsage)
	}
	x := experiment{Name: name, Folder: folder, Date: cmp.Or(dated(filepath.Join(folder, filepath.FromSlash(priceFile(name)))), today(now)), Experts: slices.Clone(models), Live: &how}
	for _, m := range models {
		if !spec.BaseURL(m.URL) {
			return nil, fmt.Errorf("%w: --model %s: want a base URL such as http://localhost:8000/v1, got %q", spec.ErrUsage, m.Model, m.URL)
		}
	}
	identify(x.Experts)
	known := map[string]bool{}
	for _, m := range models {
		if known[m.Model] {
			return nil, fmt.Errorf("%w: --model %s is given twice; give one server, and name the others below urls of the pool file that is written", spec.ErrUsage, m.Model)
		}
		known[m.Model] = true
	}
	if err := priced(x.Experts, prices, known); err != nil {
		return nil, err
	}
	for _, m := range x.Priceless() {
		return nil, fmt.Errorf("%w: what %s costs is not said; give dollars per million tokens, in and out, with --price %s=IN,OUT", spec.ErrUsage, m.Model, m.Model)
	}
	train, test, err := halves(ctx, questions)
	if err != nil {
		return nil, err
	}
	x.Train = part{"questions/train.jsonl", sumOf(train), bytes.Count(train, []byte("\n"))}
	x.Test = part{"questions/test.jsonl", sumOf(test), bytes.Count(test, []byte("\n"))}
	if n := x.Train.N + x.Test.N; n < fewest {
		return nil, fmt.Errorf("%w: %s has too few questions, %d: half are learned from and half are scored, so %d are the fewest and some hundreds tell something", spec.ErrUsage, questions, n, fewest)
	}
	files, err := x.filled(map[string]string{"pool": poolFile(name), "prices": priceFile(name), "benchmarks": "benchmarks.yaml", "spec": name + ".yaml"})
	return append([]File{{x.Train.Path, train}, {x.Test.Path, test}}, files...), err
}

// dated returns the day of the prices of a file that is there; empty: there is none.
func dated(path string) string {
	var held struct{ Date string }
	text, err := os.ReadFile(path)
	if err != nil || yaml.Unmarshal(text, &held) != nil {
		return ""
	}
	return held.Date
}

// halves divides the lines of a file of questions in two at the median of a hash of their texts.
func halves(ctx context.Context, file string) (train, test []byte, err error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // it is read twice
		return nil, nil, fmt.Errorf("%w: --questions %s: not a file; write the questions to one", spec.ErrUsage, file)
	}
	dir, base := filepath.Split(file)
	dir = cmp.Or(dir, ".")
	path, sum, err := lines.Sum(dir, base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w: --questions %s: no such file", spec.ErrUsage, file)
	} else if err != nil {
		return nil, nil, err
	}
	source := spec.File{Path: base, SHA256: sum, Source: file}
	all, err := problems.JSONL{Dir: dir, Benchmarks: spec.Benchmarks{"questions": {Split: "test", File: &source}}}.Load(ctx, "questions")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", spec.ErrUsage, err)
	}
	type question struct {
		text string
		line []byte
	}
	var questions []question
	if _, err := lines.Read(ctx, dir, source, func(line []byte) error {
		questions = append(questions, question{sumOf([]byte(all[len(questions)].Text)), bytes.Clone(line)})
		return nil
	}); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(questions, func(a, b question) int { return strings.Compare(a.text, b.text) })
	for i, q := range questions {
		if i > 0 && questions[i-1].text == q.text {
			return nil, nil, fmt.Errorf("%w: %s: two lines ask the same question, which would be learned from and scored: %.80s", spec.ErrUsage, path, q.line)
		}
		half := &train
		if i >= (len(questions)+1)/2 {
			half = &test
		}
		*half = append(append(*half, q.line...), '\n')
	}
	return train, test, nil
}
