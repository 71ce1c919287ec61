package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// TakenError is returned for a lock that is held.
type TakenError struct {
	Path string
	// PID of the holder; 0 when it is not known.
	PID int
}

// Error implements error.
func (e *TakenError) Error() string { return fmt.Sprintf("process %d has %s", e.PID, e.Path) }

// Lock is a locked file (flock(2)). The kernel unlocks it when its process dies,
// however it dies; only the file is left then.
type Lock struct{ file *os.File }

// tries to get hold of a file that others remove when they are done with it.
const tries = 1000

// Take locks a file, which is made if need be and is gone after Release. It does not
// wait: held by another it is a *[TakenError].
func Take(path string) (*Lock, error) {
	for range tries {
		l, err := take(path)
		if l != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
	return nil, fmt.Errorf("%s is removed all the time", path)
}

// take tries once. It gives nothing at all, or fs.ErrNotExist, when the file was
// removed meanwhile.
func take(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = &TakenError{Path: path, PID: written(path)}
	}
	if err == nil && isAt(file, path) {
		sign(file)
		return &Lock{file}, nil
	}
	_ = file.Close()
	return nil, err
}

// Held tells whether another process, or another part of this one, has the lock of a file. Who takes it at that moment may
// find it taken.
func Held(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// isAt tells whether the file is still the one of that name.
func isAt(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// sign writes down who has the lock, if there is room: who makes some must be able to take it.
func sign(file *os.File) { _ = write(file, []byte(strconv.Itoa(os.Getpid()))) }

// Write something else into the file of a lock, for those who look there while it is held.
func (l *Lock) Write(text []byte) error { return write(l.file, text) }

func write(file *os.File, text []byte) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt(text, 0)
	return err
}

func written(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// Release removes the file, with directories that this leaves empty, and then gives
// the lock back: whoever got hold of the file meanwhile sees that it is no longer
// there.
func (l *Lock) Release() {
	path := l.file.Name()
	_ = os.Remove(path)
	for dir := filepath.Dir(path); strings.HasPrefix(dir, Root) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	_ = l.file.Close()
}

// Sweep removes the files of locks that nobody holds any more.
func Sweep() {
	files, _ := filepath.Glob(Locks + "/*")
	for _, f := range files {
		if l, err := Take(f); err == nil {
			l.Release()
		}
	}
}
