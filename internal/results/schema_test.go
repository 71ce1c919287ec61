package results

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", address(path))
	must(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.Exec(statement)
	must(t, err)
}

func TestNewerSchemaIsRefused(t *testing.T) {
	s := open(t)
	must(t, s.Close())
	execute(t, s.Path(), "PRAGMA user_version = 99")
	if _, err := Open(s.Path()); !errors.Is(err, ErrNewer) {
		t.Error(err)
	}
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	database := filepath.Join(dir, "other.db")
	execute(t, database, "CREATE TABLE songs (name TEXT)")
	text := filepath.Join(dir, "text.db")
	must(t, os.WriteFile(text, []byte("a text that is rather longer than SQLite's header is, so that it looks"), 0o600))
	for _, path := range []string{database, text} {
		before, err := os.ReadFile(path)
		must(t, err)
		if _, err := Open(path); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", path, err)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if string(before) != string(after) {
			t.Errorf("%s was changed", path)
		}
	}
	if _, err := Open(dir); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
}

func TestMigrationFromOlderSchema(t *testing.T) {
	s, ctx := open(t), context.Background()
	must(t, s.CreateRun(ctx, sampleRun("a", start)))
	must(t, s.Close())
	released := migrations
	migrations = append(migrations[:len(migrations):len(migrations)], "ALTER TABLE runs ADD COLUMN later TEXT NOT NULL DEFAULT 'x'")
	defer func() { migrations = released }()
	newer := openAt(t, s.Path())
	if have, err := version(ctx, newer.db); have != len(migrations) || err != nil {
		t.Errorf("schema %d, %v", have, err)
	}
	get(t, newer, "a")
}

// TestMigrationToSteps has trials of a file from before searches.
func TestMigrationToSteps(t *testing.T) {
	released, ctx, path := migrations, context.Background(), filepath.Join(t.TempDir(), "old.db")
	migrations = released[:1]
	s := openAt(t, path)
	migrations = released
	must(t, s.Close())
	execute(t, path, `INSERT INTO runs VALUES (1, 'old', 'edge', '', 'done', 0, 1, '', '[]', '{"run":"old","conditions":[{}]}');
		INSERT INTO trials VALUES (7, 1, 0, 1, '{"condition":0,"repeat":1,"metrics":{"goodput_bps":5}}')`)
	s = openAt(t, path)
	if r := get(t, s, "old"); len(r.Trials) != 1 || r.Trials[0].Metrics["goodput_bps"] != 5 {
		t.Errorf("%+v", r.Trials)
	}
	for step := 1; step <= 2; step++ {
		must(t, s.AppendTrial(ctx, "old", trial.Trial{Repeat: 2, Step: step}))
	}
	if err := s.AppendTrial(ctx, "old", trial.Trial{Repeat: 2, Step: 2}); !errors.Is(err, ErrExists) {
		t.Errorf("the same step twice: %v", err)
	}
	if r := get(t, s, "old"); len(r.Trials) != 3 || r.Trials[2].Step != 2 {
		t.Errorf("%+v", r.Trials)
	}
}

func TestManyOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	var wg sync.WaitGroup
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		}()
	}
	wg.Wait()
}

// TestRunOfANewer nfchain is not damaged, also where the rest of it reads as nothing known.
func TestRunOfANewer(t *testing.T) {
	s, ctx := open(t), context.Background()
	run := sampleRun("20261121-035352-aaaa", start)
	must(t, s.CreateRun(ctx, run))
	for _, document := range []string{`{"schema_version":2,"run":"20261121-035352-aaaa"}`, `{"schema_version":2,"run":{"id":"a"},"conditions":7}`} {
		_, err := s.db.ExecContext(ctx, "UPDATE runs SET document = ?", document)
		must(t, err)
		_, err = s.Get(ctx, run.ID)
		for _, err := range []error{err, s.SetMachine(ctx, run.ID, trial.Environment{}, nil)} {
			if !errors.Is(err, ErrNewer) || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "upgrade nfchain") || strings.Contains(err.Error(), "damaged") {
				t.Error(err)
			}
		}
	}
	for _, document := range []string{`{"schema_version":1,"run":7}`, `{`} {
		_, err := s.db.ExecContext(ctx, "UPDATE runs SET document = ?", document)
		must(t, err)
		if _, err := s.Get(ctx, run.ID); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewer) {
			t.Error(err)
		}
	}
}
