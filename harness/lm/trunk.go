// The frozen layers, run once for each text.

package lm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// trunk runs the layers below the first trained one and remembers what they made of texts. It forgets nothing and stops
// learning when the memory is full; what it has a file for it finds there then. Safe for concurrent use.
type trunk struct {
	width int

	mu    sync.Mutex
	net   *Network
	exec  *model.Exec
	known map[[sha256.Size]byte][]float32 // by the tokens
	left  *remember.Room                  // in bytes; trunks share it
	file  *statesFile                     // nil: what is known is kept nowhere
	say   func(text string)
}

// newTrunk prepares the layers below from; with from the number of layers and one more, the last norm too, at a text's last
// position alone. What those come to is kept in dir; empty: nowhere.
func newTrunk(backend policy.Backend, d Decoder, base *Base, from int, left *remember.Room, dir string, say func(text string)) (*trunk, error) {
	whole := from > d.Config.Layers
	net, err := NewNetwork(backend, d, base, func(name string) bool {
		l, in := inLayer(name)
		return in && l < from || name == embedName || whole && name == normName
	})
	if err != nil {
		return nil, err
	}
	exec, err := model.NewExec(backend, net.store, func(_ *model.Scope, in []*graph.Node) *graph.Node {
		w := net.weights(in[0].Graph())
		x := net.Embed(w, in[0])
		if whole {
			x = net.Last(w, x, 0, in[1])
		} else {
			// The lengths are used so that both forms have the same inputs.
			x = graph.Add(net.layers(w, x, 0, from), graph.ConvertDType(graph.ReduceAllSum(graph.MulScalar(in[1], 0)), x.DType()))
		}
		return graph.ConvertDType(x, dtypes.Float32)
	})
	if err != nil {
		net.Close()
		return nil, err
	}
	k := &trunk{width: d.Config.Hidden, net: net, exec: exec, known: map[[sha256.Size]byte][]float32{}, left: left, say: say}
	if whole && dir != "" {
		if k.file, err = openStates(statesName(dir, backend, d, base), k.width, k.learn); err != nil {
			return nil, errors.Join(err, k.close())
		}
	}
	return k, nil
}

func (k *trunk) close() error {
	k.exec.Finalize()
	k.net.Close()
	if k.file == nil {
		return nil
	}
	return k.file.file.Close()
}

// learn remembers a state while there is room. A file of an older program may have it twice.
func (k *trunk) learn(text [sha256.Size]byte, state []float32) {
	if _, known := k.known[text]; !known && k.left.Take(int64(4*len(state))) {
		k.known[text] = state
	}
}

// states returns what the frozen layers make of each text: [len(text)*D], or [D] if all layers are frozen. Callers must not
// change it.
func (k *trunk) states(ctx context.Context, texts [][]int32) ([][]float32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	states, keys := make([][]float32, len(texts)), make([][sha256.Size]byte, len(texts))
	unread, read := 0, 0
	for i, text := range texts {
		keys[i] = hash(text)
		var err error
		if states[i], err = k.remembered(keys[i]); err != nil {
			return nil, err
		}
		if states[i] == nil {
			unread++
		}
	}
	for i, text := range texts {
		if states[i] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if k.say != nil {
			k.say(fmt.Sprintf("read %d of %d texts", read, unread))
		}
		var err error
		if states[i], err = k.state(keys[i], text); err != nil {
			return nil, err
		}
		read++
	}
	return states, nil
}

// remembered is what the frozen layers made of a text; nil: it was not read, or there was no room for that.
func (k *trunk) remembered(text [sha256.Size]byte) ([]float32, error) {
	if s, ok := k.known[text]; ok || k.file == nil {
		return s, nil
	}
	return k.file.find(text)
}

// state is what the frozen layers make of a text. It is read alone and padded to the bucket of its length, so that what comes out does
// not depend on its company, which may be that of other fits.
func (k *trunk) state(key [sha256.Size]byte, text []int32) ([]float32, error) {
	if s, err := k.remembered(key); s != nil || err != nil { // the text is there twice
		return s, err
	}
	width := bucket(len(text))
	out, err := policy.Call(k.exec, []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(pad([][]int32{text}, width), 1, width), tensors.FromFlatDataAndDimensions([]int32{int32(len(text))}, 1)})
	if err != nil {
		return nil, fmt.Errorf("frozen layers: %w", err)
	}
	s := slices.Clone(out[0][:min(len(out[0]), len(text)*k.width)]) // without the padding
	k.learn(key, s)
	if k.file != nil {
		err = k.file.keep(key, s)
	}
	return s, err
}

func hash(text []int32) [sha256.Size]byte {
	raw := make([]byte, 0, 4*len(text))
	for _, t := range text {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(t))
	}
	return sha256.Sum256(raw)
}

// bucket returns the length that texts of up to n tokens are padded to: 64, 96, 128, 192, 256 and so on, so that few
// shapes are compiled.
func bucket(n int) int {
	for b := 64; ; b *= 2 {
		if n <= b {
			return b
		}
		if n <= b+b/2 {
			return b + b/2
		}
	}
}
