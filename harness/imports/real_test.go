package imports

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		"inspect, zips":   {"inspect", "raw/inspect_*.eval", "", Options{}, 11, 12, 8, []string{"unknown prices", "few questions", "different questions"}},
		"inspect, a file": {"inspect", "raw/inspect_*.json", "", Options{}, 1, 1, 0, []string{"unknown prices", "few questions", "one model"}},
		// The answer says 5 and the gold is 3.
		"openai": {"openai", "raw/openrouter_*.json.gz", "outcomes/lineage_quizzes.jsonl.gz", Options{}, 1, 1, 0, []string{"unknown prices", "few questions", "one model"}},
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

// What lm-evaluation-harness wrote: testdata/lm-eval/README.md says how.
func TestSamplesOfLMEvalAreRead(t *testing.T) {
	files := func(pattern string) (all []File) {
		paths, err := filepath.Glob(filepath.Join("testdata", "lm-eval", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, p := range paths {
			all = append(all, Open(p))
		}
		return all
	}
	f, err := Find("lm-eval")
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.Read(t.Context(), append(files("Qwen3*/*"), append(files("dummy/results*"), files("dummy/samples_colours*")...)...), Options{CharsPerToken: 4})
	if err != nil {
		t.Fatal(err)
	}
	// All six answers are right, as a reader sees; the filters of the task let one through, and by the other none is.
	want := []string{
		`made-0 ["(1, 15)"] | Qwen3-235B-A22B-Thinking-2507 | true, log false`, `made-0 ["(1, 15)"] | Qwen3-4B-Thinking-2507 | true, log unsure`,
		`made-1 ["\\frac{127}{343}"] | Qwen3-235B-A22B-Thinking-2507 | true, log false`, `made-1 ["\\frac{127}{343}"] | Qwen3-4B-Thinking-2507 | true, log false`,
		`made-2 ["x^{2} + 8x - 7209"] | Qwen3-235B-A22B-Thinking-2507 | true, log false`, `made-2 ["x^{2} + 8x - 7209"] | Qwen3-4B-Thinking-2507 | true, log false`,
	}
	var got []string
	for q, of := range l.Answers {
		for m, runs := range of {
			for _, a := range runs {
				published := "unsure"
				if a.Published != nil {
					published = fmt.Sprint(*a.Published)
				}
				got = append(got, fmt.Sprintf("%s %q | %s | %v, log %s", l.Questions[q].ID, l.Questions[q].Golds, l.Models[m], a.Correct, published))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"3 samples: likelihoods of given texts, and no answer of a model"}, l.Left); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ pattern, model, want string }{
		{"dummy/samples_capitals*", "", "the model is said by the results of 2026-11-23T09-13-45.772846 alone; name their file too, or the model with --model"},
		{"dummy/samples_capitals*", "dummy", "nothing says whether the answer is right"}, // which of two was judged? and the golds are a list of Python
		{"*/results*", "", "no file of samples; lm_eval writes them with --log_samples"},
	} {
		if _, err := f.Read(t.Context(), files(c.pattern), Options{CharsPerToken: 4, Model: c.model}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.pattern, err, c.want)
		}
	}
}
