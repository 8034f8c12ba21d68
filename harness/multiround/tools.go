// xRouter's protocol: calls of tools.

package multiround

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Tools is xRouter's protocol: native tool calls. There is a tool call_<model> for every expert, with a system prompt
// of the policy's making and a temperature, and select_response, which hands over a model's last response word for
// word. An expert reads that system prompt and the user's query, nothing else. Several calls in one turn are made at
// once.
//
// A trajectory ends with a message without tool calls, which is the answer; with select_response, alone in its turn; or
// without an answer once MaxTurns turns have had tool calls and the next has some again. here: MaxTurns counts turns with
// calls alone, and the answer may follow. The source (sglang_rollout.py) counts generations, of which the last has to be an answer in text:
// with its 3 two turns may call, and nothing is handed over after both have called experts.
//
// What cannot be carried out is answered by an error message, as a tool's is, and counted in Invalid. here: the
// conversation goes on. The source ends it without an answer where a tool is unknown, where no call has arguments in
// JSON, and where select_response is not alone.
type Tools struct {
	MaxTurns          int  `yaml:"max_turns" in:"[1,1000]"`               // turns with tool calls; source: 3 generations, see above
	ResponseMaxTokens int  `yaml:"response_max_tokens" in:"[1,10000000]"` // of a message of the policy; source: 8192
	ExpertMaxTokens   int  `yaml:"expert_max_tokens" in:"[0,10000000]"`   // of an expert's response; 0: the expert's own limit
	Simple            bool `yaml:"simple"`                                // the response to a first turn with exactly one call is the answer
	ShowAccuracy      bool `yaml:"show_accuracy"`                         // tell how many training problems each expert solves, as the source tells benchmark results
}

// SourceTools are the limits of xRouter's code.
func SourceTools() Tools {
	return Tools{MaxTurns: 3, ResponseMaxTokens: 8192, ShowAccuracy: true}
}

func (Tools) name() string { return "tools" }

const selectTool = "select_response"

// toolNames returns the names of the experts' tools: call_ and the id, with an underscore for what servers forbid in
// names.
func toolNames(list []routing.Expert) []string {
	var names []string
	seen := map[string]bool{}
	for _, x := range list {
		name := "call_" + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
				return r
			}
			return '_'
		}, x.ID)
		for seen[name] {
			name += "_"
		}
		seen[name] = true
		names = append(names, name)
	}
	return names
}

// offer returns the tools, those of the experts in their order and then select_response.
func (t Tools) offer(list []routing.Expert, accuracy []float64) []experts.Tool {
	names := toolNames(list)
	var tools []experts.Tool
	for m, x := range list {
		tier := "standard"
		switch m {
		case 0:
			tier = "cheapest"
		case len(list) - 1:
			tier = "strongest and dearest"
		}
		about := fmt.Sprintf("Ask %s (tier: %s): %s.", x.ID, tier, about(x))
		if x.MaxTokens > 0 {
			about += fmt.Sprintf(" Writes up to %d tokens.", x.MaxTokens)
		}
		if t.ShowAccuracy && accuracy != nil {
			about += fmt.Sprintf(" Solves %.0f%% of a set of mathematical problems.", 100*accuracy[m])
		}
		tools = append(tools, experts.Tool{Name: names[m], Description: about, Parameters: `{"type":"object","properties":{` +
			`"optimized_system_prompt":{"type":"string","description":"System prompt for the model, written for this query. The query itself is added; do not repeat it."},` +
			`"temperature":{"type":"number","description":"Sampling temperature.","default":1.0}},"required":["optimized_system_prompt"]}`})
	}
	return append(tools, experts.Tool{Name: selectTool, Description: "End by handing over the last response of a model word for word. Use it alone, after that model has answered.", Parameters: `{"type":"object","properties":{` +
		`"model_call_name":{"type":"string","description":"Name of the tool whose response is handed over."}},"required":["model_call_name"]}`})
}

// systemPrompt is the policy's instructions.
func (Tools) systemPrompt() string {
	return "You route queries to language models and write the prompts for them. " +
		"Small talk and trivial requests you answer yourself. For everything else choose one or more models by their tools and write each a system prompt that helps it with this query; it sees that prompt and the query.\n" +
		"Your first aim is low cost. Of two models that would both do, take the cheaper. Answering by yourself costs least, but an inadequate answer is punished: you are a weak chat model, so when you are not sure, call a stronger one.\n" +
		"When a response is good, hand it over by " + selectTool + " rather than retelling it. " + selectTool + " must be the only call of its turn.\n" +
		"Write your reasoning between <think> and </think>, then your message."
}

func (t Tools) play(ctx context.Context, g *game) error {
	e := g.engine
	query := experts.Prompt(e.Sampling.Prompt, g.query.Problem.Text)
	g.say(Message{Role: system, Content: t.systemPrompt()})
	g.say(Message{Role: user, Content: "USER QUERY:\n" + query})
	offer, names := t.offer(e.Experts, e.Accuracy), toolNames(e.Experts)
	last := map[string]Call{} // each expert's last response
	for calls := 0; ; {
		var messages []experts.Message
		for _, m := range g.t.Messages {
			messages = append(messages, experts.Message(m))
		}
		c, ok, err := g.ask(ctx, Turn{Messages: messages, Tools: offer, MaxTokens: t.ResponseMaxTokens})
		if err != nil || !ok {
			return err
		}
		c.Calls = slices.Clone(c.Calls)
		for i := range c.Calls {
			if c.Calls[i].ID == "" { // some servers give none, and a result must name its call
				c.Calls[i].ID = fmt.Sprintf("call-%d-%d", g.t.Turns, i+1)
			}
		}
		g.say(Message{Role: assistant, Content: c.Text, Calls: c.Calls})
		if len(c.Calls) == 0 {
			if text := spoken(c.Text); text != "" || c.Finish == routing.Length {
				g.end(EndAnswer, text, false, c.Finish)
			} else {
				g.end(EndEmpty, "", false, "")
			}
			return nil
		}
		if calls++; calls > t.MaxTurns {
			g.invalid(BeyondTheLimit)
			g.end(EndLimit, "", false, "")
			return nil
		}
		done, err := t.turn(ctx, g, c.Calls, names, query, last)
		if err != nil || done {
			return err
		}
	}
}

// turn carries out the tool calls of one message.
func (t Tools) turn(ctx context.Context, g *game, calls []experts.ToolCall, names []string, query string, last map[string]Call) (done bool, err error) {
	type outcome struct {
		call   *Call
		reason Reason
		text   string
	}
	outcomes := make([]outcome, len(calls))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range calls {
		o := &outcomes[i]
		if c.Name == selectTool {
			if len(calls) > 1 {
				o.reason, o.text = NotAlone, selectTool+" must be the only call of its turn"
				continue
			}
			taken, reason := selected(c.Arguments, names, g.engine.Experts, last)
			if reason == "" {
				g.t.From = taken.Expert
				g.end(EndSelect, taken.Response, false, routing.Finish(taken.Finish))
				return true, nil
			}
			o.reason, o.text = reason, "there is no response of that name to hand over"
			continue
		}
		m := slices.Index(names, c.Name)
		if m < 0 {
			o.reason, o.text = UnknownTool, fmt.Sprintf("there is no tool %q; there are: %s, %s", c.Name, strings.Join(names, ", "), selectTool)
			continue
		}
		prompt, temperature, ok := callArguments(c.Arguments)
		if !ok {
			o.reason, o.text = BadArguments, "the arguments must be a JSON object with optimized_system_prompt, a text, and temperature, a number from 0 to 2"
			continue
		}
		group.Go(func() error {
			defer crash.Exit()
			s := g.engine.Sampling
			s.Temperature = temperature
			call, err := g.call(ctx, g.engine.Experts[m], i, []experts.Message{{Role: system, Content: prompt}, {Role: user, Content: query}}, s, nil, t.ExpertMaxTokens)
			o.call = &call
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	for i, o := range outcomes {
		switch {
		case o.call == nil:
			g.invalid(o.reason)
			o.text = "error: " + o.text
		case o.call.Failed != "":
			g.t.Calls = append(g.t.Calls, *o.call)
			g.invalid(CallFailed)
			o.text = "error: the model did not answer"
		default:
			g.t.Calls = append(g.t.Calls, *o.call)
			last[o.call.Expert] = *o.call
			o.text = o.call.Response
		}
		g.say(Message{Role: tool, Content: o.text, CallID: calls[i].ID})
	}
	if only := g.t.Calls; t.Simple && g.t.Turns == 1 && len(calls) == 1 && len(only) == 1 && only[0].Failed == "" {
		g.t.From = only[0].Expert
		g.end(EndSelect, only[0].Response, false, routing.Finish(only[0].Finish))
		return true, nil
	}
	return false, nil
}

// selected returns the response that select_response names, by the tool's name or the expert's id.
func selected(arguments string, names []string, list []routing.Expert, last map[string]Call) (Call, Reason) {
	var a struct {
		Name *string `json:"model_call_name"`
	}
	if json.Unmarshal([]byte(arguments), &a) != nil || a.Name == nil {
		return Call{}, BadArguments
	}
	m := slices.Index(names, *a.Name)
	if m < 0 {
		m = slices.Index(routing.IDs(list), *a.Name)
	}
	if m < 0 {
		return Call{}, NothingToTake
	}
	c, ok := last[list[m].ID]
	if !ok {
		return Call{}, NothingToTake
	}
	return c, ""
}

// callArguments reads the arguments of a call; the temperature is 1 if there is none.
func callArguments(arguments string) (prompt string, temperature float64, ok bool) {
	var a struct {
		Prompt      *string  `json:"optimized_system_prompt"`
		Temperature *float64 `json:"temperature"`
	}
	if json.Unmarshal([]byte(arguments), &a) != nil || a.Prompt == nil {
		return "", 0, false
	}
	if a.Temperature == nil {
		return *a.Prompt, 1, true
	}
	return *a.Prompt, *a.Temperature, *a.Temperature >= 0 && *a.Temperature <= 2
}
