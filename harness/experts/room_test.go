// Tests that prompts without room at a server are found before they are sent.

package experts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestPromptsWithoutRoomAreFoundBeforeTheyAreSent(t *testing.T) {
	shortest, longest := Planned{"small", "ab"}, Planned{"great", strings.Repeat("x", 400)}
	byLetter := func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Messages []Message }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/tokenize" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		fmt.Fprintf(w, `{"count":%d,"max_model_len":1,"tokens":[]}`, len(q.Messages[0].Content))
	}
	for name, c := range map[string]struct {
		room     string // what the server says of it
		tokenize func(http.ResponseWriter, *http.Request)
		refused  string
		warned   string
	}{
		"all fit":                       {room: `,"max_model_len":500`, tokenize: byLetter},
		"one token short":               {room: `,"max_model_len":499`, tokenize: byLetter, warned: `^expert e: the prompt of problem great has 400 tokens, for which http\S+/v1 has no room: .* --max-model-len than 499, or lower max_tokens of the expert, 100, in the pool file$`},
		"not even the shortest":         {room: `,"max_model_len":101`, tokenize: byLetter, refused: `^expert e: http\S+/v1 has room for 101 tokens, and the shortest prompt, of problem small, takes 2: every request would be refused; start it with a larger --max-model-len than 101, or lower max_tokens`},
		"guessed to fit":                {room: `,"max_model_len":200`, tokenize: say(404, `{"detail":"Not Found"}`)},
		"guessed not to fit":            {room: `,"max_model_len":199`, tokenize: say(404, ""), warned: `problem great has, guessed at four bytes a token, 100 tokens`},
		"guesses refuse nothing":        {room: `,"max_model_len":101`, tokenize: say(200, `{"tokens":[1,2]}`), warned: `guessed`},
		"a server that does not say it": {tokenize: func(http.ResponseWriter, *http.Request) { t.Error("it is asked") }},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := scripted(t, HTTPOptions{}, say(200, `{"data":[{"id":"m"`+c.room+`}]}`), say(404, ""), c.tokenize)
			if err := h.Preflight(t.Context(), time.Minute); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			h.o.Log = slog.New(slog.NewJSONHandler(&log, nil))
			err := h.Room(t.Context(), "e", shortest, longest)
			if c.refused == "" && err != nil || c.refused != "" && (!errors.Is(err, ErrMisconfigured) || !regexp.MustCompile(c.refused).MatchString(err.Error())) {
				t.Errorf("error %v", err)
			}
			var said struct{ Msg string }
			if log.Len() > 0 {
				if err := json.Unmarshal(log.Bytes(), &said); err != nil {
					t.Fatal(err)
				}
			}
			if (c.warned == "") != (said.Msg == "") || !regexp.MustCompile(c.warned).MatchString(said.Msg) {
				t.Errorf("warned %q", said.Msg)
			}
		})
	}
}
