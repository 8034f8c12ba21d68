// Of whom figures speak: values of keys and points, with their labels.

package report

import "github.com/entrorouter/entrorouter/harness/metrics"

// Term is a value of a key and how it is printed.
type Term struct {
	Value, Label string
}

// Mark is one point.
type Mark struct {
	Label string
	Keys  []metrics.Key
	Look  Look          // a second mark of one look in a figure gets another shape
	Lead  []metrics.Key // of the line that has its lead over the plane's reference; nil: its own line
}
