package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Figures say how long a step takes until the store knows: of its kind if it has one, of all kinds otherwise.
func TestWhatStepsTookSaysWhatStepsTake(t *testing.T) {
	of := map[string]figures{"fit slow": {seconds: 10, secondsEach: 1, bytes: 100, bytesEach: 2}, "fit quick": {secondsEach: 0.01, bytesEach: 1}}
	empty := pace{figures: of, here: map[string]*tally{}}
	stored := pace{figures: of, here: map[string]*tally{}}
	stored.note(Took{Kind: "fit slow", Amount: 10, Training: 5, Seconds: 75, Bytes: 240})    // figures: 25 s, 120 bytes
	stored.note(Took{Kind: "fit unheard-of", Amount: 4, Training: 1, Seconds: 8, Bytes: 40}) // none
	little := pace{figures: of, here: map[string]*tally{}}
	little.note(Took{Kind: "fit quick", Amount: 100, Seconds: 0.1, Bytes: 200}) // figures: 1 s, 100 bytes
	for _, c := range []struct {
		name             string
		of               pace
		kind             string
		amount, training float64
		unpaced          bool
		want             Estimate
	}{
		{"by figures", empty, "fit slow", 100, 7, false, Estimate{117, 300, true}},
		{"nobody knows", empty, "fit unheard-of", 100, 0, false, Estimate{}},
		{"XLA's speed is not that of the figures", empty, "fit slow", 100, 7, true, Estimate{}},
		{"a machine of a third of the speed", stored, "fit slow", 100, 7, false, Estimate{351, 600, true}},
		{"and another kind on it", stored, "fit quick", 100, 0, false, Estimate{3, 200, true}},
		{"a second says nothing of a machine", little, "fit quick", 1000, 0, false, Estimate{10, 2000, true}},
		{"a kind that the store alone knows", stored, "fit unheard-of", 6, 3, false, Estimate{12, 60, true}},
		{"XLA, as it was here", stored, "fit slow", 20, 0, true, Estimate{150, 480, true}},
	} {
		got := c.of.of(c.kind, c.amount, c.training, c.unpaced)
		if math.Abs(got.Seconds-c.want.Seconds) > 1e-9 || math.Abs(got.Bytes-c.want.Bytes) > 1e-9 || got.Known != c.want.Known {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestTheFiguresCanBeRead(t *testing.T) {
	all, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{answerKind, "problems", "profile", "outcomes", "expected", "fit entrorouter", "match", "measure", "curves", "calibration", "recording", "crossfit entrorouter", "measure-folds", "collapse"} {
		if _, ok := all[kind]; !ok {
			t.Errorf("no figures of %s", kind)
		}
	}
}

// TOOK=STORE:SCALE,... go test ./harness/explain -run TestFiguresOfStores writes took.txt anew, by what the steps of stores took; SCALE is how many
// of these seconds they take on two cores with nothing else to do.
func TestFiguresOfStores(t *testing.T) {
	if os.Getenv("TOOK") == "" {
		t.Skip("TOOK names no stores")
	}
	const file = "took.txt"
	points := map[string]map[float64][]Took{} // by kind and amount
	for _, from := range strings.Split(os.Getenv("TOOK"), ",") {
		store, scaled, _ := strings.Cut(from, ":")
		scale, err := strconv.ParseFloat(scaled, 64)
		if err != nil {
			t.Fatal(err)
		}
		notes, err := filepath.Glob(filepath.Join(store, "stages", "*", "*", "env.json"))
		if err != nil || notes == nil {
			t.Fatalf("%s has no steps: %v", store, err)
		}
		for _, name := range notes {
			var made struct {
				Took Took `json:"took"`
			}
			data, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(data, &made)
			}
			if err != nil {
				t.Fatal(err)
			}
			made.Took.Seconds *= scale
			if points[made.Took.Kind] == nil {
				points[made.Took.Kind] = map[float64][]Took{}
			}
			points[made.Took.Kind][made.Took.Amount] = append(points[made.Took.Kind][made.Took.Amount], made.Took)
		}
	}
	all, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	for kind, of := range points {
		amounts := slices.Sorted(maps.Keys(of))
		line := func(value func(Took) float64) (always, each float64) {
			mean := func(amount float64) (sum float64) {
				for _, took := range of[amount] {
					sum += max(0, value(took)) / float64(len(of[amount]))
				}
				return sum
			}
			least, most := amounts[0], amounts[len(amounts)-1]
			if least == most {
				if most == 0 {
					return mean(most), 0
				}
				return 0, mean(most) / most
			}
			each = max(0, (mean(most)-mean(least))/(most-least))
			return max(0, mean(least)-each*least), each
		}
		var f figures
		f.seconds, f.secondsEach = line(func(took Took) float64 { return took.Seconds - took.Training })
		f.bytes, f.bytesEach = line(func(took Took) float64 { return took.Bytes })
		all[kind] = f
	}
	var b strings.Builder
	for line := range strings.Lines(measuredText) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	kinds := slices.Sorted(maps.Keys(all))
	for _, kind := range kinds {
		f := all[kind]
		fmt.Fprintf(&b, "%-24s %9.2g %9.2g %9.2g %9.2g\n", kind, f.seconds, f.secondsEach, f.bytes, f.bytesEach)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
