// What is found out of questions once.

package remember

import "sync"

// Memory is what was found out of keys, as the texts of problems. It forgets nothing. It is safe for concurrent use; the zero value
// knows nothing yet.
type Memory[T any] struct {
	lock  sync.Mutex
	known map[string]T
}

// Of returns what is known of keys, in their order. find is asked for what is not known yet: of each key once, in their order.
func (m *Memory[T]) Of(keys []string, find func(unknown []string) ([]T, error)) ([]T, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	var unknown []string
	asked := map[string]bool{}
	for _, key := range keys {
		if _, known := m.known[key]; !known && !asked[key] {
			asked[key] = true
			unknown = append(unknown, key)
		}
	}
	if unknown != nil {
		found, err := find(unknown)
		if err != nil {
			return nil, err
		}
		if m.known == nil {
			m.known = map[string]T{}
		}
		for i, of := range found {
			m.known[unknown[i]] = of
		}
	}
	all := make([]T, len(keys))
	for i, key := range keys {
		all[i] = m.known[key]
	}
	return all, nil
}
