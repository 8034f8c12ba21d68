package experts

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// appendJSON appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, as encoding/json has it. A request or
// response is almost entirely one long string, and writing it without reflection or escaping of HTML is what makes
// the loopback path cheap.
func appendJSON(b []byte, s string) []byte {
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

// bodies reuses the buffers that bodies are read into.
type bodies struct{ pool sync.Pool }

func (p *bodies) get() *bytes.Buffer {
	if b, ok := p.pool.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// put takes a buffer back, unless a huge body has made it worth freeing.
func (p *bodies) put(b *bytes.Buffer) {
	if b.Cap() <= 256<<10 {
		p.pool.Put(b)
	}
}
