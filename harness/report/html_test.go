package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func TestANoteIsSaidOnceInASection(t *testing.T) {
	const note, above = "Costs are made up.", "Notes of the tables above"
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

// By hand, and of any path: followed from point to point it leads where it did, to a tenth.
func TestAPathIsWrittenFromPointToPoint(t *testing.T) {
	for path, want := range map[string]string{
		"M1,2L1.5,1.5L0.9,3Z":                      "M1 2l.5-.5-.6 1.5Z",
		"M12.2,292.5A2.2,2.2 0 1 1 7.8,292.5ZM1,1": "M12.2 292.5a2.2 2.2 0 1 1 -4.4 0Zm-11.2-291.5",
		"M0,0Q1,1 2,2":                             "M0,0Q1,1 2,2",
		"":                                         "",
	} {
		if got := relative(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var path, want string
		number := func() string {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(rapid.IntRange(-5000, 5000).Draw(t, "tenths"))/10), ".0")
		}
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			command := "M"
			if i > 0 {
				command = rapid.SampledFrom([]string{"M", "L", "A", "Z"}).Draw(t, "command")
			}
			switch x, y := number(), number(); command {
			case "Z":
				path, want = path+"Z", want+"Z"
			case "A":
				path, want = path+"A2.5,2.5 0 1 0 "+x+","+y, want+"A 2.5 2.5 0 1 0 "+x+" "+y+" "
			default:
				path, want = path+command+x+","+y, want+command+" "+x+" "+y+" "
			}
		}
		if got := absolute(relative(path)); strings.ReplaceAll(got, "-0 ", "0 ") != strings.ReplaceAll(want, "-0 ", "0 ") {
			t.Fatalf("%s became %s, which is %s", path, relative(path), got)
		}
	})
}

// absolute follows a path of relative steps as the standard says: a command holds for all numbers that follow, and a number ends where
// a sign or a second point begins.
func absolute(path string) string {
	var b strings.Builder
	var at, start [2]float64
	var command byte
	var numbers []float64
	write := func(x float64) string { return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) + " " }
	for i := 0; i < len(path); {
		switch c := path[i]; {
		case c == ' ':
			i++
			continue
		case c == 'Z':
			b.WriteString("Z")
			at = start
			i++
			continue
		case strings.IndexByte("Mmla", c) >= 0:
			command = c
			i++
			continue
		}
		end, points := i, 0
		for ; end < len(path) && (path[end] >= '0' && path[end] <= '9' || path[end] == '-' && end == i || path[end] == '.' && points == 0); end++ {
			if path[end] == '.' {
				points++
			}
		}
		x, _ := strconv.ParseFloat(path[i:end], 64)
		i = max(end, i+1)
		numbers = append(numbers, x)
		if len(numbers) < map[byte]int{'M': 2, 'm': 2, 'l': 2, 'a': 7}[command] {
			continue
		}
		n := len(numbers)
		if command == 'M' {
			at = [2]float64{}
		}
		at = [2]float64{at[0] + numbers[n-2], at[1] + numbers[n-1]}
		b.WriteString(strings.ToUpper(string(command)) + " ")
		for _, x := range append(numbers[:n-2], at[:]...) {
			b.WriteString(write(x))
		}
		if command == 'M' || command == 'm' {
			start = at
		}
		numbers = numbers[:0]
	}
	return b.String()
}
