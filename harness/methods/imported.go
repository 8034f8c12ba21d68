// Predictions that another program made.

package methods

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// imported are predictions on problems that another program made, a fine-tuned encoder for example, by the problem's id.
// Training problems must be among them: knobs are set there.
type imported struct {
	file string
	of   map[string][]float64
}

// importFile reads a file of JSON lines below the data folder of a setup. read is called for each line and knows its
// keys. sum is what the row says the SHA-256 is, empty if nothing; the one found is returned, so that it becomes part of
// the recipe. Nothing is read, and nil returned, while a spec is only checked.
func importFile(s Setup, param, path, sum string, read func(line []byte, into map[string][]float64) error) (*imported, string, error) {
	at, err := s.below(param, path)
	if at == "" {
		return nil, sum, err
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil, "", paramFault(s.Method, param, "%v", err)
	}
	found := fmt.Sprintf("%x", sha256.Sum256(data))
	if sum != "" && sum != found {
		return nil, "", paramFault(s.Method, param+"_sha256", "the file %q has the checksum %s, not %s; it has changed", path, found, sum)
	}
	in := &imported{file: path, of: map[string][]float64{}}
	r := bufio.NewReader(bytes.NewReader(data))
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := read(line, in.of); err != nil {
				return nil, "", paramFault(s.Method, param, "%s:%d: %v", path, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return in, found, nil
		}
	}
}

// below returns where a file below the data folder is that a parameter names; empty while a spec is only checked.
func (s Setup) below(param, path string) (string, error) {
	switch {
	case !filepath.IsLocal(filepath.FromSlash(path)):
		return "", paramFault(s.Method, param, "want a path below the data folder, got %q", path)
	case s.Pool == nil:
		return "", nil
	case s.Data == "":
		return "", paramFault(s.Method, param, "%q is read from the data folder; say which with --data DIR", path)
	}
	return filepath.Join(s.Data, filepath.FromSlash(path)), nil
}

// decodeLine reads one JSON object and nothing else.
func decodeLine(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value on a line")
	}
	return nil
}

// chance checks a probability.
func chance(p *float64) error {
	if p == nil || !(*p >= 0 && *p <= 1) {
		return errors.New(`want "p" from 0 to 1`)
	}
	return nil
}

// readWin reads a line {"qid": id, "p": chance that the strongest expert's answer is preferred to the cheapest's}.
func readWin(line []byte, into map[string][]float64) error {
	var l struct {
		ID string   `json:"qid"`
		P  *float64 `json:"p"`
	}
	if err := decodeLine(line, &l); err != nil {
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

// readPass reads lines {"qid": id, "model": expert, "p": chance that its answer is right} for the given experts [M]. A
// prediction that is missing stays -1.
func readPass(experts []string) func(line []byte, into map[string][]float64) error {
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
		if err := decodeLine(line, &l); err != nil {
			return err
		}
		m, ok := index[l.Model]
		if !ok {
			return fmt.Errorf("expert %q is not in the pool; known: %v", l.Model, experts)
		}
		if into[l.ID] == nil {
			p := make([]float64, len(experts))
			for k := range p {
				p[k] = -1
			}
			into[l.ID] = p
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

// lookup returns the predictions on problems, by their ids. It is what a scoreRouter keyed by id predicts with.
func (in *imported) lookup(_ context.Context, ids []string) ([]scores, error) {
	out := make([]scores, len(ids))
	for i, id := range ids {
		p, ok := in.of[id]
		for _, x := range p {
			ok = ok && x >= 0
		}
		if !ok {
			return nil, fmt.Errorf("no prediction, or not one for every expert, on problem %q in %s, which has %d problems; predict all training and test problems", id, in.file, len(in.of))
		}
		out[i] = scores{pass: p}
	}
	return out, nil
}

func idsOf(examples []routing.Example) []string {
	ids := make([]string, len(examples))
	for i, e := range examples {
		ids[i] = e.Problem.ID
	}
	return ids
}

func byID(p routing.Problem) string { return p.ID }
