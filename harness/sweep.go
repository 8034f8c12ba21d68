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

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// trainSweep names the sweep over the Stage II problems, which knobs are set on.
const trainSweep = "train"

// sweep is the choices of a router with a knob on a list of queries, at every setting, dearest first. A choice changes
// a few times along some hundred settings, so changes are what is kept.
type sweep struct {
	queries  []sweptQuery
	settings int
}

// sweptQuery is one query's choices.
type sweptQuery struct {
	problem string
	run     int
	first   int // expert at the first setting
	turns   []turn
}

// turn says that from a setting on another expert is chosen.
type turn struct{ setting, expert int }

// sweptAtOnce is how many queries are asked about at every setting before the next ones: few enough to stay near.
const sweptAtOnce = 1024

// newSweep asks a router at every one of its settings.
func newSweep(ctx context.Context, f routing.Frontier, queries []routing.Query) (*sweep, error) {
	knobs := f.Knobs()
	s := &sweep{settings: len(knobs)}
	for some := range slices.Chunk(queries, sweptAtOnce) {
		swept := make([]sweptQuery, len(some))
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
					swept[i] = sweptQuery{problem: d.Problem, run: d.Run, first: d.Expert}
				case d.Expert != last[i]:
					swept[i].turns = append(swept[i].turns, turn{j, d.Expert})
				}
				last[i] = d.Expert
			}
		}
		s.queries = append(s.queries, swept...)
	}
	return s, nil
}

// writeSwept sweeps a router over queries.
func writeSwept(ctx context.Context, d *store.Draft, name string, f routing.Frontier, queries []routing.Query) error {
	s, err := newSweep(ctx, f, queries)
	if err != nil {
		return err
	}
	return s.write(d, name)
}

// at returns the choice at a setting.
func (q sweptQuery) at(setting int) int {
	expert := q.first
	for _, t := range q.turns {
		if t.setting > setting {
			break
		}
		expert = t.expert
	}
	return expert
}

func sweepFile(name string) string { return path.Join("sweep", name+".csv") }

// write writes a line a query: problem, run, the expert at the first setting, then a pair for each change: the setting
// that it comes with and the expert from there on.
func (s *sweep) write(d *store.Draft, name string) (err error) {
	f, err := d.Create(sweepFile(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var line []byte
	for _, q := range s.queries {
		line = append(line[:0], q.problem...)
		line = strconv.AppendInt(append(line, ','), int64(q.run), 10)
		line = strconv.AppendInt(append(line, ','), int64(q.first), 10)
		for _, t := range q.turns {
			line = strconv.AppendInt(append(line, ','), int64(t.setting), 10)
			line = strconv.AppendInt(append(line, ','), int64(t.expert), 10)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// readSwept reads what write wrote for the given queries.
func readSwept(entry store.Entry, name string, queries []routing.Query, settings, experts int) (*sweep, error) {
	file, err := entry.Open(sweepFile(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	s := &sweep{queries: make([]sweptQuery, 0, len(queries)), settings: settings}
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		i := len(s.queries)
		fault := func() error {
			return fmt.Errorf("%s:%d: not the sweep of query %d; remove the folder of this step and run again", file.Name(), i+1, i+1)
		}
		if len(rec)%2 == 0 || len(rec) < 3 || i >= len(queries) || rec[0] != queries[i].Problem.ID {
			return nil, fault()
		}
		n := numbers{fields: rec[1:]}
		q := sweptQuery{problem: queries[i].Problem.ID, run: n.int(), first: n.int()}
		ok := q.run == queries[i].Run && 0 <= q.first && q.first < experts
		for before := 0; len(n.fields) > 0; {
			t := turn{n.int(), n.int()}
			ok = ok && before < t.setting && t.setting < settings && 0 <= t.expert && t.expert < experts
			before = t.setting
			q.turns = append(q.turns, t)
		}
		if n.err != nil || !ok {
			return nil, fault()
		}
		s.queries = append(s.queries, q)
	}
	if len(s.queries) != len(queries) {
		return nil, fmt.Errorf("%s: sweeps of %d queries, want %d", file.Name(), len(s.queries), len(queries))
	}
	return s, nil
}

// replayed is a router with a knob read from its sweeps: it answers the lists of queries that were swept and no others.
// Its knob is the setting's index.
type replayed struct {
	sweeps []*sweep
	always [][]float64 // [M] the distribution that is sure of each expert
}

func newReplayed(experts int, sweeps ...*sweep) *replayed {
	r := &replayed{sweeps: sweeps}
	for m := range experts {
		r.always = append(r.always, make([]float64, experts))
		r.always[m][m] = 1
	}
	return r
}

// Knobs implements routing.Frontier.
func (r *replayed) Knobs() []float64 {
	knobs := make([]float64, r.sweeps[0].settings)
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
		if !slices.EqualFunc(s.queries, queries, func(x sweptQuery, q routing.Query) bool { return x.problem == q.Problem.ID && x.run == q.Run }) {
			continue
		}
		out := make([]routing.Decision, len(queries))
		for i, x := range s.queries {
			m := x.at(int(knob))
			out[i] = routing.Decision{Problem: x.problem, Run: x.run, Prob: r.always[m], Expert: m}
		}
		return out, nil
	}
	return nil, fmt.Errorf("no sweep of these %d queries", len(queries))
}
