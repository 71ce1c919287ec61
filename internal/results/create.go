package results

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
)

// CreateRun stores a run, with the trials it may have, in one transaction. A
// run whose state is running is held by this store until [Store.SetState] gives
// it another or the store is closed. [ErrExists] where the id is taken.
func (s *Store) CreateRun(ctx context.Context, run trial.Run) error {
	if err := checkID(run.ID); err != nil {
		return err
	}
	held := false
	err := change(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		n, err := insertRun(ctx, tx, run)
		if err == nil && run.State == trial.Running {
			// Before the commit: nobody may see the run and take it for a dead one.
			err = s.hold(run.ID, n)
			held = err == nil
		}
		return err
	})
	if err != nil && held {
		s.release(run.ID)
	}
	return s.explain("write", err)
}

// insertRun writes a run and its trials and gives its number.
func insertRun(ctx context.Context, tx *sql.Tx, run trial.Run) (int64, error) {
	document, warnings, err := encodeHead(run)
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", run.ID, err)
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO runs
		(id, chain, experiment, state, created_ns, conditions, spec, warnings, document) VALUES (?,?,?,?,?,?,?,?,?)`,
		run.ID, run.Chain, run.Experiment, run.State, run.CreatedAt.UnixNano(), len(run.Conditions), run.Spec,
		warnings, document)
	if isConstraint(err) {
		return 0, fmt.Errorf("run %s: %w", run.ID, ErrExists)
	}
	if err != nil {
		return 0, err
	}
	n, err := r.LastInsertId()
	for i := 0; err == nil && i < len(run.Trials); i++ {
		err = insertTrial(ctx, tx, n, run.ID, run.Trials[i])
	}
	return n, err
}

// insertTrial writes one trial as it is, before anything is made of it.
func insertTrial(ctx context.Context, tx *sql.Tx, n int64, id string, t trial.Trial) error {
	name := fmt.Sprintf("run %s, condition %d, repeat %d", id, t.Condition, t.Repeat)
	if t.Step > 0 {
		name += fmt.Sprintf(", step %d", t.Step)
	}
	document, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO trials (run, condition, repeat, step, document) VALUES (?,?,?,?,?)",
		n, t.Condition, t.Repeat, t.Step, string(document))
	if isConstraint(err) {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	return err
}

// encodeHead is a run without what has rows or columns of its own.
func encodeHead(run trial.Run) (document, warnings string, err error) {
	w, err := json.Marshal(append([]string{}, run.Warnings...))
	if err != nil {
		return "", "", err
	}
	run.Trials, run.Warnings, run.State = nil, nil, ""
	d, err := json.Marshal(run)
	return string(d), string(w), err
}
