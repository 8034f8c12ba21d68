// What a server answers to a chat completion request, whole or as a stream.

package experts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
	"github.com/entrorouter/entrorouter/harness/routing"
)

const (
	maxResponse = 64 << 20 // bytes of an answer, and of a line of a stream; 60,000 tokens are about 0.3 MB
	maxHead     = 4 << 10  // bytes of what is not understood that are read and logged
)

// reply is as much of an answer as has come.
type reply struct {
	key       string // that no error repeats
	id        []byte
	text      []byte
	reasoning []byte
	calls     []ToolCall
	top       []TopToken
	finish    string
	choices   int   // seen in a whole answer
	deltas    int64 // events that brought text, each of which is one token at least
	bytes     int64 // of the body
	events    int
	done      bool // the server says that the stream is at its end

	counted        bool // the server said how many tokens these are
	in, out, total float64

	failed *trouble // the server said so instead of answering
}

var replies = sync.Pool{New: func() any { return new(reply) }}

func newReply() *reply {
	r := replies.Get().(*reply)
	*r = reply{id: r.id[:0], text: r.text[:0], reasoning: r.reasoning[:0]}
	return r
}

// free gives the buffers back, unless a long answer has made them worth freeing.
func (r *reply) free() {
	if cap(r.text)+cap(r.reasoning) <= 256<<10 {
		replies.Put(r)
	}
}

// read takes in a whole answer, or an event of a stream; it says whether it is JSON of the right shape.
func (r *reply) read(data []byte) bool {
	s := wire.NewScan(data)
	for more := s.Open('{'); more; more = s.More('}') {
		switch string(s.Key()) {
		case "choices":
			if s.Peek() == 'n' {
				s.Skip()
				continue
			}
			for more := s.Open('['); more; more = s.More(']') {
				r.choices++
				r.choice(&s)
			}
		case "usage":
			if s.Peek() == 'n' {
				s.Skip()
				continue
			}
			r.usage(&s)
		case "id":
			if s.Peek() == '"' {
				r.id, _ = s.AppendText(r.id[:0])
			} else {
				s.Skip()
			}
		case "error":
			if raw := s.Raw(); len(raw) > 0 && string(raw) != "null" {
				r.failed = erred(data, r.key)
			}
		default:
			s.Skip()
		}
	}
	return s.OK()
}

func (r *reply) choice(s *wire.Scan) {
	for more := s.Open('{'); more; more = s.More('}') {
		switch string(s.Key()) {
		case "delta", "message":
			if s.Peek() == 'n' {
				s.Skip()
				continue
			}
			r.message(s)
		case "finish_reason":
			if s.Peek() == '"' {
				finish, _ := s.AppendText(nil)
				r.finish = string(finish)
			} else {
				s.Skip()
			}
		case "logprobs":
			r.logprobs(s.Raw())
		default:
			s.Skip()
		}
	}
}

func (r *reply) message(s *wire.Scan) {
	text, reasoning, named := len(r.text), len(r.reasoning), false
	for more := s.Open('{'); more; more = s.More('}') {
		switch string(s.Key()) {
		case "content":
			if s.Peek() == '[' {
				r.text = append(r.text, parts(s.Raw())...)
				continue
			}
			r.text, _ = s.AppendText(r.text)
		case "reasoning":
			if s.Peek() != '"' {
				s.Skip()
				continue
			}
			// Servers of some versions send both names with the same text.
			r.reasoning, _ = s.AppendText(r.reasoning[:reasoning])
			named = len(r.reasoning) > reasoning
		case "reasoning_content":
			if s.Peek() != '"' || named {
				s.Skip()
				continue
			}
			r.reasoning, _ = s.AppendText(r.reasoning)
		case "tool_calls":
			r.tools(s.Raw())
		default:
			s.Skip()
		}
	}
	if len(r.text) > text || len(r.reasoning) > reasoning {
		r.deltas++
	}
}

// parts reads content that comes as a list of parts.
func parts(raw []byte) (text string) {
	var all []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &all) == nil {
		for _, p := range all {
			text += p.Text
		}
	}
	return text
}

func (r *reply) tools(raw []byte) {
	var calls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string    `json:"name"`
			Arguments arguments `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &calls) == nil {
		for _, c := range calls {
			r.calls = append(r.calls, ToolCall{c.ID, c.Function.Name, string(c.Function.Arguments)})
		}
	}
}

// arguments of a tool call are JSON in a text; some servers send the JSON itself.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*a = arguments(text)
	} else {
		*a = arguments(data)
	}
	return nil
}

// logprobs reads the likeliest first tokens. A log-probability that is no number is minus infinity, as vLLM's -9999.
func (r *reply) logprobs(raw []byte) {
	if len(raw) == 0 || raw[0] == 'n' || r.top != nil {
		return
	}
	var all struct {
		Content []struct {
			Top []struct {
				Token   string   `json:"token"`
				LogProb *float64 `json:"logprob"`
			} `json:"top_logprobs"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &all) != nil || len(all.Content) == 0 {
		return
	}
	for _, t := range all.Content[0].Top {
		p := -9999.0
		if t.LogProb != nil {
			p = *t.LogProb
		}
		r.top = append(r.top, TopToken{t.Token, p})
	}
}

func (r *reply) usage(s *wire.Scan) {
	r.counted = true
	r.in, r.out, r.total = 0, 0, 0
	for more := s.Open('{'); more; more = s.More('}') {
		into := &r.in
		switch string(s.Key()) {
		case "prompt_tokens":
		case "completion_tokens":
			into = &r.out
		case "total_tokens":
			into = &r.total
		default:
			s.Skip()
			continue
		}
		*into, _ = s.Number()
	}
}

// body reads the bytes of an answer that does not come as a stream, into a buffer that the caller gives back.
func (r *reply) body(body io.Reader, b *bytes.Buffer) (data []byte, t *trouble) {
	_, err := b.ReadFrom(io.LimitReader(body, maxResponse+1))
	r.bytes = int64(b.Len())
	switch {
	case err != nil && b.Len() == 0:
		return nil, &trouble{class: Unavailable, err: fmt.Errorf("the connection broke before the answer (%w)", err), cause: err}
	case err != nil:
		return nil, &trouble{class: Broken, err: fmt.Errorf("the connection broke within the answer, after %d bytes (%w)", b.Len(), err), cause: err}
	case b.Len() > maxResponse:
		return nil, &trouble{class: Protocol, err: fmt.Errorf("the answer has more than %d bytes", maxResponse)}
	}
	return bytes.TrimPrefix(b.Bytes(), bom), nil
}

// whole reads an answer that does not come as a stream.
func (r *reply) whole(body io.Reader, bodies *wire.Bodies) *trouble {
	b := bodies.Get()
	defer bodies.Put(b)
	data, t := r.body(body, b)
	switch {
	case t != nil:
		return t
	case len(bytes.TrimSpace(data)) == 0:
		return &trouble{class: Protocol, err: errors.New("the answer is empty")}
	case slices.ContainsFunc(ofStreams, func(word []byte) bool { return bytes.HasPrefix(data, word) }):
		r.bytes = 0
		return r.stream(bytes.NewReader(data))
	case !r.read(data):
		return &trouble{class: Protocol, err: errors.New("the answer is not what an OpenAI-compatible server sends, or ends in the middle"), head: head(data)}
	case r.failed != nil:
		return r.failed
	case r.choices != 1:
		return &trouble{class: Protocol, err: fmt.Errorf("the answer holds %d choices, not 1", r.choices), head: head(data)}
	case r.finish == "":
		return &trouble{class: Unfinished, err: errors.New("the answer has no finish_reason")}
	}
	return nil
}

var (
	bom       = []byte("\ufeff")
	ofStreams = [][]byte{[]byte("data:"), []byte("event:"), []byte(":")} // what a line of a stream begins with, and no JSON
)

func head(data []byte) []byte { return bytes.Clone(data[:min(len(data), maxHead)]) }

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 2<<10) }}

// stream reads the events of a stream. An answer is complete once it has a finish_reason: [DONE] and the end of the body
// prove nothing. What comes after it is read as well, since the tokens are counted there, but its loss is none of the answer.
func (r *reply) stream(body io.Reader) *trouble {
	b := readers.Get().(*bufio.Reader)
	b.Reset(body)
	defer func() {
		b.Reset(nil)
		readers.Put(b)
	}()
	var long []byte // a line longer than the buffer
	for lines := 0; ; lines++ {
		line, err := b.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxResponse {
			long = append(long, line...)
			line, err = b.ReadSlice('\n')
		}
		r.bytes += int64(len(line) + len(long))
		if len(long) > 0 {
			line = append(long, line...)
			long = line[:0]
		}
		if lines == 0 {
			line = bytes.TrimPrefix(line, bom)
		}
		if r.bytes > 16*maxResponse || len(line) > maxResponse || len(r.text)+len(r.reasoning) > maxResponse {
			return &trouble{class: Protocol, err: fmt.Errorf("the stream has more than %d bytes", maxResponse)}
		}
		if err == nil || errors.Is(err, io.EOF) {
			if t := r.line(line); t != nil {
				return t
			}
		}
		switch {
		case err == nil:
			continue
		case r.finish != "":
			return nil
		case r.done && r.events > 0:
			return &trouble{class: Unfinished, whole: true, err: fmt.Errorf("the server ended the stream without a finish_reason (events: %d)", r.events)}
		case !errors.Is(err, io.EOF):
			class := Broken
			if r.bytes == 0 {
				class = Unavailable
			}
			return &trouble{class: class, err: fmt.Errorf("the stream broke (%w; events: %d)", err, r.events), cause: err, whole: r.bytes == 0}
		case r.events == 0:
			return &trouble{class: Protocol, err: errors.New("the stream has no event"), head: head(line)}
		}
		return &trouble{class: Unfinished, err: fmt.Errorf("the stream ended without a finish_reason (events: %d)", r.events)}
	}
}

// line reads a line of a stream. Comments and fields other than data say nothing.
func (r *reply) line(line []byte) *trouble {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil
	}
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		r.done = true
		return nil
	}
	if len(data) == 0 {
		return nil
	}
	r.events++
	if !r.read(data) {
		if r.finish != "" {
			return nil
		}
		return &trouble{class: Protocol, err: errors.New("an event of the stream is not what an OpenAI-compatible server sends, or ends in the middle"), head: head(data)}
	}
	return r.failed
}

// ended says why an answer that has come to its end is none; nil: it is one.
func (r *reply) ended() *trouble {
	switch r.finish {
	case "abort", "error":
		return &trouble{class: Unfinished, err: fmt.Errorf("the server ended the answer (finish_reason %q)", r.finish)}
	case "content_filter":
		return &trouble{class: Filtered, err: errors.New("the server withheld the answer (finish_reason content_filter)")}
	}
	return nil
}

// tokens are what the answer cost, as far as it has come. What the server says counts unless it cannot be: nothing for a
// text, less than events brought, or far more than was allowed. estimated says that it was counted here instead.
func (r *reply) tokens(prompt, maxTokens int) (u cost.Usage, estimated bool) {
	// Some services leave thinking out of completion_tokens and count it in the total only.
	in, out := r.in, max(r.out, r.total-r.in)
	most := math.Inf(1)
	if maxTokens > 0 {
		most = 2*float64(maxTokens) + 1024 // a few services do not count thinking against the limit
	}
	something := len(r.text)+len(r.reasoning) > 0 || r.calls != nil
	if r.counted && in >= 0 && out >= 0 && in <= 4*float64(prompt)+1<<16 && out <= most && out >= float64(r.deltas) && (out > 0 || !something) {
		return cost.Usage{In: int64(math.Round(in)), Out: int64(math.Round(out))}, false
	}
	return r.estimate(prompt), true
}

// early returns how many tokens an answer has at most that was cut well before so many; 0: none was. What the server counts is
// believed, and else a token has a byte at least.
func (r *reply) early(limit int) int {
	n := len(r.text) + len(r.reasoning)
	if r.counted && r.out > 0 {
		n = int(min(max(r.out, r.total-r.in), math.MaxInt32))
	}
	if r.finish != "length" || n < 1 || n >= limit-limit/16 {
		return 0
	}
	return n
}

// estimate counts four bytes a token, and an event of a stream one token at least.
func (r *reply) estimate(prompt int) cost.Usage {
	n := len(r.text) + len(r.reasoning)
	for _, c := range r.calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return cost.Usage{In: int64(prompt+3) / 4, Out: max(int64(n+3)/4, r.deltas)}
}

// completion is the answer; the buffers stay the reply's.
func (r *reply) completion() Completion {
	return Completion{
		Text: valid(r.text), Reasoning: valid(r.reasoning), Calls: r.calls, Finish: routing.Finish(r.finish), Top: r.top,
	}
}

// valid copies a text. What is no UTF-8 becomes U+FFFD, as encoding/json has it.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
