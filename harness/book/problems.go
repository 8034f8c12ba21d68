// The file of the problems of a benchmark.

package book

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

const problemsFile = "problems.jsonl"

// problemLine is a line of problems.jsonl.
type problemLine struct {
	Problem routing.Problem
	Latent  *routing.Latent `json:",omitempty"`
}

// WriteProblems writes problems.jsonl; latents is [len(ps)] of a generated set, else nil.
func WriteProblems(d *store.Draft, ps []routing.Problem, latents []routing.Latent) error {
	return create(d, problemsFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for i, p := range ps {
			line := problemLine{Problem: p}
			if latents != nil {
				line.Latent = &latents[i]
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadProblems reads problems.jsonl; latents is nil unless the set was generated.
func ReadProblems(entry store.Entry) (ps []routing.Problem, latents []routing.Latent, err error) {
	f, err := entry.Open(problemsFile)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var line problemLine
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return ps, latents, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		ps = append(ps, line.Problem)
		if line.Latent != nil {
			latents = append(latents, *line.Latent)
		}
	}
}
