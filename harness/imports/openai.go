// Chat completions in OpenAI's format: pairs of files, lines of pairs, and the input and output of batches.

package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"

	"github.com/entrorouter/entrorouter/harness/seed"
)

type chatRequest struct {
	settings
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
}

type chatResponse struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Finish  string `json:"finish_reason"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	} `json:"choices"`
	Usage *struct {
		In    int64    `json:"prompt_tokens"`
		Out   int64    `json:"completion_tokens"` // with thinking, but for services that have it in the total only
		Total int64    `json:"total_tokens"`
		Cost  *float64 `json:"cost"` // OpenRouter's, in dollars
	} `json:"usage"`
}

// exchange is one object of a file: a request, a response, both, or a line of a batch.
type exchange struct {
	ID       string          `json:"custom_id"`
	Body     *chatRequest    `json:"body"`
	Request  *chatRequest    `json:"request"`
	Response json.RawMessage `json:"response"`
	Error    json.RawMessage `json:"error"`
	chatRequest
	Choices json.RawMessage `json:"choices"`
}

// asking is a request with the responses to it.
type asking struct {
	at        string
	request   chatRequest
	responses []reply
}

// reply is a response, under the name of its request.
type reply struct {
	at       string
	id       string
	response chatResponse
}

// snapshot is what a service adds to the name of a model: the day of its making.
var snapshot = regexp.MustCompile(`[-@](\d{4,8}|\d{4}-\d\d-\d\d)$`)

// to is the request that a response is to, of those of its name: the only one, or the one to a model whose name its own begins with, the
// longest of these. nil: there is none.
func (t chatResponse) to(all []*asking) (of *asking) {
	if len(all) == 1 { // a service says which snapshot of a model it was
		return all[0]
	}
	longest := 0
	for _, a := range all {
		if n := len(a.request.Model); n > longest && strings.HasPrefix(t.Model, a.request.Model) {
			of, longest = a, n
		}
	}
	return of
}

func openAIRows(files []File, o Options, add func(Row) error) ([]string, error) {
	requests := map[string][]*asking{} // by custom_id, which batches of two models may share, or by the name of the file
	var inOrder []*asking              // the same: services give responses in the order in which they ended, and of several answers the first is scored
	var responses []reply              // whose requests may be in another file
	answered, failed, twice := 0, 0, 0
	known := map[uint64]bool{} // what was asked and answered under an id
	answer := func(t reply, asked chatRequest) error {
		if t.response.ID != "" {
			all, err := json.Marshal([]any{asked, t.response})
			if err != nil {
				return fmt.Errorf("%s: %w", t.at, err)
			}
			key := seed.Hash(string(all))
			if known[key] {
				twice++
				return nil
			}
			known[key] = true
		}
		for _, r := range t.response.rows(t.at, t.id, asked) {
			if err := add(r); err != nil {
				return err
			}
		}
		return nil
	}
	one := func(at, file string, raw []byte) error {
		var x exchange
		if err := unmarshal(raw, &x); err != nil {
			return fmt.Errorf("not a JSON object of a request or a response: %w", err)
		}
		id := x.ID
		keep := func(r chatRequest) error {
			for _, before := range requests[id] {
				switch {
				case reflect.DeepEqual(before.request, r): // sent again, since it failed
					return nil
				case before.request.Model == r.Model:
					return fmt.Errorf("the request %q to %q is at %s already, and differs", id, r.Model, before.at)
				}
			}
			a := &asking{at: at, request: r}
			requests[id], inOrder = append(requests[id], a), append(inOrder, a)
			return nil
		}
		take := func(raw json.RawMessage, use func(reply) error) error {
			t := reply{at: at, id: id}
			if len(raw) > 0 {
				if err := unmarshal(raw, &t.response); err != nil {
					return fmt.Errorf("the response is none of chat completions: %w", err)
				}
			}
			if len(t.response.Choices) == 0 {
				failed++
				return nil
			}
			answered++
			return use(t)
		}
		later := func(t reply) error {
			responses = append(responses, t)
			return nil
		}
		switch {
		case x.Body != nil && id != "": // a line of a batch's input
			return keep(*x.Body)
		case x.Request != nil: // a pair on a line
			id = cmp.Or(id, at)
			return take(x.Response, func(t reply) error { return answer(t, *x.Request) })
		case id != "": // a line of a batch's output
			var r struct {
				Body json.RawMessage `json:"body"`
			}
			if len(x.Error) > 0 && string(x.Error) != "null" || json.Unmarshal(x.Response, &r) != nil || r.Body == nil {
				failed++
				return nil
			}
			return take(r.Body, later)
		case at != file && (x.Choices != nil || x.Messages != nil): // nothing says which of the other lines it belongs to
			return errors.New(`neither a request with its response, {"request": ..., "response": ...}, nor a line of a batch`)
		case x.Choices != nil:
			id = strings.TrimSuffix(strings.TrimSuffix(stem(file), "response"), "_")
			return take(raw, later)
		case x.Messages != nil:
			id = strings.TrimSuffix(strings.TrimSuffix(stem(file), "request"), "_")
			return keep(x.chatRequest)
		}
		return errors.New("neither a request nor a response of chat completions, nor a line of a batch")
	}
	for _, f := range files {
		data, err := f.Data()
		if err != nil {
			return nil, err
		}
		if json.Valid(data) {
			if err := placed(f.Name, one(f.Name, f.Name, data)); err != nil {
				return nil, err
			}
			continue
		}
		if err := eachLine(f.Name, data, func(at string, line []byte) error { return one(at, f.Name, line) }); err != nil {
			return nil, err
		}
	}
	if answered == 0 && failed > 0 {
		return nil, fmt.Errorf("none of %s has choices, as those of chat completions have: they are failures, or of another protocol", counted(failed, "response"))
	}
	if answered == 0 && len(requests) > 0 {
		return nil, fmt.Errorf("%s: there are requests and no response to them; name the files that have these, too", those(files))
	}
	for _, t := range responses {
		asked := t.response.to(requests[t.id])
		switch n := len(requests[t.id]); {
		case n == 0:
			return nil, fmt.Errorf("%s: no request %q to this response is there; name the file that has it, too", t.at, t.id)
		case asked == nil:
			return nil, fmt.Errorf("%s: %s %q are there, and none of them to a model whose name begins that of this response, %q; name only the file of one", t.at, counted(n, "request"), t.id, t.response.Model)
		}
		if len(asked.responses) > 0 {
			if first := asked.responses[0]; snapshot.ReplaceAllString(first.response.Model, "") != snapshot.ReplaceAllString(t.response.Model, "") {
				return nil, fmt.Errorf("%s: this response to the request %q is of %q, and that at %s of %q: the request of one of them is not there; name the file that has it, too", t.at, t.id, t.response.Model, first.at, first.response.Model)
			}
		}
		asked.responses = append(asked.responses, t)
	}
	for _, a := range inOrder {
		for _, t := range a.responses {
			if err := answer(t, a.request); err != nil {
				return nil, err
			}
		}
	}
	var left []string
	if failed > 0 {
		left = append(left, counted(failed, "response")+": a failure in the place of an answer")
	}
	if twice > 0 {
		left = append(left, counted(twice, "response")+": there already, with the same id")
	}
	return left, nil
}

// rows are the choices of a response. What it billed is that of all of them: each has read the prompt and has its part of the output
// tokens, and what one cost in dollars nobody knows.
func (t chatResponse) rows(at, id string, asked chatRequest) (all []Row) {
	n := int64(len(t.Choices))
	for i, c := range t.Choices {
		text := content(c.Message.Content)
		r := Row{At: at, name: id, Problem: said(asked.Messages), Model: cmp.Or(asked.Model, t.Model), Settings: asked.all(), System: instructions(asked.Messages), After: after(asked.Messages),
			Response: &text, Finish: c.Finish, In: unsaid, Out: unsaid, USD: math.NaN()}
		if n > 1 {
			r.At += fmt.Sprintf(", choice %d", i+1)
		}
		if t.Usage != nil {
			out := max(t.Usage.Out, t.Usage.Total-t.Usage.In)
			r.In, r.Out = t.Usage.In, out/n
			if i == 0 {
				r.Out += out % n
			}
			if t.Usage.Cost != nil && n == 1 {
				r.USD = *t.Usage.Cost
			}
		}
		all = append(all, r)
	}
	return all
}
