// Vectors of texts that methods read: a model is asked for each once.

package asking

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// atOnce is how many texts a request has: as many as text-embeddings-inference takes by default.
const atOnce = 32

// Embed returns the vectors of texts in their order, by a model for vectors at its address. It asks nothing twice: a vector is stored, and
// synced, under the model, its revision and the text before it is returned, and obeys --offline. Only the key that the endpoint names is
// sent. Errors of requests wrap steps.ErrIncomplete; what was answered before is kept. It is safe for concurrent use.
func (a *Asker) Embed(ctx context.Context, m experts.Endpoint, texts []string) ([][]float32, error) {
	e := &a.embedded
	e.mu.Lock()
	defer e.mu.Unlock()
	scope := store.Scope{Source: served, Model: m.Model, Revision: m.Revision, Split: "embedding"}
	have, ok := e.of[scope]
	if !ok {
		have = map[store.TextKey][]float32{}
		for r, err := range a.rollouts.Responses(ctx, scope) {
			if err != nil {
				return nil, err
			}
			if have[r.Key.Problem], err = vectorOf(r.Response); err != nil {
				return nil, fmt.Errorf("stored vector of model %q: %w", m.Model, err)
			}
		}
		if e.of == nil {
			e.of = map[store.Scope]map[store.TextKey][]float32{}
		}
		e.of[scope] = have
	}
	var want []string
	wanted := map[store.TextKey]bool{}
	for _, text := range texts {
		if k := store.KeyOfText(text); have[k] == nil && !wanted[k] {
			want, wanted[k] = append(want, text), true
		}
	}
	if len(want) > 0 {
		if a.plan.Options.Offline {
			return nil, fmt.Errorf("%w: %d of %d vectors of %s are not stored and --offline forbids asking for them", steps.ErrIncomplete, len(want), len(texts), m.Model)
		}
		if err := a.embed(ctx, m, scope, want, have); err != nil {
			return nil, err
		}
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = have[store.KeyOfText(text)]
	}
	return out, nil
}

// embed asks for the vectors of texts, stores them and adds them to those there are.
func (a *Asker) embed(ctx context.Context, m experts.Endpoint, scope store.Scope, texts []string, have map[store.TextKey][]float32) error {
	o := a.httpOptions()
	o.Key = "" // it is of the experts
	client, err := experts.NewHTTP([]experts.Endpoint{m}, o)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Preflight(ctx, o.ServerWait); err != nil {
		return err
	}
	if err := a.startRun(ctx); err != nil {
		return err
	}
	show := a.plan.Options.Progress.Start("vectors of "+m.Model, len(texts))
	defer show.Done()

	limited, done := a.plan.Options.Budget.Limit(ctx)
	defer done()
	flight := &flight{starting: limited}
	size := 0
	for _, v := range have {
		size = len(v)
		break
	}
	var mu sync.Mutex // of size and have
	g, asking := errgroup.WithContext(limited)
	g.SetLimit(a.plan.Spec.Experiment.Profile.Concurrency)
	for batch := range slices.Chunk(texts, atOnce) {
		g.Go(func() error {
			defer crash.Exit()
			sum := sha256.Sum256([]byte(strings.Join(batch, "\x00")))
			attempt := store.Row{Text: "vectors " + hex.EncodeToString(sum[:])}
			bytes := 0
			for _, text := range batch {
				bytes += len(text)
			}
			vectors, usage, err := client.Embed(asking, experts.EmbedRequest{Expert: m.ID, Texts: batch, Attempts: a.ledgerOf(flight, m.Expert, scope, attempt, bytes)})
			if err != nil {
				return err
			}
			flight.answered.Store(true)
			mu.Lock()
			defer mu.Unlock()
			if size == 0 {
				size = len(vectors[0])
			}
			if len(vectors[0]) != size {
				return fmt.Errorf("%s sent vectors of %d numbers for model %s, and those before have %d: where it is another model now, give it another revision", m.URL, len(vectors[0]), m.Model, size)
			}
			for i, text := range batch {
				row := store.Row{Text: text, Response: textOf(vectors[i]), Finish: routing.Stop}
				if i == 0 {
					row.In = usage.In // of all of them
				}
				a.rollouts.Keep(scope, row, "", store.Verdict{}, nil)
				have[store.KeyOfText(text)] = vectors[i]
			}
			show.Add(len(batch))
			return nil
		})
	}
	err = g.Wait()
	if synced := a.rollouts.Sync(context.WithoutCancel(ctx)); synced != nil { // it was paid for
		return synced
	}
	var failure *experts.Failure
	switch cause := context.Cause(limited); {
	case err == nil:
		return nil
	case errors.Is(cause, cost.ErrSpent):
		return a.spent(cause)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failure):
		return fmt.Errorf("%w: not every vector is to be had: %w; what was answered is kept", steps.ErrIncomplete, err)
	}
	return a.ended(err, flight)
}

// textOf is how a vector is stored: its numbers as float32, the least byte first, in base64.
func textOf(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// vectorOf is the vector that is stored as a text.
func vectorOf(text string) ([]float32, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || len(b)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are none", len(text))
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}
