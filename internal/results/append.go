package results

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
)

// AppendTrial stores one trial of a run in a transaction of its own: when it
// returns nil the trial survives whatever happens next. [ErrExists] where the
// run already has this repeat (and step) of this condition.
func (s *Store) AppendTrial(ctx context.Context, id string, t trial.Trial) error {
	return s.ofRun(ctx, id, func(ctx context.Context, tx *sql.Tx, n int64) error {
		var conditions int
		if err := tx.QueryRowContext(ctx, "SELECT conditions FROM runs WHERE n = ?", n).Scan(&conditions); err != nil {
			return err
		}
		if t.Condition < 0 || t.Condition >= conditions {
			return fmt.Errorf("%w: run %s has %d, none of index %d", errCondition, id, conditions, t.Condition)
		}
		return insertTrial(ctx, tx, n, id, t)
	})
}

// SetState gives a run its state. Any other than running ends this store's hold
// on it.
func (s *Store) SetState(ctx context.Context, id, state string) error {
	if !validState(state) {
		return fmt.Errorf("%q is not a state of a run", state)
	}
	err := s.ofRun(ctx, id, func(ctx context.Context, tx *sql.Tx, n int64) error {
		_, err := tx.ExecContext(ctx, "UPDATE runs SET state = ? WHERE n = ?", state, n)
		return err
	})
	if err == nil && state != trial.Running {
		s.release(id)
	}
	return err
}

// SetWarnings replaces a run's warnings.
func (s *Store) SetWarnings(ctx context.Context, id string, warnings []string) error {
	text, err := json.Marshal(append([]string{}, warnings...))
	if err != nil {
		return err
	}
	return s.ofRun(ctx, id, func(ctx context.Context, tx *sql.Tx, n int64) error {
		_, err := tx.ExecContext(ctx, "UPDATE runs SET warnings = ? WHERE n = ?", string(text), n)
		return err
	})
}

// ofRun runs f in one transaction with the number of the run of that id.
func (s *Store) ofRun(ctx context.Context, id string, f func(context.Context, *sql.Tx, int64) error) error {
	return s.explain("write", change(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		n, err := number(ctx, tx, id)
		if err != nil {
			return err
		}
		return f(ctx, tx, n)
	}))
}

// number is the number of the run of exactly that id.
func number(ctx context.Context, q querier, id string) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT n FROM runs WHERE id = ?", id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound(ctx, q, id)
	}
	return n, err
}

func validState(state string) bool {
	switch state {
	case trial.Running, trial.Done, trial.Interrupted, trial.Failed:
		return true
	}
	return false
}
