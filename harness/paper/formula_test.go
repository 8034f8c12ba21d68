package paper

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

// toy is a table of two experts and a router on benchmarks of 3 and 1 questions.
const toy = `# source: made up.
BenchmarkRoute/table=toy/method=cheap/benchmark=a 3 50.0 accuracy-% 1.0 usd 3 questions
BenchmarkRoute/table=toy/method=cheap/benchmark=avg 4 55.0 accuracy-% 0.5 usd/query 4 questions
BenchmarkRoute/table=toy/method=cheap/benchmark=b 1 70.0 accuracy-% 1.0 usd 1 questions
BenchmarkRoute/table=toy/method=dear/benchmark=a 3 90.0 accuracy-% 7.0 usd 3 questions
BenchmarkRoute/table=toy/method=dear/benchmark=avg 4 92.5 accuracy-% 2.5 usd/query 4 questions
BenchmarkRoute/table=toy/method=dear/benchmark=b 1 100.0 accuracy-% 3.0 usd 1 questions
BenchmarkRoute/table=toy/method=router/knob=2/benchmark=a 3 80.0 accuracy-% 4.0 usd 3 questions
BenchmarkRoute/table=toy/method=router/knob=2/benchmark=avg 4 80.0 accuracy-% 1.5 usd/query 4 questions
BenchmarkRoute/table=toy/method=router/knob=2/benchmark=b 1 80.0 accuracy-% 2.0 usd 1 questions
`

func toyTables(t *testing.T) *Tables {
	t.Helper()
	tables, err := ReadTables(fstest.MapFS{"toy.txt": {Data: []byte(toy)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestFormulasByHand(t *testing.T) {
	tables := toyTables(t)
	for _, c := range []struct {
		formula  string
		want     float64
		up, down float64
	}{
		{"1 + 2 * 3 - 4 / 2", 5, 0, 0},
		{"-(1 - 3) * 2", 4, 0, 0},
		{"8 - 2 - 1", 5, 0, 0}, // from the left
		{"1e-3 + .5", 0.501, 0, 0},
		{"accuracy(toy, cheap, a)", 50, 0.05, 0.05},
		{"usd(toy, dear, b)", 3, 0.05, 0.05},
		{"usd(toy, dear, avg)", 2.5, 0.05, 0.05},
		{"cell(toy, cheap, a, usd)", 1, 0.05, 0.05},
		{"cell(toy, cheap, avg, usd/query)", 0.5, 0.05, 0.05},
		{"cell(toy, dear, b, accuracy-%)", 100, 0, 0.05}, // no more than 100
		{"accuracy( toy ,router/knob=2,avg )", 80, 0.05, 0.05},
		{"mean(toy, cheap)", 55, 0.05, 0.05}, // (3*50 + 70)/4
		{"mean(toy, cheap, b)", 70, 0.05, 0.05},
		{"total(toy, cheap)", 2, 0.1, 0.1},
		{"query(toy, dear)", 2.5, 0.025, 0.025},
		{"accuracy(toy, cheap, a) - accuracy(toy, cheap, a)", 0, 0, 0}, // the same cell moves with itself
		{"accuracy(toy, cheap, a) - accuracy(toy, cheap, b)", -20, 0.1, 0.1},
		{"100 * total(toy, cheap) / total(toy, dear)", 20, 100*2.1/9.9 - 20, 20 - 100*1.9/10.1},
		{"max(accuracy(toy, router/knob=2, a), accuracy(toy, router/knob=2, b))", 80, 0.05, 0.05}, // 80.0 and 80.0: both have to fall
		// The hull from (0.5, 55) to (2.5, 92.5) is at 73.75 for 1.5.
		{"gain(toy, router/knob=2, cheap, dear)", 6.25, -1, -1},
		{"gain(toy, router/knob=2, toy:cheap, toy:dear)", 6.25, -1, -1},
		{"retention(toy, cheap, dear)", 100 * 55 / 92.5, 100 * (55.05/92.45 - 55/92.5), 100 * (55/92.5 - 54.95/92.5375)}, // 100.0 is no more than 100,
		{"saving(toy, cheap, dear)", 80, 20 - 100*1.9/10.1, 100*2.1/9.9 - 20},
		{"lead(toy, router/knob=2)", -20, 0.1, 0.05}, // behind dear on b; 10 behind on a
		{"lead(toy, router/knob=2, dear)", 10, 0.1, 0.1},
		{"min(3, 1, 2) + max(3, 1, 2)", 4, 0, 0},
		{"max(accuracy(toy, cheap, a), accuracy(toy, cheap, b))", 70, 0.05, 0.05},
	} {
		t.Run(c.formula, func(t *testing.T) {
			f, err := Parse(c.formula)
			if err != nil {
				t.Fatal(err)
			}
			v, err := f.evaluate(tables)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(v.number-c.want) > 1e-9 {
				t.Errorf("%v, want %v", v.number, c.want)
			}
			if c.up >= 0 && (math.Abs(v.up-c.up) > 1e-9 || math.Abs(v.down-c.down) > 1e-9) {
				t.Errorf("+%v -%v, want +%v -%v", v.up, v.down, c.up, c.down)
			}
		})
	}
}

// A cost printed as 0.000 is not negative, so what it is part of cannot be 0.
func TestRoundingHidesNoCostBelowNothing(t *testing.T) {
	tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte("BenchmarkRoute/table=t/method=x/benchmark=p 1 0.000 usd\nBenchmarkRoute/table=t/method=x/benchmark=q 1 0.001 usd\n")}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse("0.001 / (usd(t, x, p) + usd(t, x, q))")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f.evaluate(tables); err != nil || math.Abs(v.number-1) > 1e-9 || math.Abs(v.up-1) > 1e-9 || math.Abs(v.down-0.5) > 1e-9 {
		t.Errorf("%+v (%v), want 1 +1 -0.5", v, err)
	}
}

func TestComparisonsHoldIfTheUnroundedNumbersCan(t *testing.T) {
	tables := toyTables(t)
	for formula, want := range map[string]bool{
		"accuracy(toy, cheap, a) < accuracy(toy, cheap, b)": true,
		"accuracy(toy, cheap, a) > accuracy(toy, cheap, b)": false,
		"accuracy(toy, router/knob=2, a) > 80.04":           true, // 80.0 may be 80.049
		"accuracy(toy, router/knob=2, a) > 80.05":           false,
		"accuracy(toy, router/knob=2, a) >= 80.05":          true,
		"accuracy(toy, router/knob=2, a) < 79.96":           true,
		"accuracy(toy, router/knob=2, a) <= 79.94":          false,
		"1 < 2 and 2 < 3": true,
		"1 < 2 and 3 < 2": false,
		"2 < 1 and 2 < 3": false,
		"usd(toy, cheap, a) >= usd(toy, cheap, b) and 1 > 0": true,
	} {
		f, err := Parse(formula)
		if err != nil {
			t.Fatal(err)
		}
		if !f.compares() {
			t.Errorf("%s: no comparison", formula)
		}
		if got, err := f.compare(tables); err != nil || got.holds != want {
			t.Errorf("%s: %v (%v), want %v", formula, got.holds, err, want)
		}
	}
}

// Cells a tenth apart can at most be equal, and that must not hang on what binary fractions make of them.
func TestCellsThatCanAtMostBeEqualAreLevelOnly(t *testing.T) {
	for k := range 1000 {
		text := fmt.Sprintf("BenchmarkRoute/table=t/method=x/benchmark=p 1 %d.%d accuracy-%%\nBenchmarkRoute/table=t/method=y/benchmark=p 1 %d.%d accuracy-%%\n", k/10, k%10, (k+1)/10, (k+1)%10)
		tables, err := ReadTables(fstest.MapFS{"t.txt": {Data: []byte(text)}}, ".")
		if err != nil {
			t.Fatal(err)
		}
		for sign, want := range map[string]bool{">": false, ">=": true} {
			for _, formula := range []string{"accuracy(t, x, p) " + sign + " accuracy(t, y, p)", "-accuracy(t, x, p) " + strings.Replace(sign, ">", "<", 1) + " -accuracy(t, y, p)"} {
				f, err := Parse(formula)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := f.compare(tables); err != nil || got.holds != want {
					t.Fatalf("%s: %v (%v)\n%s", formula, got.holds, err, text)
				}
			}
		}
	}
}

func TestAComparisonShowsItsNearestPart(t *testing.T) {
	tables := toyTables(t)
	for _, c := range []struct {
		formula, unit string
		number        float64
	}{
		{"accuracy(toy, dear, a) > 89 and usd(toy, dear, a) > 1", " points", 1}, // 21 times what rounding can do, and 121 times
		{"usd(toy, dear, a) > 1 and accuracy(toy, dear, a) > 89", " points", 1},
		{"accuracy(toy, dear, a) > 1 and max(usd(toy, dear, a), 1) < 8", " $", -1},
		{"total(toy, dear) / total(toy, cheap) > 4 and accuracy(toy, dear, a) > 1", "", 1},
		{"2 * mean(toy, cheap) - 10 > 99", " points", 1},
		{"accuracy(toy, dear, a) > 95 and 1 > 2", " points", -5}, // the first that is false
		{"2 > 1 and accuracy(toy, dear, a) > 1", " points", 89},  // no rounding can change the first
	} {
		f, err := Parse(c.formula)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.compare(tables); err != nil || math.Abs(got.at.number-c.number) > 1e-9 || got.unit != c.unit {
			t.Errorf("%s: %v%s (%v), want %v%s", c.formula, got.at.number, got.unit, err, c.number, c.unit)
		}
	}
}

func TestFaultsOfFormulasNameTheColumn(t *testing.T) {
	for formula, want := range map[string]string{
		"":                             "column 1: the formula ends where",
		"1 +":                          "column 4: the formula ends where",
		"1 2":                          `column 3: "2" is left over`,
		"(1":                           `column 3: want ')'`,
		"mean(toy":                     "column 6: mean( is never closed",
		"mean toy":                     "column 6: mean takes its arguments in parentheses",
		"meen(toy, cheap)":             `column 1: unknown function "meen"; known: accuracy, cell, gain, lead, max, mean, min, query, retention, saving, share, total, usd`,
		"1 + %":                        `column 5: '%' is no operand`,
		"accuracy(toy, cheap)":         "column 10: accuracy takes a table, a row and a benchmark; got 2 names",
		"cell(toy, cheap, a)":          "column 6: cell takes a table, a row, a benchmark and a unit; got 3 names",
		"mean(toy)":                    "column 6: mean takes a table, a row; got 1 names",
		"mean(toy, )":                  `column 6: mean: "" is no name`,
		"min(1, 2":                     "column 9: want ',' or ')' in min",
		"1..2":                         `column 1: "1..2" is no number`,
		"1 > 2 and 3":                  `column 12: what follows "and" is no comparison`,
		strings.Repeat("(", 200) + "1": "more than 100 levels of nesting",
	} {
		_, err := Parse(formula)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", formula, err, want)
		}
	}
}

func TestFormulasThatAskForWhatIsNotThere(t *testing.T) {
	tables := toyTables(t)
	for formula, want := range map[string]string{
		"lead(toy, cheap, dearer)":              `table toy has no row "dearer" to leave out; known: cheap, dear, router/knob=2`,
		"lead(toy, dear, cheap, router/knob=2)": `table toy has no other row than dear`,
		"cell(toy, cheap, a, apgr)":             `column 1: cell(toy, cheap, a, apgr): row cheap of table toy has no apgr on a`,
		"share(toy, cheap, easy, cheap)":        `no table of a paper has shares`,
		"mean(tou, cheap)":                      `column 1: mean(tou, cheap): unknown table "tou"; known: toy`,
		"1 + mean(toy, cheep)":                  `column 5: mean(toy, cheep): table toy has no row "cheep"; known: cheap, dear, router/knob=2`,
		"accuracy(toy, cheap, c)":               `row cheap of table toy has no benchmark "c"; known: a, avg, b`,
		"1 / (1 - 1)":                           "division by zero",
		"1 / (usd(toy,cheap,a)-1)":              "division by zero",
		"mean(toy, cheap, a, nope)":             `no benchmark "nope"`,
	} {
		f, err := Parse(formula)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.evaluate(tables); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", formula, err, want)
		}
	}
}

// Whatever the text: no panic, and a formula that parses evaluates to the same number or fault with blanks around it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1+2*-3", "gain(toy, router/knob=2, cheap, dear)", "mean(toy, cheap) > 3 and 1<2", "max(1,min(2,3))/0", "((", "1e-"} {
		f.Add(seed)
	}
	tables, err := ReadTables(fstest.MapFS{"toy.txt": {Data: []byte(toy)}}, ".")
	if err != nil {
		f.Fatal(err)
	}
	result := func(x *Formula) string {
		if x.compares() {
			decides, err := x.compare(tables)
			return fmt.Sprint(decides, err != nil)
		}
		v, err := x.evaluate(tables)
		return fmt.Sprint(v, err != nil)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "column ") {
				t.Errorf("%q: fault without a column: %v", text, err)
			}
			return
		}
		y, err := Parse(" " + text + "\n")
		if err != nil {
			t.Fatalf("%q parses, but not with blanks around it: %v", text, err)
		}
		if a, b := result(x), result(y); a != b {
			t.Errorf("%q: %s, with blanks %s", text, a, b)
		}
	})
}
