package experts

// The members of a pool, and the pool files that the tests of this package read.

import (
	"bytes"
	"os"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const priceFile = "../../experiments/prices/paper-novita.yaml"

// load reads a pool and its members, the probe last.
func load(t testing.TB, poolFile, priceFile string) (spec.Pool, []routing.Expert) {
	t.Helper()
	var pool spec.Pool
	var prices spec.Prices
	readYAML(t, poolFile, &pool)
	readYAML(t, priceFile, &prices)
	experts, probe, err := routing.Members(pool, prices)
	if err != nil {
		t.Fatal(err)
	}
	if probe != nil {
		experts = append(experts, *probe)
	}
	return pool, experts
}

func readYAML(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
