package harness

// The acceptance of asking real servers: whole runs against a server that fails as planned, on a clock of their own. After
// each command the books of both sides are held against each other.

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/asking/askingtest"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
)

// wire is a network without a system beneath it, so that time in a bubble passes. It implements net.Listener.
type wire struct {
	calls chan net.Conn
	done  chan struct{}

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

func newWire() *wire {
	return &wire{calls: make(chan net.Conn), done: make(chan struct{}), conns: map[net.Conn]bool{}}
}

func (w *wire) Addr() net.Addr { return &net.UnixAddr{Name: "wire", Net: "unix"} }

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.calls:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.done:
	default:
		close(w.done)
	}
	return nil
}

// fell is the server going down, with all its connections, and risen its coming back.
func (w *wire) fell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for c := range w.conns {
		c.Close()
	}
	clear(w.conns)
}

func (w *wire) rose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	w.mu.Lock()
	down := w.down
	w.conns[theirs] = true
	w.mu.Unlock()
	if !down {
		select {
		case w.calls <- theirs:
			return ours, nil
		case <-w.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
}

// trial is an experiment and what is in its books, from command to command.
type trial struct {
	*testing.T
	*askingtest.World
	askingtest.Books
	out   string
	wires map[string]*wire // by host
}

func newTrial(t *testing.T, w *askingtest.World) *trial {
	x := &trial{T: t, World: w, out: t.TempDir(), wires: map[string]*wire{}}
	return x
}

// command runs the experiment against servers, each of which fails by a plan, and audits what is left. It returns once every
// request is over and the servers have ended.
func (x *trial) command(ctx context.Context, plans map[string]fault.Plan, o Options, clock fault.Clock) (*Result, askingtest.Found, error) {
	x.Helper()
	var ends []func()
	for host, plan := range plans {
		w := x.wires[host]
		if w == nil {
			w = newWire()
			x.wires[host] = w
		}
		h := x.Handler(x, plan, fault.Options{Served: x.Count, Clock: clock})
		server := &http.Server{Handler: h}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			server.Serve(w)
		}()
		ends = append(ends, func() {
			server.Close()
			h.Close()
			<-ended
			w.fell()
			delete(x.wires, host)
		})
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return x.wires[host].dial(ctx, network, address)
		},
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 4 * time.Second, DisableCompression: true,
	}
	o.Out, o.Data, o.Transport, o.Grace = x.out, x.Data, transport, 10*time.Minute
	result, err := Run(ctx, toy.Load(x, x.Spec), o)
	transport.CloseIdleConnections()
	for _, end := range ends {
		end()
	}
	synctest.Wait()
	return result, x.Audit(x, x.out, false), err
}

// calm is what a run without faults finds.
type calm struct {
	table   string
	entries map[string][]byte
}

func (x *trial) found(r *Result) calm { return calm{render(x.T, r), entries(x, x.out)} }

// same says that a run found what one without faults does, to the byte; it may have more, of when some answers were missing.
func (x *trial) same(want calm, r *Result) {
	x.Helper()
	got := x.found(r)
	if got.table != want.table {
		x.Errorf("I3: the table is\n%s\nwithout faults\n%s", got.table, want.table)
	}
	for name, data := range want.entries {
		if string(got.entries[name]) != string(data) {
			x.Errorf("I3: %s is %.300q, without faults %.300q", name, got.entries[name], data)
		}
	}
}

// one is the plan of the one server.
func one(plan ...fault.Rule) map[string]fault.Plan { return map[string]fault.Plan{"one": plan} }

// bubble runs a trial with a clock of its own. That it ends shows that nobody who was started is left (I5).
func bubble(t *testing.T, world *askingtest.World, do func(x *trial)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { do(newTrial(t, world)) })
}

// calmly is a run of a world without faults.
func calmly(t *testing.T, world *askingtest.World) (found calm) {
	t.Helper()
	world.Reach(t, "", "http://one/v1")
	bubble(t, world, func(x *trial) {
		r, f, err := x.command(x.Context(), one(), Options{}, nil)
		if err != nil || f.Rows != x.Keys || f.Asked != x.Keys {
			x.Fatalf("%v, %+v, want %d answers", err, f, x.Keys)
		}
		found = x.found(r)
	})
	return found
}

// some is a share of the requests, the first time that they are asked.
func some(r fault.Rule) fault.Rule {
	r.Share, r.Attempts = 0.3, fault.First(1)
	return r
}

// body is what is answered with status 200 instead of an answer.
func body(text, kind string) fault.Rule {
	return some(fault.Rule{Status: 200, Body: &text, Headers: map[string]string{"Content-Type": kind}})
}

// set is an answer with some value other than it should be.
func set(path, value string) fault.Rule { return fault.Rule{Set: map[string]string{path: value}} }

func limited(after string) fault.Rule {
	return fault.Rule{Status: 429, Headers: map[string]string{"Retry-After": after}, Requests: fault.First(3)}
}

// TestEveryFaultInAWholeRun carries out an experiment under each of the faults by its number in docs/faults.md, and then again
// without: the second command asks exactly for what is missing, and finds what a run without faults does.
func TestEveryFaultInAWholeRun(t *testing.T) {
	const json, stream = "application/json", "text/event-stream"
	world := askingtest.New(t, 8)
	calm := calmly(t, world)
	hour := time.Hour.Seconds()
	// One line in forty thousand pieces for each answer to one prompt, which is what costs time.
	long := fault.Rule{Contains: world.Test[0], BOM: true, CRLF: true, Comments: true, Tight: true, Split: 3, Padding: 1 << 17}
	for name, c := range map[string]struct {
		plan   fault.Plan
		asking string        // of the pool file
		down   time.Duration // the server is not there before
		jumps  bool          // the clock of the server jumps

		says     string        // the error of the first command; empty: it finishes
		is       error         // its kind
		class    experts.Class // of attempts that there must be; empty: all are answered at once
		may      int           // answers that the first command says may be had
		refused  int           // requests that have no answer for good
		most     int           // requests of the first command; 0: twice as many as answers
		took     time.Duration // at least
		other    bool          // answers are other than without faults
		estimate bool          // what the server says of tokens is wrong, so that its count says nothing
	}{
		"1 reset within a stream":          {plan: fault.Plan{some(fault.Rule{End: fault.Reset, After: fault.Events(2)})}, class: experts.Broken},
		"1 reset before the first byte":    {plan: fault.Plan{some(fault.Rule{End: fault.Reset, After: fault.Nothing()})}, class: experts.Unavailable},
		"1 reset each time, for one":       {plan: fault.Plan{{Contains: world.Test[0], Model: "s", End: fault.Reset, After: fault.Events(2)}}, class: experts.Broken, may: 2},
		"2 closed within a stream":         {plan: fault.Plan{some(fault.Rule{End: fault.Close, After: fault.Events(2)})}, class: experts.Broken},
		"2 an end too early":               {plan: fault.Plan{some(fault.Rule{End: fault.Early, After: fault.Events(2)})}, class: experts.Unfinished},
		"2 [DONE] without a finish reason": {plan: fault.Plan{some(fault.Rule{Drop: []string{"choices.0.finish_reason"}})}, class: experts.Unfinished},
		"3 silence within a stream":        {plan: fault.Plan{some(fault.Rule{End: fault.Hang, After: fault.Events(1)})}, class: experts.Idle, took: 10 * time.Minute},
		"3 silence before the first byte":  {plan: fault.Plan{some(fault.Rule{End: fault.Hang, After: fault.Nothing()})}, class: experts.Idle, took: 2 * time.Hour},
		"4 limits, in seconds":             {plan: fault.Plan{limited("120")}, class: experts.Limited, took: 2 * time.Minute},
		"4 limits, by a date":              {plan: fault.Plan{limited("{in 90s}")}, class: experts.Limited, took: 90 * time.Second},
		"4 limits, of no time":             {plan: fault.Plan{limited("0")}, class: experts.Limited, took: time.Second},
		"4 limits, of less":                {plan: fault.Plan{limited("-5")}, class: experts.Limited, took: time.Second},
		"4 limits, of something":           {plan: fault.Plan{limited("soon")}, class: experts.Limited, took: time.Second},
		"4 limits, of a day":               {plan: fault.Plan{limited("86400")}, class: experts.Limited, says: "the same command asks again for what may be had", is: ErrIncomplete},
		"5 refused, loading, ready":        {plan: fault.Plan{{Path: "/", Status: 503, Until: 70 * time.Second}}, asking: "server_wait: 600", down: 40 * time.Second, took: 70 * time.Second},
		"5 refused, nobody waits":          {down: time.Hour, says: "no connection", is: experts.ErrUnavailable},
		"5 refused for longer":             {down: time.Hour, asking: "server_wait: 60", says: "no connection", is: experts.ErrUnavailable, took: 50 * time.Second},
		"6 a head byte by byte":            {plan: fault.Plan{some(fault.Rule{Pace: &fault.Pace{Bytes: 1, Every: time.Minute, Head: true}})}, class: experts.Idle, took: 2 * time.Hour},
		"6 a body that trickles":           {plan: fault.Plan{{Share: 0.1, Pace: &fault.Pace{Bytes: 8, Every: 10 * time.Second}}}, took: 10 * time.Minute},
		"6 too long, by the pool file":     {plan: fault.Plan{{Contains: world.Test[0], Model: "s", Pace: &fault.Pace{Bytes: 1, Every: 10 * time.Second}}}, asking: "request_time: 600", class: experts.Slow, may: 2},
		"7 an event that is cut":           {plan: fault.Plan{body(`data: {"cho`, stream)}, class: experts.Protocol},
		"7 a body that is cut":             {plan: fault.Plan{body(`{"cho`, json)}, class: experts.Protocol},
		"7 HTML of a proxy":                {plan: fault.Plan{some(fault.Rule{Status: 502})}, class: experts.Unavailable},
		"7 garbage for gzip":               {plan: fault.Plan{body("\x1f\x8bgarbage", json)}, class: experts.Protocol},
		"7 nothing":                        {plan: fault.Plan{body("", json)}, class: experts.Protocol},
		"7 an error with 200":              {plan: fault.Plan{body(`{"error":{"message":"engine"}}`, json)}, class: experts.Unavailable},
		"7 an error within a stream":       {plan: fault.Plan{some(fault.Rule{End: fault.Erred, After: fault.Events(2)})}, class: experts.Unavailable},
		"7 ways of writing":                {plan: fault.Plan{long, {BOM: true, CRLF: true, Comments: true, Tight: true, Split: 3}}},
		"7 never an answer, for one":       {plan: fault.Plan{{Contains: world.Test[0], Model: "s", Status: 200, Body: new(string)}}, class: experts.Protocol, may: 2},
		"8 a wrong model":                  {plan: fault.Plan{{Status: 404}}, says: "is \"", is: experts.ErrMisconfigured, class: experts.Model, most: 16},
		"8 a wrong key":                    {plan: fault.Plan{{Status: 401}}, says: "set ENTROROUTER_API_KEY", is: experts.ErrMisconfigured, class: experts.Key, most: 16},
		"8 max_tokens too large":           {plan: fault.Plan{{Status: 400}}, says: "lower the expert's max_tokens", is: experts.ErrMisconfigured, class: experts.Refused, most: 40},
		"8 one prompt too long":            {plan: fault.Plan{{Contains: world.Test[0], Status: 400}}, class: experts.Refused, refused: 4},
		"9 no content":                     {plan: fault.Plan{{Share: 0.3, Set: map[string]string{"choices.0.message.content": `""`}}}, other: true},
		"9 cut while thinking":             {plan: fault.Plan{{Share: 0.3, Move: map[string]string{"choices.0.message.content": "reasoning"}, Set: map[string]string{"choices.0.finish_reason": `"length"`}}}, other: true},
		"9 no choices, no usage":           {plan: fault.Plan{body(`{"choices":[]}`, json)}, class: experts.Protocol},
		"10 aborted":                       {plan: fault.Plan{some(set("choices.0.finish_reason", `"abort"`))}, class: experts.Unfinished},
		"10 error":                         {plan: fault.Plan{some(set("choices.0.finish_reason", `"error"`))}, class: experts.Unfinished},
		"10 length":                        {plan: fault.Plan{{Share: 0.3, Set: map[string]string{"choices.0.finish_reason": `"length"`}}}, other: true},
		"10 unknown":                       {plan: fault.Plan{{Share: 0.3, Set: map[string]string{"choices.0.finish_reason": `"repetition"`}}}},
		"10 withheld, for one":             {plan: fault.Plan{{Contains: world.Test[0], Set: map[string]string{"choices.0.finish_reason": `"content_filter"`}}}, class: experts.Filtered, refused: 4},
		"11 no usage":                      {plan: fault.Plan{{Share: 0.3, Drop: []string{"usage"}}}, other: true},
		"11 a negative usage":              {plan: fault.Plan{{Share: 0.3, Set: map[string]string{"usage.completion_tokens": "-4"}}}, other: true, estimate: true},
		"11 too much usage":                {plan: fault.Plan{{Share: 0.3, Set: map[string]string{"usage.completion_tokens": "9223372036854775808"}}}, other: true, estimate: true},
		"11 NaN":                           {plan: fault.Plan{some(set("choices.0.index", "NaN"))}, class: experts.Protocol},
		"11 more than is known":            {plan: fault.Plan{{Set: map[string]string{"created": `"now"`, "choices.0.stop_reason": "151643", "more": `[{"of": null}]`}}}},
		"12 one id for all":                {plan: fault.Plan{set("id", `"same"`)}},
		"12 the answer to another request": {plan: fault.Plan{some(set("id", `"chatcmpl-e47e0000-0000-4000-8000-000000000007"`))}, class: experts.Protocol},
		"12 an answer after we gave up":    {plan: fault.Plan{some(fault.Rule{Delay: 3 * time.Hour})}, class: experts.Idle, took: 2 * time.Hour},
		"12 one answer to all":             {plan: fault.Plan{{Set: map[string]string{"choices.0.message.content": `"\\boxed{1}"`}}}, other: true},
		"15 a server's clock a day off":    {plan: fault.Plan{{Status: 429, Requests: fault.First(3), Headers: map[string]string{"Retry-After": "Mon, 02 Jan 2006 15:14:05 GMT", "Date": "Mon, 02 Jan 2006 15:04:05 GMT"}}}, class: experts.Limited, took: 10 * time.Minute},
		"15 a server's clock that jumps":   {plan: fault.Plan{limited("{in 60s}")}, jumps: true, class: experts.Limited, took: 59 * time.Second},
		"an hour of limits":                {plan: fault.Plan{{Status: 429, Since: 2 * time.Second, Until: time.Hour}, {Delay: time.Second}}, asking: fmt.Sprint("server_wait: ", 2*hour), class: experts.Limited, most: 200, took: time.Hour - time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			world.Reach(t, c.asking, "http://one/v1")
			bubble(t, world, func(x *trial) {
				begin := time.Now()
				x.wires["one"] = newWire()
				if c.down > 0 {
					x.wires["one"].fell()
					defer time.AfterFunc(c.down, x.wires["one"].rose).Stop()
				}
				var clock fault.Clock
				if c.jumps {
					clock = jumping{begin}
				}
				x.Blind = c.estimate
				r, f, err := x.command(x.Context(), one(c.plan...), Options{}, clock)
				if took := time.Since(begin); took < c.took || took > c.took+4*time.Hour {
					x.Errorf("it took %s, want %s", took, c.took)
				}
				switch {
				case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n")), c.is != nil && !errors.Is(err, c.is):
					x.Errorf("I6: the error is %v, want %q", err, c.says)
				case err == nil && r.MayBeHad != c.may:
					x.Errorf("I6: %d answers may be had, want %d", r.MayBeHad, c.may)
				case err == nil && f.Rows != x.Keys-c.may-c.refused:
					x.Errorf("%d of %d answers are stored, want all but %d", f.Rows, x.Keys, c.may+c.refused)
				}
				if f.Asked > cmp.Or(c.most, 2*x.Keys) {
					x.Errorf("%d requests", f.Asked)
				}
				if n := f.Attempts[string(c.class)]; c.class != "" && n == 0 || c.class == "" && len(f.Attempts) > 1 {
					x.Errorf("attempts %v, want some that are %s", f.Attempts, c.class)
				}
				if c.other {
					again, f, err := x.command(x.Context(), nil, Options{}, nil) // nobody is there to ask
					if err != nil || f.Asked > 0 || again.Stored != again.Steps {
						x.Errorf("the second command: %v, %+v", err, f)
					}
					return
				}
				world.Reach(x, "", "http://one/v1")
				stored := f.Rows
				r, f, err = x.command(x.Context(), one(), Options{}, nil)
				if err != nil || f.Rows != x.Keys-c.refused || f.Asked != f.Rows-stored {
					x.Fatalf("the second command: %v, %+v, after %d of %d answers", err, f, stored, x.Keys)
				}
				if c.refused == 0 {
					x.same(calm, r)
				}
			})
		})
	}
}

// One prompt in 300 that is refused for good costs its own answers and no others: the first command already ends, and says in
// its tables what is missing.
func TestOnePoisonedPromptCostsItself(t *testing.T) {
	world := askingtest.New(t, 300)
	world.Reach(t, "", "http://one/v1")
	bubble(t, world, func(x *trial) {
		plan := one(fault.Rule{Contains: x.Test[123], Status: 400})
		r, f, err := x.command(x.Context(), plan, Options{}, nil)
		if err != nil || f.Rows != x.Keys-4 || f.Asked != x.Keys || f.Failed != 4 || r.MayBeHad != 0 {
			x.Fatalf("%v, %+v", err, f)
		}
		if table := render(x.T, r); !strings.Contains(table, "1 of 300 questions are scored for nobody, since not every model answered them: big 1, small 1.") {
			x.Errorf("the table does not say what is missing:\n%s", table)
		}
		again, f, err := x.command(x.Context(), plan, Options{}, nil)
		if err != nil || f.Asked > 0 || again.Stored != again.Steps {
			x.Errorf("the second command: %v, %+v", err, f)
		}
	})
}

// A server that is away for a minute, and one of three that goes for good, cost nothing but time.
func TestServersThatGoCostTimeAlone(t *testing.T) {
	world := askingtest.New(t, 20)
	calm := calmly(t, world)
	slow := fault.Plan{{Delay: time.Second}}
	for name, c := range map[string]struct {
		plans  map[string]fault.Plan
		goes   string
		back   time.Duration // 0: never
		took   time.Duration // more than 3 seconds above what the answers take
		asking string
	}{
		"away for a minute":    {map[string]fault.Plan{"one": slow}, "one", time.Minute, time.Minute, ""},
		"one of three, gone":   {map[string]fault.Plan{"one": slow, "two": slow, "three": slow}, "two", 0, 0, ""},
		"one of three, silent": {map[string]fault.Plan{"one": slow, "two": {{End: fault.Hang, After: fault.Nothing(), Since: 2 * time.Second}, slow[0]}, "three": slow}, "", 0, 0, "first_byte: 60"},
	} {
		t.Run(name, func(t *testing.T) {
			var urls []string
			for host := range c.plans {
				urls = append(urls, "http://"+host+"/v1")
			}
			slices.Sort(urls)
			world.Reach(t, c.asking, urls...)
			bubble(t, world, func(x *trial) {
				begin := time.Now()
				for host := range c.plans {
					x.wires[host] = newWire()
				}
				if w := x.wires[c.goes]; w != nil {
					defer time.AfterFunc(2*time.Second+time.Second/2, w.fell).Stop()
					if c.back > 0 {
						defer time.AfterFunc(2*time.Second+time.Second/2+c.back, w.rose).Stop()
					}
				}
				r, f, err := x.command(x.Context(), c.plans, Options{}, nil)
				if err != nil || f.Rows != x.Keys || f.Failed > 0 || r.MayBeHad > 0 {
					x.Fatalf("%v, %+v", err, f)
				}
				x.same(calm, r)
				if took := time.Since(begin); took < c.took || took > c.took+10*time.Minute {
					x.Errorf("it took %s", took)
				}
				if len(f.Attempts) < 2 {
					x.Errorf("attempts %v: nothing was lost", f.Attempts)
				}
			})
		})
	}
}

// Whatever servers do, the laws of the books hold after each command, and with servers that are well a few more commands end in
// the tables of a run without faults, or say what is refused for good.
func TestAnyFaultsEndInTheSameTables(t *testing.T) {
	world := askingtest.New(t, 4)
	calm := calmly(t, world)
	bodies := []string{"", "{", "[]", "data: {", "<html>", `{"error":"no"}`, `{"choices":[]}`}
	fewer(t, 25) // a plan takes more than half a second
	rapid.Check(t, func(rt *rapid.T) {
		var plan fault.Plan
		refusing := false
		for range rapid.IntRange(1, 4).Draw(rt, "rules") {
			r := fault.Rule{Share: rapid.Float64Range(0.05, 1).Draw(rt, "share"), Attempts: fault.First(rapid.IntRange(1, 7).Draw(rt, "attempts"))}
			switch rapid.IntRange(0, 7).Draw(rt, "fault") {
			case 0:
				r.Status = rapid.SampledFrom([]int{307, 400, 401, 404, 408, 429, 500, 501, 502, 503}).Draw(rt, "status")
				refusing = refusing || r.Status == 400 || r.Status == 501
			case 1:
				r.End = rapid.SampledFrom([]fault.End{fault.Reset, fault.Close, fault.Early, fault.Erred, fault.Hang}).Draw(rt, "end")
				r.After = fault.Events(rapid.IntRange(0, 4).Draw(rt, "after"))
			case 2:
				value := rapid.SampledFrom([]string{`"abort"`, `"error"`, `"odd"`, `"content_filter"`}).Draw(rt, "finish")
				r.Set = map[string]string{"choices.0.finish_reason": value}
				refusing = refusing || value == `"content_filter"`
			case 3:
				r.Split, r.CRLF, r.BOM = rapid.IntRange(1, 50).Draw(rt, "split"), rapid.Bool().Draw(rt, "crlf"), rapid.Bool().Draw(rt, "bom")
			case 4:
				r.Status, r.Body = 200, &bodies[rapid.IntRange(0, len(bodies)-1).Draw(rt, "body")]
			case 5:
				r.Delay = time.Duration(rapid.IntRange(0, 4).Draw(rt, "delay")) * time.Hour
			case 6:
				r.Status, r.Headers = 429, map[string]string{"Retry-After": rapid.SampledFrom([]string{"0", "7", "-1", "soon", "{in 2m}", "100000"}).Draw(rt, "after")}
			case 7:
				r.Drop = []string{"choices.0.finish_reason"}
			}
			plan = append(plan, r)
		}
		stop := time.Duration(rapid.IntRange(0, 300).Draw(rt, "stop")) * time.Second // 0: nobody does
		world.Reach(t, "", "http://one/v1")
		bubble(t, world, func(x *trial) {
			ctx, cancel := context.WithCancel(x.Context())
			defer cancel()
			if stop > 0 {
				defer time.AfterFunc(stop, cancel).Stop()
			}
			r, f, err := x.command(ctx, one(plan...), Options{}, nil)
			refused := func() bool { return f.Final > 0 && f.Rows+f.Final == x.Keys } // for good: too much, and there are no tables
			for n := 0; err != nil && !refused() || err == nil && r.MayBeHad > 0; n++ {
				if err != nil && strings.Contains(err.Error(), "\n") || n > 3 {
					x.Fatalf("I6: %v, after %d more commands", err, n)
				}
				stored, final := f.Rows, f.Final
				r, f, err = x.command(x.Context(), one(), Options{}, nil)
				if f.Asked > x.Keys-stored-final {
					x.Errorf("I3: %d requests with %d answers of %d stored and %d that are not to be had", f.Asked, stored, x.Keys, final)
				}
			}
			switch {
			case f.Rows == x.Keys:
				x.same(calm, r)
			case refusing && refused():
			case !refusing || f.Rows+f.Failed != x.Keys:
				x.Errorf("%d answers and %d requests without one, of %d: %v", f.Rows, f.Failed, x.Keys, f.Attempts)
			}
		})
	})
}

// jumping is a clock that jumps an hour to and fro, each 20 seconds.
type jumping struct{ start time.Time }

func (j jumping) Now() time.Time {
	now := time.Now()
	return now.Add(time.Duration(now.Sub(j.start)/(20*time.Second)%3-1) * time.Hour)
}

func (j jumping) After(d time.Duration) <-chan time.Time { return time.After(d) }

// fewer limits the checks of rapid, unless the command line asks for a number.
func fewer(t *testing.T, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if asked := checks.Value.String(); asked == checks.DefValue {
		if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { flag.Set("rapid.checks", asked) })
	}
}
