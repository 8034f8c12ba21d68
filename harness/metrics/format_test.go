package metrics_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/entrorouter/entrorouter/harness/metrics"
)

func write(t testing.TB, s *Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t testing.TB, text string) *Set {
	t.Helper()
	s, err := Read("test.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASetIsWrittenAsSortedBenchmarkLines(t *testing.T) {
	set := &Set{
		Comment: []string{" source: a test"},
		Measurements: []Measurement{
			{
				Name: "Route", N: 480, Note: "argmax decoding",
				Keys:   []Key{{"method", "w/o gate, 10%"}, {"benchmark", "aime25"}, {"seed", "1"}},
				Values: []Value{Rounded(78.8, Accuracy, 2).Within(71.234, 85.066), Rounded(0.2929, USD, 6), {Number: 30, Unit: Questions}},
			},
			{
				Name: "Route", N: 1, Keys: []Key{{"method", "knn-40"}},
				Values: []Value{{Number: 0.00001, Unit: USDPerQuery, Decimals: 0, Bounded: true, Low: 0, High: 1e-3}},
			},
		},
	}
	const want = `# source: a test
BenchmarkRoute/method=knn%2D40 1 0.00001 usd/query 0 usd-low/query 0.001 usd-high/query
# note: argmax decoding
BenchmarkRoute/method=w%2Fo%20gate,%2010%25/benchmark=aime25/seed=1 480 78.80 accuracy-% 71.23 accuracy-low-% 85.07 accuracy-high-% 0.292900 usd 30 questions
`
	if got := write(t, set); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	back := read(t, want)
	m, ok, err := back.Find(Key{"seed", "1"})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if got := m.Key("method"); got != "w/o gate, 10%" {
		t.Errorf("method came back as %q", got)
	}
	v, _ := m.Value(Accuracy)
	if want := (Value{Number: 78.8, Unit: Accuracy, Decimals: 2, Bounded: true, Low: 71.23, High: 85.07}); v != want {
		t.Errorf("accuracy came back as %+v, want %+v", v, want)
	}
	if m.Note != "argmax decoding" {
		t.Errorf("note came back as %q", m.Note)
	}
}

func TestReadingAndWritingAgain(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"printed zeros stay", "BenchmarkA 1 80.0 x\n", "BenchmarkA 1 80.0 x\n"},
		{"an exponent becomes a decimal number", "BenchmarkA 1 1.5e-6 x\n", "BenchmarkA 1 0.0000015 x\n"},
		{"minus zero is zero", "BenchmarkA 1 -0.0 x\n", "BenchmarkA 1 0.0 x\n"},
		{"lines are sorted", "BenchmarkB 1 2 x\nBenchmarkA 1 1 x\n", "BenchmarkA 1 1 x\nBenchmarkB 1 2 x\n"},
		{"lines of the test runner are skipped", "goos: linux\nBenchmarkA 1 1 x\nPASS\nok pkg 1s\n", "BenchmarkA 1 1 x\n"},
		{"line ends of other systems", "# c\r\nBenchmarkA 1 1 x\r\n", "# c\nBenchmarkA 1 1 x\n"},
		{"an interval may stand before its value", "BenchmarkA 1 1 x-low 3 x-high 2 x\n", "BenchmarkA 1 2 x 1 x-low 3 x-high\n"},
		{"white space between fields is free", "BenchmarkA\t1   1 x\n", "BenchmarkA 1 1 x\n"},
		{"comments further down are dropped", "# top\nBenchmarkA 1 1 x\n# gone\nBenchmarkB 1 1 x\n", "# top\nBenchmarkA 1 1 x\nBenchmarkB 1 1 x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := write(t, read(t, c.in)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReadingFaultsNameFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no value", "# c\nBenchmarkA 1", "f.txt:2: want name, count and pairs"},
		{"odd number of fields", "BenchmarkA 1 2", "f.txt:1: want name, count and pairs"},
		{"count is no integer", "BenchmarkA x 2 u", `f.txt:1: count "x" is no integer`},
		{"count is not positive", "BenchmarkA 0 2 u", "f.txt:1: count 0 is less than 1"},
		{"number is no number", "BenchmarkA 1 high u", `f.txt:1: "high" is no decimal number`},
		{"number is not finite", "BenchmarkA 1 NaN u", `f.txt:1: "NaN" is no decimal number`},
		{"number is too large", "BenchmarkA 1 1e999 u", `f.txt:1: "1e999" is no number of ordinary size`},
		{"hexadecimal number", "BenchmarkA 1 0x1p3 u", `f.txt:1: "0x1p3" is no decimal number`},
		{"part without =", "BenchmarkA/method 1 2 u", `f.txt:1: "method" in the name is no key=value`},
		{"key without value", "BenchmarkA/method= 1 2 u", `f.txt:1: key "method" has no value`},
		{"key with capitals", "BenchmarkA/Method=x 1 2 u", `f.txt:1: key "Method" is not a lower-case letter`},
		{"repeated key", "BenchmarkA/k=1/k=2 1 2 u", `f.txt:1: key "k" occurs twice`},
		{"repeated unit", "BenchmarkA 1 2 u 3 u", `f.txt:1: unit "u" occurs twice`},
		{"bad escape", "BenchmarkA/k=%zz 1 2 u", `f.txt:1: "%zz" holds a bad escape`},
		{"cut escape", "BenchmarkA/k=%2 1 2 u", `f.txt:1: "%2" holds a bad escape`},
		{"half an interval", "BenchmarkA 1 2 u 1 u-low", `f.txt:1: "u-low" is half an interval`},
		{"backward interval", "BenchmarkA 1 2 u 3 u-low 1 u-high", "f.txt:1: interval of u runs backwards"},
		{"repeated label", "BenchmarkA/k=1 1 2 u\n\nBenchmarkA/k=1 1 3 u", "f.txt:3: A/k=1 was measured on line 1 already"},
		{"GOMAXPROCS suffix", "BenchmarkA-8 1 2 u", `f.txt:1: name "A-8" is not`},
		{"an accuracy below 0", "BenchmarkA 1 -5 accuracy-%", "f.txt:1: accuracy-% is -5; it cannot be less than 0"},
		{"an accuracy above 100", "# c\nBenchmarkA 1 101.0 accuracy-%", "f.txt:2: accuracy-% is 101.0; it cannot be more than 100"},
		{"negative dollars", "BenchmarkA 1 -1 usd", "f.txt:1: usd is -1; it cannot be less than 0"},
		{"a probability above 1", "BenchmarkA 1 1.5 mcnemar-p", "f.txt:1: mcnemar-p is 1.5; it cannot be more than 1"},
		{"a line with a NUL before it", "BenchmarkA 1 1 x\n\x00BenchmarkB 1 1 x", `f.txt:2: neither a measurement (Benchmark...) nor a comment (#): "\x00BenchmarkB 1 1 x"`},
		{"a line of another name", "XenchmarkB 1 1 x", `f.txt:1: neither a measurement (Benchmark...) nor a comment (#): "XenchmarkB 1 1 x"`},
		{"a binary file", "\x7fELF\x02\x01", `f.txt:1: neither a measurement`},
		{"a file that is cut in a unit", "# c\nBenchmarkA 1 2 accuracy-%\nBenchmarkB 1 2 accuracy", "f.txt:3: the file ends in the middle of this line: "},
		{"a file that is cut in a comment", "BenchmarkA 1 2 u\n# of", "f.txt:2: the file ends in the middle of this line: "},
		{"note without measurement", "BenchmarkA 1 2 u\n# note: lost", `f.txt: note "lost" is followed by no measurement`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("f.txt", strings.NewReader(c.in))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestWritingRefusesWhatTheFormatCannotHold(t *testing.T) {
	fine := Value{Number: 1, Unit: "x"}
	for _, c := range []struct {
		name string
		m    Measurement
		want string
	}{
		{"no value", Measurement{Name: "A", N: 1}, "no value"},
		{"no name", Measurement{N: 1, Values: []Value{fine}}, "is not an upper-case letter"},
		{"slash in the name", Measurement{Name: "A/b", N: 1, Values: []Value{fine}}, "is not an upper-case letter"},
		{"space in a unit", Measurement{Name: "A", N: 1, Values: []Value{{Unit: "a b"}}}, "holds white space"},
		{"unit of an interval", Measurement{Name: "A", N: 1, Values: []Value{{Unit: "accuracy-low-%"}}}, "is kept for the ends of intervals"},
		{"line break in a note", Measurement{Name: "A", N: 1, Note: "a\nb", Values: []Value{fine}}, "has a line break"},
		{"empty key value", Measurement{Name: "A", N: 1, Keys: []Key{{"k", ""}}, Values: []Value{fine}}, "has no value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := (&Set{Measurements: []Measurement{c.m}}).Write(&bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	same := Measurement{Name: "A", N: 1, Values: []Value{fine}}
	if err := (&Set{Measurements: []Measurement{same, same}}).Write(&bytes.Buffer{}); err == nil {
		t.Error("two measurements with one label were written")
	}
}

func TestFindRefusesToChooseAndSaysWhatDiffers(t *testing.T) {
	set := read(t, "BenchmarkA/method=x/seed=1 1 1 u\nBenchmarkA/method=x/seed=2 1 2 u\nBenchmarkA/method=x 1 3 u\n")
	_, _, err := set.Find(Key{"method", "x"})
	if err == nil || !strings.Contains(err.Error(), "3 measurements at method=x, which differ in seed") {
		t.Errorf("got %v", err)
	}
	m, ok, err := set.Find(Key{"method", "x"}, Key{"seed", ""})
	if v, _ := m.Value("u"); err != nil || !ok || v.Number != 3 {
		t.Errorf("the line without a seed: got %+v, %v, %v", m, ok, err)
	}
	if _, ok, err := set.Find(Key{"method", "y"}); ok || err != nil {
		t.Errorf("an absent method: got %v, %v", ok, err)
	}
}

func TestDecimalsAreThoseThatANumberWasWrittenWith(t *testing.T) {
	for text, want := range map[string]int{"80": 0, "80.0": 1, "0.50": 2, "1e-5": 5, "1.5e-5": 6, "1.50E-05": 7, "15e0": 0, "1.25e1": 1, "1e3": 0, "1.5e-20": 15, "0e99999999999999999999": 0} {
		set, err := Read("f", strings.NewReader("BenchmarkA/k=v 1 "+text+" usd\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Measurements[0].Values[0].Decimals; got != want {
			t.Errorf("%s: %d decimals, want %d", text, got, want)
		}
	}
}

func TestAByteOrderMarkHidesNoLine(t *testing.T) {
	for _, text := range []string{"\ufeffBenchmarkA/k=v 1 2 x\r\n", "\ufeff# source: y\r\nBenchmarkA/k=v 1 2 x\r\n"} {
		set, err := Read("f", strings.NewReader(text))
		if err != nil || len(set.Measurements) != 1 || strings.Contains(text, "#") != (len(set.Comment) == 1) {
			t.Errorf("%q: %+v (%v)", text, set, err)
		}
	}
}

func TestAnyLabelsAndNumbersSurviveWritingAndReading(t *testing.T) {
	number := rapid.Float64Range(-1e18, 1e18)
	rapid.Check(t, func(t *rapid.T) {
		m := Measurement{Name: "Route", N: rapid.IntRange(1, 1e6).Draw(t, "n")}
		for i, name := range []string{"method", "benchmark", "seed"} {
			value := rapid.StringN(1, 12, -1).Draw(t, name)
			if rapid.Bool().Draw(t, "dash") {
				value += "-8"
			}
			if i == 0 || rapid.Bool().Draw(t, "key") {
				m.Keys = append(m.Keys, Key{name, value})
			}
		}
		for _, unit := range []string{"score-%", "eur/query", "tokens"}[:rapid.IntRange(1, 3).Draw(t, "values")] {
			v := Value{Number: number.Draw(t, "x"), Unit: unit, Decimals: rapid.IntRange(0, 15).Draw(t, "decimals")}
			if rapid.Bool().Draw(t, "bounded") {
				a, b := number.Draw(t, "low"), number.Draw(t, "high")
				v.Bounded, v.Low, v.High = true, min(a, b), max(a, b)
			}
			m.Values = append(m.Values, v)
		}
		for _, unit := range []string{"retention-%", "pgr:"}[:rapid.IntRange(0, 2).Draw(t, "undefined")] {
			why := rapid.StringMatching(`[a-z:%][a-z :%]{0,20}[a-z:%]`).Draw(t, "why")
			m.Undefined = append(m.Undefined, Undefined{unit, why})
		}
		var text bytes.Buffer
		if err := (&Set{Measurements: []Measurement{m}}).Write(&text); err != nil {
			t.Fatal(err)
		}
		back, err := Read("f", bytes.NewReader(text.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got := back.Measurements[0]
		if len(back.Measurements) != 1 || got.Name != m.Name || got.N != m.N || len(got.Keys) != len(m.Keys) || len(got.Values) != len(m.Values) || !slices.Equal(got.Undefined, m.Undefined) {
			t.Fatalf("wrote %+v, read %+v", m, got)
		}
		for i, k := range m.Keys {
			if got.Keys[i] != k {
				t.Errorf("key %+v came back as %+v", k, got.Keys[i])
			}
		}
		for i, v := range m.Values {
			w := got.Values[i]
			w.Decimals = v.Decimals // written are at least as many, more if the number needs them
			if w != v {
				t.Errorf("value %+v came back as %+v", v, w)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("# source: x\nBenchmarkRoute/table=main/method=a%20b 480 78.80 accuracy-% 70 accuracy-low-% 80 accuracy-high-% 0.293 usd\n")
	f.Add("# note: n\nBenchmarkA 1 1e-3 x\n")
	f.Add("# undefined: y: why not\nBenchmarkA 1 1e-3 x\n")
	f.Add("BenchmarkA/k=a-8/l=-1 2 -0.50 usd/query\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Read("f", strings.NewReader(text))
		if err != nil {
			return
		}
		var once bytes.Buffer
		if err := set.Write(&once); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		again, err := Read("f", bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("written but not read: %v\n%s", err, once.String())
		}
		if twice := write(t, again); twice != once.String() {
			t.Fatalf("not stable:\n%s\nthen\n%s", once.String(), twice)
		}
	})
}
