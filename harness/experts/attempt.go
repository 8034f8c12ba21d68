// What became of requests and of each try of them: the words that are told to whoever keeps a ledger.

package experts

import (
	"context"
	"errors"

	"github.com/entrorouter/entrorouter/harness/cost"
)

// Attempts hears of every attempt of a request: a request that is tried again has several, and each may be billed.
type Attempts interface {
	// Begin is called before an attempt is sent, with the base URL it goes to. An error ends the request, and nothing is
	// sent.
	Begin(ctx context.Context, server string) error
	// End is called once after each Begin that returned nil, whatever became of the attempt.
	End(a Attempt)
}

// Attempt is what became of one attempt.
type Attempt struct {
	Server    string     // base URL
	Class     Class      // what became of it
	Error     string     // one line without control characters and keys, at most 300 bytes; empty if it was answered
	Usage     cost.Usage // tokens that are billed as far as is known, those of attempts that broke off too
	Estimated bool       // Usage was counted here, since the server did not say
}

// Class is what became of an attempt or of a whole request, in one word.
type Class string

// These are all classes.
const (
	Answered    Class = "answered"
	Refused     Class = "refused"     // the server turned it down for what it asks (400, 413, 422, 501), or what stands before it did (403 with a web page)
	Filtered    Class = "filtered"    // finish_reason content_filter: the server withheld the answer
	Limited     Class = "limited"     // too many requests or tokens (429, or 503 with Retry-After)
	Unavailable Class = "unavailable" // no connection, one that broke before the first byte, or a failing server (5xx)
	Broken      Class = "broken"      // the connection broke within the answer
	Protocol    Class = "protocol"    // not what an OpenAI-compatible server sends
	Unfinished  Class = "unfinished"  // the answer ended without a finish_reason, or with error or abort
	Idle        Class = "idle"        // no byte came for as long as one may be waited for
	Slow        Class = "slow"        // longer than one try may take
	Cancelled   Class = "cancelled"   // the caller ended it
	Key         Class = "key"         // wrong or missing key (401, 403), or one whose money is spent (402, or a quota that is used up)
	Model       Class = "model"       // model or path unknown (404, 405)
	Moved       Class = "moved"       // a redirect, which is not followed: it would take prompts and key elsewhere
	Local       Class = "local"       // this machine cannot: too many open files, a certificate that it does not accept, or a server that ends TLS
	Absent      Class = "absent"      // nobody is asked, and the file of answers has none
)

// Failure is the error of a request that has no answer, while others may have one.
type Failure struct {
	Class Class
	Again bool  // may succeed when asked again later
	Early bool  // nothing was answered by the expert before, so that it may be to blame and not the request
	Err   error // one line; wraps ErrUnknownExpert, ErrUnavailable, ErrRefused or ErrKey where one of them is the cause
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// ErrMisconfigured says that every request to a server fails alike, so that asking on would only fail the rest: the error
// around it is one sentence that names the variable or line to change.
var ErrMisconfigured = errors.New("asking on would fail alike")

// alike is how many requests to an expert that has never answered must fail in one way until ErrMisconfigured.
const alike = 20
