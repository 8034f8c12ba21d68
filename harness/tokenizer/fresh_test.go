package tokenizer_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

var updateMerges = flag.Bool("update-merges", false, "learn the merges of fresh models again and write them")

// The merges of fresh models are those that Learn finds in generated problems, each with the instructions before it.
func TestFreshMergesAreLearnedFromGeneratedProblems(t *testing.T) {
	r := toy.Tiny(t)
	name := r.Experiment.Train.SFT.Benchmark
	population, err := problems.NewPopulation(name, r.Benchmarks[name], r.Pools[0].Simulation)
	if err != nil {
		t.Fatal(err)
	}
	drawn, _, err := problems.Generate(t.Context(), 1, population, problems.Sized, 2000)
	if err != nil {
		t.Fatal(err)
	}
	instructions, err := os.ReadFile("../lm/prompt.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range drawn {
		texts = append(texts, p.Text, string(instructions))
	}
	most := 1536
	if !*updateMerges {
		most = 40 // the first ones, which take a moment
	}
	learned, err := tokenizer.Learn(tokenizer.Qwen2, texts, most)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range learned {
		lines = append(lines, m[0]+" "+m[1])
	}
	if *updateMerges {
		if err := os.WriteFile("../lm/fresh-merges.txt", []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile("../lm/fresh-merges.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(string(text), "\n")[:most]; !slices.Equal(got, lines) {
		t.Errorf("the first merges are %q, learned are %q", got, lines)
	}
}
