package harness

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// trainSweep names the sweep over the Stage II problems, which knobs are set on.
const trainSweep = "train"

// sweptAtOnce is how many queries are asked about at every setting before the next ones: few enough to stay near.
const sweptAtOnce = 1024

// sweepOf asks a router at every one of its settings.
func sweepOf(ctx context.Context, f routing.Frontier, queries []routing.Query) (*book.Sweep, error) {
	knobs := f.Knobs()
	s := &book.Sweep{Settings: len(knobs)}
	for some := range slices.Chunk(queries, sweptAtOnce) {
		swept := make([]book.Swept, len(some))
		last := make([]int, len(some))
		for j, knob := range knobs {
			decisions, err := f.RouteAt(ctx, some, knob)
			if err != nil {
				return nil, err
			}
			for i, d := range decisions {
				switch {
				case d.Expert < 0:
					return nil, fmt.Errorf("at setting %d the router asks no single expert about problem %s; a router with a knob must choose one", j, d.Problem)
				case j == 0:
					swept[i] = book.Swept{Problem: d.Problem, Run: d.Run, First: d.Expert}
				case d.Expert != last[i]:
					swept[i].Turns = append(swept[i].Turns, book.Turn{Setting: j, Expert: d.Expert})
				}
				last[i] = d.Expert
			}
		}
		s.Queries = append(s.Queries, swept...)
	}
	return s, nil
}

func sweepFile(name string) string { return path.Join("sweep", name+".csv") }

// writeSwept sweeps a router over queries and writes a line a query: problem, run, the expert at the first setting, then a
// pair for each change: the setting that it comes with and the expert from there on.
func writeSwept(ctx context.Context, d *store.Draft, name string, router routing.Frontier, queries []routing.Query) (err error) {
	s, err := sweepOf(ctx, router, queries)
	if err != nil {
		return err
	}
	f, err := d.Create(sweepFile(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var line []byte
	for _, q := range s.Queries {
		line = append(line[:0], q.Problem...)
		line = strconv.AppendInt(append(line, ','), int64(q.Run), 10)
		line = strconv.AppendInt(append(line, ','), int64(q.First), 10)
		for _, t := range q.Turns {
			line = strconv.AppendInt(append(line, ','), int64(t.Setting), 10)
			line = strconv.AppendInt(append(line, ','), int64(t.Expert), 10)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// readSwept reads what writeSwept wrote for the given queries.
func readSwept(entry store.Entry, name string, queries []routing.Query, settings, experts int) (*book.Sweep, error) {
	file, err := entry.Open(sweepFile(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	s := &book.Sweep{Queries: make([]book.Swept, 0, len(queries)), Settings: settings}
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		i := len(s.Queries)
		fault := func() error {
			return fmt.Errorf("%s:%d: not the sweep of query %d; remove the folder of this step and run again", file.Name(), i+1, i+1)
		}
		if len(rec)%2 == 0 || len(rec) < 3 || i >= len(queries) || rec[0] != queries[i].Problem.ID {
			return nil, fault()
		}
		n := numbers{fields: rec[1:]}
		q := book.Swept{Problem: queries[i].Problem.ID, Run: n.int(), First: n.int()}
		ok := q.Run == queries[i].Run && 0 <= q.First && q.First < experts
		for before := 0; len(n.fields) > 0; {
			t := book.Turn{Setting: n.int(), Expert: n.int()}
			ok = ok && before < t.Setting && t.Setting < settings && 0 <= t.Expert && t.Expert < experts
			before = t.Setting
			q.Turns = append(q.Turns, t)
		}
		if n.err != nil || !ok {
			return nil, fault()
		}
		s.Queries = append(s.Queries, q)
	}
	if len(s.Queries) != len(queries) {
		return nil, fmt.Errorf("%s: sweeps of %d queries, want %d", file.Name(), len(s.Queries), len(queries))
	}
	return s, nil
}

// replayed is a router with a knob read from its sweeps: it answers the lists of queries that were swept and no others.
// Its knob is the setting's index.
type replayed struct {
	sweeps []*book.Sweep
	always [][]float64 // [M] the distribution that is sure of each expert
}

func newReplayed(experts int, sweeps ...*book.Sweep) *replayed {
	r := &replayed{sweeps: sweeps}
	for m := range experts {
		r.always = append(r.always, make([]float64, experts))
		r.always[m][m] = 1
	}
	return r
}

// Knobs implements routing.Frontier.
func (r *replayed) Knobs() []float64 {
	knobs := make([]float64, r.sweeps[0].Settings)
	for j := range knobs {
		knobs[j] = float64(j)
	}
	return knobs
}

// Route implements routing.Router at the dearest setting.
func (r *replayed) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return r.RouteAt(ctx, queries, 0)
}

// RouteAt implements routing.Frontier.
func (r *replayed) RouteAt(_ context.Context, queries []routing.Query, knob float64) ([]routing.Decision, error) {
	for _, s := range r.sweeps {
		if !slices.EqualFunc(s.Queries, queries, func(x book.Swept, q routing.Query) bool { return x.Problem == q.Problem.ID && x.Run == q.Run }) {
			continue
		}
		out := make([]routing.Decision, len(queries))
		for i, x := range s.Queries {
			m := x.At(int(knob))
			out[i] = routing.Decision{Problem: x.Problem, Run: x.Run, Prob: r.always[m], Expert: m}
		}
		return out, nil
	}
	return nil, fmt.Errorf("no sweep of these %d queries", len(queries))
}
