package present

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
	"github.com/entrorouter/entrorouter/results"
)

// cells reads a table's CSV: ours and the paper's of every row, by group and unit.
func cells(t *testing.T, files map[string]string, table string) map[string][2]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(files[table+".csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(column string) int { return slices.Index(records[0], column) }
	all := map[string][2]string{}
	for _, r := range records[1:] {
		all[r[at("row")]+"/"+r[at("group")]+"/"+r[at("unit")]] = [2]string{r[at("ours")], r[at("paper")]}
	}
	return all
}

// The paper's text says 98.3% of the strongest expert's accuracy for 48.25% less; the other numbers are worked out by hand
// from the cells of its Table 1.
func TestWholeRowsOfThePaperAreRecomputed(t *testing.T) {
	files := committed(t, "main")
	large, decisions, calls := cells(t, files, "main/table-large"), cells(t, files, "main/metrics"), cells(t, files, "main/table-calls")
	for _, c := range []struct {
		cells     map[string][2]string
		row, unit string
		want      string
	}{
		{large, "EntroRouter/All benchmarks", metrics.Accuracy, "88.6"},
		{large, "EntroRouter/All benchmarks", units.Retention, "98.3"},
		{large, "EntroRouter/All benchmarks", units.CostShare, "51.7"},
		{large, "EntroRouter/All benchmarks", units.HullGain, "1.1"},
		{large, "EntroRouter/All benchmarks", units.SeedSD, ""},
		{large, "FORC/All benchmarks", units.Lead, "-1.1"},
		{large, "FORC (matched)/All benchmarks", metrics.Accuracy, ""},
		{large, "Router-R1 (assumed a=0)/All benchmarks", metrics.Accuracy, "70.0"},
		{large, "Router-R1 (assumed a=0)/All benchmarks", units.HullGain, ""},
		{decisions, "EntroRouter/Accuracy and cost", units.SavedCost, "48.3"},
		{decisions, "EntroRouter/Accuracy and cost", units.PGR, "0.73"},
		{calls, "Router-R1 (assumed a=0)/All benchmarks", "usd/1000-queries", "0.2"},
	} {
		if got := c.cells[c.row+"/"+c.unit][1]; got != c.want {
			t.Errorf("%s, %s: the paper's is %q, want %q", c.row, c.unit, got, c.want)
		}
	}
	for _, row := range []string{"Router alone", "Router-R1 (assumed a=0)", "xRouter (assumed a=0)"} {
		if got := large[row+"/All benchmarks/"+units.Lead][1]; got != "" {
			t.Errorf("the paper does not print what the router alone gets, but %s has a lead: %v", row, got)
		}
	}
}

// The heterogeneous table prints no averages and no Qwen3 expert; Table 1 has those on the same benchmarks.
func TestExpertsThatATableLeavesOutComeFromAnother(t *testing.T) {
	files := committed(t, "hetero")
	main, large := cells(t, files, "hetero/table"), cells(t, files, "hetero/table-large")
	for _, c := range []struct {
		cells     map[string][2]string
		row, want string
	}{
		{main, "EntroRouter/Avg./" + metrics.Accuracy, "73.8"},
		{main, "EntroRouter/Avg./usd/1000-queries", "6.5"},
		{large, "EntroRouter/All benchmarks/" + units.CostShare, "34.6"},
		{large, "EntroRouter/All benchmarks/" + units.HullGain, "2.7"},
	} {
		if got := c.cells[c.row][1]; got != c.want {
			t.Errorf("%s: the paper's is %q, want %q", c.row, got, c.want)
		}
	}
	if !strings.Contains(files["hetero/table.md"], "The paper prints no averages here") {
		t.Error("nothing says that the averages are recomputed")
	}
}

// A run over fewer questions than the paper's, or over other benchmarks, has no whole rows to be held against.
func TestAPartOfTheQuestionsHasNoWholeRowBesideIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  func(*spec.Experiment)
		whole bool
	}{
		{"as in the paper", func(*spec.Experiment) {}, true},
		{"the first questions of each benchmark", func(x *spec.Experiment) { x.Evaluate.MaxProblems = 8 }, false},
		{"one benchmark less", func(x *spec.Experiment) { x.Test = x.Test[1:] }, false},
	} {
		r, err := spec.Load(experiments.FS, "main", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		c.spec(&r.Experiment)
		p, err := (&Run{Spec: r}).readPublished(results.FS)
		if err != nil {
			t.Fatal(err)
		}
		if whole := p.whole.Measurements != nil; p.table == nil || whole != c.whole {
			t.Errorf("%s: table %v, whole rows %v", c.name, p.table != nil, whole)
		}
	}
	r := toy.Tiny(t)
	r.Experiment.Paper = "nowhere"
	if _, err := (&Run{Spec: r}).readPublished(results.FS); err == nil || !strings.Contains(err.Error(), `paper table "nowhere"`) {
		t.Errorf("a table that the paper has not: %v", err)
	}
}

func TestCaptionsOfRecordedTablesNameTheExperts(t *testing.T) {
	text := committed(t, "recorded-mmlu")["recorded-mmlu/table-mmlu_pro_llama_gemini-all.md"]
	caption, _, _ := strings.Cut(text, "\n")
	for _, want := range []string{"llama", "gemini", "all 1", ", 3 partitions."} {
		if !strings.Contains(caption, want) {
			t.Errorf("no %q in %s", want, caption)
		}
	}
}

// Every table says of how many trainings it is and what became of what it counts, or why it has none of it.
func TestEveryTableSaysItsCoverageSeedsAndScale(t *testing.T) {
	drawn := map[string]map[string]string{}
	for _, c := range []struct {
		experiment, table string
		want              []string
	}{
		{"main", "main/table", []string{"Simulated experts", "Training seeds: 10", "Coverage: of the 3703 rollouts", "9.9% were truncated", "0.00% an unknown verdict"}},
		{"main", "main/table-coverage", []string{"Simulated experts", "10 training seeds", "Truncated answers count as wrong"}},
		{"main", "main/table-large", []string{"Simulated experts", "over the 10 training seeds", "no verdict is unknown"}},
		{"main", "main/table-calls", []string{"Simulated experts", "10 training seeds", "Coverage: of the 3703 rollouts"}},
		{"main", "main/metrics", []string{"Simulated experts", "10 training seeds"}},
		{"main", "main/metrics-knobs", []string{"Simulated experts", "10 training seeds"}},
		{"llm-as-router", "llm-as-router/table-routers", []string{"Simulated experts", "10 training seeds"}},
		{"recorded", "recorded/table-llama31-all", []string{"Recorded outcomes", "5 partitions", "trained once a fold and partition", "Coverage: every model has one labelled answer"}},
	} {
		if drawn[c.experiment] == nil {
			drawn[c.experiment] = committed(t, c.experiment)
		}
		for _, want := range c.want {
			if !strings.Contains(drawn[c.experiment][c.table+".md"], want) {
				t.Errorf("%s has no %q", c.table, want)
			}
		}
	}
}
