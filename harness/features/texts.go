// A memory of what texts are made of, within a bound.

package features

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
)

// Texts remembers what texts are made of, so that whoever reads the same texts cuts them up once. It forgets
// nothing and stops learning when it is full: with readers that go through the same texts in the same order, one that
// dropped the oldest would never know the next. What it returns is what reading anew would, so it decides no number.
// Safe for concurrent use; a nil *Texts remembers nothing.
type Texts struct {
	room  *remember.Room // in bytes
	mu    sync.RWMutex
	known map[string]*content
}

// NewTexts returns an empty memory of about so many bytes.
func NewTexts(bytes int) *Texts {
	return &Texts{room: remember.RoomOf(int64(bytes)), known: map[string]*content{}}
}

// content is what a text is made of. Readers must not change it.
type content struct {
	surface []float64
	grams   []hashed // one for each way of hashing, but for those that another one has
}

// hashed is the n-grams of a text: pairs of varints in the order of buckets, how far a bucket is from the one before and its count.
type hashed struct {
	buckets, ngrams int
	packed          []byte
}

// bucketCount is a bucket and its signed count, which is not 0.
type bucketCount struct{ bucket, count int32 }

// has says whether n-grams hashed into so many buckets follow from h: a bucket is a hash modulo their number.
func (h hashed) has(buckets, ngrams int) bool { return h.ngrams == ngrams && h.buckets%buckets == 0 }

// pack returns counts as they are kept.
func pack(buckets, ngrams int, counts []bucketCount) hashed {
	packed, last := make([]byte, 0, 3*len(counts)), int32(0)
	for _, g := range counts {
		packed = binary.AppendVarint(binary.AppendUvarint(packed, uint64(g.bucket-last)), int64(g.count))
		last = g.bucket
	}
	return hashed{buckets, ngrams, slices.Clone(packed)}
}

// counts returns the counts of so many buckets, which h has. It writes them to room while there is some.
func (h hashed) counts(buckets int, room []bucketCount) []bucketCount {
	counts, last := room[:0], uint64(0)
	for at := 0; at < len(h.packed); {
		step, n := uint64(h.packed[at]), 1
		if step >= 0x80 { // nearly none has a second byte
			step, n = binary.Uvarint(h.packed[at:])
		}
		at += n
		sign, n := uint64(h.packed[at]), 1
		if sign >= 0x80 {
			sign, n = binary.Uvarint(h.packed[at:])
		}
		at += n
		last += step
		counts = append(counts, bucketCount{int32(last), int32(sign>>1) ^ -int32(sign&1)})
	}
	if buckets == h.buckets {
		return counts
	}
	all := make([]int32, buckets)
	for _, g := range counts {
		all[uint32(g.bucket)%uint32(buckets)] += g.count
	}
	return nonZero(all, counts)
}

// find returns what is known of a text: its surface features, nil if they are not, and what has its n-grams in so many buckets.
func (t *Texts) find(text string, buckets, ngrams int) (surface []float64, h hashed, ok bool) {
	if t == nil {
		return nil, h, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := t.known[text]
	if c == nil {
		return nil, h, false
	}
	for _, h := range c.grams {
		if h.has(buckets, ngrams) {
			return c.surface, h, true
		}
	}
	return c.surface, h, false
}

// surface returns the surface features of a text.
func (t *Texts) surface(text string) []float64 {
	if s, _, _ := t.find(text, 1, 0); s != nil {
		return s
	}
	s := surface(text, tokenize(text))
	t.learn(text, s, hashed{})
	return s
}

// read returns the surface features of a text and its hashed n-grams, which it writes to room while there is some.
func (t *Texts) read(text string, buckets, ngrams int, room []bucketCount) (s []float64, counts []bucketCount) {
	s, h, ok := t.find(text, buckets, ngrams)
	if ok {
		return s, h.counts(buckets, room)
	}
	tokens := tokenize(text)
	if s == nil {
		s = surface(text, tokens)
	}
	all := make([]int32, buckets)
	hashNGrams(tokens, ngrams, all)
	counts = nonZero(all, room)
	if t != nil {
		t.learn(text, s, pack(buckets, ngrams, counts))
	}
	return s, counts
}

// nonZero returns the buckets that were counted. It writes them to room if that is large enough.
func nonZero(all []int32, room []bucketCount) []bucketCount {
	counts, n := slices.Grow(room[:0], len(all))[:len(all)], 0
	for b, c := range all { // without a jump that depends on c and cannot be foreseen
		counts[n] = bucketCount{int32(b), c}
		if c != 0 {
			n++
		}
	}
	return counts[:n]
}

// learn remembers surface features and, unless they are empty, hashed n-grams, if there is room. They take the place of those that they
// have too.
func (t *Texts) learn(text string, surface []float64, h hashed) {
	if t == nil {
		return
	}
	const entry = 128 // about what the map and the headers of slices take
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.known[text]
	if c == nil {
		if !t.room.Take(int64(entry + len(text) + 8*len(surface))) {
			return
		}
		c = &content{surface: surface}
		t.known[text] = c
	}
	if h.buckets == 0 {
		return
	}
	for i, known := range c.grams {
		if known.has(h.buckets, h.ngrams) {
			return // learned by another reader meanwhile
		}
		if h.has(known.buckets, known.ngrams) && t.room.Take(int64(len(h.packed)-len(known.packed))) {
			c.grams[i] = h
			return
		}
	}
	if t.room.Take(int64(entry + len(h.packed))) {
		c.grams = append(c.grams, h)
	}
}

// Full says whether there was no room for something.
func (t *Texts) Full() bool { return t.room.Full() }
