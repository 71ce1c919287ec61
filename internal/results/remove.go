package results

import (
	"context"
	"database/sql"
	"fmt"
)

// Remove removes the runs of exactly these ids and gives their space back, all
// of them or, on an error, none. A run that is being written is not removed
// ([ErrHeld]).
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	return s.explain("remove", change(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			if err := s.remove(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (s *Store) remove(ctx context.Context, tx *sql.Tx, id string) error {
	n, err := number(ctx, tx, id)
	if err != nil {
		return err
	}
	if s.isHeld(id, n) {
		return fmt.Errorf("run %s: %w; stop it first", id, ErrHeld)
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM runs WHERE n = ?", n)
	return err
}
