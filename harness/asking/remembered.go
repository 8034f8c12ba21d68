// What an Asker has read of the store and need not read again.

package asking

import (
	"net/http"
	"sync"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"golang.org/x/sync/singleflight"
)

// known is what is stored under a scope.
type known struct {
	rows   map[store.RolloutKey]kept
	failed map[store.RolloutKey]store.Failed // asked for, and without an answer
}

// kept is a rollout that is stored.
type kept struct {
	Graded // Bucket is empty if this verifier has not graded it
	gold   uint64
	id     store.RolloutID
}

// Graded is a rollout reduced to what a profile or an outcome needs.
type Graded struct {
	Bucket routing.Bucket
	Usage  cost.Usage
}

// conversations is what the talks of a run share.
type conversations struct {
	asking singleflight.Group // by revision and row
	mu     sync.Mutex         // of stored
	stored map[store.Scope]map[store.RolloutKey]store.Stored
}

// message is how an answer is stored.
type message struct {
	Text      string             `json:"text"`
	Reasoning string             `json:"reasoning,omitempty"`
	Calls     []experts.ToolCall `json:"tool_calls,omitempty"`
	Finish    string             `json:"finish"`
	In        int64              `json:"in"`
	Out       int64              `json:"out"`
	Top       []experts.TopToken `json:"top,omitempty"`
}

// embeddings are the vectors that are stored, by model and text.
type embeddings struct {
	mu sync.Mutex
	of map[store.Scope]map[store.TextKey][]float32
}

// routers are the language models that route, as opposed to the experts they route to.
type routers struct {
	clients map[string]*experts.HTTP // by URL and model
	handler http.Handler             // answers for the simulated ones; nil: not asked yet
	known   problems.Index           // what those may be asked about: the problems of every arena, and those of training, for teachers
}

func (r *routers) close() {
	for _, c := range r.clients {
		c.Close()
	}
}
