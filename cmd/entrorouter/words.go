// Lists and numbers as sentences have them.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// some lists the first of a list.
func some(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// firsts are the first n of a list, and how many are left.
func firsts(all []string, n int) []string {
	if len(all) <= n+1 {
		return all
	}
	return append(all[:n:n], fmt.Sprintf("and %d more", len(all)-n))
}

// orList lists what somebody may choose from.
func orList(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// counted is a phrase with a number in it.
func counted(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// namesAtMost is how many experiments or rows a line of the summary names.
const namesAtMost = 12
