// Package retryafter reads how long a server asks a client to wait.
package retryafter

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Wait reads a Retry-After: seconds, or a date by the server's own clock, without which it says nothing: ours may be off by
// an hour, or jump by one. Nothing readable, and nothing to wait, is 0.
func Wait(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if seconds > 0 && seconds < 1e9 {
			return time.Duration(seconds * float64(time.Second))
		}
		return 0
	}
	at, err := http.ParseTime(value)
	now, unknown := http.ParseTime(h.Get("Date"))
	if err != nil || unknown != nil {
		return 0
	}
	return max(0, at.Sub(now))
}
