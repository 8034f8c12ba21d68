package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLinesAreThoseWithAToken(t *testing.T) {
	const source = "// Package a.\npackage a\n\n/* two\nlines */ var x = 1 // said\n\t\nconst text = `one\n\n// two`\nvar (\n\ty = \"//\"\n)\n"
	if n, err := count([]byte(source)); err != nil || n != 7 {
		t.Errorf("%d lines (%v), want 7: package, x, text on two, and three of y", n, err)
	}
	if _, err := count([]byte("package a\nvar x = \"open\n")); err == nil {
		t.Error("a file that is no Go is counted")
	}
}

func TestPackagesAndTestsAreApart(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	var out strings.Builder
	if err := report(&out, fstest.MapFS{
		"a.go": file("package a\n"), "a_test.go": file("package a\nvar x = 1\n"), "b/b.go": file("package b\n\nvar y = 2\n"),
		"b/testdata/c.go": file("package c\n"), ".git/d.go": file("package d\n"), "_e/e.go": file("package e\n"), "b/b.txt": file("text\n"), "m/go.mod": file("module m\n"), "m/m.go": file("package m\n"),
	}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if want := "code tests package|1 2 .|2 0 b|3 2 total"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
