// The tests run at less cost.
package stages

import (
	"os"
	"testing"

	"github.com/entrorouter/entrorouter/harness/testmain"
)

func TestMain(m *testing.M) { os.Exit(testmain.Cheap{M: m}.Run()) }
