// Models that are functions: what they are asked, and what they answer.

package vllm

import "context"

// Model is a model that is served.
type Model struct {
	Name   string
	Alias  string // a second name; empty: none
	Window int    // tokens that prompt and response may have together, as /v1/models says; 0: not said, and no limit
}

// Request asks for one response.
type Request struct {
	Model       string // its Name
	Prompt      string // the last user message
	Seed        int64  // of this response; 0 where the client sent none, so that the same request gets the same response
	MaxTokens   int    // 0: the client sent none
	Temperature float64
	TopP        float64
	TopK        int
}

// Answer is one response, before a reasoning parser and stop strings have changed it.
type Answer struct {
	Text      string // thinking included, in <think>...</think>
	Reasoning string // thinking that is apart whether or not the server has a reasoning parser
	Finish    string // stop, length, or whatever a client is to meet
	In, Out   int64  // tokens
}

// Func answers requests. It is safe for concurrent use. An error that is no *Error is the server's own failure.
type Func func(ctx context.Context, r Request) (Answer, error)
