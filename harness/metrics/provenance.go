// How a measurement file says by what it was made.

package metrics

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Provenance is what a comparison has to know of a measurement file: the last of its leading comments.
type Provenance struct {
	Seed     uint64   // of problems and rollouts
	Training []uint64 // seeds of trainings; of several the lines of single seeds tell, and they are not written
	Backend  string   // that policies were trained on, with what tells builds of it apart
	Arch     string   // GOARCH
	// Processor is what XLA computed on; empty where the file does not say, and for plain Go, which computes alike on all of an architecture.
	Processor string
}

// firstTraining is the training seed of a file that names none and has no lines of single seeds, as --seeds 1 has it.
const firstTraining = 1

// String is the comment, without its '#'.
func (p Provenance) String() string {
	training := ""
	if len(p.Training) == 1 && p.Training[0] != firstTraining {
		training = fmt.Sprintf(", trained with seed %d,", p.Training[0])
	}
	on := p.Arch
	if p.Processor != "" {
		on += ", " + p.Processor
	}
	return fmt.Sprintf(" Made with seed %d%s by backend %s on %s.", p.Seed, training, p.Backend, on)
}

// MadeOf is the comment that says which data numbers are of, without its '#': a file and the SHA-256 that its pool pins.
func MadeOf(file, sha256 string) string {
	return fmt.Sprintf(" Made of %s, SHA-256 %s.", file, sha256)
}

// InFolds is what the comment begins with that says of how many folds a cross-validation is, without its '#'.
func InFolds(k int) string { return fmt.Sprintf(" %d-fold cross-validation", k) }

var foldsLine = regexp.MustCompile(`^ (\d{1,6})-fold cross-validation`)

// Folds is of how many folds the cross-validation is that a file is of; 0: it does not say.
func (s *Set) Folds() (k int) {
	for _, line := range s.Comment {
		if f := foldsLine.FindStringSubmatch(line); f != nil {
			k, _ = strconv.Atoi(f[1])
		}
	}
	return k
}

var madeOfLine = regexp.MustCompile(`^ Made of (.+), SHA-256 ([0-9a-f]+)\.$`)

// Data are the files of data that a file says its numbers are of, in its order, and the SHA-256 of each; none: it does not say.
func (s *Set) Data() (files []string, sha256 map[string]string) {
	sha256 = map[string]string{}
	for _, line := range s.Comment {
		if f := madeOfLine.FindStringSubmatch(line); f != nil {
			files, sha256[f[1]] = append(files, f[1]), f[2]
		}
	}
	return files, sha256
}

// changePrefix is what the comments begin with that say how a run's spec was changed, without their '#'.
const changePrefix = " Changed by "

// ChangedBy is the comment that says that a run was not of its spec as it stands: flag is of a command line, as in "--limit 5".
func ChangedBy(flag string) string { return changePrefix + flag }

// Changes are the flags that changed the spec of a run, in the order in which they were given; none: it was run as it stands.
func (s *Set) Changes() (flags []string) {
	for _, line := range s.Comment {
		if flag, ok := strings.CutPrefix(line, changePrefix); ok {
			flags = append(flags, flag)
		}
	}
	return flags
}

// Seeds are the training seeds that have lines of their own, in order.
func (s *Set) Seeds() (seeds []uint64) {
	for _, m := range s.Measurements {
		if seed, err := strconv.ParseUint(m.Key("seed"), 10, 64); err == nil && !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// Recipe is that of a step whose measurements a file has; its key covers the recipes of all steps behind it.
type Recipe struct {
	Step, Key string
	By        string // versions of the program and its modules that carried it out; empty: nobody wrote them down
}

// String is the comment that says so, without its '#'.
func (r Recipe) String() string {
	by := ""
	if r.By != "" {
		by = ", made by " + r.By
	}
	return fmt.Sprintf(" Step %s has recipe %s%s.", r.Step, r.Key, by)
}

var recipeLine = regexp.MustCompile(`^ Step (.+) has recipe ([^\s,]+)(?:, made by (.+))?\.$`)

// Recipes reads which recipes a file is of; none: it does not say.
func (s *Set) Recipes() (all []Recipe) {
	for _, line := range s.Comment {
		if f := recipeLine.FindStringSubmatch(line); f != nil {
			all = append(all, Recipe{f[1], f[2], f[3]})
		}
	}
	return all
}

// OtherRecipes are the steps of which two files name other recipes.
func (s *Set) OtherRecipes(reference *Set) (steps []string) {
	theirs := map[string]string{}
	for _, r := range reference.Recipes() {
		theirs[r.Step] = r.Key
	}
	for _, r := range s.Recipes() {
		if key, ok := theirs[r.Step]; ok && key != r.Key {
			steps = append(steps, r.Step)
		}
	}
	return steps
}

// Versions are those that carried out the steps behind Recipes, each once; none: nobody wrote them down.
func (s *Set) Versions() (all []string) {
	for _, r := range s.Recipes() {
		if r.By != "" && !slices.Contains(all, r.By) {
			all = append(all, r.By)
		}
	}
	return all
}

// Said are the comments of a file that are neither about recipes nor about changes, but for those that the caller shows otherwise.
func (s *Set) Said(shown ...string) (lines []string) {
	for _, line := range s.Comment {
		if !recipeLine.MatchString(line) && !strings.HasPrefix(line, changePrefix) && !slices.Contains(shown, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// SameMachine says whether two files were made by one backend on one architecture: rows that train nothing count alike there.
func (p Provenance) SameMachine(q Provenance) bool { return p.Backend == q.Backend && p.Arch == q.Arch }

// Repeats says whether trained rows have to give the same numbers with the same seeds. In which order XLA adds depends on the
// processor, so both files have to name one there; they name none of a card.
func (p Provenance) Repeats(q Provenance) bool {
	named := p.Processor != "" || !strings.HasPrefix(p.Backend, "xla")
	return p.SameMachine(q) && p.Processor == q.Processor && named
}

var provenanceLine = regexp.MustCompile(`^ Made with seed (\d+)(?:, trained with seed (\d+),)? by backend (\S+) on ([^\s,]+)(?:, (.+))?\.$`)

// Provenance reads how a file was made. One that does not say so was made by nothing that can be compared exactly.
func (s *Set) Provenance() (p Provenance, ok bool) {
	for _, line := range s.Comment {
		if f := provenanceLine.FindStringSubmatch(line); f != nil {
			seed, err := strconv.ParseUint(f[1], 10, 64)
			training, trainingErr := strconv.ParseUint(cmp.Or(f[2], strconv.Itoa(firstTraining)), 10, 64)
			return Provenance{seed, []uint64{training}, f[3], f[4], f[5]}, err == nil && trainingErr == nil
		}
	}
	return Provenance{}, false
}
