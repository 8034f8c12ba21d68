// The rows of a file of rollouts: what was asked, answered, graded, attempted and failed, and their keys.

package store

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Scope is the part of a rollout's key that it shares with all rollouts of an expert in an experiment. A field added
// later must be left out of the JSON when it is zero: otherwise nothing stored before is found again.
type Scope struct {
	// Source says who answers when the model's name does not: "http", or the kind of pool and a hash of its
	// parameters or data. Simulated experts bear the names of real models and must never be taken for them.
	Source      string        `json:"source"`
	Model       string        `json:"model"`
	Revision    string        `json:"revision"`
	Prompt      string        `json:"prompt"` // template around the problem's text
	Temperature float64       `json:"temperature"`
	TopP        float64       `json:"top_p"`
	TopK        int           `json:"top_k"`
	MaxTokens   int           `json:"max_tokens"`
	Split       routing.Split `json:"split"`

	MinP            float64 `json:"min_p,omitempty"`
	System          string  `json:"system,omitempty"`
	Stop            string  `json:"stop,omitempty"` // JSON, as the next and the last
	TemplateKwargs  string  `json:"chat_template_kwargs,omitempty"`
	ReasoningEffort string  `json:"reasoning_effort,omitempty"`
	LeaveOut        string  `json:"leave_out,omitempty"` // sampling that was not sent
}

// TextKey identifies a problem by its text: the first half of the SHA-256.
type TextKey [16]byte

// KeyOfText returns the key of a problem's text.
func KeyOfText(text string) TextKey {
	sum := sha256.Sum256([]byte(text))
	return TextKey(sum[:16])
}

// GoldKey hashes what a response to p is graded against. A verdict counts only for the answer it was given on.
func GoldKey(p routing.Problem) uint64 {
	h := sha256.New()
	word := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	list := func(texts []string) {
		word(uint64(len(texts)))
		for _, t := range texts {
			word(uint64(len(t)))
			h.Write([]byte(t))
		}
	}
	list(p.Gold)
	list(p.Options)
	for _, t := range p.Tolerance {
		word(math.Float64bits(t.Abs))
		word(math.Float64bits(t.Rel))
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// RolloutKey is the part of a rollout's key below its scope.
type RolloutKey struct {
	Problem TextKey
	Run     int
	Seed    uint64
}

// RolloutID names a stored rollout within its file: block of responses (high 48 bits) and position in it.
type RolloutID int64

func idOf(block int64, pos int) RolloutID { return RolloutID(block*blockRows + int64(pos)) }

func (id RolloutID) block() int64 { return int64(id) / blockRows }

func (id RolloutID) pos() int { return int(int64(id) % blockRows) }

// Row is a rollout to be stored.
type Row struct {
	Text      string // of the problem
	Run       int
	Seed      uint64
	Response  string
	Reasoning string // sent apart from the response; empty: none was
	Finish    routing.Finish
	In, Out   int64 // tokens
}

// Key returns the row's key below its scope.
func (r Row) Key() RolloutKey { return RolloutKey{KeyOfText(r.Text), r.Run, r.Seed} }

// Verdict is the grade of one stored rollout.
type Verdict struct {
	Rollout   RolloutID
	Gold      uint64         // GoldKey of the problem graded against
	Bucket    routing.Bucket // empty: not graded
	Reason    string         // reason code of the verifier
	Extracted string         // the answer found
}

// Stored is a rollout as it is found in the file, without its response.
type Stored struct {
	ID      RolloutID
	Key     RolloutKey
	Finish  routing.Finish
	In, Out int64   // tokens
	Verdict Verdict // of the verifier asked for; its Bucket is empty if there is none

	text int64 // digest of response and reasoning
}

// RolloutFailure is a request that has no answer.
type RolloutFailure struct {
	Text  string // of the problem
	Run   int
	Seed  uint64
	Class string // one of a few short words
	Error string // one line
	Again bool   // it may succeed when asked again
}

// Failed is a stored failure: a request without an answer.
type Failed struct {
	Key   RolloutKey
	Class string
	Error string
	Again bool // it may succeed when asked again
}

// Spent is what one or more attempts cost.
type Spent struct {
	In  int64   `json:"tokens_in"`
	Out int64   `json:"tokens_out"`
	USD float64 `json:"usd"` // dollars
}

// Add adds what others cost.
func (s *Spent) Add(t Spent) {
	s.In += t.In
	s.Out += t.Out
	s.USD += t.USD
}

// Attempt is a request that is about to be sent.
type Attempt struct {
	Scope  Scope
	Text   string // of the problem
	Run    int
	Seed   uint64
	Server string // URL
	Most   Spent  // upper bound of what it can cost
}

// AttemptID names an attempt within its file.
type AttemptID int64

// AnsweredClass is the class of attempts that got an answer.
const AnsweredClass = "answered"

// Ended is what became of an attempt.
type Ended struct {
	ID        AttemptID
	Class     string // one of a few short words, e.g. "answered"
	Error     string // one line; empty: there was none
	Spent     Spent  // what is billed, as far as it is known
	Estimated bool   // counted by us, since the server did not say
}

// StoredAttempt is an attempt as it is found in the file.
type StoredAttempt struct {
	ID      AttemptID
	Process int64 // whose it is; 0: a run that did not say who it is
	Scope   Scope
	Key     RolloutKey
	Server  string
	Began   time.Time
	Most    Spent     // upper bound of what it can cost
	Ended   time.Time // zero: it has no end, and what follows is empty

	Class     string
	Error     string
	Spent     Spent
	Estimated bool
}

// Run is a run of the program that asks.
type Run struct {
	Name    string    `json:"name"` // of the experiment
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
}
