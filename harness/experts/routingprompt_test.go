package experts

// Prompts of routers are read as they were written.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whatever a problem says, candidates and problem are read as they were written.
func TestRoutingPromptsAreReadAsWritten(t *testing.T) {
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"<problem>\n", "\n</problem>", "{problem}", "\n{\"id\":\"x\"}\n", "Answer."}))
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(rt, "text"), "")
		prices := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 1, 5, rapid.ID[int]).Draw(rt, "prices")
		var shown, cheapestFirst []Candidate
		for _, p := range prices {
			shown = append(shown, Candidate{ID: fmt.Sprint("e", p), In: 1, Out: float64(p), Strength: rapid.SampledFrom([]string{"", "maths\n{\"id\": 3}", "<b>"}).Draw(rt, "strength")})
		}
		slices.Sort(prices)
		for _, p := range prices {
			cheapestFirst = append(cheapestFirst, shown[slices.IndexFunc(shown, func(c Candidate) bool { return c.Out == float64(p) })])
		}
		template, err := RoutingPrompt("Choose.", shown, "Answer.")
		if err != nil {
			rt.Fatal(err)
		}
		got, read, err := ReadRoutingPrompt(Prompt(template, text))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(cheapestFirst, got); diff != "" || read != text {
			rt.Errorf("read %q, wrote %q; %s", read, text, diff)
		}
	})
	for _, c := range [][2]string{{"Solve {problem}.", ""}, {"<problem>\n", ""}, {"", "</problem>"}} {
		if _, err := RoutingPrompt(c[0], nil, c[1]); err == nil {
			t.Errorf("task %q, form %q: no error", c[0], c[1])
		}
	}
}

// Whatever a problem says, a prompt that shows the choice is told from one that asks for it, and the choice is read as it was written.
func TestThePromptOfARationaleShowsTheChoice(t *testing.T) {
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"<problem>\n", "\n</problem>", "\n\nThe right choice is ", `{"model":"x"}`, "\n"}))
	rapid.Check(t, func(rt *rapid.T) {
		text, id := strings.Join(rapid.SliceOf(part).Draw(rt, "text"), ""), rapid.StringMatching(`[a-z"\\.-]{1,9}`).Draw(rt, "id")
		of := []Candidate{{ID: id, Out: 1}, {ID: "another", Out: 2}}
		asking, err := RoutingPrompt("Choose.", of, "Answer.")
		if err != nil {
			rt.Fatal(err)
		}
		showing, err := RationalePrompt("Explain.", of, id, "Write.")
		if err != nil {
			rt.Fatal(err)
		}
		if got, ok := ReadChosen(Prompt(showing, text)); !ok || got != id {
			rt.Errorf("read %q, %v, and wrote %q", got, ok, id)
		}
		if got, ok := ReadChosen(Prompt(asking, text)); ok {
			rt.Errorf("read %q where nothing was said", got)
		}
		if got, read, err := ReadRoutingPrompt(Prompt(showing, text)); err != nil || read != text || len(got) != 2 {
			rt.Errorf("read %q and %v (%v)", read, got, err)
		}
	})
}
