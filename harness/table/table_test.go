package table

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type row struct {
	name string
	n    int64
	x    float64
}

var columns = []Column[row]{
	Text("name", func(r *row) *string { return &r.name }),
	Int("n", func(r *row) *int64 { return &r.n }),
	Float("x", 3, func(r *row) *float64 { return &r.x }),
}

func written(t interface{ Fatal(...any) }, rows []row) []byte {
	var text bytes.Buffer
	w := NewWriter(&text, columns)
	for _, r := range rows {
		w.Write(r)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.Custom(func(t *rapid.T) row {
			return row{strings.ReplaceAll(rapid.String().Draw(t, "name"), "\r", ""), rapid.Int64().Draw(t, "n"), math.Round(rapid.Float64Range(-1e6, 1e6).Draw(t, "x")*1000)/1000 + 0}
		})).Draw(t, "rows")
		var got []row
		err := Read("f", bytes.NewReader(written(t, rows)), columns, func(r row) error {
			got = append(got, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got, cmp.AllowUnexported(row{}), cmp.Transformer("empty", func(r []row) []row { return append([]row{}, r...) })); diff != "" {
			t.Error(diff)
		}
	})
}

func TestATableIsPlainCSV(t *testing.T) {
	if got, want := string(written(t, []row{{"a,b", -1, 0.5}})), "name,n,x\n\"a,b\",-1,0.500\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFaultsAreSaidWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "f: empty",
		"name,x,n\n":                 `f:1: columns ["name" "x" "n"], want ["name" "n" "x"]`,
		"name,n,x\na,1,2\nb,1.5,2\n": `f:3: n: "1.5" is no number`,
		"name,n,x\na,1,z\n":          `f:2: x: "z" is no number`,
		"name,n,x\na,1\n":            "f: record on line 2: wrong number of fields",
		"name,n,x\nno,1,2\n":         "f:2: refused",
	} {
		err := Read("f", strings.NewReader(text), columns, func(r row) error {
			if r.name == "no" {
				return errors.New("refused")
			}
			return nil
		})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAMeasuredNumberNeedNotBeDefined(t *testing.T) {
	list := []Column[row]{Int("n", func(r *row) *int64 { return &r.n }), Measured("x", 2, func(r *row) *float64 { return &r.x })}
	var text bytes.Buffer
	w := NewWriter(&text, list)
	for _, x := range []float64{1.234, math.NaN(), -0.001, -0.2} {
		w.Write(row{x: x})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "n,x\n0,1.23\n0,\n0,0.00\n0,-0.20\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
	var got []float64
	if err := Read("f", &text, list, func(r row) error { got = append(got, r.x); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || !math.IsNaN(got[1]) || got[0] != 1.23 || got[3] != -0.2 {
		t.Errorf("read %v", got)
	}
}
