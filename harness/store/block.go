// Compressed blocks of responses.

package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Responses are compressed many at a time, since a text of 700 bytes has little to refer back to when alone. A block is zstd(count, count lengths, texts), numbers as uvarints, with zstd's own checksum.
const (
	blockBytes = 256 << 10 // a block is closed when its texts reach this; one longer text is a block of its own
	blockRows  = 1 << 16   // positions in a block fit the low bits of a RolloutID
)

// codec compresses blocks. It is safe for concurrent use and starts no goroutines.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(blockBytes), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return codec{enc, dec}, err
}

func (c codec) pack(texts []string) []byte {
	size := binary.MaxVarintLen64 * (len(texts) + 1)
	for _, t := range texts {
		size += len(t)
	}
	raw := binary.AppendUvarint(make([]byte, 0, size), uint64(len(texts)))
	for _, t := range texts {
		raw = binary.AppendUvarint(raw, uint64(len(t)))
	}
	for _, t := range texts {
		raw = append(raw, t...)
	}
	return c.enc.EncodeAll(raw, nil)
}

var errBlock = errors.New("lengths do not add up")

func (c codec) unpack(block []byte) ([]string, error) {
	raw, err := c.dec.DecodeAll(block, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return split(raw)
}

// split takes a decompressed block apart.
func split(raw []byte) ([]string, error) {
	count, n := binary.Uvarint(raw)
	if n <= 0 || count > blockRows {
		return nil, errBlock
	}
	raw = raw[n:]
	lengths := make([]int, count)
	total := uint64(0)
	for i := range lengths {
		l, n := binary.Uvarint(raw)
		if n <= 0 || l > uint64(len(raw)) {
			return nil, errBlock
		}
		lengths[i], total, raw = int(l), total+l, raw[n:]
	}
	if total != uint64(len(raw)) {
		return nil, errBlock
	}
	all := string(raw)
	texts := make([]string, count)
	for i, l := range lengths {
		texts[i], all = all[:l], all[l:]
	}
	return texts, nil
}
