// The command report with --serve: the page as it is now, whole answers out of the store, and how far a run is.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/page"
	"github.com/entrorouter/entrorouter/harness/store"
)

// statusEvery is how many seconds lie between two readings of the status.
const statusEvery = 5

// serveReport serves until the context ends. It only reads: a run may write to the same folders meanwhile.
func serveReport(c *cli.Context) error {
	if c.IsSet("output") {
		return usageError{errors.New("--serve writes no file; leave --output out")}
	}
	for _, name := range c.Args().Slice() {
		if _, err := loadAny(c, name); err != nil { // now, and not when somebody looks
			return err
		}
	}
	l, err := net.Listen("tcp", c.String("serve"))
	if err != nil {
		return usageError{fmt.Errorf("--serve %s: %w; give an address that is free, as in 127.0.0.1:8080", shellWord(c.String("serve")), err)}
	}
	server := &http.Server{Handler: reportHandler(c, l.Addr()), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(c.Context, func() { server.Close() })()
	if _, err := fmt.Fprintf(c.App.Writer, "the report is at http://%s/, how far a run is at http://%[1]s%s; Ctrl-C ends it\n", l.Addr(), page.StatusPath); err != nil {
		l.Close()
		return err
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// reportHandler answers those who ask by the address itself: a page elsewhere, whose name leads here, is not given private logs.
func reportHandler(c *cli.Context, at net.Addr) http.Handler {
	pages := &servedReport{c: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+page.ReportPath+"{$}", pages.report)
	mux.HandleFunc("GET "+page.StatusPath, pages.status)
	mux.HandleFunc("GET "+page.AnswersPath+"{experiment}/{set}/{question}", pages.answers)
	local := at.(*net.TCPAddr).IP.IsLoopback()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); local && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this server is asked by the address that it listens on", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// servedReport makes pages.
type servedReport struct {
	c *cli.Context

	mu   sync.Mutex
	of   string // the measurements that text is made of
	text []byte
}

// report is the page of the measurements as they are now.
func (s *servedReport) report(w http.ResponseWriter, r *http.Request) {
	text, err := s.now()
	if err != nil {
		s.send(w, http.StatusServiceUnavailable, func(w io.Writer) error {
			return page.WriteStatus(w, fmt.Sprintf("There is no report yet: %v\n\n%s", err, s.howFar(r.Context())), statusEvery)
		})
		return
	}
	s.send(w, http.StatusOK, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// now is the text of the page, which is made anew if the measurements are others. Several who ask wait for it, and not for one
// another's connections.
func (s *servedReport) now() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.measurements()
	if s.text != nil && of == s.of {
		return s.text, nil
	}
	p, err := reportOf(s.c)
	if err != nil {
		return nil, err
	}
	p.Served = true
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return nil, err
	}
	s.of, s.text = of, text.Bytes()
	return s.text, nil
}

// measurements says which measurements there are: other ones are said otherwise.
func (s *servedReport) measurements() string {
	files, _ := measuredIn(s.c.String("figures"))
	var b strings.Builder
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			fmt.Fprintln(&b, f, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// status is what the command status prints.
func (s *servedReport) status(w http.ResponseWriter, r *http.Request) {
	s.send(w, http.StatusOK, func(w io.Writer) error { return page.WriteStatus(w, s.howFar(r.Context()), statusEvery) })
}

func (s *servedReport) howFar(ctx context.Context) string {
	st, err := store.ReadStatus(ctx, s.c.String("out"))
	if err != nil {
		return err.Error()
	}
	return statusReport(st, time.Now())
}

// answers are the whole answers to a question.
func (s *servedReport) answers(w http.ResponseWriter, r *http.Request) {
	experiment := r.PathValue("experiment")
	all, err := measuredRuns(s.c, s.c.String("figures"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	for _, run := range all {
		if run.Spec.Experiment.Name != experiment {
			continue
		}
		t, done, err := harness.OpenTrail(r.Context(), run.Spec, options(s.c))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		defer done()
		p, err := t.Problem(r.Context(), r.PathValue("set"), r.PathValue("question"), "")
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		s.send(w, http.StatusOK, func(w io.Writer) error { return page.WriteAnswers(w, experiment, p) })
		return
	}
	http.Error(w, fmt.Sprintf("the report has no experiment %q", experiment), http.StatusNotFound)
}

// send sends a page, or says why there is none.
func (s *servedReport) send(w http.ResponseWriter, code int, write func(io.Writer) error) {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(text.Bytes())
}
