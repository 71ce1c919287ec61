package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Share the lock of a file with any number of others, to none of whom it is free: [Take] has it alone, once the last has
// closed the file or ended, and all those with it that were given the file when they were started.
func Share(path string) (*os.File, error) {
	for range tries {
		file, err := share(path)
		if file != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%s is removed all the time", path)
}

// share tries once, as take does. Who takes the lock alone has no more to do than to see that nobody shares it, and is waited for.
func share(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(file.Fd()), unix.LOCK_SH)
	}
	if err == nil && isAt(file, path) {
		return file, nil
	}
	_ = file.Close()
	return nil, err
}
