// Requests that failed are tried again where it may help.

package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	tries       = 6                // in a row without a byte between them
	firstWait   = time.Second      // before the second try; then longer
	longestWait = 5 * time.Minute  // that a Retry-After may ask for
	silence     = 90 * time.Second // without a byte, after which a connection is given up
)

// transient marks errors that another try may mend.
type transient struct {
	err   error
	after time.Duration // what Retry-After asked for; 0: nothing
	moved bool          // some of the file came before
}

func (t *transient) Error() string { return t.err.Error() }

func (t *transient) Unwrap() error { return t.err }

// errRange says that a server has no such range: what is here is no beginning of its file.
var errRange = errors.New("the server has no such range")

// retry runs op until it succeeds, fails for good, or fails too often in a row.
func (f *Fetcher) retry(ctx context.Context, op func(context.Context) error) error {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = cmp.Or(f.Wait, firstWait)
	for try := 1; ; try++ {
		err := op(ctx)
		var t *transient
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &t):
			return err
		case t.after > longestWait:
			return fmt.Errorf("%w: it asks to come back in %s", err, t.after.Round(time.Second))
		case t.moved:
			try = 1
			waits.Reset()
		case try == tries:
			return fmt.Errorf("%w (%d tries); what has come is kept, the same command goes on from there", err, tries)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(t.after, waits.NextBackOff())):
		}
	}
}

func silent(url string, patience time.Duration) error {
	return fmt.Errorf("%s: nothing came for %s", url, patience)
}
