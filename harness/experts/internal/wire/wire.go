// Package wire writes JSON and reuses buffers for both ends of the chat protocol, the client in package experts and the
// server in package sim.
package wire

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// AppendJSON appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, as encoding/json has it. A request or
// response is almost entirely one long string, and writing it without reflection or escaping of HTML is what makes
// the loopback path cheap.
func AppendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\t':
				b = append(b, '\\', 't')
			case '\r':
				b = append(b, '\\', 'r')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:i]...), "\ufffd"...)
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// Bodies reuses the buffers that bodies are read into. It is safe for concurrent use; its zero value is ready.
type Bodies struct{ pool sync.Pool }

// Get returns an empty buffer.
func (p *Bodies) Get() *bytes.Buffer {
	if b, ok := p.pool.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// Put takes a buffer back, unless a huge body has made it worth freeing.
func (p *Bodies) Put(b *bytes.Buffer) {
	if b.Cap() <= 256<<10 {
		p.pool.Put(b)
	}
}
