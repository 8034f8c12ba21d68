// Vectors of texts, as POST /v1/embeddings has them.

package experts

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// EmbedRequest asks one model for the vectors of texts.
type EmbedRequest struct {
	Expert   string   // id of the endpoint
	Texts    []string // at least one
	Attempts Attempts // hears of every attempt; nil: nobody
}

// Embed returns the vectors of texts in their order, all of one size and finite, and what they cost. It is safe for concurrent use. Errors
// are those of Pool; an answer with other vectors than were asked for is tried again as any that is not of the protocol.
func (h *HTTP) Embed(ctx context.Context, r EmbedRequest) ([][]float32, cost.Usage, error) {
	e, err := h.endpoint(r.Expert)
	if err != nil {
		return nil, cost.Usage{}, err
	}
	q := question{path: "/embeddings", whole: true, vectors: &vectors{want: len(r.Texts)}}
	q.body = append(wire.AppendJSON([]byte(`{"model":`), e.Model), `,"input":[`...)
	for i, text := range r.Texts {
		q.body = wire.AppendJSON(append(q.body, separator(i)...), text)
		q.prompt += len(text)
	}
	q.body = append(q.body, `],"encoding_format":"float"}`...)
	c, err := h.ask(ctx, e, q, r.Attempts)
	return q.vectors.of, c.Usage, err
}
