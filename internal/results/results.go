// Package results keeps runs on disk: each trial raw, as it was measured, before
// anything is averaged. It is one SQLite file that any number of processes may
// use at once and that survives kill -9 and a full disk with every trial that
// was committed. It computes nothing from what it keeps; package report does.
//
// The journal is SQLite's rollback journal and not a write-ahead log: a trial
// takes seconds and its transaction milliseconds, so the log's concurrency buys
// nothing, while one file without shared memory can be copied, be read from a
// read-only medium and lie in a home directory on NFS.
package results

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver, without cgo
)

// Store is one results file. Its methods may be called from several goroutines.
type Store struct {
	path string
	db   *sql.DB

	mu   sync.Mutex
	lock *os.File         // the lock file, opened with the first run held
	held map[string]int64 // the runs this store is writing: id to number
}

// DefaultPath is where results lie: under dataHome, the value of XDG_DATA_HOME,
// or where that is empty or relative (which the XDG base directory specification
// has ignored) under home, the value of HOME.
func DefaultPath(dataHome, home string) string {
	if !filepath.IsAbs(dataHome) {
		dataHome = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dataHome, "nfchain", "results.db")
}

// Open opens the results at path and makes them, with the directories they lie
// in, where there are none. A file written by a newer nfchain is refused with
// [ErrNewer]; a file that is not nfchain's is left alone.
func Open(path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: abs, held: map[string]int64{}}
	if err := makePrivate(abs); err != nil {
		return nil, s.explain("make", err)
	}
	if s.db, err = sql.Open("sqlite", address(abs)); err != nil {
		return nil, s.explain("open", err)
	}
	// One connection: calls of one process queue here, not at SQLite's lock.
	s.db.SetMaxOpenConns(1)
	if err := migrate(context.Background(), s.db); err != nil {
		_ = s.db.Close()
		return nil, s.explain("open", err)
	}
	return s, nil
}

// OpenExisting is Open for reading what was stored: where there is no file it
// makes none, and gives [ErrNone].
func OpenExisting(path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no file %s; `nfchain bench` makes it, --results names another", ErrNone, path)
	}
	return Open(path)
}

// Path is where the results lie, absolute.
func (s *Store) Path() string { return s.path }

// Close releases the runs this store was writing and closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		_ = s.lock.Close()
		s.lock = nil
	}
	clear(s.held)
	return s.explain("close", s.db.Close())
}
