// A limit on how many of something a second may bring.

package experts

import (
	"math"
	"time"
)

// bucket allows so many of something a second. Its zero value allows everything.
type bucket struct {
	rate, size float64
	level      float64
	at         time.Time
}

func perMinute(n, seconds float64, now time.Time) bucket {
	size := max(1, n/60*seconds)
	return bucket{rate: n / 60, size: size, level: size, at: now}
}

// when says when n may be taken. More than fit are taken on credit from a full bucket.
func (b *bucket) when(n float64, now time.Time) time.Time {
	if b.rate == 0 {
		return now
	}
	b.level = min(b.size, b.level+b.rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if missing := min(n, b.size) - b.level; missing > 1e-9 {
		return now.Add(time.Duration(math.Ceil(missing / b.rate * 1e9)))
	}
	return now
}

func (b *bucket) take(n float64) {
	if b.rate > 0 {
		b.level -= n
	}
}
