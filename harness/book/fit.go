// The file in which a training says what is not a decision.

package book

import (
	"encoding/json"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/store"
)

const fitFile = "fit.json"

// Fit is what a training says of itself beside its decisions.
type Fit struct {
	TrainUSD float64   `json:"train_usd"`       // mean dollars per question on the training problems; 0 for rows of hindsight and rows that ask for every decision
	Knobs    []float64 `json:"knobs,omitempty"` // settings of the sweep, dearest first; of a match or a router without a knob none

	Unfit string `json:"unfit,omitempty"` // why the row could not be fitted and decides nothing; empty: it was

	Router map[string][]metrics.Value `json:"router,omitempty"` // arena -> what the router says of its decisions
}

// Write writes fit.json.
func (f Fit) Write(d *store.Draft) error {
	out, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return d.WriteFile(fitFile, append(out, '\n'))
}

// ReadFit reads fit.json.
func ReadFit(entry store.Entry) (f Fit, err error) {
	data, err := entry.ReadFile(fitFile)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s: %w", entry.Path(fitFile), err)
	}
	return f, nil
}
