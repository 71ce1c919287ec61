package results

import (
	"context"
	"database/sql"
)

// querier is what a connection and a transaction have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// change runs f in one transaction, committed where f returns no error.
func change(ctx context.Context, db *sql.DB, f func(context.Context, *sql.Tx) error) error {
	return transact(ctx, db, nil, f)
}

// look runs f in one transaction that only reads, so that all of what it reads
// is of one moment.
func look(ctx context.Context, db *sql.DB, f func(context.Context, *sql.Tx) error) error {
	return transact(ctx, db, &sql.TxOptions{ReadOnly: true}, f)
}

func transact(ctx context.Context, db *sql.DB, o *sql.TxOptions, f func(context.Context, *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		_ = tx.Rollback() // the first error is the one to tell
		return err
	}
	return tx.Commit()
}
