// Lm-accept says which promises about language models hold here, a line each: pass, fail, or not run with the reason, and
// the command behind it. It is started in the root of the repository and needs Go and a shell; what a promise needs beside
// them is looked for. Exit code 1 if one fails, 2 for arguments, of which it takes none.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

func main() {
	if code, end := answer(os.Args[1:], os.Stdout, os.Stderr); end {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if !carryOut(ctx, os.Stdout, os.Stderr, promises) {
		os.Exit(1)
	}
}

const usage = `usage: lm-accept

Says which promises about language models hold here, a line each: pass, fail, or not run with the reason, and the command
behind it. Started in the root of the repository, it takes no arguments, and half an hour where everything is there.
Exit code 1 if a promise fails.
`

// answer answers arguments; without any there is nothing to answer.
func answer(args []string, out, log io.Writer) (code int, end bool) {
	switch {
	case len(args) == 0:
		return 0, false
	case args[0] == "--help" || args[0] == "-h":
		fmt.Fprint(out, usage)
		return 0, true
	}
	fmt.Fprintf(log, "lm-accept: takes no arguments, got %q; 'go run ./cmd/lm-accept --help' says what it does\n", args[0])
	return 2, true
}

// limit is for one check.
const limit = 30 * time.Minute

// carryOut prints a line for each promise, and to log the end of what a failed check printed. It reports whether none failed.
func carryOut(ctx context.Context, out, log io.Writer, promises []promise) bool {
	holds := true
	for _, p := range promises {
		start := time.Now()
		result, printed := carryOutOne(ctx, p)
		if ctx.Err() != nil {
			return false
		}
		fmt.Fprintf(out, "%s: %s [%s] $ %s\n", result, p.words, time.Since(start).Round(time.Second/10), p.shown.command)
		if result == fail {
			holds = false
			lines := strings.SplitAfter(printed, "\n")
			fmt.Fprint(log, strings.Join(lines[max(0, len(lines)-30):], ""))
		}
	}
	return holds
}

const (
	pass   = "pass"
	fail   = "fail"
	notRun = "not run"
)

func carryOutOne(ctx context.Context, p promise) (result, printed string) {
	for _, n := range p.needs {
		if _, err := shell(ctx, n.there); err != nil {
			return notRun + ": " + n.reason, ""
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	printed, err := shell(ctx, p.shown.command)
	if err != nil {
		return fail, fmt.Sprintf("%s%v\n", printed, err)
	}
	return verdict(printed, p.shown.tests)
}

func shell(ctx context.Context, command string) (string, error) {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}

// skipped finds tests that were not carried out, and why.
var skipped = regexp.MustCompile(`(?m)^ +\S+_test\.go:\d+: (.*)\n--- SKIP: (\w+)`)

// verdict reads what tests printed that did not fail. A test that skipped itself shows nothing, and neither does one that is not there.
func verdict(printed string, tests []string) (result, why string) {
	skips := map[string]string{}
	for _, m := range skipped.FindAllStringSubmatch(printed, -1) {
		skips[m[2]] = m[1]
	}
	for _, name := range tests {
		if reason, ok := skips[name]; ok {
			return notRun + ": " + reason, ""
		}
		if !strings.Contains(printed, "--- PASS: "+name+" ") {
			return fail, printed + "there is no test " + name + "\n"
		}
	}
	return pass, ""
}
