// Changes to a spec that a command line asks for, and how measurements name them.

package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// Changes are made to a spec as it is read. The zero value changes nothing.
type Changes struct {
	Rows  []string // ids of the rows that are kept, with those that they are matched to; nil: all
	Limit int      // at most so many problems of each test benchmark, and of each in the large set; 0: no limit
	Set   []string // knobs: path=value in YAML, as in grpo.steps=30
}

// Any says whether anything is changed.
func (c Changes) Any() bool { return c.Rows != nil || c.Limit != 0 || len(c.Set) > 0 }

// Flags are the changes as a command line has them.
func (c Changes) Flags() []string {
	var out []string
	if c.Rows != nil {
		out = append(out, "--rows "+strings.Join(c.Rows, ","))
	}
	if c.Limit != 0 {
		out = append(out, fmt.Sprintf("--limit %d", c.Limit))
	}
	for _, s := range c.Set {
		out = append(out, "--set "+s)
	}
	return out
}

// ParseChanges reads what Flags writes. The error names the flag that is none of a change.
func ParseChanges(flags []string) (c Changes, err error) {
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, " ")
		switch {
		case value == "":
			err = fmt.Errorf("%q: want a flag and its value", flag)
		case name == "--rows":
			c.Rows = strings.Split(value, ",")
		case name == "--limit":
			if c.Limit, err = strconv.Atoi(value); err != nil {
				err = fmt.Errorf("%q: want a whole number", flag)
			}
		case name == "--set":
			c.Set = append(c.Set, value)
		default:
			err = fmt.Errorf("%q: %s", flag, unknown("change", name, []string{"--rows", "--limit", "--set"}))
		}
		if err != nil {
			return Changes{}, err
		}
	}
	return c, nil
}
