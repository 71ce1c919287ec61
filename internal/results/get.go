package results

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
)

// Get reads the whole run of exactly that id, its trials in the order they were
// made. A run that was killed reads as interrupted.
func (s *Store) Get(ctx context.Context, id string) (run trial.Run, err error) {
	err = look(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		run, err = s.get(ctx, tx, id)
		return err
	})
	return run, s.explain("read", err)
}

func (s *Store) get(ctx context.Context, q querier, id string) (run trial.Run, err error) {
	n, err := number(ctx, q, id)
	if err != nil {
		return run, err
	}
	var document, warnings, state string
	row := q.QueryRowContext(ctx, "SELECT document, warnings, state FROM runs WHERE n = ?", n)
	if err := row.Scan(&document, &warnings, &state); err != nil {
		return run, err
	}
	if err := decodeHead(document, warnings, &run); err != nil {
		return run, fmt.Errorf("run %s: %w", id, err)
	}
	run.State = s.seenState(id, n, state)
	run.Trials, err = trialsOf(ctx, q, n)
	return run, err
}

// decodeHead reads a run without its trials. The error is [ErrNewer] or [ErrCorrupt];
// which schema it has is looked at before anything else, since a newer one may not read
// as this.
func decodeHead(document, warnings string, run *trial.Run) error {
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal([]byte(document), &head); err == nil && head.SchemaVersion > trial.SchemaVersion {
		return fmt.Errorf("schema_version %d, and this nfchain reads up to %d: %w", head.SchemaVersion, trial.SchemaVersion, ErrNewer)
	}
	var list []string
	if err := errors.Join(json.Unmarshal([]byte(document), run), json.Unmarshal([]byte(warnings), &list)); err != nil {
		return fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	run.Warnings = list
	return nil
}

// trialsOf reads the trials of the run of that number.
func trialsOf(ctx context.Context, q querier, n int64) ([]trial.Trial, error) {
	rows, err := q.QueryContext(ctx, "SELECT document FROM trials WHERE run = ? ORDER BY n", n)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := []trial.Trial{}
	for rows.Next() {
		var document sql.RawBytes
		if err := rows.Scan(&document); err != nil {
			return nil, err
		}
		var t trial.Trial
		if err := json.Unmarshal(document, &t); err != nil {
			return nil, fmt.Errorf("trial %d: %w: %v", len(out)+1, ErrCorrupt, err)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}
