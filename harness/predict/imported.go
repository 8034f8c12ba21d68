// Predictions that another program made.

package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/internal/strict"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Imported are predictions on problems that another program made, a fine-tuned encoder for example, by the problem's id.
// Training problems must be among them: knobs are set there.
type Imported struct {
	file string
	of   map[string][]float64
}

// ReadLine reads a line of predictions, and knows its keys.
type ReadLine func(line []byte, into map[string][]float64) error

// Import reads a file of JSON lines below a data folder, or of lines that are compressed (NAME.gz), whose SHA-256 was found. The errors
// name the line.
func Import(folder, name, sum string, read ReadLine) (*Imported, error) {
	in := &Imported{file: name, of: map[string][]float64{}}
	_, err := lines.Read(context.Background(), folder, spec.File{Path: name, SHA256: sum}, func(line []byte) error { return read(line, in.of) })
	return in, err
}

// chance checks a probability.
func chance(p *float64) error {
	if p == nil || !(*p >= 0 && *p <= 1) {
		return errors.New(`want "p" from 0 to 1`)
	}
	return nil
}

// WinLines reads a line {"qid": id, "p": chance that the strongest expert's answer is preferred to the cheapest's}.
func WinLines(line []byte, into map[string][]float64) error {
	var l struct {
		ID string   `json:"qid"`
		P  *float64 `json:"p"`
	}
	if err := strict.JSON(line, &l); err != nil {
		return err
	}
	if _, twice := into[l.ID]; twice || l.ID == "" {
		return fmt.Errorf("qid %q is empty or there already", l.ID)
	}
	into[l.ID] = []float64{0}
	if l.P != nil {
		into[l.ID][0] = *l.P
	}
	return chance(l.P)
}

// PassLines reads lines {"qid": id, "model": expert, "p": chance that its answer is right} for the given experts [M]. A
// prediction that is missing stays -1.
func PassLines(experts []string) ReadLine {
	index := map[string]int{}
	for m, id := range experts {
		index[id] = m
	}
	return func(line []byte, into map[string][]float64) error {
		var l struct {
			ID    string   `json:"qid"`
			Model string   `json:"model"`
			P     *float64 `json:"p"`
		}
		if err := strict.JSON(line, &l); err != nil {
			return err
		}
		m, ok := index[l.Model]
		if !ok {
			return fmt.Errorf("expert %q is not in the pool; known: %v", l.Model, experts)
		}
		if into[l.ID] == nil {
			into[l.ID] = slices.Repeat([]float64{-1}, len(experts))
		}
		if into[l.ID][m] >= 0 || l.ID == "" {
			return fmt.Errorf("qid %q of %q is empty or there already", l.ID, l.Model)
		}
		if err := chance(l.P); err != nil {
			return err
		}
		into[l.ID][m] = *l.P
		return nil
	}
}

// Predict is the Predictor of routers with KeyByID.
func (in *Imported) Predict(_ context.Context, ids []string) ([]Scores, error) {
	out := make([]Scores, len(ids))
	for i, id := range ids {
		p, ok := in.of[id]
		for _, x := range p {
			ok = ok && x >= 0
		}
		if !ok {
			return nil, fmt.Errorf("no prediction, or not one for every expert, on problem %q in %s, which has %d problems; predict all training and test problems", id, in.file, len(in.of))
		}
		out[i] = Scores{Pass: p}
	}
	return out, nil
}
