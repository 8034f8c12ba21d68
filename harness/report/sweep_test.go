package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func setOf(t *testing.T, text string) *metrics.Set {
	t.Helper()
	set, err := metrics.Read("test.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// sweepText has two rows at three numbers, two seeds each.
func sweepText() string {
	var b strings.Builder
	for k, kind := range []string{"ours", "theirs"} {
		for i := range 3 {
			at := fmt.Sprintf("BenchmarkRoute/method=%s-%d", kind, i)
			fmt.Fprintf(&b, "%s 900 %g accuracy-%% %g accuracy-low-%% %g accuracy-high-%% %g hull-gain-points %g cost-share-%%\n",
				at, 80+float64(i), 79.5+float64(i), 80.5+float64(i), float64(i)/2-0.4*float64(k), 90-10*float64(i))
			for s := range 2 {
				fmt.Fprintf(&b, "%s/seed=%d 900 %g accuracy-%% %g hull-gain-points %g cost-share-%%\n",
					at, s+1, 80+float64(i)+0.6*float64(s)-0.3, float64(i)/2-0.4*float64(k)+0.2*float64(s)-0.1, 89-10*float64(i)+2*float64(s))
			}
		}
	}
	return b.String()
}

func sweepLayout(log bool, kinds ...string) SweepLayout {
	l := SweepLayout{Name: "sweep", Caption: "A sweep.", Axis: "Anchor strength β/T", Log: log, Panels: []Quantity{
		{Unit: metrics.Accuracy, Label: "Accuracy (%)"}, {Unit: "hull-gain-points", Label: "Hull gain (points)", Zero: true}, {Unit: "cost-share-%", Label: "Cost (%)"},
	}}
	for _, kind := range kinds {
		line := SweepLine{Label: kind}
		for i, x := range []float64{8, 0.5, 2} { // not in order
			line.Points = append(line.Points, SweepPoint{X: x, Keys: []metrics.Key{{Name: "method", Value: fmt.Sprintf("%s-%d", kind, (i+2)%3)}}})
		}
		l.Lines = append(l.Lines, line)
	}
	return l
}

func TestALegendOfOneTrainingNamesNoMeanAndNoRings(t *testing.T) {
	var one strings.Builder
	for line := range strings.Lines(sweepText()) {
		if !strings.Contains(line, "/seed=") {
			one.WriteString(line)
		}
	}
	l := sweepLayout(false, "ours")
	l.Lines[0].Label = ""
	rows := SeedsLayout{Name: "seeds", Panels: l.Panels, Rows: []Mark{{Label: "Ours", Keys: l.Lines[0].Points[0].Keys}}}
	for text, wanted := range map[string]bool{one.String(): false, sweepText(): true} {
		sweep, err := Sweep(l, setOf(t, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		seeds, err := Seeds(rows, setOf(t, text))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*Figure{sweep, seeds} {
			var drawing strings.Builder
			if err := f.Write(&drawing, SVG); err != nil {
				t.Fatal(err)
			}
			mean, ones := strings.Contains(drawing.String(), ">Mean over seeds<"), strings.Count(drawing.String(), ">One ")
			if mean != wanted || ones != 1 {
				t.Errorf("%s: mean named %v, want %v; single ones named %d times", f.Name, mean, wanted, ones)
			}
		}
	}
}

func TestTheSweepFigure(t *testing.T) {
	l := sweepLayout(false, "ours")
	l.Lines[0].Label = ""
	l.Lines[0].Points[0].Paper = []metrics.Key{{Name: "method", Value: "paper"}}
	l.Lines[0].Points[1].Paper = []metrics.Key{{Name: "method", Value: "paper-too"}}
	paper := setOf(t, "BenchmarkRoute/method=paper 1 79 accuracy-%\nBenchmarkRoute/method=paper-too 1 80.4 accuracy-%\n")
	f, err := Sweep(l, setOf(t, sweepText()), paper)
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
}

func TestASweepOfTwoLinesOnALogarithmicAxis(t *testing.T) {
	l := sweepLayout(true, "ours", "theirs")
	l.Name, l.Lines[1].Label = "sweep-log", "A router with a label that is much longer than the figure is wide, so that it is cut"
	f, err := Sweep(l, setOf(t, sweepText()), nil)
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
}

func TestTheLegendNamesWhatIsRepeated(t *testing.T) {
	points := []series{{points: []sample{{}}}}
	for repeat, want := range map[string]string{"seed": "Mean over seeds, One seed", "partition": "Mean over partitions, One partition"} {
		var got []string
		for _, e := range sweepLegend([]sweepData{{lines: points, seeds: points}}, repeat) {
			got = append(got, e.label)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", repeat, s, want)
		}
	}
}

func TestTheCaptionSaysWhichPanelsHaveRingsAndWhatIsMovedAside(t *testing.T) {
	ringless := strings.Builder{}
	for line := range strings.Lines(sweepText()) {
		if strings.Contains(line, "/seed=") {
			line = line[:strings.LastIndex(line, " hull-gain-points")] + " hull-gain-points\n"
		}
		ringless.WriteString(line)
	}
	none := strings.Builder{}
	for line := range strings.Lines(sweepText()) {
		if !strings.Contains(line, "/seed=") {
			none.WriteString(line)
		}
	}
	for name, tc := range map[string]struct {
		text  string
		lines []string
		want  string
	}{
		"all panels":  {sweepText(), []string{"ours"}, "A sweep. Rings are single seeds."},
		"some panels": {ringless.String(), []string{"ours"}, "A sweep. Rings, only in the panels Accuracy (%) and Hull gain (points), are single seeds."},
		"two lines":   {none.String(), []string{"ours", "theirs"}, "A sweep. Points at one number are moved apart sideways, so that they do not hide each other."},
	} {
		f, err := Sweep(sweepLayout(false, tc.lines...), setOf(t, tc.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.Caption != tc.want {
			t.Errorf("%s: %q, want %q", name, f.Caption, tc.want)
		}
	}
}

func TestTheLegendNamesRingsThatOnlyALowerPanelHas(t *testing.T) {
	points := []series{{points: []sample{{}}}}
	if n := len(sweepLegend([]sweepData{{lines: points}, {lines: points, seeds: points}}, "seed")); n != 2 {
		t.Errorf("%d entries, want a line and a ring", n)
	}
}

func TestWhatASweepMissesIsNamed(t *testing.T) {
	l := sweepLayout(false, "ours")
	l.Lines[0].Points[2].Keys[0].Value = "nobody"
	if _, err := Sweep(l, setOf(t, sweepText()), nil); err == nil || !strings.Contains(err.Error(), `figure "sweep": line "ours" at 2: no measurement in accuracy-%`) {
		t.Errorf("error %v", err)
	}
	l = sweepLayout(true, "ours")
	l.Lines[0].Points[0].X = 0
	if _, err := Sweep(l, setOf(t, sweepText()), nil); err == nil || !strings.Contains(err.Error(), "0 has no place on a logarithmic axis") {
		t.Errorf("error %v", err)
	}
}

func TestMarksAreRoundAndInside(t *testing.T) {
	for _, tc := range []struct {
		low, high float64
		n         int
		want      string
	}{
		{-0.5, 1.2, 4, "-0.5 0.0 0.5 1.0"},
		{79.4, 82.6, 4, "80 81 82"},
		{-3, -1, 4, "-3.0 -2.5 -2.0 -1.5 -1.0"},
		{0, 100, 5, "0 20 40 60 80 100"},
		{0.002 - 0.0001, 0.002 + 0.0001, 5, "0.00190 0.00195 0.00200 0.00205 0.00210"}, // ends that are no multiples of the step
	} {
		var got []string
		for _, m := range between(tc.low, tc.high, tc.n) {
			got = append(got, m.label)
			if m.at < tc.low || m.at > tc.high {
				t.Errorf("between(%v, %v, %d): %s lies outside", tc.low, tc.high, tc.n, m.label)
			}
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("between(%v, %v, %d): %s, want %s", tc.low, tc.high, tc.n, s, tc.want)
		}
	}
}
