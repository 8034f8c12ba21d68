package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/explain"
)

// shown is what stands on a terminal of one line, after what was written to it.
func shown(written string) string {
	lines := strings.Split(written, "\r")
	return strings.TrimSuffix(lines[len(lines)-1], "\x1b[K")
}

func onTerminal(out io.Writer, width int) *nested {
	p := newProgress(out, false)
	p.width = func() int { return width }
	return &nested{progress: p}
}

// nested is the progress of what goes on inside each other: what began last is what is done, and what something is said of.
type nested struct {
	*progress
	open []harness.Task
}

func (n *nested) Start(what string, total int) {
	n.open = append(n.open, n.progress.Start(what, total))
}

func (n *nested) Add(parts int)   { n.open[len(n.open)-1].Add(parts) }
func (n *nested) Say(text string) { n.open[len(n.open)-1].Say(text) }

func (n *nested) Done() {
	n.open[len(n.open)-1].Done()
	n.open = n.open[:len(n.open)-1]
}

// saysLeft holds how long the rest takes to what it should.
func (n *nested) saysLeft(t *testing.T) func(want time.Duration) {
	return func(want time.Duration) {
		t.Helper()
		n.mu.Lock()
		defer n.mu.Unlock()
		n.charge(time.Now())
		if got, ok := n.left(time.Now()); !ok || got != want {
			t.Errorf("%v, %v; want %v", got, ok, want)
		}
	}
}

// pending are steps of which nobody knows how long they take.
func pending(names ...string) (todo []explain.Pending) {
	for _, name := range names {
		todo = append(todo, explain.Pending{Name: name})
	}
	return todo
}

// A run of two experiments, as a person watches it.
func TestProgressOfTwoExperiments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 120)
		p.Start("2 experiments", 0)
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := shown(out.String()), "2 experiments · looking at what is stored · 0:01 elapsed"; got != want {
			t.Errorf("before the first experiment stands\n%s\nwant\n%s", got, want)
		}
		p.Done()
		p.began = time.Time{}
		p.expect([][]explain.Pending{pending("a"), pending("fit knn seed=1", "fit knn seed=2", "fit knn seed=3")})
		says := func(want string) {
			t.Helper()
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			if got := shown(out.String()); got != want {
				t.Errorf("the line is\n%s\nwant\n%s", got, want)
			}
		}
		p.Start("main", 0)
		says("1/2 main · looking at what is stored · 0:00 elapsed")
		p.Plan(pending("problems sim", "fit knn seed=1", "fit knn seed=2", "fit knn seed=3"))
		p.Start("asking qwen3-4b", 400)
		time.Sleep(2 * time.Second)
		says("1/2 main · step 1/4 · asking qwen3-4b 0/400 · 0:02 elapsed")
		p.Add(100)
		p.Done()
		p.Start("problems sim", 0)
		time.Sleep(10 * time.Second)
		p.Done()
		says("1/2 main · step 2/4 · problems sim · 0:12 elapsed") // between two steps the line stays
		p.Start("fit knn seed=1", 0)
		p.Start("folds", 5)
		time.Sleep(60 * time.Second)
		p.Done()
		p.Done()
		// It moves while a step is under way, though nothing is heard of it.
		p.Start("fit knn seed=2", 0)
		says("1/2 main · step 3/4 · fit knn, seed 2 · 1:12 elapsed, about 5 min left") // 2 here, 3 to come
		time.Sleep(30 * time.Second)
		says("1/2 main · step 3/4 · fit knn, seed 2 · 1:42 elapsed, about 5 min left")
		time.Sleep(time.Second)
		says("1/2 main · step 3/4 · fit knn, seed 2 · 1:43 elapsed, about 5 min left")
		p.Say("grpo step 3 of 40")
		time.Sleep(29 * time.Second)
		says("1/2 main · step 3/4 · fit knn, seed 2: grpo step 3 of 40 · 2:12 elapsed, about 4 min left")
		p.Done()
		p.Start("fit knn seed=3", 0)
		time.Sleep(time.Minute)
		p.Done()
		p.Done()
		says("")
		p.Start("ablation", 0)
		p.Plan(pending("fit knn seed=4"))
		p.Start("fit knn seed=4", 0)
		time.Sleep(55 * time.Second)
		says("2/2 ablation · step 1/1 · fit knn, seed 4 · 4:07 elapsed, less than a minute left")
		p.Done()
		p.Done()
		says("")
	})
}

// Of steps that go on beside each other the line shows what was heard of last; what is done is no longer shown, whatever began later.
func TestProgressOfStepsBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 120).progress
		says := func(want string) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			if got, _, _ := strings.Cut(shown(out.String()), " elapsed"); got != want {
				t.Errorf("the line is\n%s\nwant\n%s", got, want)
			}
		}
		run := p.Start("own", 0)
		p.Plan(pending("crossfit a", "crossfit b"))
		steps, folds := map[string]harness.Task{}, map[string]harness.Task{}
		for _, row := range []string{"a", "b"} {
			steps[row], folds[row] = p.Start("crossfit "+row, 0), p.Start("row "+row, 5)
		}
		says("own · step 1/2 · row b 0/5 · 0:01")
		folds["a"].Add(1)
		says("own · step 1/2 · row a 1/5 · 0:02")
		folds["b"].Say("sft step 3 of 9")
		says("own · step 1/2 · row b 0/5: sft step 3 of 9 · 0:03")
		folds["a"].Add(4)
		folds["a"].Done()
		steps["a"].Done()
		says("own · step 2/2 · row b 0/5: sft step 3 of 9 · 0:04")
		folds["b"].Done()
		steps["b"].Done()
		run.Done()
		says("")
	})
}

// A step that takes longer than all of its stage before it says that those to come may, too; its own parts say how much is left of it.
func TestASlowStepIsNoMinuteFromItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 120)
		p.Start("lm", 0)
		p.Plan(pending("crossfit a", "crossfit b", "crossfit c", "crossfit d"))
		for _, step := range []string{"crossfit a", "crossfit b"} {
			p.Start(step, 0)
			time.Sleep(3 * time.Second)
			p.Done()
		}
		left := p.saysLeft(t)
		p.Start("crossfit c", 0)
		p.Start("folds of c", 5)
		left(6 * time.Second)
		time.Sleep(24 * time.Second)
		left(10 * time.Second) // nothing is known of this one, and the one to come takes a mean of three
		p.Add(1)
		left(4*24*time.Second + 10*time.Second)
		p.Done()
		p.Done()
		left(10 * time.Second)
		p.Done()
	})
}

// What the plan says of a step holds until one of its kind is done, as far as steps so far took as long as it said.
func TestThePlanSaysHowLongAStepTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 120)
		p.expect([][]explain.Pending{nil, {{Name: "fit bag seed=1", Seconds: 50}}})
		p.Start("main", 0)
		p.Plan([]explain.Pending{{Name: "problems sim", Seconds: 4}, {Name: "fit knn seed=1", Seconds: 12}, {Name: "fit knn seed=2", Seconds: 12}, {Name: "fit own", Seconds: 0}, {Name: "measure", Seconds: 20}})
		left := p.saysLeft(t)
		step := func(name string, takes time.Duration) {
			p.Start(name, 0)
			time.Sleep(takes)
			p.Done()
		}
		step("problems sim", 8*time.Second)
		// Twice as slow as the plan said; of one step in five nobody knows.
		left(2 * (12 + 12 + 20 + 50) * time.Second * 5 / 4)
		step("fit knn seed=1", 16*time.Second)
		// The second takes as long as the first, and the stage says how long a fit takes of which the plan knows nothing: 24 s took what was to take 16.
		left(16*time.Second + 16*time.Second + seconds(70*24/16.0))
		p.Start("fit knn seed=2", 0)
		time.Sleep(4 * time.Second)
		left(12*time.Second + 16*time.Second + seconds(70*24/16.0))
		p.Done()
		p.Done()
	})
}

// Until the first answer nobody knows how long asking takes, however well the plan knows the steps that follow.
func TestNobodyKnowsHowLongAskingTakesBeforeTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 120)
		p.Start("live", 0)
		p.Plan([]explain.Pending{{Name: "fit knn seed=1", Seconds: 12}})
		p.Start("asking 2 models", 400)
		time.Sleep(time.Minute)
		p.mu.Lock()
		if left, ok := p.left(time.Now()); ok {
			t.Errorf("%s are left after nothing was answered in a minute", left)
		}
		p.mu.Unlock()
		p.Add(100)
		p.saysLeft(t)(3*time.Minute + 12*time.Second)
		p.Done()
		p.Done()
	})
}

// What is asked of servers that are paid is counted, and the line fits on a narrow terminal.
func TestProgressOfServersOnANarrowTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 80)
		p.Start("live", 0)
		p.Plan(pending("outcomes aime25"))
		p.Start("asking Qwen3-235B-A22B-Thinking-2507", 400)
		for i := range 100 {
			p.Sent(i%10 == 9)
			p.Spent(0.0125)
			p.Add(1)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		p.mu.Lock()
		text := shown(out.String())
		long := p.line(time.Now(), 200)
		p.mu.Unlock()
		if want := "live · step 1/1 · asking Qwen… 100/400 · 100 requests, 10 retries, $1.25 · 0:20"; text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if n := utf8.RuneCountInString(text); n > 79 {
			t.Errorf("%d columns", n)
		}
		if want := "live · step 1/1 · asking Qwen3-235B-A22B-Thinking-2507 100/400 · 100 requests, 10 retries, $1.25 · 0:20 elapsed"; long != want {
			t.Errorf("got  %s\nwant %s", long, want)
		}
		p.Done()
		p.Done()
	})
}

// Without a terminal there is a line every 15 seconds, and nothing of a run that is over before.
func TestProgressWithoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &nested{progress: newProgress(&out, false)}
		p.Start("main", 0)
		p.Plan(pending("fit knn seed=1"))
		p.Start("fit knn seed=1", 0)
		time.Sleep(14 * time.Second)
		synctest.Wait()
		p.mu.Lock()
		if out.Len() > 0 {
			t.Errorf("after 14 seconds: %q", &out)
		}
		p.mu.Unlock()
		time.Sleep(20 * time.Second)
		p.Done()
		p.Done()
		if want := "main · step 1/1 · fit knn, seed 1 · 0:15 elapsed\nmain · step 1/1 · fit knn, seed 1 · 0:30 elapsed\n"; out.String() != want {
			t.Errorf("got %q\nwant %q", &out, want)
		}
	})
}

func TestQuietProgressSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &nested{progress: newProgress(&out, true)}
		p.Start("main", 0)
		time.Sleep(time.Hour)
		p.Done()
		if out.Len() > 0 {
			t.Errorf("%q", &out)
		}
	})
}

// A line of the log takes the place of the progress, which then stands below it.
func TestLogBesideProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := onTerminal(&out, 80)
		p.Start("main", 0)
		_, err := io.WriteString(p, "a request failed\n")
		time.Sleep(time.Second)
		synctest.Wait()
		p.Done()
		first := "\rmain · looking at what is stored · 0:00 elapsed\x1b[K"
		second := strings.Replace(first, "0:00", "0:01", 1)
		if want := first + "\r\x1b[Ka request failed\n" + second + "\r\x1b[K"; err != nil || out.String() != want {
			t.Errorf("got  %q (%v)\nwant %q", &out, errors.Join(err), want)
		}
	})
}

func TestClockAndAbout(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                                  {"0:00", "less than a minute left"},
		59 * time.Second:                   {"0:59", "less than a minute left"},
		61 * time.Second:                   {"1:01", "about 2 min left"},
		89 * time.Minute:                   {"1:29:00", "about 89 min left"},
		2*time.Hour + 9*time.Minute:        {"2:09:00", "about 2 h 00 min left"},
		3*time.Hour + 40*time.Minute + 9e9: {"3:40:09", "about 3 h 40 min left"},
	} {
		if got := [2]string{clock(d), about(d)}; got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// What a terminal shows has no line wider than it, and the same words; elsewhere nothing is folded.
func TestLinesAreFolded(t *testing.T) {
	text := "expert  run  bucket   reason\nqwen3-4b  1  correct  the answer is the same number\nshort\n\n" + strings.Repeat("x", 45) + "\n"
	want := "expert  run  bucket\n    reason\nqwen3-4b  1  correct\n    the answer is\n    the same number\nshort\n\n" + strings.Repeat("x", 20) + "\n    " + strings.Repeat("x", 16) + "\n    " + strings.Repeat("x", 9) + "\n"
	if got := folded(text, 20); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := folded(text, 0); got != text {
		t.Errorf("without a terminal: %q", got)
	}
}

func TestStyleIsForTerminalsThatTakeIt(t *testing.T) {
	for _, c := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if styled() != c.want {
			t.Errorf("NO_COLOR=%s TERM=%s: %v", c.noColor, c.term, styled())
		}
	}
}

// One answer is one.
func TestFailedAnswersAreCounted(t *testing.T) {
	for n, want := range map[int]string{
		1: "incomplete: 1 answer failed and may be had: run the same command again, and it asks for this one alone",
		2: "incomplete: 2 answers failed and may be had: run the same command again, and it asks for these alone",
	} {
		if got := allHad(n); got == nil || got.Error() != want {
			t.Errorf("%d: %v, want %s", n, got, want)
		}
	}
	if err := allHad(0); err != nil {
		t.Error(err)
	}
}
