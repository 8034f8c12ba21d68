// The tests run at less cost.
package book

import (
	"os"
	"testing"

	"github.com/entrorouter/entrorouter/harness/testmain"
)

func TestMain(m *testing.M) { os.Exit(testmain.Cheap{M: m}.Run()) }
