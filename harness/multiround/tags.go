// Router-R1's protocol: tags in a text.

package multiround

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Tags is Router-R1's protocol: one prompt and then a single text, which the policy writes and into which the engine
// puts what experts say. The policy thinks in <think>, asks by <search> NAME:QUESTION </search>, reads <information>,
// and ends by <answer>.
//
// A generation is cut behind its first </search> or, without one, its first </answer>; the first complete search or
// answer in what is left is its action. A malformed one (see Reason) adds nothing and uses the turn up; an unknown
// model and a failed call add an information block that says None. After MaxTurns generations without an answer there
// is one more in which calls are disabled.
//
// Limits in tokens; 0 is none. Here: an endpoint's tokenizer is not at hand, so texts are cut at four bytes a token.
type Tags struct {
	MaxTurns          int    `yaml:"max_turns" in:"[1,1000]"`               // generations that may call; source: 4
	ResponseMaxTokens int    `yaml:"response_max_tokens" in:"[1,10000000]"` // of a generation; source: 1024
	StartMaxTokens    int    `yaml:"start_max_tokens" in:"[0,10000000]"`    // of the prompt, which is cut from its front; source: 2048
	PromptMaxTokens   int    `yaml:"prompt_max_tokens" in:"[0,10000000]"`   // of prompt and transcript, cut from the front; source: 4096
	ObsMaxTokens      int    `yaml:"obs_max_tokens" in:"[0,10000000]"`      // of an information block, cut from its end; source: 600
	ExpertMaxTokens   int    `yaml:"expert_max_tokens" in:"[0,10000000]"`   // of an expert's response; 0: the expert's own limit; source: 512
	Sampling          string `yaml:"sampling" oneof:"source pool"`          // source: temperature 0, top_p 1, seed 42; pool: as the pool says, a stream a call
	Layout            string `yaml:"layout" oneof:"continue messages"`      // continue: the policy continues its own message, as in the source (needs vLLM); messages: information comes as messages of the user, for any server
	Wrapper           string `yaml:"wrapper" oneof:"source problem none"`   // around the question to an expert. source: answer a sub-question briefly; problem: the pool's template for problems; none
}

// SourceTags are the limits of Router-R1's code.
func SourceTags() Tags {
	return Tags{MaxTurns: 4, ResponseMaxTokens: 1024, StartMaxTokens: 2048, PromptMaxTokens: 4096, ObsMaxTokens: 600, ExpertMaxTokens: 512, Sampling: "source", Layout: "continue", Wrapper: "source"}
}

func (Tags) name() string { return "tags" }

// prompt is the policy's prompt. Names are the ids of the experts.
func (Tags) prompt(list []routing.Expert, problem string) string {
	var b strings.Builder
	b.WriteString("Solve the question at the end. First, and again whenever you have learned something, reason between <think> and </think>. " +
		"If you then find that you lack knowledge or do not trust your own result, ask one of the models below: write <search> " + placeholderName + ":" + placeholderQuestion + " </search> " +
		"and its reply will appear between <information> and </information>. " +
		"Before you ask, say in your reasoning what you need and which model suits it. " +
		"Replace " + placeholderName + " by the exact name of a model and " + placeholderQuestion + " by a question in your own words; never copy these two. " +
		"Ask as often as you need; trying different models is encouraged. " +
		"Once nothing is missing, give the final answer between <answer> and </answer> and explain nothing there.\n\nModels:\n")
	for _, x := range list {
		fmt.Fprintf(&b, "\n%s: %s.\n", x.ID, about(x))
	}
	problem = strings.TrimSpace(problem)
	if !strings.HasSuffix(problem, "?") {
		problem += "?"
	}
	b.WriteString("\nQuestion: " + problem + "\n")
	return b.String()
}

// wrap is the prompt of an expert.
func (t Tags) wrap(template, question string) string {
	switch t.Wrapper {
	case "problem":
		return experts.Prompt(template, question)
	case "none":
		return question
	}
	limit := "Be concise."
	if t.ExpertMaxTokens > 0 {
		limit = fmt.Sprintf("Be concise and stay below %d tokens.", t.ExpertMaxTokens)
	}
	return "You are one of several agents that support a base model. It has split a task and sends you a part of it. Answer this part, or supply facts that help with it. " + limit +
		" If you cannot help, say so openly and suggest to ask another model.\n\nThe question: " + question + "\n"
}

func (t Tags) play(ctx context.Context, g *game) error {
	g.say(Message{Role: user, Content: t.prompt(g.engine.Experts, g.query.Problem.Text)})
	defer t.judge(g)
	for g.t.Ending == "" {
		last := g.t.Turns >= t.MaxTurns
		a, ok, err := t.generate(ctx, g)
		if err != nil || !ok {
			return err
		}
		switch {
		case a.kind == answerTag:
			g.end(EndAnswer, strings.TrimSpace(a.text), true, routing.Stop)
		case a.kind == searchTag && last:
			g.invalid(CallsDisabled)
		case a.kind == searchTag:
			err = t.search(ctx, g, a.text)
		default:
			g.invalid(NoAction)
		}
		if err != nil {
			return err
		}
		if last && g.t.Ending == "" {
			g.end(EndLimit, "", false, "")
		}
	}
	return nil
}

// judge files the faults of the format.
func (t Tags) judge(g *game) {
	g.t.Format = format(transcriptOf(g.t.Messages), routing.IDs(g.engine.Experts))
}

// transcriptOf returns what follows the prompt: the text that Router-R1 scores.
func transcriptOf(messages []Message) string {
	var b strings.Builder
	for _, m := range messages[1:] {
		b.WriteString(m.Content)
	}
	return b.String()
}

// generate has the policy write on and returns its action.
func (t Tags) generate(ctx context.Context, g *game) (action, bool, error) {
	messages, goOn := t.view(g.t.Messages)
	c, ok, err := g.ask(ctx, Turn{Messages: messages, Continue: goOn, MaxTokens: t.ResponseMaxTokens})
	if err != nil || !ok {
		return action{}, false, err
	}
	text := c.Text
	if c.Reasoning != "" && !strings.Contains(text, open(thinkTag)) { // a server that takes thinking out of the text
		text = open(thinkTag) + c.Reasoning + closing(thinkTag) + "\n" + text
	}
	text = cut(text)
	g.say(Message{Role: assistant, Content: text})
	return parse(text), true, nil
}

// view lays the conversation out for a server: within the limits, and with the transcript in the policy's own message
// or in messages of both sides.
func (t Tags) view(all []Message) (messages []experts.Message, goOn bool) {
	prompt := all[0].Content
	if t.StartMaxTokens > 0 {
		prompt = lastTokens(prompt, t.StartMaxTokens)
	}
	messages = []experts.Message{{Role: user, Content: prompt}}
	if t.Layout == "continue" {
		if text := transcriptOf(all); text != "" {
			messages, goOn = append(messages, experts.Message{Role: assistant, Content: text}), true
		}
		return t.crop(messages), goOn
	}
	for _, m := range all[1:] {
		role := user
		if m.Role == assistant {
			role = assistant
		}
		if role == assistant && messages[len(messages)-1].Role == assistant {
			messages = append(messages, goOnMessage)
		}
		messages = append(messages, experts.Message{Role: role, Content: m.Content})
	}
	if messages[len(messages)-1].Role == assistant {
		messages = append(messages, goOnMessage)
	}
	return t.crop(messages), false
}

// goOnMessage stands where the source has nothing. here: in a chat, two messages of one side cannot follow each other.
var goOnMessage = experts.Message{Role: user, Content: "Go on."}

// crop takes what is above the limit from the front of a conversation.
func (t Tags) crop(messages []experts.Message) []experts.Message {
	if t.PromptMaxTokens == 0 {
		return messages
	}
	room := t.PromptMaxTokens
	for i := range slices.Backward(messages) {
		m := &messages[i]
		m.Content = lastTokens(m.Content, room)
		room -= countTokens(m.Content)
	}
	return messages
}

// search carries out a call.
func (t Tags) search(ctx context.Context, g *game, content string) error {
	name, question, reason := splitSearch(content)
	if reason != "" {
		g.invalid(reason)
		return nil
	}
	m := slices.IndexFunc(g.engine.Experts, func(x routing.Expert) bool { return strings.EqualFold(x.ID, name) })
	if m < 0 {
		g.invalid(UnknownModel)
		t.inform(g, none)
		return nil
	}
	s, fixed := spec.Sampling{TopP: 1}, new(seed.Seed)
	*fixed = 42
	if t.Sampling == "pool" {
		s, fixed = g.engine.Sampling, nil
	}
	c, err := g.call(ctx, g.engine.Experts[m], 0, []experts.Message{{Role: user, Content: t.wrap(g.engine.Sampling.Prompt, question)}}, s, fixed, t.ExpertMaxTokens)
	if err != nil {
		return err
	}
	g.t.Calls = append(g.t.Calls, c)
	if c.Failed != "" {
		g.invalid(CallFailed)
		t.inform(g, none)
		return nil
	}
	t.inform(g, c.Response)
	return nil
}

// none is what the policy reads where there is no response.
const none = "None"

// inform puts an information block into the transcript.
func (t Tags) inform(g *game, text string) {
	block := "\n\n" + open(informationTag) + text + closing(informationTag) + "\n\n"
	if t.ObsMaxTokens > 0 && countTokens(block) > t.ObsMaxTokens {
		// The source cuts the whole block, and the closing tag with it: every such trajectory has a format fault. Here:
		// the text is cut and the tag stays, since the policy did not write it.
		room := max(t.ObsMaxTokens-countTokens("\n\n"+open(informationTag)+closing(informationTag)+"\n\n"), 0)
		block = "\n\n" + open(informationTag) + firstTokens(text, room) + closing(informationTag) + "\n\n"
	}
	g.say(Message{Role: information, Content: block})
}
