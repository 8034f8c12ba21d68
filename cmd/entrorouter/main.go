// Command entrorouter reproduces the tables and figures of the EntroRouter paper.
//
// Exit codes: 0 done, 1 failed, 2 usage or invalid spec, 3 regression or mismatch, 4 incomplete, 130 interrupted; of
// verify on one pair: 0 equal, 1 different, 3 unknown, 2 anything wrong.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func main() {
	collectSeldom()
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: what the script tests call.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if what := recover(); what != nil {
			crash.Report(stderr, what)
			code = exitFailed
		}
	}()
	ctx, cut, stop := listen()
	defer stop()
	out := &output{Writer: stdout}
	app := &cli.App{
		Name:            "entrorouter",
		Usage:           "reproduce the tables and figures of the EntroRouter paper",
		Version:         built(),
		Reader:          stdin,
		Writer:          out,
		ErrWriter:       stderr,
		HideHelpCommand: true,
		Commands:        commands(),
		Metadata:        map[string]any{cutKey: cut},
		OnUsageError: func(*cli.Context, error, bool) error {
			return usageError{fmt.Errorf("there is no flag %s before the command; 'entrorouter --help' shows what there is", args[1])}
		},
		CommandNotFound: func(*cli.Context, string) {},
		ExitErrHandler:  func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				got, near := c.Args().First(), ""
				var names []string
				for _, of := range c.App.Commands {
					names = append(names, of.Name)
				}
				if name := spec.Nearest(got, names); name != "" {
					near = fmt.Sprintf(" did you mean %q?", name)
				}
				return usageError{fmt.Errorf("unknown command %q;%s 'entrorouter --help' lists them", got, near)}
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		c.HideHelpCommand = len(c.Subcommands) == 0 // "init h" is of a folder h
		c.OnUsageError = func(c *cli.Context, err error, _ bool) error {
			// The flag package writes flags with one hyphen.
			text := strings.NewReplacer(" for flag -", " for flag --", " for -", " for flag --", ": parse error", "").Replace(err.Error())
			return usageError{fmt.Errorf("%s; %s'entrorouter %s --help' says what it takes", text, wanted(c.Command.Flags, text), c.Command.Name)}
		}
	}
	if len(args) > 2 && (args[1] == "--help" || args[1] == "-h") { // of a command, or of one that there is not
		args[1] = "help"
	}
	if len(args) > 1 && args[1] == "help" { // the library's own would read "run help" as help, and not as a spec of that name
		args = append(append(args[:1:1], args[2:]...), "--help")
	}
	args, err := flagsFirst(app.Commands, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	if err == nil {
		err = out.failed
	}
	return exitCode(ctx, err, stderr)
}

// wanted says what the flag takes that a mistake names; empty: text, which is never wrong.
func wanted(flags []cli.Flag, mistake string) string {
	for _, f := range flags {
		if !strings.HasSuffix(mistake, " for flag --"+f.Names()[0]) {
			continue
		}
		switch f.(type) {
		case *cli.IntFlag, *cli.Int64Flag, *cli.Uint64Flag:
			return "want a whole number, as in --" + f.Names()[0] + " 3; "
		case *cli.Float64Flag:
			return "want a number, as in --" + f.Names()[0] + " 1.5; "
		case *cli.DurationFlag:
			return "want a time, as in --" + f.Names()[0] + " 7h30m; "
		case *cli.BoolFlag:
			return "want nothing, or =false; "
		}
	}
	return ""
}

// listen hears of Ctrl-C, of being told to end and of a terminal that is closed. The first time ctx ends: nothing new is begun,
// and what was asked for may be answered. The second time cut is closed: nothing is waited for. The third time the program
// is killed.
func listen() (ctx context.Context, cut <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	now, heard, done := make(chan struct{}), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // whoever reads our output and goes must not end what is paid for: the write fails instead
	go func() {
		defer crash.Exit()
		defer signal.Stop(heard)
		for _, act := range []func(){cancel, func() { close(now) }} {
			select {
			case <-heard:
				act()
			case <-done:
				return
			}
		}
	}()
	return ctx, now, sync.OnceFunc(func() { cancel(); close(done) })
}

func commands() []*cli.Command {
	return []*cli.Command{
		tryCommand(), initCommand(), runCommand(), renderCommand(), reportCommand(), showCommand(), checkCommand(), claimsCommand(), planCommand(), explainCommand(), listCommand(), schemaCommand(), completionCommand(), routeCommand(),
		serveCommand(), calibrateCommand(), ensembleCommand(), gpuCheckCommand(), verifyCommand(), modelCommand(), exportCommand(), batchCommand(), fetchCommand(), importCommand(), statusCommand(), fsckCommand(),
	}
}

// flagsFirst moves the flags of a command before its arguments, where the library looks for them, so that
// "run recorded --data DIR" means what it says. What follows "--" is left alone. A flag that a command does not have is
// an error that names the one that may have been meant, or lists those it has.
func flagsFirst(commands []*cli.Command, args []string) ([]string, error) {
	if len(args) < 3 {
		return args, nil
	}
	i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[1]) })
	if i < 0 {
		return args, nil
	}
	takesValue := map[string]bool{}
	var known []string
	for _, f := range commands[i].Flags {
		_, boolean := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			takesValue[name] = !boolean
		}
		known = append(known, "--"+f.Names()[0])
	}
	flags, rest := slices.Clone(args[:2]), []string{}
	for a := args[2:]; len(a) > 0; a = a[1:] {
		name, _, joined := strings.Cut(strings.TrimLeft(a[0], "-"), "=")
		value, ok := takesValue[name]
		switch {
		case a[0] == "--":
			return slices.Concat(flags, a[:1], rest, a[1:]), nil
		case a[0] == "-" || !strings.HasPrefix(a[0], "-"):
			rest = append(rest, a[0])
		case name == "help" || name == "h": // before arguments, which the library takes for topics
			return append(args[:2:2], a[0]), nil
		case !ok:
			return nil, unknownFlag(commands[i].Name, name, known)
		case !value || joined:
			flags = append(flags, a[0])
		case len(a) == 1 || a[1] == "--":
			return nil, usageError{fmt.Errorf("flag %s needs a value", a[0])}
		default:
			flags = append(flags, a[0], a[1])
			a = a[1:]
		}
	}
	return append(flags, rest...), nil
}

func unknownFlag(command, name string, known []string) error {
	if known == nil {
		return usageError{fmt.Errorf("%s has no flag --%s", command, name)}
	}
	if near := spec.Nearest("--"+name, known); near != "" {
		return usageError{fmt.Errorf("%s has no flag --%s; did you mean %s? 'entrorouter %s --help' describes all", command, name, near, command)}
	}
	return usageError{fmt.Errorf("%s has no flag --%s; it has %s; 'entrorouter %s --help' describes them", command, name, strings.Join(known, ", "), command)}
}
