// A trajectory: one query from its first prompt to its reward, and its line of JSON.

package multiround

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// schema is raised when a field of Trajectory changes its meaning.
const schema = 1

// Trajectory is one query from its first prompt to its reward. The package documentation explains the fields.
type Trajectory struct {
	Schema   int            `json:"schema"`
	Protocol string         `json:"protocol"`
	Problem  string         `json:"problem"`
	Run      int            `json:"run"`
	Messages []Message      `json:"messages"`
	Turns    int            `json:"turns"`
	Usage    Tokens         `json:"usage"`
	Calls    []Call         `json:"calls,omitempty"`
	Invalid  []Invalid      `json:"invalid,omitempty"`
	Ending   Ending         `json:"ending"`
	From     string         `json:"from,omitempty"`
	Format   []Fault        `json:"format,omitempty"`
	Answer   string         `json:"answer"`
	Bare     bool           `json:"bare,omitempty"`
	Finish   routing.Finish `json:"finish,omitempty"`
	Verdict  routing.Bucket `json:"verdict"`
	Correct  float64        `json:"correct"`
	Cost     float64        `json:"cost"`
	Reward   float64        `json:"reward"`
}

// Message is one message of a conversation.
type Message struct {
	Role    string             `json:"role"` // system, user, assistant, information (tags) or tool (tools)
	Content string             `json:"content"`
	Calls   []experts.ToolCall `json:"tool_calls,omitempty"`
	CallID  string             `json:"tool_call_id,omitempty"`
}

// Roles of messages.
const (
	system      = "system"
	user        = "user"
	assistant   = "assistant"
	information = "information"
	tool        = "tool"
)

// Call is one request to an expert.
type Call struct {
	Turn        int     `json:"turn"`
	Expert      string  `json:"expert"`
	System      string  `json:"system,omitempty"`
	Prompt      string  `json:"prompt"`
	Temperature float64 `json:"temperature"`
	Response    string  `json:"response"`
	Finish      string  `json:"finish,omitempty"`
	Tokens
	Failed string `json:"failed,omitempty"`
}

// Tokens is a usage as trajectories have it.
type Tokens struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// Invalid is an action that could not be carried out.
type Invalid struct {
	Turn   int    `json:"turn"`
	Reason Reason `json:"reason"`
}

// Reason says why an action was invalid.
type Reason string

// Reasons.
const (
	NoAction       Reason = "no-action"        // tags: neither a search nor an answer
	Placeholder    Reason = "placeholder"      // tags: the words of the instructions stand where a name or question should
	NoColon        Reason = "no-colon"         // tags: a search without name or question
	NoQuestion     Reason = "no-question"      // tags: a search whose question is empty
	UnknownModel   Reason = "unknown-model"    // a model that is not on offer
	CallFailed     Reason = "call-failed"      // the expert's server had no answer or refused
	CallsDisabled  Reason = "calls-disabled"   // tags: a search in the last generation
	UnknownTool    Reason = "unknown-tool"     // tools: a tool that is not on offer
	BadArguments   Reason = "bad-arguments"    // tools: arguments that are no JSON object or lack what is required
	NotAlone       Reason = "not-alone"        // tools: select_response beside other calls
	NothingToTake  Reason = "nothing-to-take"  // tools: select_response of a model that has not answered
	BeyondTheLimit Reason = "beyond-the-limit" // tools: calls after the last turn that may have some
)

// Fault is a way in which a transcript breaks Router-R1's format.
type Fault string

// Faults.
const (
	FaultNoTags         Fault = "no-tags"          // no block at all
	FaultUnbalanced     Fault = "unbalanced"       // a tag that is opened and not closed, or the other way round
	FaultNested         Fault = "nested"           // a block inside another
	FaultNoThink        Fault = "no-think"         // no think block
	FaultEmptyThink     Fault = "empty-think"      // a think block with nothing or dots in it
	FaultAnswers        Fault = "answers"          // not exactly one answer
	FaultInformation    Fault = "information"      // not as many information blocks as searches
	FaultStart          Fault = "start"            // does not start with a think block
	FaultEnd            Fault = "end"              // does not end with the answer
	FaultColon          Fault = "colon"            // a search without exactly one colon
	FaultNoQuestion     Fault = "no-question"      // a search with an empty question
	FaultPlaceholder    Fault = "placeholder"      // a search that repeats the words of the instructions
	FaultNameInQuestion Fault = "name-in-question" // a search that names its model again in the question
	FaultUnknownModel   Fault = "unknown-model"    // a search of a model that is not on offer
)

// Ending says how a trajectory ended.
type Ending string

// Endings.
const (
	EndAnswer  Ending = "answer"   // the policy wrote an answer: its own, or what it made of the experts'
	EndSelect  Ending = "select"   // tools: an expert's response was handed over word for word
	EndLimit   Ending = "limit"    // the turns were used up without an answer
	EndRefused Ending = "refused"  // the policy's server refused to go on, as when the window is full
	EndEmpty   Ending = "no-reply" // tools: the policy wrote nothing and called nothing
)

// writeTrajectories writes a line of JSON each.
func writeTrajectories(w io.Writer, trajectories []Trajectory) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, t := range trajectories {
		if err := enc.Encode(t); err != nil {
			return fmt.Errorf("trajectory of problem %s, run %d: %w", t.Problem, t.Run, err)
		}
	}
	return b.Flush()
}

// answered returns how many calls had a response.
func (t *Trajectory) answered() (n int) {
	for _, c := range t.Calls {
		if c.Failed == "" {
			n++
		}
	}
	return n
}

// dollars returns what the calls cost; failed ones cost nothing.
func (t *Trajectory) dollars(pool []routing.Expert, countInput bool) (float64, error) {
	var usd float64
	for _, c := range t.Calls {
		m := expertIndex(pool, c.Expert)
		if m < 0 {
			return 0, fmt.Errorf("problem %s, run %d: call of expert %q, who is not in the pool", t.Problem, t.Run, c.Expert)
		}
		usd += pool[m].Price.USD(cost.Usage{In: c.In, Out: c.Out}, countInput)
	}
	return usd, nil
}

func expertIndex(pool []routing.Expert, id string) int {
	return slices.IndexFunc(pool, func(x routing.Expert) bool { return x.ID == id })
}
