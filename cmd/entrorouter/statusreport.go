// How far a run is, for people.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/entrorouter/entrorouter/harness/store"
)

// statusReport is the status for people, at a time.
func statusReport(st *store.Status, now time.Time) string {
	var b strings.Builder
	lost := int64(0)
	for _, s := range st.Scopes {
		lost += s.Lost
	}
	if st.Holder != nil {
		fmt.Fprintf(&b, "running: %s", st.Holder)
	} else {
		b.WriteString("no process is running")
	}
	if st.Run != nil {
		fmt.Fprintf(&b, "; last asked by: %s", st.Run.Command)
	}
	b.WriteString("\n")
	if lost > 0 {
		fmt.Fprintf(&b, "attempts without an end, of processes that are gone: %d\n", lost)
	}
	if len(st.Scopes) == 0 {
		b.WriteString("nothing was asked\n")
		return b.String()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "model\tsplit\tanswered\tleft\tfailed\tin flight\tlost\tlast minute\ttokens in\ttokens out\tdollars\tlost, at most $")
	var all store.ScopeStatus
	row := func(model, split string, s store.ScopeStatus, failed, left int64) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.4f\t%.4f\n", model, split, s.Answered, left, failed, s.InFlight, s.Lost, s.LastMinute, s.Spent.In, s.Spent.Out, s.Spent.USD, s.Bound.USD)
	}
	var failedInAll, left int64
	failed, errs := map[string]int64{}, map[string]int64{}
	for _, s := range st.Scopes {
		n := int64(0)
		for class, k := range s.Failed {
			failed[class] += k
			n += k
		}
		for class, k := range s.Errors {
			errs[class] += k
		}
		row(s.Scope.Model, string(s.Scope.Split), s, n, s.Left())
		all.Answered += s.Answered
		all.InFlight += s.InFlight
		all.Lost += s.Lost
		all.LastMinute += s.LastMinute
		all.Spent.Add(s.Spent)
		all.Bound.Add(s.Bound)
		failedInAll += n
		left += s.Left()
	}
	row("all", "", all, failedInAll, left)
	w.Flush()
	if slices.ContainsFunc(st.Scopes, func(s store.ScopeStatus) bool { return strings.HasPrefix(s.Scope.Source, "simulated ") }) {
		b.WriteString("simulated models are paid nothing: their dollars are what real ones would have cost at these prices\n")
	}
	classes := func(what string, by map[string]int64) {
		if len(by) == 0 {
			return
		}
		var of []string
		for _, class := range slices.Sorted(maps.Keys(by)) {
			of = append(of, fmt.Sprintf("%s %d", class, by[class]))
		}
		fmt.Fprintf(&b, "%s: %s\n", what, strings.Join(of, ", "))
	}
	for _, s := range st.Scopes {
		if s.Repeated != nil {
			fmt.Fprintf(&b, "repeated by %s, %s: %d of %d answers (%.2f %%)\n", s.Scope.Model, s.Scope.Split, *s.Repeated, s.Answered, 100*float64(*s.Repeated)/float64(max(1, s.Answered)))
		}
	}
	classes("requests without an answer", failed)
	classes("attempts without an answer", errs)
	if st.Oldest != nil {
		fmt.Fprintf(&b, "oldest request in flight: %s\n", max(0, now.Sub(*st.Oldest)).Round(time.Second))
	}
	if st.Holder != nil && left > 0 {
		window := time.Minute
		if ran := now.Sub(st.Holder.Started); ran > 0 { // else the clock was set back
			window = min(window, ran)
		}
		if all.LastMinute == 0 {
			b.WriteString("time left: unknown, nothing was answered in the last minute\n")
		} else {
			fmt.Fprintf(&b, "time left: about %s, at the rate of the last minute\n", time.Duration(float64(left)/float64(all.LastMinute)*float64(window)).Round(time.Second))
		}
	}
	return b.String()
}
