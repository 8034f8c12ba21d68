// The one goroutine that writes to a file of rollouts: a queue, group commit, and what happens when the disk fails.

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/entrorouter/entrorouter/harness/crash"
)

const (
	commitAfter = 100 * time.Millisecond // a change waits at most this long for others

	// Who has more to store than this waits for the disk.
	maxQueued      = 4096     // changes
	maxQueuedBytes = 64 << 20 // of texts

	// A full or failing disk may recover: what could not be written is tried again this often, for this long, and once
	// more at Close. Nothing new is begun meanwhile, nor afterwards.
	retryEvery = time.Second
	retryFor   = 30 * time.Second

	maxCached = 1 << 17 // row ids of problems that are remembered
)

var errGone = errors.New("the file was removed, moved or replaced while a run wrote to it; put it back, and the same command goes on")

// change is something to be written.
type change struct {
	what string // "answers", "ends of attempts", ...: what is lost if it cannot be; empty: nothing
	size int    // bytes of text
	do   func(*transaction) error
	done func(error) // called once it is synced or given up; nil: nobody waits
}

// writer queues changes and writes them.
type writer struct {
	path  string
	file  os.FileInfo // what lay at path when it was opened
	db    *sql.DB
	conn  *sql.Conn // the only one
	stmts statements
	codec codec

	prepared []*sql.Stmt // all of stmts
	at       step

	now         func() time.Time
	began       sync.Map // AttemptID to time.Time, of the attempts under way
	nextAttempt atomic.Int64
	process     atomic.Int64 // row of the run that writes; 0: it did not say

	mu      sync.Mutex
	room    sync.Cond // of mu: the queue got shorter
	queue   []change
	bytes   int   // of queue
	urgent  bool  // somebody waits for the queue
	closing bool  // nothing comes after what is queued
	failed  error // the first failure of the disk; nothing is begun after it
	wake    chan struct{}
	stopped chan struct{}
	lost    map[string]int // by change.what

	cache // of the writing goroutine
}

// cache is what the file holds, as far as the next transaction needs it.
type cache struct {
	scopes    map[Scope]scopeRow
	problems  map[TextKey]int64
	servers   map[string]int64
	verifiers map[string]int64
	open      map[int64]openBlock // by scope
	last      int64               // highest block
}

func newCache(last int64) cache {
	return cache{scopes: map[Scope]scopeRow{}, problems: map[TextKey]int64{}, servers: map[string]int64{}, verifiers: map[string]int64{}, open: map[int64]openBlock{}, last: last}
}

// scopeRow is a row of table scope.
type scopeRow struct {
	id, digest         int64
	rollouts, checksum int64
}

// openBlock is a block that is not full yet.
type openBlock struct {
	block int64
	next  int // position
	rows  int
	bytes int
}

type statements struct {
	begin, commit, rollback            *sql.Stmt
	scope, addScope, setScope, want    *sql.Stmt
	problem, server, verifier, process *sql.Stmt
	rollout, text, texts, block, clear *sql.Stmt
	verdict, failure, answered         *sql.Stmt
	attempt, end, begun, tally         *sql.Stmt
}

func newWriter(ctx context.Context, path string, db *sql.DB, codec codec) (_ *writer, err error) {
	w := &writer{path: path, db: db, codec: codec, now: time.Now, wake: make(chan struct{}, 1), stopped: make(chan struct{}), lost: map[string]int{},
		cache: newCache(0)}
	w.room.L = &w.mu
	ctx = context.WithoutCancel(ctx) // the driver starts a goroutine a statement for a context that can end
	if w.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, w.disconnect())
	}
	if w.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(err, w.disconnect())
	}
	go func() {
		defer crash.Exit()
		w.run()
	}()
	return w, nil
}

// prepare reads where writing goes on and prepares the statements.
func (w *writer) prepare(ctx context.Context) error {
	var next int64
	if err := w.conn.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(id), 0) FROM attempt),
		max((SELECT coalesce(max(block), 0) FROM response), (SELECT coalesce(max(id), 0) / ? FROM unpacked))`, blockRows).Scan(&next, &w.last); err != nil {
		return err
	}
	w.nextAttempt.Store(next)
	// Materialized: SQLite would sort the texts with the rest to group them.
	if err := scan(ctx, w.conn, `WITH texts AS MATERIALIZED (SELECT scope, id, length(response) + length(reasoning) AS bytes FROM unpacked)
		SELECT scope, max(id) / ?, max(id) % ? + 1, count(*), sum(bytes) FROM texts GROUP BY scope`, []any{blockRows, blockRows}, func(rows *sql.Rows) error {
		var scope int64
		var o openBlock
		err := rows.Scan(&scope, &o.block, &o.next, &o.rows, &o.bytes)
		w.open[scope] = o
		return err
	}); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&w.stmts.begin, "BEGIN IMMEDIATE"},
		{&w.stmts.commit, "COMMIT"},
		{&w.stmts.rollback, "ROLLBACK"},
		{&w.stmts.scope, "SELECT id, digest, rollouts, checksum FROM scope WHERE params = ?"},
		{&w.stmts.addScope, "INSERT INTO scope (params, digest, rollouts, checksum, want) VALUES (?, ?, 0, 0, 0) RETURNING id"},
		{&w.stmts.setScope, "UPDATE scope SET rollouts = ?, checksum = ? WHERE id = ?"},
		{&w.stmts.want, "UPDATE scope SET want = ? WHERE id = ?"},
		{&w.stmts.problem, "INSERT INTO problem (hash, text) VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = hash RETURNING id"},
		{&w.stmts.server, "INSERT INTO server (url, version) VALUES (?, '') ON CONFLICT DO UPDATE SET url = url RETURNING id"},
		{&w.stmts.verifier, "INSERT INTO verifier (version) VALUES (?) ON CONFLICT DO UPDATE SET version = version RETURNING id"},
		{&w.stmts.process, "INSERT INTO process (name, command, pid, host, started) VALUES (?, ?, ?, ?, ?) RETURNING id"},
		{&w.stmts.rollout, "INSERT INTO rollout (scope, problem, run, seed, id, finish, tokens_in, tokens_out, text, digest) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"},
		{&w.stmts.text, "INSERT INTO unpacked (id, scope, response, reasoning, digest) VALUES (?, ?, ?, ?, ?)"},
		{&w.stmts.texts, "SELECT id, response, reasoning FROM unpacked WHERE id BETWEEN ? AND ? ORDER BY id"},
		{&w.stmts.block, "INSERT INTO response (block, scope, rows, texts) VALUES (?, ?, ?, ?)"},
		{&w.stmts.clear, "DELETE FROM unpacked WHERE id BETWEEN ? AND ?"},
		{&w.stmts.verdict, "INSERT OR REPLACE INTO verdict (verifier, rollout, gold, bucket, reason, extracted, digest) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&w.stmts.failure, "INSERT OR REPLACE INTO failure (scope, problem, run, seed, class, error, again, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
		{&w.stmts.answered, "DELETE FROM failure WHERE scope = ? AND problem = ? AND run = ? AND seed = ?"},
		{&w.stmts.attempt, "INSERT INTO attempt (id, process, scope, problem, run, seed, server, began, most_in, most_out, most_usd, " +
			"class, error, tokens_in, tokens_out, usd, estimated, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, 0, 0, 0, ?)"},
		{&w.stmts.begun, "SELECT scope, digest FROM attempt WHERE id = ? AND ended IS NULL"},
		{&w.stmts.end, "UPDATE attempt SET ended = ?, class = ?, error = ?, tokens_in = ?, tokens_out = ?, usd = ?, estimated = ?, digest = ? WHERE id = ?"},
		{&w.stmts.tally, "INSERT INTO tally (scope, class, attempts, tokens_in, tokens_out, usd, estimated) VALUES (?, ?, ?, ?, ?, ?, ?) " +
			"ON CONFLICT DO UPDATE SET attempts = attempts + excluded.attempts, tokens_in = tokens_in + excluded.tokens_in, " +
			"tokens_out = tokens_out + excluded.tokens_out, usd = usd + excluded.usd, estimated = estimated + excluded.estimated"},
	} {
		stmt, err := w.conn.PrepareContext(ctx, p.query)
		if err != nil {
			return err
		}
		*p.stmt, w.prepared = stmt, append(w.prepared, stmt)
	}
	return nil
}

// add queues a change. It waits for room, and not at all after a failure: what is in flight then was paid for.
func (w *writer) add(c change, urgent bool) {
	w.mu.Lock()
	for w.failed == nil && len(w.queue) > 0 && (len(w.queue) >= maxQueued || w.bytes+c.size > maxQueuedBytes) {
		w.urgent = true
		w.nudge()
		w.room.Wait()
	}
	if w.closing {
		w.mu.Unlock()
		panic("store: rollouts were closed before this change")
	}
	first := len(w.queue) == 0
	w.queue = append(w.queue, c)
	w.bytes += c.size
	w.urgent = w.urgent || urgent
	w.mu.Unlock()
	if first || urgent {
		w.nudge()
	}
}

func (w *writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// wait queues a change at the front of attention and returns once it is synced or given up.
func (w *writer) wait(c change) error {
	done := make(chan error, 1)
	c.done = func(err error) { done <- err }
	w.add(c, true)
	return <-done
}

// failure is why nothing may be begun; nil: it may.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// take returns what is queued as soon as somebody waits for it or the first of it is old enough; nil at the end.
func (w *writer) take() []change {
	var late <-chan time.Time
	for old := false; ; {
		w.mu.Lock()
		switch {
		case len(w.queue) > 0 && (w.urgent || w.closing || old):
			batch := w.queue
			w.queue, w.bytes, w.urgent = nil, 0, false
			w.room.Broadcast()
			w.mu.Unlock()
			return batch
		case len(w.queue) == 0 && w.closing:
			w.mu.Unlock()
			return nil
		case len(w.queue) > 0 && late == nil:
			late = time.After(commitAfter)
		}
		w.mu.Unlock()
		select {
		case <-w.wake:
		case <-late:
			old = true
		}
	}
}

// run writes until the end.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		batch := w.take()
		if batch == nil {
			return
		}
		if err := w.write(batch); err != nil {
			w.retry(batch, err)
		}
	}
}

// retry is what is done after a failure: who waits to begin something or for all that was queued is told at once, and the
// rest is tried again.
func (w *writer) retry(batch []change, err error) {
	err = explainSQL(err)
	var held []change
	hold := func(more []change) {
		for _, c := range more {
			if c.what == "" {
				c.finish(err)
			} else {
				held = append(held, c)
			}
		}
	}
	w.mu.Lock()
	if w.failed == nil {
		w.failed = err
	}
	w.room.Broadcast()
	w.mu.Unlock()
	hold(batch)
	end := time.After(retryFor)
	for last := !mayPass(err); ; {
		w.mu.Lock()
		more := w.queue
		w.queue, w.bytes = nil, 0
		last = last || w.closing
		w.mu.Unlock()
		hold(more)
		if len(held) == 0 {
			return
		}
		if mayPass(err) {
			again := w.write(held)
			if again == nil {
				return
			}
			err = explainSQL(again)
		}
		if last {
			break
		}
		select {
		case <-time.After(retryEvery):
		case <-end:
			last = true
		case <-w.wake: // closing, or more to hold
		}
	}
	w.mu.Lock()
	for _, c := range held {
		w.lost[c.what]++
	}
	w.mu.Unlock()
	for _, c := range held {
		c.finish(err)
	}
}

func (c change) finish(err error) {
	if c.done != nil {
		c.done(err)
	}
}

// mayPass says whether a failure may be over after a while.
func mayPass(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return slices.Contains([]int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_IOERR}, e.Code()&0xff)
	}
	return diskFull(err) || errors.Is(err, syscall.EIO)
}

// stop writes what is queued and returns what could not be written.
func (w *writer) stop() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.nudge()
	<-w.stopped
	if len(w.lost) == 0 {
		return nil
	}
	var what []string
	for name, n := range w.lost {
		what = append(what, fmt.Sprintf("%d %s", n, name))
	}
	slices.Sort(what)
	return fmt.Errorf("%s could not be written: %w", strings.Join(what, ", "), w.failed)
}

// disconnect closes the file. SQLite writes the log back into it if nobody else reads.
func (w *writer) disconnect() error {
	var errs []error
	for _, s := range w.prepared {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// transaction is one transaction in the making. What it learns goes to the cache when it is committed.
type transaction struct {
	*writer
	cache
	ctx     context.Context
	buf     fields
	changed map[Scope]bool // scopes whose row differs
	tallies map[tallyKey]tally
	broken  error // the file is damaged; what else there is to write is written
}

type tallyKey struct {
	scope int64
	class string
}

type tally struct {
	attempts, estimated int64
	Spent
}

// write writes changes in one transaction.
func (w *writer) write(batch []change) (err error) {
	ctx := context.Background()
	t := &transaction{writer: w, ctx: ctx, buf: make(fields, 0, 512), changed: map[Scope]bool{}, tallies: map[tallyKey]tally{},
		cache: newCache(w.last)}
	if slices.ContainsFunc(batch, func(c change) bool { return c.do != nil }) {
		if err := w.at.do("commit", w.path); err != nil {
			return err
		}
		if now, err := os.Stat(w.path); err != nil || !os.SameFile(w.file, now) {
			return errGone // what is written to it now nobody finds again
		}
		if _, err := w.stmts.begin.ExecContext(ctx); err != nil {
			return err
		}
		if err := t.all(batch); err != nil {
			w.stmts.rollback.ExecContext(ctx) // after some errors SQLite did it by itself
			return err
		}
		if _, err := w.stmts.commit.ExecContext(ctx); err != nil {
			w.stmts.rollback.ExecContext(ctx)
			return err
		}
	}
	w.learn(t.cache)
	if t.broken != nil {
		w.mu.Lock()
		w.failed = cmp.Or(w.failed, t.broken)
		w.mu.Unlock()
	}
	for _, c := range batch {
		if c.do == nil {
			c.finish(t.broken)
		} else {
			c.finish(nil)
		}
	}
	return nil
}

// all carries out every change, and what follows from them together.
func (t *transaction) all(batch []change) error {
	for _, c := range batch {
		if c.do == nil {
			continue
		}
		if err := c.do(t); err != nil {
			return err
		}
	}
	for scope := range t.changed {
		s := t.cache.scopes[scope]
		if _, err := t.stmts.setScope.ExecContext(t.ctx, s.rollouts, s.checksum, s.id); err != nil {
			return err
		}
	}
	for k, v := range t.tallies {
		if _, err := t.stmts.tally.ExecContext(t.ctx, k.scope, k.class, v.attempts, v.In, v.Out, v.USD, v.estimated); err != nil {
			return err
		}
	}
	return nil
}

// learn adds what a committed transaction learned.
func (c *cache) learn(learned cache) {
	if len(c.problems)+len(learned.problems) > maxCached {
		clear(c.problems)
	}
	maps.Copy(c.scopes, learned.scopes)
	maps.Copy(c.problems, learned.problems)
	maps.Copy(c.servers, learned.servers)
	maps.Copy(c.verifiers, learned.verifiers)
	maps.Copy(c.open, learned.open)
	c.last = learned.last
}

// scope returns the row of a scope, making it if need be.
func (t *transaction) scope(s Scope) (scopeRow, error) {
	if row, ok := t.cache.scopes[s]; ok {
		return row, nil
	}
	if row, ok := t.writer.cache.scopes[s]; ok {
		t.cache.scopes[s] = row
		return row, nil
	}
	params, err := canonicalJSON(s)
	if err != nil {
		return scopeRow{}, err
	}
	var row scopeRow
	err = t.stmts.scope.QueryRowContext(t.ctx, string(params)).Scan(&row.id, &row.digest, &row.rollouts, &row.checksum)
	if errors.Is(err, sql.ErrNoRows) {
		row = scopeRow{digest: digestOfScope(params)}
		err = t.stmts.addScope.QueryRowContext(t.ctx, string(params), row.digest).Scan(&row.id)
	}
	if err == nil {
		t.cache.scopes[s] = row
	}
	return row, err
}

// problem returns the row of a problem, making it if need be.
func (t *transaction) problem(text string) (id int64, key TextKey, err error) {
	key = KeyOfText(text)
	id, err = made(key, t.writer.cache.problems, t.cache.problems, func() *sql.Row { return t.stmts.problem.QueryRowContext(t.ctx, key[:], text) })
	return id, key, err
}

// server returns the row of a server, making it if need be.
func (t *transaction) server(url string) (id int64, err error) {
	return made(url, t.writer.cache.servers, t.cache.servers, func() *sql.Row { return t.stmts.server.QueryRowContext(t.ctx, url) })
}

// verifier returns the row of a version of the verifier, making it if need be.
func (t *transaction) verifier(version string) (id int64, err error) {
	return made(version, t.writer.cache.verifiers, t.cache.verifiers, func() *sql.Row { return t.stmts.verifier.QueryRowContext(t.ctx, version) })
}

// made returns the row of a key that is known from before, or from this transaction, or else is inserted now.
func made[K comparable](key K, before, now map[K]int64, insert func() *sql.Row) (id int64, err error) {
	if id, ok := before[key]; ok {
		return id, nil
	}
	if id, ok := now[key]; ok {
		return id, nil
	}
	if err = insert().Scan(&id); err == nil {
		now[key] = id
	}
	return id, err
}

// position returns where the next text of a scope goes. A block that is full is packed first.
func (t *transaction) position(scope int64, size int) (RolloutID, error) {
	o, ok := t.cache.open[scope]
	if !ok {
		o = t.writer.cache.open[scope]
	}
	if o.rows > 0 && (o.next == blockRows || o.bytes+size > blockBytes) {
		if err := t.pack(scope, o); err != nil {
			return 0, err
		}
		o = openBlock{}
	}
	if o.rows == 0 {
		t.cache.last++
		o = openBlock{block: t.cache.last}
	}
	id := idOf(o.block, o.next)
	o.next++
	o.rows++
	o.bytes += size
	t.cache.open[scope] = o
	return id, nil
}

// unposition takes back the last position of a scope.
func (t *transaction) unposition(scope int64, size int) {
	o := t.cache.open[scope]
	o.next--
	o.rows--
	o.bytes -= size
	t.cache.open[scope] = o
}

// pack moves the texts of a block that is full to a compressed one.
func (t *transaction) pack(scope int64, o openBlock) error {
	from, to := int64(idOf(o.block, 0)), int64(idOf(o.block, blockRows-1))
	rows, err := t.stmts.texts.QueryContext(t.ctx, from, to)
	if err != nil {
		return err
	}
	defer rows.Close()
	texts := make([]string, 0, 2*o.next)
	for rows.Next() {
		var id RolloutID
		var response, reasoning []byte
		if err := rows.Scan(&id, &response, &reasoning); err != nil {
			return err
		}
		for len(texts) < 2*id.pos() { // repaired: a row that was damaged is gone
			texts = append(texts, "")
		}
		texts = append(texts, string(response), string(reasoning))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if _, err := t.stmts.block.ExecContext(t.ctx, o.block, scope, o.rows, t.codec.pack(texts)); err != nil {
		return err
	}
	_, err = t.stmts.clear.ExecContext(t.ctx, from, to)
	return err
}
