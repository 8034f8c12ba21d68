// Progress on a terminal.

package main

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// progress follows the rules of the interface: results go to standard output and nothing else does; progress is
// one line on a terminal, and nothing at all where standard error is a pipe or a file.
type progress struct {
	out  io.Writer
	bar  *progressbar.ProgressBar
	what string
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Start implements harness.Progress.
func (p *progress) Start(what string, total int) {
	p.Done()
	p.what = what
	p.bar = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(p.out), progressbar.OptionSetVisibility(isTerminal(p.out)),
		progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(24), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
}

// Add implements harness.Progress.
func (p *progress) Add(n int) {
	if p.bar != nil {
		p.bar.Add(n)
	}
}

// Say implements harness.Progress.
func (p *progress) Say(text string) {
	if p.bar != nil {
		p.bar.Describe(p.what + ": " + text)
		p.bar.RenderBlank() // shows it though no step is done
	}
}

// Done implements harness.Progress.
func (p *progress) Done() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
