// How long steps take and how much they store: by figures that were measured, held against what steps of their kind took in this store.

package explain

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/entrorouter/entrorouter/harness/store"
)

// Took is what the making of a step took, as env.json keeps it.
type Took struct {
	Kind     string  `json:"kind"`               // stage, and of a fit what kind of row
	Amount   float64 `json:"amount"`             // as Step
	Training float64 `json:"training,omitempty"` // as Step
	Seconds  float64 `json:"seconds"`            // without the steps that were made meanwhile
	Bytes    float64 `json:"bytes"`
}

// tookNote is its name in env.json.
const tookNote = "took"

// NoteTook notes beside a finished draft how long a step took.
func NoteTook(d *store.Draft, s *Step, seconds time.Duration) error {
	took := Took{Kind: s.kind(), Amount: s.Amount, Training: s.Training, Seconds: seconds.Seconds()}
	err := filepath.WalkDir(d.Dir(), func(_ string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		if err == nil {
			took.Bytes += float64(info.Size())
		}
		return err
	})
	d.Note(tookNote, took)
	return err
}

// kind is what steps have in common that take alike for alike amounts.
func (s *Step) kind() string {
	if s.Fits > 0 {
		return s.stage() + " " + s.Row.Name
	}
	return s.stage()
}

// Estimate is what a step takes.
type Estimate struct {
	Seconds float64
	Bytes   float64
	Known   bool // false: nobody knows; Seconds are 0
}

// figures are what steps of a kind take: a part that is always there and one that grows with the amount.
type figures struct{ seconds, secondsEach, bytes, bytesEach float64 }

func (f figures) of(amount, training float64) (seconds, bytes float64) {
	return f.seconds + f.secondsEach*amount + training, f.bytes + f.bytesEach*amount
}

//go:embed took.txt
var measuredText string

// measured are the figures of took.txt, by kind.
var measured = sync.OnceValues(func() (map[string]figures, error) {
	all := map[string]figures{}
	for i, line := range strings.Split(measuredText, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 5 {
			return nil, fmt.Errorf("took.txt:%d: want a kind and four numbers", i+1)
		}
		var f figures
		at := len(fields) - 4
		for k, to := range []*float64{&f.seconds, &f.secondsEach, &f.bytes, &f.bytesEach} {
			n, err := strconv.ParseFloat(fields[at+k], 64)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("took.txt:%d: %q is no number from 0 up", i+1, fields[at+k])
			}
			*to = n
		}
		all[strings.Join(fields[:at], " ")] = f
	}
	return all, nil
})

// answerKind is an answer of a simulated model, its verdict and its place in the store included.
const answerKind = "answer"

// tally is what steps of a kind took in a store, and what the figures say of them.
type tally struct{ amount, seconds, bytes, saidSeconds, saidBytes float64 }

func (s *tally) add(t Took, f figures) {
	seconds, bytes := f.of(t.Amount, t.Training)
	s.amount, s.seconds, s.bytes = s.amount+t.Amount, s.seconds+t.Seconds, s.bytes+t.Bytes
	s.saidSeconds, s.saidBytes = s.saidSeconds+seconds, s.saidBytes+bytes
}

// pace estimates steps.
type pace struct {
	figures map[string]figures
	here    map[string]*tally // by kind
	all     tally             // of the kinds that have figures
}

// pace reads what the steps of the plan's stages took in the store.
func (p *Plan) pace() (*pace, error) {
	of, err := measured()
	if err != nil {
		return nil, err
	}
	out := &pace{of, map[string]*tally{}, tally{}}
	looked := map[string]bool{}
	for _, s := range p.Steps {
		if looked[s.stage()] {
			continue
		}
		looked[s.stage()] = true
		stored, err := p.Store.Recipes(s.stage())
		if err != nil {
			return nil, err
		}
		for _, r := range stored {
			var made struct {
				Took *Took `json:"took"`
			}
			if p.Store.Env(r.Key(), &made) != nil || made.Took == nil { // of an older program
				continue
			}
			out.note(*made.Took)
		}
	}
	return out, nil
}

// note counts a step that the store has.
func (p *pace) note(t Took) {
	f, known := p.figures[t.Kind]
	if p.here[t.Kind] == nil {
		p.here[t.Kind] = &tally{}
	}
	p.here[t.Kind].add(t, f)
	if known {
		p.all.add(t, f)
	}
}

// tells says whether all steps of a store say how fast the machine is: those of a few questions are quicker than the figures have them.
func (s *tally) tells() bool { return max(s.seconds, s.saidSeconds) >= 10 }

// of estimates a step of a kind: by the figures, times what the store says of the kind or, if it has none of it, of all kinds. What has no
// figures takes what it took in the store.
func (p *pace) of(kind string, amount, training float64, unpaced bool) (e Estimate) {
	f, known := p.figures[kind]
	here := p.here[kind]
	switch {
	case here == nil && (!known || unpaced):
		return e
	case here == nil:
		here = &p.all
	case !known || unpaced:
		f = figures{secondsEach: 1, bytesEach: 1}
		here = &tally{seconds: here.seconds, bytes: here.bytes, saidSeconds: here.amount, saidBytes: here.amount}
		training = 0
	}
	e.Known = true
	e.Seconds, e.Bytes = f.of(amount, training)
	if here.saidSeconds > 0 && (!known || unpaced || p.all.tells()) {
		e.Seconds *= here.seconds / here.saidSeconds
	}
	if here.saidBytes > 0 {
		e.Bytes *= here.bytes / here.saidBytes
	}
	return e
}
