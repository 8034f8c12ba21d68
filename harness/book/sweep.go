// What a router with a knob chooses at every setting.

package book

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/table"
)

// Sweep is what a router with a knob chooses on a list of queries at every setting, dearest first. A choice changes a few
// times along some hundred settings, so changes are what is kept.
type Sweep struct {
	Queries  []Swept
	Settings int
}

// Mixed is the sweep of a router that has no knob and names an expert for every query, by its decisions: always the dearest of so
// many experts, what it decided, always the cheapest. Between two of these a coin is flipped, as between the settings of any knob.
func Mixed(decisions []routing.Decision, experts int) *Sweep {
	s := &Sweep{Settings: 3}
	for _, d := range decisions {
		s.Queries = append(s.Queries, Swept{First: experts - 1, Turns: []Turn{{1, d.Expert}, {2, 0}}})
	}
	return s
}

// Swept is one query's choices.
type Swept struct {
	Problem string
	Run     int
	First   int // expert at the first setting
	Turns   []Turn
}

// Turn says that from a setting on another expert is chosen.
type Turn struct{ Setting, Expert int }

// At returns the choice at a setting.
func (q Swept) At(setting int) int {
	expert := q.First
	for _, t := range q.Turns {
		if t.Setting > setting {
			break
		}
		expert = t.Expert
	}
	return expert
}

// Until returns the first setting at which an expert is chosen; settings, the number of them, if it never is.
func (q Swept) Until(expert, settings int) int {
	if q.First == expert {
		return 0
	}
	if k := slices.IndexFunc(q.Turns, func(t Turn) bool { return t.Expert == expert }); k >= 0 {
		return q.Turns[k].Setting
	}
	return settings
}

// sweepFile is what a fit would choose in an arena at every setting of its router's knob.
func sweepFile(arena string) string { return path.Join("sweep", arena+".csv") }

var sweptColumns = []table.Column[Swept]{
	table.Text("problem", func(s *Swept) *string { return &s.Problem }),
	table.Int("run", func(s *Swept) *int { return &s.Run }),
	table.Int("first", func(s *Swept) *int { return &s.First }),
	{Name: "turns", Text: func(s *Swept) string {
		var b []byte
		for i, t := range s.Turns {
			if i > 0 {
				b = append(b, ' ')
			}
			b = strconv.AppendInt(b, int64(t.Setting), 10)
			b = strconv.AppendInt(append(b, ':'), int64(t.Expert), 10)
		}
		return string(b)
	}, Set: func(s *Swept, text string) error {
		for _, field := range strings.Fields(text) {
			setting, expert, _ := strings.Cut(field, ":")
			at, bad := strconv.Atoi(setting)
			m, worse := strconv.Atoi(expert)
			if bad != nil || worse != nil {
				return fmt.Errorf("%q is no setting and expert", field)
			}
			s.Turns = append(s.Turns, Turn{at, m})
		}
		return nil
	}},
}

// Write writes the sweep of an arena, a line a query: problem, run, the expert at the first setting, then for each change
// the setting that it comes with and the expert from there on.
func (s *Sweep) Write(d *store.Draft, arena string) error {
	return writeTable(d, sweepFile(arena), sweptColumns, s.Queries)
}

// ReadSweep reads what Write wrote for the given queries.
func ReadSweep(entry store.Entry, arena string, queries []routing.Query, settings, experts int) (*Sweep, error) {
	all, err := readQueries(entry, sweepFile(arena), "sweep", sweptColumns, queries, func(x *Swept, q routing.Query) bool {
		ok := x.Problem == q.Problem.ID && x.Run == q.Run && 0 <= x.First && x.First < experts
		before := 0
		for _, t := range x.Turns {
			ok = ok && before < t.Setting && t.Setting < settings && 0 <= t.Expert && t.Expert < experts
			before = t.Setting
		}
		x.Problem = q.Problem.ID
		return ok
	})
	if err != nil {
		return nil, err
	}
	return &Sweep{all, settings}, nil
}
