// The command serve: puts simulated experts behind the protocol that clients of vLLM speak, and has them fail by a plan.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/asking"
	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "serve simulated experts by the protocol that vLLM speaks",
		ArgsUsage: "SPEC",
		Description: "The server answers the generated problems of SPEC and no others, with the responses that\n" +
			"'run' gets. In place of SPEC, --pool names a simulated pool, by its name or file, on the problems of\n" +
			"main. docs/serve.md has the protocol and the plans of --faults.",
		Flags: append(storeFlags(), verboseFlag(),
			&cli.StringFlag{Name: "pool", Usage: "serve this pool, in place of a SPEC"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8000", Usage: "address to listen on"},
			&cli.StringFlag{Name: "key-env", Usage: "environment variable with the key that clients must send; without it there is no authentication"},
			&cli.BoolFlag{Name: "reasoning", Usage: "send thinking apart from the text, as a server with a reasoning parser"},
			&cli.StringFlag{Name: "faults", Usage: "YAML file that says which requests fail and how"},
		),
		Action: func(c *cli.Context) error {
			r, err := served(c)
			if err != nil {
				return err
			}
			if err := checkFolder(c.String("out"), "out"); err != nil {
				return err
			}
			how := asking.Serving{Reasoning: c.Bool("reasoning")}
			if name := c.String("key-env"); c.IsSet("key-env") {
				if how.Key = os.Getenv(name); how.Key == "" {
					return usageError{fmt.Errorf("--key-env %s: that environment variable is empty; put the key into it", shellWord(name))}
				}
			}
			var plan fault.Plan
			if c.IsSet("faults") {
				if plan, err = readPlan(c.String("faults")); err != nil {
					return err
				}
			}
			l, err := fault.Listen(c.String("listen"))
			if err != nil {
				return usageError{fmt.Errorf("--listen %s: %w; give an address that is free, as in 127.0.0.1:8001", shellWord(c.String("listen")), err)}
			}
			books := &books{met: make([]int, len(plan))}
			var faulty *fault.Handler // of no fault, if there is no plan: it counts
			how.Wrap = func(h http.Handler) http.Handler {
				faulty = fault.Wrap(h, plan, fault.Options{Listener: l, Served: books.add})
				return faulty
			}
			err = harness.Serve(c.Context, r, options(c), l, how, func(models []string) {
				fmt.Fprintf(c.App.Writer, "listening on http://%s/v1 for models %v\n", l.Addr(), models)
			})
			if err == nil {
				faulty.Close() // what still hangs counts too
				fmt.Fprint(c.App.Writer, books)
			}
			return err
		},
	}
}

// served is the spec whose problems and experts are served.
func served(c *cli.Context) (*spec.Resolved, error) {
	pool := c.String("pool")
	if !c.IsSet("pool") {
		return load(c)
	}
	if c.NArg() > 0 {
		return nil, usageError{errors.New("serve takes a SPEC or --pool, and got both")}
	}
	fsys, name, err := findPool(pool)
	if err != nil {
		return nil, usageError{err}
	}
	// A spec of the pool: laid over the built-in files, like any other.
	dir, err := os.MkdirTemp("", "entrorouter-serve-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	text := fmt.Sprintf("name: served\nbase: main.yaml\ntitle: Served\nlarge: 0\npools: [%q]\nmethods: [{name: random}]\noutputs: [{kind: table}]\n", name)
	if err := os.WriteFile(filepath.Join(dir, "served.yaml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	if fsys, err = spec.Layer(dir, fsys); err != nil {
		return nil, err
	}
	return loadFrom(c, fsys, "served", "served", spec.Changes{})
}

// findPool turns a pool as typed into the files that it is looked up in and its name there.
func findPool(arg string) (fs.FS, string, error) {
	if !strings.HasSuffix(arg, ".yaml") && !strings.ContainsAny(arg, `/`+string(filepath.Separator)) {
		files, err := fs.Glob(experiments.FS, "pools/*.yaml")
		if err != nil {
			return nil, "", err
		}
		var names []string
		for _, f := range files {
			names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
		}
		if !slices.Contains(names, arg) {
			return nil, "", fmt.Errorf("--pool %s: no such pool; built in: %s; or name a pool file", shellWord(arg), strings.Join(names, ", "))
		}
		return experiments.FS, arg, nil
	}
	file, err := filepath.Abs(strings.TrimSuffix(arg, ".yaml") + ".yaml")
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		return nil, "", fmt.Errorf("--pool %s: no such file; name a pool file or a built-in pool", shellWord(arg))
	}
	folder := filepath.Dir(file)
	if filepath.Base(folder) != "pools" {
		return nil, "", fmt.Errorf("--pool %s: the file of a pool lies in a folder called pools, beside prices and specs; put it there", shellWord(arg))
	}
	fsys, err := spec.Layer(filepath.Dir(folder), experiments.FS)
	return fsys, strings.TrimSuffix(filepath.Base(file), ".yaml"), err
}

// readPlan reads the file of a plan.
func readPlan(name string) (fault.Plan, error) {
	file, err := os.Open(name)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, usageError{fmt.Errorf("--faults %s: %w; name a YAML file, docs/serve.md has one", shellWord(name), err)}
	}
	defer file.Close()
	plan, err := fault.Read(file)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %s", name, strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	return plan, nil
}

// books are the server's own count of what clients got.
type books struct {
	mu              sync.Mutex
	requests, whole int // whole: answered, and to the end
	out, sent       int64
	met             []int // requests by the fault that they met
}

func (b *books) add(s fault.Served) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests++
	b.out += s.Out
	b.sent += s.Sent
	if s.Whole && s.Status == http.StatusOK {
		b.whole++
	}
	if s.Fault > 0 {
		b.met[s.Fault-1]++
	}
}

// String says what a client's books can be held against.
func (b *books) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := fmt.Sprintf("%s, %d answered whole; %d tokens written, %d of them sent\n", counted(b.requests, "1 request", "%d requests"), b.whole, b.out, b.sent)
	for i, n := range b.met {
		text += fmt.Sprintf("fault %d: %s\n", i+1, counted(n, "1 request", "%d requests"))
	}
	return text
}
