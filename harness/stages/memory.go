// A memory of what Stage I comes to: rows that differ in Stage II alone train it once.

package stages

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// Memory remembers the weights after Stage I by all that they follow from. Like features.Texts it forgets nothing and learns no more
// when it is full, and what it returns is what training again would, so it decides no number. Safe for concurrent use; a nil *Memory
// remembers nothing.
type Memory struct {
	room  *remember.Room // in bytes
	mu    sync.Mutex
	known map[[sha256.Size]byte]trainedOnce
}

// trainedOnce is a network after Stage I and how it got there. Readers must not change it.
type trainedOnce struct {
	weights []safetensors.Tensor
	points  []train.Point
}

// NewMemory returns an empty memory of about so many bytes.
func NewMemory(bytes int) *Memory {
	return &Memory{room: remember.RoomOf(int64(bytes)), known: map[[sha256.Size]byte]trainedOnce{}}
}

// keyOfStageOne is a digest of what Stage I is trained with. backend is the name of what computes it.
func keyOfStageOne(backend string, network policy.Policy, sft spec.SFT, s seed.Seed, examples []train.Example) (key [sha256.Size]byte, err error) {
	h := sha256.New()
	settings, err := json.Marshal([]any{backend, network.Kind(), network.Experts(), network.Config(), sft, s})
	if err != nil {
		return key, err
	}
	h.Write(settings)
	var row []byte
	for _, x := range examples {
		row = append(row[:0], x.ID...)
		row = numbers(row, []float64{x.Weight})
		row = numbers(row, x.Prob)
		row = numbers(row, x.Row.IDs)
		row = numbers(row, x.Row.Values)
		row = numbers(row, x.Row.Written)
		h.Write(row)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// numbers appends how many numbers there are, and each.
func numbers[T int32 | float32 | float64](to []byte, list []T) []byte {
	to = binary.LittleEndian.AppendUint64(to, uint64(len(list)))
	for _, x := range list {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(float64(x)))
	}
	return to
}

// find returns the weights of a key and the curve that led to them.
func (s *Memory) find(key [sha256.Size]byte, experts []string) (weights []safetensors.Tensor, curve *train.Curve, ok bool) {
	if s == nil {
		return nil, nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[key]
	return known.weights, &train.Curve{Experts: experts, Points: slices.Clone(known.points)}, ok
}

// learn remembers what a training came to, while there is room.
func (s *Memory) learn(key [sha256.Size]byte, model *policy.Model, curve *train.Curve) error {
	if s == nil {
		return nil
	}
	weights, err := model.Weights()
	if err != nil {
		return err
	}
	bytes := 0
	for _, w := range weights {
		bytes += 4 * len(w.Data)
	}
	for _, p := range curve.Points {
		bytes += 8 * (12 + len(p.Share))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room.Take(int64(bytes)) {
		s.known[key] = trainedOnce{weights, slices.Clone(curve.Points)}
	}
	return nil
}

// Full says whether there was no room for something.
func (s *Memory) Full() bool { return s.room.Full() }
