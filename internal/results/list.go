package results

import (
	"context"
	"time"
)

// Summary is one run as a list shows it.
type Summary struct {
	ID         string    `json:"run"`
	Chain      string    `json:"chain"`
	Experiment string    `json:"experiment,omitempty"`
	State      string    `json:"state"`
	CreatedAt  time.Time `json:"created_at"`
	// Conditions is how many the run has.
	Conditions int `json:"conditions"`
	// Trials is how many are stored.
	Trials int `json:"trials"`

	number int64
}

// List summarizes every run, the one created last first; never nil.
func (s *Store) List(ctx context.Context) ([]Summary, error) {
	out, err := s.list(ctx)
	if err != nil {
		return nil, s.explain("read", err)
	}
	for i := range out {
		out[i].State = s.seenState(out[i].ID, out[i].number, out[i].State)
	}
	return out, nil
}

func (s *Store) list(ctx context.Context) ([]Summary, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT n, id, chain, experiment, state, created_ns, conditions,
		(SELECT count(*) FROM trials WHERE run = runs.n) FROM runs ORDER BY created_ns DESC, n DESC`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := []Summary{}
	for rows.Next() {
		var (
			r       Summary
			created int64
		)
		err := rows.Scan(&r.number, &r.ID, &r.Chain, &r.Experiment, &r.State, &created, &r.Conditions, &r.Trials)
		if err != nil {
			return nil, err
		}
		r.CreatedAt = time.Unix(0, created).UTC()
		out = append(out, r)
	}
	return out, rows.Err()
}
