package asking

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// The one key of a run goes to one host: a pool on several is refused, and a row's own server elsewhere is not sent it.
func TestTheKeyGoesToOneHost(t *testing.T) {
	sent := map[string]string{}
	carry := carrier(func(r *http.Request) (*http.Response, error) {
		sent[r.URL.Hostname()] = r.Header.Get("Authorization")
		body := `{"data":[{"id":"m"}]}`
		if r.Method == http.MethodPost {
			body = `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
	keyed := func(urls ...string) *Asker {
		clear(sent)
		a := engine(t, "http://pool.example", t.TempDir(), 1)
		a.plan.Options.Key, a.plan.Options.Transport = "secret", carry
		a.pool.Pool.Experts, a.pool.Experts = nil, nil
		for i, url := range urls {
			id := fmt.Sprint("expert", i)
			a.pool.Pool.Experts = append(a.pool.Pool.Experts, spec.Expert{ID: id, Model: "m", MaxTokens: 500, URL: url})
			a.pool.Experts = append(a.pool.Experts, routing.Expert{ID: id, Model: "m", MaxTokens: 500})
		}
		return a
	}
	a := keyed("http://a.example/v1", "http://b.example/v1")
	if _, err := a.experts(t.Context()); err == nil || !strings.Contains(err.Error(), "experts are on several hosts (a.example, b.example): say with key_env whose key it is") || len(sent) > 0 {
		t.Errorf("%v, sent %v", err, sent)
	}
	row := func(host string) experts.Endpoint {
		return experts.Endpoint{Expert: routing.Expert{ID: host, Model: "m"}, URL: "http://" + host + "/v1"}
	}
	for _, pool := range [][]string{{"http://a.example/v1"}, nil} {
		a := keyed(pool...)
		for _, host := range []string{"a.example", "c.example"} {
			if _, err := (Servers{a}).Ask(t.Context(), row(host), spec.Sampling{}, []experts.Ask{{Text: host}}); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(map[string]string{"a.example": "Bearer secret", "c.example": ""}, sent); d != "" {
			t.Errorf("a pool at %v (-want +got):\n%s", pool, d)
		}
	}
}

// carrier carries requests without a network.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }
