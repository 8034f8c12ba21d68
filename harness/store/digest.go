// Digests of rows: what finds damage, by a disk or by somebody's editor. They are no protection against forgery.

package store

import (
	"database/sql"
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// fields are the values of a row in a form that is unambiguous. Its digest is XXH64, as SQLite's signed integer.
type fields []byte

func (f fields) text(s string) fields {
	return append(binary.AppendUvarint(f, uint64(len(s))), s...)
}

func (f fields) int(v int64) fields     { return binary.LittleEndian.AppendUint64(f, uint64(v)) }
func (f fields) float(v float64) fields { return f.int(int64(math.Float64bits(v))) }
func (f fields) bool(v bool) fields {
	if v {
		return append(f, 1)
	}
	return append(f, 0)
}
func (f fields) key(k RolloutKey) fields {
	return append(f, k.Problem[:]...).int(int64(k.Run)).int(int64(k.Seed))
}
func (f fields) spent(s Spent) fields { return f.int(s.In).int(s.Out).float(s.USD) }
func (f fields) digest() int64        { return int64(xxhash.Sum64(f)) }

func digestOfScope(params []byte) int64 { return fields(nil).text(string(params)).digest() }

func digestOfText(response, reasoning string) int64 {
	d := xxhash.New()
	d.Write(binary.AppendUvarint(nil, uint64(len(response))))
	d.WriteString(response)
	d.WriteString(reasoning)
	return int64(d.Sum64())
}

// rollout is the digest of a row of table rollout, in a scope of the given digest. buf is overwritten.
func (s *Stored) digest(buf fields, scope int64) int64 {
	return buf[:0].int(scope).key(s.Key).int(int64(s.ID)).text(string(s.Finish)).int(s.In).int(s.Out).int(s.text).digest()
}

func (v *Verdict) digest(buf fields, verifier string) int64 {
	return buf[:0].text(verifier).int(int64(v.Rollout)).int(int64(v.Gold)).text(string(v.Bucket)).text(v.Reason).text(v.Extracted).digest()
}

func (f *Failed) digest(buf fields, scope int64) int64 {
	return buf[:0].int(scope).key(f.Key).text(f.Class).text(f.Error).bool(f.Again).digest()
}

func (e *Ended) digest(buf fields, begun, ended int64) int64 {
	return buf[:0].int(begun).int(ended).text(e.Class).text(e.Error).spent(e.Spent).bool(e.Estimated).digest()
}

// begun is the digest of an attempt until it ends.
func (a *StoredAttempt) begun(buf fields, scope int64) int64 {
	return buf[:0].int(int64(a.ID)).int(a.Process).int(scope).key(a.Key).text(a.Server).int(a.Began.UnixMilli()).spent(a.Most).digest()
}

// digest is that of an attempt, with its end if it has one.
func (a *StoredAttempt) digest(buf fields, scope int64, ended sql.NullInt64) int64 {
	d := a.begun(buf, scope)
	if !ended.Valid {
		return d
	}
	e := Ended{ID: a.ID, Class: a.Class, Error: a.Error, Spent: a.Spent, Estimated: a.Estimated}
	return e.digest(buf, d, ended.Int64)
}
