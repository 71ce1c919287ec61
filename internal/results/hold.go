package results

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// A run that is being written is held: its writer locks the byte at the run's
// number in a file beside the results. The kernel drops the lock when the writer
// dies, however it dies, so a run is never taken from a living process and never
// stuck with a dead one. Locks of open file descriptions, not of processes:
// two stores in one process then exclude each other too.

// lockPath is the file whose bytes are locked. It stays empty.
func (s *Store) lockPath() string { return s.path + ".lock" }

// hold locks a run for this store; [ErrHeld] where another has it.
func (s *Store) hold(id string, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openLock(); err != nil {
		return err
	}
	err := s.setLock(n, unix.F_WRLCK)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrHeld
	}
	if err == nil {
		s.held[id] = n
	}
	return err
}

// release lets go of a run; one that is not held is left alone.
func (s *Store) release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, held := s.held[id]; held {
		_ = s.setLock(n, unix.F_UNLCK) // the kernel does it at the latest on Close
		delete(s.held, id)
	}
}

// isHeld tells whether anyone, this store included, is writing a run.
func (s *Store) isHeld(id string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ours := s.held[id]; ours {
		return true
	}
	f, err := os.Open(s.lockPath())
	if err != nil {
		return false // never locked, or on a medium where nothing can be
	}
	defer func() { _ = f.Close() }()
	lock := byteLock(n, unix.F_WRLCK)
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

// seenState is the state to tell of a run: one that says running while nobody
// writes it was killed.
func (s *Store) seenState(id string, n int64, state string) string {
	if state == trial.Running && !s.isHeld(id, n) {
		return trial.Interrupted
	}
	return state
}

func (s *Store) openLock() (err error) {
	if s.lock == nil {
		s.lock, err = os.OpenFile(s.lockPath(), os.O_RDWR|os.O_CREATE, 0o600)
	}
	return err
}

func (s *Store) setLock(n int64, kind int16) error {
	lock := byteLock(n, kind)
	return unix.FcntlFlock(s.lock.Fd(), unix.F_OFD_SETLK, &lock)
}

func byteLock(n int64, kind int16) unix.Flock_t {
	return unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: n, Len: 1}
}
