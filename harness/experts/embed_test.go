package experts

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// twoVectors is what a well-behaved server says of two texts.
const twoVectors = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,-2.5]},{"object":"embedding","index":1,"embedding":[3,4]}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`

func TestVectorsAreAskedForAtOnce(t *testing.T) {
	h, asked := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var q map[string]any
		if err := json.Unmarshal(body, &q); err != nil {
			t.Error(err)
		}
		want := map[string]any{"model": "m", "input": []any{"Find \"x\".\n", "π"}, "encoding_format": "float"}
		if diff := cmp.Diff(want, q); diff != "" || r.URL.Path != "/v1/embeddings" {
			t.Errorf("%s: %s", r.URL.Path, diff)
		}
		say(200, twoVectors)(w, r)
	})
	v, usage, err := h.Embed(t.Context(), EmbedRequest{Expert: "e", Texts: []string{"Find \"x\".\n", "π"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, -2.5}, {3, 4}}, v); diff != "" || usage != (cost.Usage{In: 7}) || asked.Load() != 1 {
		t.Errorf("%+v, %d requests: %s", usage, asked.Load(), diff)
	}
}

// Servers that compute in parallel send vectors in another order.
func TestVectorsAreSortedByTheirIndex(t *testing.T) {
	swapped := strings.NewReplacer(`"index":0`, `"index":1`, `"index":1`, `"index":0`).Replace(twoVectors)
	h, _ := scripted(t, HTTPOptions{}, say(200, swapped))
	v, _, err := h.Embed(t.Context(), EmbedRequest{Expert: "e", Texts: []string{"a", "b"}})
	if diff := cmp.Diff([][]float32{{3, 4}, {1, -2.5}}, v); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
}

func TestWhatIsNoVectorIsTriedAgainAndThenRefused(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"fewer":             {`{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors for 2 texts"},
		"more":              {strings.Replace(twoVectors, `"data":[`, `"data":[{"index":2,"embedding":[1,2]},`, 1), "3 vectors for 2 texts"},
		"an index twice":    {strings.Replace(twoVectors, `"index":1`, `"index":0`, 1), "the index 0, or twice"},
		"an index too far":  {strings.Replace(twoVectors, `"index":1`, `"index":2`, 1), "the index 2"},
		"a negative index":  {strings.Replace(twoVectors, `"index":1`, `"index":-1`, 1), "the index -1"},
		"other sizes":       {strings.Replace(twoVectors, `[3,4]`, `[3]`, 1), "vector 1 has 1 numbers, and vector 0 has 2"},
		"no numbers":        {strings.Replace(twoVectors, `[3,4]`, `[]`, 1), "vector 1: no list of numbers"},
		"base64":            {strings.Replace(twoVectors, `[3,4]`, `"AACAPwAAAEA="`, 1), "vector 1: no list of numbers"},
		"null":              {strings.Replace(twoVectors, `[3,4]`, `[3,null]`, 1), "vector 1: no list of numbers"},
		"NaN":               {strings.Replace(twoVectors, `[3,4]`, `[3,NaN]`, 1), "not what an OpenAI-compatible server sends"},
		"beyond float32":    {strings.Replace(twoVectors, `[3,4]`, `[3,1e39]`, 1), "vector 1: 1e+39 is too large"},
		"cut off":           {twoVectors[:60], "ends in the middle"},
		"HTML":              {"<html>welcome</html>", "not what an OpenAI-compatible server sends"},
		"an error in words": {`{"error":{"message":"out of memory"}}`, "out of memory"},
	} {
		h, _ := scripted(t, HTTPOptions{}, say(200, c.answer), say(200, twoVectors))
		if v, _, err := h.Embed(t.Context(), EmbedRequest{Expert: "e", Texts: []string{"a", "b"}}); err != nil || len(v) != 2 {
			t.Errorf("%s once: %v, %v", name, v, err)
		}
		h, _ = scripted(t, HTTPOptions{}, say(200, c.answer))
		var failure *Failure
		if v, _, err := h.Embed(t.Context(), EmbedRequest{Expert: "e", Texts: []string{"a", "b"}}); !errors.As(err, &failure) || !strings.Contains(err.Error(), c.want) || v != nil {
			t.Errorf("%s: %v, %v, want %q", name, v, err, c.want)
		}
	}
}

func TestAServerThatLimitsVectorsIsWaitedFor(t *testing.T) {
	limited := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "0")
		say(429, `{"error":{"message":"slow down"}}`)(w, r)
	}
	h, asked := scripted(t, HTTPOptions{Tries: 1}, limited, limited, say(500, ""), say(200, twoVectors))
	if _, _, err := h.Embed(t.Context(), EmbedRequest{Expert: "e", Texts: []string{"a", "b"}}); err == nil || asked.Load() != 3 {
		t.Errorf("%v after %d requests: what is limited takes no tries, and what fails takes one", err, asked.Load())
	}
}

// A server of vectors that lists its models is held to its list.
func TestServersOfVectorsAreHeldToTheirLists(t *testing.T) {
	for _, c := range []struct {
		models func(http.ResponseWriter, *http.Request)
		ok     bool
	}{
		{say(200, `{"data":[{"id":"m"}]}`), true},
		{say(200, `{"data":[{"id":"other"}]}`), false},
		{say(401, "no"), false},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/models") {
				c.models(w, r)
			}
		}))
		h, err := NewHTTP([]Endpoint{{Expert: routing.Expert{ID: "e", Model: "m"}, URL: s.URL + "/v1", Embeds: true}}, HTTPOptions{Log: quiet, Probe: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Preflight(t.Context(), 0); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		h.Close()
		s.Close()
	}
}
