// What is sent: chat completions whole and as streams, and errors in vLLM's words.

package vllm

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// choice is an answer as it is sent.
type choice struct {
	text, reasoning string
	finish          string
	stop            string // the stop string that ended it
	in, out         int64
}

// newChoice cuts an answer at the first stop string and takes its thinking apart.
func newChoice(a Answer, stop []string, apart bool) choice {
	c := choice{text: a.Text, reasoning: a.Reasoning, finish: a.Finish, in: a.In, out: a.Out}
	end := len(c.text)
	for _, s := range stop {
		if i := strings.Index(c.text[:end], s); s != "" && i >= 0 {
			end, c.stop = i, s
		}
	}
	if c.stop != "" {
		c.out = max(1, c.out*int64(end+len(c.stop))/int64(len(c.text))) // tokens spread evenly over the text
		c.text, c.finish = c.text[:end], "stop"
	}
	if apart {
		if thinking, ok := strings.CutPrefix(c.text, thinkOpens); ok {
			c.reasoning, c.text = thinking, "" // it was cut while it was thinking
			if i := strings.LastIndex(thinking, thinkCloses); i >= 0 {
				c.reasoning, c.text = thinking[:i], thinking[i+len(thinkCloses):]
			}
		}
	}
	return c
}

const (
	thinkOpens  = "<think>"
	thinkCloses = "</think>"
)

// reply is the response to a request.
type reply struct {
	id, model string
	choices   []choice
}

func (r reply) size() int {
	var n int
	for _, c := range r.choices {
		n += len(c.text) + len(c.reasoning) + 256
	}
	return n
}

// append writes the whole response.
func (r reply) append(b []byte) []byte {
	b = r.head(b, "chat.completion")
	for i, c := range r.choices {
		b = strconv.AppendInt(append(b, opening(i, `"choices":[{"index":`, `,{"index":`)...), int64(i), 10)
		b = append(b, `,"message":{"role":"assistant","content":`...)
		if c.text == "" && c.reasoning != "" {
			b = append(b, "null"...)
		} else {
			b = wire.AppendJSON(b, c.text)
		}
		if c.reasoning != "" {
			b = wire.AppendJSON(append(b, `,"reasoning":`...), c.reasoning)
		}
		b = c.end(append(b, `},"logprobs":null,"finish_reason":`...))
	}
	var out int64
	for _, c := range r.choices {
		out += c.out
	}
	return append(r.usage(append(b, "],"...), out), '}')
}

// end writes why a choice ended, and closes it.
func (c choice) end(b []byte) []byte {
	b = wire.AppendJSON(b, c.finish)
	if c.stop != "" {
		b = wire.AppendJSON(append(b, `,"stop_reason":`...), c.stop)
	}
	return append(b, '}')
}

func (r reply) head(b []byte, object string) []byte {
	b = wire.AppendJSON(append(b, `{"id":`...), "chatcmpl-"+r.id)
	b = append(append(append(b, `,"object":"`...), object...), `","created":0,"model":`...)
	return append(wire.AppendJSON(b, r.model), ',')
}

func (r reply) usage(b []byte, out int64) []byte {
	in := r.choices[0].in // the prompt counts once
	b = strconv.AppendInt(append(b, `"usage":{"prompt_tokens":`...), in, 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), out, 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), in+out, 10)
	return append(b, '}')
}

func opening(i int, first, later string) string {
	if i == 0 {
		return first
	}
	return later
}

// deltaBytes is how much text one event of a stream has: some tokens.
const deltaBytes = 256

// appendStream writes the response as server-sent events. Choices take turns. An event says how many tokens there are so
// far if it is to, as if they were spread evenly over the text.
func (r reply) appendStream(b []byte, o streaming) []byte {
	head := r.head([]byte("data: "), "chat.completion.chunk")
	sent := make([]int64, len(r.choices)) // tokens of each choice
	event := func(i int, delta func([]byte) []byte, ending bool) {
		b = strconv.AppendInt(append(append(b, head...), `"choices":[{"index":`...), int64(i), 10)
		b = append(delta(append(b, `,"delta":{`...)), `},"logprobs":null,"finish_reason":`...)
		if ending {
			b = r.choices[i].end(b)
		} else {
			b = append(b, "null}"...)
		}
		if b = append(b, ']'); o.Continuous {
			b = r.usage(append(b, ','), total(sent))
		}
		b = append(b, "}\n\n"...)
	}
	for i := range r.choices {
		event(i, func(b []byte) []byte { return append(b, `"role":"assistant","content":""`...) }, false)
	}
	at := make([]int, len(r.choices)) // bytes of each choice that were sent
	for going := true; going; {
		going = false
		for i, c := range r.choices {
			field, rest := `"reasoning":`, c.reasoning
			if at[i] >= len(c.reasoning) {
				field, rest = `"content":`, c.text[min(at[i]-len(c.reasoning), len(c.text)):]
			} else {
				rest = rest[at[i]:]
			}
			if rest == "" {
				continue
			}
			going = true
			piece := rest[:whole(rest, deltaBytes)]
			at[i] += len(piece)
			sent[i] = c.out * int64(at[i]) / int64(len(c.reasoning)+len(c.text))
			event(i, func(b []byte) []byte { return wire.AppendJSON(append(b, field...), piece) }, false)
		}
	}
	for i, c := range r.choices {
		sent[i] = c.out
		event(i, func(b []byte) []byte { return append(b, `"content":""`...) }, true)
	}
	if o.Usage {
		b = append(r.usage(append(append(b, head...), `"choices":[],`...), total(sent)), "}\n\n"...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

func total(tokens []int64) int64 {
	var sum int64
	for _, n := range tokens {
		sum += n
	}
	return sum
}

// whole is how many of the first n bytes of a text end where a character ends.
func whole(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for end := n; end > n-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return n
}
