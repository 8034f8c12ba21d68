package imports

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Files as their publishers wrote them, where they lie beside the repository.
func TestFilesOfPublishersAreRead(t *testing.T) {
	data := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(data, "raw")); err != nil {
		t.Skip("no ../shared/data/raw beside the repository")
	}
	for name, c := range map[string]struct {
		format, files, problems string
		o                       Options
		questions, answers      int
		right                   int // answers
		findings                []string
	}{
		// Of ten statements a model meets eight, counted by hand, and no log scored them; both other samples are scored as wrong.
		"inspect, zips":   {"inspect", "raw/inspect_*.eval", "", Options{}, 11, 12, 8, []string{"unknown prices", "different questions"}},
		"inspect, a file": {"inspect", "raw/inspect_*.json", "", Options{}, 1, 1, 0, []string{"unknown prices", "one model"}},
		// The answer says 5 and the gold is 3.
		"openai": {"openai", "raw/openrouter_*.json.gz", "outcomes/lineage_quizzes.jsonl.gz", Options{}, 1, 1, 0, []string{"unknown prices", "one model"}},
		// 102 have the full score; three repeat the sum before its value, 5881 - 8913 + 8987 = 5955, which the verifier reads.
		"reasoning gym": {"reasoning-gym", "raw/reasoning_gym_*.json.gz", "", Options{Model: "gemma", CharsPerToken: 4}, 100, 200, 105, []string{"unknown prices", "estimated tokens", "one model"}},
		// All 389 as published.
		"omnisbench": {"omnisbench", "raw/omnisbench_results.json.gz", "benchmarks/gsm8k_test.jsonl", Options{}, 200, 400, 389, nil},
	} {
		t.Run(name, func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join(data, filepath.FromSlash(c.files)))
			if err != nil || len(paths) == 0 {
				t.Fatal(paths, err)
			}
			var files []File
			for _, p := range paths {
				files = append(files, Open(p))
			}
			if c.problems != "" {
				if c.o.Problems, err = ReadProblems(Open(filepath.Join(data, filepath.FromSlash(c.problems)))); err != nil {
					t.Fatal(err)
				}
			}
			f, err := Find(c.format)
			if err != nil {
				t.Fatal(err)
			}
			l, err := f.Read(context.Background(), files, c.o)
			if err != nil {
				t.Fatal(err)
			}
			answers, right := 0, 0
			for _, of := range l.Answers {
				for _, runs := range of {
					for _, a := range runs {
						answers++
						right += bit(a.Correct)
					}
				}
			}
			if len(l.Questions) != c.questions || answers != c.answers || right != c.right {
				t.Errorf("%d questions, %d answers, %d right", len(l.Questions), answers, right)
			}
			var found []string
			for _, x := range l.Audit(l.Priced(nil)) {
				found = append(found, x.Check)
			}
			if !slices.Equal(found, c.findings) {
				t.Errorf("found %q", found)
			}
		})
	}
}
