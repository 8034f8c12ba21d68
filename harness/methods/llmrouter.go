package methods

import "github.com/entrorouter/entrorouter/harness/seed"

// Ask is one question to a language model that routes.
type Ask struct {
	Text string // of the problem
	Run  int
	Seed seed.Seed
}
