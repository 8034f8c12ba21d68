package retryafter

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterIsReadByTheServersClock(t *testing.T) {
	now := time.Now()
	date := func(d time.Duration) string { return now.Add(d).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		after, date string
		want        time.Duration
	}{
		{"", "", 0}, {"soon", "", 0}, {"-5", "", 0}, {"0", "", 0}, {"3", "", 3 * time.Second}, {"0.5", "", time.Second / 2}, {"1e300", "", 0}, {"86400", "", 24 * time.Hour},
		{date(time.Hour), date(59 * time.Minute), time.Minute}, {date(time.Hour), date(2 * time.Hour), 0},
		{date(-time.Hour), "", 0}, {date(time.Hour), "", 0}, {date(time.Hour), "yesterday", 0}, // our clock may be off, or jump
	} {
		if got := Wait(http.Header{"Retry-After": {c.after}, "Date": {c.date}}); got != c.want {
			t.Errorf("Retry-After %q at %q: %s, want %s", c.after, c.date, got, c.want)
		}
	}
}
