package present

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// The planes of make alpha-curve and of make lm-studies stand by themselves: their rows are settings of one row, or of a language model
// beside the small network, and no other figure has them. There are not markers enough for rows that no plane shows.
func TestEveryRowHasOneMarkerOfItsOwnInAllPlanes(t *testing.T) {
	type planes struct {
		ofRow  map[string]report.Look
		ofLook map[report.Look]string
	}
	apart := map[string]string{"alpha-curve": "alpha", "recorded-alpha": "alpha", "lm-recorded": "language models"}
	groups := map[string]planes{}
	for _, name := range spec.Names(experiments.FS) {
		r := builtin(t, name)
		plane := slices.IndexFunc(r.Experiment.Outputs, func(o spec.Output) bool { return o.Kind == "pareto" })
		if plane < 0 {
			continue
		}
		shown := r.Experiment.Outputs[plane].Rows // empty: all
		in, begun := groups[apart[name]]
		if !begun {
			in = planes{map[string]report.Look{}, map[report.Look]string{}}
			groups[apart[name]] = in
		}
		for id, look := range (&Run{Spec: r}).looks() {
			if len(shown) > 0 && !slices.Contains(shown, id) {
				continue
			}
			look = look.Drawn()
			if at, known := in.ofRow[id]; known && at != look {
				t.Errorf("%s: row %s has marker %d here and %d elsewhere", name, id, look, at)
			}
			if other, taken := in.ofLook[look]; taken && other != id || look < 0 {
				t.Errorf("%s: row %s has marker %d, that of row %q", name, id, look, other)
			}
			in.ofRow[id], in.ofLook[look] = look, id
		}
	}
	for group, in := range groups {
		if in.ofLook[0] != methods.ReferenceRow {
			t.Errorf("%s: the first marker is that of %q", group, in.ofLook[0])
		}
	}
}

func TestACaptionNamesTheModelsOfARecordedPoolCheapestFirst(t *testing.T) {
	r := builtin(t, "recorded")
	slices.Reverse(r.Pools[0].Experts)
	got := said(t, "experts", (&Run{Spec: r, Measurements: &metrics.Set{}}).inPool(r.Pools[0], metrics.BothStrata))
	if want := "Experts, cheapest first: Meta-Llama-3.1-8B-Instruct, Meta-Llama-3.1-70B-Instruct, Llama-3.1-405B-Inst; over all 0 questions."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for stratum, want := range map[string]string{"math_l5": "the 0 questions of MATH level 5", "of mine": "the 0 questions of of mine"} {
		if got := said(t, "questions", (&Run{Spec: r, Measurements: &metrics.Set{}}).inPool(r.Pools[0], stratum)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestACaptionSaysInWordsWhatRowsLearnFrom(t *testing.T) {
	for name, want := range map[string]string{
		"recorded-routellm": "Rows learn from the one recorded answer.",
		"recorded-learning": "Rows learn from pass rates over the recorded answer and those of up to 4 models outside the pool that agree most with the expert",
	} {
		r := builtin(t, name)
		if got := said(t, "labels", (&Run{Spec: r, Measurements: &metrics.Set{}}).inPool(r.Pools[0], metrics.BothStrata).Labels()); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	r := builtin(t, "recorded-routellm")
	r.Experiment.Methods = append(r.Experiment.Methods, spec.Method{Name: "sft", Label: "Lent", Kappa: "k5"}, spec.Method{Name: "entrorouter", Label: "Lent, too", Kappa: "k5"})
	if got, want := said(t, "labels", (&Run{Spec: r, Measurements: &metrics.Set{}}).inPool(r.Pools[0], metrics.BothStrata).Labels()), "the one recorded answer, but from pass rates over"; !strings.Contains(got, want) || !strings.HasSuffix(got, ": Lent; Lent, too.") {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAMarkerDoesNotDependOnTheRowsThatAreShown(t *testing.T) {
	r := builtin(t, "main")
	r.Experiment.Methods = append(r.Experiment.Methods, spec.Method{Name: "forc", ID: "forc-of-mine"}, spec.Method{Name: "forc", ID: "forc-of-yours"})
	before := (&Run{Spec: r}).looks()
	if before["forc-of-mine"] == before["forc-of-yours"] || int(before["forc-of-mine"]) < len(methods.Marked()) {
		t.Errorf("rows that the table does not have: %v", before)
	}
	r.Experiment.Outputs = nil
	if diff := cmp.Diff(before, (&Run{Spec: r}).looks()); diff != "" {
		t.Error(diff)
	}
}

// Another method takes the next marker, and rows without one of their own come after it: they may begin anew, and still get none that a
// row of their experiment has.
func TestAnotherMethodLeavesRowsTheirMarkers(t *testing.T) {
	known := methods.Marked()
	for n := range 3 {
		r := builtin(t, "lm-recorded")
		ofLook := map[report.Look]string{}
		for id, look := range looksOf(known, r.Experiment.Methods) {
			if other, taken := ofLook[look.Drawn()]; taken {
				t.Errorf("%d methods more: rows %s and %s have the same marker", n, id, other)
			}
			ofLook[look.Drawn()] = id
		}
		known = append(known, fmt.Sprintf("another-%d", n))
	}
}

func TestNoLabelOfACommittedFigureIsCut(t *testing.T) {
	drawings, err := filepath.Glob(filepath.Join("..", "..", "figures", "*", "*.svg"))
	if err != nil || len(drawings) == 0 {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	for _, path := range drawings {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "…") {
			t.Errorf("%s: a label was too long; shorten it", path)
		}
	}
}

func TestEveryFixedExpertOfACommittedPlaneIsNamed(t *testing.T) {
	planes, err := filepath.Glob(filepath.Join("..", "..", "figures", "*", "*pareto*.csv"))
	if err != nil || len(planes) == 0 {
		t.Fatalf("%d planes, error %v", len(planes), err)
	}
	for _, path := range planes {
		numbers, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		drawing, err := os.ReadFile(strings.TrimSuffix(path, ".csv") + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(numbers)) {
			label, _, ok := strings.Cut(line, ",fixed expert,")
			if ok && !strings.Contains(string(drawing), ">"+label+"<") {
				t.Errorf("%s: %s found no room", path, label)
			}
		}
	}
}

func TestTheNumberOfARowIsItsOwnOrItsDefault(t *testing.T) {
	r := &Run{Spec: toy.Figures(t)}
	row := map[string]spec.Method{}
	for _, m := range r.Spec.Experiment.Methods {
		row[m.RowID()] = m
	}
	for _, c := range []struct {
		row, param string
		want       float64
		ok         bool
	}{
		{"entrorouter", "anchor.alpha", 0.6, true},
		{"entrorouter-100", "anchor.alpha", 1, true},
		{"entrorouter", "noise.share", 0, true},
		{"entrorouter", "anchor", 0, false},
		{"entrorouter", "anchor.alpha.more", 0, false},
		{"logistic", "anchor.alpha", 0, false},
		{"logistic", "train", 120, true},
		{"logistic-40", "train", 40, true},
	} {
		got, ok, err := r.param(row[c.row], c.param)
		if err != nil || got != c.want || ok != c.ok {
			t.Errorf("%s of %s: %v, %v, %v, want %v, %v", c.param, c.row, got, ok, err, c.want, c.ok)
		}
	}
}
