// Archives of arrays as NumPy writes them.

package features

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// array is an array of a .npy file, in the order of C.
type array struct {
	dtype string
	kind  byte // f or U
	size  int  // bytes of an element
	shape []int
	data  []byte
}

// header is that of a .npy file, which numpy writes as a literal of Python with sorted keys.
var header = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \}\s*$`)

// openArray reads a .npy file of an archive. The header decides how many bytes there must be, and no more are held than there are.
func openArray(f *zip.File) (a array, err error) {
	r, err := f.Open()
	if err != nil {
		return a, err
	}
	defer r.Close()
	const most = 1 << 34
	all, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return a, err
	case len(all) > most:
		return a, fmt.Errorf("more than %d bytes", most)
	}
	return parseArray(all)
}

func parseArray(all []byte) (a array, err error) {
	none := errors.New("not an array as numpy.save writes it")
	if len(all) < 10 || string(all[:6]) != "\x93NUMPY" {
		return a, none
	}
	start, length := 10, int(binary.LittleEndian.Uint16(all[8:]))
	if all[6] > 1 {
		if len(all) < 12 {
			return a, none
		}
		start, length = 12, int(binary.LittleEndian.Uint32(all[8:]))
	}
	if length > len(all)-start {
		return a, none
	}
	m := header.FindSubmatch(all[start : start+length])
	if m == nil {
		return a, none
	}
	a.dtype, a.data = string(m[1]), all[start+length:]
	switch d := a.dtype; {
	case d == "<f4" || d == "<f8":
		a.kind, a.size = 'f', int(d[2]-'0')
	case strings.HasPrefix(d, "<U"):
		n, err := strconv.Atoi(d[2:])
		if err != nil || n < 0 || n > 1<<24 {
			return a, none
		}
		a.kind, a.size = 'U', 4*n
	default:
		return a, fmt.Errorf("an array of %q; want float32, float64 or texts, in little-endian order", d)
	}
	if string(m[2]) == "True" {
		return a, errors.New("an array in the order of Fortran; write numpy.ascontiguousarray of it")
	}
	need := a.size
	for _, field := range strings.FieldsFunc(string(m[3]), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(field)
		if err != nil || n > 0 && need > len(a.data)/n {
			return a, fmt.Errorf("its shape (%s) has more elements than its %d bytes", m[3], len(a.data))
		}
		a.shape, need = append(a.shape, n), need*n
	}
	if need != len(a.data) {
		return a, fmt.Errorf("%d bytes for the shape (%s), which has %d", len(a.data), m[3], need)
	}
	return a, nil
}

// text returns element i of an array of texts.
func (a array) text(i int) (string, error) {
	var text []byte
	for b := a.data[i*a.size : (i+1)*a.size]; len(b) > 0; b = b[4:] {
		c := binary.LittleEndian.Uint32(b)
		if c == 0 {
			break // numpy fills up with these
		}
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return "", fmt.Errorf("%#x is no character", c)
		}
		text = utf8.AppendRune(text, rune(c))
	}
	return string(text), nil
}

// row returns row i of a matrix. It fails on a number that is not finite as float32.
func (a array) row(i int) ([]float32, error) {
	row := make([]float32, a.shape[1])
	for k := range row {
		b := a.data[(i*a.shape[1]+k)*a.size:]
		var x float64
		if a.size == 4 {
			x = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		} else {
			x = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
		if row[k] = float32(x); math.IsNaN(x) || math.IsInf(float64(row[k]), 0) {
			return nil, fmt.Errorf("number %d is %g", k, x)
		}
	}
	return row, nil
}
