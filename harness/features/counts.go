// Texts as counts.

package features

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// surfaceClip bounds a standardised surface feature: a text unlike any training text must not outweigh all others.
const surfaceClip = 4

// Counts turns texts into rows of surface features and hashed n-grams of words.
type Counts struct {
	Buckets int       `json:"buckets"`
	NGrams  int       `json:"ngrams"`
	Surface []string  `json:"surface"` // names, in the order of ids
	Mean    []float64 `json:"mean"`    // of each surface feature over the training texts
	SD      []float64 `json:"sd"`      // 0: the feature was constant there and is not used

	memory *Texts
}

// NewCounts fits the standardisation of the surface features on texts, of which there must be one. memory is of the texts that are read
// then and later; nil: none.
func NewCounts(ctx context.Context, buckets, ngrams int, texts []string, memory *Texts) (Counts, error) {
	if len(texts) == 0 {
		return Counts{}, errors.New("no text to fit the features on; pass the training texts")
	}
	rows, err := parallel.Map(ctx, len(texts), func(i int) []float64 { return memory.surface(texts[i]) })
	if err != nil {
		return Counts{}, err
	}
	mean, sd := make([]float64, len(surfaceNames)), make([]float64, len(surfaceNames))
	for k := range surfaceNames {
		for _, x := range rows {
			mean[k] += x[k] / float64(len(rows))
		}
		for _, x := range rows {
			sd[k] += (x[k] - mean[k]) * (x[k] - mean[k]) / float64(len(rows))
		}
		if sd[k] = math.Sqrt(sd[k]); sd[k] < 1e-9 {
			sd[k] = 0
		}
	}
	c := Counts{Buckets: buckets, NGrams: ngrams, Surface: surfaceNames, Mean: mean, SD: sd, memory: memory}
	return c, c.Check()
}

// Check refuses sizes that cannot be and surface features that this program does not compute.
func (c Counts) Check() error {
	switch {
	case c.Buckets < 1:
		return fmt.Errorf("buckets is %d; it must be at least 1", c.Buckets)
	case c.NGrams < 1:
		return fmt.Errorf("ngrams is %d; it must be at least 1", c.NGrams)
	case !slices.Equal(c.Surface, surfaceNames):
		return errors.New("trained on other surface features than this program computes; train it again")
	case len(c.Mean) != len(surfaceNames) || len(c.SD) != len(surfaceNames):
		return fmt.Errorf("%d means and %d deviations for %d surface features", len(c.Mean), len(c.SD), len(surfaceNames))
	}
	return nil
}

// Width is the number of features.
func (c Counts) Width() int { return len(surfaceNames) + c.Buckets }

// Rows reads texts. Ids below the number of surface features are those features, standardised and clipped; the rest are n-gram
// buckets with value sign(c)*log(1+|c|), c the signed count. It fails where ctx ends alone.
func (c Counts) Rows(ctx context.Context, texts []string) ([]policy.Row, error) {
	return parallel.Map(ctx, len(texts), func(i int) policy.Row { return c.row(texts[i]) })
}

func (c Counts) row(text string) policy.Row {
	var room [rowRoom]bucketCount
	surface, counts := c.memory.read(text, c.Buckets, c.NGrams, room[:])
	return appendCounts(c.appendStructure(policy.Row{}, surface, len(counts)), len(surfaceNames), counts)
}

// rowRoom is how many counts of a text are read without allocating memory: more than most texts of a problem have.
const rowRoom = 512

// appendStructure adds surface features to a row, by ids from 0, and makes room for more.
func (c Counts) appendStructure(row policy.Row, surface []float64, more int) policy.Row {
	row.IDs, row.Values = slices.Grow(row.IDs, len(surface)+more), slices.Grow(row.Values, len(surface)+more)
	for k, x := range surface {
		if c.SD[k] == 0 {
			continue
		}
		row.IDs = append(row.IDs, int32(k))
		row.Values = append(row.Values, float32(min(max((x-c.Mean[k])/c.SD[k], -surfaceClip), surfaceClip)))
	}
	return row
}

// appendCounts adds n-grams to a row, by ids from first on: sign(c)*log(1+|c|) of a signed count c.
func appendCounts(row policy.Row, first int, counts []bucketCount) policy.Row {
	at, end := len(row.IDs), len(row.IDs)+len(counts)
	row.IDs, row.Values = slices.Grow(row.IDs, len(counts))[:end], slices.Grow(row.Values, len(counts))[:end]
	ids, values := row.IDs[at:], row.Values[at:]
	for k, g := range counts {
		ids[k], values[k] = int32(first)+g.bucket, damped(g.count)
	}
	return row
}

// damped is sign(c)*log(1+|c|).
func damped(c int32) float32 {
	if at := int(c) + len(small)/2; uint(at) < uint(len(small)) {
		return small[at]
	}
	return dampedAnew(int(c))
}

// small is damped of the counts that are met all the time, from -len(small)/2 on.
var small = func() (of [128]float32) {
	for at := range of {
		of[at] = dampedAnew(at - len(of)/2)
	}
	return of
}()

func dampedAnew(c int) float32 {
	if c < 0 {
		return -float32(math.Log1p(float64(-c)))
	}
	return float32(math.Log1p(float64(c)))
}
