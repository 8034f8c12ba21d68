// Lines of outcomes as nobody would write them.

package recording

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// FuzzOutcomes: what is read is one answer or more of each candidate, within the bounds of tokens and never right without an answer.
func FuzzOutcomes(f *testing.F) {
	for _, line := range []string{
		`{"query_id":"q","model":"m","correct":[1,0],"output_tokens":[1,2],"finish":"stop","settings":{"t":0.5}}`,
		`{"query_id":"q","model":"m","pass_rate":0.67,"runs":3,"output_tokens":4}`,
		`{"query_id":"q","model":"m","run":-1,"correct":true,"output_tokens":4,"prompt_tokens":7}`,
		`{"query_id":"q","correct":{"m":1,"n":0.2},"output_tokens":{"m":"text"}}`,
		`{"query_id":"q","model":"m","correct":[[1]],"output_tokens":"é"}`,
		`{"query_id":"q","model":"m","pass_rate":1e300,"runs":1e9,"output_tokens":[]}`,
	} {
		f.Add(line, 0)
		f.Add(line, 1)
		f.Add(line, 2)
	}
	formats := []*spec.Format{nil, {Layout: "wide", CharsPerToken: 4, CorrectFrom: 0.5, OutputTokens: 9}, {Layout: "long", CharsPerToken: 0.01, Settings: []string{"finish"}}}
	f.Fuzz(func(t *testing.T, line string, format int) {
		l, err := newLineFormat(formats[uint(format)%3], outcomeKeys, false)
		if err != nil {
			t.Fatal(err)
		}
		_, out, err := l.outcomes([]byte(line))
		if err != nil {
			return
		}
		seen := map[Candidate]bool{}
		for _, o := range out {
			if len(o.runs) == 0 || len(o.runs) > mostRuns || o.numbered && len(o.runs) != 1 || seen[o.candidate] {
				t.Fatalf("%+v", o)
			}
			seen[o.candidate] = true
			for _, a := range o.runs {
				if a.Correct && a.NoAnswer || a.Out < 0 || a.Out > cost.MaxTokens || a.In < -1 || a.In > cost.MaxTokens {
					t.Fatalf("%+v", a)
				}
			}
		}
	})
}

// FuzzObject: what is read at once is what package json makes of it, and nothing else has a key twice or ends elsewhere.
func FuzzObject(f *testing.F) {
	for _, data := range []string{
		`{"a":1,"b":[1,{"c":"\\\"}"}],"d":"x"}`, `{"a":1,"\u0061":2}`, "{\"\xff\":1}", `{"\ud800":1 , "b" : null }`, `{"a":1e5 ,"b":-0.5}`,
		`{}`, `null`, `[1]`, `{"a":1}{`, `{"a":1} x`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := object(data)
		if wrong := whatIsWrong(data); (err == nil) != (wrong == nil) {
			t.Fatalf("%v at once, %v token by token", err, wrong)
		}
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(data, &want); err != nil || !maps.EqualFunc(got, want, slices.Equal[json.RawMessage]) {
			t.Fatalf("%q, package json has %q (%v)", got, want, err)
		}
	})
}
