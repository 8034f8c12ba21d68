package experts_test

// What stands before a server, as nginx and HAProxy do: what they answer in its place, and what the client makes of that.

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// nginxPage is how nginx answers with a status.
func nginxPage(title string) string {
	return "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"
}

// A web page is not repeated, but for its title where that says more than the status, and the sentence says what to do.
func TestPagesOfProxiesAreSentences(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		body    string
		headers []string
		want    string
		tries   int
		again   bool // the request may be answered another day
	}{
		"a body too large for nginx": {413, nginxPage("413 Request Entity Too Large"), nil,
			"answered 413 Request Entity Too Large with a web page: have what stands before the server take larger requests (nginx: client_max_body_size)", 1, true},
		"a body too large for the server": {413, `{"error":{"message":"too large"}}`, nil, "answered 413 Request Entity Too Large: too large", 1, false},
		"a firewall":                      {403, "<!DOCTYPE html><html><head><title>Attention &amp; Required</title></head></html>", nil, `answered 403 Forbidden with a web page, "Attention & Required": what stands before the server turns it down`, 1, true},
		"no server behind nginx":          {502, nginxPage("502 Bad Gateway"), nil, "answered 502 Bad Gateway with a web page, and none of 2 tries went better", 2, true},
		"a page of HAProxy":               {502, "<html><body><h1>502 Bad Gateway</h1>\nThe server returned an invalid or incomplete response.\n</body></html>\n", nil, "answered 502 Bad Gateway with a web page, and none", 2, true},
		"an answer that takes too long":   {504, nginxPage("504 Gateway Time-out"), nil, "answered 504 Gateway Timeout with a web page, \"504 Gateway Time-out\", and none of 2 tries went better: what stands before the server waits no longer for an answer: raise its timeout (nginx: proxy_read_timeout, HAProxy: timeout server), or let fewer requests wait at a time (limits: {concurrency: N} of the expert)", 2, true},
		"a status without a name":         {418, "", nil, "answered 418 I'm a teapot", 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			h := client(t, experts.HTTPOptions{Tries: 2, Transport: carrier(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path != "/v1/chat/completions" {
					return respond(200, `{"data":[{"id":"m"}]}`), nil
				}
				if asked++; asked == 1 { // or else the expert may be to blame
					return respond(200, four), nil
				}
				w := respond(c.status, c.body, c.headers...)
				if c.status == 418 {
					w.Status = "418 "
				}
				return w, nil
			})}, "http://a.example/v1")
			if _, err := ask(t.Context(), h, newBook(t), 1); err != nil {
				t.Fatal(err)
			}
			_, err := ask(t.Context(), h, newBook(t), 2)
			var f *experts.Failure
			if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "<") || f.Again != c.again || asked != 1+c.tries {
				t.Errorf("%s: after %d requests %#v\n%v\nwant %s", name, asked, f, err, c.want)
			}
		})
	}
}

// What can never work is said at once, whatever stands before the server, and with what to do.
func TestPreflightThroughProxiesSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		get  func() (*http.Response, error)
		want string
	}{
		"a password": {func() (*http.Response, error) {
			return respond(401, nginxPage("401 Authorization Required"), "WWW-Authenticate", `Basic realm="LLM"`), nil
		}, `answered 401 Unauthorized with a web page, "401 Authorization Required": it asks for a user name and a password, which are not sent: have what stands before the server let requests through, or let it want a key`},
		"http where https is spoken": {func() (*http.Response, error) {
			return respond(400, nginxPage("400 The plain HTTP request was sent to HTTPS port")), nil
		}, `answered 400 Bad Request with a web page, "400 The plain HTTP request was sent to HTTPS port": write https:// in url`},
		"http where Go speaks https": {func() (*http.Response, error) {
			return respond(400, "Client sent an HTTP request to an HTTPS server.\n"), nil
		}, `HTTPS server.: write https:// in url`},
		"another address": {func() (*http.Response, error) {
			return respond(301, nginxPage("301 Moved Permanently"), "Location", "https://a.example/v1/models"), nil
		}, `answered 301 Moved Permanently with a web page to "https://a.example/v1/models", which is not followed: if that is where the server is, write its address as url`},
		"an old certificate": {func() (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}}
		}, "has expired or is not yet valid: ): have it renewed, or set the clock of this machine right"},
		"a certificate of another": {func() (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"b.example"}}, Host: "a.example"}}
		}, "certificate is valid for b.example, not a.example): write the name that it is for in url"},
		"a way through a proxy": {func() (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "a.example"}}
		}, "no such host): is the server running, and is the url right? HTTPS_PROXY is set, and proxies are not used"},
		"nobody behind an open port": {func() (*http.Response, error) { return nil, io.EOF }, "the connection was closed without an answer (EOF): does the server speak https where url says http, or is there no server behind a proxy?"},
	} {
		t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
		synctest.Test(t, func(t *testing.T) {
			h := client(t, experts.HTTPOptions{Transport: carrier(func(*http.Request) (*http.Response, error) { return c.get() })}, "http://a.example/v1")
			begin := time.Now()
			if err := h.Preflight(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "<") || time.Since(begin) > 10*time.Second {
				t.Errorf("%s: %v\nwant %s", name, err, c.want)
			}
		})
	}
	h := client(t, experts.HTTPOptions{Transport: carrier(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	})}, "http://a.example/v1")
	if err := h.Preflight(t.Context(), 0); err == nil || strings.Contains(err.Error(), "HTTPS_PROXY") {
		t.Errorf("a server that can be reached and is not there: %v", err)
	}
}

// A server that turns down our TLS will do so tomorrow.
func TestTLSThatIsTurnedDownIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]*tls.Config{
		"a certificate of ours": {ClientAuth: tls.RequireAnyClientCert},
		"an old version":        {MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
	} {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.TLS, s.Config.ErrorLog = c, slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
		s.StartTLS()
		pool := x509.NewCertPool()
		pool.AddCert(s.Certificate())
		h := client(t, experts.HTTPOptions{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, s.URL+"/v1")
		err := h.Preflight(t.Context(), time.Minute)
		if err == nil || !strings.Contains(err.Error(), "it ends TLS as this program speaks it (remote error: tls: ") || !strings.Contains(err.Error(), "have it take TLS 1.2 or 1.3 without a certificate of ours") {
			t.Errorf("%s: %v", name, err)
		}
		h.Close()
		s.Close()
	}
}

// nginx and HAProxy that have lost all servers answer what they have begun and turn down what is new. An answer that was under way says
// nothing of those: they wait, and take no tries.
func TestAnswersUnderWayDoNotMakeAServerReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var refused atomic.Int64
		h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://proxy.example/v1"}},
			experts.HTTPOptions{Concurrency: 40, Log: silent, Transport: carrier(func(r *http.Request) (*http.Response, error) {
				if came := time.Since(begin); came >= 5*time.Second && came < time.Minute {
					if r.URL.Path == "/v1/chat/completions" {
						refused.Add(1)
					}
					return respond(502, nginxPage("502 Bad Gateway")), nil
				}
				if r.URL.Path == "/v1/chat/completions" {
					var sent struct{ Seed int }
					json.NewDecoder(r.Body).Decode(&sent)
					time.Sleep(10*time.Second + time.Duration(sent.Seed)*time.Second)
				}
				return respond(200, four), nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				if i >= 30 {
					time.Sleep(6 * time.Second)
				}
				if _, err := ask(t.Context(), h, newBook(t), seed.Seed(i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := refused.Load(); n > 10 {
			t.Errorf("%d requests were turned down, want at most 10: one each that came meanwhile", n)
		}
	})
}

// What is longer than a proxy waits is not asked for half an hour: it costs the server a whole answer each time.
func TestAnswersThatTakeTooLongForAProxyAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var log bytes.Buffer
		var asked atomic.Int64
		h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://proxy.example/v1"}},
			experts.HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Transport: carrier(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path != "/v1/chat/completions" {
					return respond(200, `{"data":[{"id":"m"}]}`), nil
				}
				if asked.Add(1); time.Since(begin) > 6*time.Minute { // nginx that has seen all servers be late says so for a while
					return respond(502, nginxPage("502 Bad Gateway")), nil
				}
				time.Sleep(time.Minute)
				return respond(504, nginxPage("504 Gateway Time-out")), nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if _, err := ask(t.Context(), h, newBook(t), seed.Seed(i)); err == nil || !strings.Contains(err.Error(), "proxy_read_timeout") {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if asked.Load() != 16*6 || time.Since(begin) > 8*time.Minute || !strings.Contains(log.String(), "proxy_read_timeout") {
			t.Errorf("asked %d times in %s:\n%s", asked.Load(), time.Since(begin), log.String())
		}
	})
}

// A proxy that ends a stream because it was silent may be told to wait longer; that the stream is the trouble is not said then.
func TestAStreamThatIsCutWhileItIsSilentIsToldApart(t *testing.T) {
	for name, c := range map[string]struct{ before, want, not string }{
		"before the first event": {"", "the stream broke (unexpected EOF; events: 0) after 1m0s without a byte", "whole: true"},
		"between events":         {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"4\"}}]}\n\n", "the stream broke (unexpected EOF; events: 1) after 1m0s without a byte", "whole: true"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := client(t, experts.HTTPOptions{Tries: 2, Transport: carrier(func(r *http.Request) (*http.Response, error) {
				w := respond(200, "", "Content-Type", "text/event-stream")
				if r.URL.Path == "/v1/chat/completions" {
					w.Body = &silence{Reader: strings.NewReader(c.before)}
				}
				return w, nil
			})}, "http://a.example/v1")
			_, err := ask(t.Context(), h, newBook(t), 1)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "proxy_read_timeout") || strings.Contains(err.Error(), c.not) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// silence is a body that ends a minute after its last byte, before it is complete.
type silence struct{ *strings.Reader }

func (s *silence) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil {
		time.Sleep(time.Minute)
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

func (s *silence) Close() error { return nil }

// nginx's limit_req and limit_conn answer 503 unless they are told otherwise, to what looks after the server, too, where they hold for
// it. That is said at the first and the tenth time.
func TestA503WhileOthersAreAnsweredIsALimit(t *testing.T) {
	for _, all := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			var inflight atomic.Int64
			h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://proxy.example/v1"}},
				experts.HTTPOptions{Concurrency: 8, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Transport: carrier(func(r *http.Request) (*http.Response, error) {
					defer inflight.Add(-1)
					switch many := inflight.Add(1) > 3; {
					case many && (all || r.URL.Path == "/v1/chat/completions"):
						return respond(503, nginxPage("503 Service Temporarily Unavailable")), nil
					case r.URL.Path == "/v1/chat/completions":
						time.Sleep(time.Second)
					}
					return respond(200, four), nil
				})})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			begin := time.Now()
			askAll(t, h, 200)
			if n := strings.Count(log.String(), "\n"); n > 6 || time.Since(begin) > 4*time.Minute {
				t.Errorf("health limited: %t: %d lines in %s, want the first, the tenth and so on:\n%s", all, n, time.Since(begin), log.String())
			}
		})
	}
}
