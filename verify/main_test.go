// How often the tests collect garbage.
package verify

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // little is in use
	os.Exit(m.Run())
}
