package results

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"nfchain.dev/nfchain/internal/words"
)

// Last is the reference to the run that was created last.
const Last = "last"

// fewIDs are named of many.
const fewIDs = 3

// Find is the id of the run that ref means: an id, the start of one id and of
// no other, or [Last]. Else the error wraps [ErrNotFound], and names the nearest
// ids, or [ErrAmbiguous], and names the candidates.
func (s *Store) Find(ctx context.Context, ref string) (id string, err error) {
	err = look(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		id, err = find(ctx, tx, ref)
		return err
	})
	if err != nil {
		return "", s.explain("read", err)
	}
	return id, nil
}

func find(ctx context.Context, q querier, ref string) (string, error) {
	ids, err := allIDs(ctx, q)
	switch {
	case err != nil:
		return "", err
	case ref == Last && len(ids) > 0:
		return ids[0], nil
	case ref != "" && slices.Contains(ids, ref):
		return ref, nil
	}
	matches := startingWith(ids, ref)
	if ref == "" || len(matches) == 0 {
		return "", notFound(ctx, q, ref)
	}
	if len(matches) > 1 {
		return "", fmt.Errorf("%w: %q, as do %s", ErrAmbiguous, ref, words.Few(matches, fewIDs, ", "))
	}
	return matches[0], nil
}

// allIDs lists the runs' ids, the one created last first.
func allIDs(ctx context.Context, q querier) (ids []string, err error) {
	rows, err := q.QueryContext(ctx, "SELECT id FROM runs ORDER BY created_ns DESC, n DESC")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func startingWith(ids []string, prefix string) (out []string) {
	for _, id := range ids {
		if strings.HasPrefix(id, prefix) {
			out = append(out, id)
		}
	}
	return out
}

// notFound says so and names the runs whose ids are nearest.
func notFound(ctx context.Context, q querier, ref string) error {
	ids, err := allIDs(ctx, q)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return fmt.Errorf("%w: %.120q; no run is stored yet", ErrNotFound, ref)
	}
	if ref == "" {
		return fmt.Errorf("%w: the id is empty; there is %s", ErrNotFound, words.Few(ids, fewIDs, ", "))
	}
	slices.SortStableFunc(ids, func(a, b string) int {
		return levenshtein.Distance(ref, a, nil) - levenshtein.Distance(ref, b, nil)
	})
	return fmt.Errorf("%w: %.120q; the nearest are %s", ErrNotFound, ref, words.Few(ids, fewIDs, ", "))
}
