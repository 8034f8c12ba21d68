// Files of rollouts, verified and repaired.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Findings are what a check of a file of rollouts found.
type Findings struct {
	Rollouts, Attempts int64
	Faults             []string // each a sentence that names a row, a block or a page
	Notes              []string // what is no fault and should be known

	Removed   int64   // rows that a repair removes
	Lost      int64   // of these, answers, which are asked again
	USD       float64 // what that is likely to cost: as many as there are by the mean of those before
	Structure bool    // the file itself is damaged, and not only rows in it
	Kept      int64   // rollouts that could be read of such a file when it was repaired
}

// Check verifies the file: SQLite's own integrity check and foreign keys, every row, every text, and that nothing is missing.
// The error says that the file cannot be read.
func (db *Rollouts) Check(ctx context.Context) (*Findings, error) {
	c := newChecker(db.codec)
	if err := db.look(ctx, "check", func(tx *sql.Tx) error { return c.check(ctx, tx) }); err != nil {
		return nil, err
	}
	return c.findings(), nil
}

// Repair checks and, in one transaction, removes every row that is not what was written, with what belongs to it, so that it is
// asked again. It returns what it found before. A file whose structure is damaged is left as it is.
func (db *Rollouts) Repair(ctx context.Context) (*Findings, error) {
	c := newChecker(db.codec)
	err := db.w.wait(change{do: func(t *transaction) error {
		if err := c.check(t.ctx, t.conn); err != nil || c.structure {
			return err
		}
		t.broken = errors.New("the file was repaired; open it again")
		return c.repair(t.ctx, t.conn)
	}})
	if err != nil {
		return nil, fmt.Errorf("rollouts %q: repair: %w", db.path, err)
	}
	return c.findings(), nil
}

// checker is one pass over a file.
type checker struct {
	codec     codec
	faults    []string
	more      map[string]int // faults beyond those that are listed, by kind
	notes     []string
	structure bool
	attempts  int64
	answered  int64   // attempts
	usd       float64 // of these

	scopes   map[int64]*scopeRow // by id; nil: damaged
	problems map[int64]*TextKey  // by id; nil: damaged
	texts    map[RolloutID]int64 // digests
	blocks   map[int64]int64     // rows that packed blocks say they have
	rollouts map[RolloutID]bool  // true: sound
	counts   map[int64]int64     // sound rollouts by block
	sums     map[int64]scopeRow  // of sound rollouts, by scope

	badBlocks, badUnpacked, badAttempts []int64
	badVerdicts, badFailures            [][]any
}

func newChecker(codec codec) *checker {
	return &checker{codec: codec, more: map[string]int{}, scopes: map[int64]*scopeRow{}, problems: map[int64]*TextKey{}, texts: map[RolloutID]int64{},
		blocks: map[int64]int64{}, rollouts: map[RolloutID]bool{}, counts: map[int64]int64{}, sums: map[int64]scopeRow{}}
}

// listed is how many faults of one kind are listed one by one.
const listedFaults = 20

// fault notes a fault of a kind.
func (c *checker) fault(kind, format string, args ...any) {
	if c.more[kind]++; c.more[kind] <= listedFaults {
		c.faults = append(c.faults, kind+" "+fmt.Sprintf(format, args...))
	}
}

func (c *checker) findings() *Findings {
	f := &Findings{Rollouts: int64(len(c.rollouts)), Attempts: c.attempts, Faults: c.faults, Notes: c.notes, Structure: c.structure}
	for _, kind := range slices.Sorted(maps.Keys(c.more)) {
		if n := c.more[kind] - listedFaults; n > 0 {
			f.Faults = append(f.Faults, fmt.Sprintf("%s: %d more", kind, n))
		}
	}
	for _, sound := range c.rollouts {
		if !sound {
			f.Lost++
		}
	}
	if c.answered > 0 {
		f.USD = c.usd / float64(c.answered) * float64(f.Lost)
	}
	f.Removed = f.Lost + int64(len(c.badVerdicts)+len(c.badFailures)+len(c.badAttempts))
	return f
}

// check reads everything. Damage to the file itself ends it and is a fault.
func (c *checker) check(ctx context.Context, q querier) error {
	err := c.all(ctx, q)
	var e *sqlite.Error
	if errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB) {
		c.structure = true
		c.fault("file", "cannot be read to its end: %v", err)
		return nil
	}
	return err
}

func (c *checker) all(ctx context.Context, q querier) error {
	if err := scan(ctx, q, "PRAGMA integrity_check(20)", nil, func(rows *sql.Rows) error {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			c.structure = true
			c.fault("page", "SQLite says: %s", line)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, pass := range []func(context.Context, querier) error{c.readScopes, c.readProblems, c.readBlocks, c.readUnpacked, c.readRollouts, c.compare, c.readVerdicts, c.readFailures, c.readAttempts, c.foreignKeys} {
		if err := pass(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) readScopes(ctx context.Context, q querier) error {
	return scan(ctx, q, "SELECT id, params, digest, rollouts, checksum FROM scope", nil, func(rows *sql.Rows) error {
		var s scopeRow
		var params []byte
		if err := rows.Scan(&s.id, &params, &s.digest, &s.rollouts, &s.checksum); err != nil {
			return err
		}
		c.scopes[s.id] = &s
		var scope Scope
		if digestOfScope(params) != s.digest || json.Unmarshal(params, &scope) != nil {
			c.scopes[s.id] = nil
			c.fault("scope", "%d is not what was written: nothing under it can be found", s.id)
		}
		return nil
	})
}

func (c *checker) readProblems(ctx context.Context, q querier) error {
	return scan(ctx, q, "SELECT id, hash, text FROM problem", nil, func(rows *sql.Rows) error {
		var id int64
		var hash []byte
		var text string
		if err := rows.Scan(&id, &hash, &text); err != nil {
			return err
		}
		key := KeyOfText(text)
		c.problems[id] = &key
		if string(hash) != string(key[:]) {
			c.problems[id] = nil
			c.fault("problem", "%d has another text than was asked", id)
		}
		return nil
	})
}

func (c *checker) readBlocks(ctx context.Context, q querier) error {
	return scan(ctx, q, "SELECT block, rows, texts FROM response", nil, func(rows *sql.Rows) error {
		var block, n int64
		var packed sql.RawBytes
		if err := rows.Scan(&block, &n, &packed); err != nil {
			return err
		}
		c.blocks[block] = n
		all, err := c.codec.unpack(packed)
		if err != nil || len(all)%2 != 0 {
			c.badBlocks = append(c.badBlocks, block)
			c.fault("block", "%d of %d texts cannot be decompressed", block, n)
			return nil
		}
		for i := 0; i < len(all); i += 2 {
			c.texts[idOf(block, i/2)] = digestOfText(all[i], all[i+1])
		}
		return nil
	})
}

func (c *checker) readUnpacked(ctx context.Context, q querier) error {
	return scan(ctx, q, "SELECT id, response, reasoning, digest FROM unpacked", nil, func(rows *sql.Rows) error {
		var id RolloutID
		var response, reasoning []byte
		var digest int64
		if err := rows.Scan(&id, &response, &reasoning, &digest); err != nil {
			return err
		}
		if digestOfText(string(response), string(reasoning)) != digest {
			c.fault("text", "%d is not what was written", id)
			c.badUnpacked = append(c.badUnpacked, int64(id))
			return nil
		}
		c.texts[id] = digest
		return nil
	})
}

func (c *checker) readRollouts(ctx context.Context, q querier) error {
	var buf fields
	return scan(ctx, q, "SELECT scope, problem, run, seed, id, finish, tokens_in, tokens_out, text, digest FROM rollout", nil, func(rows *sql.Rows) error {
		var s Stored
		var scope, problem, seed, digest int64
		if err := rows.Scan(&scope, &problem, &s.Key.Run, &seed, &s.ID, &s.Finish, &s.In, &s.Out, &s.text, &digest); err != nil {
			return err
		}
		s.Key.Seed = uint64(seed)
		_, twice := c.rollouts[s.ID]
		of, key := c.scopes[scope], c.problems[problem]
		text, there := c.texts[s.ID]
		c.rollouts[s.ID] = false
		switch {
		case twice:
			c.fault("rollout", "%d is there twice", s.ID)
		case of == nil:
			c.fault("rollout", "%d belongs to scope %d, which is damaged or gone", s.ID, scope)
		case key == nil:
			c.fault("rollout", "%d belongs to problem %d, which is damaged or gone", s.ID, problem)
		case !there:
			c.fault("rollout", "%d has lost its text", s.ID)
		default:
			s.Key.Problem = *key
			switch {
			case s.digest(buf, of.digest) != digest:
				c.fault("rollout", "%d is not what was written", s.ID)
			case text != s.text:
				c.fault("rollout", "%d has another text than was written", s.ID)
			default:
				c.rollouts[s.ID] = true
				c.counts[s.ID.block()]++
				sum := c.sums[scope]
				sum.rollouts++
				sum.checksum ^= digest
				c.sums[scope] = sum
			}
		}
		return nil
	})
}

// compare holds what there is against what was counted when it was written. Rows that are damaged were named before.
func (c *checker) compare(context.Context, querier) error {
	damaged := map[int64]int64{} // by block
	for id, sound := range c.rollouts {
		if !sound {
			damaged[id.block()]++
		}
	}
	for id, s := range c.scopes {
		if s == nil {
			continue
		}
		sum := c.sums[id]
		if (sum.rollouts != s.rollouts || sum.checksum != s.checksum) && len(damaged) == 0 {
			c.fault("scope", "%d has %d rollouts, and %d were stored: others, or fewer", id, sum.rollouts, s.rollouts)
		}
	}
	for block, n := range c.blocks {
		if have := c.counts[block] + damaged[block]; c.counts[block] != n && have != n && !slices.Contains(c.badBlocks, block) {
			c.fault("block", "%d holds the texts of %d rollouts, and %d are there", block, n, have)
		}
	}
	for id := range c.texts {
		if _, packed := c.blocks[id.block()]; !packed {
			if _, ok := c.rollouts[id]; !ok {
				c.fault("text", "%d belongs to no rollout", id)
				c.badUnpacked = append(c.badUnpacked, int64(id))
			}
		}
	}
	return nil
}

func (c *checker) readVerdicts(ctx context.Context, q querier) error {
	var buf fields
	return scan(ctx, q, `SELECT v.verifier, f.version, v.rollout, v.gold, v.bucket, v.reason, v.extracted, v.digest
		FROM verdict v LEFT JOIN verifier f ON f.id = v.verifier`, nil, func(rows *sql.Rows) error {
		var verifier, gold, digest int64
		var version sql.NullString
		var v Verdict
		if err := rows.Scan(&verifier, &version, &v.Rollout, &gold, &v.Bucket, &v.Reason, &v.Extracted, &digest); err != nil {
			return err
		}
		v.Gold = uint64(gold)
		_, graded := c.rollouts[v.Rollout]
		switch {
		case !version.Valid:
			c.fault("verdict", "on rollout %d is of a verifier that is gone", v.Rollout)
		case !graded:
			c.fault("verdict", "of version %s is on rollout %d, which is gone", version.String, v.Rollout)
		case v.digest(buf, version.String) != digest:
			c.fault("verdict", "of version %s on rollout %d is not what was written", version.String, v.Rollout)
		default:
			return nil
		}
		c.badVerdicts = append(c.badVerdicts, []any{verifier, int64(v.Rollout)})
		return nil
	})
}

func (c *checker) readFailures(ctx context.Context, q querier) error {
	var buf fields
	return scan(ctx, q, "SELECT scope, problem, run, seed, class, error, again, digest FROM failure", nil, func(rows *sql.Rows) error {
		var f Failed
		var scope, problem, seed, digest int64
		if err := rows.Scan(&scope, &problem, &f.Key.Run, &seed, &f.Class, &f.Error, &f.Again, &digest); err != nil {
			return err
		}
		of, key := c.scopes[scope], c.problems[problem]
		if f.Key.Seed = uint64(seed); key != nil {
			f.Key.Problem = *key
		}
		if of == nil || key == nil || f.digest(buf, of.digest) != digest {
			c.fault("failure", "of scope %d on problem %d, run %d, is not what was written", scope, problem, f.Key.Run)
			c.badFailures = append(c.badFailures, []any{scope, problem, f.Key.Run, seed})
		}
		return nil
	})
}

func (c *checker) readAttempts(ctx context.Context, q querier) error {
	var buf fields
	tallies := map[tallyKey]tally{}
	open, bound := 0, 0.0
	if err := scan(ctx, q, `SELECT a.id, coalesce(a.process, 0), a.scope, a.problem, a.run, a.seed, coalesce(v.url, ''), a.began, a.most_in, a.most_out, a.most_usd,
		a.ended, a.class, a.error, a.tokens_in, a.tokens_out, a.usd, a.estimated, a.digest FROM attempt a LEFT JOIN server v ON v.id = a.server`, nil, func(rows *sql.Rows) error {
		var a StoredAttempt
		var scope, problem, seed, began, digest int64
		var ended sql.NullInt64
		if err := rows.Scan(&a.ID, &a.Process, &scope, &problem, &a.Key.Run, &seed, &a.Server, &began, &a.Most.In, &a.Most.Out, &a.Most.USD,
			&ended, &a.Class, &a.Error, &a.Spent.In, &a.Spent.Out, &a.Spent.USD, &a.Estimated, &digest); err != nil {
			return err
		}
		c.attempts++
		of, key := c.scopes[scope], c.problems[problem]
		if of != nil && key != nil {
			a.Key.Problem, a.Key.Seed, a.Began = *key, uint64(seed), time.UnixMilli(began)
			if a.digest(buf, of.digest, ended) == digest {
				if !ended.Valid {
					open++
					bound += a.Most.USD
					return nil
				}
				if a.Class == AnsweredClass {
					c.answered++
					c.usd += a.Spent.USD
				}
				v := tallies[tallyKey{scope, a.Class}]
				v.attempts++
				v.Add(a.Spent)
				if a.Estimated {
					v.estimated++
				}
				tallies[tallyKey{scope, a.Class}] = v
				return nil
			}
		}
		c.fault("attempt", "%d is not what was written", a.ID)
		c.badAttempts = append(c.badAttempts, int64(a.ID))
		return nil
	}); err != nil {
		return err
	}
	if open > 0 {
		c.notes = append(c.notes, fmt.Sprintf("attempts without an end: %d, which cost at most %.6f dollars together", open, bound))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) }
	if err := scan(ctx, q, "SELECT scope, class, attempts, tokens_in, tokens_out, usd, estimated FROM tally", nil, func(rows *sql.Rows) error {
		var k tallyKey
		var v tally
		if err := rows.Scan(&k.scope, &k.class, &v.attempts, &v.In, &v.Out, &v.USD, &v.estimated); err != nil {
			return err
		}
		w := tallies[k]
		delete(tallies, k)
		differs := !near(v.USD, w.USD) || v.attempts != w.attempts || v.In != w.In || v.Out != w.Out || v.estimated != w.estimated
		if differs && len(c.badAttempts) == 0 {
			c.fault("sum", "of the attempts of scope %d that ended as %q is %d attempts and %.6f dollars, and there are %d of %.6f", k.scope, k.class, v.attempts, v.USD, w.attempts, w.USD)
		}
		return nil
	}); err != nil {
		return err
	}
	for k, v := range tallies {
		c.fault("sum", "of the attempts of scope %d that ended as %q is gone, and there are %d", k.scope, k.class, v.attempts)
	}
	return nil
}

// foreignKeys says what refers to rows that are gone, unless it was found before.
func (c *checker) foreignKeys(ctx context.Context, q querier) error {
	before := len(c.faults)
	return scan(ctx, q, `SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1`, nil, func(rows *sql.Rows) error {
		var table string
		var n int
		if err := rows.Scan(&table, &n); err != nil {
			return err
		}
		if before == 0 {
			c.fault("table", "%s has %d rows that refer to rows that are gone", table, n)
		}
		return nil
	})
}

// repair removes what is damaged, and counts again.
func (c *checker) repair(ctx context.Context, conn *sql.Conn) error {
	run := func(query string, all ...[]any) error {
		for _, args := range all {
			if _, err := conn.ExecContext(ctx, query, args...); err != nil {
				return err
			}
		}
		return nil
	}
	one := func(ids []int64) (all [][]any) {
		for _, id := range ids {
			all = append(all, []any{id})
		}
		return all
	}
	var rollouts, scopes, problems []int64
	for id, sound := range c.rollouts {
		if !sound {
			rollouts = append(rollouts, int64(id))
		}
	}
	for id, s := range c.scopes {
		if s == nil {
			scopes = append(scopes, id)
		}
	}
	for id, p := range c.problems {
		if p == nil {
			problems = append(problems, id)
		}
	}
	// Rollouts have no index by id.
	if err := run("CREATE TEMP TABLE IF NOT EXISTS bad (id INTEGER PRIMARY KEY)", nil); err != nil {
		return err
	}
	if err := run("INSERT INTO bad VALUES (?)", one(rollouts)...); err != nil {
		return err
	}
	var counts, sums [][]any
	for block := range c.blocks {
		if n := c.counts[block]; n > 0 {
			counts = append(counts, []any{n, block})
		} else {
			c.badBlocks = append(c.badBlocks, block)
		}
	}
	for id := range c.scopes {
		s := c.sums[id]
		sums = append(sums, []any{s.rollouts, s.checksum, id})
	}
	for _, r := range []struct {
		query string
		args  [][]any
	}{
		{"DELETE FROM verdict WHERE rollout IN (SELECT id FROM bad)", [][]any{nil}},
		{"DELETE FROM unpacked WHERE id IN (SELECT id FROM bad)", [][]any{nil}},
		{"DELETE FROM rollout WHERE id IN (SELECT id FROM bad)", [][]any{nil}},
		{"DELETE FROM bad", [][]any{nil}},
		{"DELETE FROM response WHERE block = ?", one(c.badBlocks)},
		{"DELETE FROM unpacked WHERE id = ?", one(c.badUnpacked)},
		{"DELETE FROM verdict WHERE verifier = ? AND rollout = ?", c.badVerdicts},
		{"DELETE FROM failure WHERE scope = ? AND problem = ? AND run = ? AND seed = ?", c.badFailures},
		{"DELETE FROM attempt WHERE id = ?", one(c.badAttempts)},
		{`INSERT INTO process SELECT DISTINCT process, '', 'a command that is lost', 0, '', 0 FROM attempt
			WHERE process IS NOT NULL AND process NOT IN (SELECT id FROM process)`, [][]any{nil}}, // what attempts cost stays known
		{"DELETE FROM problem WHERE id = ?", one(problems)},
		{"DELETE FROM tally", [][]any{nil}},
		{"DELETE FROM scope WHERE id = ?", one(scopes)},
		{"INSERT INTO tally SELECT scope, class, count(*), sum(tokens_in), sum(tokens_out), sum(usd), sum(estimated) FROM attempt WHERE ended IS NOT NULL GROUP BY 1, 2", [][]any{nil}},
		{"UPDATE response SET rows = ? WHERE block = ?", counts},
		{"UPDATE scope SET rollouts = ?, checksum = ? WHERE id = ?", sums},
	} {
		if err := run(r.query, r.args...); err != nil {
			return err
		}
	}
	return nil
}
