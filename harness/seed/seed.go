// Package seed derives random streams from coordinates.
//
// A stream is named by what it is for (stage, problem, expert, run, ...), never by the order in which
// streams are drawn, so adding a method or changing the concurrency moves no other number.
package seed

import (
	"fmt"
	"math/rand/v2"
)

// Seed is the root of a family of random streams. The zero value is a valid seed.
type Seed uint64

const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// Hash returns fmix64(FNV-1a-64(text)): the finaliser of MurmurHash3 over the 64-bit FNV-1a of the bytes.
// Fold assignment and hashed n-grams are defined by it.
func Hash(text string) uint64 { return fmix64(fnv(fnvOffset, text)) }

func fnv(h uint64, text string) uint64 {
	for i := 0; i < len(text); i++ {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

func fmix64(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}

// Derive returns the seed at the given coordinates below s. Coordinates are strings, integers or Seeds;
// each is delimited, so ("ab", "c") and ("a", "bc") differ. Any other type panics: it is a programming error.
func (s Seed) Derive(coords ...any) Seed {
	h := fmix64(uint64(s) ^ fnvOffset)
	for _, c := range coords {
		switch v := c.(type) {
		case string:
			h = fnv(h, v)
		case int:
			h = word(h, uint64(v))
		case int64:
			h = word(h, uint64(v))
		case uint64:
			h = word(h, v)
		case Seed:
			h = word(h, uint64(v))
		default:
			panic(fmt.Sprintf("seed: coordinate %v has unsupported type %T", c, c))
		}
		h = (h ^ 0xff) * fnvPrime // 0xff occurs in no UTF-8 text, so it separates coordinates
	}
	return Seed(fmix64(h))
}

func word(h, v uint64) uint64 {
	for i := 0; i < 8; i++ {
		h = (h ^ (v & 0xff)) * fnvPrime
		v >>= 8
	}
	return (h ^ 0xfe) * fnvPrime
}

// Derive returns the seed at the given coordinates below the zero seed.
func Derive(coords ...any) Seed { return Seed(0).Derive(coords...) }

// Rand returns a fresh generator for this stream; two calls return generators that agree.
func (s Seed) Rand() *rand.Rand {
	return rand.New(rand.NewPCG(uint64(s), fmix64(uint64(s)^0x9e3779b97f4a7c15)))
}

// Uniform returns a number in [0,1) that depends on the seed alone. It is cheaper than Rand().Float64().
func (s Seed) Uniform() float64 { return float64(fmix64(uint64(s)^0x9e3779b97f4a7c15)>>11) / (1 << 53) }
