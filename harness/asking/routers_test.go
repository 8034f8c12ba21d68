package asking

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// asks are n texts with two runs each.
func asks(n int) (all []experts.Ask) {
	for i := range n {
		for run := range 2 {
			all = append(all, experts.Ask{Text: fmt.Sprint("problem ", i), Run: run, Seed: seed.Derive(i, run)})
		}
	}
	return all
}

// A run that is interrupted keeps what was answered, and asks the rest only when it goes on.
func TestRoutersAreAskedNothingTwice(t *testing.T) {
	a, dir := &asker{}, t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	a.before = func(ctx context.Context, n int) int {
		if n == 8 {
			cancel()
			<-ctx.Done()
		}
		return 0
	}
	server := httptest.NewServer(a)
	defer server.Close()
	model := experts.Endpoint{Expert: routing.Expert{ID: "r", Model: "m", MaxTokens: 9}, URL: server.URL + "/v1"}
	sampling := spec.Sampling{TopP: 1, Prompt: "Who? {problem}"}
	e := asking(t, &asker{}, dir, 1)
	if _, err := (Servers{e}).Ask(ctx, model, sampling, asks(6)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	a.before = nil
	a.requests()
	ask := func(e *Asker, s spec.Sampling) []experts.Completion {
		t.Helper()
		twice := append(asks(6), asks(6)...) // the same question twice is one
		got, err := (Servers{e}).Ask(t.Context(), model, s, twice)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got[:12], got[12:]); diff != "" {
			t.Error(diff)
		}
		return got[:12]
	}
	first := ask(e, sampling)
	if n := a.requests(); n != 5 {
		t.Errorf("%d requests after an interruption at the 8th of 12, want 5", n)
	}
	for i, q := range asks(6) {
		s := uint64(q.Seed) & (1<<53 - 1)
		want := experts.Completion{Text: fmt.Sprintf("\\boxed{%d}", 7+s%2), Finish: routing.Stop}
		want.Usage.In, want.Usage.Out = 3, int64(10+s%100)
		if diff := cmp.Diff(want, first[i]); diff != "" {
			t.Errorf("answer %d: %s", i, diff)
		}
	}
	e.Close()
	e.plan.Close()
	other := asking(t, &asker{}, dir, 4)
	other.plan.Options.Offline = true
	if diff := cmp.Diff(first, ask(other, sampling)); diff != "" {
		t.Error(diff)
	}
	if n := a.requests(); n != 0 {
		t.Errorf("%d requests for what is stored", n)
	}
	warm := sampling
	warm.Temperature = 0.6
	if _, err := (Servers{other}).Ask(t.Context(), model, warm, asks(6)); !errors.Is(err, steps.ErrIncomplete) || !strings.Contains(err.Error(), "12 of 12 answers of m are not stored") {
		t.Errorf("offline, at another temperature: %v", err)
	}
	other.plan.Options.Offline = false
	ask(other, warm)
	if n := a.requests(); n != 12 {
		t.Errorf("%d requests at another temperature, want 12", n)
	}
}
