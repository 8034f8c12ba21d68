// The state of an unfinished training in a file: written at once or not at all, and read back to the last bit.

package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// state is what a training needs to go on.
type state struct {
	Done   int     // steps taken
	Points []Point // of these
	Values []value // trained weights, moments, counters and the stream of dropout; sums of gradients are zero between steps
}

// value is a variable.
type value struct {
	Path  string
	DType int32
	Dims  []int
	Data  []byte
}

// keep writes the state of a stage if it is time to, or if the stage is finished: the next one starts from there.
func (c Conduct) keep(stage string, m *policy.Model, done, all int, points []Point) error {
	if c.Dir == "" || done < all && (c.Every == 0 || done%c.Every != 0) {
		return nil
	}
	s := state{Done: done, Points: points}
	frozen := map[string]bool{}
	for _, w := range m.Policy().Weights() {
		frozen[w.Name] = w.Frozen != nil
	}
	for v := range m.Store().IterVariables() {
		if v.Scope() == sumScope || v.Scope() == m.Scope().Scope() && frozen[v.Name()] || !v.HasValue() {
			continue
		}
		now, err := v.Value()
		if err != nil {
			return fmt.Errorf("keep %s: %w", v.Path(), err)
		}
		x := value{Path: v.Path(), DType: int32(v.DType()), Dims: v.Shape().Dimensions}
		if err := now.ConstBytes(func(data []byte) { x.Data = bytes.Clone(data) }); err != nil {
			return fmt.Errorf("keep %s: %w", v.Path(), err)
		}
		s.Values = append(s.Values, x)
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(s); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	sum := sha256.Sum256(body.Bytes())
	if err := policy.WriteFile(c.file(stage), append(sum[:], body.Bytes()...)); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return nil
}

func (c Conduct) file(stage string) string { return filepath.Join(c.Dir, stage+".state") }

// resume puts what was kept of a stage into a model and returns how many steps it had taken, and their points; 0 if nothing
// was kept. A damaged file is an error: weights that were half-trained must not be taken for a beginning.
func (c Conduct) resume(stage string, m *policy.Model) (done int, points []Point, err error) {
	if c.Dir == "" {
		return 0, nil, nil
	}
	data, err := os.ReadFile(c.file(stage))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	var s state
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) {
		err = errors.New("its checksum is wrong")
	} else {
		err = gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&s)
	}
	if err == nil {
		err = s.restore(m)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w; remove the file, and the training begins again", c.file(stage), err)
	}
	return s.Done, s.Points, nil
}

func (s state) restore(m *policy.Model) error {
	store := m.Store()
	for _, x := range s.Values {
		shape := shapes.Make(dtypes.DType(x.DType), x.Dims...)
		t := tensors.FromShape(shape)
		var size int
		if err := t.MutableBytes(func(data []byte) { size = copy(data, x.Data) }); err != nil {
			return fmt.Errorf("%s: %w", x.Path, err)
		}
		if size != len(x.Data) || int64(size) != shape.ByteSize() {
			return fmt.Errorf("%s has %d bytes, not %d", x.Path, len(x.Data), shape.ByteSize())
		}
		v := store.GetVariable(x.Path)
		if v == nil {
			created, err := store.CreateVariable(x.Path, t)
			if err != nil {
				return fmt.Errorf("%s: %w", x.Path, err)
			}
			created.SetTrainable(false) // weights are there already
			continue
		}
		if !v.Shape().Equal(shape) {
			return fmt.Errorf("%s is %s, the model's is %s", x.Path, shape, v.Shape())
		}
		if err := v.SetValue(t); err != nil {
			return fmt.Errorf("%s: %w", x.Path, err)
		}
	}
	return nil
}
