// What is asked for: the part of a chat completion request that is read, and what of it is refused.

package vllm

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// chatRequest is the part of a chat completion request that is read. Fields that a client leaves out have vLLM's defaults.
type chatRequest struct {
	Model               string     `json:"model"`
	Messages            []message  `json:"messages"`
	Seed                int64      `json:"seed"`
	MaxTokens           *int       `json:"max_tokens"` // nil: none
	MaxCompletionTokens int        `json:"max_completion_tokens"`
	Temperature         float64    `json:"temperature"`
	TopP                float64    `json:"top_p"`
	TopK                int        `json:"top_k"`
	MinP                float64    `json:"min_p"`
	N                   int        `json:"n"`
	Stop                oneOrMore  `json:"stop"`
	RequestID           string     `json:"request_id"`
	Stream              bool       `json:"stream"`
	StreamOptions       *streaming `json:"stream_options"`
}

// prompt returns the last user message, or what is wrong with the request.
func (q chatRequest) prompt() (prompt, fault string) {
	switch {
	case q.StreamOptions != nil && !q.Stream:
		return "", "Stream options can only be defined when `stream=True`."
	case q.N < 1 || q.N > maxChoices:
		return "", fmt.Sprintf("n must be at least 1 and at most %d, got %d.", maxChoices, q.N)
	case q.Temperature < 0:
		return "", fmt.Sprintf("temperature must be non-negative, got %s.", python(q.Temperature))
	case q.Temperature > 2:
		return "", fmt.Sprintf("temperature must be in [0, 2], got %s.", python(q.Temperature))
	case q.TopP <= 0 || q.TopP > 1:
		return "", fmt.Sprintf("top_p must be in (0, 1], got %s.", python(q.TopP))
	case q.TopK < -1:
		return "", fmt.Sprintf("top_k must be 0 (disable), or at least 1, got %d.", q.TopK)
	case q.MinP < 0 || q.MinP > 1:
		return "", fmt.Sprintf("min_p must be in [0, 1], got %s.", python(q.MinP))
	case q.N > 1 && q.Temperature == 0:
		return "", fmt.Sprintf("n must be 1 when using greedy sampling, got %d.", q.N)
	case q.limit() < 0, q.MaxTokens != nil && q.limit() == 0:
		return "", fmt.Sprintf("max_tokens must be at least 1, got %d.", q.limit())
	}
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == "user" {
			return q.Messages[i].Content, ""
		}
	}
	return "", "messages holds no message of role user"
}

// limit is the token limit; max_completion_tokens wins unless it is 0, as in vLLM. 0: there is none, or it is that of max_tokens.
func (q chatRequest) limit() int {
	if q.MaxCompletionTokens != 0 || q.MaxTokens == nil {
		return q.MaxCompletionTokens
	}
	return *q.MaxTokens
}

// python is a number as Python prints it.
func python(x float64) string {
	if size := math.Abs(x); x != 0 && size < 1e-4 || size >= 1e16 {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// room says why a model with a window of so many tokens cannot take the request.
func (q chatRequest) room(window int, prompt int64) string {
	limit := q.limit()
	switch {
	case window == 0:
	case prompt >= int64(window):
		return fmt.Sprintf("This model's maximum context length is %d tokens. However, your request has %d input tokens. Please reduce the length of the input messages.", window, prompt)
	case int64(limit) > int64(window)-prompt:
		return fmt.Sprintf("'max_tokens' or 'max_completion_tokens' is too large: %d. This model's maximum context length is %d tokens and your request has %d input tokens (%d > %d - %d).", limit, window, prompt, limit, window, prompt)
	}
	return ""
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type streaming struct {
	Usage      bool `json:"include_usage"`
	Continuous bool `json:"continuous_usage_stats"`
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if *o = nil; one != "" {
			*o = oneOrMore{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

const maxChoices = 128 // of one request; vLLM has no limit

// tokens is how many a text has: a quarter of its bytes, as simulated models count.
func tokens(text string) int64 { return int64(len(text)+3) / 4 }
