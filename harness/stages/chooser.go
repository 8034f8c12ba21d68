// What a policy says of a text.

package stages

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// A chooser says of each text what it makes of it.
type chooser interface {
	choose(ctx context.Context, texts []string) ([]opinion, error)
}

// opinion is what a policy says of a text.
type opinion struct {
	prob  []float64  // [M]
	cost  []float64  // [M] expected, of a policy with a Start
	usage cost.Usage // tokens that it read and wrote for it; none if it reads no tokens
	cut   bool       // what it wrote before was cut off
}

// network is a chooser whose weights are here.
type network struct{ *policy.Model }

func (n network) choose(ctx context.Context, texts []string) ([]opinion, error) {
	rows, err := n.Policy().Encode(ctx, texts)
	if err == nil {
		rows, err = n.Written(ctx, rows)
	}
	if err != nil {
		return nil, err
	}
	probs, err := n.ProbsOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	reader, reads := n.Policy().(policy.Reader)
	said := make([]opinion, len(rows))
	for i, row := range rows {
		said[i] = opinion{prob: probs[i], cut: row.Cut}
		if reads {
			in, out := reader.Tokens(row)
			said[i].usage = cost.Usage{In: int64(in), Out: int64(out)}
		}
	}
	return said, nil
}
