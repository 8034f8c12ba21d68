// What servers answered to requests that others sent for us, such as vllm run-batch: the same bodies and the same replies as
// those of HTTP.

package experts

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// Body is the body of a request for one response, as HTTP sends it to this endpoint where answers are asked for whole.
func (e Endpoint) Body(r Request) []byte {
	messages := [1]Message{{Role: "user", Content: r.Prompt}}
	return e.body(ChatRequest{Messages: messages[:], Seed: r.Seed, Sampling: r.Sampling, MaxTokens: r.MaxTokens}, len(r.Prompt))
}

// Reply reads what a server answered to a request for one response: the HTTP status, and the body. The attempt says what it is
// billed. The error is a Failure whose Again is false where the server turned the request down for what it asks.
func (e Endpoint) Reply(r Request, status int, body []byte) (Completion, Attempt, error) {
	reply := newReply()
	defer reply.free()
	var t *trouble
	if status == http.StatusOK {
		var bodies wire.Bodies
		if t = reply.whole(bytes.NewReader(body), &bodies); t == nil {
			t = reply.ended()
		}
	} else {
		t = refusal(&http.Response{StatusCode: status, Status: strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status)))}, body, "")
	}
	return e.replied(r, reply, t)
}

// Unanswered reads what is said in the place of an answer: an error in any of the shapes that servers give to bodies of errors.
// The error that it returns is a Failure.
func (e Endpoint) Unanswered(r Request, said []byte) (Attempt, error) {
	_, a, err := e.replied(r, &reply{}, erred(said, ""))
	return a, err
}

func (e Endpoint) replied(r Request, reply *reply, t *trouble) (Completion, Attempt, error) {
	a := Attempt{Class: Answered}
	if t == nil || reply.counted {
		a.Usage, a.Estimated = reply.tokens(len(r.Prompt)+len(r.Sampling.System), cmp.Or(r.MaxTokens, e.MaxTokens))
	}
	if t != nil {
		a.Class, a.Error = t.class, line(t.err.Error(), "")
		return Completion{}, a, &Failure{Class: t.class, Again: t.later(), Err: &told{fmt.Sprintf("expert %s: %s", e.ID, a.Error), t.kinds()}}
	}
	c := reply.completion()
	c.Usage, c.Estimated = a.Usage, a.Estimated
	return c, a, nil
}
