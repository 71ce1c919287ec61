package results

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What callers may tell apart, always wrapped.
var (
	// ErrNone: nothing was ever stored there.
	ErrNone = errors.New("no results are stored")
	// ErrNotFound: no run goes by that id.
	ErrNotFound = errors.New("no such run")
	// ErrAmbiguous: several runs start like that.
	ErrAmbiguous = errors.New("more than one run starts like that")
	// ErrExists: a run of that id, or a trial of that condition and repeat, is
	// already stored, and is not the same.
	ErrExists = errors.New("already stored")
	// ErrHeld: another process is writing the run.
	ErrHeld = errors.New("another nfchain is writing this run")
	// ErrNewer: a newer nfchain wrote it.
	ErrNewer = errors.New("written by a newer nfchain; upgrade nfchain to read it")
	// ErrFull: there is no space left for the results.
	ErrFull = errors.New("no space left; free some or choose another disk with --results, what was stored before is safe")
	// ErrReadOnly: the results cannot be written where they lie.
	ErrReadOnly = errors.New("not writable; make the file and its directory writable or choose another place with --results")
	// ErrForeign: a file that nfchain did not make and will not touch, or a directory.
	ErrForeign = errors.New("not an nfchain results file; move it away or choose another place with --results")
	// ErrCorrupt: the file is damaged.
	ErrCorrupt = errors.New("damaged; keep a copy, move the file away, and recover what `sqlite3 FILE .recover` finds")
)

// errCondition: a trial of a condition that its run does not have.
var errCondition = errors.New("no such condition")

// explain names the file and, for what a user can mend, how. Errors of ours,
// which name a run, go through as they are.
func (s *Store) explain(verb string, err error) error {
	if err == nil || isOurs(err) {
		return err
	}
	if cause := remedy(err); cause != nil {
		return fmt.Errorf("cannot %s results in %s: %w (%v)", verb, s.path, cause, err)
	}
	return fmt.Errorf("cannot %s results in %s: %w", verb, s.path, err)
}

// isOurs tells errors about a run from those about the file.
func isOurs(err error) bool {
	for _, ours := range []error{ErrNotFound, ErrAmbiguous, ErrExists, ErrHeld, errCondition} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}

// remedy is the sentinel that err comes down to, nil for none.
func remedy(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return remedyOfCode(e.Code())
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, syscall.EISDIR):
		return ErrForeign
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return ErrReadOnly
	}
	return nil
}

// remedyOfCode reads an extended result code of SQLite.
func remedyOfCode(code int) error {
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return ErrReadOnly
	case sqlite3.SQLITE_CORRUPT:
		return ErrCorrupt
	case sqlite3.SQLITE_NOTADB:
		return ErrForeign
	}
	return nil
}

// isConstraint tells a row refused for being there already.
func isConstraint(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
}
