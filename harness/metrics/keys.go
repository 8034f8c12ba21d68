// Keys of measurements, and how they are written.

package metrics

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key is one coordinate of a measurement: method=entrorouter.
type Key struct {
	Name  string // lower-case letters, digits, '-' and '_'; starts with a letter
	Value string // any text that is not empty; the format escapes what it has to
}

// Keys makes keys from name, value, name, value...
func Keys(pairs ...string) (k []Key) {
	for i := 0; i < len(pairs); i += 2 {
		k = append(k, Key{Name: pairs[i], Value: pairs[i+1]})
	}
	return k
}

// Decimal writes a number as the value of a key, in as few digits as tell it from all others.
func Decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// escape percent-encodes what a key's value may not hold. last says that nothing follows in the name.
func escape(value string, last bool) string {
	dash := -1
	if last {
		digits := strings.TrimRight(value, "0123456789")
		if len(digits) < len(value) && strings.HasSuffix(digits, "-") {
			dash = len(digits) - 1
		}
	}
	if dash < 0 && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == '/' || r == '%' || r >= unicode.MaxASCII }) {
		return value
	}
	var b strings.Builder
	written := 0
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if plain := r != '/' && r != '%' && i != dash && !unicode.IsSpace(r) && unicode.IsGraphic(r) && (r != utf8.RuneError || size > 1); !plain {
			b.WriteString(value[written:i])
			written = i + size
			for _, c := range []byte(value[i:written]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		i += size
	}
	if written == 0 {
		return value
	}
	b.WriteString(value[written:])
	return b.String()
}

func unescape(value string) (string, error) {
	plain, err := url.PathUnescape(value)
	if err != nil {
		return "", fmt.Errorf("%q holds a bad escape: write %%25 for a percent sign", value)
	}
	return plain, nil
}

// Describe writes keys for messages, as name=value/name=value.
func Describe(keys []Key) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = k.Name + "=" + k.Value
	}
	return strings.Join(parts, "/")
}
