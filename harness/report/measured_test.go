package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// curvesText has two rows, of which one knows Stage I alone.
func curvesText() string {
	var b strings.Builder
	for k, row := range []string{"both", "first"} {
		for step := range 6 {
			at := fmt.Sprintf("BenchmarkCurve/method=%s/stage=sft/step=%d", row, step)
			loss := 1.5 - 0.2*float64(step) + 0.3*float64(k)
			fmt.Fprintf(&b, "%s 3 %g loss %g loss-low %g loss-high %g entropy-nats\n", at, loss, loss-0.1, loss+0.1, 0.9-0.1*float64(step))
			fmt.Fprintf(&b, "%s/expert=big 3 %d share-%%\n", at, 30+5*step)
		}
	}
	for step := range 4 {
		fmt.Fprintf(&b, "BenchmarkCurve/method=both/stage=grpo/step=%d 3 %g reward %g entropy-nats %d zero-groups-%% 0.5 anchor-kl\n", step, 0.2+0.1*float64(step), 0.5-0.1*float64(step), 20*step)
	}
	return b.String()
}

func TestTheTrainingFigure(t *testing.T) {
	l := TrainingLayout{Name: "training", Caption: "Training.", Methods: []Term{{"both", "EntroRouter"}, {"first", "A row with a label that is long, but not too long for a figure"}}, Expert: Term{"big", "strongest"}, Experts: 3}
	f, err := Training(l, setOf(t, curvesText()))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
	exact := regexp.MustCompile(` \d+ zero-groups-%`).ReplaceAllString(curvesText(), "") // which draws no groups
	if f, err := Training(l, setOf(t, exact)); err != nil || slices.ContainsFunc(f.records, func(r []string) bool { return r[0] == "f" }) {
		t.Errorf("figure %v, error %v", f, err)
	}
	without := regexp.MustCompile(` [0-9.]+ reward`).ReplaceAllString(curvesText(), "")
	if _, err := Training(l, setOf(t, without)); err == nil || !strings.Contains(err.Error(), "no curve of stage grpo in reward") {
		t.Errorf("error %v", err)
	}
	l.Methods = l.Methods[1:] // Stage I alone
	if f, err := Training(l, setOf(t, curvesText())); err != nil || slices.ContainsFunc(f.records, func(r []string) bool { return r[1] == "grpo" }) {
		t.Errorf("figure %v, error %v", f, err)
	}
	l.Methods[0].Value = "nobody"
	if _, err := Training(l, setOf(t, curvesText())); err == nil || !strings.Contains(err.Error(), `figure "training": no row has a curve of its training`) {
		t.Errorf("error %v", err)
	}
}

func TestTheSeedsFigure(t *testing.T) {
	l := SeedsLayout{Name: "seeds", Caption: "Seeds.", Panels: sweepLayout(false, "ours").Panels}
	for i, label := range []string{"Random", "EntroRouter", "A router with a very long label"} {
		l.Rows = append(l.Rows, Mark{Label: label, Keys: []metrics.Key{{Name: "method", Value: fmt.Sprintf("ours-%d", i)}}})
	}
	f, err := Seeds(l, setOf(t, sweepText()))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
	l.Rows[1].Keys[0].Value = "nobody"
	if _, err := Seeds(l, setOf(t, sweepText())); err == nil || !strings.Contains(err.Error(), `figure "seeds", "EntroRouter": no measurement in accuracy-%`) {
		t.Errorf("error %v", err)
	}
}

func TestTheFigureOfIntervals(t *testing.T) {
	at := func(x, low, high float64) *metrics.Value {
		v := metrics.Rounded(x, "gain-points", 2).Within(low, high)
		return &v
	}
	alone := metrics.Rounded(-8, "gain-points", 2)
	l := IntervalsLayout{Name: "intervals", Caption: "Gains.", Axis: "Points above a coin flip", Columns: []string{"EntroRouter", "Mean of three learners", "A router with a very long label of more than two lines"}, Rows: []IntervalsRow{
		{"Llama 3.1", []*metrics.Value{at(-0.17, -0.5, 0.18), at(3, 2.5, 3.5), nil}},
		{"Qwen2.5", []*metrics.Value{at(-6.5, -7.86, -5.2), at(0, 0, 0), &alone}},
	}}
	f, err := Intervals(l)
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
	for name, c := range map[string]struct {
		change func(*IntervalsLayout)
		want   string
	}{
		"a number for every column": {func(l *IntervalsLayout) { l.Columns = l.Columns[:2] }, `figure "intervals", "Llama 3.1": 3 numbers for 2 columns`},
		"nothing":                   {func(l *IntervalsLayout) { l.Rows = nil }, `figure "intervals": no number to show`},
	} {
		of := l
		c.change(&of)
		if _, err := Intervals(of); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// ratesText has two experts and two rollouts.
func ratesText() string {
	var b strings.Builder
	for k, estimate := range []string{units.MeasuredRate, units.ShrunkRate} {
		for i, expert := range []string{"small", "big"} {
			for bin := range 3 {
				x := 50 * float64(bin)
				y := x + (50-x)*0.3 + 5*float64(i)
				fmt.Fprintf(&b, "BenchmarkCalibration/estimate=%s/expert=%s/bin=%02d %d %g estimate-%% %g true-%% %g true-low-%% %g true-high-%%\n", estimate, expert, bin, 100+bin, x, y, y-15+5*float64(k), y+10)
			}
		}
		fmt.Fprintf(&b, "BenchmarkBest/estimate=%s 306 %g wrong-best-%%\n", estimate, 30-8*float64(k))
	}
	for i, n := range []int{1, 2, 10, 100} {
		fmt.Fprintf(&b, "BenchmarkBest/samples=%03d 306 %g wrong-best-%%\n", n, 38-8*float64(i))
	}
	return b.String()
}

func TestTheCalibrationFigure(t *testing.T) {
	l := CalibrationLayout{Name: "calibration", Caption: "Rates.", Rollouts: 2, Experts: []Term{{"small", "Small"}, {"big", "Big"}}}
	f, err := Calibration(l, setOf(t, ratesText()))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
	for cut, want := range map[string]string{
		"BenchmarkBest/estimate=shrunk":                     "no Best in wrong-best-% at [estimate shrunk]",
		"BenchmarkBest/samples":                             "no expectation at two numbers of rollouts",
		"BenchmarkCalibration/estimate=measured/expert=big": `no Calibration of expert "big" by measured rates`,
	} {
		var kept strings.Builder
		for line := range strings.Lines(ratesText()) {
			if !strings.HasPrefix(line, cut) {
				kept.WriteString(line)
			}
		}
		if _, err := Calibration(l, setOf(t, kept.String())); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: error %v, want %q", cut, err, want)
		}
	}
}

func TestMarksOfACalibrationStandAtTheirEstimates(t *testing.T) {
	// The estimates of one bin are equal for both experts, so that their marks stand above each other.
	l := CalibrationLayout{Name: "calibration", Caption: "Rates.", Rollouts: 2, Experts: []Term{{"small", "Small"}, {"big", "Big"}}}
	f, err := Calibration(l, setOf(t, ratesText()))
	if err != nil {
		t.Fatal(err)
	}
	if want := "Rates. Bars of experts are moved apart sideways; their markers are not."; f.Caption != want {
		t.Errorf("caption %q, want %q", f.Caption, want)
	}
	var r recorder.Canvas
	f.paint(draw.NewCanvas(&r, f.width, f.height))
	lines := map[vg.Length]int{} // left ends of lines of three points, which only experts have
	for _, a := range r.Actions {
		if s, ok := a.(*recorder.Stroke); ok && len(s.Path) == 3 && s.Path[2].Type == vg.LineComp {
			lines[s.Path[0].Pos.X]++
		}
	}
	if len(lines) != 2 {
		t.Errorf("lines of two experts begin at %v, want one place a panel", lines)
	}
}

func TestThePhaseDiagram(t *testing.T) {
	l := PhaseLayout{Name: "phase", Caption: "Phases.", Assimilation: []string{"0", "0.5", "1"}, Lambda: []string{"0", "0.3", "0.6"},
		Buckets: []Term{{"easy", "Easy"}, {"hard", "Hard, and named at such length that the title has to be cut"}}, Experts: 2}
	var b strings.Builder
	for i, lambda := range l.Lambda {
		for j, a := range l.Assimilation {
			for k, bucket := range []string{"easy", "hard"} {
				fmt.Fprintf(&b, "BenchmarkSweep/lambda=%s/assimilation=%s/bucket=%s 5 %d call-rate-%% %d experts-without-region\n", lambda, a, bucket, 40*j+10*k, max(0, 2+i-2*j))
			}
		}
		fmt.Fprintf(&b, "BenchmarkThreshold/lambda=%s/bucket=hard 1 %g threshold-one-call %g threshold-any-calls\n", lambda, 0.2+0.2*float64(i), 0.1+0.15*float64(i))
	}
	b.WriteString("BenchmarkThreshold/lambda=0/bucket=easy 1 0.7 threshold-any-calls\n")
	f, err := Phase(l, setOf(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
	l.Lambda = append(l.Lambda, "0.9")
	if _, err := Phase(l, setOf(t, b.String())); err == nil || !strings.Contains(err.Error(), "no Sweep in call-rate-% at [lambda 0.9 assimilation 0 bucket easy]") {
		t.Errorf("error %v", err)
	}
}
