// How a measurement file says by what it was made.

package metrics

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Provenance is what a comparison has to know of a measurement file: the last of its leading comments.
type Provenance struct {
	Seed     uint64   // of problems and rollouts
	Training []uint64 // seeds of trainings; of several the lines of single seeds tell, and they are not written
	Backend  string   // that policies were trained on, with what tells builds of it apart
	Arch     string   // GOARCH
}

// firstTraining is the training seed of a file that names none and has no lines of single seeds, as --seeds 1 has it.
const firstTraining = 1

// String is the comment, without its '#'.
func (p Provenance) String() string {
	training := ""
	if len(p.Training) == 1 && p.Training[0] != firstTraining {
		training = fmt.Sprintf(", trained with seed %d,", p.Training[0])
	}
	return fmt.Sprintf(" Made with seed %d%s by backend %s on %s.", p.Seed, training, p.Backend, p.Arch)
}

// MadeOf is the comment that says which data numbers are of, without its '#': a file and the SHA-256 that its pool pins.
func MadeOf(file, sha256 string) string {
	return fmt.Sprintf("%s %s, SHA-256 %s.", madeOf, file, sha256)
}

// madeOf is how such a comment begins.
const madeOf = " Made of"

// SaysMadeOf says whether a comment is one of MadeOf.
func SaysMadeOf(comment string) bool { return strings.HasPrefix(comment, madeOf+" ") }

// Numerics is what numbers of trained rows depend on beside their seeds.
func (p Provenance) Numerics() string { return p.Backend + " on " + p.Arch }

var provenanceLine = regexp.MustCompile(`^ Made with seed (\d+)(?:, trained with seed (\d+),)? by backend (\S+) on (\S+)\.$`)

// Provenance reads how a file was made. One that does not say so was made by nothing that can be compared exactly.
func (s *Set) Provenance() (p Provenance, ok bool) {
	for _, line := range s.Comment {
		if f := provenanceLine.FindStringSubmatch(line); f != nil {
			seed, err := strconv.ParseUint(f[1], 10, 64)
			training, trainingErr := strconv.ParseUint(cmp.Or(f[2], strconv.Itoa(firstTraining)), 10, 64)
			return Provenance{seed, []uint64{training}, f[3], f[4]}, err == nil && trainingErr == nil
		}
	}
	return Provenance{}, false
}
