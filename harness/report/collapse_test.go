package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func collapseLayout() CollapseLayout {
	return CollapseLayout{
		Name: "collapse", Caption: "Calls stop where they do not pay.", At: "0.3", ControlsAt: "0",
		Curves:       []Term{{"0", "0"}, {"1", "1"}},
		Assimilation: []string{"0", "0.5", "1"}, Lambda: []string{"0", "0.3"},
		Buckets:  []Term{{"easy", "Easy"}, {"hard", "Hard"}},
		Controls: []Term{{"none", "Nothing changed"}, {"select", "May hand over"}},
	}
}

// collapseText has easy problems on which asking never pays at 0.3.
func collapseText() string {
	var b strings.Builder
	for _, a := range []int{0, 1} {
		for step, rate := range []int{90, 50 + 30*a, 80 * a} {
			fmt.Fprintf(&b, "BenchmarkCurve/assimilation=%d/step=%02d 5 %d call-rate-%% %d call-rate-low-%% %d call-rate-high-%% 1.%d entropy-nats 59 accuracy-%% 0.%d reward\n", a, 10*step, rate, rate-5*step*a, rate+5*step*a, 3-step, 3+step)
		}
	}
	for _, lambda := range []string{"0", "0.3"} {
		for i, a := range []string{"0", "0.5", "1"} {
			at := "lambda=" + lambda + "/assimilation=" + a
			fmt.Fprintf(&b, "BenchmarkSweep/%s 5 %d call-rate-%%\n", at, 25*i)
			fmt.Fprintf(&b, "BenchmarkSweep/%s/bucket=easy 5 0 call-rate-%%\n", at)
			fmt.Fprintf(&b, "BenchmarkSweep/%s/bucket=hard 5 %d call-rate-%%\n", at, 50*i)
		}
	}
	b.WriteString("BenchmarkThreshold/lambda=0/bucket=easy 1 0.9 threshold-one-call 0.8 threshold-any-calls\n")
	b.WriteString("BenchmarkThreshold/lambda=0/bucket=hard 1 0.2 threshold-one-call 0.1 threshold-any-calls\n")
	b.WriteString("BenchmarkThreshold/lambda=0.3/bucket=hard 1 0.4 threshold-one-call 0.3 threshold-any-calls\n")
	b.WriteString("BenchmarkControl/control=none 5 0.4 call-rate-%\n")
	b.WriteString("BenchmarkControl/control=select 5 66.6 call-rate-% 60 call-rate-low-% 70 call-rate-high-%\n")
	return b.String()
}

func collapseSet(t *testing.T, text string) *metrics.Set {
	t.Helper()
	set, err := metrics.Read("collapse.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestTheCollapseFigure(t *testing.T) {
	f, err := Collapse(collapseLayout(), collapseSet(t, collapseText()))
	if err != nil {
		t.Fatal(err)
	}
	files(t, f)
}

func TestWhatTheCollapseFigureMissesIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ cut, want string }{
		"a control":  {"BenchmarkControl/control=select", "no Control in call-rate-% at [control select"},
		"a cell":     {"BenchmarkSweep/lambda=0/assimilation=0.5 ", "no Sweep in call-rate-% at [lambda 0 assimilation 0.5"},
		"all curves": {"BenchmarkCurve", "no curve in call-rate-% at assimilation=0"},
	} {
		t.Run(name, func(t *testing.T) {
			var kept []string
			for line := range strings.Lines(collapseText()) {
				if !strings.HasPrefix(line, c.cut) {
					kept = append(kept, line)
				}
			}
			_, err := Collapse(collapseLayout(), collapseSet(t, strings.Join(kept, "")))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
