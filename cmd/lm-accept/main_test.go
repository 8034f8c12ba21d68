package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/internal/gofiles"
)

func TestALineAPromise(t *testing.T) {
	absent := need{"false", "make it first"}
	for _, c := range []struct {
		promise promise
		line    string // its beginning
		holds   bool
	}{
		{promise{"a", nil, command("true")}, "pass: a [", true},
		{promise{"b", nil, command("echo why; false")}, "fail: b [", false},
		{promise{"c", []need{absent}, command("false")}, "not run: make it first: c [", true},
		{promise{"d", nil, check{"echo '--- PASS: TestA (0.00s)'", []string{"TestA"}}}, "pass: d [", true},
		{promise{"e", nil, check{"echo 'ok pkg [no tests to run]'", []string{"TestA"}}}, "fail: e [", false},
		{promise{"f", nil, check{"echo '--- PASS: TestAAA (0.00s)'", []string{"TestA"}}}, "fail: f [", false},
		{promise{"g", nil, check{"printf '    a_test.go:3: needs data\\n--- SKIP: TestA (0.00s)\\n'", []string{"TestA"}}}, "not run: needs data: g [", true},
	} {
		var out, log bytes.Buffer
		holds := carryOut(t.Context(), &out, &log, []promise{c.promise})
		if holds != c.holds || !strings.HasPrefix(out.String(), c.line) || !strings.HasSuffix(out.String(), "$ "+c.promise.shown.command+"\n") || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%v: %s", holds, out.String())
		}
		if (log.Len() > 0) == holds {
			t.Errorf("%s: the log is %q", out.String(), log.String())
		}
	}
}

func TestArgumentsCarryNothingOut(t *testing.T) {
	for _, c := range []struct {
		args     []string
		code     int
		end      bool
		out, log string // their beginnings
	}{
		{nil, 0, false, "", ""},
		{[]string{"--help"}, 0, true, "usage: lm-accept\n", ""},
		{[]string{"-h"}, 0, true, "usage: lm-accept\n", ""},
		{[]string{"--fast"}, 2, true, "", `lm-accept: takes no arguments, got "--fast"; `},
		{[]string{"all"}, 2, true, "", `lm-accept: takes no arguments, got "all"; `},
	} {
		var out, log bytes.Buffer
		code, end := answer(c.args, &out, &log)
		if code != c.code || end != c.end || !strings.HasPrefix(out.String(), c.out) || !strings.HasPrefix(log.String(), c.log) || (c.out == "") != (out.Len() == 0) || (c.log == "") != (log.Len() == 0) {
			t.Errorf("%q: %d, %v\n%s%s", c.args, code, end, out.String(), log.String())
		}
	}
}

func TestEveryTestOfAPromiseIsThere(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := gofiles.Each(os.DirFS("../.."), func(_ string, source []byte) error {
		for _, m := range declaration.FindAllSubmatch(source, -1) {
			declared[string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range promises {
		for _, name := range p.shown.tests {
			if !declared[name] {
				t.Errorf("%s: there is no test %s", p.words, name)
			}
		}
	}
}
