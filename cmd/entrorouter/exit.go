// How a command ends: exit codes, and the sentence and the code that belong to an error.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMismatch    = 3
	exitIncomplete  = 4
	exitInterrupted = 130
)

// exitStatus ends the program with a code that says it all, without a message.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// usageError is a mistake on the command line.
type usageError struct{ error }

// exitCode prints an error as one sentence and returns the exit code that belongs to it.
func exitCode(ctx context.Context, err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	var (
		usage  usageError
		faults spec.Faults
		status exitStatus
	)
	switch {
	case errors.As(err, &status):
		return int(status)
	case readerGone(err):
		return exitFailed
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "entrorouter: interrupted; what was finished is kept, run the same command again to go on")
		return exitInterrupted
	case errors.As(err, &faults):
		for _, f := range faults {
			complain(stderr, f)
		}
		return exitUsage
	case errors.As(err, &usage), errors.Is(err, harness.ErrUsage):
		complain(stderr, err)
		return exitUsage
	case errors.Is(err, harness.ErrIncomplete):
		complain(stderr, err)
		return exitIncomplete
	}
	complain(stderr, err)
	return exitFailed
}

// complain prints what is wrong as a line that commands no terminal: names and texts of others are in it.
func complain(stderr io.Writer, what any) {
	io.WriteString(stderr, harmless(fmt.Sprintln("entrorouter:", what)))
}

// readerGone says whether nobody reads standard output any more, as after '| head', who needs no telling.
func readerGone(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && failed.Path == os.Stdout.Name() && errors.Is(failed, syscall.EPIPE)
}
