package spec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Calls that can go in more ways than anybody waits for are refused with the number that can be had.
func TestCallsThatGoTooManyWaysAreRefused(t *testing.T) {
	load := func(experts, horizon int) error {
		var pool, prices, success []string
		for m := range experts {
			pool = append(pool, fmt.Sprintf("{id: e%d, model: e%d, max_tokens: 100, url: \"http://localhost:8000/v1\"}", m, m))
			prices = append(prices, fmt.Sprintf("e%d: {in: 1, out: %d}", m, m+1))
			success = append(success, fmt.Sprintf("e%d: 0.5", m))
		}
		dir := t.TempDir()
		for name, text := range map[string]string{
			"many.yaml":        fmt.Sprintf("name: many\nbase: collapse.yaml\ntitle: Many\npools: [many]\nprices: many\ncollapse: {setting: {horizon: %d}, buckets: [{id: one, label: One, share: 1, self: 0.5, success: {%s}}]}\n", horizon, strings.Join(success, ", ")),
			"pools/many.yaml":  "name: many\nkind: http\nsampling: {temperature: 1, top_p: 1, top_k: 0, prompt: \"{problem}\"}\nexperts: [" + strings.Join(pool, ", ") + "]\n",
			"prices/many.yaml": "date: 2026-01-01\nbasis: assumed\nsource: none\nmodels: {" + strings.Join(prices, ", ") + "}\n",
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		fsys, err := spec.Layer(dir, experiments.FS)
		if err != nil {
			t.Fatal(err)
		}
		_, err = spec.Load(fsys, "many", spec.Known{}, spec.Changes{})
		return err
	}
	for _, fine := range [][2]int{{3, 6}, {5, 6}, {16, 4}} {
		if err := load(fine[0], fine[1]); err != nil {
			t.Errorf("%v: %v", fine, err)
		}
	}
	if err := load(8, 6); err == nil || !strings.Contains(err.Error(), "collapse.setting.horizon: 6 calls among the 8 experts of pool many can go 1.7e+07 ways, all of which are walked for every policy and snapshot; want at most 5") {
		t.Error(err)
	}
}
