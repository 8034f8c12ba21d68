// An expert and the servers that have it.

package experts

import (
	"cmp"
	"crypto/sha256"
	"net/http"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Endpoint is an expert and the servers that have it.
type Endpoint struct {
	routing.Expert
	URL        string      // base URL, ending in /v1
	Replicas   []string    // base URLs of further servers of the same model
	KeyEnv     string      // environment variable that holds the key of these servers; empty: HTTPOptions.Key is it
	Whole      bool        // answers are asked for whole, not as a stream
	Unlisted   bool        // the servers' lists need not have the model
	LimitField string      // what the servers call max_tokens; empty: max_tokens
	Limits     spec.Limits // what the expert is asked at most
	Embeds     bool        // it is asked for vectors alone
	Tools      bool        // it is asked with tools

	Handler http.Handler // answers in this process in place of a server at URL, which then only names it; nil: the network does
}

// Endpoints returns the members of a pool of kind http at the addresses that the pool file gives.
func Endpoints(pool spec.Pool, members []routing.Expert) []Endpoint {
	endpoints := make([]Endpoint, len(members))
	for i, m := range members {
		x, _ := pool.Own(m.ID)
		e := Endpoint{Expert: m, URL: x.URL, KeyEnv: x.KeyEnv, Whole: x.Whole, Unlisted: x.Unlisted, LimitField: x.LimitField}
		if len(x.URLs) > 0 {
			e.URL, e.Replicas = x.URLs[0], x.URLs[1:]
		}
		if x.Limits != nil {
			e.Limits = *x.Limits
		}
		endpoints[i] = e
	}
	return endpoints
}

// body writes a request; prompt is how many bytes its messages have.
func (e *Endpoint) body(r ChatRequest, prompt int) []byte {
	room := make([]byte, 0, prompt+prompt/8+384)
	return appendSent(appendChat(room, e.Model, cmp.Or(e.LimitField, "max_tokens"), cmp.Or(r.MaxTokens, e.MaxTokens), r), r.Sampling)
}

// Digest is the SHA-256 of all that shapes what an endpoint answers, but for its model's revision, which is not sent. Answers
// are stored under it, so it stays the same from one version of this program to the next.
func (r ChatRequest) Digest(e Endpoint) [sha256.Size]byte {
	b := appendChat(nil, e.Model, "max_tokens", cmp.Or(r.MaxTokens, e.MaxTokens), r)
	for _, field := range []string{"top_k", "min_p"} {
		if leftOut(r.Sampling, field) { // else it is sent at least that it is off
			b = append(append(b, " without "...), field...)
		}
	}
	return sha256.Sum256(b)
}
