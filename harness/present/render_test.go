package present

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

func TestRowsThatMatchAnotherAreNamedBelowTheTable(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}
	want := "Spending on the training problems what entrorouter spends there: mixture, benchmark, logistic."
	if got := said(t, "table notes", ofTable{words: r.words()}); !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
}

func TestNotesSayWhichRowsHaveALimitAndWhichWereChosenBefore(t *testing.T) {
	r, err := spec.Load(experiments.FS, "recorded", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	result := &Run{Spec: r, Measurements: &metrics.Set{}}
	folds := func() string { return said(t, "folds notes", result.inPool(r.Pools[0], metrics.BothStrata)) }
	if got, want := folds(), "At its own operating point a row with a knob may spend any amount: compare their curves instead. Limited there: Nearest neighbours, guarded (the cheapest expert that neighbours do not prove worse by 1.64 standard errors); RouteLLM (the strongest expert answers a share of the training questions); RouteLLM, ties to the cheaper (the strongest expert answers a share of the training questions); RouteLLM, SW ranking (the strongest expert answers a share of the training questions); FORC (the cheapest expert above a predicted pass rate); FORC, cost strategy (a share of the dearest expert's dollars)."; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	result.Measurements.Measurements = append(result.Measurements.Measurements, metrics.Measurement{Name: "Route",
		Keys: metrics.Keys("pool", "p", "method", "entrorouter"), Values: []metrics.Value{{Number: 1, Unit: units.MeanGain}}})
	if got, want := folds(), "may spend any amount, and a trained policy spends what training led it to: compare their curves instead. Limited there: Nearest"; !strings.Contains(got, want) {
		t.Errorf("with a curve: got %q, want %q", got, want)
	}
	result.Measurements = &metrics.Set{}
	if got := folds(); !strings.Contains(got, "Bag of embeddings: settings chosen on the questions of pool qwen2_o1mini") || !strings.Contains(got, "Difficulty: form and features") {
		t.Errorf("rows chosen before: %q", got)
	}
	r.Experiment.Methods = []spec.Method{{Name: "logistic"}, {Name: "forc", Params: r.Experiment.Methods[0].Params}}
	if err := r.Experiment.Methods[1].Params.Encode(map[string]string{"strategy": "greedy"}); err != nil {
		t.Fatal(err)
	}
	if got, want := folds(), "may spend any amount: compare their curves instead. ±"; !strings.Contains(got, want) {
		t.Errorf("without limits: got %q, want %q", got, want)
	}
	if got := folds(); strings.Contains(got, "earlier study") {
		t.Errorf("nothing was chosen before, and the note is %q", got)
	}
}

// Where rows may learn from the same, the table says so; where not, it names each.
func TestTablesSayOnceWhatRowsMayLearnFrom(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}
	note := func() string { return said(t, "table notes", ofTable{words: r.words()}) }
	for _, want := range []string{
		"What is read of a text, and what every fit chooses inside its training problems: logistic: structure, n-grams of 1 to 2 words in 4096 buckets; one of 7 penalties. sft, entrorouter: counts of structure, ",
		"buckets; nothing chosen.",
	} {
		if got := note(); strings.Count(got, want) != 1 {
			t.Errorf("not once %q in %q", want, got)
		}
	}
	r.Spec.Experiment.Features = spec.Features{Read: []string{"words"}, Words: spec.Words{Buckets: 64, NGrams: 1}}
	if got, want := note(), "logistic: words in 64 buckets; one of 7 penalties. sft, entrorouter: words in 64 buckets; nothing chosen."; !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
	r.Spec.Experiment.Validate.WeightDecay = []float64{1, 2}
	r.Spec.Experiment.Methods = slices.DeleteFunc(r.Spec.Experiment.Methods, func(m spec.Method) bool { return m.Name == "logistic" })
	if got, want := note(), "training problems: by every row that learns: words in 64 buckets; one of 2 weight decays."; !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
	r.Spec.Experiment.Methods = []spec.Method{{Name: "random"}}
	if got := note(); strings.Contains(got, "read of a text") {
		t.Errorf("nothing is learned, and the note is %q", got)
	}
}

func TestCalibrationIsNamedBelowTheTable(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}
	calibration := func() (found []string) {
		for line := range strings.Lines(said(t, "table notes", ofTable{words: r.words()})) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "Expected calibration") {
				found = append(found, line)
			}
		}
		return found
	}
	if got := calibration(); got != nil {
		t.Errorf("without a measurement: %q", got)
	}
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		r.Measurements.Measurements = append(r.Measurements.Measurements, metrics.Measurement{
			Name: "Route", Keys: metrics.Keys("arena", arena, "method", "logistic", "benchmark", metrics.Average), N: 1,
			Values: []metrics.Value{metrics.Rounded(1.23, methods.CalibrationError, 3)},
		})
	}
	want := []string{"Expected calibration error of predicted pass rates, on held-out training problems: logistic 1.2 points."}
	if got := calibration(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	x := &r.Spec.Experiment
	x.Methods = append(slices.Clone(x.Methods), toy.Row(t, "forc", "forc-file", "{pihat: p.jsonl}"))
	for _, m := range r.Measurements.Measurements {
		m.Keys = metrics.Keys("arena", m.Key("arena"), "method", "forc-file", "benchmark", metrics.Average)
		r.Measurements.Measurements = append(r.Measurements.Measurements, m)
	}
	want = append(want, "Expected calibration error of imported pass rates, on all training problems, from which whoever made them may have learned: forc-file 1.2 points.")
	if got := calibration(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A template that nothing says would be a caption that nobody reads.
func TestEveryTemplateIsSaid(t *testing.T) {
	all, err := templates()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, pattern := range []string{"*.go", "captions/*.tmpl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(data)
		}
	}
	for _, of := range all.Templates() {
		name := of.Name()
		if strings.HasSuffix(name, ".tmpl") || strings.HasPrefix(name, "metrics ") || strings.HasPrefix(name, "knobs ") {
			continue // a file; two names that are put together
		}
		said := strings.Contains(text.String(), `caption("`+name+`"`) || strings.Contains(text.String(), `notes("`+name+`"`) ||
			strings.Contains(text.String(), `{{template "`+name+`"`) || strings.Contains(text.String(), `"`+name+`", `)
		if table, part, _ := strings.Cut(name, " "); part == "caption" || part == "notes" { // build says both of a table
			said = said || regexp.MustCompile(`\bbuild\(\w+, "`+table+`", `).MatchString(text.String())
		}
		if !said {
			t.Errorf("nothing says the template %q", name)
		}
	}
}

func TestHowALineIsBrokenDoesNotMatter(t *testing.T) {
	got, err := notes("large caption", (&Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}).words())
	if err != nil || len(got) != 1 || strings.Contains(got[0], "\n") || strings.Contains(got[0], "  ") {
		t.Errorf("%q, error %v", got, err)
	}
	if _, err := notes("large caption", struct{}{}); err == nil {
		t.Error("a template without its words has no error")
	}
	if _, err := notes("nobody", nil); err == nil {
		t.Error("a template that is not there has no error")
	}
}

func TestASimulationIsCalledWhatItsPoolSaysOfIt(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}
	own := *r.Spec.Pools[0].Simulation
	r.Spec.Pools[0].Simulation = &own
	for note, want := range map[string]string{
		"":                                      "Simulated experts.",
		"calibrated to the answers of one week": "Simulated experts, calibrated to the answers of one week.",
	} {
		own.Note = note
		if got := said(t, "large caption", r.words()); !strings.Contains(got, want) {
			t.Errorf("the note %q makes %q, want %q in it", note, got, want)
		}
	}
}
