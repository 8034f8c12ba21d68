// Nodes of YAML: their types, their paths, and what is said of them.

package spec

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

var nodeType = reflect.TypeFor[yaml.Node]()

// parent cuts the last key or index off a path.
func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

func child(path, key string) string {
	if strings.ContainsAny(key, ".[] ") {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// isEmpty reports whether v is a text, list or map without content.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return strings.TrimSpace(v.String()) == ""
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return false
}

// describe names what a node holds, for messages.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "the alias *" + n.Value
	}
	text := n.Value
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "..."
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!str":
		return fmt.Sprintf("the text %q", text)
	}
	return fmt.Sprintf("%q", text)
}

var (
	wholeNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*(_[0-9]{3})*)$`)
	realNumber  = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*(_[0-9]{3})*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)
