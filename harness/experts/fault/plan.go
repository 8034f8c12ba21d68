// Package fault makes a server of chat models fail on demand: a plan says which requests fail and how, Handler applies it to
// any handler, and New is a scripted server for tests. It keeps count of what was answered, so that a client's own books can
// be held against it.
package fault

// The plan: which requests meet a fault, and what becomes of them.

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"gopkg.in/yaml.v3"
)

// Plan is a list of rules. The first that matches a request is applied to it; a request that none matches is answered as
// if there were no plan.
type Plan []Rule

// Rule says what becomes of some requests. Of the conditions all that are set must hold; a rule without any matches every
// request to its path. Zero fields of the rest change nothing.
type Rule struct {
	// Which requests.
	Path     string        `yaml:"path"`     // what the path begins with; empty: /v1/chat/completions
	Model    string        `yaml:"model"`    // as the client names it
	Contains string        `yaml:"contains"` // in the text of the last message
	Share    float64       `yaml:"share"`    // of all requests, 0 to 1, by a hash: every attempt of a request or none
	Attempts Range         `yaml:"attempts"` // of one request; requests are one that have model, messages and seed in common
	Requests Range         `yaml:"requests"` // by the order in which they came to the path, whatever else the rule asks
	Every    int           `yaml:"every"`    // 3: the third, the sixth and so on of the requests that meet the other conditions; 0: all of them
	Since    time.Duration `yaml:"since"`    // from the start of the server
	Until    time.Duration `yaml:"until"`    // from the start of the server, exclusive; 0: for good

	// What is answered. Edits name a value by its path, such as choices.0.finish_reason or usage; in a stream message
	// stands for delta. They are made of the whole response, or of the events of a stream that have the value and not null.
	Request map[string]string `yaml:"request"` // values of the request that are others to the server: path to JSON
	Status  int               `yaml:"status"`  // answered at once, without asking the server; 0: the server is asked
	Headers map[string]string `yaml:"headers"` // set beside those of the response
	Body    *string           `yaml:"body"`    // instead of the body; {key} in it is the client's key. nil with a Status: as vLLM words it
	Set     map[string]string `yaml:"set"`     // path to JSON, which is written as it stands: "NaN" is possible
	Move    map[string]string `yaml:"move"`    // path to the name of a sibling that gets the value; null stays
	Drop    []string          `yaml:"drop"`    // paths

	// How it is written.
	BOM      bool          `yaml:"bom"`      // a byte order mark comes first
	CRLF     bool          `yaml:"crlf"`     // lines of a stream end with it
	Tight    bool          `yaml:"tight"`    // no space after "data:"
	Comments bool          `yaml:"comments"` // a comment line comes before each event
	Padding  int           `yaml:"padding"`  // an unknown field of so many bytes in the first JSON object
	Split    int           `yaml:"split"`    // the body comes in chunks of so many bytes, whatever they cut apart
	Pace     *Pace         `yaml:"pace"`     // the response trickles
	Delay    time.Duration `yaml:"delay"`    // before the first byte

	// How it ends.
	End   End           `yaml:"end"`
	After Point         `yaml:"after"` // where it ends
	Down  time.Duration `yaml:"down"`  // every connection is reset then, and nothing listens for so long; needs a Listener
}

// Pace is how fast a response is written.
type Pace struct {
	Bytes int           `yaml:"bytes"` // at a time
	Every time.Duration `yaml:"every"`
	Head  bool          `yaml:"head"` // the status line and the headers trickle too
}

// End is how a response ends.
type End string

// The ends of a response. All but Whole stop it at a Point.
const (
	Whole End = ""      // as it should
	Reset End = "reset" // RST: the client reads "connection reset by peer"
	Close End = "close" // FIN before the body is complete, as of a server that was killed
	Early End = "early" // the body ends as HTTP wants it to, too early
	Hang  End = "hang"  // silence, until the client goes or the server stops
	Erred End = "error" // an event with an error, then [DONE], as vLLM fails in the middle of a stream
)

var ends = []End{Whole, Reset, Close, Early, Hang, Erred}

// Point is a place in a response. The zero value is after its head.
type Point struct {
	unit unit
	n    int
}

type unit string

const (
	head    unit = ""
	nothing unit = "nothing"
	events  unit = "events"
	octets  unit = "bytes"
)

// Nothing is before the first byte.
func Nothing() Point { return Point{unit: nothing} }

// Events is after n events of a stream, the first of which has the role. A response that is no stream has one event.
func Events(n int) Point { return Point{events, n} }

// Bytes is after n bytes of the body.
func Bytes(n int) Point { return Point{octets, n} }

// UnmarshalYAML reads "nothing", "head", "3 events" or "100 bytes".
func (p *Point) UnmarshalYAML(node *yaml.Node) error {
	switch node.Value {
	case "nothing":
		*p = Nothing()
		return nil
	case "head":
		*p = Point{}
		return nil
	}
	n, what, _ := strings.Cut(node.Value, " ")
	count, err := strconv.Atoi(n)
	u := unit(strings.TrimSuffix(what, "s") + "s")
	if err != nil || count < 0 || u != events && u != octets {
		return fmt.Errorf("line %d: after: %q: want nothing, head, or a number of events or bytes such as 3 events", node.Line, node.Value)
	}
	*p = Point{u, count}
	return nil
}

// Range is numbers from 1 on. The zero value holds all of them.
type Range struct {
	From, To int // inclusive; To 0: without end
}

// First is the range of the first n numbers.
func First(n int) Range { return Range{1, n} }

func (r Range) holds(n int) bool { return n >= r.From && (r.To == 0 || n <= r.To) }

// UnmarshalYAML reads 2, "2-5" or "2-".
func (r *Range) UnmarshalYAML(node *yaml.Node) error {
	from, to, open := strings.Cut(node.Value, "-")
	first, err := strconv.Atoi(from)
	last := first
	if open {
		last = 0
		if to != "" && err == nil {
			last, err = strconv.Atoi(to)
		}
	}
	if err != nil || first < 1 || last != 0 && last < first {
		return fmt.Errorf("line %d: %q: want numbers from 1 on, such as 2, 2-5 or 2-", node.Line, node.Value)
	}
	*r = Range{first, last}
	return nil
}

// What the YAML library says of a key that no field has, and of a value that a field cannot have.
var (
	unknownKey = regexp.MustCompile(`field (\S+) not found in type .*`)
	otherType  = regexp.MustCompile("cannot unmarshal \\S+ (`.*`) into .*")
)

// Read reads a plan: a YAML file whose list faults has the rules. docs/serve.md has the names of their fields. The error
// says what is wrong, all of it.
func Read(r io.Reader) (Plan, error) {
	var file struct {
		Faults Plan `yaml:"faults"`
	}
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	err := d.Decode(&file)
	var types *yaml.TypeError
	switch {
	case errors.As(err, &types):
		for i, text := range types.Errors {
			types.Errors[i] = otherType.ReplaceAllString(unknownKey.ReplaceAllString(text, `unknown key "$1"`), "$1 is of another type")
		}
		return nil, errors.New(strings.Join(types.Errors, "; "))
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	return file.Faults, file.Faults.Check()
}

// Check says what is wrong with the rules of a plan, all of it.
func (p Plan) Check() error {
	var faults []error
	for i, r := range p {
		if fault := r.fault(); fault != "" {
			faults = append(faults, fmt.Errorf("fault %d: %s", i+1, fault))
		}
	}
	if p == nil {
		return errors.New("there are no faults: list them under faults")
	}
	return errors.Join(faults...)
}

var plainPath = regexp.MustCompile(`^[\w-]+(\.[\w-]+)*$`)

func (r Rule) fault() string {
	switch {
	case !(r.Share >= 0 && r.Share <= 1):
		return fmt.Sprintf("share %g: want 0 to 1", r.Share)
	case r.Every < 0:
		return fmt.Sprintf("every %d: want a number from 1 on", r.Every)
	case r.Since < 0 || r.Until < 0 || r.Delay < 0 || r.Down < 0:
		return "a time is negative"
	case r.Until > 0 && r.Until <= r.Since:
		return fmt.Sprintf("until %s is not after since %s", r.Until, r.Since)
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return fmt.Sprintf("status %d: want 200 to 599", r.Status)
	case r.Status == 0 && r.Body != nil:
		return "body has no status: say which"
	case r.Padding < 0 || r.Split < 0:
		return "padding and split are numbers of bytes"
	case r.Pace != nil && (r.Pace.Bytes < 1 || r.Pace.Every <= 0):
		return "pace: want bytes from 1 on and every so long"
	case !slices.Contains(ends, r.End):
		return fmt.Sprintf("end %q: want %s", r.End, strings.Join(names(ends[1:]), ", "))
	case r.End == Whole && r.Down == 0 && r.After != Point{}:
		return "after says where, and nothing says what: set end or down"
	case r.End == Early && r.After.unit == nothing:
		return "end early, after nothing: a response that ends needs a head"
	case r.End == Erred && r.After.unit == nothing:
		return "end error, after nothing: a stream that fails has a head"
	}
	for path, value := range r.Request {
		if !gjson.Valid(value) {
			return fmt.Sprintf("request: %s: %q is not JSON; a text needs quotes of its own", path, value)
		}
	}
	for _, path := range slices.Concat(sorted(r.Request), sorted(r.Set), sorted(r.Move), r.Drop) {
		if !plainPath.MatchString(path) {
			return fmt.Sprintf("path %q: want names and numbers with dots between, such as choices.0.finish_reason", path)
		}
	}
	return ""
}

func names(ends []End) []string {
	var all []string
	for _, e := range ends {
		all = append(all, string(e))
	}
	return all
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
