// The window of Ollama, which its list of models lacks: what does not fit into it is forgotten without a word, prompts and the
// beginning of long answers alike.

package experts

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// loads is how long Ollama may take to load a model before the first request does.
const loads = 5 * time.Minute

// windows completes a list of models by what Ollama says of those that experts are asked of: it has to load a model to tell. Every name
// in its list has a tag behind a colon, so that no other server is asked. Where it does not answer nothing is known, as of other servers.
func (h *HTTP) windows(ctx context.Context, s *server, m models) {
	for i := range m.Data {
		d := &m.Data[i]
		if d.MaxModelLen > 0 || !strings.Contains(d.ID, ":") || !h.asks(s, d.ID) || !h.ollama(ctx, s) {
			continue
		}
		if d.MaxModelLen = h.window(ctx, s, d.ID); d.MaxModelLen > 0 {
			d.forgets = true
		}
	}
}

// asks says whether texts are asked of a model at a server.
func (h *HTTP) asks(s *server, model string) bool {
	for _, e := range h.experts {
		for _, t := range e.servers {
			if t == s && e.Model == model && !e.Embeds {
				return true
			}
		}
	}
	return false
}

// ollama says whether a server has the address of Ollama's version.
func (h *HTTP) ollama(ctx context.Context, s *server) bool {
	var v struct {
		Version string `json:"version"`
	}
	response, body, err := h.get(ctx, s, s.root()+"/api/version")
	return err == nil && response.StatusCode == http.StatusOK && json.Unmarshal(body, &v) == nil && v.Version != ""
}

// window loads a model and returns how many tokens it has room for; 0: not known.
func (h *HTTP) window(ctx context.Context, s *server, model string) int {
	ctx, cancel := context.WithTimeout(ctx, loads)
	defer cancel()
	load := append(wire.AppendJSON([]byte(`{"model":`), model), '}') // without a prompt nothing is generated
	if response, _, err := h.carry(ctx, s, s.key, http.MethodPost, s.root()+"/api/generate", load); err != nil || response.StatusCode != http.StatusOK {
		return 0
	}
	var loaded struct {
		Models []struct {
			Name   string `json:"name"`
			Window int    `json:"context_length"`
		} `json:"models"`
	}
	response, body, err := h.get(ctx, s, s.root()+"/api/ps")
	if err != nil || response.StatusCode != http.StatusOK || json.Unmarshal(body, &loaded) != nil {
		return 0
	}
	for _, l := range loaded.Models {
		if l.Name == model {
			return max(l.Window, 0)
		}
	}
	return 0
}
