// The models of a run, each opened once.

package lm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/gomlx/compute/dtypes"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Models opens language models and keeps what their frozen layers made of texts, for all policies of a run. Safe for
// concurrent use.
type Models struct {
	Say func(text string) // hears how far frozen layers are with reading texts; nil: nobody. Set before the first policy

	mu     sync.Mutex
	bases  map[spec.LanguageModel]*Base
	trunks map[trunkKey]*trunk
	left   *remember.Room // of hidden states, in bytes
	dir    string

	planned bool            // nothing but digests is asked for
	absent  map[string]bool // folders without weights that were asked about
}

type trunkKey struct {
	backend policy.Backend
	base    *Base
	compute dtypes.DType
	from    int
}

// NewModels returns models that remember about so many bytes of hidden states, and keep those of whole frozen models in files below
// dir; empty: nowhere. One process at a time may have a dir. The caller closes them, before the backends of the policies built from them.
func NewModels(bytes int64, dir string) *Models {
	return &Models{bases: map[spec.LanguageModel]*Base{}, trunks: map[trunkKey]*trunk{}, left: remember.RoomOf(bytes), dir: dir}
}

// PlannedModels returns models for plans, which ask them for digests alone. A folder without weights, or that is not there, is no error: it has
// a digest that nothing stored has.
func PlannedModels() *Models {
	m := NewModels(0, "")
	m.planned, m.absent = true, map[string]bool{}
	return m
}

// Absent lists the folders without weights that planned models were asked about.
func (m *Models) Absent() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.absent))
}

// Digest returns what tells apart models and prompts whose policies would differ. What shows that no policy can be built of a model is
// an error here already, before anybody is asked or trained for it; but a plan may stand a model in for another.
func (m *Models) Digest(of spec.Policy) (string, error) {
	base, err := m.base(*of.Model)
	if m.planned && (errors.Is(err, errNoFolder) || errors.Is(err, safetensors.ErrNone)) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.absent[of.Model.Folder] = true
		return "not here: " + of.Model.Folder, nil
	}
	if err == nil && !m.planned {
		if err = fits(base.Config, of); err == nil {
			_, err = base.vocabulary()
		}
	}
	if err != nil {
		return "", err
	}
	return base.Digest + " " + promptDigest(of.Reasons()), nil
}

// fits says why a model is no model for a policy.
func fits(c Config, of spec.Policy) error {
	limit := c.Position
	if limit > 0 && of.MaxTokens > limit {
		return fmt.Errorf("policy.max_tokens is %d; the model was made for texts of up to %d tokens", of.MaxTokens, limit)
	}
	if w := of.Writes; w != nil && limit > 0 && of.MaxTokens+w.AtTest() > limit {
		return fmt.Errorf("policy.max_tokens and writes come to %d tokens; the model was made for texts of up to %d", of.MaxTokens+w.AtTest(), limit)
	}
	if of.Tune != nil && of.Tune.Last > c.Layers {
		return fmt.Errorf("policy.tune.last is %d; the model has %d layers", of.Tune.Last, c.Layers)
	}
	return nil
}

// base opens a model, or returns it if it is open.
func (m *Models) base(of spec.LanguageModel) (*Base, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.bases[of]; ok {
		return b, nil
	}
	b, err := open(of)
	if err == nil {
		m.bases[of] = b
	}
	return b, err
}

func open(of spec.LanguageModel) (*Base, error) {
	if of.Folder != "" {
		return Open(of.Folder)
	}
	size := freshDefinition().Size()
	return Fresh(Config{
		Arch: of.Arch, Vocab: size, EOS: strconv.AppendInt(nil, int64(size-1), 10), Hidden: of.Hidden, Inner: of.Inner, Layers: of.Layers, Heads: of.Heads, KVHeads: of.KVHeads,
		HeadDim: of.HeadDim, Epsilon: 1e-6, Theta: 1e6, Tied: true,
	}, seed.Seed(of.Seed))
}

// trunk returns the frozen layers below one of a decoder, which policies share.
func (m *Models) trunk(backend policy.Backend, d Decoder, base *Base, from int) (*trunk, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := trunkKey{backend, base, d.Compute, from}
	if k, ok := m.trunks[key]; ok {
		return k, nil
	}
	k, err := newTrunk(backend, Decoder{Config: d.Config, Compute: d.Compute}, base, from, m.left, m.dir, m.Say)
	if err != nil {
		return nil, fmt.Errorf("frozen layers: %w", err)
	}
	m.trunks[key] = k
	return k, nil
}

// Close frees what the models hold. Policies built from them cannot be used afterwards.
func (m *Models) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, k := range m.trunks {
		errs = append(errs, k.close())
	}
	for _, b := range m.bases {
		errs = append(errs, b.Close())
	}
	clear(m.trunks)
	clear(m.bases)
	return errors.Join(errs...)
}
