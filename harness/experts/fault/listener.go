// A listener that goes down, and comes up at the same address.

package fault

import (
	"net"
	"sync"
)

// Listener is a TCP listener that can be down for a while: clients are refused then, as by a server that is not running.
// Down and Up may be called at any time, each of them often.
type Listener struct {
	addr net.Addr

	mu     sync.Mutex
	up     *sync.Cond // that inner or closed has changed
	inner  net.Listener
	closed error // why
	conns  map[*conn]struct{}
}

// Listen listens on a TCP address.
func Listen(address string) (*Listener, error) {
	inner, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	l := &Listener{addr: inner.Addr(), inner: inner, conns: map[*conn]struct{}{}}
	l.up = sync.NewCond(&l.mu)
	return l, nil
}

// Addr implements net.Listener. It stays the same.
func (l *Listener) Addr() net.Addr { return l.addr }

// Accept implements net.Listener. It waits while the listener is down.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		for l.inner == nil && l.closed == nil {
			l.up.Wait()
		}
		inner, closed := l.inner, l.closed
		l.mu.Unlock()
		if closed != nil {
			return nil, closed
		}
		c, err := inner.Accept()
		l.mu.Lock()
		current := l.inner == inner
		if err == nil && current {
			tracked := &conn{c.(*net.TCPConn), l}
			l.conns[tracked] = struct{}{}
			l.mu.Unlock()
			return tracked, nil
		}
		l.mu.Unlock()
		if err == nil {
			reset(c) // it went down meanwhile
		} else if current {
			return nil, err
		}
	}
}

// Down resets every connection and refuses new ones.
func (l *Listener) Down() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != nil {
		l.inner.Close()
		l.inner = nil
	}
	for c := range l.conns {
		reset(c.TCPConn)
	}
	clear(l.conns)
}

// Up listens again, at the same address. If that cannot be, the listener is closed and Accept says why.
func (l *Listener) Up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != nil || l.closed != nil {
		return
	}
	inner, err := net.Listen("tcp", l.addr.String())
	if err != nil {
		l.closed = err
	} else {
		l.inner = inner
	}
	l.up.Broadcast()
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = net.ErrClosed
	l.up.Broadcast()
	if l.inner == nil {
		return nil
	}
	inner := l.inner
	l.inner = nil
	return inner.Close()
}

// conn is a connection that its listener can reset.
type conn struct {
	*net.TCPConn
	l *Listener
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.l.mu.Lock()
	delete(c.l.conns, c)
	c.l.mu.Unlock()
	return c.TCPConn.Close()
}

// reset closes a connection so that the other end reads a reset and not an end.
func reset(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(int) error }); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
