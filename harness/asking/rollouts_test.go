package asking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asker is an expert behind HTTP that answers "7" to even seeds and "8" to odd ones.
type asker struct {
	mu     sync.Mutex
	asked  int
	before func(ctx context.Context, n int) (status int) // called for the n-th request, from 1
}

func (a *asker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		return
	}
	var q struct{ Seed uint64 }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.asked++
	n := a.asked
	a.mu.Unlock()
	if a.before != nil {
		if status := a.before(r.Context(), n); status != 0 {
			http.Error(w, "no", status)
			return
		}
	}
	fmt.Fprintf(w, `{"choices":[{"message":{"content":"\\boxed{%d}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`, 7+q.Seed%2, 10+q.Seed%100)
}

// requests returns how many there were since the last call.
func (a *asker) requests() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.asked
	a.asked = 0
	return n
}

var one = routing.Expert{ID: "one", Model: "m", MaxTokens: 500}

// asking returns an engine that asks a over HTTP and stores in dir.
func asking(t *testing.T, a *asker, dir string, concurrency int) *Asker {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return engine(t, server.URL, dir, concurrency)
}

// engine returns an engine that asks the server at a URL and stores in dir.
func engine(t *testing.T, url, dir string, concurrency int) *Asker {
	t.Helper()
	r := &spec.Resolved{}
	r.Experiment.Seed = 1
	r.Experiment.Profile.Concurrency = concurrency
	pool := &steps.Pool{Pool: spec.Pool{Kind: "http", Experts: []spec.Expert{{ID: "one", Model: "m", MaxTokens: 500, URL: url + "/v1"}}}, Experts: []routing.Expert{one}}
	plan, err := steps.Open(r, steps.Options{Out: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plan.Close() })
	e, err := Open(t.Context(), plan, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// sevens are n problems whose answer is 7.
func sevens(n int) []routing.Problem {
	var ps []routing.Problem
	for i := range n {
		ps = append(ps, routing.Problem{ID: fmt.Sprint("p", i), Text: fmt.Sprintf("What is %d - %d?", i+7, i), Gold: []string{"7"}})
	}
	return ps
}

// want is what a says to problems, graded against gold.
func want(problems []routing.Problem, runs int, split routing.Split) [][]Graded {
	out := make([][]Graded, len(problems))
	for p, problem := range problems {
		for run := range runs {
			s := uint64(seed.Seed(1).Derive("rollout", string(split), problem.Text, "one", run)) & (1<<53 - 1)
			g := Graded{Bucket: routing.Wrong}
			if fmt.Sprint(7+s%2) == problem.Gold[0] {
				g.Bucket = routing.Correct
			}
			g.Usage.In, g.Usage.Out = 3, int64(10+s%100)
			out[p] = append(out[p], g)
		}
	}
	return out
}

func stored(t *testing.T, e *Asker) int {
	t.Helper()
	n := 0
	for _, err := range e.rollouts.Load(t.Context(), e.Scope(one, routing.Train), verify.Version) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestRolloutsAreTheSameWhateverTheConcurrencyAndAskedOnce(t *testing.T) {
	problems := sevens(40)
	for _, concurrency := range []int{1, 7, 64} {
		a := &asker{}
		e := asking(t, a, t.TempDir(), concurrency)
		for _, round := range []struct {
			name     string
			problems []routing.Problem
			runs     int
			requests int
		}{
			{"nothing is stored", problems[:30], 3, 90},
			{"all is stored", problems[:30], 3, 0},
			{"other problems and another run are asked for, and they alone", problems, 4, 70},
			{"fewer runs are part of more", problems, 2, 0},
		} {
			if concurrency == 7 {
				e.read = nil // as another process would find it
			}
			got, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: round.problems, Runs: round.runs})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want(round.problems, round.runs, routing.Train), got); diff != "" {
				t.Errorf("concurrency %d, %s: %s", concurrency, round.name, diff)
			}
			if n := a.requests(); n != round.requests {
				t.Errorf("concurrency %d, %s: %d requests, want %d", concurrency, round.name, n, round.requests)
			}
		}
		// Training rollouts and evaluation runs are never mixed.
		got, err := e.Ask(t.Context(), one, Block{Split: routing.Test, Problems: problems[:2], Runs: 2})
		if err != nil || a.requests() != 4 {
			t.Errorf("evaluation runs: %v, want 4 requests", err)
		}
		if diff := cmp.Diff(want(problems[:2], 2, routing.Test), got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProblemsThatShareATextShareRolloutsAndAreGradedApart(t *testing.T) {
	a := &asker{}
	e := asking(t, a, t.TempDir(), 4)
	problems := sevens(3)
	twin := problems[1]
	twin.ID, twin.Gold = "twin", []string{"8"}
	problems = append(problems, twin)
	for round, requests := range []int{15, 0} {
		got, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: problems, Runs: 5})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want(problems, 5, routing.Train), got); diff != "" {
			t.Errorf("round %d: %s", round, diff)
		}
		if n := a.requests(); n != requests {
			t.Errorf("round %d: %d requests, want %d", round, n, requests)
		}
	}
}

func TestStoredRolloutsAreGradedAgainWithoutAsking(t *testing.T) {
	problems := sevens(20)
	changed := sevens(20)
	for i := range changed {
		changed[i].Gold = []string{"8"}
	}
	for _, c := range []struct {
		name     string
		problems []routing.Problem
		verifier string
	}{
		{"another verifier graded them", problems, "an older one"},
		{"this verifier graded them against another answer", changed, verify.Version},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &asker{}
			e := asking(t, a, t.TempDir(), 4)
			scope := e.Scope(one, routing.Train)
			var rows []store.Row
			for _, p := range c.problems {
				for run := range 3 {
					s := uint64(seed.Seed(1).Derive("rollout", "train", p.Text, "one", run)) & (1<<53 - 1)
					rows = append(rows, store.Row{Text: p.Text, Run: run, Seed: s, Response: fmt.Sprintf("\\boxed{%d}", 7+s%2), Finish: routing.Stop, In: 3, Out: int64(10 + s%100)})
				}
			}
			for _, row := range rows { // all wrong, which half of them are not
				e.rollouts.Keep(scope, row, c.verifier, store.Verdict{Gold: store.GoldKey(problems[0]), Bucket: routing.NoAnswer}, nil)
			}
			if err := e.rollouts.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			e.plan.Options.Offline = true
			for range 2 { // the second time the new grades are stored
				e.read = nil
				got, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: c.problems, Runs: 3})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want(c.problems, 3, routing.Train), got); diff != "" {
					t.Error(diff)
				}
			}
			for s, err := range e.rollouts.Load(t.Context(), scope, verify.Version) {
				if err != nil || s.Verdict.Bucket == routing.NoAnswer || s.Verdict.Gold != store.GoldKey(c.problems[0]) {
					t.Fatalf("%+v is stored (%v)", s.Verdict, err)
				}
			}
			if n := a.requests(); n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestOfflineNobodyIsAsked(t *testing.T) {
	a := &asker{}
	e := asking(t, a, t.TempDir(), 4)
	if _, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: sevens(3), Runs: 2}); err != nil {
		t.Fatal(err)
	}
	a.requests()
	e.plan.Options.Offline = true
	_, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: sevens(5), Runs: 2})
	if !errors.Is(err, steps.ErrIncomplete) || err.Error() != "incomplete: 4 of 10 rollouts of one are not stored and --offline forbids asking for them" {
		t.Errorf("error %v", err)
	}
	if n := a.requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Requests come one by one, so that by the n-th all before it were answered.
func TestWhatWasAnsweredIsKeptWhenTheRunIsInterrupted(t *testing.T) {
	problems := sevens(30)
	ctx, cancel := context.WithCancel(t.Context())
	a := &asker{before: func(ctx context.Context, n int) int {
		if n == 21 {
			cancel()
			<-ctx.Done() // the client hangs up
		}
		return 0
	}}
	e := asking(t, a, t.TempDir(), 1)
	if _, err := e.Ask(ctx, one, Block{Split: routing.Train, Problems: problems, Runs: 2}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	if n := stored(t, e); n != 20 {
		t.Errorf("%d rollouts are stored, want 20", n)
	}
	a.requests()
	a.before, e.read = nil, nil
	got, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: problems, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(problems, 2, routing.Train), got); diff != "" {
		t.Error(diff)
	}
	if n := a.requests(); n != 40 {
		t.Errorf("%d requests after it, want 40", n)
	}
}

// One prompt is refused and one server error is for good: everything else is answered, and asked for once.
func TestAFailedRequestEndsNoOther(t *testing.T) {
	problems, out := sevens(30), t.TempDir()
	a := &asker{before: func(_ context.Context, n int) int {
		if n == 21 {
			return http.StatusBadRequest
		}
		return 0
	}}
	e := asking(t, a, out, 1)
	block := Block{Experts: []routing.Expert{one}, Split: routing.Train, Problems: problems, Runs: 2}
	wanted := want(problems, 2, routing.Train)
	wanted[10][0] = Graded{Bucket: routing.Unanswered} // the 21st
	for _, again := range []bool{false, true} {        // what was refused would be refused again
		e.plan.Options.Again = again
		got, err := e.Ask(t.Context(), one, block)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Error(diff)
		}
		if n := a.requests(); n != map[bool]int{false: 60, true: 0}[again] {
			t.Errorf("%d requests", n)
		}
		e.read = nil
		if missing, err := e.Missing(t.Context(), block); err != nil || missing != 0 {
			t.Errorf("%d are missing (%v): what was refused is not asked for again", missing, err)
		}
	}
	digest, err := e.Unanswered(t.Context(), block, false)
	if err != nil || digest == "" {
		t.Errorf("digest %q, %v", digest, err)
	}
	other := block
	other.Problems = problems[:10]
	if digest, err := e.Unanswered(t.Context(), other, true); err != nil || digest != "" {
		t.Errorf("of the problems that all were answered the digest is %q, %v", digest, err)
	}
}

// A failure that asking again may mend counts as missing where that is to be tried, and is replaced by the answer.
func TestWhatMaySucceedIsAskedForAgain(t *testing.T) {
	a := &asker{}
	e := asking(t, a, t.TempDir(), 2)
	problems := sevens(3)
	block := Block{Experts: []routing.Expert{one}, Split: routing.Train, Problems: problems, Runs: 1}
	key := e.questions(one, block)[1].key
	e.rollouts.Fail(e.Scope(one, routing.Train), store.RolloutFailure{Text: problems[1].Text, Run: 0, Seed: key.Seed, Class: "unavailable", Error: "no", Again: true})
	if err := e.rollouts.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := e.Ask(t.Context(), one, block)
	if err != nil || got[1][0].Bucket != routing.Unanswered || a.requests() != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	hoped, err := e.Unanswered(t.Context(), block, false)
	all, err2 := e.Unanswered(t.Context(), block, true)
	if hoped != "" || all == "" || err != nil || err2 != nil {
		t.Errorf("digests %q and %q (%v, %v)", hoped, all, err, err2)
	}
	// Two parts of a training may read the same problems: what both want is one answer.
	if n, err := e.MayBeHad(t.Context(), block, Block{Experts: block.Experts, Split: block.Split, Problems: problems[1:], Runs: 1}); n != 1 || err != nil {
		t.Errorf("%d answers may be had, want 1 (%v)", n, err)
	}
	e.plan.Options.Again, e.read = true, nil
	got, err = e.Ask(t.Context(), one, block)
	if err != nil || a.requests() != 1 {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(problems, 1, routing.Train), got); diff != "" {
		t.Error(diff)
	}
	e.read = nil
	if all, err := e.Unanswered(t.Context(), block, true); all != "" || err != nil {
		t.Errorf("digest %q, %v", all, err)
	}
}

func TestABudgetStopsTheRunAndTheNextGoesOn(t *testing.T) {
	problems, priced := sevens(40), one
	priced.Price = cost.Price{In: 1e6, Out: 0} // a dollar a token of the prompt, of which a has 3
	for _, c := range []struct {
		name   string
		budget *cost.Budget
		want   int
	}{
		{"dollars", &cost.Budget{USD: 30}, 10},
		{"tokens", &cost.Budget{Tokens: 100}, 0},
		{"a deadline", &cost.Budget{Until: time.Now()}, 0},
	} {
		a := &asker{}
		e := asking(t, a, t.TempDir(), 1)
		e.plan.Options.Budget = c.budget
		_, err := e.Ask(t.Context(), priced, Block{Split: routing.Train, Problems: problems, Runs: 1})
		if !errors.Is(err, steps.ErrIncomplete) || !errors.Is(err, cost.ErrSpent) {
			t.Errorf("%s: error %v", c.name, err)
		}
		n := a.requests()
		if spent := fmt.Sprintf("; all in all %d dollars", 3*n); err == nil || !strings.Contains(err.Error(), spent) {
			t.Errorf("%s: %v does not say %q", c.name, err, spent)
		}
		if c.want > 0 && n != c.want || n == len(problems) || n != stored(t, e) {
			t.Errorf("%s: %d requests, %d answers", c.name, n, stored(t, e))
		}
		e.plan.Options.Budget = nil
		got, err := e.Ask(t.Context(), priced, Block{Split: routing.Train, Problems: problems, Runs: 1})
		if err != nil || a.requests() != len(problems)-n {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(want(problems, 1, routing.Train), got); diff != "" {
			t.Error(diff)
		}
	}
}

// The first Ctrl-C lets what is in flight finish, the second one does not.
func TestWhatIsInFlightFinishesWithinItsGrace(t *testing.T) {
	for _, twice := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		cut, open := make(chan struct{}), make(chan struct{})
		var arrived sync.WaitGroup
		arrived.Add(4)
		a := &asker{before: func(ctx context.Context, n int) int {
			arrived.Done()
			select {
			case <-open:
			case <-ctx.Done():
			}
			return 0
		}}
		e := asking(t, a, t.TempDir(), 4)
		e.plan.Options.Grace, e.plan.Options.Cut = time.Hour, cut
		go func() {
			arrived.Wait()
			cancel()
			if twice {
				close(cut)
			} else {
				close(open)
			}
		}()
		_, err := e.Ask(ctx, one, Block{Split: routing.Train, Problems: sevens(30), Runs: 1})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if n := stored(t, e); n != map[bool]int{false: 4, true: 0}[twice] || a.requests() != 4 {
			t.Errorf("twice %v: %d answers are stored", twice, n)
		}
	}
}

func TestAServerThatIsDownIsReportedAtOnce(t *testing.T) {
	e := asking(t, &asker{}, t.TempDir(), 2)
	e.pool.Pool.Experts[0].URL = "http://127.0.0.1:1/v1"
	e.plan.Options.Log = slog.New(slog.NewTextHandler(failOnWrite{t}, nil))
	_, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: sevens(1), Runs: 1})
	if !errors.Is(err, experts.ErrUnavailable) {
		t.Errorf("error %v, want %v", err, experts.ErrUnavailable)
	}
}

// failOnWrite is a log that must stay empty.
type failOnWrite struct{ t *testing.T }

func (w failOnWrite) Write(p []byte) (int, error) {
	w.t.Errorf("logged: %s", p)
	return len(p), nil
}

// A client of servers that do not serve would be kept and asked: there is none.
// A deadline ends the wait for a server as it ends asking.
func TestADeadlineEndsTheWaitForAServer(t *testing.T) {
	e := engine(t, "http://127.0.0.1:1", t.TempDir(), 1)
	e.pool.Asking.ServerWait = 600
	e.plan.Options.Budget = &cost.Budget{Until: time.Now().Add(100 * time.Millisecond)}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	_, err := e.Ask(ctx, one, Block{Split: routing.Train, Problems: sevens(1), Runs: 1})
	if !errors.Is(err, steps.ErrIncomplete) || !errors.Is(err, cost.ErrSpent) || !strings.Contains(err.Error(), "is past, and not all servers were looked at; all in all 0 dollars") {
		t.Error(err)
	}
}

func TestNobodyIsConnectedToAServerThatIsDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	e := asking(t, &asker{}, t.TempDir(), 1)
	client, err := e.connect(t.Context(), []experts.Endpoint{{Expert: routing.Expert{ID: "x", Model: "x", MaxTokens: 1}, URL: "http://" + l.Addr().String() + "/v1"}}, e.httpOptions())
	if client != nil || err == nil {
		t.Errorf("client %v, error %v", client, err)
	}
}

// A key that is revoked while answers come in ends the run, however few are left to ask for: what came is kept, nothing counts as failed, and
// the same command asks for the rest.
func TestAKeyThatIsRevokedEndsTheRun(t *testing.T) {
	revoked := true
	a := &asker{before: func(_ context.Context, n int) int {
		if revoked && n > 7 {
			return http.StatusUnauthorized
		}
		return 0
	}}
	dir := t.TempDir()
	e, b := asking(t, a, dir, 1), Block{Split: routing.Train, Problems: sevens(10), Runs: 1, Experts: []routing.Expert{one}}
	_, err := e.Ask(t.Context(), one, b)
	if !errors.Is(err, steps.ErrIncomplete) || !strings.Contains(err.Error(), "answered 401 Unauthorized: no: set ENTROROUTER_API_KEY to a key of this server") {
		t.Error(err)
	}
	if n := a.requests(); n != 8 || stored(t, e) != 7 {
		t.Errorf("%d requests, %d answers stored", n, stored(t, e))
	}
	if failing, err := e.Failing(t.Context(), b); err != nil || failing {
		t.Errorf("failures %v, %v", failing, err)
	}
	revoked = false
	got, err := e.Ask(t.Context(), one, b)
	if diff := cmp.Diff(want(b.Problems, 1, routing.Train), got); err != nil || diff != "" || a.requests() != 3 {
		t.Errorf("%v %s", err, diff)
	}
}

// A server that gives the same texts to other seeds is said to, where it is to draw.
func TestRepeatedAnswersAreSaid(t *testing.T) {
	for _, temperature := range []float64{0, 1} {
		e := asking(t, &asker{}, t.TempDir(), 4)
		var log bytes.Buffer
		e.plan.Options.Log = slog.New(slog.NewTextHandler(&log, nil))
		x := one
		x.Sampling.Temperature = temperature
		// Of 5 runs a problem, with 2 texts at most, 3 at least repeat another one.
		if err := e.Gather(t.Context(), []Block{{[]routing.Expert{x}, routing.Test, sevens(4), 5}}); err != nil {
			t.Fatal(err)
		}
		if said := regexp.MustCompile(`expert=one split=test repeated=1[2-6] of=20\n`).MatchString(log.String()); said != (temperature > 0) {
			t.Errorf("at temperature %g: %q", temperature, log.String())
		}
	}
}

// What answers cost follows from tokens that servers count; where they do not, that is said.
func TestTokensThatNobodyCountedAreSaid(t *testing.T) {
	for _, counts := range []bool{false, true} {
		a := &asker{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			a.ServeHTTP(answer, r)
			body := answer.Body.String()
			if before, _, ok := strings.Cut(body, `,"usage"`); ok && !counts {
				body = before + "}"
			}
			fmt.Fprint(w, body)
		}))
		t.Cleanup(server.Close)
		e := engine(t, server.URL, t.TempDir(), 4)
		var log bytes.Buffer
		e.plan.Options.Log = slog.New(slog.NewTextHandler(&log, nil))
		if err := e.Gather(t.Context(), []Block{{[]routing.Expert{one}, routing.Test, sevens(4), 1}}); err != nil {
			t.Fatal(err)
		}
		router := experts.Endpoint{Expert: routing.Expert{ID: "router", Model: "m", MaxTokens: 500}, URL: server.URL + "/v1"}
		if _, err := (Servers{e}).Ask(t.Context(), router, spec.Sampling{}, []experts.Ask{{Text: "Who?", Seed: 1}}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), "expert=router split=routing \"counted here\"=1 of=1\n"); said == counts {
			t.Errorf("servers count %t: %q", counts, log.String())
		}
		if said := strings.Contains(log.String(), "and dollars follow from that") && strings.Contains(log.String(), "expert=one split=test \"counted here\"=4 of=4\n"); said == counts {
			t.Errorf("servers count %t: %q", counts, log.String())
		}
	}
}

func TestWhoLooksAtWhatIsStoredWhenTheRunIsInterruptedIsToldSo(t *testing.T) {
	e := asking(t, &asker{}, t.TempDir(), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := Block{Experts: []routing.Expert{one}, Split: routing.Train, Problems: sevens(3), Runs: 1}
	for what, err := range map[string]error{
		"failing":    func() error { _, err := e.Failing(ctx, b); return err }(),
		"missing":    func() error { _, err := e.Missing(ctx, b); return err }(),
		"may be had": func() error { _, err := e.MayBeHad(ctx, b); return err }(),
		"unanswered": func() error { _, err := e.Unanswered(ctx, b, true); return err }(),
		"usual":      func() error { _, err := e.Usual(ctx, one); return err }(),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", what, err, context.Canceled)
		}
	}
}

func TestNobodyIsAskedWhereNoPromptHasRoom(t *testing.T) {
	a := &asker{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			fmt.Fprint(w, `{"data":[{"id":"m","max_model_len":501}]}`)
		case "/tokenize":
			fmt.Fprint(w, `{"count":2}`)
		default:
			a.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	e := engine(t, server.URL, t.TempDir(), 1)
	err := e.Gather(t.Context(), []Block{{Experts: []routing.Expert{one}, Split: routing.Train, Problems: sevens(3), Runs: 1}})
	if !errors.Is(err, experts.ErrMisconfigured) || !strings.Contains(err.Error(), "takes 2: every request would be refused") {
		t.Errorf("error %v", err)
	}
	if n := stored(t, e); n != 0 {
		t.Errorf("%d answers", n)
	}
}

// A model that its server does not know is a mistake in the pool, also where another one answered meanwhile.
func TestAWrongModelIsNotSaidToGoOn(t *testing.T) {
	a := &asker{before: func(_ context.Context, n int) int {
		if n > 3 {
			return http.StatusNotFound
		}
		return 0
	}}
	e := asking(t, a, t.TempDir(), 1)
	_, err := e.Ask(t.Context(), one, Block{Split: routing.Train, Problems: sevens(40), Runs: 1, Experts: []routing.Expert{one}})
	if !errors.Is(err, experts.ErrMisconfigured) || errors.Is(err, steps.ErrIncomplete) {
		t.Error(err)
	}
}
