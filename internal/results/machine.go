package results

import (
	"context"
	"database/sql"
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
)

// SetMachine replaces what is known of the machine of a run and of the chains that
// were made on it: some of it shows only once a chain is up.
func (s *Store) SetMachine(ctx context.Context, id string, e trial.Environment, setups []trial.Setup) error {
	return s.ofRun(ctx, id, func(ctx context.Context, tx *sql.Tx, n int64) error {
		run := trial.Run{}
		var document string
		if err := tx.QueryRowContext(ctx, "SELECT document FROM runs WHERE n = ?", n).Scan(&document); err != nil {
			return err
		}
		if err := decodeHead(document, "[]", &run); err != nil {
			return fmt.Errorf("run %s: %w", id, err)
		}
		run.Environment, run.Setups = e, setups
		document, _, err := encodeHead(run)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE runs SET document = ? WHERE n = ?", document, n)
		return err
	})
}
