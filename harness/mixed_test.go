package harness

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// One of three experts is behind a server of its own, which happens to be the simulation: the outcomes are those of the
// simulated pool, that server is asked for this one alone, and what it said is stored as a server's.
func TestASimulatedPoolCanHaveAServedExpertBesideItsOwn(t *testing.T) {
	dir := t.TempDir()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Large, x.Outputs = 0, []spec.Output{{Kind: "table", File: "t"}}
	x.Methods = append(x.Methods[:2:2], spec.Method{Name: "logistic"})
	runIn(t, r, filepath.Join(dir, "sim"))
	_, address := overHTTP(t, r, dir)
	var others atomic.Int64
	served := r.Pools[0].Experts[1]
	serving(t, r, address, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/v1/chat/completions" {
				others.Add(1)
			}
			next.ServeHTTP(w, q)
		})
	})
	mixed := *r
	pool := r.Pools[0]
	pool.Experts = append([]spec.Expert(nil), pool.Experts...)
	pool.Experts[1].URL = "http://" + address + "/v1"
	mixed.Pools = []spec.Pool{pool}
	result := runIn(t, &mixed, filepath.Join(dir, "mixed"))
	// Tokens and grades are the same; only who said it differs.
	got, want := entries(t, filepath.Join(dir, "mixed")), entries(t, filepath.Join(dir, "sim"))
	for _, file := range []string{"outcomes.csv", "profile.csv"} {
		if a, b := contentsOf(got, file), contentsOf(want, file); !slices.Equal(a, b) || a == nil {
			t.Errorf("%s differs", file)
		}
	}
	if n := others.Load(); n != 8*2+8+40*5 {
		t.Errorf("%d requests to the server, want those for one expert", n)
	}
	if text := render(t, result); !strings.Contains(text, "Not simulated, but asked on servers: "+served.ID+".") {
		t.Errorf("the table does not say that %s is no simulation:\n%s", served.ID, text)
	}
	for name := range got {
		if strings.HasPrefix(name, "outcomes/") || strings.HasPrefix(name, "profile/") {
			if _, ok := want[name]; ok {
				t.Errorf("%s has the key of the simulation", name)
			}
		}
	}
}

// Another expert's answers come from a file, which has all but one that are scored: that question is scored for nobody.
func TestASimulatedPoolCanHaveAnExpertThatAnsweredElsewhere(t *testing.T) {
	dir := t.TempDir()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Large, x.Outputs = 0, []spec.Output{{Kind: "table", File: "t"}, {Kind: "routing-distribution", File: "d"}}
	x.Methods = append(x.Methods[:2:2], spec.Method{Name: "entrorouter"})
	runIn(t, r, filepath.Join(dir, "sim"))
	small := r.Pools[0].Experts[0]

	db, err := store.ReadRollouts(t.Context(), filepath.Join(dir, "sim", "rollouts.db"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[store.TextKey]string{}
	for name, data := range entries(t, filepath.Join(dir, "sim")) {
		for _, line := range strings.Split(string(data), "\n") {
			var of struct{ Problem routing.Problem }
			if strings.HasSuffix(name, "/problems.jsonl") && json.Unmarshal([]byte(line), &of) == nil {
				texts[store.KeyOfText(of.Problem.Text)] = of.Problem.Text
			}
		}
	}
	var file strings.Builder
	left := ""
	for g, err := range db.Graded(t.Context(), verify.Version) {
		if err != nil {
			t.Fatal(err)
		}
		if g.Scope.Model != small.Model || g.Scope.Split == routing.Routing {
			continue
		}
		text := texts[g.Key.Problem]
		if g.Scope.Split == routing.Test && left == "" {
			left = text
		}
		if g.Scope.Split == routing.Test && text == left {
			continue
		}
		split := ""
		if g.Scope.Split == routing.Strata {
			split = "strata"
		}
		usage := tokensOf(t, db, g)
		line, err := json.Marshal(map[string]any{"text": text, "run": g.Key.Run, "split": split, "response": g.Response, "finish": g.Finish, "tokens_in": usage.In, "tokens_out": usage.Out})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&file, "%s\n", line)
	}
	db.Close()
	toy.Put(t, filepath.Join(dir, "data", "small.jsonl"), file.String())
	mixed := *r
	pool := r.Pools[0]
	pool.Experts = append([]spec.Expert(nil), pool.Experts...)
	pool.Experts[0].Answers = &spec.File{Path: "small.jsonl", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(file.String())))}
	mixed.Pools = []spec.Pool{pool}
	if _, err := Run(t.Context(), &mixed, Options{Out: filepath.Join(dir, "mixed")}); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "small.jsonl; say in which folder with --data DIR") {
		t.Errorf("without a data folder: %v", err)
	}
	result, err := Run(t.Context(), &mixed, Options{Out: filepath.Join(dir, "mixed"), Data: filepath.Join(dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := contentsOf(entries(t, filepath.Join(dir, "mixed")), "profile.csv"), contentsOf(entries(t, filepath.Join(dir, "sim")), "profile.csv"); !slices.Equal(a, b) || len(a) != 4 {
		t.Error("profile.csv differs")
	}
	text := render(t, result)
	for _, want := range []string{"Not simulated, but answered elsewhere: " + small.ID + ".", "1 of 16 questions are scored for nobody, since not every model answered them: " + small.ID + " 1."} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if result.MayBeHad != 0 {
		t.Errorf("%d answers may be had by running again", result.MayBeHad)
	}
}

// tokensOf reads what an answer took.
func tokensOf(t *testing.T, db *store.Rollouts, g store.Graded) cost.Usage {
	t.Helper()
	for s, err := range db.Load(t.Context(), g.Scope, verify.Version) {
		if err != nil {
			t.Fatal(err)
		}
		if s.ID == g.ID {
			return cost.Usage{In: s.In, Out: s.Out}
		}
	}
	t.Fatal("an answer has no row")
	return cost.Usage{}
}
