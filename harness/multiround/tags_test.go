package multiround

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	thinks = "<think>I should multiply.</think>\n"
	asks   = thinks + "<search> small:How much are six sevens? </search>"
	ends   = thinks + "<answer> 42 </answer>"
)

func TestEveryTurnOfTagsEndsAsTheSourcesDoes(t *testing.T) {
	down := func(experts.ChatRequest) (experts.Completion, error) {
		return experts.Completion{}, fmt.Errorf("expert small: %w after 6 tries", experts.ErrUnavailable)
	}
	for _, c := range []struct {
		name    string
		policy  []string
		expert  func(experts.ChatRequest) (experts.Completion, error)
		ending  Ending
		verdict routing.Bucket
		turns   int
		calls   int
		invalid string
		format  []Fault
	}{
		{"an answer at once", []string{ends}, nil, EndAnswer, routing.Correct, 1, 0, "", nil},
		{"a wrong answer", []string{thinks + "<answer>41</answer>"}, nil, EndAnswer, routing.Wrong, 1, 0, "", nil},
		{"an answer in a box", []string{thinks + `<answer>It is \boxed{42}.</answer>`}, nil, EndAnswer, routing.Correct, 1, 0, "", nil},
		{"an empty answer", []string{thinks + `<answer></answer>`}, nil, EndAnswer, routing.NoAnswer, 1, 0, "", nil},
		{"a call and an answer", []string{asks, ends}, nil, EndAnswer, routing.Correct, 2, 1, "", nil},
		{"four calls and the last word", []string{asks, asks, asks, asks, ends}, nil, EndAnswer, routing.Correct, 5, 4, "", nil},
		{"a fifth search finds calls disabled", []string{asks}, nil, EndLimit, routing.NoAnswer, 5, 4, "5:calls-disabled", []Fault{FaultAnswers, FaultInformation, FaultEnd}},
		{"nothing to do uses the turn up and adds nothing", []string{thinks, ends}, nil, EndAnswer, routing.Correct, 2, 0, "1:no-action", nil},
		{"silence to the end", []string{"hm"}, nil, EndLimit, routing.NoAnswer, 5, 0, "1:no-action 2:no-action 3:no-action 4:no-action 5:no-action", []Fault{FaultNoTags}},
		{"a search that is not closed", []string{thinks + "<search>small:What?", ends}, nil, EndAnswer, routing.Correct, 2, 0, "1:no-action", []Fault{FaultNested}},
		{"the words of the instructions", []string{thinks + "<search>EXPERT-NAME:YOUR-QUESTION</search>", ends}, nil, EndAnswer, routing.Correct, 2, 0, "1:placeholder", []Fault{FaultInformation, FaultPlaceholder, FaultUnknownModel}},
		{"no colon", []string{thinks + "<search>small</search>", ends}, nil, EndAnswer, routing.Correct, 2, 0, "1:no-colon", []Fault{FaultInformation, FaultColon, FaultNoQuestion}},
		{"no question", []string{thinks + "<search>small: </search>", ends}, nil, EndAnswer, routing.Correct, 2, 0, "1:no-question", []Fault{FaultInformation, FaultNoQuestion}},
		{"an unknown model is informed with None", []string{thinks + "<search>huge:What?</search>", ends}, nil, EndAnswer, routing.Correct, 2, 0, "1:unknown-model", []Fault{FaultUnknownModel}},
		{"a failed call is informed with None", []string{asks, ends}, down, EndAnswer, routing.Correct, 2, 1, "1:call-failed", nil},
		{"case does not matter in names", []string{thinks + "<search>SMALL:What?</search>", ends}, nil, EndAnswer, routing.Correct, 2, 1, "", nil},
		{"the first colon separates, but two are a fault", []string{thinks + "<search>small:The ratio 1:2?</search>", ends}, nil, EndAnswer, routing.Correct, 2, 1, "", []Fault{FaultColon}},
		{"an answer before a search wins, though the cut is behind the search", []string{thinks + "<answer>42</answer><search>small:What?</search>"}, nil, EndAnswer, routing.Correct, 1, 0, "", []Fault{FaultInformation, FaultEnd}},
		{"what follows a search is cut away", []string{asks + "<information>made up</information>" + ends, ends}, nil, EndAnswer, routing.Correct, 2, 1, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &chat{policy: says(c.policy...), expert: c.expert}
			got := play(t, SourceTags(), server)
			if got.Ending != c.ending || got.Verdict != c.verdict || got.Turns != c.turns || len(got.Calls) != c.calls || reasons(got) != c.invalid {
				t.Errorf("%s, %s, %d turns, %d calls, invalid %q", got.Ending, got.Verdict, got.Turns, len(got.Calls), reasons(got))
			}
			if diff := cmp.Diff(c.format, got.Format); diff != "" {
				t.Error(diff)
			}
			if want := (Tokens{int64(1000 * c.turns), int64(20 * c.turns)}); got.Usage != want {
				t.Errorf("usage %+v, want %+v", got.Usage, want)
			}
			if none := strings.Contains(transcriptOf(got.Messages), "<information>None</information>"); none != (strings.Contains(c.invalid, "unknown") || strings.Contains(c.invalid, "failed")) {
				t.Errorf("None in the transcript: %v", none)
			}
		})
	}
}

func TestTheTranscriptIsOneTextThatThePolicyContinues(t *testing.T) {
	server := &chat{policy: says(asks+" and more", ends)}
	got := play(t, SourceTags(), server)
	want := asks + "\n\n<information>small says 42</information>\n\n" + ends
	if text := transcriptOf(got.Messages); text != want {
		t.Errorf("transcript %q", text)
	}
	turns := server.to(router)
	first, second := turns[0], turns[1]
	if len(first.Messages) != 1 || first.Continue || first.MaxTokens != 1024 || first.Sampling != (spec.Sampling{Temperature: 1, TopP: 0.95}) {
		t.Errorf("first turn %+v", first)
	}
	if len(second.Messages) != 2 || !second.Continue || !cmp.Equal(second.Messages[1], experts.Message{Role: "assistant", Content: strings.TrimSuffix(want, ends)}) {
		t.Errorf("second turn %+v", second)
	}
	for _, part := range []string{"small: 4 billion parameters, 1 US dollars per million tokens read and 2 per million written.", "large.v2: 70", "Question: What is 6*7?\n"} {
		if !strings.Contains(first.Messages[0].Content, part) {
			t.Errorf("the prompt lacks %q:\n%s", part, first.Messages[0].Content)
		}
	}
	call := server.to("small")[0]
	if call.Sampling != (spec.Sampling{TopP: 1}) || call.Seed != 42 || call.MaxTokens != 512 || len(call.Messages) != 1 ||
		!strings.Contains(call.Messages[0].Content, "The question: How much are six sevens?\n") || !strings.Contains(call.Messages[0].Content, "below 512 tokens") {
		t.Errorf("call %+v", call)
	}
	if c := got.Calls[0]; c.Turn != 1 || c.Expert != "small" || c.Response != "small says 42" || c.Tokens != (Tokens{10, 100}) {
		t.Errorf("call filed as %+v", c)
	}
}

func TestInMessagesBothSidesTakeTurns(t *testing.T) {
	p := SourceTags()
	p.Layout, p.Sampling, p.Wrapper, p.ExpertMaxTokens = "messages", "pool", "problem", 0
	server := &chat{policy: says(asks, thinks, ends)}
	play(t, p, server)
	turns := server.to(router)
	var roles []string
	for _, m := range turns[2].Messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]string{"user", "assistant", "user", "assistant", "user"}, roles); diff != "" || turns[2].Continue {
		t.Error(diff)
	}
	call := server.to("small")[0]
	if call.Messages[0].Content != `How much are six sevens? Use \boxed{}.` || call.Sampling.Temperature != 0.6 || call.Seed == 42 || call.MaxTokens != 0 {
		t.Errorf("call %+v", call)
	}
}

func TestThinkingOfExpertsIsNotInformation(t *testing.T) {
	server := &chat{policy: says(asks, ends), expert: func(experts.ChatRequest) (experts.Completion, error) {
		return experts.Completion{Text: "long thoughts</think>\n\n42", Finish: routing.Stop, Usage: cost.Usage{Out: 9}}, nil
	}}
	if got := play(t, SourceTags(), server); got.Messages[2].Content != "\n\n<information>42</information>\n\n" {
		t.Errorf("information %q", got.Messages[2].Content)
	}
}

func TestThinkingThatAServerTookOutIsPutBack(t *testing.T) {
	c := says("<answer>42</answer>")
	c[0].Reasoning = "six sevens"
	got := play(t, SourceTags(), &chat{policy: c})
	if len(got.Format) != 0 || transcriptOf(got.Messages) != "<think>six sevens</think>\n<answer>42</answer>" {
		t.Errorf("%v %q", got.Format, transcriptOf(got.Messages))
	}
}

func TestLimitsCutTexts(t *testing.T) {
	p := SourceTags()
	p.ObsMaxTokens, p.StartMaxTokens = 20, 50
	server := &chat{policy: says(asks, ends), expert: func(experts.ChatRequest) (experts.Completion, error) {
		return experts.Completion{Text: strings.Repeat("é", 400), Finish: routing.Stop, Usage: cost.Usage{Out: 9}}, nil
	}}
	got := play(t, p, server)
	// 20 tokens are 80 bytes; the tags and line breaks take 31 bytes, 8 tokens; 12 tokens are 48 bytes, 24 letters.
	if want := "\n\n<information>" + strings.Repeat("é", 24) + "</information>\n\n"; got.Messages[2].Content != want || len(got.Format) != 0 {
		t.Errorf("information %q, faults %v", got.Messages[2].Content, got.Format)
	}
	if first := server.to(router)[0].Messages[0].Content; len(first) != 200 || !strings.HasSuffix(first, "Question: What is 6*7?\n") {
		t.Errorf("the prompt is %d bytes and ends %q", len(first), first[len(first)-30:])
	}

	p = SourceTags()
	p.PromptMaxTokens = 30 // 120 bytes; the transcript of the first turn has 118
	server = &chat{policy: says(asks, ends)}
	play(t, p, server)
	second := server.to(router)[1].Messages
	if !strings.HasSuffix(second[1].Content, "<information>small says 42</information>\n\n") || len(second[0].Content)+len(second[1].Content) > 120 {
		t.Errorf("%q", second)
	}
	p.PromptMaxTokens = 10
	server = &chat{policy: says(asks, ends)}
	play(t, p, server)
	if second = server.to(router)[1].Messages; second[0].Content != "" || len(second[1].Content) != 40 {
		t.Errorf("%q", second)
	}
}

func TestWhatAServerRefusesDoesNotEndTheRunAndWhatFailsDoes(t *testing.T) {
	full := fmt.Errorf("%w: 400 Bad Request: this conversation is too long", experts.ErrRefused)
	server := &chat{policy: says(asks), refuse: func(turn int, _ experts.ChatRequest) error {
		if turn == 2 {
			return full
		}
		return nil
	}}
	got := play(t, SourceTags(), server)
	if got.Ending != EndRefused || got.Turns != 1 || got.Verdict != routing.NoAnswer || len(got.Calls) != 1 || formatReward(got.Format) != -1 {
		t.Errorf("%+v", got)
	}
	for name, err := range map[string]error{"a refusal of the first request": full, "a server that is down": experts.ErrUnavailable, "a model that is not served": experts.ErrUnknownExpert, "a disk that is full": errors.New("no space left")} {
		server := &chat{policy: says(asks), refuse: func(turn int, _ experts.ChatRequest) error {
			if turn == 1 && name == "a disk that is full" { // it is so at any time
				return nil
			}
			return err
		}}
		if _, got := engine(SourceTags(), server).play(t.Context(), routing.Query{Problem: problem}); !errors.Is(got, err) || !strings.Contains(got.Error(), "problem p-1, run 0") {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, c := range map[string]struct {
		failures string
		err      error
	}{"failures that stop": {Stop, experts.ErrUnavailable}, "an expert that is not served": {Inform, experts.ErrUnknownExpert}, "a key that is wrong": {Inform, errors.New("401")}} {
		server := &chat{policy: says(asks), expert: func(experts.ChatRequest) (experts.Completion, error) { return experts.Completion{}, c.err }}
		e := engine(SourceTags(), server)
		e.Failures = c.failures
		if _, err := e.PlayAll(t.Context(), []routing.Query{{Problem: problem}}, 1, func() {}); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFormat(t *testing.T) {
	names := []string{"small", "large"}
	for _, c := range []struct {
		name, text string
		want       []Fault
	}{
		{"thinking and an answer", "<think>a</think><answer>b</answer>", nil},
		{"text between blocks is fine", " <think>a</think> so <answer>b</answer>\n", nil},
		{"a call", "<think>a</think><search>small:b</search><information>c</information><think>d</think><answer>e</answer>", nil},
		{"no tags", "42", []Fault{FaultNoTags}},
		{"a tag that is not closed", "<think>a</think><answer>b", []Fault{FaultUnbalanced}},
		{"a tag that is not opened", "a</think><answer>b</answer>", []Fault{FaultUnbalanced}},
		{"crossed tags", "<think>a<answer></think>b</answer>", []Fault{FaultNested}},
		{"a block in a block", "<think>a<search>small:b</search></think><answer>c</answer>", []Fault{FaultNested}},
		{"empty thinking", "<think> </think><answer>b</answer>", []Fault{FaultEmptyThink}},
		{"dotted thinking", "<think>...</think><answer>b</answer>", []Fault{FaultEmptyThink}},
		{"no thinking", "<answer>b</answer>", []Fault{FaultNoThink, FaultStart}},
		{"two answers", "<think>a</think><answer>b</answer><answer>c</answer>", []Fault{FaultAnswers}},
		{"no answer", "<think>a</think>", []Fault{FaultAnswers, FaultEnd}},
		{"a search without information", "<think>a</think><search>small:b</search><answer>c</answer>", []Fault{FaultInformation}},
		{"text before", "Well. <think>a</think><answer>b</answer>", []Fault{FaultStart}},
		{"text after", "<think>a</think><answer>b</answer>.", []Fault{FaultEnd}},
		{"a name in its question", "<think>a</think><search>small:ask Small</search><information>b</information><answer>c</answer>", []Fault{FaultNameInQuestion}},
		{"a name that is part of one on offer", "<think>a</think><search>smal:b</search><information>b</information><answer>c</answer>", []Fault{FaultUnknownModel}},
	} {
		if diff := cmp.Diff(c.want, format(c.text, names)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if want := -float64(min(len(c.want), 1)); formatReward(c.want) != want {
			t.Errorf("%s: reward %v", c.name, formatReward(c.want))
		}
	}
}

// FuzzTranscripts: whatever a policy writes, parsing ends, rewards are -1 or 0, and what pairs up is the same when it is
// taken apart and put together again.
func FuzzTranscripts(f *testing.F) {
	for _, text := range []string{asks, ends, asks + "<information>None</information>" + ends, "<think><think>", "</answer><answer>", "<search>a:b:c</search", "é<think>\xff</think>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r := formatReward(format(text, []string{"small"})); r != 0 && r != -1 {
			t.Errorf("reward %v", r)
		}
		generation := cut(text)
		if !strings.HasPrefix(text, generation) {
			t.Errorf("cut to %q", generation)
		}
		if a := parse(generation); a.kind != "" && !strings.Contains(generation, marked(block{a.kind, a.text})) {
			t.Errorf("%q is not in the generation", a)
		}
		if again := cut(generation); again != generation {
			t.Errorf("cut twice to %q", again)
		}
		if name, question, reason := splitSearch(text); reason == "" && (question == "" || strings.Contains(name, ":")) {
			t.Errorf("split into %q and %q", name, question)
		}
		blocks, _, ok := blocksOf(text)
		if !ok {
			return
		}
		var joined strings.Builder
		for _, b := range blocks {
			joined.WriteString(marked(b))
		}
		again, _, ok := blocksOf(joined.String())
		if diff := cmp.Diff(blocks, again); !ok || diff != "" {
			t.Error(diff)
		}
	})
}

// A policy that keeps to the rules writes well-formed trajectories, and taken apart they are what it and the experts said.
func TestWellFormedTrajectoriesParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9 ,.<>/\\{}$^é]{0,30}[0-9]`).Filter(func(s string) bool {
			_, _, ok := blocksOf(s)
			return ok && !copied(s) && !strings.Contains(strings.ToLower(s), "small") && !strings.Contains(strings.ToLower(s), "large.v2")
		})
		turns := rapid.IntRange(0, 4).Draw(t, "calls")
		var want []block
		var policy, replies []string
		for range turns {
			think, name, question, reply := text.Draw(t, "think"), rapid.SampledFrom(routing.IDs(pool)).Draw(t, "name"), text.Draw(t, "question"), text.Draw(t, "reply")
			reply = strings.TrimSpace(reply)
			b := []block{{thinkTag, think}, {searchTag, name + ":" + question}, {informationTag, reply}}
			want = append(want, b...)
			policy, replies = append(policy, marked(b[0])+marked(b[1])), append(replies, reply)
		}
		last := []block{{thinkTag, text.Draw(t, "think")}, {answerTag, text.Draw(t, "answer")}}
		want = append(want, last...)
		policy = append(policy, marked(last[0])+marked(last[1]))
		answered := 0
		server := &chat{policy: says(policy...), expert: func(experts.ChatRequest) (experts.Completion, error) {
			answered++
			return experts.Completion{Text: replies[answered-1], Finish: routing.Stop, Usage: cost.Usage{Out: 1}}, nil
		}}
		got, err := engine(SourceTags(), server).play(t.Context(), routing.Query{Problem: problem})
		if err != nil {
			t.Fatal(err)
		}
		blocks, _, _ := blocksOf(transcriptOf(got.Messages))
		if diff := cmp.Diff(want, blocks); diff != "" || len(got.Format) != 0 || len(got.Invalid) != 0 || len(got.Calls) != turns {
			t.Errorf("faults %v, invalid %v, %d calls: %s", got.Format, got.Invalid, len(got.Calls), diff)
		}
	})
}

// marked is a block with its tags.
func marked(b block) string { return open(b.Tag) + b.Text + closing(b.Tag) }
