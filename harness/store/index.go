// The steps of an experiment's last run.

package store

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Step is one line of an experiment's index: a step of its last run and the entry that holds its output.
type Step struct {
	Name string // without tabs and line breaks, e.g. "fit entrorouter seed=1"
	Key  Key
}

func (s *Store) indexPath(experiment string) string {
	return filepath.Join(s.root, "experiments", experiment+".txt")
}

// mendIndex is what to do about an index that cannot be read.
const mendIndex = "the next run of the experiment writes the file anew"

// WriteIndex records which entries an experiment used, one line a step in the order given: name, tab, full key.
func (s *Store) WriteIndex(experiment string, steps []Step) error {
	if err := checkName(experiment); err != nil {
		return fmt.Errorf("index: experiment %w", err)
	}
	var b bytes.Buffer
	for _, st := range steps {
		if strings.ContainsAny(st.Name, "\t\n\r") {
			return fmt.Errorf("index of %q: step name %q holds a tab or a line break", experiment, st.Name)
		}
		key, _ := st.Key.MarshalText()
		fmt.Fprintf(&b, "%s\t%s\n", st.Name, key)
	}
	return writeTo(s.at, s.indexPath(experiment), func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

// ReadIndex returns what WriteIndex recorded. The error is fs.ErrNotExist if the experiment has not run yet.
func (s *Store) ReadIndex(experiment string) ([]Step, error) {
	if err := checkName(experiment); err != nil {
		return nil, fmt.Errorf("index: experiment %w", err)
	}
	path := s.indexPath(experiment)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var steps []Step
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		name, key, ok := strings.Cut(lines.Text(), "\t")
		st := Step{Name: name}
		if !ok {
			return nil, fmt.Errorf("%s:%d: want name, tab, key; %s", path, n, mendIndex)
		}
		if err := st.Key.UnmarshalText([]byte(key)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w; %s", path, n, err, mendIndex)
		}
		steps = append(steps, st)
	}
	return steps, lines.Err()
}
