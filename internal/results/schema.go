package results

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// applicationID marks the file as nfchain's ("nfch"), for us and for file(1).
const applicationID = 0x6e666368

// migrations lead from one schema version to the next; their number is the
// version this nfchain writes. One that was released is never edited.
var migrations = []string{
	// A run's document is the run without its trials, state and warnings. The
	// number n is never used again, because locks are keyed by it.
	`CREATE TABLE runs (
		n INTEGER PRIMARY KEY AUTOINCREMENT,
		id TEXT NOT NULL UNIQUE,
		chain TEXT NOT NULL,
		experiment TEXT NOT NULL,
		state TEXT NOT NULL,
		created_ns INTEGER NOT NULL,
		conditions INTEGER NOT NULL,
		spec TEXT NOT NULL,
		warnings TEXT NOT NULL,
		document TEXT NOT NULL
	) STRICT;
	CREATE INDEX runs_created ON runs (created_ns);
	CREATE TABLE trials (
		n INTEGER PRIMARY KEY,
		run INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
		condition INTEGER NOT NULL,
		repeat INTEGER NOT NULL,
		document TEXT NOT NULL,
		UNIQUE (run, condition, repeat)
	) STRICT;`,
	// A search makes several trials in one repeat.
	`CREATE TABLE steps (
		n INTEGER PRIMARY KEY,
		run INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
		condition INTEGER NOT NULL,
		repeat INTEGER NOT NULL,
		step INTEGER NOT NULL,
		document TEXT NOT NULL,
		UNIQUE (run, condition, repeat, step)
	) STRICT;
	INSERT INTO steps SELECT n, run, condition, repeat, 0, document FROM trials;
	DROP TABLE trials;
	ALTER TABLE steps RENAME TO trials;`,
	// What is kept beside runs.
	`CREATE TABLE records (
		kind TEXT NOT NULL,
		key TEXT NOT NULL,
		document TEXT NOT NULL,
		PRIMARY KEY (kind, key)
	) STRICT;`,
}

// migrate brings the file to the newest schema, in one transaction, so that a
// kill leaves it at the old or the new one.
func migrate(ctx context.Context, db *sql.DB) error {
	have := 0
	err := look(ctx, db, func(ctx context.Context, tx *sql.Tx) (err error) {
		have, err = version(ctx, tx)
		return err
	})
	if err != nil || have == len(migrations) {
		return err
	}
	if have > len(migrations) {
		return fmt.Errorf("%w (schema %d; this one knows up to %d)", ErrNewer, have, len(migrations))
	}
	if have == 0 {
		// So that space comes back with `runs rm`; it must precede the first table.
		if _, err := db.ExecContext(ctx, "PRAGMA auto_vacuum = FULL"); err != nil {
			return err
		}
	}
	return change(ctx, db, raise)
}

// raise runs the migrations that are missing. It asks again which, because
// another process may have been first.
func raise(ctx context.Context, tx *sql.Tx) error {
	have, err := version(ctx, tx)
	if err != nil {
		return err
	}
	for ; have < len(migrations); have++ {
		if _, err := tx.ExecContext(ctx, migrations[have]); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, have))
	return err
}

// version is the schema version of the file, 0 for an empty one. A database of
// something else is refused.
func version(ctx context.Context, q querier) (have int, err error) {
	var application, tables int
	err = errors.Join(
		q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have),
		q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application),
		q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables))
	if err == nil && tables > 0 && application != applicationID {
		return 0, ErrForeign
	}
	return have, err
}
