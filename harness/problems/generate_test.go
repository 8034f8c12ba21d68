package problems

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/verify"
)

// shown is what the texts of the built-in pools show.
var shown = spec.SimText{Noise: 4.2, TopicLeak: 0.1, SizeShown: 0.4, NewWords: 0.5}

// training is a population like that of the training set, all topics alike.
func training(name string) Population {
	return Population{Name: name, Split: routing.Train, Cell: "train", Family: Math,
		Mix: spec.SimCell{Mu: -2.5, SD: 2.8, Mix: even(Math)}, TopicDifficulty: even(Math), Text: shown}
}

// unseen is a population like those of the out-of-distribution sets, all topics alike.
func unseen(name string, options int) Population {
	return Population{Name: name, Split: routing.Test, Cell: "GPQA", Family: Choice, Options: options,
		Mix: spec.SimCell{Mu: -2.5, SD: 2.96, Mix: even(Choice)}, TopicDifficulty: even(Choice), Text: shown}
}

func even(family string) map[string]float64 {
	m := map[string]float64{}
	for _, id := range topics(family) {
		m[id] = 0.125
	}
	return m
}

func generate(t testing.TB, pop Population, draw string, n int) ([]routing.Problem, []routing.Latent) {
	t.Helper()
	problems, latents, err := Generate(context.Background(), 7, pop, draw, n)
	if err != nil {
		t.Fatal(err)
	}
	return problems, latents
}

func TestTheSameCoordinatesGiveTheSameProblems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := seed.Seed(rapid.Uint64().Draw(t, "root"))
		pop := training("sim-a")
		if rapid.Bool().Draw(t, "choice") {
			pop = unseen("sim-b", rapid.IntRange(2, 10).Draw(t, "options"))
		}
		draw := rapid.SampledFrom([]string{Sized, Large}).Draw(t, "draw")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		p, l, err := Generate(context.Background(), root, pop, draw, n)
		if err != nil {
			t.Fatal(err)
		}
		q, m, err := Generate(context.Background(), root, pop, draw, n+10)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, q[:n]) || !reflect.DeepEqual(l, m[:n]) {
			t.Fatalf("a draw of %d is not the beginning of a draw of %d", n, n+10)
		}
	})
}

func TestSetsAndDrawsShareNoProblem(t *testing.T) {
	var index Index
	add := func(pop Population, draw string, n int) {
		if err := index.Add(generate(t, pop, draw, n)); err != nil {
			t.Error(err)
		}
	}
	add(training("sim-train-sft"), Sized, 24_000)
	add(training("sim-train-rl"), Sized, 12_000)
	add(training("sim-math500"), Sized, 500)
	add(training("sim-math500"), Large, 12_000)
	add(unseen("sim-gpqa", 4), Large, 8_000)
	add(unseen("sim-mmlu-pro", 10), Large, 8_000)
	easy := training("sim-easy") // one step and small numbers throughout: the likeliest to clash
	easy.Mix.Mu = -40
	add(easy, Sized, 4_000)
	if want := 68_500; index.Len() != want {
		t.Errorf("%d distinct texts, want %d", index.Len(), want)
	}
}

func TestAClashIsWrittenAgainWithTheSameDifficulty(t *testing.T) {
	g := newGenerator(1, training("sim-a"), Sized)
	lat := g.latent(0)
	seen := map[uint64]struct{}{}
	first, err := g.problem(0, lat, seen)
	if err != nil {
		t.Fatal(err)
	}
	again, err := g.problem(0, lat, seen)
	if err != nil {
		t.Fatal(err)
	}
	if first.Text == again.Text || first.ID != again.ID {
		t.Errorf("the second writing of %s is\n%s\nthe first was\n%s", again.ID, again.Text, first.Text)
	}
}

func TestProblemsAreWellFormed(t *testing.T) {
	for _, pop := range []Population{training("sim-a"), unseen("sim-b", 4), unseen("sim-c", 10)} {
		problems, latents := generate(t, pop, Large, 3000)
		for i, p := range problems {
			if want := fmt.Sprintf("%s-large-%05d", pop.Name, i+1); p.ID != want {
				t.Fatalf("problem %d has id %s, want %s", i, p.ID, want)
			}
			if p.Benchmark != pop.Name || p.Split != pop.Split || len(p.Gold) != 1 || p.Gold[0] == "" || latents[i].Cell != pop.Cell {
				t.Fatalf("%s is incomplete: %+v %+v", p.ID, p, latents[i])
			}
			if bad := malformed.FindString(p.Text); bad != "" || strings.Count(p.Text, "$")%2 != 0 || strings.Count(p.Text, "{") != strings.Count(p.Text, "}") {
				t.Fatalf("%s: malformed near %q:\n%s", p.ID, bad, p.Text)
			}
			if pop.Family == Math && longNumber.MatchString(p.Gold[0]) {
				t.Fatalf("%s: gold %s has a number of more than 13 digits", p.ID, p.Gold[0])
			}
			if len(p.Options) != pop.Options {
				t.Fatalf("%s has %d options, want %d", p.ID, len(p.Options), pop.Options)
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(p.Options))); len(distinct) != len(p.Options) {
				t.Fatalf("%s: options repeat: %q", p.ID, p.Options)
			}
			for k, o := range p.Options {
				if !strings.Contains(p.Text, "\n"+letterOf(k)+") ") || !strings.Contains(p.Text, o) {
					t.Fatalf("%s does not show option %s: %s\n%s", p.ID, letterOf(k), o, p.Text)
				}
			}
		}
	}
}

var (
	malformed  = regexp.MustCompile(`@|%!|  |\$\$|\.\.|,,| \.| ,[^.]|\+ -|- -|\(\)`)
	longNumber = regexp.MustCompile(`[0-9]{14}`)
)

func TestPhrasesNeverJoinTheIncomingValueToADigit(t *testing.T) {
	joined := regexp.MustCompile(`[0-9A-Za-z]@|@[0-9A-Za-z]`)
	for _, top := range append(mathTopics(), choiceTopics()...) {
		drafts(func(d *draft, v int64) {
			for _, l := range top.links {
				if phrase, _ := l.write(d, v); v <= l.upTo && joined.MatchString(phrase) {
					t.Errorf("%s/%s: %s", top.id, l.name, phrase)
				}
			}
			for _, f := range top.finals {
				if phrase, _ := f.write(d, v); v <= f.upTo && joined.MatchString(phrase) {
					t.Errorf("%s/%s: %s", top.id, f.name, phrase)
				}
			}
		})
	}
}

func TestEveryStepFeedsTheNext(t *testing.T) {
	g := newGenerator(3, training("sim-a"), Sized)
	for i := range 500 {
		lat := g.latent(i)
		q, ok := g.write(g.base.Derive("text", i, 0).Rand(), lat)
		if !ok {
			continue
		}
		for k, s := range q.steps {
			if !strings.Contains(s.phrase, "@") {
				t.Fatalf("step %d, %s, does not use the value before it: %s", k+1, s.name, s.phrase)
			}
			if k > 0 && s.in != q.steps[k-1].out {
				t.Fatalf("step %d takes %d, but the step before gives %d", k+1, s.in, q.steps[k-1].out)
			}
		}
	}
}

func TestTopicsOccurWithTheirShare(t *testing.T) {
	pop := training("sim-a")
	pop.Mix.Mix = map[string]float64{"arith": 1, "algebra": 2, "geometry": 5}
	_, latents := generate(t, pop, Sized, 8000)
	got := map[string]int{}
	for _, l := range latents {
		got[l.Topic]++
	}
	for id, share := range pop.Mix.Mix {
		p := share / 8
		if z := (float64(got[id]) - 8000*p) / math.Sqrt(8000*p*(1-p)); math.Abs(z) > 4 {
			t.Errorf("topic %s occurs %d times of 8000, want a share of %.3f (z = %.1f)", id, got[id], p, z)
		}
	}
	if len(got) != 3 {
		t.Errorf("topics outside the mix occur: %v", got)
	}
}

func TestTheRightLetterIsUniform(t *testing.T) {
	for _, n := range []int{4, 10} {
		problems, _ := generate(t, unseen("sim-b", n), Sized, 6000)
		got := map[string]int{}
		for _, p := range problems {
			got[p.Gold[0]]++
		}
		expected, chi2 := 6000/float64(n), 0.0
		for k := range n {
			diff := float64(got[letterOf(k)]) - expected
			chi2 += diff * diff / expected
		}
		// The 99.9% point of chi-square with 9 degrees of freedom is 27.9; with 3 it is 16.3.
		if limit := map[int]float64{4: 16.3, 10: 27.9}[n]; chi2 > limit {
			t.Errorf("%d options: chi-square is %.1f, above %.1f: %v", n, chi2, limit, got)
		}
	}
}

func TestDifficultyFollowsThePopulation(t *testing.T) {
	pop := training("sim-a")
	pop.TopicDifficulty["geometry"] = 3
	_, latents := generate(t, pop, Sized, 20_000)
	var z, z2 float64
	for _, l := range latents {
		x := (l.Difficulty - pop.Mix.Mu - pop.TopicDifficulty[l.Topic]) / pop.Mix.SD
		z += x / 20_000
		z2 += x * x / 20_000
	}
	if math.Abs(z) > 0.03 || math.Abs(z2-1) > 0.05 {
		t.Errorf("standardised difficulty has mean %.3f and second moment %.3f, want 0 and 1", z, z2)
	}
}

// The noise of standard deviation 4.2 on a difficulty of standard deviation 2.8 alone gives a correlation of .555;
// rounding and the ends of the scale take some of it. The study's pool has these very cues.
func TestTheTextShowsTheDifficultyOnlyInPart(t *testing.T) {
	for _, c := range []struct {
		pop              Population
		steps, size      [2]float64 // range of the correlation with d
		scenery, meanLen [2]float64 // share of borrowed scenery; mean number of steps
	}{
		{training("sim-a"), [2]float64{.47, .56}, [2]float64{.47, .56}, [2]float64{.08, .12}, [2]float64{5.5, 6.5}},
		{unseen("sim-b", 4), [2]float64{.47, .58}, [2]float64{.15, .28}, [2]float64{.08, .12}, [2]float64{3.8, 4.6}},
	} {
		g := newGenerator(5, c.pop, Sized)
		var d, steps, sizes []float64
		leaked, total := 0.0, 0.0
		for i := range 6000 {
			lat := g.latent(i)
			q, ok := g.write(g.base.Derive("text", i, 0).Rand(), lat)
			if !ok {
				continue
			}
			d = append(d, lat.Difficulty)
			steps = append(steps, float64(len(q.steps)))
			sizes = append(sizes, math.Log(float64(q.steps[0].in))) // the first number printed
			total += float64(len(q.steps))
			if q.scenery != lat.Topic {
				leaked++
			}
		}
		n := float64(len(d))
		if n < 5990 {
			t.Errorf("family %s: %v of 6000 chains led somewhere at the first attempt", c.pop.Family, n)
		}
		for _, m := range []struct {
			what  string
			got   float64
			bound [2]float64
		}{
			{"correlation of steps and difficulty", correlation(d, steps), c.steps},
			{"correlation of size and difficulty", correlation(d, sizes), c.size},
			{"share of borrowed scenery", leaked / n, c.scenery},
			{"mean number of steps", total / n, c.meanLen},
		} {
			if m.got < m.bound[0] || m.got > m.bound[1] {
				t.Errorf("family %s: %s is %.3f, want it in %v", c.pop.Family, m.what, m.got, m.bound)
			}
		}
	}
}

func correlation(x, y []float64) float64 {
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy, sxx, syy, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (sxy - sx*sy/n) / math.Sqrt((sxx-sx*sx/n)*(syy-sy*sy/n))
}

func TestUnseenSetsUseWordsThatTrainingNeverShows(t *testing.T) {
	words := func(pop Population) map[string]int {
		problems, _ := generate(t, pop, Sized, 4000)
		seen := map[string]int{}
		for _, p := range problems {
			for _, w := range regexp.MustCompile(`[A-Za-z]{4,}`).FindAllString(p.Text, -1) {
				seen[w]++
			}
		}
		return seen
	}
	known, fresh, total := words(training("sim-a")), 0, 0
	for w, n := range words(unseen("sim-b", 4)) {
		total += n
		if known[w] == 0 {
			fresh += n
		}
	}
	if share := float64(fresh) / float64(total); share < .3 || share > .7 {
		t.Errorf("%.2f of the words of unseen problems occur in no training problem, want about half", share)
	}
}

func TestHalfOfTheNuisanceOfUnseenSetsIsNew(t *testing.T) {
	names := trainWords().names
	share := func(pop Population) float64 {
		problems, _ := generate(t, pop, Sized, 2000)
		known, fresh := 0, 0
		for _, p := range problems {
			for _, w := range regexp.MustCompile(`[A-Z][a-z]+`).FindAllString(p.Text, -1) {
				if slices.Contains(names.known, w) {
					known++
				} else if slices.Contains(names.fresh, w) {
					fresh++
				}
			}
		}
		return float64(fresh) / float64(known+fresh)
	}
	if got := share(training("sim-a")); got != 0 {
		t.Errorf("%.3f of the names in training problems are reserved for unseen sets", got)
	}
	if got := share(unseen("sim-b", 4)); got < .47 || got > .53 {
		t.Errorf("%.3f of the names in unseen problems are new, want a half", got)
	}
}

func TestStoriesHaveAboutTheWordsAskedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for words := 9; words <= 23; words++ {
		total := 0
		for range 500 {
			n := len(strings.Fields(trainWords().story(r, words, 0.5)))
			if n < words {
				t.Fatalf("a story of %d words, want at least %d", n, words)
			}
			total += n
		}
		if mean := float64(total) / 500; mean > float64(words)+8 {
			t.Errorf("stories of %d words have %.1f on average", words, mean)
		}
	}
}

func TestVerifierAcceptsEveryGold(t *testing.T) {
	for _, pop := range []Population{training("sim-a"), unseen("sim-b", 4), unseen("sim-c", 10)} {
		problems, latents := generate(t, pop, Sized, 1500)
		for i, p := range problems {
			response := "So the answer is $\\boxed{" + p.Gold[0] + "}$."
			if v := p.Key().Grade(response); v.Outcome != verify.OutcomeEqual {
				t.Errorf("%s (%s): %q against gold %q: %+v", p.ID, latents[i].Topic, response, p.Gold[0], v)
			}
		}
	}
}

func TestFaultyPopulationsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Population)
		want   string
	}{
		{"no name", func(p *Population) { p.Name = "" }, `generated set "": needs a name`},
		{"unknown family", func(p *Population) { p.Family = "maths" }, `generated set "sim-a": unknown family "maths"; known: math, choice`},
		{"options on free answers", func(p *Population) { p.Options = 4 }, "options is 4; family math has none"},
		{"no options on choice", func(p *Population) { *p = unseen("sim-b", 0) }, "options is 0; family choice takes 2 to 10"},
		{"too many options", func(p *Population) { *p = unseen("sim-b", 11) }, "options is 11; family choice takes 2 to 10"},
		{"unknown topic", func(p *Population) { p.Mix.Mix = map[string]float64{"law": 1} }, `unknown topic "law" in the mix of cell "train"; known: arith, `},
		{"topic of the other family", func(p *Population) { p.Mix.Mix = map[string]float64{"physics": 1} }, `unknown topic "physics"`},
		{"negative share", func(p *Population) { p.Mix.Mix = map[string]float64{"arith": -1} }, `the share of topic "arith" is -1`},
		{"share not a number", func(p *Population) { p.Mix.Mix = map[string]float64{"arith": math.NaN()} }, `the share of topic "arith" is NaN`},
		{"empty mix", func(p *Population) { p.Mix.Mix = nil }, `the topic shares of cell "train" sum to 0`},
		{"topic without difficulty", func(p *Population) { p.TopicDifficulty = nil }, `topic "algebra" has no entry in topic_difficulty`},
		{"topic of infinite difficulty", func(p *Population) { p.TopicDifficulty["arith"] = math.Inf(-1) }, `the difficulty of topic "arith" is -Inf; it must be finite`},
		{"negative spread", func(p *Population) { p.Mix.SD = -1 }, "sd is -1; it must be finite and not negative"},
		{"infinite mean", func(p *Population) { p.Mix.Mu = math.Inf(1) }, "mu is +Inf; it must be finite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pop := training("sim-a")
			c.change(&pop)
			if _, _, err := Generate(context.Background(), 1, pop, Sized, 1); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestAPopulationIsReadFromTheSpec(t *testing.T) {
	sim := &spec.Simulation{Topics: map[string]float64{"arith": 1}, Cells: map[string]spec.SimCell{"AMC": {Mu: 1, SD: 2, Mix: map[string]float64{"arith": 1}}}}
	b := spec.Benchmark{Split: "test", Generated: &spec.Generated{Cell: "AMC", Family: Math}}
	pop, err := NewPopulation("sim-amc", b, sim)
	if err != nil || pop.Name != "sim-amc" || pop.Split != routing.Test || pop.Mix.SD != 2 {
		t.Errorf("got %+v, %v", pop, err)
	}
	b.Generated = &spec.Generated{Cell: "AMD", Family: Math}
	if _, err := NewPopulation("sim-amc", b, sim); err == nil || err.Error() != `benchmark "sim-amc": unknown cell "AMD"; known: AMC` {
		t.Errorf("unknown cell: %v", err)
	}
	if _, err := NewPopulation("aime25", spec.Benchmark{}, sim); err == nil || err.Error() != `benchmark "aime25" is not generated` {
		t.Errorf("loaded benchmark: %v", err)
	}
}

func TestANegativeNumberOfProblemsIsRefused(t *testing.T) {
	if _, _, err := Generate(context.Background(), 1, training("sim-a"), Sized, -1); err == nil || err.Error() != `generated set "sim-a": asked for -1 problems; the number must not be negative` {
		t.Errorf("error is %v", err)
	}
}

func TestSetsMayBeGeneratedInParallel(t *testing.T) {
	want, _ := generate(t, unseen("sim-b", 4), Sized, 300)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got, _, err := Generate(context.Background(), 7, unseen("sim-b", 4), Sized, 300)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("a parallel draw differs (%v)", err)
			}
		})
	}
	group.Wait()
}

// TestGolden writes three problems of every topic for human eyes.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, family := range []string{Math, Choice} {
		for _, id := range topics(family) {
			pop := training("golden-" + id)
			if family == Choice {
				pop = unseen("golden-"+id, 4)
			}
			pop.Mix.Mix = map[string]float64{id: 1}
			problems, latents := generate(t, pop, Sized, 3)
			for i, p := range problems {
				fmt.Fprintf(&b, "%s  d = %.2f\n%s\nanswer: %s\n\n", p.ID, latents[i].Difficulty, p.Text, p.Gold[0])
			}
		}
	}
	path := filepath.Join("testdata", "golden.txt")
	if os.Getenv("UPDATE") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("problems changed; look at the difference after UPDATE=1 go test ./harness/problems -run TestGolden")
	}
}

func BenchmarkTrainingSets(b *testing.B) { // 20,000 problems
	for b.Loop() {
		generate(b, training("sim-train-sft"), Sized, 12_000)
		generate(b, training("sim-train-rl"), Sized, 8_000)
	}
}

func BenchmarkLargeSets(b *testing.B) { // 9 x 4,000 problems
	for b.Loop() {
		for i := range 7 {
			generate(b, training(fmt.Sprintf("sim-%d", i)), Large, 4_000)
		}
		generate(b, unseen("sim-gpqa", 4), Large, 4_000)
		generate(b, unseen("sim-mmlu-pro", 10), Large, 4_000)
	}
}

// What a text tells of its difficulty is a knob: without noise the cues follow it step by step, with much they say nothing.
func TestTextsShowAsMuchAsTheKnobSays(t *testing.T) {
	told := func(noise float64) (agree float64) {
		p := training("sim-a")
		p.Text.Noise = noise
		r := seed.Derive("cues").Rand()
		const pairs = 4000
		for range pairs {
			a, b := -2.5+2.8*r.NormFloat64(), -2.5+2.8*r.NormFloat64()
			stepsA, _ := p.cues(r, a)
			stepsB, _ := p.cues(r, b)
			switch {
			case stepsA == stepsB:
				agree += .5
			case stepsA > stepsB == (a > b):
				agree++
			}
		}
		return agree / pairs
	}
	all, some, none := told(0), told(4.2), told(1000)
	if !(all > .9 && all > some+.1 && some > none+.1 && math.Abs(none-.5) < .03) {
		t.Errorf("pairs whose longer text is the harder problem: %.3f without noise, %.3f with 4.2 logits, %.3f with 1,000", all, some, none)
	}
}
