// What env.json says of the making of an entry: it holds of the one that is stored and need not hold of another.

package book

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/store"
)

// Made is what env.json says of the making of an entry. What it does not say is empty.
type Made struct {
	Arch      string             `json:"arch"`      // GOARCH
	Platform  string             `json:"platform"`  // what the backend computed on, where that can be one of several: policy.Platform
	Processor string             `json:"processor"` // that XLA computed on: policy.Processor
	RouterMS  map[string]float64 `json:"router_ms"` // of a fit of a language model: arena -> milliseconds that a question took
}

// NoteRouterMS notes how long a question took, by arena.
func NoteRouterMS(d *store.Draft, ms map[string]float64) { d.Note("router_ms", ms) }

// MadeAlike says whether two entries were made by machines that compute alike.
func MadeAlike(a, b store.Entry) bool {
	x, y := made(a), made(b)
	return x.Arch == y.Arch && x.Platform == y.Platform && x.Processor == y.Processor
}

// made reads env.json; empty if it cannot be read, for nothing depends on it.
func made(e store.Entry) (m Made) {
	if e.Env(&m) != nil {
		return Made{}
	}
	return m
}

// TrainsPolicy says whether a recipe is of a step that trains a policy on a backend.
func TrainsPolicy(r store.Recipe) bool { return paramsOf(r).Policy.Backend != "" }

// TrainedOn says on what policies were trained: the name of the backend with the platforms, xla:cpu, without any the name alone; and the
// processors, none where one of the trainings names none.
func TrainedOn(backend string, trainings ...Made) (name, processor string) {
	of := func(field func(Made) string) (names []string, all bool) {
		for _, m := range trainings {
			names = append(names, field(m))
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if len(names) == 0 || names[0] == "" {
			return names[min(1, len(names)):], false
		}
		return names, true
	}
	name = backend
	if platforms, _ := of(func(m Made) string { return m.Platform }); len(platforms) > 0 {
		name += ":" + strings.Join(platforms, "+")
	}
	if processors, all := of(func(m Made) string { return m.Processor }); all {
		processor = strings.Join(processors, " + ")
	}
	return name, processor
}
