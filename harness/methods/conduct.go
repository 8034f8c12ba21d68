// How the trainings of a fit are carried out.

package methods

import (
	"time"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// betweenLines is how often a long training says in the log how it proceeds.
const betweenLines = 30 * time.Second

// conductOf keeps the trainings of language models as they go; the compact network is trained again in less time than a
// file takes.
func conductOf(p spec.Policy, work routing.Work) train.Conduct {
	c := train.Conduct{Micro: p.MicroBatch}
	if p.Kind == "compact" {
		return c
	}
	if work.Every > 0 {
		c.Dir, c.Every = work.Unfinished, work.Every
	}
	last := time.Now()
	c.Tell = func(far train.Progress) {
		if work.Say != nil {
			work.Say(far.String())
		}
		if time.Since(last) > betweenLines {
			last = time.Now()
			work.Log.Info("training", "progress", far.String())
		}
	}
	return c
}
