//go:build unix

// What the three programs are given is the same each time.

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

func TestSumsAreThoseOfBenchmarksYAML(t *testing.T) {
	text, err := os.ReadFile("benchmarks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(lines())
	if !strings.Contains(string(text), "sha256: "+hex.EncodeToString(digest[:])+",") {
		t.Errorf("the sums have the digest %x, which benchmarks.yaml does not say", digest)
	}
}
