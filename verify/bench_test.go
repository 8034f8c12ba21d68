package verify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var prose = strings.Repeat("We add the two numbers and simplify the result step by step, so that $x^2 = 49$ holds. ", 7)

func BenchmarkIntegerInResponseOf600Bytes(b *testing.B) {
	k := Key{Gold: []string{"42"}}
	response := prose + `Hence the answer is $\boxed{42}$.`
	b.ReportAllocs()
	for b.Loop() {
		if k.Grade(response).Outcome != OutcomeEqual {
			b.Fatal("not equal")
		}
	}
}

// BenchmarkTenMegabytes reads responses of ten megabytes: with the answer at the end, and with none.
func BenchmarkTenMegabytes(b *testing.B) {
	long := strings.Repeat("some reasoning without an answer, and then more of it\n", 200_000)
	for name, response := range map[string]string{"box_at_the_end": long + `\boxed{42}`, "box_at_the_start": `\boxed{42}` + long, "nothing": long, "unfinished": "<think>" + long} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(response)))
			b.ReportAllocs()
			for b.Loop() {
				Grade("42", response)
			}
		})
	}
}

// BenchmarkMixedAnswers grades answers in the mix of shapes that mathematical benchmarks have.
func BenchmarkMixedAnswers(b *testing.B) {
	pairs := [][2]string{
		{"42", "42"}, {"204", "197"}, {"\\frac{3}{4}", "\\frac34"}, {"2\\sqrt{2}", "\\sqrt{8}"}, {"(3, \\frac{\\pi}{2})", "(3,\\pi/2)"}, {"70", "70"}, {"6 - 5i", "6-5i"}, {"x^2+2x+1", "(x+1)^2"},
		{"1,2,3", "3, 2, 1"}, {"145^\\circ", "145"}, {"[2,5)", "2\\le x<5"}, {"\\text{east}", "east"}, {"13", "13"}, {"588", "588"}, {"\\dfrac{9\\sqrt{410}}{5}", "\\frac{9}{5}\\sqrt{410}"}, {"1000", "1,000"},
	}
	var keys []Key
	var responses []string
	for _, p := range pairs {
		keys = append(keys, Key{Gold: []string{p[0]}})
		responses = append(responses, prose+"so \\boxed{"+p[1]+"}.")
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		keys[i].Grade(responses[i])
		if i++; i == len(keys) {
			i = 0
		}
	}
}

// BenchmarkGoldsOfBenchmarks grades the golds of real benchmarks, each against itself and against another, in
// responses of 600 bytes, and reports the slowest in a thousand.
func BenchmarkGoldsOfBenchmarks(b *testing.B) {
	var golds []string
	files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "data", "benchmarks", "*.jsonl"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var r struct{ Answer string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				b.Fatal(err)
			}
			golds = append(golds, r.Answer)
		}
	}
	if len(golds) == 0 {
		b.Skip("no data")
	}
	responses := make([]string, len(golds))
	for i, g := range golds {
		responses[i] = prose + "so \\boxed{" + g + "}."
	}
	var times []time.Duration
	i := 0
	for b.Loop() {
		g := golds[i%len(golds)]
		r := responses[i%len(golds)]
		if i%2 == 1 {
			r = responses[i*7919%len(golds)]
		}
		start := time.Now()
		Grade(g, r)
		times = append(times, time.Since(start))
		i++
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*999/1000].Microseconds()), "p99.9-us")
}

// BenchmarkDevelopmentRows grades the development rows of the verifier, the mix that its speed is measured on: worked
// solutions, notation and adversarial answers. It reports rows a second of one core.
func BenchmarkDevelopmentRows(b *testing.B) {
	type row struct{ Gold, Response string }
	var all []row
	for _, name := range []string{"adversarial", "carp_steps", "latex2sympy", "omni_solutions"} {
		rows(b, "verifier/dev_"+name+".jsonl.gz", func(line []byte) {
			var r row
			if err := json.Unmarshal(line, &r); err != nil {
				b.Fatal(err)
			}
			all = append(all, r)
		})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Grade(all[i%len(all)].Gold, all[i%len(all)].Response)
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "rows/s")
}
