package experts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// An expert that answers in this process answers as it does over a connection, refusals included, and hears the same.
func TestAHandlerAnswersAsAServerDoes(t *testing.T) {
	model := vllm.Model{Name: "m", Window: 4096}
	server := vllm.New([]vllm.Model{model}, func(_ context.Context, r vllm.Request) (vllm.Answer, error) {
		if r.Prompt == "refuse" {
			return vllm.Answer{}, &vllm.Error{Status: http.StatusNotFound, Type: vllm.NotFound, Message: "no such problem"}
		}
		return vllm.Answer{Text: fmt.Sprintf("%s, seed %d", r.Prompt, r.Seed), Finish: "stop", In: 3, Out: 5}, nil
	}, vllm.Options{Log: silent})
	var heard []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		heard = append(heard, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Authorization")+" "+string(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.ServeHTTP(w, r)
	})
	listening := httptest.NewServer(h)
	defer listening.Close()
	for _, whole := range []bool{true, false} {
		var said, asked [2][]string
		for i, at := range []experts.Endpoint{{URL: listening.URL + "/v1"}, {URL: "http://here/v1", Handler: h}} {
			at.Expert, at.Whole = routing.Expert{ID: "e", Model: "m", MaxTokens: 64}, whole
			heard = nil
			client, err := experts.NewHTTP([]experts.Endpoint{at}, experts.HTTPOptions{Log: silent, Key: "secret"})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if err := client.Preflight(t.Context(), -1); err != nil {
				t.Fatal(err)
			}
			for _, prompt := range []string{"1 + 1", "refuse", "ü\n\"quoted\""} {
				c, err := client.Complete(t.Context(), experts.Request{Expert: "e", Prompt: prompt, Seed: 7})
				failed := ""
				if f := (*experts.Failure)(nil); errors.As(err, &f) {
					failed = string(f.Class) + strings.ReplaceAll(f.Error(), at.URL, "")
				}
				said[i] = append(said[i], fmt.Sprintf("%q %v %v %s", c.Text, c.Finish, c.Usage, failed))
			}
			asked[i] = heard
		}
		if fmt.Sprint(said[0]) != fmt.Sprint(said[1]) {
			t.Errorf("whole %v: over a connection it says\n%v\nin this process\n%v", whole, said[0], said[1])
		}
		if fmt.Sprint(asked[0]) != fmt.Sprint(asked[1]) {
			t.Errorf("whole %v: over a connection it is asked\n%v\nin this process\n%v", whole, asked[0], asked[1])
		}
	}
}

// Who stops waiting for a handler has no answer, even where the handler had one.
func TestAHandlerThatIsNotWaitedForHasNoAnswer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
		fmt.Fprint(w, "{}")
	})
	client, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 64}, URL: "http://here/v1", Handler: h}}, experts.HTTPOptions{Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if c, err := client.Complete(ctx, experts.Request{Expert: "e", Prompt: "1 + 1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", c, err)
	}
}
