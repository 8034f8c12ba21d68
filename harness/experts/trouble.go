// What goes wrong with one attempt: how it is told, and how long to wait after it.

package experts

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/internal/retryafter"
)

// trouble is why an attempt has no answer.
type trouble struct {
	class Class
	err   error         // what happened, without who: one line may be made of it by line
	cause error         // of a connection: what the network said
	after time.Duration // how long the server asked to be left alone; 0: it did not say
	head  []byte        // the beginning of what was not understood, for the log alone
	debt  bool          // the server wants to be paid first, or a quota is used up: no request is answered before that changes
	keyed bool          // nor one with this key (401); 403 may be about what one request says
	anew  bool          // the server does not take what was sent in this form, and is to be asked in another one
	whole bool          // a stream ended before its answer did: as a whole the answer may come, or its error
	stale bool          // a connection that was kept open ended before the first byte, as one does that the server closed meanwhile
	down  bool          // the server is not there or says that it is not ready: it takes no requests until it is
	page  bool          // it is told by a web page, as what stands before a server sends it
	late  bool          // something on the way waits no longer: the request or its turn takes too long, not the server away
	do    string        // what to change; empty: see advice
}

// again says whether the same request may be answered when it is tried again, and how many tries that is worth.
func (t *trouble) again(tries int) (limit int) {
	switch t.class {
	case Unavailable, Broken, Idle, Unfinished:
		return tries
	case Protocol:
		return min(3, tries)
	}
	return 1
}

// free says that the try does not count: the server is waited for.
func (t *trouble) free() bool { return t.class == Limited || t.down }

// later says whether a request that failed so may succeed when it is asked again another day.
func (t *trouble) later() bool {
	return t.page || t.class != Refused && t.class != Filtered
}

// kinds is the error that callers know a class by, if there is one.
func (t *trouble) kinds() []error {
	switch t.class {
	case Refused:
		return []error{ErrRefused}
	case Model:
		return []error{ErrUnknownExpert}
	case Key:
		return []error{ErrKey}
	case Unavailable, Limited, Broken, Idle, Slow, Unfinished:
		return []error{ErrUnavailable}
	}
	return nil
}

// late is the error of a short answer that did not come in time.
type late string

func (l late) Error() string { return string(l) }

// lost says why there is no answer where the network failed.
func lost(err error) *trouble {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var record tls.RecordHeaderError
	var late late
	t := &trouble{class: Unavailable, cause: err}
	switch {
	case errors.As(err, &late):
		t.err = late
	case errors.As(err, &cert):
		do := "have this machine trust it, by SSL_CERT_FILE=FILE for one, or correct url"
		if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
			do = "have it renewed, or set the clock of this machine right"
		} else if errors.As(err, &name) {
			do = "write the name that it is for in url, or have it made for this one"
		}
		t.class, t.err = Local, fmt.Errorf("its certificate is not accepted (%w): %s", cert.Err, do)
	case errors.As(err, &op) && op.Op == "remote error" && !strings.Contains(err.Error(), "internal error"): // which may pass
		t.class, t.err = Local, fmt.Errorf("it ends TLS as this program speaks it (%w): have it take TLS 1.2 or 1.3 without a certificate of ours, or correct url", err)
	case errors.As(err, &record):
		t.class, t.err = Local, fmt.Errorf("it does not speak https (%w): write http:// in url, if that may be", err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		t.class, t.err = Local, errors.New("this machine has too many open files: allow more with ulimit -n, or lower profile.concurrency")
	case errors.As(err, &dns), errors.As(err, &op) && op.Op == "dial":
		t.down, t.err = true, fmt.Errorf("no connection (%w): is the server running, and is the url right?%s", err, proxied(err))
	case errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		t.err = fmt.Errorf("the connection broke before the answer (%w)", err)
	case errors.Is(err, io.EOF):
		t.err = fmt.Errorf("the connection was closed without an answer (%w): does the server speak https where url says http, or is there no server behind a proxy?", err)
	default:
		t.err = fmt.Errorf("no answer (%w)", err)
	}
	return t
}

// proxied says that the environment names a proxy, where a server cannot be reached for want of one.
func proxied(err error) string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if os.Getenv(name) != "" && !errors.Is(err, syscall.ECONNREFUSED) {
			return " " + name + " is set, and proxies are not used"
		}
	}
	return ""
}

// refusal says what a status other than 200 means. The server's own clock dates what it asks to wait for.
func refusal(response *http.Response, body []byte, key string) *trouble {
	code := response.StatusCode
	status := line(response.Status, key)
	if status == strconv.Itoa(code) { // some servers send no words
		status += " " + http.StatusText(code)
	}
	t := &trouble{class: classOf(code), after: retryafter.Wait(response.Header)}
	if title, ok := page(body); !ok {
		t.err = fmt.Errorf("answered %s%s", status, said(body, key))
	} else {
		t.page, t.err = true, fmt.Errorf("answered %s with a web page", status)
		if title = line(title, key); title != "" && title != status {
			t.err = fmt.Errorf("%w, %q", t.err, title)
		}
	}
	switch {
	case code == http.StatusPaymentRequired, usedUp(body):
		t.class, t.debt = Key, true
	case code == http.StatusUnauthorized:
		t.keyed = true
		if strings.HasPrefix(response.Header.Get("WWW-Authenticate"), "Basic") {
			t.do = "it asks for a user name and a password, which are not sent: have what stands before the server let requests through, or let it want a key"
		}
	case code == http.StatusForbidden && t.page:
		t.class, t.do = Refused, "what stands before the server turns it down: have it let requests through"
	case code == http.StatusRequestEntityTooLarge && t.page:
		t.do = "have what stands before the server take larger requests (nginx: client_max_body_size)"
	case code == http.StatusBadRequest && bytes.Contains(body, []byte("HTTP request was sent to HTTPS port")), code == http.StatusBadRequest && bytes.Contains(body, []byte("HTTP request to an HTTPS server")):
		t.do = "write https:// in url"
	case code == http.StatusGatewayTimeout:
		t.late, t.do = true, "what stands before the server waits no longer for an answer: "+longer
	case code == http.StatusInternalServerError && bytes.Contains(body, []byte("after shutdown")): // a vLLM that was told to stop and finishes what it has
		t.down = true
	case code == http.StatusInternalServerError && bytes.Contains(body, []byte("('body', ")): // a field that FastAPI finds wrong, in llama-cpp-python
		t.class = Refused
	case code == http.StatusServiceUnavailable:
		if t.after > 0 {
			t.class = Limited
		} else {
			t.down = true
		}
	case code == http.StatusMovedPermanently, code == http.StatusFound, code == http.StatusSeeOther, code == http.StatusTemporaryRedirect, code == http.StatusPermanentRedirect:
		t.err = fmt.Errorf("%w to %q, which is not followed: if that is where the server is, write its address as url", t.err, line(response.Header.Get("Location"), key))
	}
	return t
}

// longer is how a proxy is kept from giving up on an answer.
const longer = "raise its timeout (nginx: proxy_read_timeout, HAProxy: timeout server), or let fewer requests wait at a time (limits: {concurrency: N} of the expert)"

// page says whether a body is a web page, and returns its title, or else its heading.
func page(body []byte) (title string, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return "", false
	}
	of := headline.FindSubmatch(body)
	if of == nil {
		return "", true
	}
	return html.UnescapeString(string(of[1])), true
}

var headline = regexp.MustCompile(`(?i)<(?:title|h1)>([^<]*)<`)

func classOf(status int) Class {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return Key
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return Model
	case status == http.StatusTooManyRequests:
		return Limited
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500 && status != http.StatusNotImplemented:
		return Unavailable
	case status >= 300 && status < 400:
		return Moved
	case status >= 400:
		return Refused
	}
	return Protocol
}

// erred reads an error that came with status 200. Its code, where it is a status, says of which kind it is.
func erred(body []byte, key string) *trouble {
	t := &trouble{class: Unavailable, err: fmt.Errorf("answered with an error%s", said(body, key))}
	word, _ := named(body)
	code, _ := strconv.Atoi(word)
	switch {
	case code == http.StatusPaymentRequired, usedUp(body):
		t.class, t.debt = Key, true
	case code >= 400 && code < 600:
		t.class, t.keyed = classOf(code), code == http.StatusUnauthorized
	}
	return t
}

// usedUp says whether an error is about what an account may spend, and not about how fast: services give both status 429, and
// Gemini words its limits per minute as OpenAI does a quota, so that only their names tell them apart.
func usedUp(body []byte) bool {
	code, kind := named(body)
	return slices.ContainsFunc([]string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "exceeded_current_quota_error"},
		func(name string) bool { return name == code || name == kind })
}

// named returns the code and the type of an error body; of one that has none they are no name.
func named(body []byte) (code, kind string) {
	var e struct {
		Error struct {
			Code any `json:"code"`
			Type any `json:"type"`
		} `json:"error"`
	}
	json.Unmarshal(body, &e)
	return fmt.Sprint(e.Error.Code), fmt.Sprint(e.Error.Type)
}

// said returns the message of an error body, which servers write in at least five ways.
func said(body []byte, key string) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := string(body)
	if json.Unmarshal(body, &e) == nil {
		switch {
		case json.Unmarshal(e.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(e.Error, &text) == nil, json.Unmarshal(e.Detail, &text) == nil:
		case e.Message != "":
			text = e.Message
		}
	}
	if text = line(text, key); text != "" {
		text = ": " + text
	}
	return text
}

// line makes one line of a text of somebody else's: without control characters, without a key, of at most 300 bytes. A text that was cut
// before may end within the key.
func line(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "[key]")
		for n := len(key) - 1; n >= 4; n-- {
			if rest, ok := strings.CutSuffix(text, key[:n]); ok {
				text = rest + "[key]"
				break
			}
		}
	}
	const most = 300
	cut := len(text) > 4*most
	if cut {
		text = text[:4*most] // fields take a while to find in a page of HTML
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text, cut = strings.ToValidUTF8(text[:most-3], ""), true
	}
	if cut {
		text += "..."
	}
	return text
}

// tens says whether a number is 1, 10, 100 and so on.
func tens(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// told is a sentence that says everything, and what kinds of errors it is.
type told struct {
	text  string
	kinds []error
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() []error { return t.kinds }
