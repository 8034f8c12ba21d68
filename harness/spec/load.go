// Loads a spec with everything it names.

package spec

import (
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

// Load reads the spec called name (with or without .yaml), the bases it is laid over and the pools, prices and
// benchmarks it names, makes changes, which its title then tells, and checks all of it. The error is Faults with everything that is
// wrong in all of those files, unless the spec itself cannot be found.
func Load(fsys fs.FS, name string, known Known, changes Changes) (*Resolved, error) {
	file := strings.TrimSuffix(name, ".yaml") + ".yaml"
	l := newLoader(fsys, file)
	l.known = known
	l.out.Named, l.out.Changes, l.out.Benchmarks = name, changes, Benchmarks{}
	if _, err := fs.Stat(fsys, file); !fs.ValidPath(file) || errors.Is(err, fs.ErrNotExist) {
		return nil, Faults{{Text: unknown("spec", name, Names(fsys))}}
	}
	if !l.experiment(file, changes) {
		return nil, l.faults.err()
	}
	l.pools()
	l.prices()
	l.benchmarks()
	l.methods()
	if err := l.faults.err(); err != nil {
		return nil, err
	}
	return l.out, nil
}

// Names lists the specs of a file system that can be run.
func Names(fsys fs.FS) []string {
	names := list(fsys, ".")
	return slices.DeleteFunc(names, func(n string) bool { return n == "base" || n == "benchmarks" || n == "recordings" })
}

// experiment reads the spec. ok is false if nothing more can be said of it: it, or a file it is laid over, cannot be read.
func (l *loader) experiment(file string, changes Changes) (ok bool) {
	e := &l.out.Experiment
	data, ok := l.read(file)
	if !ok {
		return false
	}
	root := l.spec.parse(data)
	if root == nil {
		return false
	}
	if other := noSpec(root); other != "" {
		l.spec.fault(root.Line, "", "%s", other)
		return false
	}
	if !l.lay(l.spec, root, file) {
		return false
	}
	l.change(changes)
	l.spec.unset(reflect.TypeFor[Experiment](), "")
	for i := range e.Methods {
		at := fmt.Sprintf("methods[%d]", i)
		m := l.spec.find(at)
		e.Methods[i].File, e.Methods[i].Line, e.Methods[i].Path = m.file, m.line, at
	}
	for i, o := range e.Outputs {
		if _, ok := l.known.output(o.Kind); l.known.Outputs != nil && o.Kind != "" && !ok {
			l.spec.faultAt(fmt.Sprintf("outputs[%d].kind", i), "%s", unknown("output", o.Kind, l.known.outputs()))
		}
		if o.File == "" {
			e.Outputs[i].File = o.Kind
		}
	}
	l.checkExperiment(strings.TrimSuffix(path.Base(file), ".yaml"))
	if changes.Any() {
		e.Title += fmt.Sprintf(" (changed: %s)", strings.Join(strings.Fields(strings.Join(changes.Flags(), " ")), " "))
	}
	return true
}

// noSpec says of the root of a file that it is one that specs name; empty: it is not.
func noSpec(root *yaml.Node) string {
	has := func(key string) bool {
		return slices.ContainsFunc(root.Content, func(n *yaml.Node) bool { return n.Value == key })
	}
	switch {
	case root.Kind != yaml.MappingNode || has("base") || has("protocol") || has("methods"):
	case has("kind") && has("experts"):
		return "this is a pool and no spec; name the spec that has it among its pools"
	case has("basis") && has("models"):
		return "this is a price list and no spec; name the spec whose prices it has"
	}
	return ""
}

// lay lays the content of a file over its base, which is read first. under are the files that are being laid: this one,
// and those it is a base of. ok is false if a base cannot be read or has keys that nobody knows, since what it
// would have set is no fault of this file, or if this file holds no keys.
func (l *loader) lay(d *decoder, root *yaml.Node, under ...string) (ok bool) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k, v := root.Content[i], root.Content[i+1]; k.Value == "base" && v.Kind == yaml.ScalarNode && v.Value != "" {
			if !l.base(d, v.Value, v.Line, under) {
				return false
			}
			break
		}
	}
	l.assign(d, root)
	return !d.at[""].broken
}

// base reads the file that another one is laid over, d's.
func (l *loader) base(d *decoder, file string, line int, under []string) (ok bool) {
	_, err := fs.Stat(l.fsys, file)
	if !fs.ValidPath(file) || errors.Is(err, fs.ErrNotExist) {
		near := ""
		name := strings.TrimSuffix(file, ".yaml")
		if files := list(l.fsys, "."); slices.Contains(files, name) {
			near = name
		} else {
			near = Nearest(name, files)
		}
		if near != "" {
			near = fmt.Sprintf("; did you mean %q?", near+".yaml")
		}
		d.fault(line, "base", "no file %q beside this one or built in%s", file, near)
		return false
	}
	if slices.Contains(under, file) {
		d.fault(line, "base", "%s is laid over itself: %s", file, strings.Join(append(under, file), ", then "))
		return false
	}
	data, ok := l.read(file)
	if !ok {
		return false
	}
	below, before := l.spec.over(where(l.fsys, file)), len(*l.faults)
	root := below.parse(data)
	if root == nil || !l.lay(below, root, append(slices.Clone(under), file)...) {
		return false
	}
	// What is missing then is likely to be what a key was meant to be.
	return !slices.ContainsFunc((*l.faults)[before:], func(f Fault) bool { return f.File == below.file && f.Path == "" })
}

func (l *loader) pools() {
	seen := map[string]bool{}
	for i, name := range l.out.Experiment.Pools {
		knob := fmt.Sprintf("pools[%d]", i)
		if name == "" {
			continue
		}
		if seen[name] {
			l.spec.faultAt(knob, "pool %q is named twice", name)
			continue
		}
		seen[name] = true
		d, data, ok := l.named("pool", "pools", name, knob)
		if !ok {
			continue
		}
		var p Pool
		d.document(data, &p)
		l.checkPool(d, name, &p)
		if r := p.Recorded; r != nil {
			r.Queries.Set, r.Outcomes.Set = l.published().of(r.Queries.Path), l.published().of(r.Outcomes.Path)
		}
		l.out.Pools = append(l.out.Pools, p)
		l.pooled = append(l.pooled, pooled{d, p})
	}
}

func (l *loader) prices() {
	name := l.out.Experiment.Prices
	if name == "" {
		return
	}
	d, data, ok := l.named("price list", "prices", name, "prices")
	if !ok {
		return
	}
	d.document(data, &l.out.Prices)
	l.checkPrices(d, name)
}

const benchmarksFile = "benchmarks.yaml"

// LoadBenchmarks reads benchmarks.yaml of a file system, checked as Load checks it, without an experiment.
func LoadBenchmarks(fsys fs.FS) (Benchmarks, error) {
	l := newLoader(fsys, benchmarksFile)
	all, _ := l.readBenchmarks()
	return all, l.faults.err()
}

// readBenchmarks reads and checks benchmarks.yaml; nil: nothing of it can be used.
func (l *loader) readBenchmarks() (Benchmarks, *decoder) {
	data, ok := l.read(benchmarksFile)
	if !ok {
		return nil, nil
	}
	all := Benchmarks{}
	d := l.spec.other(where(l.fsys, benchmarksFile))
	d.document(data, &all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l.checkBenchmark(d, name, all[name])
	}
	if m := d.at[""]; m.broken {
		return nil, nil
	}
	return all, d
}

func (l *loader) benchmarks() {
	e := &l.out.Experiment
	if e.Protocol != "split" {
		return
	}
	all, d := l.readBenchmarks()
	if all == nil {
		return
	}
	known := slices.Sorted(maps.Keys(all))
	use := func(knob, name, split string) (Benchmark, bool) {
		b, ok := all[name]
		if _, broken := d.at[name]; name == "" || !ok && broken {
			return b, false
		}
		switch {
		case !ok:
			l.spec.faultAt(knob, "%s", unknown("benchmark", name, known))
		case b.Split != split:
			l.spec.faultAt(knob, "%q is a %s set; want a %s set", name, b.Split, split)
		default:
			l.checkUse(knob, name, b)
			l.out.Benchmarks[name] = b
			return b, true
		}
		return b, false
	}
	draw := func(knob string, draw Draw) {
		if b, ok := use(knob+".benchmark", draw.Benchmark, "train"); ok && draw.Size > b.Size {
			l.spec.faultAt(knob+".size", "%d problems are asked of %q, which has %d", draw.Size, draw.Benchmark, b.Size)
		}
	}
	draw("train.sft", e.Train.SFT)
	draw("train.rl", e.Train.RL)
	for i, name := range e.Test {
		if b, ok := use(fmt.Sprintf("test[%d]", i), name, "test"); ok {
			b.Whole = b.Size
			if e.Evaluate.MaxProblems > 0 {
				b.Size = min(b.Size, e.Evaluate.MaxProblems)
			}
			if e.Evaluate.MaxRuns > 0 {
				b.Runs = min(b.Runs, e.Evaluate.MaxRuns)
			}
			l.out.Benchmarks[name] = b
		}
	}
}

func (l *loader) methods() {
	e := &l.out.Experiment
	sound := len(*l.faults) == 0
	for i, m := range e.Methods {
		knob := fmt.Sprintf("methods[%d]", i)
		if m.Name == "" {
			continue
		}
		if !slices.Contains(l.known.Methods, m.Name) {
			l.spec.faultAt(knob+".name", "%s", unknown("method", m.Name, l.known.Methods))
			continue
		}
		if l.known.Build == nil {
			continue
		}
		if err := l.known.Build(e, m); err != nil {
			found, typed := asFaults(err, Fault{File: m.File, Line: m.Line, Path: knob})
			if typed || sound { // an error of another kind may only follow from a knob that is at fault already
				*l.faults = append(*l.faults, found...)
			}
		}
	}
}
