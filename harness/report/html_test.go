package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func TestANoteIsSaidOnceInASection(t *testing.T) {
	const note, above = "Costs are made up.", "Notes above hold here too."
	table := func(name string) *Table {
		return &Table{
			Name: name, Caption: name, Head: "Method", Notes: []string{note, "Of " + name + "."},
			Groups: []Group{{Columns: []Column{{Title: "Acc."}}}},
			Rows:   []Row{{Label: "Random", Cells: []Cell{{Ours: &metrics.Value{Number: 1}}}}},
		}
	}
	write := func(h *HTML, name string) string {
		t.Helper()
		text, err := h.Table(table(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	h := &HTML{}
	for _, name := range []string{"before", "again"} { // no section was begun
		if text := write(h, name); !strings.Contains(text, note) || strings.Contains(text, above) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for range 2 {
		h.Section()
		if text := write(h, "first"); !strings.Contains(text, note) || strings.Contains(text, above) {
			t.Errorf("first: %s", text)
		}
		if text := write(h, "second"); strings.Contains(text, note) || !strings.Contains(text, above) || !strings.Contains(text, "Of second.") {
			t.Errorf("second: %s", text)
		}
	}
}

// A long note is written by the first section that has it; the others lead there, once each.
func TestALongNoteIsSaidOnceOnAPage(t *testing.T) {
	long := "Hull gain: " + strings.Repeat("accuracy above the best coin flip. ", 6)
	write := func(h *HTML, notes ...string) string {
		t.Helper()
		text, err := h.Table(&Table{
			Name: "x", Caption: "x", Head: "Method", Notes: notes, Groups: []Group{{Columns: []Column{{Title: "Acc."}}}},
			Rows: []Row{{Label: "Random", Cells: []Cell{{Ours: &metrics.Value{Number: 1}}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	h := &HTML{}
	h.Section()
	if text := write(h, long, "Short."); !strings.Contains(text, "<p class=note id=n1>"+long) {
		t.Errorf("first: %s", text)
	}
	h.Section()
	if text := write(h, long, "Short."); strings.Contains(text, long) || !strings.Contains(text, `<a href=#n1>Hull gain</a>: as there.`) || !strings.Contains(text, "Short.") {
		t.Errorf("second section: %s", text)
	}
	if text := write(h, long); !strings.Contains(text, "Notes above hold here too.") {
		t.Errorf("again: %s", text)
	}
}

// Columns of single benchmarks before an average can be folded, if a page has a rule for as many as are behind them: then headings say so, and
// else nothing does.
func TestLeadingBenchmarksCanBeFolded(t *testing.T) {
	for _, c := range []struct {
		benchmarks []string
		average    int // columns
		want       string
	}{
		{[]string{"a", "b"}, 2, "numbers kept2"},
		{[]string{"a"}, mostKept, fmt.Sprint("numbers kept", mostKept)},
		{[]string{"a"}, mostKept + 1, "numbers"},
		{nil, 2, "numbers"},
	} {
		table := &Table{Name: "x", Caption: "x", Head: "Method", Rows: []Row{{Label: "Random"}}}
		for _, b := range c.benchmarks {
			table.Groups = append(table.Groups, Group{Title: b, Benchmark: b, Columns: []Column{{Title: "Acc."}}})
		}
		table.Groups = append(table.Groups, Group{Title: "Avg.", Benchmark: metrics.Average, Columns: make([]Column, c.average)})
		table.Rows[0].Cells = make([]Cell, len(c.benchmarks)+c.average)
		text, err := (&HTML{}).Table(table)
		if err != nil {
			t.Fatal(err)
		}
		folds := c.want != "numbers"
		if !strings.Contains(string(text), `<table class="`+c.want+`"`) || strings.Contains(string(text), "every benchmark") != folds || strings.Count(string(text), `<th class="g"`) != map[bool]int{true: 2 * len(c.benchmarks)}[folds] {
			t.Errorf("%d benchmarks and %d columns of an average: want class %q\n%s", len(c.benchmarks), c.average, c.want, text)
		}
	}
}

// Whatever a long line is, it keeps its ends and some of its corners in their order, and passes those that it leaves out where nobody sees that.
// What is short, and a corner that sticks out, stay.
func TestLongLinesLoseCornersThatNobodySees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := []stride{{command: "M", to: [2]int{0, rapid.IntRange(-9, 9).Draw(t, "y")}}}
		for i := range rapid.IntRange(1, 60).Draw(t, "corners") {
			line = append(line, stride{command: "L", to: [2]int{10 * (i + 1), rapid.IntRange(-9, 9).Draw(t, "y")}})
		}
		shape, most := line, unseen
		if rapid.Bool().Draw(t, "closed") {
			shape, most = append(slices.Clone(line), stride{command: "Z"}), unseenEdged
		}
		kept := straightened(shape)
		if len(shape) > len(line) {
			kept = kept[:len(kept)-1]
		}
		if len(line) <= fewCorners {
			if !slices.Equal(line, kept) {
				t.Fatalf("%v became %v", line, kept)
			}
		}
		if kept[0] != line[0] || kept[len(kept)-1] != line[len(line)-1] {
			t.Fatalf("%v begins and ends otherwise than %v", kept, line)
		}
		next := 0
		for _, s := range line {
			if s == kept[next] {
				next++
				continue
			}
			from, to := kept[next-1].to, kept[next].to // steps of 10 to the right, so that the nearest point is not beyond the ends
			dx, dy := float64(to[0]-from[0]), float64(to[1]-from[1])
			if d := math.Abs(dx*float64(s.to[1]-from[1])-dy*float64(s.to[0]-from[0])) / math.Hypot(dx, dy); d > most+1e-9 {
				t.Fatalf("%v lies %v from the line between %v and %v", s.to, d, from, to)
			}
		}
		if next != len(kept) {
			t.Fatalf("%v has corners that %v has not", kept, line)
		}
	})
	var path strings.Builder
	path.WriteString("M0,0")
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&path, "L%d,%g", i, map[bool]float64{true: 5, false: 0.1 * float64(i%2)}[i == 7])
	}
	if got, err := relative(path.String() + "Z"); err != nil || got != "m0 0h60l10 50 10-50h120Z" {
		t.Errorf("%s (%v)", got, err)
	}
}

// By hand, and of any path: followed from point to point it leads where it did, to a tenth.
func TestAPathIsWrittenFromPointToPoint(t *testing.T) {
	for path, want := range map[string]string{
		"M1,2L1.5,1.5L0.9,3Z":                           "m10 20 5-5-6 15Z",
		"M0.04,0L5,0L5,7L5,6L6,6L7,6L7,6L8,7":           "m0 0h50v70-10h10 10 0l10 10",
		"M12.2,292.5A2.2,2.2 0 1 1 7.8,292.5ZM1,1":      "m122 2925a22 22 0 11-44 0Zm-112-2915",
		"M0,0A2.2,2.2 0 0 1 4,3":                        "m0 0a22 22 0 0140 30",
		"M5,3A1.5,1.5 0 1 1 2,3A1.5,1.5 0 1 1 5,3ZM1,1": "m50 30a15 15 0 110-1Zm-40-20", // a circle: one arc, to a tenth before where it began
		"M5,3A1.5,1.5 0 1 1 2,3A1.5,1.5 0 1 1 4,3Z":     "m50 30a15 15 0 11-30 0 15 15 0 1120 0Z",
		"": "",
	} {
		if got, err := relative(path); err != nil || got != want {
			t.Errorf("%s is %s, want %s, %v", path, got, want, err)
		}
	}
	for _, path := range []string{"M0,0Q1,1 2,2", "M1", "M1,1.2.3"} {
		if got, err := relative(path); err == nil {
			t.Errorf("%s is %s", path, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var path, want string
		number := func() (int, string) {
			n := rapid.IntRange(-5000, 5000).Draw(t, "tenths")
			return n, fmt.Sprint(float64(n) / 10)
		}
		var at, start [2]int
		for i := range rapid.IntRange(1, fewCorners).Draw(t, "steps") {
			command := "M"
			if i > 0 {
				command = rapid.SampledFrom([]string{"M", "L", "A", "Z", "across", "up"}).Draw(t, "command")
			}
			x, xText := number()
			y, yText := number()
			switch command {
			case "Z":
				path, want, at = path+"Z", want+"Z", start
				continue
			case "A":
				sweep := rapid.SampledFrom([]string{"0", "1"}).Draw(t, "sweep")
				path, want = path+"A2.5,2.5 0 1 "+sweep+" "+xText+","+yText, want+"A 25 25 0 1 "+sweep+" "+fmt.Sprint(x, y)+" "
			case "across":
				y, yText, command = at[1], fmt.Sprint(float64(at[1])/10), "L"
			case "up":
				x, xText, command = at[0], fmt.Sprint(float64(at[0])/10), "L"
			}
			if command != "A" {
				path, want = path+command+xText+","+yText, want+fmt.Sprint(command, " ", x, " ", y, " ")
			}
			if at = [2]int{x, y}; command == "M" {
				start = at
			}
		}
		steps, err := relative(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := absolute(steps); got != want {
			t.Fatalf("%s became %s, which is %s and not %s", path, steps, got, want)
		}
	})
}

// absolute follows a path of relative steps as the standard says: a command holds for all numbers that follow, after a move they are
// of lines, a number ends where a sign begins, and a flag is a digit.
func absolute(path string) string {
	var b strings.Builder
	var at, start [2]int
	var command byte
	for i := 0; i < len(path); {
		if c := path[i]; strings.IndexByte("mlahvZ", c) >= 0 {
			i++
			if command = c; c == 'Z' {
				b.WriteString("Z")
				at = start
			}
			continue
		}
		next := func(digits int) int {
			for i < len(path) && path[i] == ' ' {
				i++
			}
			end := i
			for end < len(path) && end < i+digits && (path[end] >= '0' && path[end] <= '9' || path[end] == '-' && end == i) {
				end++
			}
			n, err := strconv.Atoi(path[i:end])
			if err != nil {
				panic(err)
			}
			i = end
			return n
		}
		const number, flag = 1 << 10, 1
		letter := "L"
		switch command {
		case 'm':
			at[0] += next(number)
			at[1] += next(number)
			letter, start, command = "M", at, 'l'
		case 'a':
			letter = fmt.Sprint("A ", next(number), " ", next(number), " ", next(number), " ", next(flag), " ", next(flag))
			fallthrough
		case 'l':
			at[0] += next(number)
			at[1] += next(number)
		case 'h':
			at[0] += next(number)
		case 'v':
			at[1] += next(number)
		}
		fmt.Fprintf(&b, "%s %d %d ", letter, at[0], at[1])
	}
	return b.String()
}

func TestAStyleOfPathsIsInTenths(t *testing.T) {
	for style, want := range map[string]string{
		"fill:none;stroke:#222222;stroke-width:0.6":                       "fill:none;stroke:#222222;stroke-width:6",
		"stroke-width:1.25;stroke-dasharray:5,1.5,1.2;fill-opacity:0.125": "stroke-width:12.5;stroke-dasharray:50,15,12;fill-opacity:0.125",
	} {
		if got := inTenths(style); got != want {
			t.Errorf("%s is %s, want %s", style, got, want)
		}
	}
}
