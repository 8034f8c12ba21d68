// Tests of servers that are there and fail whatever they are asked, and of how it is found out whether a server is there.
package experts_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// A proxy that has lost the server behind it fails whatever it is asked. It is waited for as a server that is down, unless the request
// may be to blame.
func TestAnExpertThatFailsWhateverItIsAskedIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		fails  func(since time.Duration, number int) bool
		deadly bool          // the server dies of request 7, and all that it has fail
		lost   int           // of 48 requests
		within time.Duration // that the last of these takes at most
		after  time.Duration // that the whole takes at least
		waits  bool          // and it is said
	}{
		"for twenty minutes": {fails: func(since time.Duration, _ int) bool { return since > 25*time.Second && since < 20*time.Minute }, after: 20 * time.Minute, waits: true},
		"for half of them at the end": {fails: func(since time.Duration, number int) bool {
			return since > 25*time.Second && (since < 20*time.Minute || since < 20*time.Minute+30*time.Second && number%2 == 0)
		}, after: 20 * time.Minute, waits: true},
		"for good":                      {fails: func(time.Duration, int) bool { return true }, lost: 48, within: 40 * time.Minute, after: 30 * time.Minute, waits: true},
		"for one request":               {fails: func(_ time.Duration, number int) bool { return number == 7 }, lost: 1, within: 3 * time.Minute},
		"for three requests":            {fails: func(_ time.Duration, number int) bool { return number%16 == 7 }, lost: 3, within: 3 * time.Minute},
		"for every second request":      {fails: func(_ time.Duration, number int) bool { return number%2 == 1 }, lost: 24, within: 10 * time.Minute, waits: true},
		"for a request that it dies of": {deadly: true, lost: 8, within: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var log bytes.Buffer
				var asked, died atomic.Int64
				h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://proxy.example/v1"}},
					experts.HTTPOptions{Concurrency: 8, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Transport: carrier(func(r *http.Request) (*http.Response, error) {
						var sent struct{ Seed int }
						json.NewDecoder(r.Body).Decode(&sent)
						came := time.Since(begin)
						switch last := time.Duration(died.Load()); {
						case last > 0 && came >= last && came < last+20*time.Second:
							return nil, refusedConnection()
						case r.URL.Path != "/v1/chat/completions":
							return respond(200, `{"data":[{"id":"m"}]}`), nil
						case c.deadly && sent.Seed == 7:
							died.Store(int64(came + time.Second))
						}
						asked.Add(1)
						if time.Sleep(10 * time.Second); time.Duration(died.Load()) > came || c.fails != nil && c.fails(came, sent.Seed) {
							return respond(500, `{"error":{"message":"Connection error."}}`), nil
						}
						return respond(200, four), nil
					})})
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				var all sync.WaitGroup
				var lost []time.Duration
				var mu sync.Mutex
				places := make(chan struct{}, 8)
				for i := range 48 {
					places <- struct{}{}
					all.Go(func() {
						defer func() { <-places }()
						if _, err := ask(t.Context(), h, newBook(t), seed.Seed(i)); err != nil {
							mu.Lock()
							defer mu.Unlock()
							lost = append(lost, time.Since(begin))
						}
					})
				}
				all.Wait()
				if len(lost) != c.lost || c.lost > 0 && slices.Max(lost) > c.within || time.Since(begin) < c.after {
					t.Errorf("%d requests were lost, want %d, at %v; all took %s", len(lost), c.lost, lost, time.Since(begin))
				}
				said := log.String()
				if strings.Contains(said, "fails whatever it is asked") != c.waits || c.waits && c.lost == 0 && !strings.Contains(said, "answers again") {
					t.Error(said)
				}
				if asked.Load() > 2000 {
					t.Errorf("asked %d times", asked.Load())
				}
			})
		})
	}
}

// LiteLLM's proxy asks every model something for whoever asks for /health with a key; without one it says nothing of the servers behind it.
func TestHealthIsAskedWithoutTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		asked := map[string]int{}
		h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://a.example/v1"}},
			experts.HTTPOptions{Key: "secret", Tries: 1, Log: silent, Transport: carrier(func(r *http.Request) (*http.Response, error) {
				asked[r.URL.Path]++
				keyed, away := r.Header.Get("Authorization") != "", time.Since(begin) < time.Minute
				switch {
				case r.URL.Path == "/health" && keyed:
					t.Error("the key was sent to /health")
				case r.URL.Path == "/health" || !keyed:
					return respond(401, ""), nil
				case away && r.URL.Path == "/v1/models":
					return respond(502, ""), nil
				case away:
					return nil, refusedConnection()
				}
				return respond(200, four), nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if _, err := ask(t.Context(), h, newBook(t), 1); err != nil || time.Since(begin) > 2*time.Minute || asked["/health"] < 3 || asked["/v1/models"] != asked["/health"] {
			t.Errorf("%v after %s: %v", err, time.Since(begin), asked)
		}
	})
}
