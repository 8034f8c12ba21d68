package present

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Two tables of the same questions would differ in their intervals alone, whose resamples are drawn by the stratum's name.
func TestARecordedPoolOfOneBenchmarkHasOneTable(t *testing.T) {
	files := committed(t, "recorded")
	for table, want := range map[string]bool{"recorded/table-qwen25-all": true, "recorded/table-qwen25-math_l5": false, "recorded/table-llama31-math_l5": true} {
		if _, ok := files[table+".md"]; ok != want {
			t.Errorf("%s: %v", table, ok)
		}
	}
}

// What a table says of its columns, and no more than those.
func TestNotesAndColumnsOfATableFitEachOther(t *testing.T) {
	none := report.Style{Paper: report.None}
	for _, c := range []struct {
		experiment, table string
		style             report.Style
		has, lacks        []string
	}{
		{"recorded", "recorded/table-qwen25-all", report.Style{}, []string{"Partition SD", "Lead over benchmark identity", "paired", "on average", "95% interval", "| Strongest expert † "}, []string{"whatever looks at nothing", "Middle expert †"}},
		{"recorded-mmlu", "recorded-mmlu/table-mmlu_pro_llama_gemini-all", report.Style{}, []string{"Lead over subject identity", "Partition SD"}, []string{"benchmark identity"}},
		{"recorded-learning", "recorded-learning/table-llama31-all", report.Style{}, []string{"Benchmark identity, 100; Logistic utility, 100; "}, []string{"Lead over", "oracle"}},
		{"learning", "learning/table", report.Style{}, []string{"Logistic utility, 750; Logistic utility, 1,500; "}, nil},
		{"main", "main/table-large", report.Style{}, []string{"spend", "recomputed from the cells", "The paper's hull gain is blank for Router-R1"}, []string{"**89.53**"}},
		{"main", "main/table-large", none, nil, []string{"recomputed", "The paper"}},
		{"main", "main/metrics", none, nil, []string{"recomputed", "The paper"}},
		{"hetero", "hetero/table", report.Style{}, []string{"those printed with ours are recomputed"}, []string{"beside ours"}},
		{"hetero", "hetero/table", none, nil, []string{"The paper prints"}},
		{"hetero", "hetero/table", report.Style{Paper: report.None, Differences: true}, []string{"The paper prints"}, nil},
	} {
		text, ok := committedIn(t, c.experiment, c.style)[c.table+".md"]
		if !ok {
			t.Fatalf("no table %s", c.table)
		}
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s %v has no %q", c.table, c.style, want)
			}
		}
		for _, other := range c.lacks {
			if strings.Contains(text, other) {
				t.Errorf("%s %v has %q", c.table, c.style, other)
			}
		}
	}
}

// Of two rows with a lead the one whose interval is above 0 is set in bold, under either protocol.
func TestBoldGoesToTheRowThatLeadsAtEqualCost(t *testing.T) {
	for experiment, c := range map[string]struct{ line, table, bold string }{
		"main":             {"Curve", "main/table-large", "**0.93**"},
		"recorded-lineage": {"Route", "recorded-lineage/table-qwen3_lineage-all", "**0.70**"},
	} {
		r := &Run{Spec: builtin(t, experiment), Measurements: loadMeasurements(t, experiment)}
		for i, m := range r.Measurements.Measurements {
			if _, ok := m.Value(units.MeanGain); !ok || m.Name != c.line || m.Key("seed") != "" {
				continue
			}
			lead := metrics.Rounded(-1, units.MeanLead, 3).Within(-2, 1)
			if m.Key("method") == "logistic" && (m.Key("arena") == metrics.LargeArena || m.Key("benchmark") == metrics.BothStrata) {
				lead = metrics.Rounded(1, units.MeanLead, 3).Within(0.001, 2)
			}
			others := slices.DeleteFunc(slices.Clone(m.Values), func(v metrics.Value) bool { return v.Unit == units.MeanLead })
			r.Measurements.Measurements[i].Values = append(others, lead)
		}
		text := drawn(t, r)[c.table+".md"]
		if strings.Count(text, c.bold) != 1 || !strings.Contains(text, "Bold: above every other row at equal cost") {
			t.Errorf("%s: not once %s in %s", c.table, c.bold, text)
		}
	}
}

// Pages list the data that a spec names as what its numbers are of, so a pool whose file was changed has to be measured again.
func TestCommittedNumbersAreOfTheDataThatTheirPoolsName(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("..", "..", "figures", "*", "measurements.txt"))
	if err != nil || len(found) < 20 {
		t.Fatal(found, err)
	}
	for _, file := range found {
		name := filepath.Base(filepath.Dir(file))
		var want, got []string
		for _, f := range builtin(t, name).Recordings() {
			want = append(want, metrics.MadeOf(f.Path, f.SHA256))
		}
		for _, line := range loadMeasurements(t, name).Comment {
			if strings.HasPrefix(line, " Made of ") {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("figures/%s is of other data than its spec names; measure it again:\n%s", name, diff)
		}
	}
}

// A spec may be run with other seeds or partitions than it names, or have been changed since: notes and captions count what
// was measured, and say of one training that it is one.
func TestTextsCountWhatWasMeasured(t *testing.T) {
	one := func(name string) *Run {
		r := &Run{Spec: builtin(t, name), Measurements: &metrics.Set{}}
		for _, m := range loadMeasurements(t, name).Measurements {
			if m.Key("seed") == "" {
				r.Measurements.Measurements = append(r.Measurements.Measurements, m)
			}
		}
		return r
	}
	for _, name := range []string{"main", "learning", "recorded", "recorded-learning", "collapse"} {
		r := one(name)
		r.Spec.Experiment.Large *= 2
		for file, text := range drawn(t, r) {
			if ext := filepath.Ext(file); ext != ".md" && ext != ".txt" || file == Measurements(name) {
				continue
			}
			for _, wrong := range []string{"means of", "a mean of", "their mean", "1 seeds", "1 training seeds", "Rings are", "partitions", "bands their range", "Partition SD", "8,000 problems per", "Seed SD"} {
				if strings.Contains(text, wrong) {
					t.Errorf("%s, of one training and 4,000 problems per benchmark, says %q", file, wrong)
				}
			}
		}
	}
}

func TestTheTrainingCaptionSaysWhatIsAveraged(t *testing.T) {
	caption := committed(t, "main")["main/training.txt"]
	// Stage II has 40 steps, each of them a point.
	if want := "a stage of more than 50 steps is averaged over windows, at most 50 of them"; !strings.Contains(caption, want) {
		t.Errorf("no %q in %s", want, caption)
	}
}
