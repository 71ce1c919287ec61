package results

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// Unfinished is the id of the run to resume: the newest of that experiment,
// made from that very spec, that was interrupted or killed and that no process
// is writing, besides those that are not wanted. [ErrNotFound] where there is none. To
// use it, [Store.Resume] it.
func (s *Store) Unfinished(ctx context.Context, experiment, spec string, besides ...string) (string, error) {
	candidates, err := s.unfinished(ctx, experiment, spec)
	if err != nil {
		return "", s.explain("read", err)
	}
	for _, c := range candidates {
		if !slices.Contains(besides, c.ID) && !s.isHeld(c.ID, c.number) {
			return c.ID, nil
		}
	}
	return "", fmt.Errorf("%w: none of experiment %q was interrupted", ErrNotFound, experiment)
}

func (s *Store) unfinished(ctx context.Context, experiment, spec string) (out []Summary, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT n, id FROM runs WHERE experiment = ? AND spec = ?
		AND state IN (?, ?) ORDER BY created_ns DESC, n DESC`,
		experiment, spec, trial.Running, trial.Interrupted)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c Summary
		if err := rows.Scan(&c.number, &c.ID); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Resume takes up an interrupted run: this store holds it and its state is
// running again. What is stored of it comes back, so that only the rest need be
// measured. [ErrHeld] where another process was first.
func (s *Store) Resume(ctx context.Context, id string) (run trial.Run, err error) {
	err = s.ofRun(ctx, id, func(ctx context.Context, tx *sql.Tx, n int64) error {
		if s.isHeld(id, n) {
			return fmt.Errorf("run %s: %w", id, ErrHeld)
		}
		if err := s.hold(id, n); err != nil {
			return fmt.Errorf("run %s: %w", id, err)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE runs SET state = ? WHERE n = ?", trial.Running, n); err != nil {
			return err
		}
		run, err = s.get(ctx, tx, id)
		return err
	})
	if err != nil && !errors.Is(err, ErrHeld) {
		s.release(id)
	}
	return run, err
}
