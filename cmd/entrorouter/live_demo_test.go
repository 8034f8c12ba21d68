// What make live-demo does with its folder: two at a time are refused, and the second removes nothing. A stand-in serves.

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// serveDemo is tools/live/serve.py in a folder, with a command that leaves a store there and ends when its input does.
func serveDemo(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := exec.Command(python, filepath.Join(root, "tools", "live", "serve.py"), "no.gguf", fmt.Sprint("smol=", l.Addr().(*net.TCPAddr).Port), "--fresh", "runs", "--",
		"sh", "-c", "mkdir runs && echo $$ >runs/store && echo started && cat")
	c.Dir, c.Env = dir, append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "cmd", "entrorouter", "testdata"), "PYTHONDONTWRITEBYTECODE=1")
	return c
}

func TestOneDemonstrationAtATime(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	start := func() (c *exec.Cmd, store string, end func() error) {
		t.Helper()
		c = serveDemo(t, dir)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		end = func() error { in.Close(); return c.Wait() }
		var said strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			if lines.Text() == "started" {
				store, err := os.ReadFile(filepath.Join(dir, "runs", "store"))
				if err != nil {
					t.Error(err)
				}
				return c, string(store), end
			}
		}
		t.Fatalf("the first did not start: %v, %s", end(), &said)
		return nil, "", nil
	}

	c, first, end := start()
	said, err := serveDemo(t, dir).CombinedOutput()
	if want := fmt.Sprintf("process %d or what it runs works in %s: wait until it ends, or stop it\n", c.Process.Pid, dir); err == nil || string(said) != want {
		t.Errorf("the second said %q (%v), want %q", said, err, want)
	}
	if store, err := os.ReadFile(filepath.Join(dir, "runs", "store")); err != nil || string(store) != first {
		t.Errorf("beside the second the store of the first is %q (%v), and was %q", store, err, first)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	_, again, end := start()
	if again == first {
		t.Error("what the first left was not removed by the one after it")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}
