package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

// deaf is a reader that takes nothing before it is released.
type deaf struct {
	http.ResponseWriter
	asked, released chan struct{}
}

func (d deaf) Write(p []byte) (int, error) {
	close(d.asked)
	<-d.released
	return d.ResponseWriter.Write(p)
}

// Whoever takes the page slowly keeps it from nobody else.
func TestAReaderWhoTakesNothingKeepsNobodyFromTheReport(t *testing.T) {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.String("figures", t.TempDir(), "")
	s := &servedReport{c: cli.NewContext(cli.NewApp(), flags, nil), text: []byte("the page")}
	s.of = s.measurements()
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	slow := deaf{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	go s.report(slow, request)
	<-slow.asked
	defer close(slow.released)
	done, got := make(chan struct{}), httptest.NewRecorder()
	go func() { s.report(got, request); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the second reader waits for the first")
	}
	if got.Body.String() != "the page" {
		t.Errorf("the second reader got %q", got.Body)
	}
}
