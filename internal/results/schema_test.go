package results

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
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
		if _, err := Open(path); !errors.Is(err, errForeign) {
			t.Errorf("%s: %v", path, err)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if string(before) != string(after) {
			t.Errorf("%s was changed", path)
		}
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
