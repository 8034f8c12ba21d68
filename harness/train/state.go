// The state of an unfinished training in a file: written at once or not at all, and read back to the last bit. It may be
// larger than the main memory, through which it goes a variable at a time.

package train

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// stateVersion is the first line of a file. Its number is raised with whatever changes what is in the file or what a training makes of
// it: the order of the streams, the names of moments, the optimizer.
const stateVersion = "entrorouter training 1\n"

// state is what a training needs to go on. A file has it behind the version; the bytes of the values follow one after another,
// and a checksum of all that.
type state struct {
	Done   int     // steps taken
	Points []Point // of these
	Beside []byte  // what whoever takes the steps needs to go on
	Values []value // trained weights, moments, counters and the stream of dropout; sums of gradients are zero between steps
}

// value is a variable without its bytes.
type value struct {
	Path  string
	DType int32
	Dims  []int
}

// keep writes the state of a stage after a step if it is time to, or if the stage is finished: the next one starts from there.
func (c Conduct) keep(stage string, m *policy.Model, done, all int, points []Point) error {
	if done < all && (c.Every == 0 || done%c.Every != 0) {
		return nil
	}
	return c.keepNow(stage, m, done, points)
}

// stop ends a stage before a step, since its context has ended or for another reason that leaves the weights as they were, and keeps what
// was done.
func (c Conduct) stop(ctx context.Context, stage string, m *policy.Model, done int, points []Point, why error) error {
	err := wrap(ctx, stage, done, why)
	if done > 0 && (c.Every == 0 || done%c.Every != 0) {
		err = errors.Join(err, c.keepNow(stage, m, done, points))
	}
	return err
}

// keepNow writes the state of a stage, if there is a folder for it.
func (c Conduct) keepNow(stage string, m *policy.Model, done int, points []Point) error {
	return c.keepState(stage, m, state{Done: done, Points: points})
}

func (c Conduct) keepState(stage string, m *policy.Model, s state) error {
	if c.Dir == "" {
		return nil
	}
	frozen := map[string]bool{}
	for _, w := range m.Policy().Weights() {
		frozen[w.Name] = w.Frozen != nil
	}
	var variables []*model.Variable
	for v := range m.Store().IterVariables() {
		if v.Scope() == sumScope || v.Scope() == m.Scope().Scope() && frozen[v.Name()] || !v.HasValue() {
			continue
		}
		variables = append(variables, v)
		s.Values = append(s.Values, value{v.Path(), int32(v.DType()), v.Shape().Dimensions})
	}
	err := os.MkdirAll(c.Dir, 0o777)
	if err == nil {
		err = policy.WriteFile(c.file(stage), func(file io.Writer) error { return s.write(file, variables) })
	}
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return nil
}

// write writes a state with the bytes of its variables.
func (s state) write(file io.Writer, variables []*model.Variable) error {
	sum := sha256.New()
	w := io.MultiWriter(file, sum)
	if _, err := io.WriteString(w, stateVersion); err != nil {
		return err
	}
	if err := gob.NewEncoder(w).Encode(s); err != nil {
		return err
	}
	for _, v := range variables {
		now, err := v.Value()
		if err == nil {
			err = copyBytes(w, now)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Path(), err)
		}
	}
	_, err := file.Write(sum.Sum(nil))
	return err
}

// copyBytes writes the bytes of a tensor, and leaves no copy in main memory of one that lies elsewhere.
func copyBytes(w io.Writer, t *tensors.Tensor) (err error) {
	if !t.IsLocal() {
		defer t.FinalizeLocal()
	}
	if access := t.ConstBytes(func(data []byte) { _, err = w.Write(data) }); access != nil {
		err = access
	}
	return err
}

func (c Conduct) file(stage string) string { return filepath.Join(c.Dir, stage+".state") }

// resume puts what was kept of a stage into a model and returns how many steps it had taken, and their points; 0 if nothing
// was kept. A damaged file is an error: weights that were half-trained must not be taken for a beginning.
func (c Conduct) resume(stage string, m *policy.Model) (done int, points []Point, err error) {
	s, err := c.resumeState(stage, m)
	return s.Done, s.Points, err
}

func (c Conduct) resumeState(stage string, m *policy.Model) (s state, err error) {
	if c.Dir == "" {
		return s, nil
	}
	if err := policy.RemoveParts(c.file(stage)); err != nil {
		return s, err
	}
	f, err := os.Open(c.file(stage))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer f.Close() // was only read
	if s, err = readState(f, m); err != nil {
		return state{}, fmt.Errorf("%s: %w; remove the file, and the training begins again", c.file(stage), err)
	}
	return s, nil
}

// readState reads a state and puts its values into a model.
func readState(f *os.File, m *policy.Model) (s state, err error) {
	info, err := f.Stat()
	if err != nil {
		return s, err
	}
	size := max(0, info.Size()-sha256.Size)
	sum, want := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return s, err
	}
	if _, err := f.ReadAt(want, size); err != nil && err != io.EOF {
		return s, err
	}
	if !bytes.Equal(want, sum.Sum(nil)) {
		return s, errors.New("its checksum is wrong")
	}
	r := bufio.NewReader(io.NewSectionReader(f, 0, size))
	version := make([]byte, len(stateVersion))
	if _, err := io.ReadFull(r, version); err != nil || string(version) != stateVersion {
		return s, fmt.Errorf("it was kept by another version of the program, this one reads %q", strings.TrimSpace(stateVersion))
	}
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return s, err
	}
	held := map[string]bool{}
	for _, x := range s.Values {
		if err := x.read(r, m.Store()); err != nil {
			return s, fmt.Errorf("%s: %w", x.Path, err)
		}
		held[x.Path] = true
	}
	for _, w := range m.Policy().Weights() {
		if path := m.Scope().GetVariable(w.Name).Path(); w.Frozen == nil && !held[path] {
			return s, fmt.Errorf("%s is not in it", path)
		}
	}
	return s, nil
}

// read reads the bytes of a value into its variable, which is made if the store has none.
func (x value) read(r io.Reader, store *model.Store) (err error) {
	shape := shapes.Make(dtypes.DType(x.DType), x.Dims...)
	v := store.GetVariable(x.Path)
	if v != nil && !v.Shape().Equal(shape) {
		return fmt.Errorf("it is %s, the model's is %s", shape, v.Shape())
	}
	t := tensors.FromShape(shape)
	if access := t.MutableBytes(func(data []byte) { _, err = io.ReadFull(r, data) }); access != nil {
		err = access
	}
	if err != nil {
		return err
	}
	if v != nil {
		return v.SetValue(t)
	}
	if v, err = store.CreateVariable(x.Path, t); err == nil {
		v.SetTrainable(false) // weights are there already
	}
	return err
}
