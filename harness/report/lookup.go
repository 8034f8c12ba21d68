// The numbers of figures, found in measurements.

package report

import (
	"fmt"
	"iter"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// value returns the number of one measurement; not having it is an error.
func value(set *metrics.Set, unit string, keys []metrics.Key) (metrics.Measurement, metrics.Value, error) {
	m, ok, err := set.Find(keys...)
	if err != nil {
		return m, metrics.Value{}, err
	}
	v, has := m.Value(unit)
	if !ok || !has {
		return m, v, fmt.Errorf("no measurement in %s", unit)
	}
	return m, v, nil
}

// ends writes a value and its interval, which may be empty.
func ends(v metrics.Value) []string {
	if !v.Bounded {
		return []string{metrics.Format(v.Number, v.Decimals), "", ""}
	}
	return []string{metrics.Format(v.Number, v.Decimals), metrics.Format(v.Low, v.Decimals), metrics.Format(v.High, v.Decimals)}
}

// perThousand scales dollars per question to dollars per thousand questions, numbers a reader can say.
const perThousand = 1000

// seedsOf are the values of single training seeds, each with its seed.
func seedsOf(set *metrics.Set, unit string, keys []metrics.Key) iter.Seq2[string, metrics.Value] {
	return func(yield func(string, metrics.Value) bool) {
		for _, m := range set.Where(keys...) {
			if v, ok := m.Value(unit); ok && m.Key("seed") != "" && !yield(m.Key("seed"), v) {
				return
			}
		}
	}
}
