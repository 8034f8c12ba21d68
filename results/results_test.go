package results_test

import (
	"bytes"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/results"
)

func load(t *testing.T, name string) *metrics.Set {
	t.Helper()
	file, err := results.FS.Open("paper/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	set, err := metrics.Read(name+".txt", file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestEveryFileIsWrittenTheWayTheFormatWritesIt(t *testing.T) {
	files, err := fs.Glob(results.FS, "paper/*.txt")
	if err != nil || len(files) != 9 {
		t.Fatalf("found %v (%v), want the 8 tables and the shares of the text", files, err)
	}
	lines := map[string]int{"main": 72, "ood": 27, "ablation": 20, "alpha": 12, "hetero": 12, "noise": 6, "llm-as-router": 24, "llm-as-router-ood": 9, "strata": 3}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".txt")
		set := load(t, name)
		if len(set.Measurements) != lines[name] {
			t.Errorf("%s holds %d measurements, want %d", name, len(set.Measurements), lines[name])
		}
		if len(set.Comment) == 0 || !strings.Contains(set.Comment[0], "source: ") {
			t.Errorf("%s does not name its source", name)
		}
		want, err := fs.ReadFile(results.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := set.Write(&got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not in canonical form: read and written again it differs", name)
		}
	}
}

// The shares of the text are in no table and add up to nothing, so they are transcribed twice: as numbers and in the sentences.
func TestTheSharesOfStrataAreTranscribedTwice(t *testing.T) {
	data, err := fs.ReadFile(results.FS, "paper/claims.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list, err := paper.ReadList("claims.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	stated := map[string]string{} // stratum and expert -> as printed
	of := regexp.MustCompile(`^share\(main, entrorouter, (\w+), ([\w-]+)\)$`)
	for _, c := range list.Claims {
		if c.Ours == nil {
			continue
		}
		if m := of.FindStringSubmatch(c.Ours.Formula); m != nil {
			stated[m[1]+" "+m[2]] = c.Printed
		}
	}
	printed := map[string]string{}
	for _, m := range load(t, "strata").Measurements {
		v, _ := m.Value("share-%")
		printed[m.Key("stratum")+" "+m.Key("expert")] = metrics.Format(v.Number, v.Decimals)
	}
	if len(printed) != 3 || !maps.Equal(stated, printed) {
		t.Errorf("the sentences of claims.yaml have %v, strata.txt has %v", stated, printed)
	}
}

// row returns the accuracies, totals and sizes of one method on the given benchmarks.
func row(t *testing.T, set *metrics.Set, benchmarks []string, keys ...metrics.Key) (accuracy, usd []float64, sizes []int) {
	t.Helper()
	for _, b := range benchmarks {
		m, ok, err := set.Find(append(slices.Clone(keys), metrics.Key{Name: "benchmark", Value: b})...)
		if err != nil || !ok {
			t.Fatalf("no %s of %v: %v", b, keys, err)
		}
		a, _ := m.Value(metrics.Accuracy)
		c, _ := m.Value(metrics.USD)
		n, _ := m.Value(metrics.Questions)
		accuracy, usd, sizes = append(accuracy, a.Number), append(usd, c.Number), append(sizes, int(n.Number))
	}
	return accuracy, usd, sizes
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

var (
	math7 = []string{"hmmt25", "aime25", "olympiadbench", "aime24", "amc", "math500", "smt25"}
	hard3 = []string{"hmmt25", "aime25", "smt25"}
	ood2  = []string{"gpqa", "mmlu-pro"}
)

func method(id string) metrics.Key { return metrics.Key{Name: "method", Value: id} }

// average weighs benchmarks by their questions, as the paper does.
func average(values []float64, questions []int) float64 {
	weights := make([]float64, len(questions))
	for i, n := range questions {
		weights[i] = float64(n)
	}
	return metrics.WeightedMean(values, weights)
}

func TestHeadlineClaimsRecomputeFromTheTranscription(t *testing.T) {
	set := load(t, "main")
	ours, oursUSD, sizes := row(t, set, math7, method("entrorouter"))
	strong, strongUSD, _ := row(t, set, math7, method("qwen3-235b"))
	q, s := average(ours, sizes), average(strong, sizes)
	for _, claim := range []struct {
		what      string
		got, want float64
		digits    float64
	}{
		{"98.3% of the strongest expert's accuracy", 100 * metrics.Retention(q, s), 98.33, 0.005},
		{"cost cut by 48.25%", 100 * metrics.Saving(total(oursUSD), total(strongUSD)), 48.254, 0.0005},
		{"average accuracy 88.62%", q, 88.639, 0.0005},
		{"retention with the unweighted mean", 100 * stat.Mean(ours, nil) / stat.Mean(strong, nil), 97.67, 0.005},
	} {
		if math.Abs(claim.got-claim.want) > claim.digits {
			t.Errorf("%s: recomputed %.4f, the audit has %v", claim.what, claim.got, claim.want)
		}
	}
}

func TestAverageColumnsFollowFromTheCells(t *testing.T) {
	// Costs that do not: the average is printed wrong in the paper, and transcribed so.
	wrong := map[string]bool{
		"ood/qwen3-30b/usd/query":              true, // printed 0.000, the cells give 0.0018
		"llm-as-router/gpt-oss-120b/usd/query": true, // printed 0.0047, the cells give 0.00465
	}
	for _, table := range []struct {
		file, table string
		benchmarks  []string
	}{
		{"main", "main", math7},
		{"ood", "ood", ood2},
		{"ablation", "ablation", hard3},
		{"alpha", "alpha", hard3},
		{"llm-as-router", "llm-as-router", math7},
		{"llm-as-router-ood", "llm-as-router-ood", ood2},
	} {
		set := load(t, table.file)
		for _, avg := range set.Where(metrics.Key{Name: "table", Value: table.table}, metrics.Key{Name: "benchmark", Value: metrics.Average}) {
			var keys []metrics.Key
			for _, k := range avg.Keys {
				if k.Name != "benchmark" {
					keys = append(keys, k)
				}
			}
			accuracy, usd, sizes := row(t, set, table.benchmarks, keys...)
			questions := 0
			for _, n := range sizes {
				questions += n
			}
			for unit, got := range map[string]float64{
				metrics.Accuracy:    average(accuracy, sizes),
				metrics.USDPerQuery: total(usd) / float64(questions),
			} {
				printed, ok := avg.Value(unit)
				if !ok {
					t.Fatalf("%s has no %s", avg.Label(), unit)
				}
				// Half a unit of the printed digit, and for accuracies as much again from the rounded cells.
				tolerance := 0.5001 * math.Pow(10, -float64(printed.Decimals))
				if unit == metrics.Accuracy {
					tolerance *= 2
				}
				name := table.table + "/" + avg.Key("method") + "/" + unit
				if off := math.Abs(got - printed.Number); (off > tolerance) != wrong[name] {
					t.Errorf("%s: printed %v, cells give %.5f; known to be wrong: %v", avg.Label(), printed.Number, got, wrong[name])
				}
			}
		}
	}
}

// The yardsticks are the audit's, computed from the same tables by another program.
func TestHullGainsOfThePapersRows(t *testing.T) {
	for _, table := range []struct {
		file       string
		benchmarks []string
		gains      map[string]float64
	}{
		{"main", math7, map[string]float64{"entrorouter": 1.09, "routellm": 0.06, "forc": -0.09, "random": -0.24, "qwen3-30b": 0, "qwen3-235b": 0}},
		{"ood", ood2, map[string]float64{"entrorouter": -0.31, "forc": -0.80, "random": -0.46, "routellm": 0.25, "qwen3-4b": 0}},
	} {
		set := load(t, table.file)
		at := func(id string) metrics.Point {
			accuracy, usd, sizes := row(t, set, table.benchmarks, method(id))
			questions := 0
			for _, n := range sizes {
				questions += n
			}
			return metrics.Point{Cost: total(usd) / float64(questions), Quality: average(accuracy, sizes)}
		}
		hull := metrics.UpperHull([]metrics.Point{at("qwen3-4b"), at("qwen3-30b"), at("qwen3-235b")})
		for id, want := range table.gains {
			if got := hull.Gain(at(id)); math.Abs(got-want) > 0.006 {
				t.Errorf("%s: hull gain of %s is %.3f, the audit has %v", table.file, id, got, want)
			}
		}
	}
}
