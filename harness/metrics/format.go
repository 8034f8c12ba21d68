// The text format of measurements, written and read.

package metrics

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/units"
)

// The format is the Go benchmark text format (golang.org/design/14313-benchmark-format), so that benchstat
// pivots and compares our files as they are:
//
//	# source: ...
//	# note: what to know about the next line
//	# undefined: retention-%: why the next line lacks this number
//	BenchmarkRoute/table=main/method=random/benchmark=aime25 480 73.3 accuracy-% 0.2809 usd
//
// An interval is two more values, accuracy-low-% and accuracy-high-%. In the value of a key, white space, '/',
// '%', control characters and bytes that are not UTF-8 are percent-encoded, and so is the dash of a trailing
// "-8", which benchmark tools read as GOMAXPROCS. Lines are sorted by label and no label occurs twice.

// What comments about the next line start with.
const (
	notePrefix      = "# note: "
	undefinedPrefix = "# undefined: "
)

// Write writes s in the text format, sorted; s itself is left as it is. It fails on a measurement that the
// format cannot hold: a malformed name, key or unit, a number that is not finite, N < 1, a repeated label.
func (s *Set) Write(w io.Writer) error {
	var b bytes.Buffer
	for _, line := range s.Comment {
		if strings.ContainsAny(line, "\r\n") {
			return fmt.Errorf("comment %q holds a line break: pass one comment a line", line)
		}
		if strings.HasPrefix("#"+line, notePrefix) || strings.HasPrefix("#"+line, undefinedPrefix) {
			return fmt.Errorf("comment %q starts like the note of a measurement: reword it", line)
		}
		b.WriteString("#" + line + "\n")
	}
	sorted := Set{Measurements: slices.Clone(s.Measurements)}
	sorted.Sort()
	previous := ""
	for _, m := range sorted.Measurements {
		if err := m.check(); err != nil {
			return fmt.Errorf("measurement %s: %w", m.Label(), err)
		}
		label := m.Label()
		if label == previous {
			return fmt.Errorf("measurement %s: occurs twice: give each its own keys", label)
		}
		previous = label
		if m.Note != "" {
			b.WriteString(notePrefix + m.Note + "\n")
		}
		for _, u := range m.Undefined {
			b.WriteString(undefinedPrefix + u.Unit + ": " + u.Why + "\n")
		}
		fmt.Fprintf(&b, "Benchmark%s %d", label, m.N)
		for _, v := range m.Values {
			writeNumber(&b, v.Number, v.Decimals, v.Unit)
			if v.Bounded {
				writeNumber(&b, v.Low, v.Decimals, bound(v.Unit, low))
				writeNumber(&b, v.High, v.Decimals, bound(v.Unit, high))
			}
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Read parses measurements from r. Lines that the test runner prints around benchmarks ("goos: linux", "PASS") are skipped,
// as benchmark tools do; any other line that is neither a comment nor a measurement is an error, as one that was damaged
// would be lost. So are a last line without a line break, as of a file that was cut, and a number that its unit cannot have
// (units.Range). Errors start with file:line.
func Read(file string, r io.Reader) (*Set, error) {
	set := &Set{}
	seen := make(map[string]int)
	var labels []string
	note, undefined := "", []Undefined(nil)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	cut := false // the last line has no line break
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		cut = cut || n > 0 && data[n-1] != '\n'
		return n, line, err
	})
	n := 0
	for lines.Scan() {
		n++
		line := strings.ReplaceAll(lines.Text(), "\r", "")
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // a byte order mark, as some editors leave it
		}
		switch {
		case strings.HasPrefix(line, notePrefix):
			note = strings.TrimSpace(strings.TrimPrefix(line, notePrefix))
		case strings.HasPrefix(line, undefinedPrefix):
			unit, why, ok := strings.Cut(strings.TrimPrefix(line, undefinedPrefix), ": ")
			if !ok {
				return nil, fmt.Errorf("%s:%d: want a unit, a colon and why it is not defined, found %q", file, n, line)
			}
			undefined = append(undefined, Undefined{unit, strings.TrimSpace(why)})
		case strings.HasPrefix(line, "#"):
			if len(set.Measurements) == 0 && note == "" && undefined == nil {
				set.Comment = append(set.Comment, line[1:])
			}
		case isBenchmark(line):
			m, err := parse(line)
			if err == nil {
				m.Undefined, undefined = undefined, nil
				err = m.check()
			}
			if err == nil {
				err = m.plausible()
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			label := m.Label()
			if first, ok := seen[label]; ok {
				return nil, fmt.Errorf("%s:%d: %s was measured on line %d already: give each its own keys", file, n, label, first)
			}
			seen[label] = n
			labels = append(labels, label)
			m.Note, note = note, ""
			set.Measurements = append(set.Measurements, m)
		case !aside.MatchString(line):
			return nil, fmt.Errorf("%s:%d: neither a measurement (Benchmark...) nor a comment (#): %.60q", file, n, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
	}
	if note != "" {
		return nil, fmt.Errorf("%s: note %q is followed by no measurement", file, note)
	}
	if undefined != nil {
		return nil, fmt.Errorf("%s: %s, which is said to be undefined, is followed by no measurement", file, undefined[0].Unit)
	}
	if cut {
		return nil, fmt.Errorf("%s:%d: the file ends in the middle of this line: get it again, or end the line if it is whole", file, n)
	}
	set.sortBy(labels)
	return set, nil
}

// aside is what the test runner prints around benchmarks, and nothing.
var aside = regexp.MustCompile(`^\s*$|^[a-z]+: |^(PASS|FAIL|SKIP)\b|^(ok|\?|---|===)\s|^exit status `)

// plausible says which number of m its unit cannot have. The ends of an interval may be beyond: some are symmetric.
func (m Measurement) plausible() error {
	for _, v := range m.Values {
		switch low, high := units.Range(v.Unit); {
		case v.Number < low:
			return fmt.Errorf("%s is %s; it cannot be less than %g", v.Unit, Format(v.Number, v.Decimals), low)
		case v.Number > high:
			return fmt.Errorf("%s is %s; it cannot be more than %g", v.Unit, Format(v.Number, v.Decimals), high)
		}
	}
	return nil
}

func isBenchmark(line string) bool {
	rest, ok := strings.CutPrefix(line, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && unicode.IsUpper(first)
}

func parse(line string) (Measurement, error) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 {
		return Measurement{}, fmt.Errorf("want name, count and pairs of number and unit, found %d fields in %.60q", len(fields), line)
	}
	m, err := parseLabel(strings.TrimPrefix(fields[0], "Benchmark"))
	if err != nil {
		return Measurement{}, err
	}
	if m.N, err = strconv.Atoi(fields[1]); err != nil {
		return Measurement{}, fmt.Errorf("count %q is no integer", fields[1])
	}
	m.Values = slices.Grow(m.Values, (len(fields)-2)/2)
	var bounds []Value
	for i := 2; i < len(fields); i += 2 {
		v, err := parseNumber(fields[i], fields[i+1])
		if err != nil {
			return Measurement{}, err
		}
		if isEnd(v.Unit) {
			bounds = append(bounds, v)
			continue
		}
		m.Values = append(m.Values, v)
	}
	if err := m.attach(bounds); err != nil {
		return Measurement{}, err
	}
	return m, nil
}

// attach makes intervals of the values whose units say low and high.
func (m *Measurement) attach(bounds []Value) error {
	for i := 0; i < len(m.Values) && len(bounds) > 0; i++ {
		v := &m.Values[i]
		lower, upper := Ends(v.Unit)
		l := slices.IndexFunc(bounds, func(b Value) bool { return b.Unit == lower })
		h := slices.IndexFunc(bounds, func(b Value) bool { return b.Unit == upper })
		if l < 0 || h < 0 {
			continue
		}
		v.Bounded, v.Low, v.High = true, bounds[l].Number, bounds[h].Number
		bounds = slices.DeleteFunc(bounds, func(b Value) bool { return b.Unit == lower || b.Unit == upper })
	}
	if len(bounds) > 0 {
		return fmt.Errorf("%q is half an interval: its line lacks the value or the other end", bounds[0].Unit)
	}
	return nil
}

func parseLabel(label string) (Measurement, error) {
	parts := strings.Split(label, "/")
	m := Measurement{Name: parts[0], Keys: slices.Grow([]Key(nil), len(parts)-1)}
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return Measurement{}, fmt.Errorf("%q in the name is no key=value", part)
		}
		value, err := unescape(value)
		if err != nil {
			return Measurement{}, err
		}
		m.Keys = append(m.Keys, Key{name, value})
	}
	return m, nil
}

// check says why the format cannot hold m.
func (m Measurement) check() error {
	if !isName(m.Name, unicode.IsUpper) || strings.ContainsAny(m.Name, "-_") {
		return fmt.Errorf("name %q is not an upper-case letter followed by letters and digits", m.Name)
	}
	if m.N < 1 {
		return fmt.Errorf("count %d is less than 1", m.N)
	}
	if len(m.Values) == 0 {
		return fmt.Errorf("no value")
	}
	if strings.ContainsAny(m.Note, "\r\n") || m.Note != strings.TrimSpace(m.Note) {
		return fmt.Errorf("note %q has a line break or outer white space", m.Note)
	}
	for i, k := range m.Keys {
		switch {
		case !isName(k.Name, unicode.IsLower):
			return fmt.Errorf("key %q is not a lower-case letter followed by letters, digits, '-' or '_'", k.Name)
		case k.Value == "":
			return fmt.Errorf("key %q has no value", k.Name)
		case slices.ContainsFunc(m.Keys[:i], func(o Key) bool { return o.Name == k.Name }):
			return fmt.Errorf("key %q occurs twice", k.Name)
		}
	}
	for i, v := range m.Values {
		if err := v.check(); err != nil {
			return err
		}
		if slices.ContainsFunc(m.Values[:i], func(o Value) bool { return o.Unit == v.Unit }) {
			return fmt.Errorf("unit %q occurs twice", v.Unit)
		}
	}
	for i, u := range m.Undefined {
		_, has := m.Value(u.Unit)
		if err := checkUnit(u.Unit); err != nil {
			return err
		}
		switch {
		case has || slices.ContainsFunc(m.Undefined[:i], func(o Undefined) bool { return o.Unit == u.Unit }):
			return fmt.Errorf("unit %q occurs twice", u.Unit)
		case u.Why == "" || strings.ContainsAny(u.Why, "\r\n") || u.Why != strings.TrimSpace(u.Why):
			return fmt.Errorf("%q is not defined because of %q, which is empty or has a line break or outer white space", u.Unit, u.Why)
		}
	}
	return nil
}

func checkUnit(unit string) error {
	if unit == "" || strings.ContainsFunc(unit, func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return fmt.Errorf("unit %q is empty or holds white space", unit)
	}
	if isEnd(unit) {
		return fmt.Errorf("unit %q is kept for the ends of intervals", unit)
	}
	return nil
}

func (v Value) check() error {
	if err := checkUnit(v.Unit); err != nil {
		return err
	}
	if v.Decimals < 0 || v.Decimals > maxDecimals {
		return fmt.Errorf("%s with %d decimals: known range 0 to %d", v.Unit, v.Decimals, maxDecimals)
	}
	for _, x := range []float64{v.Number, v.Low, v.High} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v %s is not finite: leave out what was not measured", x, v.Unit)
		}
	}
	if v.Bounded && v.Low > v.High {
		return fmt.Errorf("interval of %s runs backwards, from %v to %v", v.Unit, v.Low, v.High)
	}
	return nil
}

func isName(s string, first func(rune) bool) bool {
	for i, r := range s {
		switch {
		case r >= utf8.RuneSelf || i == 0 && !first(r):
			return false
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-':
			return false
		}
	}
	return s != ""
}

// side is one end of an interval.
type side string

const (
	low  side = "-low"
	high side = "-high"
)

// bound returns the unit of one end of an interval: accuracy-% and low give accuracy-low-%, usd/query gives
// usd-low/query. The marker goes before the percent sign and the slash, which benchmark tools give a meaning.
func bound(unit string, s side) string {
	stem, tail := splitUnit(unit)
	return stem + string(s) + tail
}

// Ends returns the units of the two ends of an interval.
func Ends(unit string) (lower, upper string) { return bound(unit, low), bound(unit, high) }

// isEnd says whether a unit is that of one end of an interval.
func isEnd(unit string) bool {
	stem, _ := splitUnit(unit)
	return strings.HasSuffix(stem, string(low)) || strings.HasSuffix(stem, string(high))
}

func splitUnit(unit string) (stem, tail string) {
	if i := strings.IndexByte(unit, '/'); i >= 0 {
		return unit[:i], unit[i:]
	}
	if stem, ok := strings.CutSuffix(unit, "-%"); ok {
		return stem, "-%"
	}
	return unit, ""
}

// maxDecimals is what a float64 near 1 can hold.
const maxDecimals = 15

func parseNumber(text, unit string) (Value, error) {
	if strings.Trim(text, "0123456789.+-eE") != "" {
		return Value{}, fmt.Errorf("%q is no decimal number", text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Value{}, fmt.Errorf("%q is no number of ordinary size", text)
	}
	v := Value{Number: x, Unit: unit}
	v.Decimals = decimals(text)
	return v, nil
}

// decimals is how many decimals a number was written with: 2 of 0.50, 6 of 1.5e-5.
func decimals(text string) int {
	text = strings.ToLower(text)
	mantissa, exponent, has := strings.Cut(text, "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	power := 0
	if has {
		if p, err := strconv.Atoi(exponent); err == nil { // and not beyond any number
			power = p
		}
	}
	return min(max(0, len(fraction)-power), maxDecimals)
}

func writeNumber(b *bytes.Buffer, x float64, decimals int, unit string) {
	b.WriteString(" " + Format(x, decimals) + " " + unit)
}

// Format writes x in the shortest decimal form that reads back as x, with zeros up to the given decimals.
func Format(x float64, decimals int) string {
	text := strconv.FormatFloat(x+0, 'f', -1, 64) // + 0 turns -0 into 0
	if decimals > 0 {
		_, fraction, ok := strings.Cut(text, ".")
		if !ok {
			text += "."
		}
		text += strings.Repeat("0", max(0, decimals-len(fraction)))
	}
	return text
}
