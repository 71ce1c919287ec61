package results

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// Records are what is kept beside runs, one document for a kind and a key: how far a
// sequence of experiments is, and what a calibration found of a machine. They refer to
// runs by id, and say nothing that those say.

// SetRecord keeps a document, in place of the one that was there.
func (s *Store) SetRecord(ctx context.Context, kind, key string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("record %s %s: %w", kind, key, err)
	}
	return s.explain("write", change(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO records (kind, key, document) VALUES (?,?,?)
			ON CONFLICT (kind, key) DO UPDATE SET document = excluded.document`, kind, key, string(text))
		return err
	}))
}

// Record reads a document; there tells whether there is one.
func (s *Store) Record(ctx context.Context, kind, key string, into any) (there bool, err error) {
	var text string
	err = look(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT document FROM records WHERE kind = ? AND key = ?", kind, key).Scan(&text)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, s.explain("read", err)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return false, fmt.Errorf("record %s %s: %w: %v", kind, key, ErrCorrupt, err)
	}
	return true, nil
}

// RemoveRecord forgets a document; one that is not there is forgotten already.
func (s *Store) RemoveRecord(ctx context.Context, kind, key string) error {
	return s.explain("write", change(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM records WHERE kind = ? AND key = ?", kind, key)
		return err
	}))
}
