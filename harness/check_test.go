package harness

import (
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// A run with one training measures no lines of single seeds, and is held against the reference's line of its seed.
func TestOneTrainingIsHeldAgainstItsOwnInTheReference(t *testing.T) {
	dir := t.TempDir()
	reference := runIn(t, tiny(t), dir).Measurements
	reference.Comment = []string{provenance(&tiny(t).Experiment)}
	r := tiny(t)
	r.Experiment.Evaluate.Seeds = r.Experiment.Evaluate.Seeds[1:]
	one := runIn(t, r, dir)
	golden := func() (n int) {
		for _, c := range Check(one, reference).Changes {
			if c.Gate == metrics.Golden && strings.HasSuffix(c.Label, "/method=entrorouter/benchmark=avg/seed=2") {
				n++
			}
		}
		return n
	}
	if n := golden(); n != 8 { // accuracy, dollars, cost share and hull gain in two arenas
		t.Errorf("%d numbers of the training are held against its own, want 8", n)
	}
	report := Check(one, reference)
	if of := report.Regressions(); len(of) > 0 {
		t.Fatalf("nothing changed: %+v", of)
	}
	for i := range one.Measurements.Measurements {
		m := &one.Measurements.Measurements[i]
		if m.Name == "Route" && m.Key("method") == "entrorouter" && m.Key("benchmark") == metrics.Average && m.Key("arena") == LargeArena {
			m.Values[0].Number += 0.001
		}
	}
	report = Check(one, reference)
	if of := report.Regressions(); len(of) != 1 || of[0].Gate != metrics.Golden || of[0].Unit != metrics.Accuracy {
		t.Errorf("a digit of the training: %+v", of)
	}
}
