// Package memory is what fits remember of texts, trainings and regressions, within bounds. What it returns is what reading, training and
// fitting again would, so it decides no number.
package memory

import (
	"sync"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/stages"
)

const (
	texts  = 128 << 20 // bytes: about 70,000 texts of 800 characters
	staged = 64 << 20  // bytes
	fits   = 1000      // a regression has about a hundred kilobytes, a bag of embeddings a megabyte, both more with more features
)

// Memory is what fits have read and what they came to. It is safe for concurrent use.
type Memory struct {
	Texts  *features.Texts
	Stages *stages.Memory
	Fits   *predict.Fits
}

// New returns an empty memory.
func New() Memory {
	return Memory{features.NewTexts(texts), stages.NewMemory(staged), predict.NewFits(fits)}
}

func (m Memory) full() bool { return m.Texts.Full() || m.Stages.Full() || m.Fits.Full() }

// Lasting is a memory of experiments that a process carries out one after another: most have problems in common. A nil *Lasting does not
// last.
type Lasting struct {
	mu  sync.Mutex
	now Memory
}

// Now returns the memory, which begins anew if something had no room in it.
func (l *Lasting) Now() Memory {
	if l == nil {
		return New()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.Texts == nil || l.now.full() {
		l.now = New()
	}
	return l.now
}
