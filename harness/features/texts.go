// A memory of what texts are made of, within a bound.

package features

import "sync"

// Texts remembers what texts are made of, so that whoever reads the same texts cuts them up once. It forgets
// nothing and stops learning when it is full: with readers that go through the same texts in the same order, one that
// dropped the oldest would never know the next. What it returns is what reading anew would, so it decides no number.
// Safe for concurrent use; a nil *Texts remembers nothing.
type Texts struct {
	mu    sync.RWMutex
	left  int // bytes
	known map[string]*content
}

// NewTexts returns an empty memory of about so many bytes.
func NewTexts(bytes int) *Texts { return &Texts{left: bytes, known: map[string]*content{}} }

// content is what a text is made of. Readers must not change it.
type content struct {
	surface []float64
	grams   []hashed // one for each way of hashing
}

// hashed is the n-grams of a text in the order of their buckets.
type hashed struct {
	buckets, ngrams int
	counts          []bucketCount
}

// bucketCount is a bucket and its signed count, which is not 0.
type bucketCount struct{ bucket, count int32 }

// find returns what is known of a text.
func (t *Texts) find(text string, buckets, ngrams int) (surface []float64, counts []bucketCount) {
	if t == nil {
		return nil, nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := t.known[text]
	if c == nil {
		return nil, nil
	}
	for _, h := range c.grams {
		if h.buckets == buckets && h.ngrams == ngrams {
			return c.surface, h.counts
		}
	}
	return c.surface, nil
}

// surface returns the surface features of a text.
func (t *Texts) surface(text string) []float64 {
	if s, _ := t.find(text, 0, 0); s != nil {
		return s
	}
	s := surface(text, tokenize(text))
	t.learn(text, s, hashed{})
	return s
}

// read returns the surface features of a text and its hashed n-grams.
func (t *Texts) read(text string, buckets, ngrams int) (s []float64, counts []bucketCount) {
	s, counts = t.find(text, buckets, ngrams)
	if counts != nil {
		return s, counts
	}
	tokens := tokenize(text)
	if s == nil {
		s = surface(text, tokens)
	}
	all := make([]int32, buckets)
	hashNGrams(tokens, ngrams, all)
	counts = nonZero(all)
	t.learn(text, s, hashed{buckets, ngrams, counts})
	return s, counts
}

// nonZero returns the buckets that were counted.
func nonZero(all []int32) []bucketCount {
	n := 0
	for _, c := range all {
		if c != 0 {
			n++
		}
	}
	counts := make([]bucketCount, 0, n)
	for b, c := range all {
		if c != 0 {
			counts = append(counts, bucketCount{int32(b), c})
		}
	}
	return counts
}

// learn remembers surface features and, unless they are empty, hashed n-grams, if there is room.
func (t *Texts) learn(text string, surface []float64, h hashed) {
	if t == nil {
		return
	}
	const entry = 128 // about what the map and the headers of slices take
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.known[text]
	if c == nil {
		size := entry + 8*len(surface)
		if size > t.left {
			return
		}
		t.left -= size
		c = &content{surface: surface}
		t.known[text] = c
	}
	for _, known := range c.grams {
		if known.buckets == h.buckets && known.ngrams == h.ngrams {
			return // learned by another reader meanwhile
		}
	}
	if size := entry + 8*len(h.counts); h.buckets > 0 && size <= t.left {
		t.left -= size
		c.grams = append(c.grams, h)
	}
}
