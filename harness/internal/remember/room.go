// Package remember asks for what is not known yet once, and bounds what is kept.
package remember

import "sync"

// Room is what is left of a bound, in whatever unit. It is safe for concurrent use.
type Room struct {
	mu   sync.Mutex
	left int64
	full bool
}

// RoomOf returns so much room.
func RoomOf(size int64) *Room { return &Room{left: size} }

// Take says whether there is room for so much more, which is then taken.
func (r *Room) Take(size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size > r.left {
		r.full = true
		return false
	}
	r.left -= size
	return true
}

// Full says whether there was no room for something.
func (r *Room) Full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full
}
