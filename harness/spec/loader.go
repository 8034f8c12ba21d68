// A spec that is being loaded: what is read of it, and the files that it names.

package spec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Known is what the caller knows and this package, which imports nothing above it, does not.
type Known struct {
	Methods []string     // kinds of method a row may name
	Outputs []OutputKind // that a spec may have; nil: not checked

	// Paper has the rows of the tables of results/paper, as a spec names them: entrorouter/alpha=0.2. nil: not checked.
	Paper map[string][]string

	// Build tries a row against the finished experiment, so that a fault in its params is reported with the others.
	// nil: params are not checked here.
	Build func(*Experiment, Method) error
}

// OutputKind is a kind of output, with what the spec has to say that has one.
type OutputKind struct {
	Name      string
	AnyRows   bool     // it shows whatever rows there are, so that it stays where Changes.Rows leaves some out
	Protocols []string // of experiments that it is of; nil: of all
	Reads     []string // keys of an output that it reads, besides kind, file and number
	Swept     bool     // it needs Param and Axis

	// Suffixes are what the names of its files have behind that of the output; one that ends in * stands for all that begin so. nil:
	// there is one, which has nothing behind it.
	Suffixes func(*Experiment) []string
}

// output returns the kind of that name; one that is not known needs nothing.
func (k Known) output(name string) (of OutputKind, ok bool) {
	at := slices.IndexFunc(k.Outputs, func(of OutputKind) bool { return of.Name == name })
	if at < 0 {
		return of, false
	}
	return k.Outputs[at], true
}

// outputs are the names of the kinds of output.
func (k Known) outputs() (names []string) {
	for _, of := range k.Outputs {
		names = append(names, of.Name)
	}
	return names
}

// Resolved is a spec with everything it names.
type Resolved struct {
	Named      string // as a command line names it, for messages that propose a command
	Experiment Experiment
	Pools      []Pool     // in the order of Experiment.Pools
	Prices     Prices     // of Experiment.Prices
	Benchmarks Benchmarks // those of train and test; evaluate.max_problems and max_runs are applied to the test sets

	Changes Changes  // that a command line made to it
	LeftOut []string // outputs that Changes.Rows took from Experiment.Outputs, by their files or kinds

	Files map[string][]byte // every file read, by its name in the file system
}

// loader reads the files of one spec. Steps that need what a faulty knob would have said leave it out.
type loader struct {
	fsys   fs.FS
	known  Known
	spec   *decoder // of the spec and its base
	faults *Faults
	out    *Resolved
	pooled []pooled
	sets   Recordings // nil: not read yet
}

func newLoader(fsys fs.FS, file string) *loader {
	d := newDecoder(where(fsys, file))
	return &loader{fsys: fsys, out: &Resolved{Files: map[string][]byte{}}, spec: d, faults: d.faults}
}

// pooled is a pool with the decoder that read its file.
type pooled struct {
	read *decoder
	pool Pool
}

// read returns the content of a file, or reports why it cannot.
func (l *loader) read(file string) ([]byte, bool) {
	data, err := fs.ReadFile(l.fsys, file)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		*l.faults = append(*l.faults, Fault{File: where(l.fsys, file), Text: fmt.Sprintf("cannot be read: %v", err)})
		return nil, false
	}
	l.out.Files[file] = data
	return data, true
}

// named reads the file that a knob of the spec names: dir/name.yaml.
func (l *loader) named(what, dir, name, knob string) (*decoder, []byte, bool) {
	file := path.Join(dir, name+".yaml")
	_, err := fs.Stat(l.fsys, file)
	if strings.Contains(name, "/") || !fs.ValidPath(file) || errors.Is(err, fs.ErrNotExist) {
		l.spec.faultAt(knob, "%s", unknown(what, name, list(l.fsys, dir)))
		return nil, nil, false
	}
	data, ok := l.read(file)
	return l.spec.other(where(l.fsys, file)), data, ok
}

// other returns a decoder of an unrelated file that reports to the same list.
func (d *decoder) other(file string) *decoder {
	return &decoder{file: file, faults: d.faults, at: map[string]mark{}}
}

// list returns the names of the YAML files in a folder, without extension. A folder that cannot be read has none.
func list(fsys fs.FS, dir string) []string {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if n, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !e.IsDir() {
			names = append(names, n)
		}
	}
	slices.Sort(names) // without the extension, "main" comes before "main-more"
	return names
}

// assign lays the content of one file, or of a command line, over what has been read.
func (l *loader) assign(d *decoder, root *yaml.Node) {
	e := &l.out.Experiment
	d.value(root, reflect.ValueOf(e).Elem(), "", false)
	for i, m := range e.More {
		d.move(fmt.Sprintf("more_methods[%d]", i), fmt.Sprintf("methods[%d]", len(e.Methods)))
		e.Methods = append(e.Methods, m)
	}
	e.More = nil
}

// Recordings are the files that recorded pools are read from, each once, in the order of the pools.
func (r *Resolved) Recordings() (files []File) {
	for _, p := range r.Pools {
		if p.Recorded == nil {
			continue
		}
		for _, f := range []File{p.Recorded.Queries, p.Recorded.Outcomes} {
			if !slices.ContainsFunc(files, func(g File) bool { return g.Path == f.Path }) {
				files = append(files, f)
			}
		}
	}
	return files
}

// Data are the data files that the experiment reads, each once: problems that have one, and recordings.
func (r *Resolved) Data() (files []File) {
	add := func(f *File) {
		if f != nil && f.Path != "" && !slices.ContainsFunc(files, func(g File) bool { return g.Path == f.Path }) {
			files = append(files, *f)
		}
	}
	x := &r.Experiment
	for _, name := range append([]string{x.Train.SFT.Benchmark, x.Train.RL.Benchmark}, x.Test...) {
		add(r.Benchmarks[name].File)
	}
	for _, f := range r.Recordings() {
		add(&f)
	}
	return files
}

// LanguageModels are those that rows start from or ask, as far as the spec says: those whose origin it has, and the folder that its
// policies start from.
func (r *Resolved) LanguageModels() []ModelOrigin {
	all, m := r.Experiment.Models, r.Experiment.Policy.Model
	if m == nil || m.Folder == "" || slices.ContainsFunc(all, func(o ModelOrigin) bool { return o.Name == m.Folder }) {
		return all
	}
	return append(slices.Clone(all), ModelOrigin{Name: m.Folder})
}

// Sets are what 'entrorouter fetch' calls the sets that the experiment reads and that it can get, each once.
func (r *Resolved) Sets() (sets []string) {
	add := func(set string) {
		if set != "" && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Benchmarks)) {
		if f := r.Benchmarks[name].File; f != nil && f.Home != nil {
			add(name)
		}
	}
	for _, f := range r.Recordings() {
		add(f.Set)
	}
	return sets
}

// Canonical is what a spec says in the end, in canonical form: its knobs and those of its bases, its pools, prices and benchmarks.
func (r *Resolved) Canonical() ([]byte, error) {
	return Canonical(struct {
		Experiment Experiment `yaml:"experiment"`
		Pools      []Pool     `yaml:"pools"`
		Prices     Prices     `yaml:"prices"`
		Benchmarks Benchmarks `yaml:"benchmarks"`
	}{r.Experiment, r.Pools, r.Prices, r.Benchmarks})
}

// Digest is the SHA-256, in hexadecimal digits, of Canonical.
func (r *Resolved) Digest() (string, error) {
	text, err := r.Canonical()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}
