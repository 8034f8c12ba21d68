// What a whole frozen model made of texts, kept in a file: reading them is nearly all that a linear head costs, and a run that was
// stopped or has another row does not do it again.

package lm

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// statesVersion is raised with whatever changes what is in a file or what the decoder makes of a text.
const statesVersion = 1

// statesFile has a record a text: the digest of its tokens, the state [width] and the checksum of both, little-endian. One process
// at a time writes to it. What a power cut or a full disk leaves of a record is no record.
type statesFile struct {
	file  *os.File
	width int
	at    map[[sha256.Size]byte]int64 // where the record of a text begins
	end   int64                       // behind the last record
}

// statesName is the file of states in a folder, by all that they follow from beside the tokens.
func statesName(dir string, backend policy.Backend, d Decoder, base *Base) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s %s %s %s", statesVersion, backend.Name(), policy.Numerics, policy.Platform(backend), d.Compute, base.Digest))
	return filepath.Join(dir, fmt.Sprintf("%x.states", sum[:8]))
}

// openStates opens a file of states, or begins it, and calls know with each of its records.
func openStates(name string, width int, know func(text [sha256.Size]byte, state []float32)) (*statesFile, error) {
	k := &statesFile{width: width, at: map[[sha256.Size]byte]int64{}}
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("states of texts: %w", err)
	}
	for size := int64(k.size()); int64(len(data))-k.end >= size; k.end += size {
		record := data[k.end : k.end+size]
		state, ok := k.stateOf(record)
		if !ok {
			break // what is behind it is read again
		}
		text := [sha256.Size]byte(record)
		k.at[text] = k.end
		know(text, state)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("states of texts: %w", err)
	}
	if k.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, fmt.Errorf("states of texts: %w", err)
	}
	if err := k.file.Truncate(k.end); err != nil {
		return nil, errors.Join(fmt.Errorf("states of texts: %w", err), k.file.Close())
	}
	return k, nil
}

// stateOf returns the state in a record; ok is false if its checksum is wrong.
func (k *statesFile) stateOf(record []byte) (state []float32, ok bool) {
	sum := len(record) - 4
	if crc32.ChecksumIEEE(record[:sum]) != binary.LittleEndian.Uint32(record[sum:]) {
		return nil, false
	}
	state = make([]float32, k.width)
	for i := range state {
		state[i] = math.Float32frombits(binary.LittleEndian.Uint32(record[sha256.Size+4*i:]))
	}
	return state, true
}

// find returns the state of a text; nil if the file has none.
func (k *statesFile) find(text [sha256.Size]byte) ([]float32, error) {
	at, ok := k.at[text]
	if !ok {
		return nil, nil
	}
	record := make([]byte, k.size())
	if _, err := k.file.ReadAt(record, at); err != nil {
		return nil, fmt.Errorf("states of texts: %w", err)
	}
	state, _ := k.stateOf(record)
	return state, nil
}

func (k *statesFile) size() int { return sha256.Size + 4*k.width + 4 }

// keep adds a record.
func (k *statesFile) keep(text [sha256.Size]byte, state []float32) error {
	record := append(make([]byte, 0, k.size()), text[:]...)
	for _, x := range state {
		record = binary.LittleEndian.AppendUint32(record, math.Float32bits(x))
	}
	record = binary.LittleEndian.AppendUint32(record, crc32.ChecksumIEEE(record))
	if _, err := k.file.WriteAt(record, k.end); err != nil {
		return fmt.Errorf("states of texts: %w", err)
	}
	k.at[text] = k.end
	k.end += int64(len(record))
	return nil
}
