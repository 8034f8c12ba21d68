// The body of a chat completion request: what shapes the answer, and what only says how it is to be sent.

package experts

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// appendChat writes what shapes the answer. Conversations are stored under a hash of it (Digest), so a field added later must
// be left out where it is zero: otherwise nothing stored before is found again.
func appendChat(b []byte, model, limitField string, maxTokens int, r ChatRequest) []byte {
	s := r.Sampling
	b = append(wire.AppendJSON(append(b, `{"model":`...), model), `,"messages":[`...)
	if s.System != "" && (len(r.Messages) == 0 || r.Messages[0].Role != "system") {
		b = appendMessage(b, Message{Role: "system", Content: s.System})
		if len(r.Messages) > 0 {
			b = append(b, ',')
		}
	}
	for i, m := range r.Messages {
		b = appendMessage(append(b, separator(i)...), m)
	}
	b = append(b, ']')
	for k, t := range r.Tools {
		b = append(b, first(k, `,"tools":[`)...)
		b = wire.AppendJSON(append(b, `{"type":"function","function":{"name":`...), t.Name)
		b = wire.AppendJSON(append(b, `,"description":`...), t.Description)
		b = append(append(append(b, `,"parameters":`...), t.Parameters...), "}}"...)
	}
	if len(r.Tools) > 0 {
		b = append(b, ']')
	}
	if r.Continue {
		b = append(b, `,"add_generation_prompt":false,"continue_final_message":true`...)
	}
	b = append(b, `,"n":1`...)
	if !leftOut(s, "seed") {
		b = strconv.AppendUint(append(b, `,"seed":`...), WireSeed(r.Seed), 10)
	}
	if maxTokens > 0 {
		b = append(append(append(b, `,"`...), limitField...), `":`...)
		b = strconv.AppendInt(b, int64(maxTokens), 10)
	}
	if !leftOut(s, "temperature") {
		b = appendNumber(b, `,"temperature":`, s.Temperature)
	}
	if s.TopP > 0 && !leftOut(s, "top_p") {
		b = appendNumber(b, `,"top_p":`, s.TopP)
	}
	if s.TopK > 0 && !leftOut(s, "top_k") {
		b = strconv.AppendInt(append(b, `,"top_k":`...), int64(s.TopK), 10)
	}
	if s.MinP > 0 && !leftOut(s, "min_p") {
		b = appendNumber(b, `,"min_p":`, s.MinP)
	}
	if s.Stop != "" {
		b = append(append(b, `,"stop":`...), s.Stop...)
	}
	if s.ReasoningEffort != "" {
		b = wire.AppendJSON(append(b, `,"reasoning_effort":`...), s.ReasoningEffort)
	}
	if s.TemplateKwargs != "" {
		b = append(append(b, `,"chat_template_kwargs":`...), s.TemplateKwargs...)
	}
	if r.Top > 0 {
		b = strconv.AppendInt(append(b, `,"logprobs":true,"top_logprobs":`...), int64(r.Top), 10)
	}
	return append(b, '}')
}

// appendSent ends the body of a request as it is sent. What is off is said to be off: servers fill in what is missing from
// the model's own recommendation.
func appendSent(chat []byte, s spec.Sampling) []byte {
	return append(append(chat[:len(chat)-1], off(s)...), '}')
}

// off says of what a sampling does not set that it is off, if servers would fill it in.
func off(s spec.Sampling) (fields string) {
	if s.TopK == 0 && !leftOut(s, "top_k") {
		fields = `,"top_k":-1` // 0 was an error in servers up to 2024
	}
	if s.MinP == 0 && !leftOut(s, "min_p") {
		fields += `,"min_p":0`
	}
	return fields
}

// offs is how a server is told what is off: of the values of top_k that mean it, servers refuse one or the other, and who knows neither
// top_k nor min_p has both off.
type offs int32

const (
	negative offs = iota // top_k -1, as off writes it
	zero                 // top_k 0
	unsaid               // neither, or nothing is off
)

// say returns a body with its last n bytes of fields, which off wrote, as this says it. The body is left as it is.
func (o offs) say(body []byte, n int) []byte {
	if o == negative {
		return body
	}
	fields := body[len(body)-1-n : len(body)-1]
	body = slices.Clip(body[:len(body)-1-n])
	if o == zero {
		body = append(body, bytes.Replace(fields, []byte(`"top_k":-1`), []byte(`"top_k":0`), 1)...)
	}
	return append(body, '}')
}

// asStream makes a stream of a request. Where the server is known to be vLLM every event counts the tokens so far, which
// is the one way to know what a stream cost that broke off; other servers may refuse the word.
func asStream(sent []byte, vllm bool) []byte {
	b := append(make([]byte, 0, len(sent)+96), sent[:len(sent)-1]...)
	b = append(b, `,"stream":true,"stream_options":{"include_usage":true`...)
	if vllm {
		b = append(b, `,"continuous_usage_stats":true`...)
	}
	return append(b, "}}"...)
}

func leftOut(s spec.Sampling, field string) bool {
	return s.LeaveOut != "" && strings.Contains(string(s.LeaveOut), `"`+field+`"`)
}

func appendNumber(b []byte, name string, x float64) []byte {
	return strconv.AppendFloat(append(b, name...), x, 'g', -1, 64)
}

func appendMessage(b []byte, m Message) []byte {
	b = wire.AppendJSON(append(b, `{"role":`...), m.Role)
	b = wire.AppendJSON(append(b, `,"content":`...), m.Content)
	if m.CallID != "" {
		b = wire.AppendJSON(append(b, `,"tool_call_id":`...), m.CallID)
	}
	for k, c := range m.Calls {
		b = append(b, first(k, `,"tool_calls":[`)...)
		b = wire.AppendJSON(append(b, `{"type":"function","id":`...), c.ID)
		b = wire.AppendJSON(append(b, `,"function":{"name":`...), c.Name)
		b = append(wire.AppendJSON(append(b, `,"arguments":`...), c.Arguments), "}}"...)
	}
	if len(m.Calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func separator(i int) string { return first(i, "") }

// first returns what stands before element i of a list.
func first(i int, opening string) string {
	if i == 0 {
		return opening
	}
	return ","
}
