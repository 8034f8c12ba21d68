// What names, checksums and lists of a spec must be like.

package spec

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// plainName is a name that is also part of file names and measurement keys, in the letters of any language.
var (
	plainName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$`)
	notPlain  = regexp.MustCompile(`[^\p{L}\p{M}\p{N}._-]+`)
)

// PlainName says whether a text can be a name as it is.
func PlainName(text string) bool { return plainName.MatchString(text) }

// Plain makes a name of a text: of what none may have a dash is left. It is empty if nothing else is.
func Plain(text string) string {
	name := strings.TrimRight(notPlain.ReplaceAllString(text, "-"), "-._")
	return strings.TrimLeftFunc(name, func(r rune) bool { return strings.ContainsRune("-._", r) || unicode.IsMark(r) })
}

const nameRule = "use letters, digits, dots, dashes and underscores"

// distinct reports values that a list holds twice.
func distinct[T comparable](d *decoder, knob string, values []T) {
	seen := map[T]bool{}
	for i, v := range values {
		if seen[v] {
			d.faultAt(fmt.Sprintf("%s[%d]", knob, i), "%v is in the list twice", v)
		}
		seen[v] = true
	}
}

// checkID reports an id that is no name, or that one before it in the list has; ids are those so far.
func checkID(d *decoder, knob, id string, ids map[string]bool) {
	switch {
	case id == "":
	case !plainName.MatchString(id):
		d.faultAt(knob, "%q is not an id; %s", id, nameRule)
	case ids[id]:
		d.faultAt(knob, "the id %q is already taken", id)
	}
	ids[id] = true
}

// environment is the name of an environment variable.
var environment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkKey reports what is not the name of an environment variable; empty: none is named.
func checkKey(d *decoder, knob, name string) {
	if name != "" && !environment.MatchString(name) {
		d.faultAt(knob, "want the name of an environment variable that holds the key, not the key itself")
	}
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)
