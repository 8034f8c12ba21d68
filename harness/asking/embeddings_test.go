package asking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// embedder is a server whose vector of a text is its length and 1.
type embedder struct {
	mu     sync.Mutex
	texts  []string // that it was asked for
	most   int      // texts of a request
	keys   []string
	before func(n int) (status int) // called for the n-th request, from 1
	size   int                      // numbers of a vector; 0: two
	n      int
}

func (e *embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"data":[{"id":"v"}]}`)
		return
	}
	if r.URL.Path != "/v1/embeddings" {
		http.NotFound(w, r)
		return
	}
	var q struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
	if e.before != nil {
		if status := e.before(e.n); status != 0 {
			http.Error(w, "no", status)
			return
		}
	}
	e.texts, e.most, e.keys = append(e.texts, q.Input...), max(e.most, len(q.Input)), append(e.keys, r.Header.Get("Authorization"))
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var said struct {
		Data []vector `json:"data"`
	}
	for i, text := range q.Input {
		v := []float32{float32(len(text)), 1}
		if e.size > 0 {
			v = make([]float32, e.size)
		}
		said.Data = append(said.Data, vector{i, v})
	}
	slices.Reverse(said.Data)
	json.NewEncoder(w).Encode(said)
}

// problemsOf are n texts.
func problemsOf(n int) (texts []string) {
	for i := range n {
		texts = append(texts, "problem "+strings.Repeat("x", i))
	}
	return texts
}

func vectorsAt(url string) experts.Endpoint {
	return experts.Endpoint{Expert: routing.Expert{ID: "v", Model: "v"}, URL: url + "/v1", Embeds: true}
}

func wantVectors(t *testing.T, got [][]float32, texts []string) {
	t.Helper()
	if len(got) != len(texts) {
		t.Fatalf("%d vectors of %d texts", len(got), len(texts))
	}
	for i, text := range texts {
		if !slices.Equal(got[i], []float32{float32(len(text)), 1}) {
			t.Errorf("%q has %v", text, got[i])
		}
	}
}

func TestVectorsAreAskedForOnce(t *testing.T) {
	e, dir := &embedder{}, t.TempDir()
	s := httptest.NewServer(e)
	defer s.Close()
	texts := problemsOf(70)
	twice := append(slices.Clone(texts), texts...)
	a := engine(t, s.URL, dir, 4)
	for range 2 {
		got, err := a.Embed(t.Context(), vectorsAt(s.URL), twice)
		if err != nil {
			t.Fatal(err)
		}
		wantVectors(t, got, twice)
	}
	slices.Sort(e.texts)
	if diff := cmp.Diff(texts, e.texts); diff != "" || e.most != 32 || e.n != 3 {
		t.Errorf("%d requests of %d texts at most: %s", e.n, e.most, diff)
	}
	a.Close()
	if err := a.plan.Close(); err != nil {
		t.Fatal(err)
	}

	// Nor by another run, unless the weights are others.
	other := engine(t, s.URL, dir, 1)
	other.plan.Options.Offline = true
	got, err := other.Embed(t.Context(), vectorsAt(s.URL), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, got, texts)
	m := vectorsAt(s.URL)
	m.Revision = "2"
	if _, err := other.Embed(t.Context(), m, texts); !errors.Is(err, steps.ErrIncomplete) || !strings.Contains(err.Error(), "70 of 70 vectors of v are not stored and --offline forbids asking for them") {
		t.Errorf("offline: %v", err)
	}
	if e.n != 3 {
		t.Errorf("%d requests, want none beyond 3", e.n)
	}
}

// A run that fails keeps what was answered, and asks for the rest alone when it goes on.
func TestVectorsThatCameAreKept(t *testing.T) {
	e := &embedder{before: func(n int) int {
		if n == 2 {
			return http.StatusRequestEntityTooLarge
		}
		return 0
	}}
	s := httptest.NewServer(e)
	defer s.Close()
	a, texts := engine(t, s.URL, t.TempDir(), 1), problemsOf(60)
	if _, err := a.Embed(t.Context(), vectorsAt(s.URL), texts); !errors.Is(err, steps.ErrIncomplete) || !strings.Contains(err.Error(), "413") || !strings.Contains(err.Error(), "what was answered is kept") {
		t.Fatal(err)
	}
	e.before = nil
	got, err := a.Embed(t.Context(), vectorsAt(s.URL), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, got, texts)
	if len(e.texts) != 60 {
		t.Errorf("%d vectors were sent, want each of 60 once", len(e.texts))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Embed(ctx, vectorsAt(s.URL), []string{"another"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A budget that is spent on vectors leaves the run incomplete, and with it what came.
func TestABudgetEndsVectors(t *testing.T) {
	e := &embedder{}
	s := httptest.NewServer(e)
	defer s.Close()
	a := engine(t, s.URL, t.TempDir(), 1)
	a.plan.Options.Budget = &cost.Budget{Tokens: 1}
	if _, err := a.Embed(t.Context(), vectorsAt(s.URL), problemsOf(60)); !errors.Is(err, steps.ErrIncomplete) || !errors.Is(err, cost.ErrSpent) || !strings.Contains(err.Error(), "; all in all ") {
		t.Error(err)
	}
}

// What is of another size is another model's, and is not kept.
func TestVectorsOfAModelHaveOneSize(t *testing.T) {
	e := &embedder{}
	s := httptest.NewServer(e)
	defer s.Close()
	a := engine(t, s.URL, t.TempDir(), 1)
	if _, err := a.Embed(t.Context(), vectorsAt(s.URL), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	e.size = 3
	if _, err := a.Embed(t.Context(), vectorsAt(s.URL), []string{"b"}); err == nil || !strings.Contains(err.Error(), "vectors of 3 numbers for model v, and those before have 2") {
		t.Error(err)
	}
	e.size = 0
	got, err := a.Embed(t.Context(), vectorsAt(s.URL), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, got, []string{"a", "b"})
}

// The key of the experts' servers is not this server's.
func TestAServerOfVectorsIsSentItsOwnKeyAlone(t *testing.T) {
	t.Setenv("VECTOR_KEY", "its own")
	e := &embedder{}
	s := httptest.NewServer(e)
	defer s.Close()
	a := engine(t, s.URL, t.TempDir(), 1)
	a.plan.Options.Key = "of the experts"
	m := vectorsAt(s.URL)
	if _, err := a.Embed(t.Context(), m, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	m.KeyEnv = "VECTOR_KEY"
	if _, err := a.Embed(t.Context(), m, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"", "Bearer its own"}, e.keys); diff != "" {
		t.Error(diff)
	}
	m.KeyEnv = "NO_SUCH_KEY"
	if _, err := a.Embed(t.Context(), m, []string{"c"}); err == nil || !strings.Contains(err.Error(), "NO_SUCH_KEY") {
		t.Error(err)
	}
}
