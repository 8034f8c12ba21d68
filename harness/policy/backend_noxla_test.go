//go:build !xla

package policy

import "testing"

func TestABuildWithoutXLASaysHowToGetIt(t *testing.T) {
	const want = `open backend "xla": this program is built without XLA; build it with -tags xla (make build-xla) and install a PJRT plugin, for CUDA by pip install jax-cuda13-pjrt`
	if _, err := OpenBackend("xla"); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
