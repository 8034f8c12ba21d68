package fault_test

// Plans as files: the documented one, every field, and what is wrong with others.

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts/fault"
)

// document is docs/serve.md, and the plan in it.
func document(t *testing.T) (text, plan string) {
	t.Helper()
	data, err := os.ReadFile("../../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, plan, ok := strings.Cut(string(data), "```yaml\n")
	if plan, _, _ = strings.Cut(plan, "```\n"); !ok {
		t.Fatal("docs/serve.md has no plan")
	}
	return string(data), plan
}

func TestTheDocumentedPlan(t *testing.T) {
	_, text := document(t)
	got, err := fault.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := fault.Plan{
		{Path: "/", Until: 30 * time.Second, Status: 503},
		{Requests: fault.Range{From: 500, To: 500}, Down: 13 * time.Second},
		{Every: 50, End: fault.Reset, After: fault.Events(3)},
		{Share: 0.05, Attempts: fault.First(1), Status: 429, Headers: map[string]string{"Retry-After": "2"}},
		{Every: 97, End: fault.Hang, After: fault.Events(1)},
		{Contains: "triangle", Pace: &fault.Pace{Bytes: 64, Every: 100 * time.Millisecond}},
		{Model: "Qwen3-1.7B", Every: 10, Set: map[string]string{"choices.0.finish_reason": `"abort"`, "usage.completion_tokens": "-1"}},
		{Every: 101, Drop: []string{"usage"}, Comments: true, CRLF: true, Split: 7},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fault.Point{})); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	text, _ := document(t)
	for _, of := range []reflect.Type{reflect.TypeFor[fault.Rule](), reflect.TypeFor[fault.Pace]()} {
		for i := range of.NumField() {
			if name := of.Field(i).Tag.Get("yaml"); name == "" || !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, name+":") {
				t.Errorf("docs/serve.md does not name %s", of.Field(i).Name)
			}
		}
	}
}

func TestPlansThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "there are no faults: list them under faults",
		"faults: [{status: 99}]":                 "fault 1: status 99: want 200 to 599",
		"faults: [{sttus: 500}]":                 `line 1: unknown key "sttus"`,
		"faults: [{share: 1.5}]":                 "fault 1: share 1.5: want 0 to 1",
		"faults: [{every: -1}]":                  "fault 1: every -1: want a number from 1 on",
		"faults: [{delay: -1s}]":                 "fault 1: a time is negative",
		"faults: [{since: 2s, until: 1s}]":       "fault 1: until 1s is not after since 2s",
		"faults: [{body: x}]":                    "fault 1: body has no status: say which",
		"faults: [{split: -1}]":                  "fault 1: padding and split are numbers of bytes",
		"faults: [{pace: {bytes: 1}}]":           "fault 1: pace: want bytes from 1 on and every so long",
		"faults: [{end: explode}]":               `fault 1: end "explode": want reset, close, early, hang, error`,
		"faults: [{after: 3 events}]":            "fault 1: after says where, and nothing says what: set end or down",
		"faults: [{end: early, after: nothing}]": "fault 1: end early, after nothing: a response that ends needs a head",
		"faults: [{end: error, after: nothing}]": "fault 1: end error, after nothing: a stream that fails has a head",
		"faults: [{end: reset, after: 3 days}]":  `line 1: after: "3 days": want nothing, head, or a number of events or bytes such as 3 events`,
		"faults: [{attempts: 3-2}]":              `line 1: "3-2": want numbers from 1 on, such as 2, 2-5 or 2-`,
		"faults: [{attempts: 0}]":                `line 1: "0": want numbers from 1 on, such as 2, 2-5 or 2-`,
		"faults: [{request: {seed: x}}]":         `fault 1: request: seed: "x" is not JSON; a text needs quotes of its own`,
		"faults: [{status: 500}, {status: 1}]":   "fault 2: status 1: want 200 to 599",
		"faults: [{share: .nan}]":                "fault 1: share NaN: want 0 to 1",
		"faults: [{drop: [choices.#.x]}]":        `fault 1: path "choices.#.x": want names and numbers with dots between, such as choices.0.finish_reason`,
		"faults: [{set: {'': 1}}]":               `fault 1: path "": want names and numbers`,
		"faults: 3":                              "line 1: `3` is of another type",
		"faultz: [{status: 500}]":                `line 1: unknown key "faultz"`,
	} {
		if _, err := fault.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestPlacesAndRanges(t *testing.T) {
	got, err := fault.Read(strings.NewReader("faults: [{end: reset, after: nothing}, {end: reset, after: head}, {end: reset, after: 1 byte, attempts: 2-5}, {requests: 2-}]"))
	want := fault.Plan{{End: fault.Reset, After: fault.Nothing()}, {End: fault.Reset}, {End: fault.Reset, After: fault.Bytes(1), Attempts: fault.Range{From: 2, To: 5}}, {Requests: fault.Range{From: 2}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fault.Point{})); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// Whatever a file says is a plan without fault, or an error in one line.
func FuzzPlans(f *testing.F) {
	f.Add("faults: [{every: 2, end: reset, after: 3 events}, {status: 429, headers: {Retry-After: \"2\"}}]")
	f.Add("faults: [{set: {a.b: NaN}, move: {x: y}, pace: {bytes: 1, every: 1s}}]")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := fault.Read(strings.NewReader(text))
		if err == nil && plan.Check() != nil {
			t.Errorf("%+v: %v", plan, plan.Check())
		}
	})
}
