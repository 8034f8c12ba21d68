// Regressions that are planted in values: in what a run has stored, after what they would have changed and before what
// follows from it. 'make study' plants the same in the source.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// A run of smoke that is stored, to be changed.
type storedSmoke struct {
	dir   string
	store *store.Store
	steps []store.Step
}

// openSmoke opens a copy of the run that the tests share.
func openSmoke(t *testing.T) *storedSmoke {
	t.Helper()
	s := &storedSmoke{dir: filepath.Join(t.TempDir(), "out")}
	smokeRun.store(t, s.dir)
	var err error
	if s.store, err = store.Open(s.dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	if s.steps, err = s.store.ReadIndex("smoke"); err != nil {
		t.Fatal(err)
	}
	return s
}

// rewrite changes a file of every step whose name matches, and wants it to change.
func (s *storedSmoke) rewrite(t *testing.T, steps, file string, change func(text string) string) {
	t.Helper()
	changed := 0
	for _, step := range s.steps {
		if !regexp.MustCompile(steps).MatchString(step.Name) {
			continue
		}
		entry, recipe, err := s.store.Find(step.Key)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, f := range entry.Files {
			if files[f.Name], err = entry.ReadFile(f.Name); err != nil {
				t.Fatal(err)
			}
		}
		text := change(string(files[file]))
		if text == string(files[file]) {
			continue
		}
		changed++
		files[file] = []byte(text)
		if err := os.RemoveAll(entry.Dir); err != nil {
			t.Fatal(err)
		}
		draft, err := s.store.Begin(t.Context(), recipe)
		if err != nil {
			t.Fatal(err)
		}
		defer draft.Discard()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := draft.WriteFile(name, files[name]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := draft.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if changed == 0 {
		t.Fatalf("%s of %q is as it was", file, steps)
	}
}

// read returns a file of a step.
func (s *storedSmoke) read(t *testing.T, step, file string) string {
	t.Helper()
	at := slices.IndexFunc(s.steps, func(x store.Step) bool { return x.Name == step })
	if at < 0 {
		t.Fatalf("smoke has no step %q", step)
	}
	entry, _, err := s.store.Find(s.steps[at].Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := entry.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// forget removes what follows from a change.
func (s *storedSmoke) forget(t *testing.T, steps string) {
	t.Helper()
	for _, step := range s.steps {
		if regexp.MustCompile(steps).MatchString(step.Name) {
			if err := os.RemoveAll(filepath.Join(s.dir, "stages", step.Key.Stage, step.Key.Short())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// outcomes changes what became of the rollouts of the experts, and measures again.
func (s *storedSmoke) outcomes(t *testing.T, steps string, change func(*outcome)) {
	t.Helper()
	s.rewrite(t, steps, "outcomes.csv", func(text string) string {
		return eachRow(t, text, func(f []string) {
			o := outcome{expert: f[2], correct: f[3], bucket: routing.Bucket(f[4]), usd: parsed(t, f[6])}
			change(&o)
			f[3], f[4], f[6] = o.correct, string(o.bucket), strconv.FormatFloat(o.usd, 'f', 9, 64)
		})
	})
	s.forget(t, "^measure$")
}

type outcome struct {
	expert  string // its place in the pool, cheapest first
	correct string
	bucket  routing.Bucket
	usd     float64
}

const wrongAnswer, rightAnswer = "0.000000", "1.000000"

// decisions changes whom a trained row sends the test problems to, and measures again. choose gets the choice and the
// probabilities of the experts.
func (s *storedSmoke) decisions(t *testing.T, row string, choose func(expert int, prob []float64) int) {
	t.Helper()
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		s.rewrite(t, "^fit "+row+" seed=", "decisions/"+arena+".csv", func(text string) string {
			return eachRow(t, text, func(f []string) {
				var prob []float64
				for _, p := range f[5 : len(f)-2] { // then the calls and what they spoiled
					prob = append(prob, parsed(t, p))
				}
				f[2] = strconv.Itoa(choose(int(parsed(t, f[2])), prob))
			})
		})
	}
	s.forget(t, "^measure$")
}

// measured changes what was measured.
func (s *storedSmoke) measured(t *testing.T, change func(*metrics.Measurement)) {
	t.Helper()
	s.rewrite(t, "^measure$", "measurements.txt", func(text string) string {
		set, err := metrics.Read("measurements.txt", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range set.Measurements {
			change(&set.Measurements[i])
		}
		var out strings.Builder
		if err := set.Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	})
}

// eachRow changes the rows of a CSV file below its head.
func eachRow(t *testing.T, text string, change func(fields []string)) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rows[1:] {
		change(f)
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// second is the expert that comes after the most probable one.
func second(prob []float64) int {
	order := make([]int, len(prob))
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(prob[b], prob[a]) })
	return order[1]
}

// unsure says whether a reward that is a little different turns a decision.
func unsure(prob []float64) bool { return slices.Max(prob) < 0.75 }

// The rows of the table of planted regressions in docs/ci.md: what each does to values, and what check names.
var plantedRegressions = []struct {
	name  string
	plant func(*testing.T, *storedSmoke)
	code  int
	says  string
}{
	{"a rule of the verifier is gone", func(t *testing.T, s *storedSmoke) {
		// A right answer of the cheapest expert is in a form that is not read any more.
		once := false
		s.outcomes(t, "^outcomes sim-math500$", func(o *outcome) {
			if o.expert == "0" && o.bucket == routing.Correct && !once {
				once, o.correct, o.bucket = true, wrongAnswer, routing.Wrong
			}
		})
	}, exitMismatch, "method=qwen3-4b/benchmark=sim-math500"},
	{"two prices are swapped", func(t *testing.T, s *storedSmoke) {
		s.outcomes(t, "^(outcomes|expected) sim-", func(o *outcome) {
			switch o.expert {
			case "0":
				o.usd *= 0.45 / 0.03
			case "1":
				o.usd *= 0.03 / 0.45
			}
		})
	}, exitMismatch, "method=qwen3-4b/benchmark=sim-"},
	{"one run too few", func(t *testing.T, s *storedSmoke) {
		s.measured(t, func(m *metrics.Measurement) {
			if m.Key("arena") == metrics.PaperArena {
				m.N = (m.N + 1) / 2
			}
		})
	}, exitMismatch, " rollouts: "},
	{"the sign of the anchor", func(t *testing.T, s *storedSmoke) {
		// What pulled towards an expert pushes away from it.
		s.decisions(t, "entrorouter", func(expert int, prob []float64) int {
			if unsure(prob) {
				return second(prob)
			}
			return expert
		})
	}, exitMismatch, "method=entrorouter/benchmark=avg/seed=1"},
	{"the strongest expert's pass rate is measured", func(t *testing.T, s *storedSmoke) {
		// Less is expected of the strongest expert.
		s.decisions(t, "entrorouter", func(expert int, prob []float64) int {
			if expert == len(prob)-1 && unsure(prob) {
				return second(prob)
			}
			return expert
		})
	}, exitMismatch, "method=entrorouter/benchmark=avg/seed=1"},
	{"advantages are not centred", func(t *testing.T, s *storedSmoke) {
		// Rewards below zero push down whatever was drawn, which is what was probable.
		s.decisions(t, "entrorouter", func(_ int, prob []float64) int { return slices.Index(prob, slices.Min(prob)) })
	}, exitMismatch, "method=entrorouter/benchmark=avg/seed=1"},
	{"answers that were cut off count as right", func(t *testing.T, s *storedSmoke) {
		s.outcomes(t, "^outcomes sim-", func(o *outcome) {
			if o.bucket == routing.Truncated {
				o.correct, o.bucket = rightAnswer, routing.Correct
			}
		})
	}, exitMismatch, "method=qwen3-4b/benchmark=sim-"},
	{"cost is a mean over questions, not a sum", func(t *testing.T, s *storedSmoke) {
		s.measured(t, func(m *metrics.Measurement) {
			for i, v := range m.Values {
				if n, ok := m.Value(metrics.Questions); ok && v.Unit == metrics.USD {
					m.Values[i] = metrics.Rounded(v.Number/n.Number, v.Unit, v.Decimals)
				}
			}
		})
	}, exitMismatch, "method=qwen3-4b/benchmark=sim-"},
	{"the labels of Stage I are in another order", func(t *testing.T, s *storedSmoke) {
		s.decisions(t, "sft", func(expert int, prob []float64) int { return (expert + 1) % len(prob) })
	}, exitMismatch, "method=sft/benchmark=avg/seed=1"},
	{"the test problems are training problems", func(t *testing.T, s *storedSmoke) {
		texts := regexp.MustCompile(`"Text":"(?:[^"\\]|\\.)*"`)
		trained := texts.FindAllString(s.read(t, "problems sim-train-sft", "problems.jsonl"), -1)
		s.rewrite(t, "^problems sim-aime25$", "problems.jsonl", func(text string) string {
			i := -1
			return texts.ReplaceAllStringFunc(text, func(string) string { i++; return trained[i] })
		})
		s.forget(t, "^(fit sft seed=1|measure)$")
	}, exitUsage, "have the same text"},
}

func TestCheckNoticesEveryPlantedRegression(t *testing.T) {
	t.Setenv("CI", "")
	if code, out := checkSmoke(openSmoke(t)); code != exitOK {
		t.Fatalf("nothing is planted, and check ends with %d:\n%.2000s", code, out)
	}
	table := documentText(t, "docs/ci.md")
	for _, p := range plantedRegressions {
		t.Run(p.name, func(t *testing.T) {
			_, row, ok := strings.Cut(table, "\n| "+p.name+" |")
			if !ok {
				t.Fatalf("the table of docs/ci.md has no row %q", p.name)
			}
			said, _, _ := strings.Cut(row, "|")
			s := openSmoke(t)
			p.plant(t, s)
			code, out := checkSmoke(s)
			if code != p.code {
				t.Fatalf("exit code %d, want %d\n%.2000s", code, p.code, out)
			}
			if code == exitUsage {
				if !strings.Contains(out, p.says) || !strings.Contains(said, "refused, exit code 2") {
					t.Errorf("says %s, want %q; docs/ci.md has %q", out, p.says, said)
				}
				return
			}
			var report struct {
				Same  bool `json:"same_problems"`
				Moved []struct{ Label, Unit, Gate, Verdict string }
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatal(err)
			}
			closed, found := map[string]int{}, false
			for _, x := range report.Moved {
				if !strings.HasPrefix(x.Verdict, "regression") {
					continue
				}
				closed[x.Gate]++
				found = found || strings.Contains(x.Label+" "+x.Unit+": ", p.says)
			}
			t.Logf("closed: %v", closed)
			if !report.Same || !found {
				t.Errorf("none of %v is of %q; same problems: %v", closed, p.says, report.Same)
			}
			if runtime.GOARCH != "amd64" { // where the reference was trained
				return
			}
			if gate := strings.Fields(said)[0]; closed[gate] == 0 {
				t.Errorf("the gate %q of docs/ci.md stayed open: %v", gate, closed)
			}
		})
	}
	if rows := strings.Count(table, "\n| ") - 1 - 4; rows != len(plantedRegressions) { // two heads, and three rows of false alarms
		t.Errorf("docs/ci.md has %d planted regressions, %d are planted", rows, len(plantedRegressions))
	}
}

// checkSmoke checks what is stored against the committed reference.
func checkSmoke(s *storedSmoke) (code int, said string) {
	if err := s.store.Close(); err != nil { // who writes is alone
		return exitFailed, err.Error()
	}
	var out, errs bytes.Buffer
	code = run([]string{"entrorouter", "check", "smoke", "--out", s.dir, "--json"}, nil, &out, &errs)
	return code, out.String() + errs.String()
}
