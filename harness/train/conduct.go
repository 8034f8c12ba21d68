// How a training is carried out, beside what it is of: in parts, kept as it goes, told about.

package train

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Conduct says how trainings are carried out. The zero value takes batches at once, keeps nothing and tells nobody.
type Conduct struct {
	// Micro bounds the rows of a forward and backward pass: a batch of more is computed in parts, of rows of like length, whose
	// gradients are summed. 0: a batch at once. Parts move the last digits of a loss; dropout is drawn for each of them.
	Micro int

	// Dir is where the state of an unfinished training is kept, every Every steps, when its context ends and when what writes for the policy
	// fails: weights, moments, streams and position. A training that finds its state there goes on behind it, and ends with the same bits as one that was never
	// stopped, on a backend that repeats itself. Empty: nowhere. The folder is of one training alone.
	Dir   string
	Every int

	Tell func(Progress) // after every step; nil: nobody
}

// Progress is how far a stage of a training is.
type Progress struct {
	Stage    string // sft or grpo
	Step, Of int    // steps taken, and all of them
	Loss     float64
	Took     time.Duration // the last step, with what it compiled
	Tokens   float64       // a second of the last step: ids of rows, as often as the network read them, padding apart
	Memory   int64         // bytes that the process holds in main memory; 0: not known
	Left     time.Duration // at the pace so far
}

// String is a progress on one line.
func (p Progress) String() string {
	text := fmt.Sprintf("%s step %d of %d, loss %.4f, %s, %.0f tokens/s", p.Stage, p.Step, p.Of, p.Loss, p.Took.Round(time.Millisecond), p.Tokens)
	if p.Memory > 0 {
		text += fmt.Sprintf(", %.1f GiB", float64(p.Memory)/(1<<30))
	}
	return text + ", " + p.Left.Round(time.Second).String() + " left"
}

// pace tells how a stage proceeds.
type pace struct {
	Conduct
	stage     string
	done, all int // steps: taken before this process, and all
	began     time.Time
	last      time.Time // when the step before ended
}

// pace begins to tell of a stage that has taken some of its steps.
func (c Conduct) pace(stage string, done, all int) *pace {
	now := time.Now()
	return &pace{Conduct: c, stage: stage, done: done, all: all, began: now, last: now}
}

// after tells of a step and the rows it read in each of some passes.
func (p *pace) after(step int, loss float64, rows []policy.Row, passes int) {
	if p.Tell == nil {
		return
	}
	tokens := 0
	for _, r := range rows {
		tokens += passes * length(r)
	}
	now := time.Now()
	took, spent, taken := now.Sub(p.last), now.Sub(p.began), step+1-p.done
	p.last = now
	p.Tell(Progress{Stage: p.stage, Step: step + 1, Of: p.all, Loss: loss, Took: took, Tokens: float64(tokens) / took.Seconds(),
		Memory: resident(), Left: spent / time.Duration(taken) * time.Duration(p.all-step-1)})
}

// resident is the main memory that the process holds, where the system tells.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// parts divides the rows of a batch: one part of all, or rows of like length together, at most Micro in each.
func (c Conduct) parts(rows []policy.Row) [][]int {
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	if c.Micro == 0 || len(rows) <= c.Micro {
		return [][]int{all}
	}
	slices.SortStableFunc(all, func(a, b int) int { return length(rows[a]) - length(rows[b]) })
	return slices.Collect(slices.Chunk(all, c.Micro))
}

// length is how much of a row the network reads, what was written included.
func length(r policy.Row) int { return len(r.IDs) + len(r.Written) }

// pickRows are the rows of a part.
func pickRows(rows []policy.Row, at []int) []policy.Row {
	out := make([]policy.Row, len(at))
	for i, k := range at {
		out[i] = rows[k]
	}
	return out
}
