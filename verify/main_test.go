// The tests run with less garbage collection.
package verify

import (
	"os"
	"runtime/debug"
	"testing"
)

// What tests have in use is little: ten times as much may lie about, up to a limit.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1000)
		debug.SetMemoryLimit(1200 << 20)
	}
	os.Exit(m.Run())
}
