// Package preflight estimates from a spec alone what a run of it takes, and refuses what there is no room for.
package preflight

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/entrorouter/entrorouter/harness/machine"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Needs is what a run takes that finds nothing stored. Bytes are those of the greatest parts that grow with a knob, so they
// are about right for large runs and too few for small ones. What a language model makes of texts on the way through its layers is
// not among them: it depends on how long they are.
type Needs struct {
	Trainings int64 // of rows that are trained in steps
	Steps     int64 // of all of them together, those that choose a weight decay included
	Memory    int64 // bytes
	Device    int64 // bytes of weights and what a step makes of them where XLA computes, which may be a card; not in Memory
	Disk      int64 // bytes, of the store
	Answers   int64 // of these, of the answers of models that are asked

	// Training is how long the networks train that are trained in steps, on the Go backend and two cores.
	Training time.Duration

	// At most, of language models that write before they choose: what they write in Stage II and to route, and what their trainings read.
	Rollouts, Routed, Learned Tokens

	Unpaced bool     // steps of language models are done by XLA, whose speed is not known here
	Lacks   []string // folders of language models without a config.json: what they take is in no number
	Absent  []string // and of those without weights: what reads them counts as not made; Estimate does not know them

	memory, disk, training knobShare // the knobs that take most
}

// Tokens are those of some texts, at most.
type Tokens struct{ Texts, Tokens int64 }

func (t *Tokens) add(texts float64, each int64) {
	n := int64(min(texts, 1e12))
	t.Texts, t.Tokens = t.Texts+n, t.Tokens+n*each
}

// knobShare is what a knob takes.
type knobShare struct {
	knob  string
	what  string // its value in words
	takes int64  // bytes, or nanoseconds of training
}

// Bytes and times that were measured: of a run's memory and of its store, before and after a knob was raised.
const (
	runMemory     = 80 << 20
	largeMemory   = 14 << 10 // a problem of the large set
	problemMemory = 3 << 10
	answerMemory  = 200
	sampleMemory  = 60 // a resample, row and benchmark
	episodeMemory = 32 // a rollout of a step of GRPO
	weightCopies  = 8  // weights, gradients, moments, and what a step makes of them
	largeDisk     = 2 << 10
	simulatedDisk = 300     // an answer
	servedDisk    = 4 << 10 // an answer, compressed
)

// Estimate says what a run of a spec takes. questions are those of recorded pools by name, which are in the recordings and not in the spec; a
// pool without is counted as if it had none.
func Estimate(r *spec.Resolved, questions map[string]int) Needs {
	x := &r.Experiment
	n := Needs{Memory: runMemory}
	takes := func(memory, disk int64, knob, format string, args ...any) {
		n.Memory, n.Disk = n.Memory+memory, n.Disk+disk
		what := fmt.Sprintf(format, args...)
		if memory > n.memory.takes {
			n.memory = knobShare{knob, what, memory}
		}
		if disk > n.disk.takes {
			n.disk = knobShare{knob, what, disk}
		}
	}
	trainings := x.Trainings()
	folds := trainings.Folds
	rows, seeds := int64(max(len(x.Methods), 1)), int64(len(*trainings.Of)*max(folds, 1))
	if x.AsksExperts() {
		members, perAnswer := int64(0), int64(servedDisk)
		for _, p := range r.Pools {
			members += int64(len(p.Experts))
			if p.Probe != nil {
				members++
			}
			if p.Kind == "simulated" {
				perAnswer = simulatedDisk
			}
		}
		answers := func(problems int, of, each int64, knob, format string, args ...any) {
			asked := int64(problems) * of * each
			n.Answers += asked * perAnswer
			takes(int64(problems)*problemMemory+asked*answerMemory, asked*perAnswer, knob, format, args...)
		}
		for _, d := range []struct {
			knob string
			draw spec.Draw
		}{{"train.sft.size", x.Train.SFT}, {"train.rl.size", x.Train.RL}} {
			asked := d.draw.Size
			if d.knob == "train.rl.size" {
				asked -= x.Train.Again(asked)
			}
			answers(asked, members, int64(x.Profile.Rollouts), d.knob, "%d problems, asked %d times (profile.rollouts) of %d models", asked, x.Profile.Rollouts, members)
		}
		for _, name := range x.Test {
			b := r.Benchmarks[name]
			answers(b.Size, members, int64(b.Runs), "benchmarks.yaml: "+name, "%d problems, asked %d times (runs) of %d models", b.Size, b.Runs, members)
		}
		large := int64(x.Large) * int64(len(x.Test))
		takes(large*largeMemory, large*largeDisk, "large", "%d problems of each of %d benchmarks", x.Large, len(x.Test))
		takes(int64(x.Evaluate.Bootstrap)*rows*int64(len(x.Test)+1)*sampleMemory, 0, "evaluate.bootstrap", "%d resamples of %d rows and %d benchmarks", x.Evaluate.Bootstrap, rows, len(x.Test))
	}
	var sets []fitTo
	experts := 0
	if folds == 0 {
		one := fitTo{one: x.Train.SFT.Size, two: x.Train.RL.Size, routed: x.Train.RL.Size} // rows may be matched to what is spent on Stage II's
		for _, name := range x.Test {
			one.routed += r.Benchmarks[name].Size + x.Large
		}
		sets = append(sets, one)
	}
	for _, p := range r.Pools {
		experts = max(experts, len(p.Experts))
		if all := questions[p.Name]; folds > 0 {
			learned := all * (folds - 1) / folds
			sets = append(sets, fitTo{learned, learned, all - learned})
		}
	}
	for _, m := range x.Methods {
		trains := methods.RowTraits(m, x).Network
		if trains == nil {
			continue
		}
		network := trains(experts)
		knob := "row " + m.RowID() + ": " + network.Knob
		fits := seeds * int64(len(sets))
		n.Trainings += fits
		memory := 4*network.Weights*weightCopies + network.Frozen
		if network.Backend == "xla" {
			n.Device = max(n.Device, memory)
			memory = 0
		}
		takes(memory, 4*network.Weights*fits, knob, "%s", network.Value)
		if lacks := network.Lacks; lacks != "" && !slices.Contains(n.Lacks, lacks) {
			n.Lacks = append(n.Lacks, lacks)
		}
		var steps, seconds float64
		for _, set := range sets {
			if m.Train > 0 {
				set.one, set.two = min(set.one, m.Train), min(set.two, m.Train)
			}
			e := network.Effort(set.one, set.two)
			steps += float64(seeds) * e.Steps
			if network.Writes > 0 {
				n.Rollouts.add(float64(seeds)*e.Written, network.Writes)
				n.Routed.add(float64(seeds)*float64(set.routed), network.Routes)
				n.Learned.add(float64(seeds)*e.Texts, network.Reads+network.Writes)
			}
			seconds += float64(seeds) * network.Seconds(e, set.one+set.two+set.routed)
		}
		n.Steps += int64(min(steps, 1e15))
		switch {
		case network.Backend == "go":
			took := time.Duration(min(seconds, 1e9) * float64(time.Second)) // 30 years, of each row
			n.Training = min(n.Training+took, 1<<62)
			if int64(took) > n.training.takes {
				n.training = knobShare{knob, fmt.Sprintf("%s, trained in %.0f steps", network.Value, steps/float64(seeds)), int64(took)}
			}
		case network.LM:
			n.Unpaced = true
		}
		takes(min(network.Batch, largestSet(sets))*network.Group*episodeMemory, 0, "grpo.group", "%d rollouts of each problem of a batch", network.Group)
	}
	if c := x.Collapse; c != nil {
		t := c.Training
		takes(int64(t.Batch)*int64(t.Group)*episodeMemory, 0, "collapse.training.batch", "%d problems per step, %d episodes of each", t.Batch, t.Group)
	}
	return n
}

// fitTo is what a row is fitted to and decides about: numbers of problems of the two stages, and of those that its router is asked about.
type fitTo struct{ one, two, routed int }

// largestSet is how many problems of Stage II a fit has at most.
func largestSet(sets []fitTo) (n int64) {
	for _, s := range sets {
		n = max(n, int64(s.two))
	}
	return n
}

// Check refuses needs that there is no room for, and trainings that would not end. stored are the bytes of the store that there are.
// The error names the knob that takes most and wraps spec.ErrUsage.
func (n Needs) Check(room machine.Room, stored int64) error {
	refuse := func(share knobShare, needs, left int64, what string) error {
		return fmt.Errorf("%w: %s: %s take about %s of %s, the run %s, and %s are left; ask for less, or set %s=off to try all the same",
			spec.ErrUsage, share.knob, share.what, size(share.takes), what, size(needs), size(left), Env)
	}
	switch {
	case room.Memory > 0 && n.Memory > room.Memory && n.memory.takes > room.Memory/2:
		return refuse(n.memory, n.Memory, room.Memory, "memory")
	case room.Disk > 0 && n.Disk-stored > room.Disk && n.disk.takes > room.Disk/2:
		return refuse(n.disk, n.Disk, room.Disk, "disk")
	case room.Time > 0 && n.Training > room.Time:
		return fmt.Errorf("%w: %s: %s take about %s on two cores, the run %s; ask for less (sft.epochs, grpo.steps, the network), train on XLA (policy.backend), or set %s=off to try all the same",
			spec.ErrUsage, n.training.knob, n.training.what, long(time.Duration(n.training.takes)), long(n.Training), Env)
	}
	return nil
}

// long writes a duration as a person does who plans with it.
func long(d time.Duration) string {
	switch day := 24 * time.Hour; {
	case d > 2*365*day:
		return fmt.Sprintf("%d years", d/(365*day))
	case d > 2*day:
		return fmt.Sprintf("%d days", d/day)
	case d > 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// Stored is how many bytes the rollouts of a store take, which a run does not write again.
func Stored(out string) (bytes int64) {
	files, _ := fs.Glob(os.DirFS(filepath.Clean(out)), "rollouts.db*") // the pattern is sound
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(out, name)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// Env is the environment variable that, set to off, lets a run begin that there is no room for.
const Env = "ENTROROUTER_PREFLIGHT"

// String says the needs in a line.
func (n Needs) String() string {
	text := fmt.Sprintf("from an empty store: about %s of memory", size(n.Memory))
	if n.Device > 0 {
		text += fmt.Sprintf(" and, where XLA computes, %s for weights", size(n.Device))
	}
	text += fmt.Sprintf(", %s of disk", size(n.Disk))
	for _, c := range []struct {
		n         int64
		one, many string
	}{{n.Trainings, "training", "trainings"}, {n.Steps, "step of training", "steps of training"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, map[bool]string{true: c.one, false: c.many}[c.n == 1])
		}
	}
	if n.Training > 2*time.Minute {
		text += fmt.Sprintf(", about %s on two cores", long(n.Training))
	}
	if n.Unpaced {
		text += "; how long XLA trains language models is not known here"
	}
	for _, folder := range n.Absent {
		text += "; " + folder + " has no weights here, so what reads them counts as to do"
	}
	for _, folder := range n.Lacks {
		text += "; " + folder + " has no config.json, so what its weights take is not in it"
	}
	return text
}

// size writes bytes as a person does.
func size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	x, i := float64(bytes)/1e3, 0
	for ; x >= 1000 && i < len(units)-1; i++ {
		x /= 1e3
	}
	return fmt.Sprintf("%.3g %s", x, units[i])
}
