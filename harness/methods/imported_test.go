package methods

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// importing builds a row that imports text as the file x.jsonl.
func importing(t *testing.T, kind, params, text string) (routing.Method, error) {
	t.Helper()
	s := setup(t, kind, params)
	s.Pool, s.Data = poolOf("small", "medium", "large"), t.TempDir()
	if err := os.WriteFile(filepath.Join(s.Data, "x.jsonl"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return New(s)
}

// wins says that the strongest wins where a planted problem is hard, the more surely the larger its number.
func wins(n int, queries []routing.Query) string {
	var b strings.Builder
	for i := range n {
		p := float64(i) / float64(10*n)
		if routingtest.Hard(i) {
			p += 0.9
		}
		fmt.Fprintf(&b, "{\"qid\": \"p%d\", \"p\": %v}\n", i, p)
	}
	for i, q := range queries {
		p := 0.01
		if routingtest.Hard(i) {
			p = 0.99
		}
		fmt.Fprintf(&b, "{\"p\": %v, \"qid\": %q}\n\n", p, q.Problem.ID)
	}
	return b.String()
}

// Imported scores decide in the place of a model: the share is that of the training problems, and every law of a
// threshold holds.
func TestRouteLLMUsesImportedScores(t *testing.T) {
	set, qs := routingtest.Planted(200), routingtest.Fresh(40)
	for _, share := range []float64{0, 0.114, 0.5, 1} {
		m, err := importing(t, "routellm", fmt.Sprintf("{scores: x.jsonl, share: %v}", share), wins(200, qs))
		if err != nil {
			t.Fatal(err)
		}
		r := fit(t, m, set, 1)
		strongest := 0.0
		for _, d := range routingtest.Route(t, r, queries(set.SFT)) {
			if d.Expert == 2 {
				strongest++
			}
		}
		if strongest != 200*share && !(share == 0.114 && strongest == 23) {
			t.Errorf("share %v: %v of 200 training problems go to the strongest", share, strongest)
		}
		for i, d := range routingtest.Route(t, r, qs) {
			if share == 0.5 && (d.Expert == 2) != routingtest.Hard(i) || d.Expert == 1 {
				t.Errorf("share %v: question %d goes to expert %d", share, i, d.Expert)
			}
		}
		f := r.(routing.Frontier)
		last := 41
		for _, knob := range f.Knobs() {
			d, err := routing.RouteAt(t.Context(), f, qs, knob)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, x := range d {
				n += x.Expert / 2
			}
			if n > last || knob == 0 && n != 40 || knob > 1 && n != 0 {
				t.Errorf("at %v, %d of 40 go to the strongest, at a lower knob %d", knob, n, last)
			}
			last = n
		}
	}
}

// Who the strongest is, imported scores do not say: here the middle expert is the most accurate, and where the cheapest is, the dearest is asked.
func TestImportedScoresAskTheStrongest(t *testing.T) {
	for _, c := range []struct {
		kappa []float64
		rule  string
		want  int
	}{{[]float64{0, 1, 0.5}, "accuracy", 1}, {[]float64{0, 1, 0.5}, "price", 2}, {[]float64{1, 0, 0}, "accuracy", 2}} {
		set := routingtest.Planted(40)
		for i := range set.SFT {
			set.SFT[i].Kappa, set.RL[i].Kappa = c.kappa, c.kappa
		}
		m, err := importing(t, "routellm", fmt.Sprintf("{scores: x.jsonl, strongest: %s}", c.rule), wins(40, nil))
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range routingtest.Route(t, fit(t, m, set, 1), queries(set.SFT)) {
			if d.Expert != 0 && d.Expert != c.want || (d.Expert == 0) == routingtest.Hard(i) {
				t.Errorf("pass rates %v, by %s: problem %d goes to expert %d; want %d where it is hard", c.kappa, c.rule, i, d.Expert, c.want)
			}
		}
	}
}

// Predictions may be compressed: what is pinned is the checksum of the lines.
func TestImportedPredictionsMayBeCompressed(t *testing.T) {
	lines := wins(20, nil)
	plain, err := importing(t, "routellm", "scores: x.jsonl", lines)
	if err != nil {
		t.Fatal(err)
	}
	s := setup(t, "routellm", "scores: x.jsonl")
	s.Pool, s.Data = poolOf("small", "medium", "large"), t.TempDir()
	write := func(data []byte) {
		if err := os.WriteFile(filepath.Join(s.Data, "x.jsonl.gz"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(lines)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(packed.Bytes())
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if m.(*routeLLM).ScoresSum != plain.(*routeLLM).ScoresSum {
		t.Error("compressed lines have another checksum")
	}
	write(packed.Bytes()[:packed.Len()/2])
	if _, err := New(s); err == nil || strings.Contains(err.Error(), "from ,") {
		t.Errorf("half of a file: %v", err)
	}
}

func TestFORCUsesImportedPredictions(t *testing.T) {
	set, qs := routingtest.Planted(100), routingtest.Fresh(20)
	var b strings.Builder
	line := func(id string, hard bool) {
		for m, p := range map[string]float64{"small": map[bool]float64{true: 0.1, false: 0.9}[hard], "medium": 0.3, "large": 0.95} {
			fmt.Fprintf(&b, "{\"qid\": %q, \"model\": %q, \"p\": %v}\n", id, m, p)
		}
	}
	for i := range 100 {
		line(fmt.Sprint("p", i), routingtest.Hard(i))
	}
	for i, q := range qs {
		line(q.Problem.ID, routingtest.Hard(i))
	}
	for params, want := range map[string][2]int{ // expert of easy and of hard problems
		"pihat: x.jsonl": {0, 2},
		"{pihat: x.jsonl, strategy: performance}":                         {2, 2},
		"{pihat: x.jsonl, strategy: cost, share: 0.75}":                   {0, 2},
		"{pihat: x.jsonl, threshold: 0.99, all_wrong: cheapest}":          {0, 0},
		"{pihat: x.jsonl, threshold: 0.2}":                                {0, 1},
		"{pihat: x.jsonl, strategy: cost, share: 0.95, cost: per_bucket}": {0, 2},
		"{pihat: x.jsonl, strategy: greedy, share: 1}":                    {2, 2},
	} {
		m, err := importing(t, "forc", params, b.String())
		if err != nil {
			t.Fatal(err)
		}
		r := fit(t, m, set, 1)
		for i, d := range routingtest.Route(t, r, qs) {
			if hard := routingtest.Hard(i); !hard && d.Expert != want[0] || hard && d.Expert != want[1] {
				t.Errorf("%s: question %d goes to expert %d", params, i, d.Expert)
			}
		}
		// By bins of .1: 50 of .1 against 0, 100 of .3 against .6, 50 of .9 and 100 of .95 against 1.
		if got := r.(Reporter).Report()[0].Number; got != 15 {
			t.Errorf("%s: calibration error %v, want (5 + 30 + 10)/300", params, got)
		}
	}
}

func TestImportedFilesAreCheckedAndPartOfTheRecipe(t *testing.T) {
	good := `{"qid": "p0", "p": 0.5}`
	recipes := map[string]string{}
	for name, c := range map[string]struct{ params, text string }{
		"one":      {"scores: x.jsonl", good},
		"same":     {"scores: x.jsonl", good},
		"another":  {"scores: x.jsonl", `{"qid": "p0", "p": 0.6}`},
		"verified": {"{scores: x.jsonl, scores_sha256: 5ba1b1b2d7ba54c4adec07a7cce92dd7d19bac2a2eb1d77a1ea8e3c0dd0a0ed4}", good},
	} {
		m, err := importing(t, "routellm", c.params, c.text)
		if name == "verified" {
			if err == nil || !strings.Contains(err.Error(), "it has changed") {
				t.Errorf("a wrong checksum: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := spec.Canonical(m)
		if err != nil {
			t.Fatal(err)
		}
		recipes[name] = string(text)
	}
	if recipes["one"] != recipes["same"] || recipes["one"] == recipes["another"] {
		t.Errorf("recipes %v", recipes)
	}
	_, sum, _ := strings.Cut(recipes["one"], `"scores_sha256":"`)
	if _, err := importing(t, "routellm", "{scores: x.jsonl, scores_sha256: "+sum[:64]+"}", good); err != nil {
		t.Errorf("the right checksum: %v", err)
	}

	for want, c := range map[string]struct{ kind, params, text string }{
		`x.jsonl:2: qid "p0" is empty or there already`:                 {"routellm", "scores: x.jsonl", good + "\n" + good},
		`x.jsonl:1: want "p" from 0 to 1`:                               {"routellm", "scores: x.jsonl", `{"qid": "p0", "p": 1.5}`},
		`want "p" from 0 to 1`:                                          {"routellm", "scores: x.jsonl", `{"qid": "p0"}`},
		`unknown field "prob"`:                                          {"routellm", "scores: x.jsonl", `{"qid": "p0", "prob": 1}`},
		`more than one JSON value`:                                      {"routellm", "scores: x.jsonl", good + good},
		`want a path below the data folder, got "../x"`:                 {"routellm", "scores: ../x", good},
		`y.jsonl: no such file`:                                         {"routellm", "scores: y.jsonl", good},
		`want pair, got "ladder"`:                                       {"routellm", "{scores: x.jsonl, extension: ladder}", good},
		`set without scores; name the file`:                             {"routellm", "scores_sha256: abc", good},
		`expert "huge" is not in the pool; known: [small medium large]`: {"forc", "pihat: x.jsonl", `{"qid": "p0", "model": "huge", "p": 1}`},
		`qid "p0" of "small" is empty or there already`:                 {"forc", "pihat: x.jsonl", "{\"qid\": \"p0\", \"model\": \"small\", \"p\": 1}\n{\"qid\": \"p0\", \"model\": \"small\", \"p\": 1}"},
		`want mean or per_bucket`:                                       {"forc", "{pihat: x.jsonl, cost: predicted}", ""},
		`set without pihat; name the file`:                              {"forc", "pihat_sha256: abc", ""},
	} {
		if _, err := importing(t, c.kind, c.params, c.text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of %q: %v, want %q", c.kind, c.text, err, want)
		}
	}
	s := setup(t, "routellm", "scores: x.jsonl")
	if _, err := New(s); err != nil {
		t.Errorf("a spec that is only checked: %v", err)
	}
	s.Pool = poolOf("small", "large")
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "--data DIR") {
		t.Errorf("without a data folder: %v", err)
	}
}

func TestAProblemWithoutAPredictionIsAnError(t *testing.T) {
	set := routingtest.Planted(4)
	m, err := importing(t, "routellm", "scores: x.jsonl", `{"qid": "p0", "p": 0.5}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fit(t.Context(), set, routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), `on problem "p`) || !strings.Contains(err.Error(), "which has 1 problems") {
		t.Errorf("a training problem: %v", err)
	}
	m, err = importing(t, "routellm", "scores: x.jsonl", wins(4, nil))
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Fit(t.Context(), set, routingtest.Work(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Route(t.Context(), routingtest.Fresh(1)); err == nil || !strings.Contains(err.Error(), `"p100000"`) {
		t.Errorf("a test problem: %v", err)
	}
	m, err = importing(t, "forc", "pihat: x.jsonl", `{"qid": "p0", "model": "small", "p": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	set.SFT, set.RL = set.SFT[:1], set.RL[:1]
	if _, err := m.Fit(t.Context(), set, routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "not one for every expert") {
		t.Errorf("an expert: %v", err)
	}
}
