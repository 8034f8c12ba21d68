// Byte pair encoding: the bytes of a piece are tokens, and of all neighbours that a merge joins the one of the earliest merge is
// joined first, the leftmost of equal ones, until no merge applies.

package tokenizer

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// bpe merges the bytes of pieces. It is safe for use by several goroutines.
type bpe struct {
	ofByte [256]int32 // -1: none
	merges map[pair]merge
	seed   maphash.Seed
	cache  []atomic.Pointer[entry]
}

type pair struct{ left, right int32 }

type merge struct{ rank, id int32 }

// An entry is a piece that has been merged before.
type entry struct {
	piece string
	ids   []int32
}

// The cache has a place for each of 2^16 hashes, where the piece that came last stays, and keeps no long pieces: at most
// about 10 MB.
const (
	cachePlaces = 1 << 16
	cachePiece  = 48 // bytes
)

// newBPE checks that every part and product of a merge is a token, and every character of ASCII that is printed. Other bytes may
// have none: SmolLM2 has no token for six control characters, nor for bytes that begin characters of planes without any.
func newBPE(ids map[string]int32, merges [][2]string) (*bpe, error) {
	b := &bpe{merges: make(map[pair]merge, len(merges)), seed: maphash.MakeSeed(), cache: make([]atomic.Pointer[entry], cachePlaces)}
	for i, r := range letters {
		id, ok := ids[string(r)]
		if !ok {
			if i >= ' ' && i <= '~' || i == '\n' {
				return nil, fmt.Errorf("the vocabulary has no token for the byte %#02x, spelled %q", i, string(r))
			}
			id = -1
		}
		b.ofByte[i] = id
	}
	for i, m := range merges {
		left, okLeft := ids[m[0]]
		right, okRight := ids[m[1]]
		id, ok := ids[m[0]+m[1]]
		if !ok || !okLeft || !okRight {
			return nil, fmt.Errorf("merge %d joins %q and %q: these and %q must be tokens", i+1, m[0], m[1], m[0]+m[1])
		}
		p := pair{left, right}
		if _, ok := b.merges[p]; ok {
			return nil, fmt.Errorf("merge %d joins %q and %q, as an earlier one does", i+1, m[0], m[1])
		}
		b.merges[p] = merge{rank: int32(i), id: id}
	}
	return b, nil
}

// A worker has the memory for one goroutine's merging.
type worker struct {
	*bpe
	symbols []symbol
	heap    []candidate
}

// A symbol is a token of a piece, linked to its neighbours by their positions; -1 is none.
type symbol struct {
	id, before, after int32
}

// A candidate is a merge that may apply at a position. It is out of date if the tokens there are others by then.
type candidate struct {
	rank, at    int32
	left, right int32
	id          int32
}

func (b *bpe) worker() *worker { return &worker{bpe: b} }

// append appends the tokens of a piece to out.
func (w *worker) append(out []int32, piece string) []int32 {
	if len(piece) == 1 || len(piece) > cachePiece {
		return w.merge(out, piece)
	}
	place := &w.cache[maphash.String(w.seed, piece)%cachePlaces]
	if e := place.Load(); e != nil && e.piece == piece {
		return append(out, e.ids...)
	}
	n := len(out)
	out = w.merge(out, piece)
	place.Store(&entry{piece: strings.Clone(piece), ids: append([]int32(nil), out[n:]...)})
	return out
}

// merge appends the tokens of a piece without looking whether it is known.
func (w *worker) merge(out []int32, piece string) []int32 {
	w.symbols, w.heap = w.symbols[:0], w.heap[:0]
	for i := range len(piece) {
		if id := w.ofByte[piece[i]]; id >= 0 {
			n := int32(len(w.symbols))
			w.symbols = append(w.symbols, symbol{id: id, before: n - 1, after: n + 1})
		}
	}
	if len(w.symbols) == 0 {
		return out
	}
	w.symbols[len(w.symbols)-1].after = -1
	for i := range len(w.symbols) - 1 {
		w.consider(int32(i))
	}
	for len(w.heap) > 0 {
		c := w.pop()
		left := &w.symbols[c.at]
		if left.id != c.left || left.after < 0 || w.symbols[left.after].id != c.right {
			continue
		}
		gone := &w.symbols[left.after]
		left.id, left.after = c.id, gone.after
		gone.id = -1 // no candidate names it
		if left.after >= 0 {
			w.symbols[left.after].before = c.at
			w.consider(c.at)
		}
		if left.before >= 0 {
			w.consider(left.before)
		}
	}
	for i := int32(0); i >= 0; i = w.symbols[i].after {
		out = append(out, w.symbols[i].id)
	}
	return out
}

// consider pushes the merge of the token at a position with the next, if there is one.
func (w *worker) consider(at int32) {
	left := w.symbols[at].id
	right := w.symbols[w.symbols[at].after].id
	m, ok := w.merges[pair{left, right}]
	if !ok {
		return
	}
	w.heap = append(w.heap, candidate{rank: m.rank, at: at, left: left, right: right, id: m.id})
	for i := len(w.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !w.heap[i].before(w.heap[up]) {
			break
		}
		w.heap[i], w.heap[up] = w.heap[up], w.heap[i]
		i = up
	}
}

// pop removes the first candidate.
func (w *worker) pop() candidate {
	first, last := w.heap[0], len(w.heap)-1
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	for i := 0; ; {
		next := 2*i + 1
		if next >= last {
			return first
		}
		if next+1 < last && w.heap[next+1].before(w.heap[next]) {
			next++
		}
		if !w.heap[next].before(w.heap[i]) {
			return first
		}
		w.heap[i], w.heap[next] = w.heap[next], w.heap[i]
		i = next
	}
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}
