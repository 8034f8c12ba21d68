// The templates of pages, and what keeps a page from running what others wrote.

package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
	"sync"
	"unicode"
)

//go:embed page.gohtml page.css page.js served.gohtml
var files embed.FS

// Templates are read when a page is made: most commands make none.
var (
	pageTemplate   = sync.OnceValue(func() *template.Template { return parse("page.gohtml") })
	besideTemplate = sync.OnceValue(func() *template.Template { return parse("served.gohtml") })
)

func parse(name string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"slug": slug, "formulas": formulas}).ParseFS(files, name))
}

// slug makes an id of a name.
func slug(name string) string { return strings.Join(strings.Fields(name), "-") }

// policy is the content security policy of a page with a style and a script; empty: it has none.
func policy(style, script string) string {
	scripts := "'none'"
	if script != "" {
		scripts = "'" + hash([]byte(script)) + "'"
	}
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src %s; img-src data:; base-uri 'none'; form-action 'none'", hash([]byte(style)), scripts)
}

// hash is how a content security policy names a text.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Harmless replaces what would change the order of the text around it, could command a terminal or has no place in a page: texts of
// servers and data may hold it.
func Harmless(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
		return unicode.ReplacementChar
	}
	return r
}
