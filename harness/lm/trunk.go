// The frozen layers, run once for each text.

package lm

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// trunkRows is how many texts the frozen layers read at once.
const trunkRows = 8

// trunk runs the layers below the first trained one and remembers what they made of texts. It forgets nothing and stops
// learning when the memory is full. Safe for concurrent use.
type trunk struct {
	width int

	mu    sync.Mutex
	net   *Network
	exec  *model.Exec
	known map[[sha256.Size]byte][]float32 // by the tokens
	left  *memory
}

// memory is what is left of a bound, in bytes. Trunks share it.
type memory struct {
	mu    sync.Mutex
	bytes int64
}

// take reports whether so many bytes were left, and takes them if so.
func (m *memory) take(bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes > m.bytes {
		return false
	}
	m.bytes -= bytes
	return true
}

// newTrunk prepares the layers below from; with from the number of layers and one more, the last norm too, at a text's last
// position alone.
func newTrunk(backend policy.Backend, d Decoder, base *Base, from int, left *memory) (*trunk, error) {
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
			x = graph.Add(net.Layers(w, x, 0, from), graph.ConvertDType(graph.ReduceAllSum(graph.MulScalar(in[1], 0)), x.DType()))
		}
		return graph.ConvertDType(x, dtypes.Float32)
	})
	if err != nil {
		net.Close()
		return nil, err
	}
	return &trunk{width: d.Config.Hidden, net: net, exec: exec, known: map[[sha256.Size]byte][]float32{}, left: left}, nil
}

func (k *trunk) close() {
	k.exec.Finalize()
	k.net.Close()
}

// states returns what the frozen layers make of each text: [len(text)*D], or [D] if all layers are frozen. Callers must not
// change it.
func (k *trunk) states(texts [][]int32) ([][]float32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	states := make([][]float32, len(texts))
	var missing []int
	for i, text := range texts {
		if s, ok := k.known[hash(text)]; ok {
			states[i] = s
		} else {
			missing = append(missing, i)
		}
	}
	// Texts of like length are read together: little is padded.
	slices.SortStableFunc(missing, func(a, b int) int { return cmp.Compare(len(texts[a]), len(texts[b])) })
	for part := range slices.Chunk(missing, trunkRows) {
		batch := make([][]int32, trunkRows)
		for i := range batch {
			batch[i] = texts[part[min(i, len(part)-1)]]
		}
		width := bucket(len(batch[len(batch)-1]))
		lengths := make([]int32, trunkRows)
		for i, text := range batch {
			lengths[i] = int32(len(text))
		}
		out, err := policy.Call(k.exec, []*tensors.Tensor{
			tensors.FromFlatDataAndDimensions(pad(batch, width), trunkRows, width), tensors.FromFlatDataAndDimensions(lengths, trunkRows)})
		if err != nil {
			return nil, fmt.Errorf("frozen layers: %w", err)
		}
		each := len(out[0]) / trunkRows
		for i, index := range part {
			s := out[0][i*each : (i+1)*each]
			s = slices.Clone(s[:min(each, len(texts[index])*k.width)])
			states[index] = s
			if k.left.take(int64(4 * len(s))) {
				k.known[hash(texts[index])] = s
			}
		}
	}
	return states, nil
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
