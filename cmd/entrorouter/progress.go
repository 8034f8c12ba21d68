// How far a command is: one line on a terminal, a line every 15 seconds elsewhere.

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/explain"
)

const (
	drawEvery = time.Second      // on a terminal
	lineEvery = 15 * time.Second // elsewhere
)

// progress says how far a run is, on standard error. It implements harness.Progress. As a writer it is for what else goes there:
// the line makes room for it. Nothing is shown before the first Start and after the last Done.
type progress struct {
	out   io.Writer
	quiet bool                // nobody looks
	width func() int          // of the terminal that a line is drawn on over and over; nil: there is none, lines follow one another
	of    int                 // experiments
	all   [][]explain.Pending // the steps of each, as far as they were known before the first began

	mu       sync.Mutex
	nth      int // experiment that has begun
	began    time.Time
	stack    []*started
	steps    []explain.Pending // of the experiment, which are to be made
	made     int
	last     string           // what was under way last within the experiment
	took     map[string]*pace // by kind of step
	foreseen foreseen         // steps that are done and of which the plan said how long they take
	since    time.Time        // when the step under way was last charged
	requests int
	retries  int
	usd      float64
	drawn    bool // the line stands on the terminal
	stop     chan struct{}
	stopped  sync.WaitGroup
}

// started is what has begun and is not done. It implements harness.Task.
type started struct {
	in          *progress
	what, said  string
	done, total int
	step        bool
	began       time.Time
	spent       time.Duration // of a step, what it consists of apart
	planned     time.Duration // of a step, how long the plan said that it takes; 0: nothing
}

// pace is what steps of a kind took.
type pace struct {
	n    int
	took time.Duration
}

// foreseen is what steps took of which the plan said how long they take, and what it said.
type foreseen struct{ took, planned time.Duration }

// newProgress is the progress of a command that carries out one experiment; quiet: nobody looks.
func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{out: w, quiet: quiet, of: 1}
	if f, ok := asTerminal(w); ok && os.Getenv("TERM") != "dumb" {
		fd := int(f.Fd())
		p.width = func() int {
			width, _, err := term.GetSize(fd)
			if err != nil || width == 0 { // it does not say
				return 80
			}
			return width
		}
	}
	return p
}

// Start implements harness.Progress.
func (p *progress) Start(what string, total int) harness.Task {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.began.IsZero() {
		p.began = now
	}
	p.charge(now)
	if len(p.stack) == 0 {
		p.nth++
		p.steps, p.made, p.last = nil, 0, ""
	} else {
		p.last = what
	}
	s := &started{in: p, what: what, total: total, began: now}
	if i := p.planned(what); i >= 0 {
		s.step, s.planned = true, seconds(p.steps[i].Seconds)
	}
	p.stack = append(p.stack, s)
	if p.quiet {
		return s
	}
	if p.stop == nil {
		p.stop = make(chan struct{})
		p.stopped.Add(1)
		stop := p.stop
		go func() {
			defer crash.Exit()
			p.tick(stop)
		}()
	}
	p.draw(now)
	return s
}

// tick shows the line until stop is closed.
func (p *progress) tick(stop chan struct{}) {
	defer p.stopped.Done()
	every := lineEvery
	if p.width != nil {
		every = drawEvery
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-t.C:
			p.mu.Lock()
			if p.width != nil {
				p.draw(now)
			} else if p.stop == stop {
				fmt.Fprintln(p.out, p.line(now, math.MaxInt))
			}
			p.mu.Unlock()
		}
	}
}

// Done implements harness.Task.
func (s *started) Done() {
	p := s.in
	p.mu.Lock()
	now := time.Now()
	p.charge(now)
	p.stack = slices.DeleteFunc(p.stack, func(other *started) bool { return other == s })
	if s.step {
		p.made++
		if p.took == nil {
			p.took = map[string]*pace{}
		}
		for _, kind := range []string{kindOf(s.what), stageOf(s.what)} {
			if p.took[kind] == nil {
				p.took[kind] = &pace{}
			}
			p.took[kind].n++
			p.took[kind].took += s.spent
		}
		if s.planned > 0 {
			p.foreseen.took, p.foreseen.planned = p.foreseen.took+s.spent, p.foreseen.planned+s.planned
		}
		if i := p.planned(s.what); i >= 0 {
			p.steps = slices.Delete(p.steps, i, i+1)
		}
	}
	ended := p.stop
	if len(p.stack) == 0 && ended != nil {
		p.stop = nil
		p.clear()
	} else {
		ended = nil
		p.draw(now)
	}
	p.mu.Unlock()
	if ended != nil {
		close(ended)
		p.stopped.Wait()
	}
}

// Add implements harness.Task.
func (s *started) Add(n int) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.heard()
	s.done += n
}

// Say implements harness.Task.
func (s *started) Say(text string) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.heard()
	s.said = text
}

// heard makes it what the line shows: of what goes on beside each other that which was heard of last.
func (s *started) heard() {
	p := s.in
	if i := slices.Index(p.stack, s); i > 0 { // and no experiment
		p.stack = append(slices.Delete(p.stack, i, i+1), s)
	}
}

// Say implements harness.Progress.
func (p *progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.stack) > 0 {
		p.stack[len(p.stack)-1].said = text
	}
}

// Plan implements harness.Progress.
func (p *progress) Plan(steps []explain.Pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = slices.Clone(steps)
}

// planned is the place of a step among those that are to be made; -1: it is none.
func (p *progress) planned(name string) int {
	return slices.IndexFunc(p.steps, func(s explain.Pending) bool { return s.Name == name })
}

// Sent implements harness.Progress.
func (p *progress) Sent(retry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if retry {
		p.retries++
	}
}

// Spent implements harness.Progress.
func (p *progress) Spent(usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.usd += usd
}

// expect says of all experiments that are to come which steps they are to make.
func (p *progress) expect(all [][]explain.Pending) { p.nth, p.of, p.all = 0, len(all), all }

// Write writes what is no progress: a line of the log.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.out.Write(b)
}

// charge adds the time since the last charge to the step that began last: of steps beside each other each is charged a part, and all together
// what passed.
func (p *progress) charge(now time.Time) {
	for _, s := range slices.Backward(p.stack) {
		if s.step {
			s.spent += now.Sub(p.since)
			break
		}
	}
	p.since = now
}

// clear takes the line from the terminal.
func (p *progress) clear() {
	if p.drawn {
		io.WriteString(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// draw puts the line on the terminal.
func (p *progress) draw(now time.Time) {
	if p.quiet || p.width == nil || len(p.stack) == 0 {
		return
	}
	io.WriteString(p.out, "\r"+p.line(now, p.width()-1)+"\x1b[K")
	p.drawn = true
}

// line is the progress in at most so many columns: what is under way is cut first.
func (p *progress) line(now time.Time, most int) string {
	p.charge(now)
	head := p.stack[0].what
	if p.of > 1 {
		head = fmt.Sprintf("%d/%d %s", p.nth, p.of, head)
	}
	if n := p.made + len(p.steps); n > 0 {
		head += fmt.Sprintf(" · step %d/%d", min(p.made+1, n), n)
	}
	under := p.stack[len(p.stack)-1]
	what := readable(under.what)
	if len(p.stack) == 1 {
		what = "looking at what is stored"
		if p.made > 0 { // between two steps
			what = readable(p.last)
		}
		if under.total > 0 { // no experiment
			head, what = "", under.what
		}
	}
	count := ""
	if under.total > 0 {
		count = fmt.Sprintf(" %d/%d", under.done, under.total)
	}
	if under.said != "" {
		count += ": " + under.said
	}
	tail := clock(now.Sub(p.began)) + " elapsed"
	if left, ok := p.left(now); ok {
		tail += ", " + about(left)
	}
	if p.requests > 0 {
		asked := counted(p.requests, "1 request", "%d requests")
		if p.retries > 0 {
			asked += counted(p.retries, ", 1 retry", ", %d retries")
		}
		tail = fmt.Sprintf("%s, $%.2f · %s", asked, p.usd, tail)
	}
	const between = " · "
	if head != "" {
		head += between
	}
	tail = between + tail
	columns := utf8.RuneCountInString
	room := most - columns(head+tail)
	if room < columns(what+count) {
		short := strings.Replace(tail, " elapsed", "", 1)
		room, tail = room+columns(tail)-columns(short), short
	}
	switch name := room - columns(count); {
	case name >= min(columns(what), 8):
		return head + cut(what, name) + count + tail
	case room >= 8:
		return head + cut(what+count, room) + tail
	}
	return cut(head+strings.TrimPrefix(tail, between), most)
}

// cut shortens a text to so many columns.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(most-1, 0)]) + "…"
}

var keyed = regexp.MustCompile(` (\w+)=`)

// readable is the name of a step as a person says it: "fit knn seed=2" is "fit knn, seed 2".
func readable(name string) string { return keyed.ReplaceAllString(name, ", $1 ") }

var numbered = regexp.MustCompile(`=\d+`)

// kindOf is a name without its seed or partition: such steps take as long as each other. stageOf is its first word.
func kindOf(name string) string  { return numbered.ReplaceAllString(name, "") }
func stageOf(name string) string { stage, _, _ := strings.Cut(name, " "); return "stage " + stage }

// takes is how long a step takes: what those of its kind took; or what the plan said, as far as steps so far took as long as that; or what
// those of its stage took. ok is false where nobody knows. One under way counts as soon as it takes longer than they did.
func (p *progress) takes(of explain.Pending, running []*started) (d time.Duration, ok bool) {
	slow := func(like *pace) time.Duration {
		all := *like
		for _, s := range running {
			if stageOf(s.what) == stageOf(of.Name) && s.spent > like.took/time.Duration(like.n) {
				all.n++
				all.took += s.spent
			}
		}
		return all.took / time.Duration(all.n)
	}
	if like := p.took[kindOf(of.Name)]; like != nil {
		return slow(like), true
	}
	if of.Seconds > 0 {
		all := p.foreseen
		for _, s := range running {
			if s.planned > 0 && s.spent > s.planned {
				all.took, all.planned = all.took+s.spent, all.planned+s.planned
			}
		}
		if all.planned < time.Second { // tells nothing
			return seconds(of.Seconds), true
		}
		return time.Duration(float64(seconds(of.Seconds)) * float64(all.took) / float64(all.planned)), true
	}
	if like := p.took[stageOf(of.Name)]; like != nil {
		return slow(like), true
	}
	return 0, false
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// left is how long the rest takes; ok is false where too little is known. What a step under way
// has left follows from its parts where some are done.
func (p *progress) left(now time.Time) (left time.Duration, ok bool) {
	under := p.stack[len(p.stack)-1]
	var parts time.Duration // that the parts to come of what is under way take
	if under.done > 0 {
		parts = now.Sub(under.began) * time.Duration(max(0, under.total-under.done)) / time.Duration(under.done)
	}
	spent := map[string]time.Duration{} // of the steps under way
	var running []*started
	for _, s := range p.stack {
		if s.step {
			spent[s.what] = s.spent
			running = append(running, s)
		}
	}
	if under.total > 0 && under.done == 0 && running == nil { // answers, of which the plan knows nothing
		return 0, false
	}
	todo := slices.Clone(p.steps)
	if p.nth < len(p.all) {
		todo = slices.Concat(todo, slices.Concat(p.all[p.nth:]...))
	}
	known, unknown := time.Duration(0), 0
	for _, of := range todo {
		takes, ok := p.takes(of, running)
		if !ok {
			unknown++
			continue
		}
		if here, begun := spent[of.Name]; begun {
			takes = max(takes-here, parts)
			parts = 0
			delete(spent, of.Name) // those of later experiments may be called alike
		}
		known += takes
	}
	known += parts
	if len(todo) > 0 {
		known += known * time.Duration(unknown) / time.Duration(max(1, len(todo)-unknown))
	}
	return known, unknown*4 <= len(todo) && now.Sub(p.began) >= 5*time.Second && known > 0
}

// clock is a time as a watch shows it.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// about is a time that is left, no more precise than it is known.
func about(d time.Duration) string {
	m := int(math.Ceil(d.Minutes()))
	switch {
	case d < time.Minute:
		return "less than a minute left"
	case m >= 90:
		return fmt.Sprintf("about %d h %02d min left", m/60, m/10%6*10)
	}
	return fmt.Sprintf("about %d min left", m)
}
