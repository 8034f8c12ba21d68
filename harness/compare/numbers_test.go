package compare

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Trained rows repeat themselves in plain Go on every processor of an architecture, in XLA on one; what trains nothing counts alike on all,
// but where it is compared with what was trained.
func TestWhatHasToRepeatItselfDependsOnTheProcessorInXLAAlone(t *testing.T) {
	r := &spec.Resolved{Experiment: spec.Experiment{
		Name: "toy", Protocol: "folds", Folds: spec.Folds{K: 5}, Evaluate: spec.Evaluate{Seeds: []uint64{1}},
		Methods: []spec.Method{{Name: "fixed", ID: "cheapest"}, {Name: "entrorouter"}},
	}}
	// One digit of every number of ours is another.
	text := func(by, cheapest, low, difference, trained string) *metrics.Set {
		s, err := metrics.Read("toy", strings.NewReader("# Made with seed 1 by backend "+by+".\n"+
			"BenchmarkRoute/experiment=toy/pool=p/method=cheapest/benchmark=all 100 "+cheapest+" accuracy-% "+low+" accuracy-low-% 70 accuracy-high-% "+difference+" difference-points\n"+
			"BenchmarkRoute/experiment=toy/pool=p/method=entrorouter/benchmark=all 100 "+trained+" accuracy-%\n"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	repeats := map[string]metrics.Gate{
		"cheapest accuracy-%": metrics.Exact, "cheapest accuracy-low-%": metrics.Golden, "cheapest accuracy-high-%": metrics.Golden,
		"cheapest difference-points": metrics.Exact, "entrorouter accuracy-%": metrics.Golden,
	}
	counts := map[string]metrics.Gate{
		"cheapest accuracy-%": metrics.Exact, "cheapest accuracy-low-%": metrics.Golden, "cheapest accuracy-high-%": metrics.Golden,
		"cheapest difference-points": metrics.None, "entrorouter accuracy-%": metrics.None,
	}
	nothing := map[string]metrics.Gate{
		"cheapest accuracy-%": metrics.None, "cheapest difference-points": metrics.None, "entrorouter accuracy-%": metrics.None,
	}
	const epyc, xeon = "xla:cpu on amd64, AMD EPYC (family 25, model 17, x86-64-v4, cores: 2)", "xla:cpu on amd64, Xeon (family 6, model 85, x86-64-v4, cores: 2)"
	for _, c := range []struct {
		ours, reference string
		want            map[string]metrics.Gate
	}{
		{"go on amd64", "go on amd64", repeats},
		{"go on amd64", "go on arm64", nothing},
		{epyc, epyc, repeats},
		{epyc, xeon, counts},
		{"xla:cpu on amd64", epyc, counts},
		{"xla:cpu on amd64", "xla:cpu on amd64", counts},
		{"xla:cuda on amd64", "xla:cuda on amd64", counts},
	} {
		found := map[string]metrics.Gate{}
		report := Numbers(r, text(c.ours, "60.1", "50.1", "-9.9", "70.1"), text(c.reference, "60", "50", "-10", "70"))
		for _, x := range report.Changes {
			_, row, _ := strings.Cut(x.Label, "method=")
			row, _, _ = strings.Cut(row, "/")
			found[row+" "+x.Unit] = x.Gate
			if x.Regressed() != (x.Gate != metrics.None && x.Differs()) {
				t.Errorf("%s beside %s, %s %s: gate %s, regressed: %v", c.ours, c.reference, x.Label, x.Unit, x.Gate, x.Regressed())
			}
		}
		if d := cmp.Diff(c.want, found); d != "" {
			t.Errorf("%s beside %s (-want +got):\n%s", c.ours, c.reference, d)
		}
	}
}

// A run of one training has no line of its seed, and is held against that of the reference, which has fewer numbers than a mean.
func TestARunOfOneTrainingAddsNothingToAReferenceOfMore(t *testing.T) {
	r := &spec.Resolved{Experiment: spec.Experiment{Name: "toy", Evaluate: spec.Evaluate{Seeds: []uint64{1}}, Methods: []spec.Method{{Name: "entrorouter"}}}}
	const mean = "BenchmarkRoute/experiment=toy/method=entrorouter/benchmark=avg 100 70 accuracy-% 9 tokens/query\n"
	read := func(text string) *metrics.Set {
		set, err := metrics.Read("toy", strings.NewReader("# Made with seed 1 by backend go on amd64.\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	report := Numbers(r, read(mean), read(mean+"BenchmarkRoute/experiment=toy/method=entrorouter/benchmark=avg/seed=1 100 70 accuracy-%\n"))
	if len(report.Added) > 0 || report.Same() != 3 {
		t.Errorf("%d numbers are the same, want 3; not in the reference: %+v", report.Same(), report.Added)
	}
	if report = Numbers(r, read(mean), read(strings.Replace(mean, " 9 tokens/query", "", 1))); len(report.Added) != 1 || report.Added[0].Unit != "tokens/query" {
		t.Errorf("a unit that is gone from the reference: %+v", report.Added)
	}
}

// What compares a row with another moves with that one's trainings: all that is measured of two rows, and what else its name says it of.
func TestUnitsThatCompareRowsAreRelative(t *testing.T) {
	files, err := filepath.Glob("../../figures/*/measurements.txt")
	if err != nil {
		t.Fatal(err)
	}
	found, pairs := map[string]bool{}, 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := metrics.Read(name, f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, m := range set.Measurements {
			for _, v := range m.Values {
				if m.Key("versus") != "" {
					pairs++
					if !relative(v.Unit) {
						t.Fatalf("%s: %s is measured of two rows in %s, and is not relative", name, v.Unit, m.Label())
					}
				}
				if relative(v.Unit) {
					found[v.Unit] = true
				}
			}
		}
	}
	if pairs == 0 {
		t.Error("no line has the key versus")
	}
	want := []string{units.CostDifference, units.Difference, units.LeadBenchmark, units.Lead, units.LogLossDifference, units.McNemar, units.MeanDifference, units.MeanLead, units.OtherLead}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(found))); d != "" {
		t.Errorf("relative units of committed measurements (-want +got):\n%s", d)
	}
}

// Of recorded questions that were divided otherwise nothing has to repeat itself but what each partition both have gives, and what trains
// nothing; of trainings with another seed what trains nothing alone.
func TestOtherPartitionsNeedNotRepeatWhatIsOverAllOfThem(t *testing.T) {
	r := &spec.Resolved{Experiment: spec.Experiment{
		Name: "toy", Protocol: "folds", Folds: spec.Folds{K: 5}, Evaluate: spec.Evaluate{Seeds: []uint64{1}},
		Methods: []spec.Method{{Name: "fixed", ID: "cheapest"}, {Name: "logistic"}},
	}}
	// Every number of ours is another.
	read := func(partitions int, trained, digit string) *metrics.Set {
		text := "# Made with seed 1" + trained + " by backend go on amd64.\n" +
			"BenchmarkContrast/experiment=toy/pool=p/row=logistic/versus=cheapest/benchmark=all 100 1." + digit + " mean-gain-difference-points\n" +
			"BenchmarkRoute/experiment=toy/pool=p/method=logistic/benchmark=all 100 70." + digit + " accuracy-%\n"
		for s := range partitions {
			text += fmt.Sprintf("BenchmarkRoute/experiment=toy/pool=p/method=cheapest/benchmark=all/seed=%d 100 60.%s accuracy-%%\n", s, digit) +
				fmt.Sprintf("BenchmarkRoute/experiment=toy/pool=p/method=logistic/benchmark=all/seed=%d 100 7%d.%s accuracy-%%\n", s, s, digit) +
				fmt.Sprintf("BenchmarkCurve/experiment=toy/pool=p/method=logistic/stage=sft/step=0/fold=%d.0 1 0.%s loss\n", s, digit)
		}
		set, err := metrics.Read("toy", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	all := map[string]metrics.Gate{
		"/row=logistic/versus=cheapest/benchmark=all": metrics.Golden, "/method=logistic/benchmark=all": metrics.Golden,
		"/method=cheapest/benchmark=all/seed=0": metrics.Exact, "/method=logistic/benchmark=all/seed=0": metrics.Golden,
		"/method=logistic/stage=sft/step=0/fold=0.0": metrics.Golden,
	}
	other := maps.Clone(all)
	other["/row=logistic/versus=cheapest/benchmark=all"], other["/method=logistic/benchmark=all"] = metrics.None, metrics.Seeds
	trained := maps.Clone(other)
	trained["/method=logistic/benchmark=all/seed=0"], trained["/method=logistic/stage=sft/step=0/fold=0.0"] = metrics.None, metrics.None
	for _, c := range []struct {
		ours    int
		trained string
		want    map[string]metrics.Gate
	}{{5, "", all}, {1, "", other}, {3, "", other}, {5, ", trained with seed 7,", trained}, {3, ", trained with seed 7,", trained}} {
		found := map[string]metrics.Gate{}
		for _, x := range Numbers(r, read(c.ours, c.trained, "1"), read(5, "", "0")).Changes {
			label := strings.TrimPrefix(x.Label, "Contrast/experiment=toy/pool=p")
			label = strings.TrimPrefix(label, "Route/experiment=toy/pool=p")
			label = strings.TrimPrefix(label, "Curve/experiment=toy/pool=p")
			if x.Missing {
				t.Errorf("%d partitions of 5%s: %s is missing", c.ours, c.trained, label)
			}
			if _, ok := c.want[label]; ok {
				found[label] = x.Gate
			}
			const why = "numbers of other trainings: their seeds, or the partitions of recorded answers, are not the reference's, and no line of a single one says how far they move a number"
			if x.Gate == metrics.None && !x.Missing && x.Reason.String() != why {
				t.Errorf("%d partitions of 5%s, %s: %s", c.ours, c.trained, x.Label, x.Reason)
			}
		}
		if d := cmp.Diff(c.want, found); d != "" {
			t.Errorf("%d partitions of 5%s (-want +got):\n%s", c.ours, c.trained, d)
		}
	}
}

// Recorded answers to other questions are other problems, whatever the seed: no number has to be the same there. Other answers to the
// same questions are other data, and what trains nothing shows them.
func TestOtherRecordedQuestionsAreOtherProblems(t *testing.T) {
	r := &spec.Resolved{
		Experiment: spec.Experiment{
			Name: "toy", Protocol: "folds", Folds: spec.Folds{K: 5}, Evaluate: spec.Evaluate{Seeds: []uint64{1}, Confidence: 0.95},
			Methods: []spec.Method{{Name: "fixed", ID: "cheapest"}, {Name: "logistic"}},
		},
		Pools: []spec.Pool{{Recorded: &spec.Recorded{Queries: spec.File{Path: "queries.jsonl"}, Outcomes: spec.File{Path: "outcomes.jsonl"}}}},
	}
	read := func(queries, outcomes, digit string) *metrics.Set {
		text := ""
		if queries != "" {
			text = "#" + metrics.MadeOf("queries.jsonl", queries) + "\n#" + metrics.MadeOf("outcomes.jsonl", outcomes) + "\n"
		}
		text += "# Made with seed 1 by backend go on amd64.\n" +
			"BenchmarkRoute/experiment=toy/pool=p/method=cheapest/benchmark=all 100 60." + digit + " accuracy-% 50 accuracy-low-% 70 accuracy-high-%\n" +
			"BenchmarkRoute/experiment=toy/pool=p/method=cheapest/benchmark=sums 50 60." + digit + " accuracy-% 50 accuracy-low-% 70 accuracy-high-%\n" +
			"BenchmarkRoute/experiment=toy/pool=p/method=logistic/benchmark=all 100 70." + digit + " accuracy-% 60 accuracy-low-% 80 accuracy-high-%\n"
		set, err := metrics.Read("toy", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, c := range []struct {
		name                                    string
		queries, outcomes, theirs, theirAnswers string
		same                                    bool
		want                                    []metrics.Gate // of the accuracies
		other                                   []string
	}{
		{"the same data", "aa", "bb", "aa", "bb", true, []metrics.Gate{metrics.Exact, metrics.Exact, metrics.Golden}, nil},
		{"other answers", "aa", "cc", "aa", "bb", true, []metrics.Gate{metrics.Exact, metrics.Exact, metrics.Golden}, []string{"outcomes.jsonl"}},
		{"other questions", "ee", "cc", "aa", "bb", false, []metrics.Gate{metrics.Question, metrics.None, metrics.None}, []string{"queries.jsonl", "outcomes.jsonl"}},
		{"a reference that does not say", "ee", "cc", "", "", true, []metrics.Gate{metrics.Exact, metrics.Exact, metrics.Golden}, nil},
	} {
		report := Numbers(r, read(c.queries, c.outcomes, "1"), read(c.theirs, c.theirAnswers, "0"))
		var gates []metrics.Gate
		for _, x := range report.Changes {
			if x.Unit == metrics.Accuracy {
				gates = append(gates, x.Gate)
			}
		}
		if report.SameProblems != c.same {
			t.Errorf("%s: same problems: %v", c.name, report.SameProblems)
		}
		if d := cmp.Diff(c.want, gates); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if d := cmp.Diff(c.other, report.OtherData); d != "" {
			t.Errorf("%s: other data (-want +got):\n%s", c.name, d)
		}
	}
}
