package lines

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatIsWrongWithJSONIsSaidOfTheJSON(t *testing.T) {
	for text, want := range map[string]string{
		``:                       "it ends within its JSON",
		`{"id": "a`:              "it ends within its JSON",
		`{"id": nil}`:            "it is no JSON from byte 9 on",
		`PDF`:                    "it is no JSON from byte 1 on",
		`[]`:                     "it is of type array; want an object",
		`{"id": 3}`:              "id is of type number; want a text",
		`{"n": "a"}`:             "n is of type string; want a number",
		`{"on": {}}`:             "on is of type object; want true or false",
		`{"all": true}`:          "all is of type bool; want a list",
		`{"n": 1.5}`:             "n is 1.5; want a whole number of at most 18 digits",
		`{"id": "a", "x": true}`: `unknown field "x"`,
	} {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		var into struct {
			ID  string `json:"id"`
			N   int    `json:"n"`
			On  bool   `json:"on"`
			All []int  `json:"all"`
		}
		if err := d.Decode(&into); err == nil || Worded(err).Error() != want {
			t.Errorf("%s: %v, want %q", text, Worded(err), want)
		}
		if want[:2] != "it" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &into); err == nil || Worded(err).Error() != want {
			t.Errorf("%s: %v, want %q", text, Worded(err), want)
		}
	}
}
