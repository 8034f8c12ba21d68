// Conversations with tools: the part of the protocol that multi-round policies need.

package experts

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Message is one message of a conversation, as POST /v1/chat/completions takes it.
type Message struct {
	Role    string     `json:"role"` // system, user, assistant or tool
	Content string     `json:"content"`
	Calls   []ToolCall `json:"tool_calls,omitempty"`   // role assistant: the tools it called
	CallID  string     `json:"tool_call_id,omitempty"` // role tool: the call that this is the result of
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  string // JSON schema of the arguments
}

// ChatRequest asks one model for the next message of a conversation.
type ChatRequest struct {
	Expert    string    // id of the endpoint
	Messages  []Message // at least one
	Tools     []Tool
	Continue  bool          // the last message is the assistant's and is to be continued, not answered; an extension of vLLM
	Seed      seed.Seed     // its low 53 bits are sent
	Sampling  spec.Sampling // temperature and the like; Prompt is not applied
	MaxTokens int           // 0: the endpoint's own limit
	Top       int           // so many of the likeliest first tokens are asked for; 0: none
	Attempts  Attempts      // hears of every attempt; nil: nobody
}

// Ask is one text for a model, outside a conversation.
type Ask struct {
	Text string
	Run  int       // of the query
	Seed seed.Seed // of the answer; its low 53 bits are sent
}

// Chatter asks models for the next message of a conversation. HTTP is one.
type Chatter interface {
	// Chat is safe for concurrent use. Errors are those of Pool.
	Chat(ctx context.Context, r ChatRequest) (Completion, error)
}
