// What is wrong with JSON, in words of whoever wrote it.

package lines

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Worded is an error of package json that names what the JSON has, and no type of this program.
func Worded(err error) error {
	var broken *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken) && strings.HasPrefix(broken.Error(), "unexpected end"):
		return errors.New("it ends within its JSON")
	case broken != nil:
		return fmt.Errorf("it is no JSON from byte %d on", broken.Offset)
	case !errors.As(err, &wrong):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	name := cmp.Or(wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], "it") // what stands before may be a type
	number, ok := strings.CutPrefix(wrong.Value, "number ")
	switch {
	case ok && wrong.Type.Kind() == reflect.Float64:
		return fmt.Errorf("%s is %s, which is too large", name, number)
	case ok:
		return fmt.Errorf("%s is %s; want a whole number of at most 18 digits", name, number)
	}
	said := fmt.Sprintf("%s is of type %s", name, wrong.Value)
	if what, ok := wanted[wrong.Type.Kind()]; ok {
		said += "; want " + what
	}
	return errors.New(said)
}

// wanted is what JSON calls types of this program.
var wanted = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object",
	reflect.Int: "a number", reflect.Int64: "a number", reflect.Float64: "a number",
}
